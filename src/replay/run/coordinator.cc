#include "replay/run/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

using std::chrono::milliseconds;
using RunClock = std::chrono::steady_clock;

// The ranks of a run as its coordinator holds them, each with its process: how they ended.
//
//   rank 0, pid 4711, runs
//   rank 1, pid 4712, over; SIGTERM was sent, and by that it ended

/// A rank whose process was started, or could not be.
struct HeldRank {
  RankOutcome outcome;                  ///< What it said, and how its process ended.
  std::unique_ptr<ChildProcess> child;  ///< nullptr: it could not be started.
  Connection connection{};
  bool is_waiting = false;  ///< It has said that it waits for an order, which is not due.
  bool has_said_aborted = false;
  int sent_signal = 0;   ///< The last one that we sent; 0: none.
  bool is_over = false;  ///< Reaped, and what it said last was heard; or no child.

  bool is_running() const { return child && child->is_running(); }
  bool is_awaited() const { return child && !is_over; }
  bool is_done() const { return outcome.reached == ReplayPhase::Done; }

  /// A rank that waits to be let in has left the start, and is not in the next phase yet.
  bool has_left(ReplayPhase phase) const {
    return outcome.reached > phase || (phase == ReplayPhase::Start && is_waiting);
  }

  /// Sends a signal to the process if it runs. Who has ended by now did so without it.
  void signal(int number) {
    if (!is_running() || child->has_ended()) return;
    sent_signal = number;
    child->signal(number);
  }
};

/// How its process, which ended so, was brought to its end. `was_ordered`: "abort" had been said.
ProcessEnd end_of(const HeldRank& rank, bool was_ordered) {
  const RankOutcome& outcome = rank.outcome;
  // Who was killed may have ended by the SIGTERM before.
  const bool is_late = rank.sent_signal == SIGKILL && outcome.signal == SIGTERM;
  const bool is_ours = outcome.signal == 0 || outcome.signal == rank.sent_signal || is_late;
  if (rank.sent_signal != 0 && is_ours) {
    const bool was_killed = rank.sent_signal == SIGKILL && !is_late;
    return was_killed ? ProcessEnd::Killed : ProcessEnd::Terminated;
  }
  const bool has_obeyed = outcome.exit_code == static_cast<int>(RankExit::Aborted);
  return was_ordered && has_obeyed ? ProcessEnd::OnAbort : ProcessEnd::ByItself;
}

// How did a run end, in a word and in a sentence?
//
//   hung, completion    completion was not over after 30 s; ranks 0 and 1 were still in it
//   died, completion    rank 1 (pid 4711) was killed by SIGKILL in completion
//   failed, init        rank 0: ncclCommInitRankConfig on communicator 0: unhandled cuda error
//   wrong, teardown     rank 1: 3 of 4096 elements are wrong, the first is element 7 of call 28

/// "rank 1 (pid 4711) was killed by SIGKILL in completion"
std::string death_text(const RankOutcome& rank, ReplayPhase phase) {
  const std::string who = fmt::format("rank {} (pid {})", rank.rank, rank.pid);
  if (rank.end == ProcessEnd::Lost) {
    return fmt::format("{} went away in {}, and how is not known here", who, to_string(phase));
  }
  if (rank.end != ProcessEnd::ByItself && rank.end != ProcessEnd::OnAbort) {
    return fmt::format("{} broke its connection off in {} and had to be ended", who,
                       to_string(phase));
  }
  if (rank.signal != 0) {
    return fmt::format("{} was killed by {} in {}", who, signal_name(rank.signal),
                       to_string(phase));
  }
  return fmt::format("{} ended in {} without a word, with exit status {}", who, to_string(phase),
                     rank.exit_code);
}

std::string wrong_text(const RankOutcome& rank) {
  const Verification& verified = rank.verified;
  std::string text = fmt::format("rank {}: {} of {} elements are wrong", rank.rank, verified.wrong,
                                 verified.elements);
  if (verified.first) {
    text += fmt::format(", the first is element {} of call {}: {} instead of {}",
                        verified.first->element, verified.first->call,
                        printable(verified.first->found), printable(verified.first->expected));
  }
  return text;
}

