#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "log/event.h"

namespace ncclog {
namespace {

constexpr std::string_view kErrors[] = {
    "[rank3]: ncclRemoteError: A call failed possibly due to a network error",
    "srun: error: node7: task 9: Exited with exit code 134",
    "node4.cluster.example: rank 4 died from signal 6 and dumped core",
    "worker 3 exited with code 1",
    "container exited with code 0x8b",
    "lookup of head-0 failed (gai error: -2 - Name or service not known)",
    "???:41:42 NCCL WARN Call to bind failed",
    "./run.sh: line 7: 4711 Aborted  (core dumped) python train.py",
};

constexpr std::string_view kOthers[] = {
    "worker 3 exited with code 0",
    "srun: job 4711 exited with exit code 0.",
    "    raise RuntimeError('ncclSystemError')",
    "# ncclInternalError means that a check failed",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING=1",
    "step 3 loss 0.12",
    "",
};

TEST(ErrorLine, KnowsWhatReportsAnError) {
  for (const std::string_view line : kErrors) EXPECT_TRUE(looks_like_error(line)) << line;
  for (const std::string_view line : kOthers) EXPECT_FALSE(looks_like_error(line)) << line;
}

/// Lines without any needle are never asked.
TEST(ErrorLine, EveryErrorHoldsANeedle) {
  const auto needles = error_needles();
  for (const std::string_view line : kErrors) {
    EXPECT_TRUE(std::any_of(needles.begin(), needles.end(), [&](std::string_view needle) {
      return line.find(needle) != line.npos;
    })) << line;
  }
}

}  // namespace
}  // namespace ncclog
