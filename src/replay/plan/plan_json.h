// Plans, outcomes and results as JSON files: text to values and back, structs from one table of
// their fields each, and where in a file something is wrong.
//
//   plan.json:14:3                         the text is no JSON there
//   plan.json: ranks[1].calls[3].op        what stands there makes no sense
//
// Files are written for people, too: what is flat, a call for example, is one line.

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "log/nccl_names.h"
#include "replay/plan/plan.h"

namespace ncclog {

/// Keys in the order in which they are written.
using WrittenJson = nlohmann::ordered_json;
using ReadJson = nlohmann::json;

/// Longer texts are refused: no plan and no outcome that fits this machine is nearly as long.
inline constexpr size_t kMaxReplayText = size_t{32} << 20;

/// A value and the way to it. Refers to what it was made of.
struct JsonPlace {
  const ReadJson& value;
  std::string_view source;           ///< Of the text, for people.
  const JsonPlace* above = nullptr;  ///< nullptr: the whole document.
  std::string_view key = {};         ///< In the object above.
  size_t index = 0;                  ///< In the list above, if that is one.

  JsonPlace at(std::string_view name, const ReadJson& member) const;
  JsonPlace at(size_t item) const;
};

/// "ranks[1].calls[3].op"; empty for the whole document.
std::string path_of(const JsonPlace& place);

/// Throws Error at that place.
[[noreturn]] void refuse(const JsonPlace& place, const std::string& what,
                         const std::string& hint = {});

/// Throws Error: what stands there is not `wanted` ("a text").
[[noreturn]] void refuse_type(const JsonPlace& place, std::string_view wanted);

/// Throws Error with line and column if `text` is no JSON, not UTF-8, longer than kMaxReplayText or
/// has an object with one key twice, of which parsers keep one or the other, so that neither can be
/// believed; `source` is its name for people. Depth does not matter.
ReadJson parse_json_document(std::string_view text, const std::string& source);

/// Throws Error unless the document is an object whose "schema" is `schema`; `noun` is what people
/// call it: "replay plan".
void check_schema(const JsonPlace& document, std::string_view schema, std::string_view noun);

/// Over several lines, with a line end. Texts have to be valid UTF-8.
std::string write_json_document(const WrittenJson& document);

// Structs of a replay as JSON objects, both ways, from one table for each struct.
//
//   void each_field(auto& visit, FieldsOf<ReplayGpu>) {
//     visit("gpu", &ReplayGpu::gpu, Written::Always);          {"gpu": 0, "name": "NVIDIA H200"}
//     visit("name", &ReplayGpu::name, Written::Always);
//   }
//
// The key is the member's name. An empty text and -1 where that means unknown are written as null.
// A member that is not always written has the value of a new struct where its key lacks. Reading
// knows no other keys and throws Error with the place and the nearest name.

/// Names the table of T among the overloads of each_field.
template <typename T>
struct FieldsOf {};

/// When a key is in the object.
enum class Written {
  Always,  ///< Reading misses it.
  IfSet,   ///< Not written with the value that it has in a new struct.
};

/// A closed list of words: the names of the numbers 0 … count - 1, or the texts that a member may
/// be. Numbers without a name stay numbers.
struct Words {
  std::string_view noun;  ///< "datatype", for what is said about others.
  std::string_view (*name)(int64_t number);
  size_t count;

  /// The number of that name.
  std::optional<int> find(std::string_view word) const;
  /// Throws Error: the word there is none of them.
  [[noreturn]] void refuse(const JsonPlace& place, std::string_view word) const;
};

template <typename T>
WrittenJson to_json_value(const T& value);
template <typename T>
void read_json_value(const JsonPlace& place, T& value);

/// "did you mean 'x'?", else "one of: …".
std::string hint_among(std::string_view word, std::span<const std::string_view> words);

/// Writes the fields of one struct.
template <typename T>
class FieldWriter {
 public:
  FieldWriter(const T& self, WrittenJson& object) : self_(self), object_(object) {}

  const T& self() const { return self_; }

  void schema(std::string_view name) { object_["schema"] = name; }

  template <typename Member>
  void operator()(const char* key, Member T::*member, Written written) {
    if (is_left_out(member, written)) return;
    const Member& value = self_.*member;
    if constexpr (std::signed_integral<Member>) {
      if (value == -1 && T().*member == -1) return void(object_[key] = nullptr);
    }
    object_[key] = to_json_value(value);
  }

  void operator()(const char* key, int T::*member, Written written, const Words& words) {
    if (is_left_out(member, written)) return;
    const std::string_view name = words.name(self_.*member);
    object_[key] = name.empty() ? WrittenJson(self_.*member) : WrittenJson(name);
  }

