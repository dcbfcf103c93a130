#include "replay/exec/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "base/error.h"
#include "replay/exec/end_stage.h"
#include "replay/exec/leftovers.h"
#include "replay/exec/poll_list.h"
#include "replay/exec/stop_signals.h"

namespace ncclog {
namespace {

using std::chrono::milliseconds;

using Stage = EndStage;

class Guard {
 public:
  Guard(const GuardRequest& request, Listener& listener)
      : request_(request), listener_(listener), waiting_(request.token), child_(request.start) {}

  GuardResult run();

 private:
  void wait();
  milliseconds time_left() const;
  void look_for_stop();
  void admit();
  void pass_up();
  void pass_down();
  void keep_connected();
  void advance();
  void stop(std::string reason);
  void enter(Stage stage);

  const GuardRequest& request_;
  Listener& listener_;
  WaitingRoom waiting_;
  ChildProcess child_;
  Connection rank_;
  Connection coordinator_;
  std::string said_;           ///< By the rank, until the coordinator answers.
  bool was_answered_ = false;  ///< The coordinator has given an order.
  RunClock::time_point began_ = RunClock::now();
  RunClock::time_point next_attempt_ = began_;  ///< To reach the coordinator.
  Stage stage_ = Stage::Running;
  RunClock::time_point stage_ends_;
  GuardResult result_;
};

GuardResult Guard::run() {
  result_.pid = child_.pid();
  std::optional<ProcessStatus> status;
  while (!status && stage_ != Stage::GivenUp) {
    wait();
    look_for_stop();
    admit();
    keep_connected();
    pass_up();
    pass_down();
    advance();
    status = child_.reap();
  }
  if (status) {
    result_.status = *status;
    // What it said before it ended.
    pass_up();
  } else {
    child_.abandon();
    result_.end = ProcessEnd::Lost;
  }
  result_.was_heard = was_answered_;
  return std::move(result_);
}

void Guard::wait() {
  PollList polled;
  polled.add(listener_.descriptor());
  polled.add(request_.stop_descriptor);
  for (int descriptor : waiting_.descriptors()) polled.add(descriptor);
  polled.add(rank_);
  polled.add(coordinator_);
  polled.add(child_.descriptor());
  polled.wait(time_left());
}

/// Until something is due although nothing comes.
milliseconds Guard::time_left() const {
  milliseconds left = std::chrono::hours(1);
  if (stage_ != Stage::Running) {
    left = std::chrono::ceil<milliseconds>(stage_ends_ - RunClock::now());
  } else if (!coordinator_.is_open()) {
    left = std::chrono::ceil<milliseconds>(next_attempt_ - RunClock::now());
  }
  return child_.descriptor() < 0 ? std::min(left, milliseconds(50)) : left;
}

void Guard::look_for_stop() {
  const int signal = take_stop_signal(request_.stop_descriptor);
  if (signal == 0) return;
  if (stage_ != Stage::Running) stage_ends_ = RunClock::now();
  result_.stop_signal = signal;
  stop(fmt::format("interrupted by {}", signal_name(signal)));
}

void Guard::admit() {
  waiting_.admit(listener_.take_new());
  for (Connection& trusted : waiting_.take_trusted()) {
    if (!rank_.is_open()) rank_ = std::move(trusted);
  }
}

/// Task 0 may still be with the run before, which knows nothing of this token and hangs up.
void Guard::keep_connected() {
  if (stage_ != Stage::Running || coordinator_.is_open()) return;
  if (was_answered_) return stop("the coordinator is gone");
  const auto now = RunClock::now();
  if (now < next_attempt_) return;
  if (now - began_ > request_.limits.phases[0]) return stop("the coordinator cannot be reached");
  next_attempt_ = now + milliseconds(200);
  try {
    coordinator_ = connect_to(request_.coordinator, request_.token, milliseconds(100));
    coordinator_.send(said_);
  } catch (const Error&) {
    // It is tried again until the time of the start is over.
  }
}

void Guard::pass_up() {
  if (!rank_.is_open()) return;
  rank_.receive();
  while (auto line = rank_.next_line()) {
    *line += '\n';
    if (!was_answered_) said_ += *line;
    coordinator_.send(*line);
  }
  coordinator_.flush();
}

void Guard::pass_down() {
  if (!coordinator_.is_open()) return;
  coordinator_.receive();
  while (const auto line = coordinator_.next_line()) {
    const auto order = parse_order(*line);
    if (!order) continue;
    was_answered_ = true;
    rank_.send(*line + "\n");
    result_.segments.merge(segments_of(child_.pid()));
    if (order->kind == RunOrder::Kind::Abort) stop("the coordinator ended the run");
  }
  rank_.flush();
}

void Guard::advance() {
  if (stage_ == Stage::Running || RunClock::now() < stage_ends_) return;
  if (stage_ == Stage::Aborting) {
    child_.signal(SIGTERM);
    result_.end = ProcessEnd::Terminated;
    enter(Stage::Terminating);
  } else if (stage_ == Stage::Terminating) {
    child_.signal(SIGKILL);
    result_.end = ProcessEnd::Killed;
    enter(Stage::Killing);
  } else {
    enter(Stage::GivenUp);
  }
}

void Guard::stop(std::string reason) {
  if (stage_ != Stage::Running) return;
  result_.reason = std::move(reason);
  result_.end = ProcessEnd::OnAbort;
  rank_.send(write_order({.kind = RunOrder::Kind::Abort}));
  enter(Stage::Aborting);
}

void Guard::enter(Stage stage) {
  stage_ = stage;
  stage_ends_ = RunClock::now() + grace_of(stage, request_.limits);
}

}  // namespace

GuardResult guard_rank(const GuardRequest& request, Listener& listener) {
  return Guard(request, listener).run();
}

}  // namespace ncclog
