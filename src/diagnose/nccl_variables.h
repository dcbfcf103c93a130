// Which NCCL_* settings does NCCL read, in which releases, and what may stand in them?
//
//   NCCL_IB_TIMEOUT        2.4.2 to now, a number from 0 to 31
//   NCCL_WORK_FIFO_DEPTH   2.13.4 to 2.21.5, now NCCL_WORK_FIFO_BYTES
//   NCCL_TIMEOUT           never existed
//
// The table was read from the sources of releases 2.4.2 to 2.31.2; three older names are from the
// user guide, and those of 2.32 from its user guide and single files. What NCCL's own plugins and
// libraries read is in other_variables.h. It is sorted by name. Adding a variable is adding its
// row.

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
  Filter,       ///< Names of devices (diagnose/name_filter.h).
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

}  // namespace ncclog
