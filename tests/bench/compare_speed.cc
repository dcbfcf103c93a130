// How fast is the whole analysis beside the tools that people use on the same log?
//
//   collectives (1000 MB)
//   command                       seconds     CPU s     MB/s  peak MB
//   wc -l                           0.131     0.129     7633        2
//   ncclog analyze --threads 2      …
//     collectives: `ncclog analyze --threads 2` to `rg -c`: at most 1.50, measured 1.32: holds
//
// Writes tests/bench/RESULTS.md. Exits with 1 only if reports of one log differ: how long something
// takes depends on who else uses the machine.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/speed_groups.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

bool is_wanted(const std::vector<std::string>& wanted, std::string_view name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

int run(const SpeedOptions& options, const std::vector<std::string>& groups,
        const std::string& recipe, const std::string& file) {
  const TempDir folder;
  SpeedResults results{.recipe = recipe, .machine = describe_machine()};
  results.instructions = read_file(source_dir() / "tests/bench/instructions_per_line.txt");
  for (const SpeedGroup& group : kSpeedGroups) {
    if (is_wanted(groups, group.name)) group.measure({options, folder.path(), results});
  }
  write_file(file, results_text(results));
  const bool is_same = std::all_of(results.reports.begin(), results.reports.end(),
                                   [](const Sameness& row) { return row.is_same; });
  return is_same ? 0 : 1;
}

}  // namespace
}  // namespace ncclog::testing

int main(int argc, char** argv) {
  using namespace ncclog::testing;
  SpeedOptions options;
  std::vector<std::string> groups;
  std::string file = (source_dir() / "tests/bench/RESULTS.md").string();
  CLI::App app("Whole runs of ncclog beside wc, grep, ripgrep and what unpacks.");
  app.add_option("--bytes", options.bytes, "size of a large log")->capture_default_str();
  app.add_option("--grep-bytes", options.grep_bytes, "size of a log that grep is timed on")
      ->capture_default_str();
  app.add_option("--storm-bytes", options.storm_bytes)->capture_default_str();
  app.add_option("--file-bytes", options.file_bytes)->capture_default_str();
  app.add_option("--ranks", options.ranks, "of the many files")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--init-ranks", options.init_ranks, "of the log of inits")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 100))->capture_default_str();
  app.add_flag("--full", options.is_full, "also a log ten times as large");
  app.add_option("--group", groups,
                 "only these: plain packed irregular training init files storm full reports");
  app.add_option("--results", file, "where the tables go")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::string recipe = "./dev bench";
  for (int i = 1; i < argc; ++i) recipe += fmt::format(" {}", argv[i]);
  try {
    return run(options, groups, recipe, file);
  } catch (const std::exception& error) {
    fmt::print(stderr, "compare_speed: {}\n", error.what());
    return 2;
  }
}
