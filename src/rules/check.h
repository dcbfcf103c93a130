// What is there to look at: which command, on which host, and what does it show?
//
//   df -h /dev/shm    # inside the container     a command, four blanks, and what it shows
//   Did that rank start?                         a question for a person

#pragma once

#include <string>
#include <vector>

#include "rules/finding.h"

namespace ncclog {

/// A line of Finding::check.
struct Check {
  std::string run;  ///< To be pasted into a shell; words in capitals stand for values: PID, LOGS.
  std::string why;  ///< What it shows, or what to look for; of a line without a command all of it.
  /// "here", where the logs are read or jobs are started; else the hosts of the finding,
  /// "gpu-node-[01-02]", "its hosts" where they are too many to be listed; else "every host of the
  /// job". Empty: there is no command. `why` may say it more closely: inside the container.
  std::string where;

  bool operator==(const Check&) const = default;
};

/// All of them, in order.
std::vector<Check> find_checks(const Finding& finding);

}  // namespace ncclog
