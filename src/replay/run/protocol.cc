#include "replay/run/protocol.h"

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {

namespace {

/// A rank that says `at` came from the phase before it.
struct Step {
  ReplayPhase at;
  ReplayPhase from;
  ReplayPhase needs;  ///< The order that has to be given before.
  bool waits;         ///< For the next order.
};

constexpr Step kSteps[] = {
    {ReplayPhase::Start, ReplayPhase::Start, ReplayPhase::Start, true},
    {ReplayPhase::Enqueue, ReplayPhase::Init, ReplayPhase::Init, true},
    {ReplayPhase::Completion, ReplayPhase::Enqueue, ReplayPhase::Enqueue, false},
    {ReplayPhase::Teardown, ReplayPhase::Completion, ReplayPhase::Enqueue, true},
    {ReplayPhase::Done, ReplayPhase::Teardown, ReplayPhase::Teardown, false},
};

const Step* step_to(ReplayPhase at) {
  const auto* found =
      std::ranges::find_if(kSteps, [at](const Step& step) { return step.at == at; });
  return found == std::end(kSteps) ? nullptr : found;
}

}  // namespace

RunLimits limits_of(const ReplayDeadlines& deadlines) {
  RunLimits limits;
  const int seconds[] = {deadlines.start, deadlines.init, deadlines.enqueue, deadlines.completion,
                         deadlines.teardown};
  for (size_t i = 0; i < limits.phases.size(); ++i) {
    limits.phases[i] = std::chrono::seconds(seconds[i]);
  }
  return limits;
}

RunProgress::RunProgress(size_t nranks, const RunLimits& limits, RunClock::time_point start)
    : limits_(limits), outcomes_(nranks), is_waiting_(nranks, false) {
  for (size_t rank = 0; rank < nranks; ++rank) outcomes_[rank].rank = static_cast<int>(rank);
  begin(ReplayPhase::Start, start);
}

std::string RunProgress::hear(int rank, const RankMessage& message, RunClock::time_point now) {
  RankOutcome& outcome = outcomes_[rank];
  if (message.kind == RankMessage::Kind::At) return take_phase(rank, message, now);
  if (message.kind == RankMessage::Kind::Progress) take_counts(outcome, message);
  if (message.kind == RankMessage::Kind::Error && outcome.error.empty()) {
    outcome.error = message.error.empty() ? "an error without a text" : message.error;
  }
  return {};
}

std::string RunProgress::take_phase(int rank, const RankMessage& message,
                                    RunClock::time_point now) {
  RankOutcome& outcome = outcomes_[rank];
  const Step* step = step_to(message.at);
  if (step == nullptr || outcome.reached != step->from || is_waiting_[rank] ||
      let_in_ < step->needs) {
    return fmt::format("says that it is at {} while it is in {}", to_string(message.at),
                       to_string(outcome.reached));
  }
  outcome.reached = message.at;
  is_waiting_[rank] = step->waits;
  if (message.at == ReplayPhase::Start) {
    ids_.resize(std::max(ids_.size(), message.ids.size()));
    for (size_t c = 0; c < message.ids.size(); ++c) {
      if (!message.ids[c].empty()) ids_[c] = message.ids[c];
    }
    if (nccl_version_.empty()) nccl_version_ = message.nccl_version;
    if (nccl_version_ != message.nccl_version) {
      return fmt::format("loaded NCCL {}, and another rank {}", printable(message.nccl_version),
                         printable(nccl_version_));
    }
  }
  if (message.at == ReplayPhase::Enqueue) outcome.init_seconds = message.init_seconds;
  if (message.at == ReplayPhase::Completion) begin(ReplayPhase::Completion, now);
  if (message.at == ReplayPhase::Teardown) {
    outcome.verified = message.verified;
    if (rank == 0) timings_ = message.timings;
  }
  take_counts(outcome, message);
  return {};
}

void RunProgress::take_counts(RankOutcome& outcome, const RankMessage& message) const {
  if (message.entered < outcome.entered || message.completed < outcome.completed) return;
  // Phases without calls say nothing about them.
  if (message.kind == RankMessage::Kind::At && message.entered == 0) return;
  outcome.entered = message.entered;
  outcome.completed = message.completed;
  outcome.open = message.open;
}

std::optional<RunOrder> RunProgress::take_order(RunClock::time_point now) {
  const auto all_wait_at = [this](ReplayPhase phase) {
    for (size_t rank = 0; rank < outcomes_.size(); ++rank) {
      if (!is_waiting_[rank] || outcomes_[rank].reached != phase) return false;
    }
    return true;
  };
  if (all_wait_at(ReplayPhase::Start)) return go(ReplayPhase::Init, now);
  if (all_wait_at(ReplayPhase::Enqueue)) return go(ReplayPhase::Enqueue, now);
  if (all_wait_at(ReplayPhase::Teardown)) return go(ReplayPhase::Teardown, now);
  return std::nullopt;
}

RunOrder RunProgress::go(ReplayPhase phase, RunClock::time_point now) {
  let_in_ = phase;
  begin(phase, now);
  is_waiting_.assign(is_waiting_.size(), false);
  if (phase != ReplayPhase::Init) return {.phase = phase};
  for (RankOutcome& outcome : outcomes_) outcome.reached = ReplayPhase::Init;
  return {.phase = phase, .ids = ids_};
}

void RunProgress::begin(ReplayPhase phase, RunClock::time_point now) {
  auto& began = began_[static_cast<size_t>(phase)];
  if (!began) began = now;
}

bool RunProgress::has_left(int rank, ReplayPhase phase) const {
  const RankOutcome& outcome = outcomes_[rank];
  // A rank that waits to be let in has left the phase before, and is not in the next one yet.
  if (phase == ReplayPhase::Start) return outcome.reached > phase || is_waiting_[rank];
  return outcome.reached > phase;
}

bool RunProgress::have_all_left(ReplayPhase phase) const {
  for (size_t rank = 0; rank < outcomes_.size(); ++rank) {
    if (!has_left(static_cast<int>(rank), phase)) return false;
  }
  return true;
}

std::optional<RunProgress::Deadline> RunProgress::next_deadline() const {
  std::optional<Deadline> next;
  for (size_t i = 0; i < began_.size(); ++i) {
    const auto phase = static_cast<ReplayPhase>(i);
    if (!began_[i] || have_all_left(phase)) continue;
    const auto time = *began_[i] + limits_.phases[i];
    if (!next || time < next->time) next = Deadline{phase, time};
  }
  // A rank whose process does not end after its last word is still in teardown.
  const auto& teardown = began_[static_cast<size_t>(ReplayPhase::Teardown)];
  if (!next && teardown) {
    const auto limit = limits_.phases[static_cast<size_t>(ReplayPhase::Teardown)];
    next = Deadline{ReplayPhase::Teardown, *teardown + limit};
  }
  return next;
}

std::vector<int> RunProgress::ranks_in(ReplayPhase phase) const {
  std::vector<int> ranks;
  for (size_t rank = 0; rank < outcomes_.size(); ++rank) {
    if (!has_left(static_cast<int>(rank), phase)) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

// The board between the two threads of a rank.

void RankTalk::post(RankMessage message) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(has_progress_, false)) posted_.push_back(std::move(progress_));
  posted_.push_back(std::move(message));
}

void RankTalk::post_progress(RankMessage progress) {
  const std::lock_guard lock(mutex_);
  has_progress_ = true;
  progress_ = std::move(progress);
}

std::optional<RunOrder> RankTalk::await(ReplayPhase phase) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (is_aborted_) return std::nullopt;
    const auto order = std::ranges::find(heard_, phase, &RunOrder::phase);
    if (order != heard_.end()) return *order;
    changed_.wait(lock);
  }
}

