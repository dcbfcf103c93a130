// ncclog-replay: carries out a replay plan on this machine's GPUs.
//
//   ncclog-replay run plan.json --out replay     defect and clean run, outcome in replay/
//   ncclog-replay gpus                           what there is to run on
//   ncclog-replay selftest                       whether this program, NCCL and the GPUs work
//
// Exit status: 0 it ran, whatever came out; 1 a test failed; 2 it could not, and says why. The
// commands `rank` and `probe` are for `run`, which starts this program again.

#include <cuda_runtime.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/built_in.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"
#include "replay/run/coordinator.h"
#include "replay/run/machine.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"
#include "replay/run/rank_execution.h"
#include "replay/run/rank_plan.h"

namespace ncclog {
namespace {

// What a rank does in a run, from its first word to the coordinator to its last.
//
// One thread works, the other serves the coordinator, so that "abort" is heard whatever NCCL does.

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenOrders{5};
constexpr std::chrono::milliseconds kBetweenProgress{50};

/// How long an aborted rank may take to tell what it had completed.
constexpr std::chrono::milliseconds kLastWords{1500};

RankMessage at_phase(ReplayPhase phase) { return {.kind = RankMessage::Kind::At, .at = phase}; }

/// The working half of a rank.
class RankWork {
 public:
  /// All of it is kept by reference.
  RankWork(const ReplayPlan& plan, const RankCommand& command, const NcclLibrary& nccl)
      : plan_(plan),
        command_(command),
        nccl_(nccl),
        communicators_(nccl, plan, command.rank, command.gpu, [this] { look_around(); }),
        program_(plan, command.rank, command.mode, nccl, communicators_) {}

  /// The whole life of the rank; never throws.
  void run() noexcept {
    try {
      live();
    } catch (const RunAborted&) {
      verify_completed();
    } catch (const Error& error) {
      complain(error.hint().empty() ? error.what() : error.what() + ("; " + error.hint()));
    } catch (const std::exception& error) {
      complain(error.what());
    }
    state_.end();
  }

  RankTalk& state() { return state_; }
  Communicators& communicators() { return communicators_; }

 private:
  void live() {
    say_hello();
    initialise(await(ReplayPhase::Init).ids);
    await(ReplayPhase::Enqueue);
    program_.enqueue_all([this] { look_around(); });
    state_.post(with_progress(at_phase(ReplayPhase::Completion)));
    program_.wait_for_all([this] { look_around(); });
    post_results();
    await(ReplayPhase::Teardown);
    communicators_.finish();
    program_.release();
    state_.post(at_phase(ReplayPhase::Done));
  }

  RunOrder await(ReplayPhase phase) {
    const std::optional<RunOrder> order = state_.await(phase);
    return order ? *order : throw RunAborted{};
  }

  void complain(const std::string& error) {
    state_.post({.kind = RankMessage::Kind::Error, .error = error});
  }

  void say_hello() {
    RankMessage hello = at_phase(ReplayPhase::Start);
    hello.nccl_version = nccl_.version;
    check(cudaSetDevice(command_.gpu), {"cudaSetDevice", command_.rank});
    hello.ids.resize(plan_.communicators.size());
    for (const int communicator : communicators_led_by(plan_, command_.rank)) {
      ncclUniqueId id{};
      check(nccl_.get_unique_id(&id), {"ncclGetUniqueId", command_.rank, communicator}, nccl_,
            nullptr);
      hello.ids[communicator] = hex_text({id.internal, sizeof id.internal});
    }
    state_.post(std::move(hello));
  }

  void initialise(const std::vector<std::string>& ids) {
    program_.allocate();
    if (command_.corrupt) program_.plant(*command_.corrupt);
    const Clock::time_point start = Clock::now();
    communicators_.make(unique_ids(ids));
    RankMessage message = at_phase(ReplayPhase::Enqueue);
    message.init_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    state_.post(std::move(message));
  }

  std::vector<ncclUniqueId> unique_ids(const std::vector<std::string>& ids) const {
    std::vector<ncclUniqueId> unique(plan_.communicators.size());
    if (ids.size() > unique.size()) throw Error("the coordinator sent an id of no communicator");
    for (size_t c = 0; c < ids.size(); ++c) {
      const auto bytes = bytes_of_hex(ids[c], sizeof unique[c].internal);
      if (bytes) bytes->copy(unique[c].internal, sizeof unique[c].internal);
      if (!bytes && !ids[c].empty()) throw Error("the coordinator sent what is no id");
    }
    return unique;
  }

  void post_results() {
    const std::vector<ComparedElements> results = program_.results();
    RankMessage message = with_progress(at_phase(ReplayPhase::Teardown));
    message.verified =
        verification_of(plan_, command_.rank, program_.calls(), results, program_.completed());
    if (command_.timed_runs > 0 && command_.mode == MadeIn::Clean) {
      const auto timing =
          time_program(plan_, command_.rank, command_.timed_runs, program_, nccl_, communicators_);
      if (timing) message.timings.push_back(*timing);
    }
    state_.post(std::move(message));
  }