/// How a run ends in which that rank's process went away before its time.
RunEnd end_of_death(const RankOutcome& rank) {
  const bool gave_up = rank.reached == ReplayPhase::Start && rank.signal == 0;
  return gave_up ? RunEnd::NotStarted : RunEnd::Died;
}

// A run under way: what its coordinator knows of it, from its start until the last process is gone.

/// How a run stands. Every stage but the first is on the way to its end.
enum class EndStage { Running, Aborting, Terminating, Killing, GivenUp };

/// A run under way.
struct RunState {
  const RunRequest& request;
  RunClock::time_point began = RunClock::now();
  std::vector<HeldRank> ranks = std::vector<HeldRank>(request.plan->ranks.size());
  /// By phase: when its first rank began it.
  std::array<std::optional<RunClock::time_point>, 5> phases_began = {began};
  ReplayPhase let_in = ReplayPhase::Start;  ///< The last phase that was ordered.
  std::vector<std::string> ids;             ///< By communicator of the plan.
  EndStage stage = EndStage::Running;
  RunClock::time_point stage_ends;  ///< Of the stages behind Running.
  bool has_trouble = false;         ///< It is being ended before its end, as `result` says.
  /// Whose death that is, by which its end says the reason; nullptr: the reason is known.
  const HeldRank* died = nullptr;
  RunResult result;
};

// How a run is ended that does not come to its end by itself.
//
//   rank 1 died → "abort" to all → 5 s → SIGTERM → 2 s → SIGKILL → 10 s → given up: Lost
//
// The first trouble counts: what goes wrong behind it is of ranks that are being ended.

void enter(RunState& run, EndStage stage, milliseconds grace) {
  run.stage = stage;
  run.stage_ends = RunClock::now() + grace;
}

/// Notes which shared memory of NCCL the processes have mapped, and tells all ranks.
void order_all(RunState& run, const RunOrder& order) {
  for (const HeldRank& rank : run.ranks) {
    if (rank.is_running()) run.result.segments.merge(segments_of(rank.child->pid()));
  }
  for (HeldRank& rank : run.ranks) rank.connection.send(write_line(order));
}

/// Decides how the run ended, once, and begins to end it.
void stop_run(RunState& run, RunEnd end, ReplayPhase phase, std::string reason,
              const HeldRank* died = nullptr) {
  if (run.has_trouble) return;
  run.has_trouble = true;
  run.died = died;
  run.result.run.end = end;
  run.result.run.phase = phase;
  run.result.run.reason = std::move(reason);
  if (run.stage != EndStage::Running) return;
  order_all(run, {.kind = RunOrder::Kind::Abort});
  enter(run, EndStage::Aborting, run.request.limits.abort_grace);
  // Who has not spoken yet does not listen yet. A connection that broke says "abort" by itself.
  for (HeldRank& rank : run.ranks) {
    if (!rank.has_left(ReplayPhase::Start)) rank.signal(SIGTERM);
  }
}

/// The next stage of ending it, if the time of this one is over at `now`. Nothing while it runs.
void go_on_ending(RunState& run, RunClock::time_point now) {
  if (run.stage == EndStage::Running || run.stage_ends > now) return;
  const bool is_aborting = run.stage == EndStage::Aborting;
  if (is_aborting || run.stage == EndStage::Terminating) {
    for (HeldRank& rank : run.ranks) rank.signal(is_aborting ? SIGTERM : SIGKILL);
    const RunLimits& limits = run.request.limits;
    return enter(run, is_aborting ? EndStage::Terminating : EndStage::Killing,
                 is_aborting ? limits.terminate_grace : limits.kill_grace);
  }
  enter(run, EndStage::GivenUp, {});
  for (HeldRank& rank : run.ranks) {
    if (!rank.is_running()) continue;
    rank.child->abandon();  // What does not end is not ours any more.
    rank.outcome.end = ProcessEnd::Lost;
  }
}

