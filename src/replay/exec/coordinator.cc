#include "replay/exec/coordinator.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "replay/exec/end_stage.h"
#include "replay/exec/leftovers.h"
#include "replay/exec/run_reason.h"
#include "replay/front_line.h"

namespace ncclog {
namespace {

using std::chrono::milliseconds;

using Stage = EndStage;

/// Longest error text of a rank that is kept.
constexpr size_t kLongestError = 2000;

/// A process of the run that was started, or could not be.
struct HeldProcess {
  const RankProcess* what = nullptr;
  std::unique_ptr<ChildProcess> child;  ///< nullptr: it could not be started.
  int sent_signal = 0;                  ///< The last one that we sent.
  bool is_over = false;                 ///< Reaped, and what it said last was heard.

  bool is_running() const { return child && child->is_running(); }
};

class Coordinator {
 public:
  Coordinator(const RunRequest& request, Listener& listener);
  RunResult run();

 private:
  void start_processes();
  bool is_everything_over() const;
  void wait();
  milliseconds time_left() const;
  void look_for_stop();
  void look_for_ends();
  void admit();
  void welcome(Connection connection, const std::string& first_line);
  void hear_all();
  bool hear(int rank);
  void hear_last_words(int rank);
  void take(int rank, const std::string& line);
  void take_error(int rank, const RankMessage& message);
  void note_end(HeldProcess& process, const ProcessStatus& status);
  void note_rank_end(int rank, const HeldProcess& process, const ProcessStatus& status);
  bool is_remote(int rank) const;
  void note_remote_end(int rank);
  void advance();
  void stop(Trouble trouble);
  void enter(Stage stage);
  void signal_all(int number, Stage next);
  void note_segments();
  void add_last_output(std::string& reason, int rank) const;
  RunResult result();

