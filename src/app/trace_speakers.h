// Under which process of a trace does a line stand?
//
//   gpu-node-01:14761:14800 [3] NCCL INFO …   → "rank 3 on gpu-node-01 (pid 14761)"
//   [rank3]:[W1120 20:54:52 …                 → the same, where one process has that rank
//   a line that names nobody                  → "lines of stdout.log that name no process"
//
// Two hosts may use the same pid, so processes are numbered anew.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "log/header.h"
#include "model/job.h"

namespace ncclog {

/// Numbers of a trace's processes. `job` must outlive it.
class TraceSpeakers {
 public:
  explicit TraceSpeakers(const Job& job);

  /// Of who printed a line of `file`: Job::processes are 1, 2, …, what names no process is behind.
  int64_t number_of(std::string_view file, const Header& header);

  /// Of the process with that global rank, or of `file` if none or several have it.
  int64_t number_of(std::string_view file, int rank);

  std::string name_of(int64_t number) const;

  /// Where it is listed: by rank, those without one last.
  int64_t order_of(int64_t number) const;

 private:
  int64_t number_of_file(std::string_view file);

  const Job& job_;
  std::map<std::pair<std::string_view, int64_t>, int64_t> by_pid_;  ///< Host and pid.
  std::map<std::string, int64_t, std::less<>> by_file_;
};

}  // namespace ncclog
