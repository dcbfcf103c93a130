// How long does a whole run take, beside tools that only look for bytes in the same file?
//
//   command                  seconds    MB/s   Mlines/s   peak MiB   x wc -l
//   wc -l                       0.21    4762      27.10          3       1.0
//   ncclog, 2 threads           …
//
// First the benchmarks of the single steps run (ncclog_bench).

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "bench/log_generator.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

struct Contender {
  std::string name;
  std::vector<std::string> arguments;
};

std::vector<Contender> contenders(const std::string& log) {
  std::string ncclog = ncclog_binary().string();
  return {
      {"wc -l", {"wc", "-l", log}},
      {"grep -c AllReduce", {"grep", "-c", "AllReduce", log}},
      {"rg -c AllReduce", {"rg", "-c", "AllReduce", log}},
      {"ncclog, 1 thread", {ncclog, "analyze", "--threads", "1", log}},
      {"ncclog, 2 threads", {ncclog, "analyze", "--threads", "2", log}},
      {"ncclog, as it comes", {ncclog, "analyze", log}},
  };
}

/// The fastest of three runs: the others had company on the machine.
Outcome best_of_three(const Contender& contender) {
  Outcome best;
  for (int round = 0; round < 3; ++round) {
    Outcome outcome = run_command({.arguments = contender.arguments});
    if (round == 0 || outcome.seconds < best.seconds) best = outcome;
  }
  return best;
}

double count_lines(const std::string& log) {
  return std::stod(run_command({.arguments = {"wc", "-l", log}}).standard_output);
}

int compare(const std::string& log) {
  double megabytes = static_cast<double>(std::filesystem::file_size(log)) / 1e6;
  double million_lines = count_lines(log) / 1e6;
  fmt::print("\n{:.0f} MB, {:.2f} million lines\n", megabytes, million_lines);
  fmt::print("{:22} {:>8} {:>8} {:>9} {:>9} {:>8}\n", "command", "seconds", "MB/s", "Mlines/s",
             "peak MiB", "x wc -l");
  double first = 0;
  int failed = 0;
  for (const Contender& contender : contenders(log)) {
    Outcome best = best_of_three(contender);
    if (best.exit_code != 0) {
      fmt::print("{:22} exit code {}: {}\n", contender.name, best.exit_code, best.standard_error);
      failed = 1;
      continue;
    }
    if (first == 0) first = best.seconds;
    fmt::print("{:22} {:8.2f} {:8.0f} {:9.2f} {:9.0f} {:8.1f}\n", contender.name, best.seconds,
               megabytes / best.seconds, million_lines / best.seconds,
               static_cast<double>(best.peak_rss_kib) / 1024, best.seconds / first);
  }
  return failed;
}

int run(const LogOptions& options) {
  // Straight to the terminal: its table is the first half of ours.
  std::string steps = (build_dir() / "tests/bench/ncclog_bench").string();
  if (std::system(steps.c_str()) != 0) return 1;
  TempDir folder;
  std::string log = (folder.path() / "generated.log").string();
  std::ofstream out(log, std::ios::binary);
  generate_log(options, out);
  out.close();
  return compare(log);
}

}  // namespace
}  // namespace ncclog::testing

int main(int argc, char** argv) {
  ncclog::testing::LogOptions options{.bytes = 1'000'000'000};
  CLI::App app("Speed of ncclog's steps, and of whole runs beside wc, grep and ripgrep.");
  app.add_option("--bytes", options.bytes, "size of the generated log")->capture_default_str();
  app.add_option("--ranks", options.ranks)->check(CLI::Range(1, 4096))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return ncclog::testing::run(options);
}