  void operator()(const char* key, std::string T::*member, Written written, const Words&) {
    (*this)(key, member, written);
  }

 private:
  template <typename Member>
  bool is_left_out(Member T::*member, Written written) const {
    return written == Written::IfSet && self_.*member == T().*member;
  }

  const T& self_;
  WrittenJson& object_;
};

/// Fills one struct from an object.
template <typename T>
class FieldReader {
 public:
  FieldReader(const JsonPlace& place, T& self) : place_(place), self_(self) {
    if (!place.value.is_object()) refuse_type(place, "an object");
  }

  const T& self() const { return self_; }

  void schema(std::string_view) { find("schema", Written::IfSet); }

  template <typename Member>
  void operator()(const char* key, Member T::*member, Written written) {
    const ReadJson* value = find(key, written);
    if (value == nullptr || means_unknown(*value, member)) return;
    read_json_value(place_.at(key, *value), self_.*member);
  }

  void operator()(const char* key, int T::*member, Written written, const Words& words) {
    const ReadJson* value = find(key, written);
    if (value == nullptr) return;
    const JsonPlace place = place_.at(key, *value);
    if (!value->is_string()) return read_json_value(place, self_.*member);
    const std::string& word = value->get_ref<const std::string&>();
    const auto number = words.find(word);
    if (!number) words.refuse(place, word);
    self_.*member = *number;
  }

  void operator()(const char* key, std::string T::*member, Written written, const Words& words) {
    (*this)(key, member, written);
    const auto value = place_.value.find(key);
    if (value == place_.value.end() || words.find(self_.*member)) return;
    words.refuse(place_.at(key, *value), self_.*member);
  }

  /// Throws Error if the object has other keys or lacks one. To be called last.
  void finish() const {
    for (const auto& [key, value] : place_.value.items()) {
      if (found_ == place_.value.size()) break;
      if (std::ranges::find(keys_, key) != keys_.end()) continue;
      refuse(place_, fmt::format("unknown key '{}'", printable(key)), hint_among(key, keys_));
    }
    if (missing_ != nullptr) refuse(place_, fmt::format("'{}' is missing", missing_));
  }

 private:
  const ReadJson* find(const char* key, Written written) {
    keys_.push_back(key);
    const auto found = place_.value.find(key);
    if (found != place_.value.end()) {
      ++found_;
      return &*found;
    }
    if (written == Written::Always && missing_ == nullptr) missing_ = key;
    return nullptr;
  }

  template <typename Member>
  static bool means_unknown(const ReadJson& value, Member T::*member) {
    if constexpr (std::signed_integral<Member>) return value.is_null() && T().*member == -1;
    return false;
  }

