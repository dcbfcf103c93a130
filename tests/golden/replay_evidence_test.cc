// Do the runs that were made on GPUs still prove what their results say?
//
// sample_logs/replay/NAME has the plan, what ncclog-replay wrote on two H200s, NCCL's own logs of
// these runs, and the result. Reading all of it back gives the same result, byte for byte.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "support/paths.h"
#include "support/process.h"

namespace ncclog::testing {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

fs::path evidence() { return source_dir() / "sample_logs/replay"; }

std::vector<std::string> replays() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(evidence())) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

json result_of(const std::string& name) {
  return json::parse(read_file(evidence() / name / "result.json"));
}

TEST(ReplayEvidence, IsJudgedAsItWas) {
  ASSERT_EQ(replays().size(), 5U);
  for (const std::string& name : replays()) {
    const Outcome out = run_command({.arguments = {ncclog_binary().string(), "replay", "judge",
                                                   (evidence() / name).string(), "-o", "-"}});
    EXPECT_EQ(out.standard_output, read_file(evidence() / name / "result.json")) << name;
    EXPECT_EQ(out.standard_error, "") << name;
    EXPECT_EQ(out.exit_code, 0) << name;
  }
}

struct Row {
  const char* name;
  const char* kind;
  const char* first_run;  ///< How it ended.
};

TEST(ReplayEvidence, ShowsWhatItWasMadeToShow) {
  const Row rows[] = {
      {"healthy", "clean-without-defect", "completed"},
      {"pseudo-hosts", "clean-without-defect", "completed"},
      {"size-mismatch", "reproduced-hypothesis", "wrong"},
      {"size-mismatch-protocols", "reproduced-hypothesis", "hung"},
      {"timeout-rank-skips", "reproduced-hypothesis", "hung"},
  };
  for (const Row& row : rows) {
    const json result = result_of(row.name);
    EXPECT_EQ(result.at("verdict").at("kind"), row.kind) << row.name;
    EXPECT_EQ(result.at("outcome").at("runs").at(0).at("end"), row.first_run) << row.name;
  }
}

TEST(ReplayEvidence, StandsStillAtTheRecordedCall) {
  const json result = result_of("timeout-rank-skips");
  EXPECT_EQ(result.at("outcome").at("runs").at(0).at("front"), result.at("hypothesis").at("front"));
}

TEST(ReplayEvidence, GoesOverSocketsBetweenPseudoHosts) {
  const Outcome out = run_command(
      {.arguments = {ncclog_binary().string(), "show", "channels",
                     (evidence() / "pseudo-hosts/run-1-clean").string(), "--format", "csv"}});
  const std::vector<std::string_view> lines = split(out.standard_output, '\n');
  ASSERT_GT(lines.size(), 2U);
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    EXPECT_NE(lines[i].find("NET/Socket"), std::string_view::npos) << lines[i];
  }
}

}  // namespace
}  // namespace ncclog::testing
