// What does the rulebook cost? Two figures, each of whole runs of the program.
//
//   run                                     CPU ms    limit
//   start: analyze of ten lines               9.8       15
//
//   run                                       CPU s  seconds    ratio    limit
//   1000 MB, built-in rules                    2.10     1.10     1.00
//   1000 MB, and 1000 rules of our own         3.30     1.71     1.55     2.00
//
// Medians; the two long runs take turns. A limit that is passed is marked, and nothing fails: how
// long something takes depends on who else uses the machine.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "bench/log_generator.h"
#include "bench/timed_runs.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

/// What several runs of one command took.
struct Times {
  std::vector<double> cpu;
  std::vector<double> seconds;

  void add(const Outcome& outcome) {
    cpu.push_back(outcome.cpu_seconds);
    seconds.push_back(outcome.seconds);
  }
  std::string text() const { return fmt::format("{:8.2f} {:8.2f}", median(cpu), median(seconds)); }
};

std::string_view mark(double value, double limit) { return value <= limit ? "" : "  PASSED"; }

Outcome analyze(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {ncclog_binary().string(), "analyze"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  Outcome outcome = run_command({.arguments = all});
  if (outcome.exit_code > 1) fmt::print("  {}\n", outcome.standard_error);
  return outcome;
}

void measure_start(const TempDir& folder) {
  std::string log;
  for (int i = 0; i < 10; ++i) {
    log += fmt::format("node-a:40{0}:40{0} [{0}] NCCL INFO Using network IB\n", i);
  }
  const std::string path = folder.add("ten.log", log);
  std::vector<double> milliseconds;
  for (int round = 0; round < 41; ++round) {
    milliseconds.push_back(analyze({path}).cpu_seconds * 1e3);
  }
  constexpr double kLimit = 15;
  const double spent = median(milliseconds);
  fmt::print("{:40} {:>8} {:>8}\n{:40} {:8.1f} {:8.0f}{}\n\n", "run", "CPU ms", "limit",
             "start: analyze of ten lines", spent, kLimit, mark(spent, kLimit));
}

/// Expressions as sites write them: words, classes, alternatives, any case, none that matches.
std::string expression(int i) {
  const std::string word = fmt::format("site{}", i * 7919 % 100003);
  switch (i % 5) {
    case 0:
      return fmt::format("NCCL WARN .*{} failed", word);
    case 1:
      return fmt::format("{}: (timeout|reset) after \\d+ ms", word);
    case 2:
      return fmt::format("(?i)error .*{}", word);
    case 3:
      return fmt::format("(lost|broken) [a-z]+ {}", word);
    default:
      return fmt::format("\\b{}\\b.*0x[0-9a-f]+$", word);
  }
}

void write_rules(const TempDir& folder, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string id = fmt::format("site-rule-{}", i);
    folder.add("rules/" + id + ".yaml",
               fmt::format("id: {}\ntitle: A line of this site\nseverity: warning\n"
                           "confidence: likely\nrole: cause\nwhen: {{line: '{}'}}\n"
                           "message: It is there.\nexamples:\n  fires: [a]\n  quiet: [b]\n",
                           id, expression(i)));
  }
}

void measure_rules(const TempDir& folder, uint64_t bytes, int count) {
  const std::string log = (folder.path() / "generated.log").string();
  {
    std::ofstream out(log, std::ios::binary);
    generate_log({.bytes = bytes}, out);
  }
  write_rules(folder, count);
  const std::string rules = (folder.path() / "rules").string();
  Times without, with;
  for (int round = 0; round < 5; ++round) {
    without.add(analyze({log}));
    with.add(analyze({log, "--rules", rules}));
  }
  constexpr double kLimit = 2;
  const double ratio = median(with.seconds) / median(without.seconds);
  const std::string size = fmt::format("{} MB", bytes / 1000000);
  fmt::print("{:40} {:>8} {:>8} {:>8} {:>8}\n", "run", "CPU s", "seconds", "ratio", "limit");
  fmt::print("{:40} {} {:8.2f}\n", size + ", built-in rules", without.text(), 1.0);
  fmt::print("{:40} {} {:8.2f} {:8.2f}{}\n",
             fmt::format("{}, and {} rules of our own", size, count), with.text(), ratio, kLimit,
             mark(ratio, kLimit));
}

}  // namespace
}  // namespace ncclog::testing

int main(int argc, char** argv) {
  using namespace ncclog::testing;
  uint64_t bytes = 1000000000;
  int rules = 1000;
  CLI::App app("Measures what the rulebook costs.");
  app.add_option("--bytes", bytes, "size of the log")->capture_default_str();
  app.add_option("--rules", rules, "rules added")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const TempDir folder;
  measure_start(folder);
  measure_rules(folder, bytes, rules);
  return 0;
}
