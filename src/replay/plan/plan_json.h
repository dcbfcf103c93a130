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
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/collectives.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/safe_json.h"
#include "base/text.h"
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
  std::string_view source;  ///< Of the text, for people.
  std::string path = {};    ///< "ranks[1].calls[3].op"; empty for the whole document.

  JsonPlace at(std::string_view key, const ReadJson& member) const;
  JsonPlace at(size_t item) const;
};

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

// Structs of a replay as JSON objects, both ways, from one list of their members each.
//
//   NCCLOG_JSON_FIELDS(ReplayGpu, gpu, name, bus_id, memory)
//       → {"gpu": 0, "name": "NVIDIA H200", "bus_id": "0000:0a:00.0", "memory": 151397597184}
//
// An empty text and -1 where that means unknown are written as null. Reading knows no other keys
// and throws Error with the place and the nearest name. A struct with a kSchema begins with it.

/// All members of a struct in their order, which is that of their keys.
#define NCCLOG_JSON_FIELDS(Struct, ...) NCCLOG_JSON_KEYS(Struct, #__VA_ARGS__, __VA_ARGS__)

/// The same where keys have other names than members: `keys` is "finding, title, …".
#define NCCLOG_JSON_KEYS(Struct, keys, ...)                             \
  constexpr std::string_view keys_of(FieldsOf<Struct>) { return keys; } \
  NCCLOG_FIELDS(Struct, __VA_ARGS__)

/// Members that are not written with the value that they have in a new struct, and that reading
/// does not miss.
#define NCCLOG_MAY_LACK(Struct, ...) \
  template <>                        \
  inline constexpr std::string_view kMayLack<Struct> = #__VA_ARGS__;

template <typename T>
inline constexpr std::string_view kMayLack = "";

/// The names in "finding, title, …".
std::vector<std::string_view> member_names(std::string_view list);

/// Calls visit(key, member, member of a new T) for each member of `self`, a T.
template <typename T>
void each_field(auto& self, auto visit) {
  static const std::vector<std::string_view> kKeys = member_names(keys_of(FieldsOf<T>()));
  static const T kNew;
  const auto visit_all = [&](auto&... members) {
    std::apply(
        [&](const auto&... fresh) {
          auto key = kKeys.begin();
          (visit(*key++, members, fresh), ...);
        },
        fields_of(FieldsOf<T>(), kNew));
  };
  std::apply(visit_all, fields_of(FieldsOf<T>(), self));
}

template <typename T>
bool may_lack(const T&, std::string_view key) {
  static const std::vector<std::string_view> kKeys = member_names(kMayLack<T>);
  return std::ranges::find(kKeys, key) != kKeys.end();
}

/// A closed list of words: the names of the numbers 0 … count - 1, or the texts that a member may
/// be. Numbers without a name stay numbers.
struct Words {
  std::string_view noun;  ///< "datatype", for what is said about others.
  std::string_view (*name)(int64_t number);
  size_t count;

  /// The number of the word that stands there. Throws Error if it is none of them.
  int number_of(const JsonPlace& place, std::string_view word) const;
};

template <typename T>
WrittenJson to_json_value(const T& value);
template <typename T>
void read_json_value(const JsonPlace& place, T& value);

/// The words that a member is written in; nullptr: it stands for itself.
template <typename T>
const Words* words_for(FieldsOf<T>, std::string_view) {
  return nullptr;
}

/// `fresh` is the member of a new struct.
template <typename Member>
WrittenJson field_to_json(const Member& value, const Member& fresh, const Words* words) {
  if constexpr (std::same_as<Member, int>) {
    const std::string_view word = words == nullptr ? "" : words->name(value);
    if (!word.empty()) return word;
    if (words != nullptr) return value;
  }
  if constexpr (std::signed_integral<Member>) {
    if (value == -1 && fresh == -1) return nullptr;
  }
  return to_json_value(value);
}

template <typename T>
WrittenJson object_of(const T& self) {
  WrittenJson object = WrittenJson::object();
  if constexpr (requires { T::kSchema; }) object["schema"] = T::kSchema;
  each_field<T>(self, [&](std::string_view key, const auto& value, const auto& fresh) {
    if (may_lack(self, key) && value == fresh) return;
    object[std::string(key)] = field_to_json(value, fresh, words_for(FieldsOf<T>(), key));
  });
  return object;
}

