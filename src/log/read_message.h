// From a message's captured texts to its typed struct and back to its kind.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "log/message_kind.h"

namespace ncclog {

enum class MemberType { Text, Integer, Wide, Hex };

/// Where a struct keeps a field.
struct FieldPlace {
  uint16_t offset = 0;
  MemberType type = MemberType::Text;
};

/// An array by field index of the kind that struct T is made of (log/messages.h).
template <typename T>
extern const FieldPlace kFieldPlaces;

/// Position of struct T's kind in all_kinds().
template <typename T>
extern const uint16_t kKindIndex;

/// Sets a member to what the field's text says; a number that does not fit it leaves it as it is.
inline void read_field(std::string_view text, MemberType type, void* member) {
  switch (type) {
    case MemberType::Text:
      *static_cast<std::string_view*>(member) = text;
      break;
    case MemberType::Hex:
      if (const auto value = parse_hex(text)) static_cast<Hex*>(member)->value = *value;
      break;
    case MemberType::Wide:
      if (const auto value = parse_int(text)) *static_cast<int64_t*>(member) = *value;
      break;
    case MemberType::Integer:
      if (const auto value = parse_int(text); value && std::in_range<int>(*value))
        *static_cast<int*>(member) = static_cast<int>(*value);
      break;
  }
}

/// Sets the members of `result`, which has these places, to the fields that `message` has.
void read_fields(const Message& message, std::span<const FieldPlace> places, void* result);

/// The message as its struct. Members whose hole the wording lacks, and numbers that do not fit
/// their member, keep their defaults. Text members are views into the line that `message` views.
template <typename T>
T read_message(const Message& message) {
  T result{};
  read_fields(message, kFieldPlaces<T>, &result);
  return result;
}

/// As read_message, for kinds of which a log holds millions: only `kMembers` are read, the others
/// keep their defaults.
template <typename T, auto... kMembers>
T read_members(const Message& message) {
  T result{};
  char* const begin = reinterpret_cast<char*>(&result);
  const auto read = [&](size_t index, FieldPlace place) {
    void* const member = begin + place.offset;
    const bool wanted = ((member == &(result.*kMembers)) || ...);
    const std::string_view text = message.fields[index];
    if (wanted && text.data() != nullptr) read_field(text, place.type, member);
  };
  // Unrolled, so that what is not wanted costs nothing.
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    (read(kIndex, kFieldPlaces<T>[kIndex]), ...);
  }
  (std::make_index_sequence<kFieldPlaces<T>.size()>());
  return result;
}

}  // namespace ncclog
