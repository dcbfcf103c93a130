// The messages that ncclog knows: the built-in kinds, and those that files add (--messages).
//
//   "node07:41:42 [3] NCCL INFO Using network Socket"
//     → network_selected{network: Socket}, read into struct NetworkSelected (log/messages.h)
//
// Also what follows from knowing them all: a kind as its message file, a first draft of a kind for
// lines that nothing fits, the shape of such lines, and the words that NCCL prints.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "log/wording/message_kind.h"
#include "log/wording/wording_table.h"

namespace ncclog {

struct KindText;

/// The built-in kinds, as the build made them of src/log/messages/.
extern const std::span<const Kind> kBuiltInKinds;

/// The table that lines are read by; valid, like all that it views, until the program ends.
const WordingTable& all_wordings();

/// Its kinds. Index and position are the same.
inline std::span<const Kind> all_kinds() { return all_wordings().kinds; }

/// The kind with that name; nullptr if there is none.
const Kind* find_kind(std::string_view name);

/// Adds the kinds of files to the built-in ones. Called before the first line is read, and by one
/// thread. Throws Error, and adds nothing, if one of them is wrong.
void add_messages(std::span<const KindText> kinds);

/// A hash of all that was added, which tells reports of other knowledge apart; 0: nothing was.
uint64_t added_messages_hash();

// From a message's captured texts to its typed struct and back to its kind.

/// Where a struct keeps a field.
struct FieldPlace {
  uint16_t offset = 0;
  FieldType type = FieldType::Text;
  bool wide = false;  ///< An integer of 64 bits.
};

/// An array by field index of the kind that struct T is made of (log/messages.h).
template <typename T>
extern const FieldPlace kFieldPlaces;

/// Position of struct T's kind in all_kinds().
template <typename T>
extern const uint16_t kKindIndex;

/// Sets a member to what the field's text says; a number that does not fit it leaves it as it is.
inline void read_field(std::string_view text, FieldPlace place, void* member) {
  switch (place.type) {
    case FieldType::Text:
      *static_cast<std::string_view*>(member) = text;
      break;
    case FieldType::Hex:
      if (const auto value = parse_hex(text)) static_cast<Hex*>(member)->value = *value;
      break;
    case FieldType::Integer:
      const auto value = parse_int(text);
      if (value && place.wide) *static_cast<int64_t*>(member) = *value;
      if (value && !place.wide && std::in_range<int>(*value))
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
    if (wanted && text.data() != nullptr) read_field(text, place, member);
  };
  // Unrolled, so that what is not wanted costs nothing.
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    (read(kIndex, kFieldPlaces<T>[kIndex]), ...);
  }
  (std::make_index_sequence<kFieldPlaces<T>.size()>());
  return result;
}

// Message files written: what is known of a kind, and a first draft for lines that nothing fits.
//
//   NET/IB: Frobnicated mlx5_0:1 qpn 4711   →   site_frobnicated  nccl -
//                                                 = NET/IB: Frobnicated {:word} qpn {:int}
//                                                 > NET/IB: Frobnicated mlx5_0:1 qpn 4711

/// The kind as a message file states it (log/messages/README.md), but for what only the build
/// needs: `typed`, and whether a number has 64 bits.
std::string message_text(const Kind& kind);

/// The message with its values turned into holes: numbers, words with digits, quoted text. Empty if
/// fewer than eight letters of its own are left, which would fit too much.
std::string proposed_wording(std::string_view message);

/// A line for which a file proposes a kind.
struct UnknownMessage {
  std::string_view message;  ///< After its header.
  bool is_nccl = false;      ///< It has an NCCL header.
  bool is_warning = false;   ///< At level WARN.
  std::string note;          ///< Where and how often it was seen.
};

/// A message file with a kind for each, which `ncclog messages check` accepts once its names and
/// meanings are filled in; messages of one wording are proposed once.
std::string proposed_messages(const std::vector<UnknownMessage>& messages);

// Which words does NCCL print, whoever runs it?
//
//   "{nranks:int} ranks were missing"   ranks, were, missing
//
// Those of all wordings, so that they need no list of their own.

/// The words of all messages in lower case, from three letters on; names of holes are none.
const std::set<std::string, std::less<>>& message_words();

// What two messages have in common that differ in their values only.
//
//   NET/IB: Frobnicated mlx5_0:1 qpn 4711 at 0x7f10a0   →   NET/IB: Frobnicated #:# qpn # at #
//   Could not weigh '/etc/nccl/topo.xml'                →   Could not weigh '…'
//
// Made for lines that no wording fits: a shape is what a user reports instead of a thousand lines.

/// Bytes of a message that its shape is made from; most of NCCL's own words stand at its beginning.
inline constexpr size_t kMaxShapeBytes = 240;

/// The message with numbers, words that hold digits, paths and quoted text replaced. Messages of
/// one format string have one shape unless a name without digits stands in them.
std::string message_shape(std::string_view message);

}  // namespace ncclog
