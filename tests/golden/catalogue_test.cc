// How much of what NCCL prints is recognised: of the sample logs, and of the catalogue of NCCL's
// format strings where that is at hand beside the project.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "input/find_inputs.h"
#include "input/line_reader.h"
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
                                                              std::vector<std::string> flags) {
  std::vector<std::string> arguments = {"python3", tool.string(), ncclog_binary().string()};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const Outcome out = run_command({.arguments = arguments});
  EXPECT_EQ(out.exit_code, 0) << out.standard_error;
  std::map<std::pair<std::string, std::string>, Share> shares;
  std::istringstream lines(out.standard_output);
  for (std::string line; std::getline(lines, line);) {
    // "rccl WARN  all  189 /  189  100.0 %": a library stands first where there are several.
    std::vector<std::string_view> words = split_blanks(line);
    constexpr size_t kWords = 6;
    if (words.size() < kWords || words[words.size() - 4] != "/") continue;
    const auto number = [&](size_t from_end) {
      return static_cast<int>(parse_int(words[words.size() - from_end]).value_or(0));
    };
    const bool has_library = words.size() > kWords + 1;
    if (has_library && words[2] != "all") continue;
    shares[{std::string(words[0]), std::string(words[1])}] = {number(5), number(3)};
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
  const std::vector<std::string> catalogue = {"--catalogue", "nccl_messages_2_31.tsv"};
  const auto since = [&](const char* flag, const char* release) {
    std::vector<std::string> flags = catalogue;
    flags.insert(flags.end(), {flag, release});
    return coverage(tool, flags);
  };
  const auto all = since("--since", "2.4");
  const auto recent = since("--since", "2.18");
  const auto newest = since("--new-in", "2.31");
  EXPECT_GE(all.at({"WARN", "all"}).percent(), 99);
  EXPECT_GE(newest.at({"WARN", "all"}).percent(), 98);
  EXPECT_GE(newest.at({"INFO", "all"}).percent(), 98);
  EXPECT_GE(all.at({"VERSION", "all"}).recognised, 1);  // The other is "%s".
  for (const char* subsystem : {"INIT", "NET", "GRAPH", "TUNING", "COLL", "ENV", "P2P", "SHM",
                                "BOOTSTRAP", "PROXY", "NVLS"}) {
    const Share share = share_of(recent, subsystem);
    EXPECT_GE(share.percent(), 90)
        << subsystem << ": " << share.recognised << " of " << share.total;
  }
}

TEST(CatalogueCases, FormatsOfRcclAndPluginsAreRecognised) {
  const auto tool = source_dir().parent_path() / "shared" / "tools" / "catalogue_coverage.py";
  if (!exists(tool)) GTEST_SKIP() << "no catalogue of format strings beside the project";
  for (const char* library : {"rccl", "ofi", "sharp", "nccl-plugins"}) {
    const auto shares =
        coverage(tool, {"--catalogue", "plugin_messages.tsv", "--library", library});
    EXPECT_GE(shares.at({library, "WARN"}).percent(), 95) << library;
    EXPECT_GE(shares.at({library, "INFO"}).percent(), 90) << library;
  }
}

}  // namespace
}  // namespace ncclog::testing
