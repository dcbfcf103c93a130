// A wording compiled for matching: literals with typed holes between them, one
// linear scan.
//
//   "comm {comm} rank {rank} nranks {nranks} ... - Init COMPLETE"
//   → "comm " <hex> " rank " <int> " nranks " <int> ... " - Init COMPLETE"
//
// No backtracking: a text hole ends at the first occurrence of the literal
// after it (before the last literal: at the end), a number hole where the digits end. Matching
// allocates nothing and touches each byte a constant number of times.

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "log/message_kind.h"

namespace ncclog {

/// What a hole accepts.
enum class HoleType { None, Text, Word, Integer, Integers, Hex, Choice, Rest };

/// The first bytes of a text as one number, to be compared at once.
struct LeadingBytes {
  uint64_t bytes = 0;
  uint64_t mask = 0;  ///< 0xFF for each byte that the text has, eight at most.
};

/// Those of `text`.
LeadingBytes leading_bytes(std::string_view text);

/// The eight bytes of `text` from `at` on, zeros behind its end.
inline uint64_t bytes_at(std::string_view text, size_t at) {
  uint64_t bytes = 0;
  if (at + sizeof(bytes) <= text.size()) {
    std::memcpy(&bytes, text.data() + at, sizeof(bytes));
  } else if (at < text.size()) {
    std::memcpy(&bytes, text.data() + at, text.size() - at);
  }
  return bytes;
}

/// A literal and the hole that follows it.
struct PatternStep {
  std::string_view literal;  ///< Must stand here; may be empty only before the first hole.
  LeadingBytes leading;      ///< Of `literal`.
  HoleType hole = HoleType::None;
  int field = -1;            ///< Index of the kind's field to fill; -1: matched and forgotten.
  std::string_view next;     ///< The literal behind the hole; empty: there is none.
  bool before_last = false;  ///< The hole is text, and `next` ends the wording.
  std::vector<std::string_view> choices;  ///< For Choice; longer words before their prefixes.
};

/// A compiled wording. Its views point into the kind's static texts.
struct WordingPattern {
  const Kind* kind = nullptr;
  const Wording* wording = nullptr;
  std::vector<PatternStep> steps;
};

/// Compiles one wording of `kind`. A malformed wording is a defect of the program: it throws
/// std::logic_error naming the wording, and a test compiles them all.
WordingPattern compile_wording(const Kind& kind, const Wording& wording);

/// True if all of `text` fits; then `message` holds the kind and the captured fields. `message` is
/// unspecified after false. Trailing blanks of `text` are ignored.
bool match_wording(const WordingPattern& pattern, std::string_view text, Message& message);

}  // namespace ncclog
