#include "app/analyze.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "report/report_formats.h"
#include "rules/load_rules.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::vector<std::string> samples() {
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(testing::source_dir() / "sample_logs")) {
    if (fs::exists(entry.path() / "logs")) folders.push_back((entry.path() / "logs").string());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

Report analyze(const std::string& path, int threads = 1) {
  AnalyzeOptions options;
  options.input = {.paths = {path}, .threads = threads};
  return run_pipeline(options);
}

TEST(Analyze, EverySampleGivesAReportThatFitsTheSchema) {
  const json schema =
      json::parse(testing::read_file(testing::source_dir() / "src/report/json/report.schema.json"));
  const std::vector<std::string> folders = samples();
  ASSERT_FALSE(folders.empty());
  for (const std::string& folder : folders) {
    const std::string text = write_json(analyze(folder));
    EXPECT_EQ(join(testing::schema_errors(schema, json::parse(text)), "\n"), "") << folder;
  }
}

TEST(Analyze, EveryLineIsCountedOnce) {
  for (const std::string& folder : samples()) {
    const LossTable losses = analyze(folder).job.losses;
    EXPECT_EQ(losses.lines,
              losses.recognised + losses.unrecognised + losses.foreign + losses.unreadable)
        << folder;
  }
}

TEST(Analyze, ThreadsChangeNoByte) {
  for (const std::string& folder : samples()) {
    const std::string one = write_json(analyze(folder, 1));
    EXPECT_EQ(write_json(analyze(folder, 3)), one) << folder;
  }
}

TEST(Analyze, OrderOfArgumentsChangesNoByte) {
  const testing::TempDir folder;
  const std::string a = folder.add("a.log", "n:1:2 [0] NCCL INFO Using network Socket\n");
  const std::string b = folder.add("b.log", "m:1:2 [0] NCCL INFO Using network IB\n");
  AnalyzeOptions forwards;
  forwards.input.paths = {a, b};
  AnalyzeOptions backwards;
  backwards.input.paths = {b, a, b};
  EXPECT_EQ(write_json(run_pipeline(forwards)), write_json(run_pipeline(backwards)));
}

TEST(Analyze, TextInMemoryIsJudgedLikeAFile) {
  const std::string log =
      "metal-3:55:91 [2] misc/shmutils.cc:87 NCCL WARN Error: failed to extend "
      "/dev/shm/nccl-T2EFKg to 9637892 bytes, error: No space left on device (28)\n";
  const Report report = report_on_text(log, load_rulebook());
  EXPECT_EQ(report.diagnosis.verdict.status, VerdictStatus::Problem);
  EXPECT_EQ(report.diagnosis.verdict.finding, "shm-no-space");
  EXPECT_NE(write_text(report, {}).find("log.txt:1"), std::string::npos);
}

TEST(Analyze, AnInvalidRuleEndsTheRunBeforeAnythingIsRead) {
  const testing::TempDir folder;
  AnalyzeOptions options;
  options.input.paths = {"/nowhere/at/all"};
  options.rules = {folder.add("broken.yaml", "id: broken\nsevrity: error\n")};
  try {
    run_pipeline(options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(error.where().find("broken.yaml:2:1"), std::string::npos) << error.where();
  }
}

}  // namespace
}  // namespace ncclog