  /// After an abort: what was completed before it counts all the same.
  void verify_completed() {
    RankMessage message{.kind = RankMessage::Kind::Aborted};
    try {
      message.verified = verification_of(plan_, command_.rank, program_.calls(), program_.results(),
                                         program_.completed());
    } catch (const std::exception&) {
      // Nothing is known then, which is what the message says.
    }
    state_.post(std::move(message));
  }

  RankMessage with_progress(RankMessage message) const {
    const RankMessage& progress = program_.progress();
    message.entered = progress.entered;
    message.completed = progress.completed;
    message.open = progress.open;
    return message;
  }

  /// While something is waited for: tells how far the calls are.
  void look_around() {
    program_.look();
    if (program_.progress() == told_) return;
    told_ = program_.progress();
    state_.post_progress(told_);
  }

  const ReplayPlan& plan_;
  const RankCommand& command_;
  const NcclLibrary& nccl_;
  RankTalk state_;
  Communicators communicators_;
  RankExecution program_;
  RankMessage told_{.kind = RankMessage::Kind::Progress};
};

void say(Connection& connection, const RankMessage& message) {
  connection.send(write_line(message));
}

/// Waits so long for an order; nullopt: none came. A broken connection is an order to abort.
std::optional<RunOrder> hear_from(Connection& connection, std::chrono::milliseconds patience) {
  connection.flush();
  std::optional<std::string> line = connection.next_line();
  if (!line && connection.is_open()) {
    PollList polled;
    polled.add(connection);
    polled.wait(patience);
    connection.receive();
    line = connection.next_line();
  }
  if (line) return parse_line<RunOrder>(*line);
  if (!connection.is_open()) return RunOrder{.kind = RunOrder::Kind::Abort};
  return std::nullopt;
}

/// The serving half: sends what is due and hears what is said until the rank ends.
RankExit serve(RankWork& work, Connection& connection) {
  Clock::time_point next_progress{};
  bool has_failed = false;
  for (;;) {
    for (const RankMessage& message : work.state().take_posted(Clock::now() >= next_progress)) {
      const bool is_progress = message.kind == RankMessage::Kind::Progress;
      if (is_progress) next_progress = Clock::now() + kBetweenProgress;
      has_failed = has_failed || message.kind == RankMessage::Kind::Error;
      say(connection, message);
      if (message.at == ReplayPhase::Done) return RankExit::Done;
    }
    const std::optional<RunOrder> order = hear_from(connection, kBetweenOrders);
    if (!order) continue;
    work.state().hear(*order);
    if (order->kind == RunOrder::Kind::Abort) break;
  }
  work.communicators().abort();
  work.state().await_end(kLastWords);
  bool has_said_so = false;
  for (const RankMessage& message : work.state().take_posted(true)) {
    has_said_so = has_said_so || message.kind == RankMessage::Kind::Aborted;
    say(connection, message);
  }
  if (!has_said_so) say(connection, {.kind = RankMessage::Kind::Aborted});
  return has_failed ? RankExit::Error : RankExit::Aborted;
}

/// The end of the channel that this process inherited. Throws Error.
Connection own_channel() {
  const char* text = std::getenv(kChannelVariable);
  const auto number = parse_int(text == nullptr ? "" : text);
  struct stat state = {};
  if (!number || fstat(static_cast<int>(*number), &state) != 0 || !S_ISSOCK(state.st_mode)) {
    throw Error(fmt::format("{} names no socket; ranks are started by ncclog-replay run",
                            kChannelVariable));
  }
  // A program that NCCL's plugins start must not keep it open.
  fcntl(static_cast<int>(*number), F_SETFD, FD_CLOEXEC);
  return Connection(static_cast<int>(*number));
}

/// What a reader of the process's output should know.
void say_what_is_replaced(const ReplayPlan& plan, const RankCommand& command,
                          const NcclLibrary& nccl) {
  const auto calls = calls_in(plan.ranks[command.rank], command.mode);
  const auto replaced = std::ranges::find_if(
      calls, [&](const PlannedCall& call) { return is_made_of_messages(nccl, call); });
  if (replaced == calls.end()) return;
  fmt::print(stderr,
             "ncclog-replay: NCCL {} has no {}; rank {} makes it of ncclSend and ncclRecv\n",
             nccl.version, function_name(*replaced), command.rank);
}

/// A rank that cannot begin says so and waits to be dismissed.
void refuse(Connection& connection, const std::string& error) {
  say(connection, {.kind = RankMessage::Kind::Error, .error = error});
  // The coordinator answers an error with "abort".
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < end) {
    const auto order = hear_from(connection, std::chrono::milliseconds(100));
    if (order && order->kind == RunOrder::Kind::Abort) break;
  }
  say(connection, {.kind = RankMessage::Kind::Aborted});
}

std::string text_of(const Error& error) {
  std::string text = error.where().empty() ? "" : error.where() + ": ";
  text += error.what();
  return error.hint().empty() ? text : text + "; " + error.hint();
}

/// The process of a rank, from loading NCCL to its last word. Connects to the coordinator that the
/// environment names. What cannot be begun is said to the coordinator. Throws Error where there is
/// none to say it to.
RankExit run_rank_process(const RankCommand& command, const std::string& plan_file,
                          const std::string& library) {
  Connection connection = own_channel();
  const std::optional<std::string> text = read_whole_file(plan_file);
  if (!text) throw Error("cannot be read", plan_file);
  const ReplayPlan plan = parse_plan(*text, plan_file);
  if (command.rank < 0 || static_cast<size_t>(command.rank) >= plan.ranks.size()) {
    throw Error("the plan has no rank " + std::to_string(command.rank), "rank");
  }
  std::optional<NcclLibrary> nccl;
  try {
    nccl.emplace(library);
  } catch (const Error& error) {
    refuse(connection, text_of(error));
    return RankExit::Error;
  }
  say_what_is_replaced(plan, command, *nccl);
  RankWork work(plan, command, *nccl);
  std::thread worker([&work] { work.run(); });
  const RankExit end = serve(work, connection);
  // The worker may be in a call that hangs, and what it holds of the GPU may wait for that call:
  // only the end of the process takes both away.
  if (end != RankExit::Done) std::_Exit(static_cast<int>(end));
  worker.join();
  return end;
}

// The command line.

constexpr int kFine = 0;
constexpr int kFailed = 1;
constexpr int kCannotDo = 2;

bool all_reduce_float8(const std::vector<int>& gpus) {
  return std::ranges::all_of(gpus, [](int gpu) {
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu),
          {"cudaDeviceGetAttribute"});
    return major >= 9;
  });
}

