#include "bench/speed_results.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/text.h"
#include "support/process.h"

namespace ncclog::testing {
namespace {

std::string with_unit(double value, const std::string& unit) {
  return unit.empty() ? fmt::format("{:.2f}", value) : fmt::format("{:.0f} {}", value, unit);
}

std::string limit_text(const Criterion& criterion) {
  return fmt::format("at {} {}", criterion.is_minimum ? "least" : "most",
                     with_unit(criterion.limit, criterion.unit));
}

std::string measured_text(const Criterion& criterion) {
  return criterion.measured ? with_unit(*criterion.measured, criterion.unit) : criterion.reason;
}

std::string_view state(const Criterion& criterion) {
  if (!criterion.measured) return "not measured";
  return criterion.holds() ? "holds" : "does not hold";
}

std::string first_line(const std::string& command) {
  const Outcome outcome = run_command({.arguments = {"sh", "-c", command}});
  const std::string& text =
      outcome.standard_output.empty() ? outcome.standard_error : outcome.standard_output;
  return text.substr(0, text.find('\n'));
}

/// As the text of a table's cell, where "|" would end it.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "not set" : value;
}

std::string markdown_table(const SpeedTable& table) {
  std::string text = fmt::format("\n**{}**: {:.0f} MB", table.input, table.bytes / 1e6);
  if (table.lines > 0) text += fmt::format(", {:.2f} million lines", table.lines / 1e6);
  text += "\n\n| command | seconds | CPU s | MB/s | peak MB |\n|---|---:|---:|---:|---:|\n";
  for (const Timed& run : table.runs) {
    text += fmt::format("| `{}` | {:.3f} | {:.3f} | {:.0f} | {:.0f} |\n", cell(run.name),
                        run.seconds, run.cpu_seconds, table.bytes / 1e6 / run.seconds, run.peak_mb);
  }
  return text;
}

}  // namespace

std::string verdict_text(const Criterion& criterion) {
  return fmt::format("{}: {}, {}{}: {}", criterion.what, limit_text(criterion),
                     criterion.measured ? "measured " : "", measured_text(criterion),
                     state(criterion));
}

std::string table_text(const SpeedTable& table) {
  std::string text =
      fmt::format("\n{} ({:.0f} MB)\n{:52} {:>9} {:>9} {:>8} {:>8}\n", table.input,
                  table.bytes / 1e6, "command", "seconds", "CPU s", "MB/s", "peak MB");
  for (const Timed& run : table.runs) {
    text += fmt::format("{:52} {:9.3f} {:9.3f} {:8.0f} {:8.0f}\n", run.name, run.seconds,
                        run.cpu_seconds, table.bytes / 1e6 / run.seconds, run.peak_mb);
  }
  return text;
}

std::string results_text(const SpeedResults& results) {
  std::string text =
      "# Speed\n\nWritten by `compare_speed`; do not edit. Ratios are of medians of runs in turns "
      "(A B C A B C …), the files in the page cache.\n\n";
  text += fmt::format("    {}\n\n", results.recipe);
  for (const std::string& line : results.machine) text += fmt::format("- {}\n", line);
  text += "\n| what | limit | measured | by CPU time | |\n|---|---|---|---|---|\n";
  for (const Criterion& row : results.criteria) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", cell(row.what), limit_text(row),
                        measured_text(row), row.by_cpu ? fmt::format("{:.2f}", *row.by_cpu) : "",
                        state(row));
  }
  text += "\n| reports of one log | |\n|---|---|\n";
  for (const Sameness& row : results.reports) {
    text += fmt::format("| {} | {} |\n", row.what, row.is_same ? "the same bytes" : "**differ**");
  }
  text += "\n## Runs\n";
  for (const SpeedTable& table : results.tables) text += markdown_table(table);
  text +=
      "\n## Instructions for a line\n\nThe test `count_instructions` fails where one takes 10 % "
      "more.\n\n```\n" +
      results.instructions + "```\n";
  return text;
}

std::vector<std::string> describe_machine() {
  utsname system{};
  uname(&system);
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const std::string_view release = system.release;
  double load = 0;
  getloadavg(&load, 1);
  std::vector<std::string> lines = {
      fmt::format("{} cores, {:.0f} GB of memory, {} {}, {}", std::thread::hardware_concurrency(),
                  memory / 1e9, system.sysname, release.substr(0, release.find('-')),
                  system.machine),
      fmt::format("{:.1f} programs ran on average in the minute before: with more than a few, "
                  "ratios say little",
                  load),
      fmt::format("LC_ALL {}, LANG {}: as the shell had them", variable("LC_ALL"),
                  variable("LANG"))};
  for (const std::string_view tool : {"rg", "grep", "wc", "gzip", "igzip", "zstd", "bgzip"}) {
    const std::string command = fmt::format("command -v {0} >/dev/null && {0} --version", tool);
    const std::string version = first_line(command);
    lines.push_back(version.empty() ? fmt::format("{}: not installed", tool) : version);
  }
  return lines;
}

}  // namespace ncclog::testing