// How far have the ranks come, which order is due, and which deadline comes first?
//
//   all said "start"       → {"go":"init"}, and init may take 120 s from now
//   all said "enqueue"     → {"go":"enqueue"}
//   one said "completion"  → completion may take 30 s from now; enqueue still runs for the others
//   all said "teardown"    → {"go":"teardown"}

/// A rank that says `at` came from the phase before it.
struct Step {
  ReplayPhase at;
  ReplayPhase from;
  ReplayPhase needs;  ///< The order that has to be given before.
  ReplayPhase next;   ///< The order that it waits for; Done: none.
};

constexpr Step kSteps[] = {
    {ReplayPhase::Start, ReplayPhase::Start, ReplayPhase::Start, ReplayPhase::Init},
    {ReplayPhase::Enqueue, ReplayPhase::Init, ReplayPhase::Init, ReplayPhase::Enqueue},
    {ReplayPhase::Completion, ReplayPhase::Enqueue, ReplayPhase::Enqueue, ReplayPhase::Done},
    {ReplayPhase::Teardown, ReplayPhase::Completion, ReplayPhase::Enqueue, ReplayPhase::Teardown},
    {ReplayPhase::Done, ReplayPhase::Teardown, ReplayPhase::Teardown, ReplayPhase::Done},
};

void begin(RunState& run, ReplayPhase phase) {
  auto& began = run.phases_began[static_cast<size_t>(phase)];
  if (!began) began = RunClock::now();
}

void take_counts(RankOutcome& outcome, const RankMessage& message) {
  if (message.entered < outcome.entered || message.completed < outcome.completed) return;
  // Phases without calls say nothing about them.
  if (message.kind == RankMessage::Kind::At && message.entered == 0) return;
  outcome.entered = message.entered;
  outcome.completed = message.completed;
  outcome.open = message.open;
}

/// Returns what is wrong with what the rank says; empty: nothing, it was due.
std::string take_phase(RunState& run, HeldRank& rank, const RankMessage& message) {
  RankOutcome& outcome = rank.outcome;
  const auto* step = std::ranges::find(kSteps, message.at, &Step::at);
  if (step == std::end(kSteps) || outcome.reached != step->from || rank.is_waiting ||
      run.let_in < step->needs) {
    return fmt::format("says that it is at {} while it is in {}", to_string(message.at),
                       to_string(outcome.reached));
  }
  outcome.reached = message.at;
  rank.is_waiting = step->next != ReplayPhase::Done;
  if (message.at == ReplayPhase::Start) {
    run.ids.resize(std::max(run.ids.size(), message.ids.size()));
    for (size_t c = 0; c < message.ids.size(); ++c) {
      if (!message.ids[c].empty()) run.ids[c] = message.ids[c];
    }
    std::string& version = run.result.nccl_version;
    if (version.empty()) version = message.nccl_version;
    if (version != message.nccl_version) {
      return fmt::format("loaded NCCL {}, and another rank {}", printable(message.nccl_version),
                         printable(version));
    }
  }
  if (message.at == ReplayPhase::Enqueue) outcome.init_seconds = message.init_seconds;
  if (message.at == ReplayPhase::Completion) begin(run, ReplayPhase::Completion);
  if (message.at == ReplayPhase::Teardown) {
    outcome.verified = message.verified;
    if (outcome.rank == 0) run.result.run.timings = message.timings;
  }
  take_counts(outcome, message);
  return {};
}

/// Gives the order that all ranks wait for, if they do.
void give_order(RunState& run) {
  const Step* step = std::ranges::find(kSteps, run.ranks.front().outcome.reached, &Step::at);
  const bool is_due = std::ranges::all_of(run.ranks, [&](const HeldRank& rank) {
    return rank.is_waiting && rank.outcome.reached == step->at;
  });
  if (!is_due) return;
  run.let_in = step->next;
  begin(run, run.let_in);
  RunOrder order{.phase = run.let_in};
  if (run.let_in == ReplayPhase::Init) order.ids = run.ids;
  for (HeldRank& rank : run.ranks) {
    rank.is_waiting = false;
    if (run.let_in == ReplayPhase::Init) rank.outcome.reached = ReplayPhase::Init;
  }
  order_all(run, order);
}