template <typename Member>
void read_field(const JsonPlace& place, Member& member, const Member& fresh, const Words* words) {
  if constexpr (std::same_as<Member, int>) {
    if (words != nullptr && place.value.is_string()) {
      member = words->number_of(place, place.value.get_ref<const std::string&>());
      return;
    }
  }
  if constexpr (std::signed_integral<Member>) {
    if (words == nullptr && place.value.is_null() && fresh == -1) return;
  }
  read_json_value(place, member);
  if constexpr (std::same_as<Member, std::string>) {
    if (words != nullptr) words->number_of(place, member);
  }
}

template <typename T>
void read_object(const JsonPlace& place, T& self) {
  const ReadJson& object = place.value;
  if (!object.is_object()) refuse_type(place, "an object");
  std::vector<std::string_view> keys;
  std::string_view missing;
  size_t found = 0;
  if constexpr (requires { T::kSchema; }) {
    keys.push_back("schema");
    found += object.count("schema");
  }
  each_field<T>(self, [&](std::string_view key, auto& member, const auto& fresh) {
    keys.push_back(key);
    const auto value = object.find(key);
    if (value != object.end()) {
      ++found;
      read_field(place.at(key, *value), member, fresh, words_for(FieldsOf<T>(), key));
    } else if (missing.empty() && !may_lack(self, key)) {
      missing = key;
    }
  });
  for (const auto& [key, value] : object.items()) {
    if (found == object.size()) break;  // All keys are known if as many were found.
    if (std::ranges::find(keys, key) != keys.end()) continue;
    refuse(place, fmt::format("unknown key '{}'", printable(key)), hint_for(key, keys));
  }
  if (!missing.empty()) refuse(place, fmt::format("'{}' is missing", missing));
}

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
    return object_of(value);
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
  const Words words{noun_of(Enum()), name, words_of_enum<Enum>().size()};
  value = static_cast<Enum>(words.number_of(place, word));
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
    read_object(place, value);
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
  return safe_json(to_json_value(value).dump()) + "\n";
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

/// Functions that a log can name, replayable or not: the table's, less the first, which is unknown,
/// and those at its end, which benchmarks alone know.
inline constexpr Words kFunctionWords{
    "function", [](int64_t number) { return kOperations[number + 1].name; },
    std::size(kOperations) - 1 -
        std::ranges::count(kOperations, std::string_view("measured"), &OperationTraits::kind)};

NCCLOG_JSON_FIELDS(PlannedCall, communicator, index, op, count, datatype, redop, root, in_place,
                   send_offset, recv_offset, stream, group, made_in)
NCCLOG_MAY_LACK(PlannedCall, root, in_place, send_offset, recv_offset, stream, group, made_in)

inline bool may_lack(const PlannedCall& call, std::string_view key) {
  return key == "redop" ? !is_reduction(call.op) : may_lack<PlannedCall>(call, key);
}

inline const Words* words_for(FieldsOf<PlannedCall>, std::string_view key) {
  if (key == "op") return &kFunctionWords;
  if (key == "datatype") return &kDatatypeWords;
  return key == "redop" ? &kReductionWords : nullptr;
}

NCCLOG_JSON_FIELDS(PlannedRank, recorded_rank, host, host_group, stands_for, left_out, calls)

NCCLOG_JSON_FIELDS(TransportShare, transport, connections)

NCCLOG_JSON_FIELDS(PlannedCommunicator, id, ranks, recorded_nranks, parent, color, channels,
                   transports)
NCCLOG_MAY_LACK(PlannedCommunicator, color)

NCCLOG_JSON_FIELDS(PlannedSetting, name, value, ranks, left_out)
NCCLOG_MAY_LACK(PlannedSetting, ranks, left_out)

NCCLOG_JSON_FIELDS(RecordedTuning, op, algorithm, protocol, calls)

NCCLOG_JSON_FIELDS(FrontLine, communicator, index, entered, missing)

NCCLOG_JSON_KEYS(Hypothesis, "finding, title, kind, departed, front", finding, title, kind,
                 diverged, front)

NCCLOG_JSON_FIELDS(ReplayDeadlines, start, init, enqueue, completion, teardown)

NCCLOG_JSON_FIELDS(ReplayPlan, tool_version, logs, nccl_versions, cuda_version, recorded_nranks,
                   recorded_nhosts, hypothesis, ranks, communicators, settings, tuning, deadlines,
                   losses, limits)

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
