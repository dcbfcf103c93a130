// How much of what NCCL prints is recognised: of the sample logs, and of the catalogue of NCCL's
// format strings where that is at hand beside the project.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "input/find_inputs.h"
#include "input/read_unit.h"
#include "log/event_reader.h"
#include "support/paths.h"
#include "support/process.h"

namespace ncclog::testing {
namespace {

struct Share {
  int recognised = 0;
  int total = 0;

  double percent() const { return total == 0 ? 0 : 100.0 * recognised / total; }
};

bool is_nccl(const Event& event) {
  return event.header.level != Level::None && event.header.level != Level::Framework;
}

TEST(CatalogueCases, NcclLinesOfTheSampleLogsAreRecognised) {
  Share share;
  EventReader events([&share](const Line&, const Event& event, int) {
    if (!is_nccl(event)) return;
    ++share.total;
    share.recognised += event.fate == LineFate::Recognised ? 1 : 0;
  });
  const std::vector<std::string> wanted = {(source_dir() / "sample_logs").string()};
  for (const std::string& path : find_inputs(wanted)) {
    read_unit({}, path, {}, [&events](const Line& line) { events.add(line); });
    events.finish();
  }
  EXPECT_GT(share.total, 5000);
  EXPECT_GE(share.percent(), 99.5) << share.recognised << " of " << share.total;
}

/// Shares by "LEVEL subsystem", as the tool prints them: "INFO  NET|ENV  7 /  7  100.0 %".
std::map<std::pair<std::string, std::string>, Share> coverage(const std::filesystem::path& tool,
                                                              const std::string& since) {
  const Outcome out = run_command(
      {.arguments = {"python3", tool.string(), ncclog_binary().string(), "--since", since}});
  EXPECT_EQ(out.exit_code, 0) << out.standard_error;
  std::map<std::pair<std::string, std::string>, Share> shares;
  std::istringstream lines(out.standard_output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string level, subsystem, slash;
    Share share;
    if (words >> level >> subsystem >> share.recognised >> slash >> share.total && slash == "/") {
      shares[{level, subsystem}] = share;
    }
  }
  return shares;
}

/// The share of INFO formats whose subsystems name `wanted`.
Share share_of(const std::map<std::pair<std::string, std::string>, Share>& shares,
               const std::string& wanted) {
  Share sum;
  for (const auto& [key, share] : shares) {
    if (key.first != "INFO" || key.second.find(wanted) == key.second.npos) continue;
    sum.recognised += share.recognised;
    sum.total += share.total;
  }
  return sum;
}

TEST(CatalogueCases, FormatsOfTheCatalogueAreRecognised) {
  const auto tool = source_dir().parent_path() / "shared" / "tools" / "catalogue_coverage.py";
  if (!exists(tool)) GTEST_SKIP() << "no catalogue of NCCL's format strings beside the project";
  const auto all = coverage(tool, "2.4");
  const auto recent = coverage(tool, "2.18");
  EXPECT_GE(all.at({"WARN", "all"}).percent(), 95);
  EXPECT_GE(recent.at({"WARN", "all"}).percent(), 98);
  EXPECT_EQ(all.at({"CALL", "all"}).percent(), 100);
  EXPECT_GE(all.at({"VERSION", "all"}).recognised, 1);  // The other is "%s".
  for (const char* subsystem : {"INIT", "NET", "GRAPH", "TUNING", "COLL", "ENV", "P2P", "SHM",
                                "BOOTSTRAP", "PROXY", "NVLS"}) {
    const Share share = share_of(recent, subsystem);
    EXPECT_GE(share.percent(), 90)
        << subsystem << ": " << share.recognised << " of " << share.total;
  }
}

}  // namespace
}  // namespace ncclog::testing
