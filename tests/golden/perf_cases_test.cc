// Does `ncclog perf` judge measured bandwidth as those did who know the machine?

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "golden/perf_case_check.h"
#include "support/paths.h"
#include "support/process.h"

namespace ncclog::testing {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Names of the folders in `root` that hold `file`, sorted.
std::vector<std::string> folders_with(const fs::path& root, const char* file) {
  std::vector<std::string> names;
  if (!exists(root)) return names;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (exists(entry.path() / file)) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path cases_folder() { return source_dir() / "sample_logs" / "perf"; }

/// Measured machines that are at hand beside the project only.
fs::path keys_folder() { return source_dir().parent_path() / "shared" / "perf"; }

json run_json(const char* command, const fs::path& logs) {
  const Outcome out = run_command(
      {.arguments = {ncclog_binary().string(), command, logs.string(), "--format", "json"}});
  json report = json::parse(out.standard_output, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) {
    ADD_FAILURE() << command << " of " << logs << " ended with " << out.exit_code << "\n"
                  << out.standard_error;
    return json::object();
  }
  return report;
}

class PerfCases : public ::testing::TestWithParam<std::string> {
 protected:
  fs::path logs() const { return cases_folder() / GetParam() / "logs"; }
  json expected() const {
    return json::parse(read_file(cases_folder() / GetParam() / "case.json"));
  }
};

TEST_P(PerfCases, VerdictIsTheMaintainers) {
  const json wanted = expected();
  EXPECT_EQ(wanted.at("id"), GetParam());
  const auto complaints = check_perf_case(wanted, run_json("perf", logs()));
  EXPECT_TRUE(complaints.empty()) << join(complaints, "\n") << "\n"
                                  << wanted.at("what").get<std::string>() << "\n"
                                  << wanted.at("why").get<std::string>();
}

/// Slow is no error: but for wrong results, these jobs ended well.
TEST_P(PerfCases, AnalysisFindsTheirErrorsOnly) {
  const json report = run_json("analyze", logs());
  json errors = json::array();
  for (const json& finding : report.value("findings", json::array())) {
    if (finding.at("severity") == "error") errors.push_back(finding.at("id"));
  }
  EXPECT_EQ(errors, expected().value("errors", json::array())) << report.value("verdict", json());
}

/// A test's name holds letters, digits and '_' only.
std::string test_name(const ::testing::TestParamInfo<std::string>& sample) {
  std::string name = sample.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Samples, PerfCases,
                         ::testing::ValuesIn(folders_with(cases_folder(), "case.json")), test_name);

TEST(PerfKeys, VerdictsAreThoseOfTheKeys) {
  const std::vector<std::string> names = folders_with(keys_folder(), "key.json");
  if (names.empty()) GTEST_SKIP() << "no measured machines beside the project";
  std::vector<std::string> failures;
  for (const std::string& name : names) {
    const json key = json::parse(read_file(keys_folder() / name / "key.json"));
    const json report = run_json("perf", keys_folder() / name / "logs");
    for (const std::string& complaint : check_perf_case(case_of_key(key), report)) {
      failures.push_back(name + "\n    " + complaint +
                         "\n    key: " + key.at("verdict").get<std::string>());
    }
  }
  EXPECT_TRUE(failures.empty()) << failures.size() << " complaints about " << names.size()
                                << " machines\n"
                                << join(failures, "\n");
}

struct Row {
  const char* name;
  const char* expected;
  const char* complaints;
};

constexpr const char* kReport = R"({"schema": "ncclog.perf/1", "measurements": [
  {"op": "AllReduce", "answer": "normal", "stage": "nic", "reached": 97.4, "ceiling": 100,
   "machine_ceiling": 100, "headline": "97 GB/s of 100", "notes": ["The average says little."]},
  {"op": "AllReduce", "answer": "limited", "stage": "tcp", "reached": 2.5, "ceiling": null,
   "machine_ceiling": 24, "headline": "2.5 GB/s: sockets", "try": ["Load the InfiniBand driver"]},
  {"op": "AllGather", "answer": "cannot-tell", "stage": "unknown", "reached": 9, "headline":
   "9 GB/s; cannot tell: …; it would be 90 % of the 10 that A give or 75 % of the 12.0 that B give"}],
  "late": [{"late": [{"rank": 3, "host": "a"}]}]})";