  const JsonPlace& place_;
  T& self_;
  std::vector<std::string_view> keys_;
  size_t found_ = 0;
  const char* missing_ = nullptr;
};

template <typename T>
constexpr bool is_vector = false;
template <typename T>
constexpr bool is_vector<std::vector<T>> = true;
template <typename T>
constexpr bool is_optional = false;
template <typename T>
constexpr bool is_optional<std::optional<T>> = true;

template <typename T>
WrittenJson to_json_value(const T& value) {
  if constexpr (std::floating_point<T>) {
    return std::isfinite(value) ? value : 0;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (std::same_as<T, std::string>) {
    return value.empty() ? WrittenJson(nullptr) : WrittenJson(to_valid_utf8(value));
  } else if constexpr (std::is_enum_v<T>) {
    return to_string(value);
  } else if constexpr (is_optional<T>) {
    return value ? to_json_value(*value) : WrittenJson(nullptr);
  } else if constexpr (is_vector<T>) {
    WrittenJson list = WrittenJson::array();
    for (const auto& item : value) list.push_back(to_json_value(item));
    return list;
  } else {
    WrittenJson object = WrittenJson::object();
    FieldWriter<T> writer(value, object);
    each_field(writer, FieldsOf<T>());
    return object;
  }
}

template <std::integral T>
void read_json_integer(const JsonPlace& place, T& number) {
  const ReadJson& value = place.value;
  if (!value.is_number_integer()) refuse_type(place, "a whole number");
  const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<uint64_t>())
                                               : std::in_range<T>(value.get<int64_t>());
  if (!fits) {
    refuse(place, fmt::format("not a number from {} to {}", std::numeric_limits<T>::min(),
                              std::numeric_limits<T>::max()));
  }
  number = value.get<T>();
}

template <typename Enum>
void read_json_word(const JsonPlace& place, Enum& value) {
  if (!place.value.is_string()) refuse_type(place, "a text");
  const std::string& word = place.value.get_ref<const std::string&>();
  const auto name = [](int64_t number) { return to_string(static_cast<Enum>(number)); };
  const Words words{EnumWords<Enum>::kNoun, name, std::size(EnumWords<Enum>::kWords)};
  const auto number = words.find(word);
  if (!number) words.refuse(place, word);
  value = static_cast<Enum>(*number);
}

template <typename T>
void read_json_list(const JsonPlace& place, std::vector<T>& list) {
  if (!place.value.is_array()) refuse_type(place, "a list");
  list.clear();
  for (size_t i = 0; i < place.value.size(); ++i) read_json_value(place.at(i), list.emplace_back());
}

template <typename T>
void read_json_value(const JsonPlace& place, T& value) {
  if constexpr (std::same_as<T, bool>) {
    if (!place.value.is_boolean()) refuse_type(place, "true or false");
    value = place.value.get<bool>();
  } else if constexpr (std::integral<T>) {
    read_json_integer(place, value);
  } else if constexpr (std::floating_point<T>) {
    if (!place.value.is_number()) refuse_type(place, "a number");
    value = place.value.get<T>();
  } else if constexpr (std::same_as<T, std::string>) {
    if (!place.value.is_null() && !place.value.is_string()) refuse_type(place, "a text");
    value = place.value.is_null() ? std::string() : place.value.get<std::string>();
  } else if constexpr (std::is_enum_v<T>) {
    read_json_word(place, value);
  } else if constexpr (is_optional<T>) {
    if (!place.value.is_null()) read_json_value(place, value.emplace());
  } else if constexpr (is_vector<T>) {
    read_json_list(place, value);
  } else {
    FieldReader<T> reader(place, value);
    each_field(reader, FieldsOf<T>());
    reader.finish();
  }
}

/// The T that `text` is, a document of schema T::kSchema. `noun` is what people call it ("replay
/// plan"), `source` what they call the text. Throws Error with the place if it is none.
template <typename T>
T parse_json_as(std::string_view text, const std::string& source, std::string_view noun) {
  const ReadJson document = parse_json_document(text, source);
  const JsonPlace place{document, source};
  check_schema(place, T::kSchema, noun);
  T value;
  read_json_value(place, value);
  return value;
}

/// The value as one line, with its end.
template <typename T>
std::string write_line(const T& value) {
  return to_json_value(value).dump() + "\n";
}

/// The T that the line is; nullopt: it is none, whatever the bytes.
template <typename T>
std::optional<T> parse_line(std::string_view line) {
  try {
    const ReadJson document = parse_json_document(line, "line");
    T value;
    read_json_value(JsonPlace{document, "line"}, value);
    return value;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The keys of a plan in JSON, in the order in which they are written.

inline constexpr Words kDatatypeWords{"datatype", datatype_name, 12};
/// The job's own reductions are all called "user" and read as the first of them.
inline constexpr Words kReductionWords{"reduction", reduction_name, 6};

/// Functions that a log can name, replayable or not.
std::string_view function_word(int64_t number);
inline constexpr Words kFunctionWords{"function", function_word, 13};

void each_field(auto& visit, FieldsOf<PlannedCall>) {
  visit("communicator", &PlannedCall::communicator, Written::Always);
  visit("index", &PlannedCall::index, Written::Always);
  visit("op", &PlannedCall::op, Written::Always, kFunctionWords);
  visit("count", &PlannedCall::count, Written::Always);
  visit("datatype", &PlannedCall::datatype, Written::Always, kDatatypeWords);
  const Written redop = is_reduction(visit.self().op) ? Written::Always : Written::IfSet;
  visit("redop", &PlannedCall::redop, redop, kReductionWords);
  visit("root", &PlannedCall::root, Written::IfSet);
  visit("in_place", &PlannedCall::in_place, Written::IfSet);
  visit("send_offset", &PlannedCall::send_offset, Written::IfSet);
  visit("recv_offset", &PlannedCall::recv_offset, Written::IfSet);
  visit("stream", &PlannedCall::stream, Written::IfSet);
  visit("group", &PlannedCall::group, Written::IfSet);
  visit("made_in", &PlannedCall::made_in, Written::IfSet);
}

void each_field(auto& visit, FieldsOf<PlannedRank>) {
  visit("recorded_rank", &PlannedRank::recorded_rank, Written::Always);
  visit("host", &PlannedRank::host, Written::Always);
  visit("host_group", &PlannedRank::host_group, Written::Always);
  visit("stands_for", &PlannedRank::stands_for, Written::Always);
  visit("left_out", &PlannedRank::left_out, Written::Always);
  visit("calls", &PlannedRank::calls, Written::Always);
}

void each_field(auto& visit, FieldsOf<TransportShare>) {
  visit("transport", &TransportShare::transport, Written::Always);
  visit("connections", &TransportShare::connections, Written::Always);
}

void each_field(auto& visit, FieldsOf<PlannedCommunicator>) {
  visit("id", &PlannedCommunicator::id, Written::Always);
  visit("ranks", &PlannedCommunicator::ranks, Written::Always);
  visit("recorded_nranks", &PlannedCommunicator::recorded_nranks, Written::Always);
  visit("parent", &PlannedCommunicator::parent, Written::Always);
  visit("color", &PlannedCommunicator::color, Written::IfSet);
  visit("channels", &PlannedCommunicator::channels, Written::Always);
  visit("transports", &PlannedCommunicator::transports, Written::Always);
}

void each_field(auto& visit, FieldsOf<PlannedSetting>) {
  visit("name", &PlannedSetting::name, Written::Always);
  visit("value", &PlannedSetting::value, Written::Always);
  visit("ranks", &PlannedSetting::ranks, Written::IfSet);
  visit("left_out", &PlannedSetting::left_out, Written::IfSet);
}

void each_field(auto& visit, FieldsOf<RecordedTuning>) {
  visit("op", &RecordedTuning::op, Written::Always);
  visit("algorithm", &RecordedTuning::algorithm, Written::Always);
  visit("protocol", &RecordedTuning::protocol, Written::Always);
  visit("calls", &RecordedTuning::calls, Written::Always);
}

void each_field(auto& visit, FieldsOf<FrontLine>) {
  visit("communicator", &FrontLine::communicator, Written::Always);
  visit("index", &FrontLine::index, Written::Always);
  visit("entered", &FrontLine::entered, Written::Always);
  visit("missing", &FrontLine::missing, Written::Always);
}

void each_field(auto& visit, FieldsOf<Hypothesis>) {
  visit("finding", &Hypothesis::finding, Written::Always);
  visit("title", &Hypothesis::title, Written::Always);
  visit("kind", &Hypothesis::kind, Written::Always);
  visit("departed", &Hypothesis::diverged, Written::Always);
  visit("front", &Hypothesis::front, Written::Always);
}

void each_field(auto& visit, FieldsOf<ReplayDeadlines>) {
  visit("start", &ReplayDeadlines::start, Written::Always);
  visit("init", &ReplayDeadlines::init, Written::Always);
  visit("enqueue", &ReplayDeadlines::enqueue, Written::Always);
  visit("completion", &ReplayDeadlines::completion, Written::Always);
  visit("teardown", &ReplayDeadlines::teardown, Written::Always);
}

void each_field(auto& visit, FieldsOf<ReplayPlan>) {
  visit.schema(ReplayPlan::kSchema);
  visit("tool_version", &ReplayPlan::tool_version, Written::Always);
  visit("logs", &ReplayPlan::logs, Written::Always);
  visit("nccl_versions", &ReplayPlan::nccl_versions, Written::Always);
  visit("cuda_version", &ReplayPlan::cuda_version, Written::Always);
  visit("recorded_nranks", &ReplayPlan::recorded_nranks, Written::Always);
  visit("recorded_nhosts", &ReplayPlan::recorded_nhosts, Written::Always);
  visit("hypothesis", &ReplayPlan::hypothesis, Written::Always);
  visit("ranks", &ReplayPlan::ranks, Written::Always);
  visit("communicators", &ReplayPlan::communicators, Written::Always);
  visit("settings", &ReplayPlan::settings, Written::Always);
  visit("tuning", &ReplayPlan::tuning, Written::Always);
  visit("deadlines", &ReplayPlan::deadlines, Written::Always);
  visit("losses", &ReplayPlan::losses, Written::Always);
  visit("limits", &ReplayPlan::limits, Written::Always);
}

// A plan as a file.
//
//   {
//     "schema": "ncclog.replay/1",
//     …
//     "ranks": [
//       {
//         "recorded_rank": 0, …
//         "calls": [
//           {"communicator": 0, "index": 27, "op": "AllReduce", "count": 1024, "datatype":
//            "float32", "redop": "sum"},                                        (all on one line)
//
// src/replay/plan/plan.schema.json describes it; keys are the members of ReplayPlan.
// Datatypes and reductions stand by name, those that have none as numbers.

/// Equal plans give equal bytes. Texts that are not UTF-8 are repaired; a reduction of the job's
/// own is "user", whatever its number.
std::string write_plan(const ReplayPlan& plan);

/// The plan in `text`; `source` is its name for people. Throws Error with the place, what is wrong
/// there and the nearest name if it is not one. Whether the plan makes sense is another question:
/// for check_plan() to answer.
ReplayPlan parse_plan(std::string_view text, const std::string& source);

/// By which an outcome names the plan that it is of: the SHA-256 of the plan's text in hexadecimal.
std::string plan_hash(std::string_view text);

}  // namespace ncclog
