// Does the program find in every sample log what is known to be there, and nothing else?

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "golden/case_check.h"
#include "support/paths.h"
#include "support/process.h"

namespace ncclog::testing {
namespace {

using nlohmann::json;

std::vector<std::string> sample_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "sample_logs")) {
    if (exists(entry.path() / "case.json")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Cases : public ::testing::TestWithParam<std::string> {};

TEST_P(Cases, ReportSaysWhatIsKnown) {
  json expected = json::parse(read_file(source_dir() / "sample_logs" / GetParam() / "case.json"));
  Outcome out = run_command({.arguments = {ncclog_binary().string(), "analyze",
                                           sample_logs(GetParam()).string(), "--format", "json"}});
  json report = json::parse(out.standard_output, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(report.is_object()) << "exit code " << out.exit_code << "\n" << out.standard_error;
  auto complaints = check_case(expected, report);
  EXPECT_TRUE(complaints.empty()) << join(complaints, "\n") << "\n" << report.at("verdict");
}

/// A test's name holds letters, digits and '_' only.
std::string test_name(const ::testing::TestParamInfo<std::string>& sample) {
  std::string name = sample.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Samples, Cases, ::testing::ValuesIn(sample_names()), test_name);

struct Row {
  const char* name;
  const char* expected;
  const char* complaints;
};

constexpr const char* kReport = R"({
  "verdict": {"status": "problem", "finding": "duplicate-gpu"},
  "job": {"nranks": 4, "nhosts": 1, "nccl_versions": ["2.19.3+cuda12.3"],
          "network": {"name": "Socket"}},
  "findings": [
    {"id": "duplicate-gpu", "severity": "error", "ranks": [1, 0], "hosts": ["node-a"]},
    {"id": "socket-only-host-info", "severity": "info", "ranks": [], "hosts": []}]})";

constexpr Row kRows[] = {
    {"found", R"({"expect": [{"finding": "duplicate-gpu", "must": true, "ranks": [0, 1]}]})", ""},
    {"one of several",
     R"({"expect": [{"finding": ["x", "duplicate-gpu"], "must": true, "hosts": ["node-a"]}]})", ""},
    {"missed", R"({"expect": [{"finding": ["x", "y"], "must": true}]})",
     "missed x or y\nheaded by \"duplicate-gpu\", not by x or y"},
    {"wrong headline",
     R"({"expect": [{"finding": "socket-only-host-info", "must": true, "ranks": []}]})",
     "headed by \"duplicate-gpu\", not by socket-only-host-info"},
    {"not asked for", R"({"expect": [{"finding": "x", "must": false}]})", ""},
    {"wrong ranks", R"({"expect": [{"finding": "duplicate-gpu", "must": true, "ranks": [0]}]})",
     "duplicate-gpu names ranks [1,0], not [0]"},
    {"healthy", R"({"expect": [{"finding": "healthy", "must": true}]})",
     "healthy, but the verdict is \"problem\"\nhealthy, but error duplicate-gpu"},
    {"wrongly", R"({"expect": [], "expect_absent": ["duplicate-gpu", "socket-only-host-info"]})",
     "wrongly error duplicate-gpu"},
    {"right facts", R"({"expect": [], "facts": {"nranks": 4, "nccl_version": "2.19.3",
                        "net": "socket", "hcas": []}})",
     ""},
    {"wrong facts", R"({"expect": [], "facts": {"nnodes": 2, "nccl_version": null}})",
     "nnodes is 1, not 2\nnccl_version is \"2.19.3+cuda12.3\", not null"},
};

TEST(CaseCheck, NamesWhatTheReportGotWrong) {
  for (const Row& row : kRows) {
    EXPECT_EQ(join(check_case(json::parse(row.expected), json::parse(kReport)), "\n"),
              row.complaints)
        << row.name;
  }
}

}  // namespace
}  // namespace ncclog::testing