/// When the time of a phase that has begun is over.
RunClock::time_point deadline_of(const RunState& run, ReplayPhase phase) {
  const auto number = static_cast<size_t>(phase);
  return *run.phases_began[number] + run.request.limits.phases[number];
}

/// The phase whose time is over next; nullopt: none has begun that is not over.
std::optional<ReplayPhase> next_due(const RunState& run) {
  std::optional<ReplayPhase> next;
  for (size_t i = 0; i < run.phases_began.size(); ++i) {
    const auto phase = static_cast<ReplayPhase>(i);
    const bool is_over =
        std::ranges::all_of(run.ranks, [&](const HeldRank& rank) { return rank.has_left(phase); });
    if (!run.phases_began[i] || is_over) continue;
    if (!next || deadline_of(run, phase) < deadline_of(run, *next)) next = phase;
  }
  // A rank whose process does not end after its last word is still in teardown.
  if (!next && run.phases_began.back()) next = ReplayPhase::Teardown;
  return next;
}

/// The phase took too long.
void expire(RunState& run, ReplayPhase phase) {
  const std::chrono::duration<double> limit = run.request.limits.phases[static_cast<size_t>(phase)];
  std::vector<int> late;
  for (const HeldRank& rank : run.ranks) {
    if (!rank.has_left(phase)) late.push_back(rank.outcome.rank);
  }
  const std::string who =
      late.empty()
          ? "all ranks were done, but a process of theirs did not end"
          : fmt::format("not through: rank{} {}", late.size() == 1 ? "" : "s", ranges_text(late));
  stop_run(run, phase == ReplayPhase::Start ? RunEnd::NotStarted : RunEnd::Hung, phase,
           fmt::format("{} was not over after {} s; {}", to_string(phase), limit.count(), who));
}

// What the ranks of a run say, and what follows from it for the run.
//
//   {"kind":"at","at":"enqueue",…}                 noted
//   {"kind":"error","error":"ncclAllReduce …"}     the run is stopped
//   no message, or out of turn                     the run is stopped
//   the connection breaks                          the rank died, unless it was done

/// Longest error text of a rank that is kept.
constexpr size_t kLongestError = 2000;

void take_error(RunState& run, HeldRank& rank, const std::string& error) {
  const bool is_of_the_fault = run.stage == EndStage::Running ||
                               (run.result.run.end == RunEnd::Failed && !rank.has_said_aborted);
  if (!is_of_the_fault) return;
  RankOutcome& outcome = rank.outcome;
  if (outcome.error.empty()) {
    outcome.error =
        error.empty() ? "an error without a text" : printable(error.substr(0, kLongestError));
  }
  const bool has_begun = outcome.reached > ReplayPhase::Start;
  stop_run(run, has_begun ? RunEnd::Failed : RunEnd::NotStarted, outcome.reached,
           fmt::format("rank {}: {}", outcome.rank, outcome.error));
}

void take(RunState& run, HeldRank& rank, const std::string& line) {
  const auto message = parse_line<RankMessage>(line);
  RankOutcome& outcome = rank.outcome;
  const ReplayPhase phase = outcome.reached;
  const auto fail = [&](std::string_view what) {
    stop_run(run, RunEnd::Failed, phase, fmt::format("rank {} {}", outcome.rank, what));
  };
  if (!message) {
    rank.connection.close();
    return fail("sent what is no message");
  }
  if (message->kind == RankMessage::Kind::Aborted) {
    // A rank that ends on "abort" tells what it had compared by then.
    rank.has_said_aborted = true;
    if (outcome.verified == Verification{}) outcome.verified = message->verified;
  }
  if (message->kind == RankMessage::Kind::Error) return take_error(run, rank, message->error);
  // What comes after the end was decided is of ranks that are being stopped.
  if (run.stage != EndStage::Running) return;
  if (message->kind == RankMessage::Kind::Progress) take_counts(outcome, *message);
  if (message->kind != RankMessage::Kind::At) return;
  const std::string complaint = take_phase(run, rank, *message);
  if (!complaint.empty()) fail(complaint);
}

