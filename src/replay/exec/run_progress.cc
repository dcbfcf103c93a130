#include "replay/exec/run_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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
  const auto* found = std::find_if(std::begin(kSteps), std::end(kSteps),
                                   [at](const Step& step) { return step.at == at; });
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
    ids_.insert(message.ids.begin(), message.ids.end());
    if (outcome.pid < 0) outcome.pid = message.pid;
    if (outcome.gpu < 0) outcome.gpu = message.gpu;
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

}  // namespace ncclog
