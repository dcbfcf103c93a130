// What does a structured file say, whatever its notation? A tree of plain values.
//
//   pickle  80 02 7d 58 07 00 00 00 "version" 58 03 00 00 00 "2.4" 73 2e
//   JSON    {"version": "2.4"}            → both: {"version": "2.4"}

#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ncclog {

/// What was read of a file's bytes.
template <typename T>
struct Imported {
  T value;              ///< Where there is a problem, what was read before it, or nothing.
  std::string problem;  ///< Why the bytes cannot be used, a clause; empty: they can.
};

/// null: None, or a whole number that does not fit 64 bits. Texts are also Python's bytes, and may
/// hold any bytes. Of members of one name the last one counts.
using ParsedDocument = Imported<nlohmann::json>;

/// Lists and dicts may nest this deep in what is read.
inline constexpr size_t kMaxNesting = 512;

/// More values than this are refused: at least 16 bytes of memory each.
inline constexpr size_t kMaxValues = size_t{1} << 24;

/// A whole number, also one written as text ("29") or as 29.0.
std::optional<int64_t> whole_number(const nlohmann::json& value);

/// The same; -1: it is none that an int holds.
int small_number(const nlohmann::json& value);

/// Any number, also one written as text.
std::optional<double> real_number(const nlohmann::json& value);

/// true or false, also as 0 or 1.
std::optional<bool> truth(const nlohmann::json& value);

/// A text; empty if it is none. Valid as long as the value.
std::string_view text_of(const nlohmann::json& value);

/// The last member of that name; null if there is none. Valid as long as the value.
const nlohmann::json& member(const nlohmann::json& dict, const char* name);

/// The value if it is a list, or a dict; else null, in which there is nothing to go through.
const nlohmann::json& as_list(const nlohmann::json& value);
const nlohmann::json& as_dict(const nlohmann::json& value);

// A JSON text as plain data.
//
//   {"version": "2.4", "entri          → problem: "the JSON text is malformed or cut at byte 26"

/// Reads one JSON value. Never throws for what the bytes are: ParsedDocument::problem says where
/// and why they were refused. Nothing but blanks may follow the value.
ParsedDocument read_json(std::string_view bytes);

/// Bytes of the object or list that the bytes begin with, up to its last bracket; all of them if it
/// is cut. Brackets are counted, and nothing else is checked.
size_t json_size(std::string_view bytes);

// A Python pickle as plain data, without Python and without running anything.
//
//   80 02 7d 71 00 58 07 00 00 00 "version" …  → {"version": …}
//   80 04 8c 02 "os" 8c 06 "system" 93 …       → problem: "STACK_GLOBAL at byte 14 imports a name,
//                                                 which plain data never does"
//
// A pickle is a program for a small stack machine. Only the opcodes that make None, truth values,
// numbers, texts, lists, tuples and dicts are carried out; any other one ends the reading. Lengths
// in the file are compared with what is left of it before they are believed, so nothing is
// allocated for a text that is not there. A pickle may refer to one value many times, and even to
// itself: where writing that out takes far more memory than the file, it is refused.

/// Reads a pickle of protocol 0 to 5. Never throws for what the bytes are: ParsedDocument::problem
/// says with opcode and offset why they were refused. What follows the end of the pickle is not
/// looked at; `used`, where it is given, becomes the number of bytes before it.
ParsedDocument read_pickle(std::string_view bytes, size_t* used = nullptr);

}  // namespace ncclog
