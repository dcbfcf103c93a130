// What a kind of message is: its fields, its wordings, an example of each, and what its WARNs mean.
//
//   network_selected  nccl INIT  typed
//     network:text  "Socket", "IB", or what a plugin calls itself.
//     = Using network {network...}
//     > Using network AWS Libfabric
//
// Kinds are data: log/messages/*.messages, which the build turns into one constant table and, for
// the kinds that code asks for by type, into structs (log/messages.h). The field, the hole in the
// wording, the name that a rule uses and the JSON key are one word. src/log/messages/README.md has
// the whole language.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

namespace ncclog {

// What does a WARN mean for the job that prints it?
//
//   Error: failed to extend /dev/shm/nccl-x to 9637892 bytes
//   → fatal, of the system: "/dev/shm has no room for the segment, …"
//
// It stands in the message files (log/messages/), before the wordings that mean it. Severities
// follow from what NCCL's source does next. Some WARNs became INFO in later releases and some the
// other way; a wording fits at both levels.

/// What becomes of the call or the communicator.
enum class WarnSeverity {
  None,      ///< NCCL never warns with it.
  Info,      ///< No effect by itself.
  Degraded,  ///< NCCL goes on without a feature or with another value.
  Fatal,     ///< The call or the communicator fails.
};

/// Whose fault it is, as far as the text alone tells.
enum class WarnOrigin {
  System,    ///< The host, the network, a driver, or what another rank did.
  User,      ///< The caller's arguments or settings.
  Internal,  ///< A check that users cannot fail by configuration: an earlier error or an NCCL bug.
  Symptom,   ///< Follows from an error that was printed before, here or by another process.
};

/// Everything the text of a WARN means to its reader.
struct Warning {
  WarnSeverity severity = WarnSeverity::None;
  WarnOrigin origin = WarnOrigin::System;
  /// One or two sentences: what it means for the job and where to look. At most 240 characters.
  std::string_view meaning;
};

/// "fatal", "degraded", "info"; "" for None.
constexpr std::string_view enum_words(WarnSeverity) { return "|info|degraded|fatal"; }

/// "system", "user", "internal", "symptom".
constexpr std::string_view enum_words(WarnOrigin) { return "system|user|internal|symptom"; }

/// Who prints a message.
enum class Library {
  Nccl,
  Rccl,         ///< AMD's NCCL.
  Ofi,          ///< aws-ofi-nccl, the network plugin for EFA.
  Sharp,        ///< nccl-rdma-sharp-plugins.
  NcclPlugins,  ///< NCCL's own inspector and example plugins.
  Framework,    ///< PyTorch, Python, a launcher or the shell.
  RasClient,    ///< ncclras, the answer to a question about a running job.
  NcclTests,    ///< The tables of nccl-tests.
  Benchmark,    ///< Those of PyTorch's, DeepSpeed's and PARAM's benchmarks of communication.
  Pasted,       ///< Other commands whose output people keep beside their logs.
};

/// In which lines a message is looked for.
enum class Source {
  Nccl,       ///< After an NCCL header: of NCCL, RCCL or a plugin.
  Framework,  ///< Of Library::Framework.
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
constexpr std::string_view enum_words(Subsystem) {
  return "|INIT|COLL|P2P|SHM|NET|GRAPH|TUNING|ENV|ALLOC|CALL|PROXY|NVLS|BOOTSTRAP|REG|PROFILE|RAS|"
         "DESTROY";
}

/// As message files spell it: "nccl", "ras-client".
constexpr std::string_view enum_words(Library) {
  return "nccl|rccl|ofi|sharp|nccl-plugins|framework|ras-client|nccl-tests|benchmark|pasted";
}

Source source_of(Library library);

struct Kind;
struct Message;

/// Takes a text apart where holes cannot: a table's row, a class name, a progress bar.
struct Recogniser {
  std::string_view name;  ///< By which a message file names it.
  /// Sets the fields of `message`, whose kind is set already, and answers whether the text is of
  /// that kind.
  bool (*recognise)(std::string_view text, Message& message) = nullptr;
  /// What every text that it accepts holds one of, as log/literal_set.h reads them, or
  std::span<const std::string_view> needles;
  std::span<const std::string_view> begins;  ///< begins with one of.
  /// Accepts too much for a line on its own: who knows the lines before it asks (Tracebacks in
  /// log/event_reader.h).
  bool only_asked = false;
};

/// What a hole accepts.
enum class HoleType { None, Text, Word, Integer, Integers, Hex, Number, Choice, Rest };

/// The first bytes of a text as one number, to be compared at once.
struct LeadingBytes {
  uint64_t bytes = 0;
  uint64_t mask = 0;  ///< 0xFF for each byte that the text has, eight at most.
};

/// A literal of a wording and the hole that follows it.
struct PatternStep {
  std::string_view literal;  ///< Must stand here; may be empty only before the first hole.
  LeadingBytes leading;      ///< Of `literal`.
  HoleType hole = HoleType::None;
  int field = -1;            ///< Index of the kind's field to fill; -1: matched and forgotten.
  std::string_view next;     ///< The literal behind the hole; empty: there is none.
  bool before_last = false;  ///< The hole is text, and `next` ends the wording.
  std::span<const std::string_view> choices;  ///< For Choice; longer words before their prefixes.
};

/// One wording of a message: NCCL's format string turned round.
///
/// Holes: `{field}` is text up to the next literal, or a number where the field is one;
/// `{field...}` takes the rest of the line; `{field:word}` text without blanks; `{field:A|B}` one
/// of the listed words; `{field:number}` a decimal number such as "1e-05"; `{field:ints}`
/// blank-separated numbers to the end. `{}`, `{:word}`, `{:int}`, `{:hex}`, `{...}` match and
/// forget; `{{` and `}}` are braces. Matching is one linear scan (log/wording/wording_table.h).
struct Wording {
  std::string_view text;
  std::string_view example;  ///< A real line's message; the generator proves that it fits this
                             ///< kind only.
  /// The message is also recognised where no NCCL header stands before it, as in "Last error:".
  bool quotable = false;
  /// Fits what no wording before it in its kind fits, and so also fits their examples: cut lines,
  /// names of plugins that nobody has listed. Nothing else may fit another wording's example.
  bool general = false;
  /// Matches instead of the holes (log/wording/other_programs.h); `text` then only shows the shape,
  /// and its first word, if it is a whole one, is what texts are looked up by. nullptr: the holes
  /// match.
  const Recogniser* recogniser = nullptr;
  Warning warning{};  ///< What it means at level WARN; severity None: NCCL never warns with it.
  const Kind* kind = nullptr;
  std::span<const PatternStep> steps;  ///< `text`, compiled.

