#include "replay/exec/worker_protocol.h"

#include "base/error.h"
#include "base/text.h"
#include "replay/outcome_fields.h"

namespace ncclog {

/// What goes with the key that tells a message's kind.
void each_field(auto& visit, FieldsOf<RankMessage>) {
  visit("rank", &RankMessage::rank, Written::IfSet);
  visit("pid", &RankMessage::pid, Written::IfSet);
  visit("gpu", &RankMessage::gpu, Written::IfSet);
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

}  // namespace ncclog