void RankTalk::end() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

void RankTalk::await_end(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [this] { return has_ended_; });
}

std::vector<RankMessage> RankTalk::take_posted(bool with_progress) {
  const std::lock_guard lock(mutex_);
  std::vector<RankMessage> taken = std::exchange(posted_, {});
  if (with_progress && std::exchange(has_progress_, false)) taken.push_back(std::move(progress_));
  return taken;
}

void RankTalk::hear(RunOrder order) {
  const std::lock_guard lock(mutex_);
  if (order.kind == RunOrder::Kind::Abort) is_aborted_ = true;
  heard_.push_back(std::move(order));
  changed_.notify_all();
}

// Signals.

StopSignals::StopSignals() {
  sigset_t stops;
  sigemptyset(&stops);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stops, number);
  sigprocmask(SIG_BLOCK, &stops, &before_);
  descriptor_ = signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ >= 0) return;
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  throw Error(std::string("signals cannot be watched: ") + std::strerror(error));
}

StopSignals::~StopSignals() {
  close(descriptor_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int take_stop_signal(int descriptor) {
  signalfd_siginfo info{};
  if (descriptor < 0 || read(descriptor, &info, sizeof info) != sizeof info) return 0;
  return static_cast<int>(info.ssi_signo);
}

// One connection.

Connection::Connection(Connection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      received_(std::move(other.received_)),
      searched_(std::exchange(other.searched_, 0)),
      unsent_(std::move(other.unsent_)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(received_, other.received_);
  std::swap(searched_, other.searched_);
  std::swap(unsent_, other.unsent_);
  return *this;
}

void Connection::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  unsent_.clear();
}

size_t Connection::receive() {
  std::array<char, 65536> buffer;
  size_t taken = 0;
  for (int round = 0; round < 4 && is_open(); ++round) {
    const ssize_t n = recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (n > 0) {
      received_.append(buffer.data(), static_cast<size_t>(n));
      taken += static_cast<size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      break;
    } else {
      close();
    }
  }
  const size_t last_end = received_.rfind('\n');
  const size_t tail = last_end == std::string::npos ? 0 : last_end + 1;
  if (received_.size() - tail > kLongestLine) {
    received_.resize(tail);
    close();
  }
  return taken;
}

std::optional<std::string> Connection::next_line() {
  const size_t end = received_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = received_.size();
    return std::nullopt;
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

void Connection::send(std::string_view bytes) {
  if (!is_open()) return;
  unsent_ += bytes;
  flush();
}

void Connection::flush() {
  while (!unsent_.empty() && is_open()) {
    const ssize_t n = ::send(descriptor_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (n > 0) {
      unsent_.erase(0, static_cast<size_t>(n));
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return;
    } else {
      // What the other end said before it went away is still to be read.
      unsent_.clear();
    }
  }
}

std::pair<Connection, Connection> make_channel() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    throw Error(std::string("no channel to a rank can be made: ") + std::strerror(errno));
  }
  return {Connection(ends[0]), Connection(ends[1])};
}

void PollList::add(int descriptor) {
  if (descriptor >= 0) polled.push_back({descriptor, POLLIN, 0});
}

void PollList::add(const Connection& connection) {
  add(connection.descriptor());
  if (connection.is_open() && connection.has_unsent()) polled.back().events |= POLLOUT;
}

void PollList::wait(std::chrono::milliseconds most) {
  constexpr int64_t kHour = 3'600'000;
  poll(polled.data(), polled.size(), static_cast<int>(std::clamp<int64_t>(most.count(), 0, kHour)));
}

}  // namespace ncclog