constexpr Row kRows[] = {
    {"right", R"({"expect": [{"op": "AllReduce", "answer": "normal", "stage": ["nvls", "nic"],
                  "reached": 97, "ceiling": 110, "headline_not": ["average"],
                  "mentions": ["average"]}], "late": [{"rank": 3}]})",
     ""},
    {"nearest curve", R"({"expect": [{"op": "AllReduce", "answer": "limited", "reached": 2.5,
                          "ceiling": [5, 24]}], "late": [{"rank": 3}]})",
     ""},
    {"wrong", R"({"expect": [{"op": "AllReduce", "answer": ["below", "limited"], "stage": "nvls",
                  "reached": 90, "ceiling": 200, "headline_not": ["GB/s"],
                  "mentions": ["ACS"]}], "late": [{"rank": 3}]})",
     "AllReduce: answer is normal, not below or limited\n"
     "AllReduce: stage is nic, not nvls\n"
     "AllReduce: reached is 97.4, not 90\n"
     "AllReduce: ceiling is 100 (of the machine 100), not 200\n"
     "AllReduce: the headline says \"GB/s\": 97 GB/s of 100\n"
     "AllReduce: nothing mentions \"ACS\""},
    {"no stage asked of who cannot tell",
     R"({"expect": [{"op": "AllGather", "answer": "cannot-tell", "stage": "nic", "reached": 9,
         "ceiling": null}], "late": [{"rank": 3}]})",
     ""},
    {"one of the machines that it would be normal of",
     R"({"expect": [{"op": "AllGather", "answer": ["normal", "cannot-tell"], "reached": 9,
         "ceiling": 12.5}], "late": [{"rank": 3}]})",
     ""},
    {"none of the machines that it would be normal of",
     R"({"expect": [{"op": "AllGather", "answer": ["normal", "cannot-tell"], "reached": 9,
         "ceiling": 20}], "late": [{"rank": 3}]})",
     "AllGather: ceiling is null (of the machine null), not 20"},
    {"not measured", R"({"expect": [{"op": "AlltoAll", "answer": "normal", "reached": 1}],
                         "late": [{"rank": 3}]})",
     "AlltoAll: not measured"},
    {"nobody late", R"({"expect": [{"op": "AllGather", "reached": 9}]})",
     "late is rank 3, not nobody"},
    {"nothing measured", R"({"expect": []})",
     "a measurement, where nothing was measured\nlate is rank 3, not nobody"},
};

TEST(PerfCaseCheck, NamesWhatTheReportGotWrong) {
  for (const Row& row : kRows) {
    EXPECT_EQ(join(check_perf_case(json::parse(row.expected), json::parse(kReport)), "\n"),
              row.complaints)
        << row.name;
  }
}

TEST(PerfCaseCheck, ReadsKeys) {
  const std::pair<const char*, json> kAnswers[] = {
      {"normal", {"normal", "cannot-tell"}},
      {"42 % below the median pair at best; cannot tell which node", "below"},
      {"limited by TCP (probable); 88 % below", "limited"},
      {"cannot tell: not a communication test", "cannot-tell"}};
  for (const auto& [verdict, answer] : kAnswers) {
    const json key = {{"op", "all_reduce (half)"},
                      {"verdict", verdict},
                      {"peak_busbw_GBs", 5},
                      {"expected_ceiling_GBs", nullptr}};
    const json wanted = case_of_key(key).at("expect").at(0);
    EXPECT_EQ(wanted.at("op"), "AllReduce");
    EXPECT_EQ(wanted.at("answer"), answer) << verdict;
    EXPECT_TRUE(wanted.at("ceiling").is_null());
  }
  const json training = {{"op", "training (no table)"}, {"verdict", "cannot tell the rate"}};
  EXPECT_TRUE(case_of_key(training).at("expect").empty());
}

}  // namespace
}  // namespace ncclog::testing
