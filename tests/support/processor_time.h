// Laws about how cost grows, without a clock: work runs in a process that the system ends when it has
// used too much processor time, which does not depend on what else the machine does.
//
//   EXPECT_EXIT(
//       {
//         limit_processor_time();
//         _exit(is_right(work()) ? 0 : 1);
//       },
//       ::testing::ExitedWithCode(0), "");

#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace ncclog::testing {

/// From here on this process is ended when it has used a minute: a hundred times what linear work
/// takes on inputs on which quadratic work takes many minutes.
inline void limit_processor_time() {
  constexpr rlimit kLimit = {60, 60};
  setrlimit(RLIMIT_CPU, &kLimit);
}

}  // namespace ncclog::testing
