#include "support/process.h"

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

TEST(RunCommand, GivesBothOutputsAndTheExitCode) {
  Outcome out = run_command({.arguments = {"sh", "-c", "echo one; echo two >&2; exit 3"}});
  EXPECT_EQ(out.standard_output, "one\n");
  EXPECT_EQ(out.standard_error, "two\n");
  EXPECT_EQ(out.exit_code, 3);
  EXPECT_GT(out.peak_rss_kib, 0);
}

TEST(RunCommand, FeedsMoreThanAPipeHolds) {
  std::string text(1 << 20, 'x');
  EXPECT_EQ(run_command({.arguments = {"cat"}, .standard_input = text}).standard_output, text);
}

TEST(RunCommand, SurvivesAProcessThatReadsNothing) {
  Outcome out = run_command({.arguments = {"true"}, .standard_input = std::string(1 << 20, 'x')});
  EXPECT_EQ(out.exit_code, 0);
}

TEST(RunCommand, SetsFolderAndEnvironment) {
  TempDir dir;
  dir.add("here", "");
  Outcome out = run_command({.arguments = {"sh", "-c", "ls; echo $NAME"},
                             .folder = dir.path().string(),
                             .environment = {{"NAME", "value"}}});
  EXPECT_EQ(out.standard_output, "here\nvalue\n");
}

TEST(RunCommand, ReportsSignalsAndMissingProgramsAsAShellDoes) {
  EXPECT_EQ(run_command({.arguments = {"sh", "-c", "kill -9 $$"}}).exit_code, 137);
  EXPECT_EQ(run_command({.arguments = {"no-such-program"}}).exit_code, 127);
}

}  // namespace
}  // namespace ncclog::testing
