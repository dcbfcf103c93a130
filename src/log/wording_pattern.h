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

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "log/message_kind.h"

namespace ncclog {

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

/// What the views of compiled wordings point into, where they are no constants. Grows only.
struct WordingStore {
  std::deque<std::string> texts;
  std::deque<std::vector<std::string_view>> choices;
  std::deque<std::vector<PatternStep>> steps;

  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
};

/// A wording that cannot be compiled.
struct MalformedWording : std::runtime_error {
  MalformedWording(const std::string& what, size_t at, std::string advice = {})
      : std::runtime_error(what), offset(at), hint(std::move(advice)) {}
  size_t offset = 0;  ///< Byte of the wording that is to blame.
  std::string hint;   ///< May be empty.
};

/// The steps of a wording of a kind with these fields; they live as long as the store. Throws
/// MalformedWording. The bytes of `text` must outlive the store.
std::span<const PatternStep> compile_wording(std::string_view text, std::span<const Field> fields,
                                             WordingStore& store);

/// How far a wording came in a text, for the next one that is tried on it: both may begin with the
/// same steps.
struct Trail {
  static constexpr size_t kLongest = 24;
  /// Where each step began, down to the one that did not fit.
  std::array<const char*, kLongest> begins;
  const char* end = nullptr;         ///< Of the text, without trailing blanks.
  size_t failed = 0;                 ///< The step that did not fit; as many as it has: too short.
  const Wording* wording = nullptr;  ///< The one that was tried; nullptr: none.
};

/// Steps with which both begin, at most Trail::kLongest - 1; 0 unless they are of one kind.
size_t shared_steps(const Wording& a, const Wording& b);

/// True if all of `text` fits; then `message`, which must be fresh, holds the kind and the captured
/// fields. `message` is unspecified after false. Trailing blanks of `text` are ignored.
bool match_wording(const Wording& wording, std::string_view text, Message& message);

/// The same, after the wording of `trail` did not fit `text`: the first steps, as many as both
/// share, are not taken again. `message` and `trail` are as that try left them, or fresh.
bool match_wording_after(Trail& trail, size_t shared, const Wording& wording, std::string_view text,
                         Message& message);

/// How much of `text` the wording takes before it no longer fits: where an example and its wording
/// part.
size_t matched_bytes(const Wording& wording, std::string_view text);

}  // namespace ncclog
