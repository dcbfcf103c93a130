// A line that somebody prints at some time, before it is put into a file.

#pragma once

#include <string>
#include <vector>

namespace ncclog::testing {

struct SpokenLine {
  enum class Voice {
    Nccl,      ///< A rank's NCCL: goes where NCCL_DEBUG_FILE says.
    Worker,    ///< A rank's framework or program: its stdout.
    Launcher,  ///< Torchrun, srun, bash: no prefix, on the host of `rank`.
  };
  double time = 0;  ///< Seconds since the job began.
  int rank = 0;
  Voice voice = Voice::Nccl;
  std::string text;
  bool is_dated = false;  ///< `text` says when.
};

using SpokenLines = std::vector<SpokenLine>;

}  // namespace ncclog::testing
