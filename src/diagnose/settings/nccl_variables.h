// Which NCCL_* settings does NCCL read, in which releases, and what does it make of their values?
//
//   NCCL_IB_TIMEOUT        2.4.2 to now, a number from 0 to 31
//   NCCL_WORK_FIFO_DEPTH   2.13.4 to 2.21.5, now NCCL_WORK_FIFO_BYTES
//   NCCL_TIMEOUT           never existed
//   NCCL_IB_DISABLE=true   reads as 0: InfiniBand stays on
//
// The variables are rows of nccl_variables.table, which was read from the sources of releases 2.4.2
// to 2.31.2; three older names are from the user guide, and those of 2.32 from its user guide and
// single files. What NCCL's own plugins and libraries read, and what nobody does, stands in
// other_variables.table. Adding a variable is adding its row.

#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// How NCCL reads a value.
enum class ValueKind {
  Int,          ///< strtoll with base 0: what does not begin with a number reads as 0 (param.cc).
  Decimal,      ///< A number above 0, from 2.31.2 on with a point; an Int before (ras_param.cc).
  PowerOfTwo,   ///< Int; other numbers than powers of two are ignored.
  Word,         ///< One of a few words, compared exactly.
  AnyCaseWord,  ///< One of a few words in any case.
  WordList,     ///< Words in any case between commas, '^' in front inverts (debug.cc).
  Choice,       ///< "tree,ring", "^NVLS", since 2.24.3 "ring;allreduce:tree" (graph/tuning.cc).
  Level,        ///< A distance: LOC NVL PIX PXB PHB SYS in upper case, or 0 to 5 (graph/paths.cc).
  Filter,       ///< Names of devices (NameFilter).
  Path,
  Text,
};

/// A variable that libnccl reads in some release: a line of nccl_variables.table.
struct NcclVariable {
  std::string_view name;
  std::string_view first;  ///< First release that reads it; "2.4.2" may stand for earlier ones.
  std::string_view last;   ///< Last release that reads it; empty: still read.
  std::string_view kind_name;
  /// Of Int: "0..31", both included; of the word kinds and Level: words between '|'. Empty: any.
  std::string_view values;
  std::string_view fallback;     ///< What NCCL uses without the setting, in words.
  std::string_view replacement;  ///< What does the same now; empty: nothing, or it is current.

  constexpr ValueKind kind() const {
    constexpr std::string_view kNames[] = {"Int",         "Decimal",  "PowerOfTwo", "Word",
                                           "AnyCaseWord", "WordList", "Choice",     "Level",
                                           "Filter",      "Path",     "Text"};
    return static_cast<ValueKind>(std::ranges::find(kNames, kind_name) - std::begin(kNames));
  }
};

/// All of them, sorted by name.
std::span<const NcclVariable> nccl_variables();

/// The variable of that name; nullptr if no release of NCCL reads it.
const NcclVariable* find_nccl_variable(std::string_view name);

/// True if `pattern` is that name; a '*' in it stands for anything.
bool fits_name(std::string_view pattern, std::string_view name);

// Which settings may differ, and which does NCCL read only where it has a use for them?
//
//   NCCL_IB_TIMEOUT   is read where there are RDMA devices   → not printed elsewhere: where_used
//   NCCL_DEBUG        says what is written                   → changes nothing in the job: logging

/// True if setting_traits.table, which explains the traits, gives the variable that one.
bool has_trait(std::string_view name, std::string_view trait);

// Names that look like NCCL's and are somebody else's, or nobody's.
//
//   NCCL_ASYNC_ERROR_HANDLING   PyTorch's, now TORCH_NCCL_ASYNC_ERROR_HANDLING
//   NCCL_GPUDIRECTTCPX_…        read by Google's GPUDirect-TCPX plugin
//   NCCL_INSPECTOR_ENABLE       read by a plugin that comes with NCCL, not by libnccl
//   RCCL_MSCCL_ENABLE           read by RCCL, AMD's NCCL, which reads NCCL_* as well
//   NCCL_TIMEOUT                read by nobody, whatever forums say
//
/// A variable that another program than libnccl reads, or a name that people set and nobody reads.
struct OtherVariable {
  std::string_view name;    ///< Ends in '*': how names begin.
  std::string_view reader;  ///< "PyTorch", "the aws-ofi-nccl plugin"
  /// Its new name, or what to do if nobody reads it; empty: this one is current.
  std::string_view instead;

  bool is_unread() const { return reader == "nobody"; }
};

/// Who reads `name`, found by the whole name or by how it begins; nullptr if nobody is known.
const OtherVariable* find_other_variable(std::string_view name);

/// All of them: what a misspelt name that begins like one of them may have meant.
std::span<const OtherVariable> other_variables();

/// True for what RCCL reads and NCCL does not, or no longer: RCCL_*, NCCL_RINGS_REMAP.
bool is_rccl_variable(std::string_view name);

// What does NCCL read from a value?

inline constexpr size_t kLongestNumber = 64;  ///< Of a value, what is copied to be read as one.

/// The number that NCCL reads from a text: strtoll with base 0, so 0 from "true" and 4 from "4M".
/// 18446744073709551615, as releases up to 2.12.7 print -1, is -1.
int64_t read_number(std::string_view value);

/// A part of "ring;allreduce:tree,ring": names, and whether they are of one function only.
struct ChoicePart {
  std::string_view function;  ///< Empty: of all.
  bool excludes = false;
  std::vector<std::string_view> names;
};

std::vector<ChoicePart> choice_parts(std::string_view value);

/// The names that a list of algorithms or protocols admits for some function, in upper case:
/// of "^NVLS;allreduce:tree" all of `variable` but NVLS, and TREE.
std::vector<std::string> admitted_choices(const NcclVariable& variable, std::string_view value);

std::string upper_case(std::string_view text);

// Which interfaces or RDMA devices does a filter admit, as NCCL evaluates it?
//
//   eth0         every name that begins with "eth0"      =eth0      only eth0
//   ^docker,lo   every name but those that begin so      ^=mlx5_1   every name but mlx5_1
//   mlx5_0:1     port 1 of names that begin with mlx5_0
//
// NCCL_SOCKET_IFNAME, NCCL_IB_HCA and NCCL_OOB_NET_IFNAME are such filters (misc/utils.cc). Case
// counts, and a blank after a comma belongs to the name.

/// One name of a filter. Views into the text.
struct FilterEntry {
  std::string_view name;
  int port = -1;  ///< -1: any.
};

struct NameFilter {
  bool excludes = false;  ///< "^…": what matches is left out.
  bool exact = false;     ///< "=…": whole names; else how names begin.
  std::vector<FilterEntry> entries;
};

/// Takes a filter apart. Every text is one; without entries it admits everything, as in NCCL.
NameFilter parse_name_filter(std::string_view text);

/// True if `entry` speaks of the name (not yet whether that admits it). `port` -1: unknown, fits
/// every port.
bool speaks_of(const NameFilter& filter, const FilterEntry& entry, std::string_view name,
               int port = -1);

/// True if NCCL uses a device of that name under the filter.
bool admits(const NameFilter& filter, std::string_view name, int port = -1);

}  // namespace ncclog
