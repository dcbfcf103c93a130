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

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text.h"
#include "replay/json_document.h"

namespace ncclog {

/// Names the table of T among the overloads of each_field.
template <typename T>
struct FieldsOf {};

/// When a key is in the object.
enum class Written {
  Always,  ///< Reading misses it.
  IfSet,   ///< Not written with the value that it has in a new struct.
};

/// Numbers that are written by name: 7 as "float32". Those without a name stay numbers.
struct NumberWords {
  std::string_view noun;  ///< "datatype", for what is said about others.
  std::string_view (*name)(int64_t number);
  int count;  ///< Names are those of 0 … count - 1.
};

/// Texts that are one of a list.
struct TextWords {
  std::string_view noun;
  const std::vector<std::string_view>& (*all)();
};

/// Specialised for each enum that is written by its words: `kNoun` and `kCount`, the number of its
/// enumerators, which begin with 0 and have to_string().
template <typename Enum>
struct EnumWords;

template <typename T>
WrittenJson to_json_value(const T& value);
template <typename T>
void read_json_value(const JsonPlace& place, T& value);

/// "did you mean 'x'?", else "one of: …".
inline std::string hint_among(std::string_view word, std::span<const std::string_view> words) {
  if (const auto nearest = nearest_name(word, words)) {
    return fmt::format("did you mean '{}'?", *nearest);
  }
  return fmt::format("one of: {}", fmt::join(words, ", "));
}

[[noreturn]] inline void refuse_word(const JsonPlace& place, std::string_view noun,
                                     std::string_view word,
                                     std::span<const std::string_view> words) {
  refuse(place, fmt::format("unknown {} '{}'", noun, printable(word)), hint_among(word, words));
}

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

  void operator()(const char* key, int T::*member, Written written, const NumberWords& words) {
    if (is_left_out(member, written)) return;
    const std::string_view name = words.name(self_.*member);
    object_[key] = name.empty() ? WrittenJson(self_.*member) : WrittenJson(name);
  }

  void operator()(const char* key, std::string T::*member, Written written, const TextWords&) {
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

/// Lists the keys of a struct.
template <typename T>
class KeyLister {
 public:
  const T& self() const { return self_; }
  const std::vector<std::string_view>& keys() const { return keys_; }

  void schema(std::string_view) { keys_.push_back("schema"); }

  template <typename Member, typename... Words>
  void operator()(const char* key, Member T::*, Written, const Words&...) {
    keys_.push_back(key);
  }

 private:
  T self_;
  std::vector<std::string_view> keys_;
};

/// Fills one struct from an object.
template <typename T>
class FieldReader {
 public:
  FieldReader(const JsonPlace& place, T& self) : place_(place), self_(self) {
    if (!place.value.is_object()) refuse_type(place, "an object");
  }

  const T& self() const { return self_; }

  void schema(std::string_view) { found_ += place_.value.contains("schema") ? 1 : 0; }

  template <typename Member>
  void operator()(const char* key, Member T::*member, Written written) {
    const ReadJson* value = find(key, written);
    if (value == nullptr || means_unknown(*value, member)) return;
    read_json_value(place_.at(key, *value), self_.*member);
  }

  void operator()(const char* key, int T::*member, Written written, const NumberWords& words) {
    const ReadJson* value = find(key, written);
    if (value == nullptr) return;
    const JsonPlace place = place_.at(key, *value);
    if (!value->is_string()) return read_json_value(place, self_.*member);
    self_.*member = number_of(place, words);
  }

  void operator()(const char* key, std::string T::*member, Written written,
                  const TextWords& words) {
    (*this)(key, member, written);
    const auto& all = words.all();
    const auto value = place_.value.find(key);
    if (value == place_.value.end() ||
        std::find(all.begin(), all.end(), self_.*member) != all.end()) {
      return;
    }
    refuse_word(place_.at(key, *value), words.noun, self_.*member, all);
  }

  /// Throws Error if the object has other keys or lacks one. To be called last.
  void finish() {
    if (found_ != place_.value.size()) refuse_unknown_key();
    if (missing_ != nullptr) refuse(place_, fmt::format("'{}' is missing", missing_));
  }

 private:
  const ReadJson* find(const char* key, Written written) {
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

  static int number_of(const JsonPlace& place, const NumberWords& words) {
    const std::string& word = place.value.get_ref<const std::string&>();
    std::vector<std::string_view> names;
    for (int number = 0; number < words.count; ++number) {
      names.push_back(words.name(number));
      if (names.back() == word) return number;
    }
    refuse_word(place, words.noun, word, names);
  }

  void refuse_unknown_key() const {
    KeyLister<T> lister;
    each_field(lister, FieldsOf<T>());
    for (const auto& [key, value] : place_.value.items()) {
      const auto& keys = lister.keys();
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        refuse(place_, fmt::format("unknown key '{}'", printable(key)), hint_among(key, keys));
      }
    }
  }

  const JsonPlace& place_;
  T& self_;
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

/// Texts by number; an object whose keys are decimal.
using NumberedTexts = std::map<int, std::string>;

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
  } else if constexpr (std::same_as<T, NumberedTexts>) {
    WrittenJson object = WrittenJson::object();
    for (const auto& [number, text] : value) object[std::to_string(number)] = to_json_value(text);
    return object;
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
  std::vector<std::string_view> words;
  for (int number = 0; number < EnumWords<Enum>::kCount; ++number) {
    words.push_back(to_string(static_cast<Enum>(number)));
    if (words.back() == word) return void(value = static_cast<Enum>(number));
  }
  refuse_word(place, EnumWords<Enum>::kNoun, word, words);
}

template <typename T>
void read_json_list(const JsonPlace& place, std::vector<T>& list) {
  if (!place.value.is_array()) refuse_type(place, "a list");
  list.clear();
  for (size_t i = 0; i < place.value.size(); ++i) read_json_value(place.at(i), list.emplace_back());
}

inline void read_json_texts(const JsonPlace& place, NumberedTexts& texts) {
  if (!place.value.is_object()) refuse_type(place, "an object");
  for (const auto& [key, value] : place.value.items()) {
    const auto number = parse_int(key);
    if (!number || !std::in_range<int>(*number)) refuse(place, "a key is not a number");
    const auto [text, is_new] = texts.try_emplace(static_cast<int>(*number));
    if (!is_new) refuse(place, fmt::format("two keys mean {}", *number));
    read_json_value(place.at(key, value), text->second);
  }
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
  } else if constexpr (std::same_as<T, NumberedTexts>) {
    read_json_texts(place, value);
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

}  // namespace ncclog
