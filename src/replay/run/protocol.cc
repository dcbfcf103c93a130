#include "replay/run/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/text.h"
#include "replay/judge/outcome_fields.h"

namespace ncclog {

// Messages and orders as JSON.

/// What goes with the key that tells a message's kind.
void each_field(auto& visit, FieldsOf<RankMessage>) {
  visit("nccl", &RankMessage::nccl_version, Written::IfSet);
  visit("ids", &RankMessage::ids, Written::IfSet);
  visit("init_seconds", &RankMessage::init_seconds, Written::IfSet);
  visit("entered", &RankMessage::entered, Written::IfSet);
  visit("completed", &RankMessage::completed, Written::IfSet);
  visit("open", &RankMessage::open, Written::IfSet);
  visit("verified", &RankMessage::verified, Written::IfSet);
  visit("timings", &RankMessage::timings, Written::IfSet);
}

/// Likewise of an order.
void each_field(auto& visit, FieldsOf<RunOrder>) { visit("ids", &RunOrder::ids, Written::IfSet); }

namespace {

constexpr std::string_view kAborted = "aborted";
constexpr std::string_view kAbort = "abort";

template <typename T>
void append_fields(WrittenJson& object, const T& self) {
  FieldWriter<T> writer(self, object);
  each_field(writer, FieldsOf<T>());
}

std::string line_of(const WrittenJson& object) { return object.dump() + "\n"; }

/// What stands under `key`, which is taken out of the object; null: nothing does.
ReadJson take(ReadJson& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return nullptr;
  ReadJson value = std::move(*found);
  object.erase(found);
  return value;
}

const std::string& text_of(const ReadJson& value) {
  static const std::string kNone;
  return value.is_string() ? value.get_ref<const std::string&>() : kNone;
}

/// Takes the key that tells the kind; what remains are fields. False: there is none.
bool take_kind(ReadJson& object, RankMessage& message) {
  if (const ReadJson at = take(object, "at"); !at.is_null()) {
    const bool aborted = text_of(at) == kAborted;
    const auto phase = parse_replay_phase(text_of(at));
    message.kind = aborted ? RankMessage::Kind::Aborted : RankMessage::Kind::At;
    message.at = phase.value_or(ReplayPhase::Start);
    return aborted || phase.has_value();
  }
  if (const ReadJson error = take(object, "error"); error.is_string()) {
    message.kind = RankMessage::Kind::Error;
    message.error = text_of(error);
    return true;
  }
  ReadJson progress = take(object, "progress");
  if (!progress.is_object() || !object.empty()) return false;
  message.kind = RankMessage::Kind::Progress;
  object = std::move(progress);
  return true;
}

bool take_kind(ReadJson& object, RunOrder& order) {
  const ReadJson go = take(object, "go");
  const bool abort = text_of(go) == kAbort;
  const auto phase = parse_replay_phase(text_of(go));
  order.kind = abort ? RunOrder::Kind::Abort : RunOrder::Kind::Go;
  order.phase = phase.value_or(ReplayPhase::Init);
  return abort || phase.has_value();
}

template <typename T>
std::optional<T> parse(std::string_view line) {
  try {
    ReadJson object = parse_json_document(line, "message");
    T value;
    if (!object.is_object() || !take_kind(object, value)) return std::nullopt;
    read_json_value(JsonPlace{object, "message"}, value);
    return value;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string write_message(const RankMessage& message) {
  WrittenJson object = WrittenJson::object();
  switch (message.kind) {
    case RankMessage::Kind::At:
      object["at"] = to_string(message.at);
      break;
    case RankMessage::Kind::Aborted:
      object["at"] = kAborted;
      break;
    case RankMessage::Kind::Error:
      object["error"] = to_valid_utf8(message.error);
      break;
    case RankMessage::Kind::Progress:
      append_fields(object["progress"] = WrittenJson::object(), message);
      return line_of(object);
  }
  append_fields(object, message);
  return line_of(object);
}

std::string write_order(const RunOrder& order) {
  WrittenJson object = WrittenJson::object();
  object["go"] = order.kind == RunOrder::Kind::Abort ? kAbort : to_string(order.phase);
  append_fields(object, order);
  return line_of(object);
}

std::optional<RankMessage> parse_message(std::string_view line) { return parse<RankMessage>(line); }

std::optional<RunOrder> parse_order(std::string_view line) { return parse<RunOrder>(line); }

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
    ids_.insert(message.ids.begin(), message.ids.end());
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

bool RankTalk::await(ReplayPhase phase, std::map<int, std::string>* ids) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (is_aborted_) return false;
    const auto order = std::ranges::find_if(
        heard_, [phase](const RunOrder& heard) { return heard.phase == phase; });
    if (order != heard_.end()) {
      if (ids != nullptr) *ids = order->ids;
      return true;
    }
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

}  // namespace ncclog
