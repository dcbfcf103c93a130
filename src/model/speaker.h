// Who printed a line, as far as the line itself says.
//
//   node07:4121:4188 [3] NCCL INFO …        → host node07, pid 4121
//   [rank6]:[E717 … ProcessGroupNCCL.cpp…   → rank 6
//   (TrainWorker pid=4242) plain text       → pid 4242
//   NCCL INFO NET/Socket : Using …          → input 0: nobody named, but it is one file

#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace ncclog {

/// The name under which lines are collected. Fields the line does not give stay at their defaults;
/// `input` is set only where neither host and pid nor a global rank name the speaker.
struct Speaker {
  std::string host;
  int64_t pid = -1;
  int rank = -1;        ///< Global rank, from the framework's or the launcher's prefix.
  int local_rank = -1;  ///< torchrun's; only where no global rank is known.
  int64_t input = -1;   ///< Number of the input; in a job, index into Job::inputs.

  auto operator<=>(const Speaker&) const = default;
};

}  // namespace ncclog
