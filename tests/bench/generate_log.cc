// Writes a generated log to standard output: generate_log --bytes 1000000000 > big.log

#include <CLI/CLI.hpp>
#include <iostream>

#include "bench/log_generator.h"

int main(int argc, char** argv) {
  ncclog::testing::LogOptions options;
  bool everything = false;
  CLI::App app("Writes a log as NCCL 2.28 prints it for a healthy training run.");
  app.add_option("--bytes", options.bytes, "size of the log")->capture_default_str();
  app.add_option("--ranks", options.ranks)->check(CLI::Range(1, 4096))->capture_default_str();
  app.add_option("--ranks-per-host", options.ranks_per_host)->check(CLI::Range(1, 64));
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_flag("--everything", everything, "other kinds of lines between the collectives");
  CLI11_PARSE(app, argc, argv);
  if (everything) options.mix = ncclog::testing::LogMix::Everything;
  std::ios::sync_with_stdio(false);
  ncclog::testing::generate_log(options, std::cout);
  return std::cout.flush() ? 0 : 1;
}
