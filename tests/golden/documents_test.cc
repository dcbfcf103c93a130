// Is what the documents say of the program still true?
//
//   README.md                      numbers of rules and messages, wall times, commands
//   src/app/pages/report.svg       its picture: what `ncclog demo` prints on a terminal
//   rules/<area>/README.md         of each rule a bad line, what is said of it, the fix
//   CHANGELOG.md                   the version that the program has
//
// NCCLOG_UPDATE_GOLDEN=1 writes them anew. Review that diff like code.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "support/paths.h"
#include "support/process.h"

namespace ncclog::testing {
namespace {

std::string printed_by(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ncclog_binary().string());
  const Outcome out = run_command({.arguments = std::move(arguments),
                                   .environment = {{"NCCLOG_CONFIG", ""}, {"LC_ALL", "C.UTF-8"}}});
  EXPECT_EQ(out.standard_error, "");
  return out.standard_output;
}

/// Compares a file with what it should hold, or rewrites it.
void expect_document(const std::filesystem::path& name, const std::string& text) {
  const std::filesystem::path path = source_dir() / name;
  if (std::getenv("NCCLOG_UPDATE_GOLDEN") != nullptr) write_file(path, text);
  EXPECT_EQ(std::filesystem::exists(path) ? read_file(path) : "no such file", text) << name;
}

/// A document in which `text` stands between "<!-- generated: NAME -->" and "<!-- end -->".
std::string with_part(const std::string& document, std::string_view name, std::string_view text) {
  const std::string mark = "<!-- generated: " + std::string(name) + " -->\n";
  const size_t begin = document.find(mark);
  const size_t end = document.find("<!-- end -->", begin);
  EXPECT_NE(end, document.npos) << "no part " << name;
  if (end == document.npos) return document;
  return document.substr(0, begin) + mark + std::string(text) + document.substr(end);
}

// The picture: a terminal of 100 columns, as SVG.

/// Colours of a dark terminal by the escape codes that mean them (report/text_layout.h).
constexpr std::pair<std::string_view, std::string_view> kTones[] = {
    {"1;31", "fill=\"#ff7b72\" font-weight=\"bold\""},
    {"1", "fill=\"#ffffff\" font-weight=\"bold\""},
    {"33", "fill=\"#e3b341\""},
    {"32", "fill=\"#7ee787\""},
    {"2", "fill=\"#8b949e\""}};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return out;
}

/// One line with its colours; none of them goes on in the next line.
std::string spans_of(std::string_view line) {
  std::string out;
  bool is_open = false;
  for (const std::string_view part : split(line, '\x1b')) {
    const size_t end = part.find('m');
    const bool has_code = part.starts_with('[') && end != part.npos;
    const std::string_view code = has_code ? part.substr(1, end - 1) : "0";
    if (std::exchange(is_open, false)) out += "</tspan>";
    for (const auto& [tone, style] : kTones) {
      if (code != tone) continue;
      out += "<tspan " + std::string(style) + ">";
      is_open = true;
    }
    out += escaped(has_code ? part.substr(end + 1) : part);
  }
  return out + (is_open ? "</tspan>" : "");
}

std::string picture_of(std::string_view text) {
  constexpr int kLine = 18;
  const std::vector<std::string_view> lines = split(text, '\n');
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 836 " +
      std::to_string(static_cast<int>(lines.size()) * kLine + 30) +
      "\" font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" "
      "font-size=\"13.3\">\n"
      "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n"
      "<g fill=\"#c9d1d9\" style=\"white-space: pre\">\n";
  int y = 16;
  for (const std::string_view line : lines) {
    y += kLine;
    if (line.empty()) continue;
    out += "<text x=\"18\" y=\"" + std::to_string(y) + "\" xml:space=\"preserve\">" +
           spans_of(line) + "</text>\n";
  }
  return out + "</g>\n</svg>\n";
}

TEST(Documents, ThePictureIsWhatADemoPrints) {
  const std::string demo = printed_by({"demo", "--color", "always"});
  const size_t end = demo.find("\n\nOther demos:");
  ASSERT_NE(end, demo.npos);
  expect_document("src/app/pages/report.svg", picture_of(std::string_view(demo).substr(0, end)));
}

TEST(Documents, EachAreaOfRulesHasItsPage) {
  size_t areas = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "rules")) {
    if (!entry.is_directory()) continue;
    const std::string area = entry.path().filename().string();
    expect_document("rules/" + area + "/README.md", printed_by({"rules", "page", area}));
    ++areas;
  }
  EXPECT_GE(areas, 20U);
}

