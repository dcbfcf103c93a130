// Does memory grow with the length of a log? It must not: a log of any length needs what its
// processes and communicators need.
//
//   log                  lines   command                     peak MiB   limit MiB
//   regular            1000000   ncclog analyze                    12          65
//   regular           10000000   ncclog analyze                    13          65
//
// Exits with 1 if a run needs more than 64 MB and 64 KB for each process and communicator. A table
// by iteration has rows for each, so it grows with them: it is measured and has no limit.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "bench/log_generator.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

struct Shape {
  std::string_view name;
  LogMix mix;
};

constexpr Shape kShapes[] = {{"regular", LogMix::Collectives},
                             {"irregular", LogMix::Irregular},
                             {"everything", LogMix::Everything}};

struct Measured {
  std::string_view name;
  std::vector<std::string> arguments;
  bool is_limited;
};

std::vector<Measured> commands(const std::string& log) {
  return {{"analyze", {"analyze", log}, true},
          {"count", {"count", log}, true},
          {"count --by iteration,op", {"count", log, "--by", "iteration,op"}, false}};
}

double limit_mib(int ranks) { return (64e6 + 64e3 * ranks) / (1 << 20); }

std::string write_log(const TempDir& folder, const LogOptions& options) {
  const std::string log = (folder.path() / "generated.log").string();
  std::ofstream out(log, std::ios::binary);
  generate_log(options, out);
  return log;
}

bool measure(const Shape& shape, uint64_t lines, int ranks) {
  const TempDir folder;
  const std::string log =
      write_log(folder, {.bytes = UINT64_MAX, .calls = lines, .ranks = ranks, .mix = shape.mix});
  bool fits = true;
  for (Measured& command : commands(log)) {
    command.arguments.insert(command.arguments.begin(), ncclog_binary().string());
    const Outcome outcome = run_command({.arguments = command.arguments});
    const double peak = static_cast<double>(outcome.peak_rss_kib) / 1024;
    fmt::print("{:10} {:>12} {:28} {:8.1f} {:>8}\n", shape.name, lines, command.name, peak,
               command.is_limited ? fmt::format("{:.1f}", limit_mib(ranks)) : "none");
    std::fflush(stdout);
    if (outcome.exit_code != 0) {
      fmt::print("  exit code {}: {}\n", outcome.exit_code, outcome.standard_error);
    }
    const bool is_fine = !command.is_limited || peak <= limit_mib(ranks);
    fits = fits && outcome.exit_code == 0 && is_fine;
  }
  return fits;
}

}  // namespace
}  // namespace ncclog::testing

int main(int argc, char** argv) {
  using namespace ncclog::testing;
  std::vector<uint64_t> lines = {1'000'000, 10'000'000};
  int ranks = 8;
  CLI::App app("Peak memory of whole runs over logs of different lengths.");
  app.add_option("--lines", lines, "collective lines of the generated logs")->capture_default_str();
  app.add_option("--ranks", ranks)->check(CLI::Range(1, 4096))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  fmt::print("{:10} {:>12} {:28} {:>8} {:>8}\n", "log", "lines", "command", "peak MiB", "limit");
  bool fits = true;
  for (const Shape& shape : kShapes) {
    for (const uint64_t count : lines) fits = measure(shape, count, ranks) && fits;
  }
  return fits ? 0 : 1;
}