  /// No text is looked up by it; see Recogniser.
  bool is_only_asked() const { return recogniser != nullptr && recogniser->only_asked; }
};

/// A number that the log prints in hexadecimal, with or without 0x; "(nil)" is 0.
struct Hex {
  uint64_t value = 0;
};

enum class FieldType { Text, Integer, Hex };

struct Field {
  std::string_view name;
  FieldType type = FieldType::Text;
  std::string_view meaning;  ///< For `ncclog messages show`; may be empty.
};

inline constexpr size_t kMaxFields = 16;

/// A message kind. Valid, with all that it views, for the whole program.
struct Kind {
  std::string_view name;
  uint16_t index = 0;  ///< Position in all_kinds().
  Library library = Library::Nccl;
  Source source = Source::Nccl;  ///< source_of(library).
  Subsystem subsystem = Subsystem::None;
  std::string_view meaning;  ///< When it is printed; lines are separated by '\n'.
  std::span<const Field> fields;
  std::span<const Wording> wordings;
};

/// A line's message, taken apart.
struct Message {
  const Kind* kind = nullptr;        ///< nullptr: no wording fits.
  const Wording* wording = nullptr;  ///< The wording that fits.
  /// By field index of the kind; empty where the wording has no such hole. Views into the line.
  std::array<std::string_view, kMaxFields> fields{};

  /// The field of that name; empty if the kind has none or the wording did not fill it.
  std::string_view field(std::string_view name) const;

  /// Sets the field of that name, for recognisers; a kind without it ignores that.
  void set(std::string_view name, std::string_view text);

  /// Sets several; true, as recognisers answer that took a text apart.
  bool fill(std::initializer_list<std::pair<std::string_view, std::string_view>> fields_by_name) {
    for (const auto& [name, text] : fields_by_name) set(name, text);
    return true;
  }
};

/// What the message means if its line is a WARN; nullptr if no release warns with that wording.
/// Valid for the whole program.
const Warning* warning_of(const Message& message);

/// What the wording means at level WARN; nullptr if NCCL never warns with it.
const Warning* warning_of(const Wording& wording);

}  // namespace ncclog