  const RunRequest& request_;
  Listener& listener_;
  WaitingRoom waiting_;
  std::vector<Connection> nameless_;  ///< Said the token, and not yet who they are.
  RunClock::time_point began_ = RunClock::now();
  RunProgress progress_;
  std::vector<HeldProcess> processes_;
  std::vector<Connection> connections_;  ///< By rank; closed ones: not connected.
  std::vector<bool> was_connected_;      ///< By rank.
  std::vector<bool> said_aborted_;       ///< By rank.
  Stage stage_ = Stage::Running;
  RunClock::time_point stage_ends_;  ///< Of the stages behind Running.
  std::optional<Trouble> trouble_;
  int stop_signal_ = 0;
  std::set<std::string> segments_;
};

Coordinator::Coordinator(const RunRequest& request, Listener& listener)
    : request_(request),
      listener_(listener),
      waiting_(request.token),
      progress_(request.plan->ranks.size(), request.limits, began_),
      connections_(request.plan->ranks.size()),
      was_connected_(connections_.size(), false),
      said_aborted_(connections_.size(), false) {}

RunResult Coordinator::run() {
  start_processes();
  while (!is_everything_over()) {
    wait();
    look_for_stop();
    admit();
    // Deaths first: a rank that others complain about may have been killed before.
    look_for_ends();
    hear_all();
    advance();
  }
  return result();
}

void Coordinator::start_processes() {
  for (const RankProcess& what : request_.processes) {
    HeldProcess process{.what = &what};
    try {
      if (!trouble_) process.child = std::make_unique<ChildProcess>(what.start);
    } catch (const Error& error) {
      stop({RunEnd::NotStarted, ReplayPhase::Start, what.ranks.front(),
            fmt::format("{} {}", error.where(), error.what())});
    }
    process.is_over = process.child == nullptr;
    for (int rank : what.ranks) {
      RankOutcome& outcome = progress_.outcomes()[rank];
      outcome.gpu = request_.gpus[rank];
      if (process.child) outcome.pid = process.child->pid();
    }
    processes_.push_back(std::move(process));
  }
}

bool Coordinator::is_everything_over() const {
  if (stage_ == Stage::GivenUp) return true;
  const bool are_gone =
      std::all_of(request_.remote_ranks.begin(), request_.remote_ranks.end(), [this](int rank) {
        const bool may_come = stage_ == Stage::Running && !was_connected_[rank];
        return !connections_[rank].is_open() && !may_come;
      });
  return are_gone && std::all_of(processes_.begin(), processes_.end(),
                                 [](const HeldProcess& process) { return process.is_over; });
}

void Coordinator::wait() {
  std::vector<pollfd> polled;
  const auto add = [&polled](int descriptor, short events) {
    if (descriptor >= 0) polled.push_back({descriptor, events, 0});
  };
  add(listener_.descriptor(), POLLIN);
  add(request_.stop_descriptor, POLLIN);
  for (int descriptor : waiting_.descriptors()) add(descriptor, POLLIN);
  for (const Connection& connection : nameless_) add(connection.descriptor(), POLLIN);
  for (const Connection& connection : connections_) {
    add(connection.descriptor(),
        static_cast<short>(connection.has_unsent() ? POLLIN | POLLOUT : POLLIN));
  }
  for (const HeldProcess& process : processes_) {
    if (process.is_running()) add(process.child->descriptor(), POLLIN);
  }
  const int timeout = static_cast<int>(std::clamp<int64_t>(time_left().count(), 0, 3'600'000));
  poll(polled.data(), polled.size(), timeout);
}

/// Until something is due although nothing comes.
milliseconds Coordinator::time_left() const {
  // Rounded up: a deadline that is a part of a millisecond away must not be polled for.
  const auto until = [](RunClock::time_point time) {
    return std::chrono::ceil<milliseconds>(time - RunClock::now());
  };
  milliseconds left = std::chrono::hours(1);
  if (stage_ != Stage::Running) {
    left = until(stage_ends_);
  } else if (const auto deadline = progress_.next_deadline()) {
    left = until(deadline->time);
  }
  const bool is_blind = std::any_of(processes_.begin(), processes_.end(), [](const auto& process) {
    return process.is_running() && process.child->descriptor() < 0;
  });
  return is_blind ? std::min(left, milliseconds(50)) : left;
}

void Coordinator::look_for_stop() {
  signalfd_siginfo info{};
  if (request_.stop_descriptor < 0 ||
      read(request_.stop_descriptor, &info, sizeof info) != sizeof info) {
    return;
  }
  // Who asks a second time does not want to wait.
  if (stage_ != Stage::Running) stage_ends_ = RunClock::now();
  if (stop_signal_ != 0) return;
  stop_signal_ = static_cast<int>(info.ssi_signo);
  stop({RunEnd::Died, ReplayPhase::Start, -1,
        fmt::format("the run was interrupted by {}", signal_name(stop_signal_))});
}

void Coordinator::admit() {
  waiting_.admit(listener_.take_new());
  for (Connection& trusted : waiting_.take_trusted()) nameless_.push_back(std::move(trusted));
  std::vector<Connection> still_nameless;
  for (Connection& connection : nameless_) {
    connection.receive();
    if (const auto line = connection.next_line()) {
      welcome(std::move(connection), *line);
    } else if (connection.is_open()) {
      still_nameless.push_back(std::move(connection));
    }
  }
  nameless_ = std::move(still_nameless);
}

void Coordinator::welcome(Connection connection, const std::string& first_line) {
  const auto message = parse_message(first_line);
  if (message && message->kind == RankMessage::Kind::Error) {
    stop({RunEnd::NotStarted, ReplayPhase::Start, -1,
          printable(message->error.substr(0, kLongestError))});
  }
  const bool is_start = message && message->kind == RankMessage::Kind::At &&
                        message->at == ReplayPhase::Start && message->rank >= 0 &&
                        message->rank < static_cast<int>(connections_.size());
  if (!is_start || was_connected_[message->rank]) return;
  connections_[message->rank] = std::move(connection);
  was_connected_[message->rank] = true;
  take(message->rank, first_line);
  if (stage_ != Stage::Running) {
    connections_[message->rank].send(write_order({.kind = RunOrder::Kind::Abort}));
  }
}

void Coordinator::look_for_ends() {
  for (HeldProcess& process : processes_) {
    if (process.is_over || !process.child) continue;
    if (const auto status = process.child->reap()) note_end(process, *status);
  }
}

void Coordinator::hear_all() {
  for (size_t rank = 0; rank < connections_.size(); ++rank) {
    Connection& connection = connections_[rank];
    if (!connection.is_open()) continue;
    connection.flush();
    hear(static_cast<int>(rank));
    if (connection.is_open()) continue;
    if (is_remote(static_cast<int>(rank))) note_remote_end(static_cast<int>(rank));
    if (!progress_.is_done(static_cast<int>(rank))) {
      stop({RunEnd::Died, progress_.outcomes()[rank].reached, static_cast<int>(rank), {}});
    }
  }
}

/// True if something came.
bool Coordinator::hear(int rank) {
  const size_t bytes = connections_[rank].receive();
  while (auto line = connections_[rank].next_line()) take(rank, *line);
  return bytes > 0;
}

/// Of a process that is gone. A child of it may hold the connection open, and may even speak.
void Coordinator::hear_last_words(int rank) {
  for (int round = 0; round < 16 && connections_[rank].is_open() && hear(rank); ++round) {
  }
  connections_[rank].close();
}

void Coordinator::take(int rank, const std::string& line) {
  const auto message = parse_message(line);
  const ReplayPhase phase = progress_.outcomes()[rank].reached;
  if (!message) {
    if (connections_[rank].is_open()) connections_[rank].close();
    stop({RunEnd::Failed, phase, rank, fmt::format("rank {} sent what is no message", rank)});
    return;
  }
  if (message->kind == RankMessage::Kind::Aborted) {
    said_aborted_[rank] = true;
    Verification& verified = progress_.outcomes()[rank].verified;
    if (verified == Verification{}) verified = message->verified;
  }
  if (message->kind == RankMessage::Kind::Error) return take_error(rank, *message);
  // What comes after the end was decided is of ranks that are being stopped.
  if (stage_ != Stage::Running) return;
  const std::string complaint = progress_.hear(rank, *message, RunClock::now());
  if (!complaint.empty()) {
    stop({RunEnd::Failed, phase, rank, fmt::format("rank {} {}", rank, complaint)});
  }
}

void Coordinator::take_error(int rank, const RankMessage& message) {
  const bool is_of_the_fault =
      stage_ == Stage::Running || (trouble_->end == RunEnd::Failed && !said_aborted_[rank]);
  if (!is_of_the_fault) return;
  RankMessage readable = message;
  readable.error = printable(message.error.substr(0, kLongestError));
  progress_.hear(rank, readable, RunClock::now());
  const RankOutcome& outcome = progress_.outcomes()[rank];
  const bool has_begun = outcome.reached > ReplayPhase::Start;
  stop({has_begun ? RunEnd::Failed : RunEnd::NotStarted, outcome.reached, rank,
        fmt::format("rank {}: {}", rank, outcome.error)});
}

void Coordinator::note_end(HeldProcess& process, const ProcessStatus& status) {
  process.is_over = true;
  for (int rank : process.what->ranks) {
    hear_last_words(rank);
    note_rank_end(rank, process, status);
  }
}

void Coordinator::note_rank_end(int rank, const HeldProcess& process, const ProcessStatus& status) {
  RankOutcome& outcome = progress_.outcomes()[rank];
  outcome.exit_code = status.exit_code;
  outcome.signal = status.signal;
  // Who was killed may have ended by the SIGTERM before.
  const bool is_late = process.sent_signal == SIGKILL && status.signal == SIGTERM;
  const bool is_ours = status.signal == 0 || status.signal == process.sent_signal || is_late;
  if (process.sent_signal != 0 && is_ours) {
    const bool was_killed = process.sent_signal == SIGKILL && !is_late;
    outcome.end = was_killed ? ProcessEnd::Killed : ProcessEnd::Terminated;
    return;
  }
  const bool is_ordered = stage_ != Stage::Running && status.signal == 0;
  const bool has_obeyed = status.exit_code == static_cast<int>(RankExit::Aborted);
  outcome.end = is_ordered && has_obeyed ? ProcessEnd::OnAbort : ProcessEnd::ByItself;
  if (progress_.is_done(rank) && status.exit_code == 0) return;
  if (stage_ == Stage::Running || explains(status, *trouble_)) {
    trouble_.reset();
    stop({end_of_death(outcome), outcome.reached, rank, {}});
  }
}

bool Coordinator::is_remote(int rank) const {
  const auto& remote = request_.remote_ranks;
  return std::find(remote.begin(), remote.end(), rank) != remote.end();
}

/// Its connection closed. How its process ended is known from its own words only.
void Coordinator::note_remote_end(int rank) {
  RankOutcome& outcome = progress_.outcomes()[rank];
  if (progress_.is_done(rank)) {
    outcome.exit_code = static_cast<int>(RankExit::Done);
  } else if (said_aborted_[rank]) {
    outcome.end = ProcessEnd::OnAbort;
    outcome.exit_code = static_cast<int>(RankExit::Aborted);
  } else {
    outcome.end = ProcessEnd::Lost;
  }
}

void Coordinator::advance() {
  const auto now = RunClock::now();
  if (stage_ == Stage::Running) {
    if (const auto order = progress_.take_order(now)) {
      note_segments();
      for (Connection& connection : connections_) connection.send(write_order(*order));
    }
    const auto deadline = progress_.next_deadline();
    if (deadline && deadline->time <= now) {
      stop(expiry_of(*deadline, progress_, request_.limits));
    }
  } else if (stage_ends_ <= now) {
    if (stage_ == Stage::Aborting) return signal_all(SIGTERM, Stage::Terminating);
    if (stage_ == Stage::Terminating) return signal_all(SIGKILL, Stage::Killing);
    enter(Stage::GivenUp);
  }
}

/// Decides how the run ended, once, and begins to end it.
void Coordinator::stop(Trouble trouble) {
  if (trouble_) return;
  trouble_ = std::move(trouble);
  if (stage_ != Stage::Running) return;
  note_segments();
  for (Connection& connection : connections_) {
    connection.send(write_order({.kind = RunOrder::Kind::Abort}));
  }
  enter(Stage::Aborting);
  // Who never connected cannot hear the order; a connection that broke is one.
  for (HeldProcess& process : processes_) {
    const bool hears = std::any_of(process.what->ranks.begin(), process.what->ranks.end(),
                                   [this](int rank) { return was_connected_[rank]; });
    if (hears || !process.is_running()) continue;
    process.sent_signal = SIGTERM;
    process.child->signal(SIGTERM);
  }
}

void Coordinator::enter(Stage stage) {
  stage_ = stage;
  stage_ends_ = RunClock::now() + grace_of(stage, request_.limits);
  if (stage != Stage::GivenUp) return;
  for (HeldProcess& process : processes_) {
    if (!process.is_running()) continue;
    process.child->abandon();
    for (int rank : process.what->ranks) progress_.outcomes()[rank].end = ProcessEnd::Lost;
  }
  for (int rank : request_.remote_ranks) {
    if (connections_[rank].is_open()) progress_.outcomes()[rank].end = ProcessEnd::Lost;
  }
}

void Coordinator::signal_all(int number, Stage next) {
  for (HeldProcess& process : processes_) {
    if (!process.is_running()) continue;
    process.sent_signal = number;
    process.child->signal(number);
  }
  enter(next);
}

void Coordinator::note_segments() {
  for (const HeldProcess& process : processes_) {
    if (process.is_running()) segments_.merge(segments_of(process.child->pid()));
  }
}

/// What a process that ended without a word wrote last, if it wrote anything.
void Coordinator::add_last_output(std::string& reason, int rank) const {
  for (const HeldProcess& process : processes_) {
    const auto& ranks = process.what->ranks;
    if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) continue;
    const std::string line = last_line_of(process.what->start.output);
    if (!line.empty()) reason += fmt::format(" (its last line: {})", line);
  }
}

RunResult Coordinator::result() {
  RunResult result;
  RunOutcome& run = result.run;
  run.mode = request_.mode;
  run.seconds = std::chrono::duration<double>(RunClock::now() - began_).count();
  run.ranks = std::move(progress_.outcomes());
  run.timings = progress_.timings();
  conclude(run, trouble_);
  if (trouble_ && trouble_->reason.empty()) add_last_output(run.reason, trouble_->rank);
  if (trouble_) run.front = front_line(*request_.plan, request_.mode, run.ranks);
  result.nccl_version = progress_.nccl_version();
  result.stop_signal = stop_signal_;
  for (const HeldProcess& process : processes_) {
    if (process.child) result.pids.push_back(process.child->pid());
  }
  result.segments = std::move(segments_);
  return result;
}

}  // namespace

RunResult coordinate(const RunRequest& request, Listener& listener) {
  return Coordinator(request, listener).run();
}

}  // namespace ncclog
