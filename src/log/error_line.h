// Does a line that no wording fits report an error of NCCL, PyTorch or a launcher?
//
//   [rank3]: ncclRemoteError: A call failed possibly due to a network error …       yes
//   srun: error: n7: task 9: Exited with exit code 134                               yes
//   node7: rank 4 died from signal 6 and dumped core                                 yes
//   worker 3 exited with code 0                                                      no
//   Traceback (most recent call last):                                               its own kind
//
// What is not understood must not end in a clean verdict: such lines are kept, counted in the loss
// table and quoted. The words are few and rare, so that ordinary output holds none of them.

#pragma once

#include <span>
#include <string_view>

namespace ncclog {

/// Texts one of which stands in every line that looks like an error.
std::span<const std::string_view> error_needles();

/// True if the line reports that a process or a call of NCCL failed.
bool looks_like_error(std::string_view line);

}  // namespace ncclog