int show_gpus(bool as_json) {
  const ReplayMachine machine = query_gpus();
  if (as_json) fmt::print("{}", write_gpus_json(machine));
  if (!machine.problem.empty()) throw Error(machine.problem);
  if (!as_json) fmt::print("{}", write_gpus_text(machine));
  return kFine;
}

int test_gpus(RunFlags& flags) {
  const ReplayMachine machine = query_machine(flags.nccl);
  if (!machine.problem.empty()) throw Error(machine.problem);
  if (flags.devices.empty()) {
    for (const GpuState& state : machine.gpus) flags.devices.push_back(state.gpu.gpu);
  }
  return selftest(flags, all_reduce_float8(flags.devices), machine, std::cout);
}

int run_command_line(int argc, char** argv) {
  CLI::App app("Carries out replay plans of ncclog on this machine's GPUs", "ncclog-replay");
  app.require_subcommand(1);
  app.set_version_flag("--version", "ncclog-replay " + std::string(full_version()));
  CLI::App* run = app.add_subcommand("run", "Carry out a plan");
  RunFlags flags;
  add_run_flags(*run, flags);
  CLI::App* gpus = app.add_subcommand("gpus", "Show the GPUs of this machine");
  bool as_json = false;
  gpus->add_flag("--json", as_json, "Write one JSON object");
  CLI::App* test = app.add_subcommand(
      "selftest", "Make and compare all functions, datatypes and reductions on the GPUs");
  test->add_option("--devices", flags.devices, "GPUs, by CUDA's index (default: all)")
      ->delimiter(',');
  test->add_option("--set", flags.set, "A variable of NCCL: NAME=VALUE")->allow_extra_args(false);
  test->add_option("--nccl", flags.nccl, "NCCL's library");
  CLI::App* rank = app.add_subcommand("rank", "One process of a run")->group("");
  std::string command;
  rank->add_option("command", command)->required();
  rank->add_option("plan", flags.plan)->required();
  rank->add_option("nccl", flags.nccl);
  CLI::App* probe = app.add_subcommand("probe", "Whether a GPU answers")->group("");
  int gpu = 0;
  probe->add_option("gpu", gpu)->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFine : kCannotDo;
  }
  if (*gpus) return show_gpus(as_json);
  if (*rank) {
    const auto parsed = parse_command(command);
    if (parsed) return static_cast<int>(run_rank_process(*parsed, flags.plan, flags.nccl));
    throw Error("no command of a rank; ranks are started by ncclog-replay run", "rank");
  }
  if (*probe) {
    const GpuCheck check = probe_gpu(gpu);
    fmt::print("{}", write_line(check));
    return check.answers ? kFine : kFailed;
  }
  // CUDA may start threads, which would take the signals that a run waits for.
  const StopSignals stops;
  if (*test) return test_gpus(flags);
  return carry_out(flags, query_machine(flags.nccl), std::cerr);
}

int run_safely(int argc, char** argv) try {
  return run_command_line(argc, argv);
} catch (const Error& error) {
  fmt::print(stderr, "ncclog-replay: {}{}{}\n", error.where(), error.where().empty() ? "" : ": ",
             error.what());
  if (!error.hint().empty()) fmt::print(stderr, "  hint: {}\n", error.hint());
  return kCannotDo;
} catch (const std::exception& error) {
  fmt::print(stderr, "ncclog-replay: internal error: {}\n", error.what());
  return kCannotDo;
}

}  // namespace
}  // namespace ncclog

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const int status = ncclog::run_safely(argc, argv);
  std::fflush(stdout);
  // What CUDA and NCCL would take down at the end may wait for a call that hangs.
  std::_Exit(status);
}
