// Does the analysis of twice as many entities cost twice as much?
//
//   kind                          128 more       256 more   growth
//   tracebacks                    12345678       24691356     2.00
//   watchdog lines                 9876543       39506172     4.00  too much
//
// callgrind counts the instructions of analyses of n, 2n and 4n entities of each kind, in one process
// that has made its tables before; what 2n cost beyond n and 4n beyond 2n is without what a log costs
// in any case. Of what is linear the second is twice the first.
//
// With --full the program itself is timed on 16,384, 32,768 and 65,536 of each, and the table is
// written to tests/bench/GROWTH.md: that the growth of one doubling is no more than that of the last.
//
// Exits with 1 if a kind grows beyond kMaxDoubling, and with 77, which ctest takes for skipped, if
// valgrind is not there.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "base/text.h"
#include "bench/generated_files.h"
#include "bench/growth_kinds.h"
#include "bench/instruction_record.h"
#include "bench/speed_results.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else  // Nothing is measured then.
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name)
#endif

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;

/// What two times as many may cost at most, as a multiple.
constexpr double kMaxDoubling = 2.2;

/// So many times the least number of entities is measured.
constexpr std::array kTimes = {1, 2, 4};

/// Those that are named, or every so many of all: part 2 of 4 is the second, the sixth, …
std::vector<GrowthKind> chosen_kinds(const std::vector<std::string>& wanted, size_t part,
                                     size_t parts) {
  std::vector<GrowthKind> kinds;
  for (size_t i = 0; i < growth_kinds().size(); ++i) {
    const GrowthKind& kind = growth_kinds()[i];
    const bool is_named = std::ranges::find(wanted, kind.name) != wanted.end();
    if (wanted.empty() ? i % parts == part - 1 : is_named) kinds.push_back(kind);
  }
  return kinds;
}

void write_entities(const GrowthKind& kind, const fs::path& folder, int n) {
  EntityLog log(folder);
  kind.write(log, n);
}

void analyze(const fs::path& folder) {
  Console console;
  run_command_line({"analyze", "--threads", "1", folder.string()}, console);
}

/// Runs under callgrind: its output is one profile for each kind and number.
void measure(const std::vector<GrowthKind>& kinds, int least) {
  for (const GrowthKind& kind : kinds) {
    {
      const TempDir folder;  // What is made once for all is made here.
      write_entities(kind, folder.path(), std::max(least / 4, 1));
      analyze(folder.path());
    }
    for (const int times : kTimes) {
      const TempDir folder;
      write_entities(kind, folder.path(), times * least);
      CALLGRIND_START_INSTRUMENTATION;
      CALLGRIND_ZERO_STATS;
      analyze(folder.path());
      CALLGRIND_STOP_INSTRUMENTATION;
      const std::string name = fmt::format("{} x {}", times, kind.name);
      CALLGRIND_DUMP_STATS_AT(name.c_str());
    }
  }
}

/// What stands behind `label` on a line of the text; empty: nothing.
std::string_view labelled(std::string_view text, std::string_view label) {
  const size_t at = text.find(label);
  if (at == text.npos) return {};
  text.remove_prefix(at + label.size());
  return trim(text.substr(0, text.find('\n')));
}

/// Instructions by the names of profiles: "2 x tracebacks".
std::map<std::string, double> read_profiles(const fs::path& folder) {
  std::map<std::string, double> counted;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string text = read_file(entry.path());
    const std::string_view name = labelled(text, "desc: Trigger: Client Request: ");
    const auto total = parse_int(labelled(text, "\ntotals: "));
    if (!name.empty() && total) counted[std::string(name)] = static_cast<double>(*total);
  }
  return counted;
}

