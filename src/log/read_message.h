// From a message's captured texts to its typed struct and back to its kind.

#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "log/message_kind.h"

namespace ncclog {

template <typename M>
constexpr FieldType field_type() {
  if constexpr (std::is_same_v<M, std::string_view>) {
    return FieldType::Text;
  } else if constexpr (std::is_same_v<M, Hex>) {
    return FieldType::Hex;
  } else {
    static_assert(std::is_integral_v<M>, "a message field is text, an integer or Hex");
    return FieldType::Integer;
  }
}

/// The kind that struct T describes, at position `index` of the list of all
/// kinds.
template <typename T>
Kind make_kind(uint16_t index) {
  Kind kind{T::kKind, index, T::kSource, T::kSubsystem, T::kWordings, {}, {}};
  if constexpr (requires { T::kWarning; }) kind.warning = T::kWarning;
  T sample{};
  T::each_field(sample, [&](std::string_view name, auto& member) {
    kind.fields.push_back({name, field_type<std::remove_cvref_t<decltype(member)>>()});
  });
  return kind;
}

inline void read_field(std::string_view text, std::string_view& member) { member = text; }
inline void read_field(std::string_view text, Hex& member) {
  if (const auto value = parse_hex(text)) member.value = *value;
}
template <typename M>
requires std::is_integral_v<M>
void read_field(std::string_view text, M& member) {
  if (const auto value = parse_int(text); value && std::in_range<M>(*value)) {
    member = static_cast<M>(*value);
  }
}

/// The message as its struct. Members whose hole the wording lacks, and numbers that do not fit
/// their member, keep their defaults. Text members are views into the line that `message` views.
template <typename T>
T read_message(const Message& message) {
  T result{};
  size_t index = 0;
  T::each_field(result, [&](std::string_view, auto& member) {
    const std::string_view text = message.fields[index++];
    if (text.data() != nullptr) read_field(text, member);
  });
  return result;
}

/// As read_message, for kinds of which a log holds millions: only `kMembers` are read, the others
/// keep their defaults.
template <typename T, auto... kMembers>
T read_members(const Message& message) {
  T result{};
  size_t index = 0;
  T::each_field(result, [&](std::string_view, auto& member) {
    const std::string_view text = message.fields[index++];
    const void* place = &member;
    const bool wanted = ((place == &(result.*kMembers)) || ...);
    if (wanted && text.data() != nullptr) read_field(text, member);
  });
  return result;
}

}  // namespace ncclog