std::string number_of_lines(const std::string& text) {
  return std::to_string(std::ranges::count(text, '\n'));
}

/// "| sixteen files … | 1.0 GB | 0.22 s | 40 MB |" for a log of tests/bench/RESULTS.md.
struct TimedLog {
  const char* said;  ///< As the README calls it.
  const char* log;   ///< As the results do.
};

constexpr TimedLog kTimed[] = {
    {"calls of a training, the same in each step", "collectives"},
    {"the same, gzip", "collectives.gz"},
    {"calls that never repeat", "irregular collectives"},
    {"mostly a program's own output", "training output, 2 % of the lines NCCL's"},
    {"4,096 files", "4096 files"},
    {"initialisation of 20,000 ranks", "init of 20000 ranks"},
    {"nothing but warnings, 64 ranks", "storm of warnings of 64 ranks"}};

std::string wall_times() {
  const std::string results = read_file(source_dir() / "tests/bench/RESULTS.md");
  std::string table = "| log | size | wall time | per GB | memory |\n|---|---:|---:|---:|---:|\n";
  for (const TimedLog& timed : kTimed) {
    const size_t at = results.find("**" + std::string(timed.log) + "**: ");
    const std::regex figures(
        R"(\*\*: (\d+) MB[\s\S]*?`ncclog analyze --threads 2` \| ([\d.]+) \| [\d.]+ \| \d+ \| (\d+) )");
    std::smatch found;
    const std::string section = at == results.npos ? "" : results.substr(at, 700);
    if (!std::regex_search(section, found, figures))
      return "no figures of " + std::string(timed.log);
    const double megabytes = std::stod(found[1]);
    const double seconds = std::stod(found[2]);
    char row[200];
    std::snprintf(row, sizeof row, "| %s | %.0f MB | %.1f s | %.1f s | %s MB |\n", timed.said,
                  megabytes, seconds, seconds * 1000 / megabytes, found.str(3).c_str());
    table += row;
  }
  return table;
}

TEST(Documents, TheReadmeCountsAndTimesTheProgram) {
  std::string readme = read_file(source_dir() / "README.md");
  readme =
      with_part(readme, "numbers",
                number_of_lines(printed_by({"rules", "list"})) + " rules and " +
                    number_of_lines(printed_by({"messages", "list"})) + " kinds of messages.\n");
  expect_document("README.md", with_part(readme, "wall times", wall_times()));
}

/// Only what the README calls exactly so is looked up: `ncclog analyze logs/`.
TEST(Documents, TheReadmeNamesCommandsThatAreThere) {
  const std::string readme = read_file(source_dir() / "README.md");
  const std::regex command("[`#(\\s]ncclog ([a-z]+)");
  std::map<std::string, int> named;
  for (std::sregex_iterator at(readme.begin(), readme.end(), command), end; at != end; ++at) {
    ++named[(*at)[1]];
  }
  EXPECT_GE(named.size(), 8U);
  for (const auto& [name, times] : named) {
    const Outcome help = run_command({.arguments = {ncclog_binary().string(), "help", name}});
    EXPECT_EQ(help.exit_code, 0) << name;
  }
}

/// What ./dev and .ci/run hold the README to, and where its links lead.
TEST(Documents, TheReadmeKeepsItsTwoCommandsAndItsLinks) {
  const std::string readme = read_file(source_dir() / "README.md");
  for (const char* command :
       {"\n    ./dev run analyze sample_logs/timeout-rank-skips/logs ", "\n    ./dev test "}) {
    EXPECT_NE(readme.find(command), readme.npos) << command;
  }
  const std::regex link(R"(\]\(([^)#:]+)\))");
  for (std::sregex_iterator at(readme.begin(), readme.end(), link), end; at != end; ++at) {
    EXPECT_TRUE(std::filesystem::exists(source_dir() / (*at)[1].str())) << (*at)[1];
  }
}

TEST(Documents, TheChangelogBeginsWithThisVersion) {
  const std::string changelog = read_file(source_dir() / "CHANGELOG.md");
  const std::string version = printed_by({"--version"});  // "ncclog 1.0.0 (4218094)"
  const std::string number = version.substr(7, version.find_first_of(" \n", 7) - 7);
  const size_t first = changelog.find("\n## ");
  EXPECT_TRUE(changelog.substr(first + 4).starts_with(number)) << number;
}

}  // namespace
}  // namespace ncclog::testing