/// Counts all, prints the table. Returns the exit code.
int count(const fs::path& self, const std::vector<GrowthKind>& kinds, int least) {
  const TempDir folder;
  std::vector<std::string> arguments = {
      "valgrind",
      "--tool=callgrind",
      "--instr-atstart=no",
      fmt::format("--callgrind-out-file={}", (folder.path() / "profile").string()),
      self.string(),
      "--measure",
      "--entities",
      std::to_string(least)};
  for (const GrowthKind& kind : kinds)
    arguments.insert(arguments.end(), {"--kind", std::string(kind.name)});
  const Outcome outcome = run_command(
      {.arguments = std::move(arguments),
       .environment = {{"GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-ERMS"}}});
  if (outcome.exit_code != 0) throw std::runtime_error("failed:\n" + outcome.standard_error);
  const std::map<std::string, double> counted = read_profiles(folder.path());
  fmt::print("{:36} {:>10} more {:>10} more {:>8}\n", "kind", least, 2 * least, "growth");
  int status = 0;
  for (const GrowthKind& kind : kinds) {
    const auto of = [&](int times) {
      const auto found = counted.find(fmt::format("{} x {}", times, kind.name));
      if (found == counted.end())
        throw std::runtime_error("not counted: " + std::string(kind.name));
      return found->second;
    };
    const double first = of(2) - of(1);
    const double second = of(4) - of(2);
    const bool is_too_much = second > kMaxDoubling * first;
    fmt::print("{:36} {:>15.0f} {:>15.0f} {:>8.2f}{}\n", kind.name, first, second, second / first,
               is_too_much ? "  too much" : "");
    if (is_too_much) status = 1;
  }
  return status;
}

/// Times the program on many of each kind, and writes the page. Returns the exit code.
int time_all(const std::vector<GrowthKind>& kinds, int least, const std::string& recipe,
             const fs::path& page) {
  std::string text = fmt::format(
      "# What twice as many cost\n\nWritten by `{}`; do not edit. Processor seconds of\n`ncclog "
      "analyze --threads 1` over so many entities of each kind, as `growth_kinds.cc` writes them. "
      "Twice as many\nmay take {} times as long.\n\n",
      recipe, kMaxDoubling);
  for (const std::string& line : describe_machine()) text += fmt::format("- {}\n", line);
  text +=
      fmt::format("\n| kind | {} | {} | {} | last doubling | |\n|---|---:|---:|---:|---:|---|\n",
                  least, 2 * least, 4 * least);
  int status = 0;
  for (const GrowthKind& kind : kinds) {
    std::array<double, kTimes.size()> seconds{};
    for (size_t i = 0; i < kTimes.size(); ++i) {
      const TempDir folder;
      write_entities(kind, folder.path(), kTimes[i] * least);
      seconds[i] = run_command({.arguments = {ncclog_binary().string(), "analyze", "--threads", "1",
                                              folder.path().string()}})
                       .cpu_seconds;
    }
    const double growth = seconds[2] / seconds[1];
    const bool holds = growth <= kMaxDoubling;
    const std::string row =
        fmt::format("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {} |\n", kind.name, seconds[0],
                    seconds[1], seconds[2], growth, holds ? "holds" : "does not hold");
    fmt::print("{}", row);
    std::fflush(stdout);
    text += row;
    if (!holds) status = 1;
  }
  write_file(page, text);
  return status;
}

}  // namespace
}  // namespace ncclog::testing

int main(int argc, char** argv) {
  using namespace ncclog::testing;
  std::vector<std::string> names;
  std::pair<size_t, size_t> part(1, 1);
  int entities = 128;
  bool is_child = false;
  bool is_full = false;
  std::string page = (source_dir() / "tests/bench/GROWTH.md").string();
  CLI::App app("What twice as many entities of each kind cost.");
  app.add_option("--entities", entities, "the least number; twice and four times as many follow")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--kind", names, "only these");
  app.add_option("--part", part, "only every so many: 2 4 is the second of four parts")
      ->check(CLI::Range(1, 64));
  app.add_flag("--full", is_full, "by time, from 16,384 on unless --entities says otherwise");
  app.add_option("--results", page, "where the table of --full goes")->capture_default_str();
  app.add_flag("--measure", is_child, "what is run under callgrind");
  CLI11_PARSE(app, argc, argv);
  try {
    const std::vector<GrowthKind> kinds = chosen_kinds(names, part.first, part.second);
    if (is_child) {
      measure(kinds, entities);
      return 0;
    }
    if (is_full) {
      if (app.count("--entities") == 0) entities = 16384;
      return time_all(kinds, entities, "build/release/tests/bench/count_growth --full", page);
    }
    if (!has_tool("valgrind")) {
      fmt::print("skipped: no valgrind here; ./dev setup test installs it\n");
      return kSkipped;
    }
    return count(std::filesystem::canonical("/proc/self/exe"), kinds, entities);
  } catch (const std::exception& error) {
    fmt::print(stderr, "count_growth: {}\n", error.what());
    return 2;
  }
}
