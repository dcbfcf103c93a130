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

#pragma once

#include <span>
#include <string_view>

namespace ncclog {

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

/// True if `name` looks like NCCL's but belongs to a plugin, to PyTorch, to a build system or to
/// RCCL.
bool is_others_variable(std::string_view name);

/// A name that people set and that no program reads.
struct UnreadName {
  std::string_view name;  ///< Ends in '*': how names begin.
  std::string_view hint;  ///< What to do instead.
};

/// The entry of `name`; nullptr if it is no such name.
const UnreadName* find_unread_name(std::string_view name);

}  // namespace ncclog