/// True if something came.
bool hear(RunState& run, HeldRank& rank) {
  const size_t bytes = rank.connection.receive();
  while (auto line = rank.connection.next_line()) take(run, rank, *line);
  return bytes > 0;
}

// Which processes of a run have ended, and what that says of the run.
//
//   rank 1 ended with 0 behind Done         as it should
//   rank 1 was ended by SIGKILL, not ours   the run is stopped: it died
//   … while another rank's error stops it   the kill is why the other one failed

void note_end(RunState& run, HeldRank& rank) {
  RankOutcome& outcome = rank.outcome;
  outcome.exit_code = rank.child->exit_code();
  outcome.signal = rank.child->ended_by();
  outcome.end = end_of(rank, run.stage != EndStage::Running);
  const bool by_our_signal =
      outcome.end == ProcessEnd::Killed || outcome.end == ProcessEnd::Terminated;
  if (by_our_signal || (rank.is_done() && outcome.exit_code == 0)) return;
  // A rank that somebody else killed is why other ranks failed.
  const bool by_others =
      outcome.signal == SIGKILL || outcome.signal == SIGTERM || outcome.signal == SIGINT;
  const bool explains_it = by_others && run.result.run.end == RunEnd::Failed;
  if (run.stage == EndStage::Running || explains_it) {
    run.has_trouble = false;
    stop_run(run, end_of_death(outcome), outcome.reached, {}, &rank);
  }
}

/// Reaps the processes that ended, after what they said last was heard.
void note_ends(RunState& run) {
  for (HeldRank& rank : run.ranks) {
    if (!rank.is_awaited()) continue;
    if (!rank.child->has_ended()) continue;
    rank.is_over = true;
    // A child of the process may hold the connection open, and may even speak. 16 rounds are 4 MB:
    // more than a rank has to say, and an end to a child that floods.
    for (int round = 0; round < 16 && rank.connection.is_open() && hear(run, rank); ++round) {
    }
    rank.connection.close();
    note_end(run, rank);
  }
}

/// Waits for the end of a process that has closed its connection: one that ends can be reaped only
/// a moment after that, and what we did to it meanwhile would seem to be why it ended. One that
/// lives on has broken the connection off.
void await_end(RunState& run, const HeldRank& rank) {
  PollList polled;
  if (rank.is_running()) polled.add(rank.child->descriptor());
  polled.wait(milliseconds(1000));
  note_ends(run);
}

/// Takes what the ranks have said, and sends what is still kept for them.
void hear_ranks(RunState& run) {
  for (HeldRank& rank : run.ranks) {
    if (!rank.connection.is_open()) continue;
    rank.connection.flush();
    hear(run, rank);
    if (rank.connection.is_open() || rank.is_done()) continue;
    if (run.stage == EndStage::Running) await_end(run, rank);
    stop_run(run, RunEnd::Died, rank.outcome.reached, {}, &rank);
  }
}

/// Nothing is started once the run is being stopped.
void start_rank(RunState& run, ProcessStart start, HeldRank& rank) {
  if (run.has_trouble) return;
  try {
    auto [ours, theirs] = make_channel();
    start.channel = theirs.descriptor();
    start.environment[kChannelVariable] = std::to_string(start.channel);
    rank.child = std::make_unique<ChildProcess>(start);
    rank.connection = std::move(ours);
    rank.outcome.pid = rank.child->pid();
  } catch (const Error& error) {
    stop_run(run, RunEnd::NotStarted, ReplayPhase::Start,
             fmt::format("{} {}", error.where(), error.what()));
  }
}

void start_ranks(RunState& run) {
  for (size_t number = 0; number < run.ranks.size(); ++number) {
    HeldRank& rank = run.ranks[number];
    rank.outcome.rank = static_cast<int>(number);
    rank.outcome.gpu = run.request.gpus[number];
    start_rank(run, run.request.processes[number], rank);
    rank.is_over = rank.child == nullptr;
  }
}

