// Writes a generated log: generate_log --mix init --ranks 4096 --bytes 200000000 > init.log
// or one file for each rank:  generate_log --ranks 4096 --bytes 100000 --files many/

#include <CLI/CLI.hpp>
#include <iostream>
#include <stdexcept>

#include "bench/generated_files.h"
#include "bench/log_generator.h"

int main(int argc, char** argv) {
  using namespace ncclog::testing;
  LogOptions options;
  std::string mix = "collectives";
  std::string folder;
  CLI::App app("Writes a log as NCCL 2.28 and training scripts print it.");
  app.add_option(
         "--mix", mix,
         "collectives, irregular, random, everything, init, rehosted, ordered, storm, training or "
         "steps")
      ->capture_default_str();
  app.add_option("--bytes", options.bytes, "size of the log, or of each file")
      ->capture_default_str();
  app.add_option("--calls", options.calls, "collective lines at most");
  app.add_option("--ranks", options.ranks)->check(CLI::Range(1, 65536))->capture_default_str();
  app.add_option("--ranks-per-host", options.ranks_per_host)
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--channels", options.channels, "of each communicator of the mix init")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--share", options.nccl_share, "NCCL's share of the lines of the mix training")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_flag("--times", options.has_times, "a time in front of each NCCL line");
  app.add_option("--files", folder, "a folder for one file a rank, instead of standard output");
  CLI11_PARSE(app, argc, argv);
  try {
    options.mix = log_mix_named(mix);
    if (!folder.empty()) {
      write_rank_files(folder, options);
      return 0;
    }
  } catch (const std::exception& error) {
    std::cerr << "generate_log: " << error.what() << '\n';
    return 2;
  }
  std::ios::sync_with_stdio(false);
  generate_log(options, std::cout);
  return std::cout.flush() ? 0 : 1;
}
