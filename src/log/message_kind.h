// What a kind of message is: one struct with its wordings, an example of each, and its fields.
//
//   struct NetworkSelected {
//     std::string_view network;
//     static constexpr std::string_view kKind = "network_selected";
//     static constexpr Source kSource = Source::Nccl;
//     static constexpr Subsystem kSubsystem = Subsystem::Init;
//     static constexpr Wording kWordings[] = {
//         {.text = "Using network {network...}", .example = "Using network AWS Libfabric"},
//     };
//     static void each_field(auto& self, auto&& visit) { visit("network", self.network); }
//   };
//
// The member, the hole in the wording, the name that a rule uses and the JSON key are one word.
// Adding a kind is adding such a struct to a family list in log/messages/; nothing else changes. A
// kind of WARNs also has `static constexpr Warning kWarning` (log/warning.h).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "log/warning.h"

namespace ncclog {

/// Who prints a message, and so in which lines it is looked for.
enum class Source {
  Nccl,       ///< NCCL or a plugin, after an NCCL header.
  Framework,  ///< PyTorch, Python, a launcher or the shell.
  Pasted,     ///< Output of a command that people keep beside their logs.
};

/// NCCL's subsystem of a message. NCCL does not print it: it is inferred from the wording.
enum class Subsystem {
  None,
  Init,
  Coll,
  P2p,
  Shm,
  Net,
  Graph,
  Tuning,
  Env,
  Alloc,
  Call,
  Proxy,
  Nvls,
  Bootstrap,
  Reg,
  Profile,
  Ras,
  Destroy,
};

/// As NCCL_DEBUG_SUBSYS spells it; "" for None.
std::string_view to_string(Subsystem subsystem);

struct Message;

/// Takes a text apart where holes cannot: a table's row, a class name, a progress bar. Sets the
/// fields of `message`, whose kind is set already, and answers whether the text is of that kind.
using Recogniser = bool (*)(std::string_view text, Message& message);

/// One wording of a message: NCCL's format string turned round.
///
/// Holes: `{field}` is text up to the next literal, or a number where the member is one;
/// `{field...}` takes the rest of the line; `{field:word}` text without blanks; `{field:A|B}` one
/// of the listed words; `{field:ints}` blank-separated numbers to the end. `{}`, `{:word}`,
/// `{:int}`, `{:hex}`, `{...}` match and forget. Matching is one linear scan: text ends at the
/// FIRST occurrence of the next literal, before the last literal at the end. Blanks around a
/// field's text do not belong to it.
struct Wording {
  std::string_view text;
  std::string_view example;  ///< A real line's message; a test proves that it
                             ///< fits this kind only.
  /// The message is also recognised where no NCCL header stands before it, as in "Last error:".
  bool quotable = false;
  /// Fits what no wording before it in its kind fits, and so also fits their examples: cut lines,
  /// names of plugins that nobody has listed. Nothing else may fit another wording's example.
  bool general = false;
  /// Matches instead of the holes (log/foreign_lines.h); `text` then only shows the shape, and its
  /// first word, if it is a whole one, is what texts are looked up by. nullptr: the holes match.
  Recogniser recognise = nullptr;
  /// What it means at level WARN, where that is not what the kind's kWarning says.
  Warning warning{};
};

/// A number that the log prints in hexadecimal, with or without 0x; "(nil)" is 0.
struct Hex {
  uint64_t value = 0;
  bool operator==(const Hex&) const = default;
};

enum class FieldType { Text, Integer, Hex };

struct Field {
  std::string_view name;
  FieldType type = FieldType::Text;
};

inline constexpr size_t kMaxFields = 16;

/// A message kind as data, made from its struct.
struct Kind {
  std::string_view name;
  uint16_t index = 0;  ///< Position in all_kinds().
  Source source = Source::Nccl;
  Subsystem subsystem = Subsystem::None;
  std::span<const Wording> wordings;
  std::vector<Field> fields;
  Warning warning;  ///< Of the wordings that have none of their own; severity None: no WARN.
};

/// A line's message, taken apart.
struct Message {
  const Kind* kind = nullptr;        ///< nullptr: no wording fits.
  const Wording* wording = nullptr;  ///< The wording that fits; static like the kind's texts.
  /// By field index of the kind; empty where the wording has no such hole. Views into the line.
  std::array<std::string_view, kMaxFields> fields{};

  /// The field of that name; empty if the kind has none or the wording did not fill it.
  std::string_view field(std::string_view name) const;

  /// Sets the field of that name, for recognisers; a kind without it ignores that.
  void set(std::string_view name, std::string_view text);
};

/// What the wording means at level WARN; nullptr if NCCL never warns with it. Valid for the whole
/// program.
const Warning* warning_of(const Kind& kind, const Wording& wording);

/// What the message means if its line is a WARN; nullptr if no release warns with that wording.
const Warning* warning_of(const Message& message);

/// A family of kinds: what one header of log/messages/ adds.
template <typename... T>
struct Kinds {};

}  // namespace ncclog
