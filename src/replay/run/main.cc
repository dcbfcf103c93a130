// ncclog-replay: carries out a replay plan on this machine's GPUs.
//
//   ncclog-replay run plan.json --out replay     defect and clean run, outcome in replay/
//   ncclog-replay gpus                           what there is to run on
//   ncclog-replay selftest                       whether this program, NCCL and the GPUs work
//
// Exit status: 0 it ran, whatever came out; 1 a test failed; 2 it could not, and says why. The
// commands `rank` and `probe` are for `run`, which starts this program again.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/version.h"
#include "replay/plan/plan_json.h"
#include "replay/run/carry_out.h"
#include "replay/run/machine.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"
#include "replay/run/rank_program.h"

namespace {

using ncclog::Error;

constexpr int kFine = 0;
constexpr int kFailed = 1;
constexpr int kCannotDo = 2;

/// Throws Error if there is no GPU.
ncclog::GpuMachine usable_gpus() {
  ncclog::GpuMachine machine = ncclog::query_gpus();
  if (!machine.problem.empty()) throw Error(machine.problem);
  return machine;
}

void add_gpus(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("gpus", "Show the GPUs of this machine");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Write one JSON object");
  command->callback([as_json, &status] {
    const ncclog::GpuMachine machine = ncclog::query_gpus();
    if (*as_json) fmt::print("{}", ncclog::write_gpus_json(machine));
    if (!machine.problem.empty()) throw Error(machine.problem);
    if (!*as_json) fmt::print("{}", ncclog::write_gpus_text(machine));
    status = kFine;
  });
}

void add_run(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("run", "Carry out a plan");
  auto flags = std::make_shared<ncclog::RunFlags>();
  ncclog::add_run_flags(*command, *flags);
  command->callback([flags, &status] {
    // CUDA may start threads, which would take the signals that carry_out() waits for.
    const ncclog::StopSignals stops;
    status = ncclog::carry_out(*flags, ncclog::query_machine(flags->nccl), std::cerr);
  });
}

void add_selftest(CLI::App& app, int& status) {
  struct Flags {
    std::vector<int> gpus;
    std::string nccl;
  };
  CLI::App* command = app.add_subcommand(
      "selftest", "Make and compare all functions, datatypes and reductions on the GPUs");
  auto flags = std::make_shared<Flags>();
  command->add_option("--devices", flags->gpus, "GPUs, by CUDA's index (default: all)")
      ->delimiter(',');
  command->add_option("--nccl", flags->nccl, "NCCL's library");
  command->callback([flags, &status] {
    const ncclog::GpuMachine machine = usable_gpus();
    if (flags->gpus.empty()) {
      for (const ncclog::GpuState& state : machine.gpus) flags->gpus.push_back(state.gpu.gpu);
    }
    auto nccl = std::make_shared<const ncclog::NcclLibrary>(ncclog::load_nccl(flags->nccl));
    const ncclog::SelftestResult result = ncclog::run_selftest(flags->gpus, std::move(nccl));
    fmt::print("{}", result.text);
    status = result.passed ? kFine : kFailed;
  });
}

void add_rank(CLI::App& app, int& status) {
  struct Words {
    std::string command;
    std::string plan;
    std::string nccl;
  };
  CLI::App* command = app.add_subcommand("rank", "One process of a run")->group("");
  auto words = std::make_shared<Words>();
  command->add_option("command", words->command)->required();
  command->add_option("plan", words->plan)->required();
  command->add_option("nccl", words->nccl);
  command->callback([words, &status] {
    auto rank = ncclog::parse_command(words->command);
    if (!rank) throw Error("no command of a rank; ranks are started by ncclog-replay run", "rank");
    rank->plan = words->plan;
    rank->nccl = words->nccl;
    status = static_cast<int>(ncclog::run_rank_process(*rank));
  });
}

void add_probe(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("probe", "Whether a GPU answers")->group("");
  auto gpu = std::make_shared<int>(0);
  command->add_option("gpu", *gpu)->required();
  command->callback([gpu, &status] {
    const ncclog::GpuCheck check = ncclog::probe_gpu(*gpu);
    fmt::print("{}", ncclog::write_line(check));
    status = check.answers ? kFine : kFailed;
  });
}

int run_command_line(int argc, char** argv) {
  CLI::App app("Carries out replay plans of ncclog on this machine's GPUs", "ncclog-replay");
  app.require_subcommand(1);
  app.set_version_flag("--version", "ncclog-replay " + std::string(ncclog::full_version()));
  int status = kCannotDo;
  add_run(app, status);
  add_gpus(app, status);
  add_selftest(app, status);
  add_rank(app, status);
  add_probe(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFine : kCannotDo;
  }
  return status;
}

int complain(const std::string& where, const std::string& what, const std::string& hint) {
  fmt::print(stderr, "ncclog-replay: {}{}{}\n", where, where.empty() ? "" : ": ", what);
  if (!hint.empty()) fmt::print(stderr, "  hint: {}\n", hint);
  return kCannotDo;
}

int run_safely(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const Error& error) {
    return complain(error.where(), error.what(), error.hint());
  } catch (const std::exception& error) {
    return complain("internal error", error.what(), "");
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const int status = run_safely(argc, argv);
  std::fflush(stdout);
  // What CUDA and NCCL would take down at the end may wait for a call that hangs.
  std::_Exit(status);
}
