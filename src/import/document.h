// What does a structured file say, whatever its notation? A tree of plain values.
//
//   pickle  80 02 7d 58 07 00 00 00 "version" 58 03 00 00 00 "2.4" 73 2e
//   JSON    {"version": "2.4"}            → both: Dict{"version": "2.4"}
//
// The values lie in one list and refer to each other by place, so neither building nor dropping a
// tree recurses, however deep the file nests. A pickle may refer to the same value many times and
// even to itself: whoever walks a document bounds its work with a DocumentWalk.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ncclog {

/// Place of a value in ParsedDocument::values.
using ValueId = uint32_t;

/// A list or a tuple.
struct ListValue {
  std::vector<ValueId> items;
};

/// Keys and values in the order of the file; a key may stand in it twice.
struct DictValue {
  std::vector<std::pair<ValueId, ValueId>> members;
};

/// monostate: None, null, or a whole number that does not fit 64 bits. Texts are also Python's
/// bytes; they lie in the bytes that were read or in ParsedDocument::decoded, and may hold any
/// bytes.
using Value =
    std::variant<std::monostate, bool, int64_t, double, std::string_view, ListValue, DictValue>;

/// A file that was read. Its texts are views into the bytes it was read from.
struct ParsedDocument {
  std::vector<Value> values;
  ValueId root = 0;                 ///< Only if `problem` is empty.
  std::deque<std::string> decoded;  ///< Texts that the file writes with escapes. Never moves them.
  std::string problem;  ///< Why the file could not be read, a clause; empty: it was read.
};

/// Lists and dicts may nest this deep in what is read.
inline constexpr size_t kMaxNesting = 512;

/// More values than this are refused: about 40 bytes of memory each.
inline constexpr size_t kMaxValues = size_t{1} << 24;

/// Steps of a DocumentWalk over a file of so many bytes: a step is a byte of memory or a visit.
/// Honest files take about five a byte; those that refer to the same parts over and over take any
/// number.
constexpr size_t fair_steps(size_t bytes) { return 65536 + 16 * bytes; }

/// Walks a document with a bounded number of steps, however often its values refer to each other.
///
/// The functions answer nullptr, nullopt or nothing where a value is not of the wanted kind.
class DocumentWalk {
 public:
  /// `steps` bounds what all calls together visit and copy: members, items and bytes of text.
  DocumentWalk(const ParsedDocument& document, size_t steps) : document_(document), left_(steps) {}

  /// True once the steps are used up: then the rest of the document reads as if it were empty.
  bool is_spent() const { return left_ == 0; }

  const Value& root() const { return document_.values[document_.root]; }

  /// Calls `use(key, value)` for each member of a dict whose key is a text.
  template <typename Use>
  void each_member(const Value& dict, Use&& use) {
    const auto* found = std::get_if<DictValue>(&dict);
    if (found == nullptr) return;
    for (const auto& [key, value] : found->members) {
      const auto* name = std::get_if<std::string_view>(&document_.values[key]);
      if (!take(1)) return;
      if (name != nullptr) use(*name, document_.values[value]);
    }
  }

  /// Calls `use(item)` for each item of a list.
  template <typename Use>
  void each_item(const Value& list, Use&& use) {
    const auto* found = std::get_if<ListValue>(&list);
    if (found == nullptr) return;
    for (const ValueId item : found->items) {
      if (!take(1)) return;
      use(document_.values[item]);
    }
  }

  /// The last member of that name; nullptr if there is none.
  const Value* member(const Value& dict, std::string_view name);

  /// A copy of a text; empty if it is none.
  std::string text(const Value& value);

  /// Takes `steps` from what is left; false if that is not enough.
  bool take(size_t steps);

 private:
  const ParsedDocument& document_;
  size_t left_;
};

/// A whole number, also one written as text ("29") or as 29.0.
std::optional<int64_t> whole_number(const Value& value);

/// Any number, also one written as text.
std::optional<double> real_number(const Value& value);

/// true or false, also as 0 or 1.
std::optional<bool> truth(const Value& value);

// A document as JSON: a Flight Recorder's pickle for readers who have no Python.
//
//   Dict{"version": "2.10", "entries": List{}}   → {"version": "2.10", "entries": []}

/// The whole tree on one line with a newline after it. Texts become valid UTF-8, keys that are no
/// texts become ones. nullopt if it could not be read, or the JSON would be longer than `most`:
/// a pickle may refer to one value many times.
std::optional<std::string> document_json(const ParsedDocument& document, size_t most);

// A JSON text as plain data.
//
//   {"version": "2.4", "entries": []}  → Dict{"version": "2.4", "entries": List{}}
//   {"version": "2.4", "entri          → problem: "the JSON text is malformed or cut at byte 26"

/// Reads one JSON value. Never throws for what the bytes are: ParsedDocument::problem says where
/// and why they were refused. Nothing but blanks may follow the value.
ParsedDocument read_json(std::string_view bytes);

// A Python pickle as plain data, without Python and without running anything.
//
//   80 02 7d 71 00 58 07 00 00 00 "version" …  → Dict{"version": …}
//   80 04 8c 02 "os" 8c 06 "system" 93 …       → problem: "STACK_GLOBAL at byte 14 imports a name,
//                                                 which plain data never does"
//
// A pickle is a program for a small stack machine. Only the opcodes that make None, truth values,
// numbers, texts, lists, tuples and dicts are carried out; any other one ends the reading. Lengths
// in the file are compared with what is left of it before they are believed, so nothing is
// allocated for a text that is not there.

/// Reads a pickle of protocol 0 to 5. `bytes` must outlive the document. Never throws for what the
/// bytes are: ParsedDocument::problem says with opcode and offset why they were refused. What
/// follows the end of the pickle is not looked at.
ParsedDocument read_pickle(std::string_view bytes);

}  // namespace ncclog
