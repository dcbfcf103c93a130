// Is the report on a long log the same however it is read? What memory that takes is measured by
// tests/bench/compare_memory: a process inherits the peak of the one that starts it, and tests share
// a large one.

#include <gtest/gtest.h>

#include <fstream>

#include "bench/log_generator.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

const uint64_t kBytes = is_sanitized() ? 8 << 20 : 64 << 20;

/// Two mixes, each read once a row; larger than what is read as one unit unless sanitized.
TEST(GeneratedLogProperty, ThreadsDoNotChangeTheReport) {
  for (LogMix mix : {LogMix::Collectives, LogMix::Everything}) {
    TempDir folder;
    std::string log = (folder.path() / "generated.log").string();
    std::ofstream out(log, std::ios::binary);
    generate_log({.bytes = kBytes, .ranks = 16, .mix = mix}, out);
    out.close();
    std::string first;
    for (const char* threads : {"1", "2", "3"}) {
      Outcome outcome = run_command({.arguments = {ncclog_binary().string(), "analyze", log,
                                                   "--format", "json", "--threads", threads}});
      ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
      if (first.empty()) first = outcome.standard_output;
      EXPECT_TRUE(outcome.standard_output == first) << threads << " threads";
    }
    EXPECT_FALSE(first.empty());
  }
}

}  // namespace
}  // namespace ncclog::testing
