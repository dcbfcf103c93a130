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
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "log/nccl_names.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"
#include "replay/run/coordinator.h"
#include "replay/run/machine.h"
#include "replay/run/pattern.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"
#include "replay/run/rank_plan.h"
#include "replay/run/rank_program.h"

namespace ncclog {
namespace {

// What a rank does in a run, from its first word to the coordinator to its last.
//
// One thread works, the other serves the coordinator, so that "abort" is heard whatever NCCL does.
// No globals: the ranks of a selftest are threads of one process, each on its own GPU.

/// What one rank has to do: its command, without the paths, which are what `plan` and NCCL are.
struct RankTask {
  std::shared_ptr<const ReplayPlan> plan;
  RankCommand command;
  /// Is told what was compared, call by call, before the coordinator hears the sum; may be empty.
  std::function<void(const std::vector<ComparedElements>&)> tell_results;
};

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenOrders{5};
constexpr std::chrono::milliseconds kBetweenProgress{50};

/// How long an aborted rank may take to tell what it had completed.
constexpr std::chrono::milliseconds kLastWords{1500};

RankMessage at_phase(ReplayPhase phase) { return {.kind = RankMessage::Kind::At, .at = phase}; }

/// The working half of a rank. It outlives run_rank() where NCCL does not let it end, so it owns
/// or shares all that it uses.
class RankWork {
 public:
  RankWork(RankTask task, std::shared_ptr<const NcclLibrary> nccl)
      : task_(std::move(task)),
        nccl_(std::move(nccl)),
        communicators_(*nccl_, *task_.plan, task_.command.rank, task_.command.gpu,
                       [this] { look_around(); }),
        program_(*task_.plan, task_.command.rank, task_.command.mode, *nccl_, communicators_) {}

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
    post_at(ReplayPhase::Completion);
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
    hello.nccl_version = nccl_->version;
    check(cudaSetDevice(task_.command.gpu), {"cudaSetDevice", task_.command.rank});
    hello.ids.resize(task_.plan->communicators.size());
    for (const int communicator : communicators_led_by(*task_.plan, task_.command.rank)) {
      ncclUniqueId id{};
      check(nccl_->get_unique_id(&id), {"ncclGetUniqueId", task_.command.rank, communicator},
            *nccl_, nullptr);
      hello.ids[communicator] = hex_text({id.internal, sizeof id.internal});
    }
    state_.post(std::move(hello));
  }

  void initialise(const std::vector<std::string>& ids) {
    program_.allocate();
    if (task_.command.corrupt) program_.plant(*task_.command.corrupt);
    const Clock::time_point start = Clock::now();
    communicators_.make(unique_ids(ids));
    RankMessage message = at_phase(ReplayPhase::Enqueue);
    message.init_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    state_.post(std::move(message));
  }

  std::vector<ncclUniqueId> unique_ids(const std::vector<std::string>& ids) const {
    std::vector<ncclUniqueId> unique(task_.plan->communicators.size());
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
    if (task_.tell_results) task_.tell_results(results);
    RankMessage message = with_progress(at_phase(ReplayPhase::Teardown));
    message.verified = verification_of(*task_.plan, task_.command.rank, program_.calls(), results,
                                       program_.completed());
    if (task_.command.timed_runs > 0 && task_.command.mode == MadeIn::Clean) {
      const auto timing = time_program(*task_.plan, task_.command.rank, task_.command.timed_runs,
                                       program_, *nccl_, communicators_);
      if (timing) message.timings.push_back(*timing);
    }
    state_.post(std::move(message));
  }

  /// After an abort: what was completed before it counts all the same.
  void verify_completed() {
    RankMessage message{.kind = RankMessage::Kind::Aborted};
    try {
      message.verified = verification_of(*task_.plan, task_.command.rank, program_.calls(),
                                         program_.results(), program_.completed());
    } catch (const std::exception&) {
      // Nothing is known then, which is what the message says.
    }
    state_.post(std::move(message));
  }

