// Which NCCL_* settings does NCCL read, in which releases, and what may stand in them?
//
//   NCCL_IB_TIMEOUT        2.4.2 to now, a number from 0 to 31
//   NCCL_WORK_FIFO_DEPTH   2.13.4 to 2.21.5, now NCCL_WORK_FIFO_BYTES
//   NCCL_TIMEOUT           never existed
//
// The table was read from the sources of releases 2.4.2 to 2.31.2; three older names are from the
// user guide, and those of 2.32 from its user guide and single files. What NCCL's own plugins and
// libraries read, and what nobody does, stands below. Each table is sorted by name; adding a
// variable is adding its row.

#pragma once

#include <span>
#include <string_view>

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
  Filter,       ///< Names of devices (diagnose/settings/values.h).
  Path,
  Text,
};

/// A variable that libnccl reads in some release.
struct NcclVariable {
  std::string_view name;
  std::string_view first;  ///< First release that reads it; "2.4.2" may stand for earlier ones.
  std::string_view last;   ///< Last release that reads it; empty: still read.
  ValueKind kind = ValueKind::Text;
  /// Of Int: "0..31", both included; of the word kinds and Level: words between '|'. Empty: any.
  std::string_view values;
  std::string_view fallback;     ///< What NCCL uses without the setting, in words.
  bool documented = false;       ///< The user guide has it.
  std::string_view replacement;  ///< What does the same now; empty: nothing, or it is current.
};

/// All of them, sorted by name.
std::span<const NcclVariable> nccl_variables();

/// The variable of that name; nullptr if no release of NCCL reads it.
const NcclVariable* find_nccl_variable(std::string_view name);

/// True if some release of NCCL reads `name`.
bool is_nccl_variable(std::string_view name);

// Which settings does NCCL read only where there is something to use them for?
//
//   NCCL_IB_TIMEOUT   is read where there are RDMA devices   → not printed elsewhere
//   NCCL_P2P_DISABLE  is read by every rank

/// True if it proves nothing that NCCL does not print that variable.
bool is_read_where_used(std::string_view name);

// Names that look like NCCL's and are somebody else's, or nobody's.
//
//   NCCL_ASYNC_ERROR_HANDLING   PyTorch's, now TORCH_NCCL_ASYNC_ERROR_HANDLING
//   NCCL_GPUDIRECTTCPX_…        read by Google's GPUDirect-TCPX plugin
//   NCCL_INSPECTOR_ENABLE       read by a plugin that comes with NCCL, not by libnccl
//   RCCL_MSCCL_ENABLE           read by RCCL, AMD's NCCL, which reads NCCL_* as well
//   NCCL_TIMEOUT                read by nobody, whatever forums say
//
// PyTorch's names are from its releases 2.0 to 2.10 (ProcessGroupNCCL.hpp), those of what comes
// with NCCL from 2.23.4 to 2.31.2, RCCL's from ROCm 3.3 to 7.11. RCCL and the ROCm runtime read
// more names than these, so others that begin like them are taken for theirs.

/// A variable that another program than libnccl reads.
struct OtherVariable {
  std::string_view name;         ///< Or how names begin, in prefixes.
  std::string_view reader;       ///< "PyTorch", "the aws-ofi-nccl plugin"
  std::string_view replacement;  ///< Its new name; empty: this one is current.
};

/// Who reads `name`, found by the whole name or by how it begins; nullptr if nobody is known.
const OtherVariable* find_other_variable(std::string_view name);

/// Variables of PyTorch, by their current names: what a misspelt TORCH_NCCL_* may have meant.
std::span<const OtherVariable> torch_variables();

/// Variables that are known by their whole names, those of PyTorch apart: what a misspelt name that
/// begins like one of them may have meant.
std::span<const OtherVariable> named_variables();

/// True for what RCCL reads and NCCL does not, or no longer: RCCL_*, NCCL_RINGS_REMAP.
bool is_rccl_variable(std::string_view name);

/// A name that people set and that no program reads.
struct UnreadName {
  std::string_view name;  ///< Ends in '*': how names begin.
  std::string_view hint;  ///< What to do instead.
};

/// The entry of `name`; nullptr if it is no such name.
const UnreadName* find_unread_name(std::string_view name);

}  // namespace ncclog