/// Until something is due although nothing comes.
milliseconds time_left(const RunState& run) {
  // Rounded up: a deadline that is a part of a millisecond away must not be polled for.
  const auto until = [](RunClock::time_point time) {
    return std::chrono::ceil<milliseconds>(time - RunClock::now());
  };
  milliseconds left = std::chrono::hours(1);
  if (run.stage != EndStage::Running) {
    left = until(run.stage_ends);
  } else if (const auto phase = next_due(run)) {
    left = until(deadline_of(run, *phase));
  }
  // Before Linux 5.3 no descriptor tells that a process ends: it has to be asked now and then.
  const bool has_to_ask = std::ranges::any_of(run.ranks, [](const HeldRank& rank) {
    return rank.is_awaited() && rank.child->descriptor() < 0;
  });
  return has_to_ask ? std::min(left, milliseconds(50)) : left;
}

void wait(const RunState& run) {
  PollList polled;
  polled.add(run.request.stop_descriptor);
  for (const HeldRank& rank : run.ranks) {
    polled.add(rank.connection);
    if (rank.is_awaited()) polled.add(rank.child->descriptor());
  }
  polled.wait(time_left(run));
}

void look_for_stop(RunState& run) {
  const int signal = take_stop_signal(run.request.stop_descriptor);
  if (signal == 0) return;
  // Who asks a second time does not want to wait.
  if (run.stage != EndStage::Running) run.stage_ends = RunClock::now();
  if (run.result.stop_signal != 0) return;
  run.result.stop_signal = signal;
  stop_run(run, RunEnd::Died, ReplayPhase::Start,
           fmt::format("the run was interrupted by {}", signal_name(signal)));
}

/// Fills in what the run came to. Without a trouble it was completed, or its data are wrong.
void conclude(RunState& run) {
  RunOutcome& outcome = run.result.run;
  outcome.mode = run.request.mode;
  outcome.seconds = std::chrono::duration<double>(RunClock::now() - run.began).count();
  for (const HeldRank& rank : run.ranks) {
    outcome.ranks.push_back(rank.outcome);
    if (rank.child) run.result.pids.push_back(rank.child->pid());
  }
  if (!run.has_trouble) {
    const auto wrong = std::ranges::find_if(
        outcome.ranks, [](const RankOutcome& rank) { return rank.verified.wrong > 0; });
    const bool is_right = wrong == outcome.ranks.end();
    outcome.end = is_right ? RunEnd::Completed : RunEnd::Wrong;
    outcome.phase = is_right ? ReplayPhase::Done : ReplayPhase::Teardown;
    if (!is_right) outcome.reason = wrong_text(*wrong);
    return;
  }
  if (run.died != nullptr) {
    const RankOutcome& rank = run.died->outcome;
    outcome.end = end_of_death(rank);
    outcome.reason = death_text(rank, outcome.phase);
    const std::string line = last_line_of(run.request.processes[rank.rank].output);
    if (!line.empty()) outcome.reason += fmt::format(" (its last line: {})", line);
  }
  outcome.front = front_line(*run.request.plan, run.request.mode, outcome.ranks);
}

}  // namespace

RunResult coordinate(const RunRequest& request) {
  RunState run{request};
  start_ranks(run);
  while (run.stage != EndStage::GivenUp && !std::ranges::all_of(run.ranks, &HeldRank::is_over)) {
    wait(run);
    look_for_stop(run);
    // Deaths first: a rank that others complain about may have been killed before.
    note_ends(run);
    hear_ranks(run);
    const auto now = RunClock::now();
    if (run.stage == EndStage::Running) {
      give_order(run);
      const auto phase = next_due(run);
      if (phase && deadline_of(run, *phase) <= now) expire(run, *phase);
    } else {
      go_on_ending(run, now);
    }
  }
  conclude(run);
  return std::move(run.result);
}

}  // namespace ncclog