  RankMessage with_progress(RankMessage message) const {
    const CallProgress& progress = program_.progress();
    message.entered = progress.entered;
    message.completed = progress.completed;
    message.open = progress.open;
    return message;
  }

  void post_at(ReplayPhase phase) { state_.post(with_progress(at_phase(phase))); }

  /// While something is waited for: tells how far the calls are.
  void look_around() {
    program_.look();
    if (program_.progress() == told_) return;
    told_ = program_.progress();
    state_.post_progress(with_progress({.kind = RankMessage::Kind::Progress}));
  }

  RankTask task_;
  std::shared_ptr<const NcclLibrary> nccl_;
  RankTalk state_;
  Communicators communicators_;
  RankProgram program_;
  CallProgress told_;
};

void say(Connection& connection, const RankMessage& message) {
  connection.send(write_message(message));
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
  if (line) return parse_order(*line);
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

/// Runs the rank to its end. Where that is not Done, a thread and memory of the GPU may be left
/// behind, which only the end of the process takes away.
RankExit run_rank(const RankTask& task, std::shared_ptr<const NcclLibrary> nccl,
                  Connection& connection) {
  auto work = std::make_shared<RankWork>(task, std::move(nccl));
  std::thread worker([work] { work->run(); });
  const RankExit end = serve(*work, connection);
  if (end == RankExit::Done) {
    worker.join();
  } else {
    worker.detach();
    // What it holds of the GPU may wait for a call that hangs, so nobody gives it back.
    new std::shared_ptr<RankWork>(work);
  }
  return end;
}

/// The end of the channel that this process inherited. Throws Error.
Connection own_channel() {
  const char* text = std::getenv(kChannelVariable);
  const auto number = parse_int(text == nullptr ? "" : text);
  struct stat state {};
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
RankExit run_rank_process(const RankCommand& command) {
  Connection connection = own_channel();
  const std::optional<std::string> text = read_whole_file(command.plan);
  if (!text) throw Error("cannot be read", command.plan);
  const auto plan = std::make_shared<const ReplayPlan>(parse_plan(*text, command.plan));
  if (command.rank < 0 || static_cast<size_t>(command.rank) >= plan->ranks.size()) {
    throw Error("the plan has no rank " + std::to_string(command.rank), "rank");
  }
  std::shared_ptr<const NcclLibrary> nccl;
  try {
    nccl = std::make_shared<const NcclLibrary>(load_nccl(command.nccl));
  } catch (const Error& error) {
    refuse(connection, text_of(error));
    return RankExit::Error;
  }
  say_what_is_replaced(*plan, command, *nccl);
  return run_rank({plan, command, {}}, std::move(nccl), connection);
}

// Does this program, with this NCCL and these GPUs, make and compare every call rightly?
//
//   AllReduce      360 calls, 23978520 elements, none wrong
//   …
//   a planted corruption of AllReduce was found: rank 1, call 1493, element 1031

constexpr std::chrono::minutes kSelftestPatience{3};

/// What came of one run of the plan.
struct LocalOutcome {
  std::string error;                                 ///< Empty: it was completed.
  std::vector<Verification> verified;                ///< By rank.
  std::vector<std::vector<ComparedElements>> calls;  ///< By rank, by call.
};

LocalOutcome run_locally(const std::shared_ptr<const ReplayPlan>& plan,
                         const std::vector<int>& gpus,
                         const std::shared_ptr<const NcclLibrary>& nccl,
                         const std::optional<PlantedCorruption>& corrupt) {
  std::vector<std::vector<ComparedElements>> calls(gpus.size());
  std::vector<Connection> channels;
  std::vector<std::thread> ranks;
  for (size_t rank = 0; rank < gpus.size(); ++rank) {
    const RankTask task{
        .plan = plan,
        .command = {.rank = static_cast<int>(rank), .gpu = gpus[rank], .corrupt = corrupt},
        .tell_results = [&calls, rank](const auto& results) { calls[rank] = results; }};
    auto [ours, theirs] = make_channel();
    channels.push_back(std::move(ours));
    ranks.emplace_back([&nccl, task, channel = std::move(theirs)]() mutable {
      run_rank(task, nccl, channel);
      channel.close();  // The thread's function may outlive its end.
    });
  }
  RunLimits limits;
  limits.phases.fill(kSelftestPatience);
  RunProgress progress(gpus.size(), limits, RunClock::now());
  LocalOutcome outcome{lead_threads(std::move(channels), progress), {}, {}};
  for (std::thread& rank : ranks) rank.join();
  for (const RankOutcome& rank : progress.outcomes()) outcome.verified.push_back(rank.verified);
  outcome.calls = std::move(calls);
  return outcome;
}

struct Tally {
  uint64_t calls = 0;
  uint64_t elements = 0;
  uint64_t wrong = 0;
  std::string first_wrong;  ///< Datatype and reduction of it.
};

std::string variant_text(const PlannedCall& call) {
  return fmt::format("{}{}{}, {} elements", datatype_name(call.datatype),
                     is_reduction(call.op) ? " " : "",
                     is_reduction(call.op) ? reduction_name(call.redop) : "", call.count);
}

/// By function.
std::map<std::string, Tally> tally(const ReplayPlan& plan, const LocalOutcome& outcome) {
  std::map<std::string, Tally> tallies;
  for (size_t rank = 0; rank < outcome.calls.size(); ++rank) {
    const std::vector<PlannedCall>& calls = plan.ranks[rank].calls;
    for (size_t i = 0; i < outcome.calls[rank].size(); ++i) {
      const PlannedCommunicator& communicator = plan.communicators[calls[i].communicator];
      const CallShape shape = shape_of(calls[i], rank_in(communicator, static_cast<int>(rank)),
                                       static_cast<int>(communicator.ranks.size()));
      if (shape.received == 0) continue;
      Tally& sum = tallies[calls[i].op];
      ++sum.calls;
      sum.elements += static_cast<uint64_t>(shape.received);
      sum.wrong += outcome.calls[rank][i].wrong;
      if (outcome.calls[rank][i].wrong > 0 && sum.first_wrong.empty()) {
        sum.first_wrong = fmt::format("rank {}, call {}: {}", rank, i, variant_text(calls[i]));
      }
    }
  }
  return tallies;
}

/// Appends to the text; whether all is right.
bool report_calls(const ReplayPlan& plan, const LocalOutcome& outcome, std::string& text) {
  if (!outcome.error.empty()) {
    text += "the calls failed: " + outcome.error + "\n";
    return false;
  }
  bool is_right = true;
  for (const auto& [op, sum] : tally(plan, outcome)) {
    is_right = is_right && sum.wrong == 0;
    text += fmt::format("{:<14} {} calls, {} elements, {} wrong{}\n", op, sum.calls, sum.elements,
                        sum.wrong == 0 ? "none" : std::to_string(sum.wrong),
                        sum.wrong == 0 ? "" : "; first " + sum.first_wrong);
  }
  return is_right;
}

bool is_found(const LocalOutcome& outcome, const PlantedCorruption& target) {
  const Verification& verified = outcome.verified[target.rank];
  return outcome.error.empty() && verified.wrong == 1 && verified.first &&
         verified.first->call == target.call && verified.first->element == target.element;
}

bool report_corruption(const std::string& op, const LocalOutcome& outcome,
                       const PlantedCorruption& target, std::string& text) {
  const bool found = is_found(outcome, target);
  text += fmt::format("a planted corruption of {} was {}: rank {}, call {}, element {}", op,
                      found ? "found" : "not found", target.rank, target.call, target.element);
  if (found) {
    const WrongElement& wrong = *outcome.verified[target.rank].first;
    text += fmt::format(" is {} instead of {}", wrong.found, wrong.expected);
  }
  text += outcome.error.empty() ? "\n" : "; " + outcome.error + "\n";
  return found;
}

bool all_reduce_float8(const std::vector<int>& gpus) {
  for (const int gpu : gpus) {
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu),
          {"cudaDeviceGetAttribute"});
    if (major < 9) return false;
  }
  return true;
}

/// Makes all calls of selftest_plan() on those GPUs, one rank on each, as threads; then corrupts
/// one element of a reduction and one of a movement. Appends what came of it to the text; true: all
/// is right. Throws Error if it cannot begin.
bool run_selftest(const std::vector<int>& gpus, const std::shared_ptr<const NcclLibrary>& nccl,
                  std::string& text) {
  if (gpus.size() < 2) throw Error("a selftest needs at least 2 GPUs");
  const bool reduces_float8 = all_reduce_float8(gpus);
  const auto plan = std::make_shared<const ReplayPlan>(
      selftest_plan(static_cast<int>(gpus.size()), reduces_float8));
  text += fmt::format("NCCL {}, {} GPUs\n", nccl->version, gpus.size());
  if (!reduces_float8) text += "8-bit floats are only moved: reducing them needs Hopper\n";
  bool passed = report_calls(*plan, run_locally(plan, gpus, nccl, std::nullopt), text);
  for (const char* op : {"AllReduce", "AllGather"}) {
    if (!passed) break;  // What a failed run left behind may be in the way.
    const PlantedCorruption target = selftest_target(*plan, op);
    passed = report_corruption(op, run_locally(plan, gpus, nccl, target), target, text);
  }
  text += passed ? "passed\n" : "failed\n";
  return passed;
}

// The command line.

constexpr int kFine = 0;
constexpr int kFailed = 1;
constexpr int kCannotDo = 2;

void add_gpus(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("gpus", "Show the GPUs of this machine");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Write one JSON object");
  command->callback([as_json, &status] {
    const GpuMachine machine = query_gpus();
    if (*as_json) fmt::print("{}", write_gpus_json(machine));
    if (!machine.problem.empty()) throw Error(machine.problem);
    if (!*as_json) fmt::print("{}", write_gpus_text(machine));
    status = kFine;
  });
}

void add_run(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("run", "Carry out a plan");
  auto flags = std::make_shared<RunFlags>();
  add_run_flags(*command, *flags);
  command->callback([flags, &status] {
    // CUDA may start threads, which would take the signals that carry_out() waits for.
    const StopSignals stops;
    status = carry_out(*flags, query_machine(flags->nccl), std::cerr);
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
    const GpuMachine machine = query_gpus();
    if (!machine.problem.empty()) throw Error(machine.problem);
    if (flags->gpus.empty()) {
      for (const GpuState& state : machine.gpus) flags->gpus.push_back(state.gpu.gpu);
    }
    auto nccl = std::make_shared<const NcclLibrary>(load_nccl(flags->nccl));
    std::string text;
    status = run_selftest(flags->gpus, nccl, text) ? kFine : kFailed;
    fmt::print("{}", text);
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
    auto rank = parse_command(words->command);
    if (!rank) throw Error("no command of a rank; ranks are started by ncclog-replay run", "rank");
    rank->plan = words->plan;
    rank->nccl = words->nccl;
    status = static_cast<int>(run_rank_process(*rank));
  });
}

void add_probe(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("probe", "Whether a GPU answers")->group("");
  auto gpu = std::make_shared<int>(0);
  command->add_option("gpu", *gpu)->required();
  command->callback([gpu, &status] {
    const GpuCheck check = probe_gpu(*gpu);
    fmt::print("{}", write_line(check));
    status = check.answers ? kFine : kFailed;
  });
}

int run_command_line(int argc, char** argv) {
  CLI::App app("Carries out replay plans of ncclog on this machine's GPUs", "ncclog-replay");
  app.require_subcommand(1);
  app.set_version_flag("--version", "ncclog-replay " + std::string(full_version()));
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
}  // namespace ncclog

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const int status = ncclog::run_safely(argc, argv);
  std::fflush(stdout);
  // What CUDA and NCCL would take down at the end may wait for a call that hangs.
  std::_Exit(status);
}
