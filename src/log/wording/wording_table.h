// The wording engine: which message is this text, and what do its holes hold?
//
//   "comm {comm} rank {rank} nranks {nranks} ... - Init COMPLETE"
//   → "comm " <hex> " rank " <int> " nranks " <int> ... " - Init COMPLETE"
//
//   wordings        compiled to literals with typed holes between them: one linear scan
//   WordIndex       the few wordings that a text with a certain word can have
//   WordingTable    all wordings of all kinds, found by the first word of the text
//
// Matching allocates nothing and touches each byte a constant number of times.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "log/wording/message_kind.h"

namespace ncclog {

// A wording compiled for matching (compile_wording in log/wording/message_file.h): literals with
// typed holes between them, one linear scan.
//
//   "comm {comm} rank {rank} nranks {nranks} ... - Init COMPLETE"
//   → "comm " <hex> " rank " <int> " nranks " <int> ... " - Init COMPLETE"
//
// No backtracking: a text hole ends at the first occurrence of the literal
// after it (before the last literal: at the end), a number hole where the digits end. Matching
// allocates nothing and touches each byte a constant number of times.

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

/// Steps with which both begin, at most Trail::kLongest - 1.
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

// Which wordings can a text have, going by one word of it?
//
//   "Connected" → "Connected all rings", "Connected all trees", "Connected to proxy localRank …"
//
// Behind the word the next bytes are asked too, so that of dozens of wordings that begin with
// "NET/IB:" one or two are left to be matched. Order among the wordings of a word is kept.

/// A wording that texts may have.
struct Candidate {
  const Wording* wording = nullptr;
  /// What always stands behind the word by which it is found; may be nothing.
  LeadingBytes behind = {};
  size_t shared = 0;  ///< Steps with which the wording before it in the list begins, too.

  /// `bytes`: bytes_at(text, end of the word).
  bool may_fit(uint64_t bytes) const { return ((bytes ^ behind.bytes) & behind.mask) == 0; }
};

/// The bytes of `text` up to the first blank.
std::string_view first_word(std::string_view text);

/// What always stands behind the first blank of texts that the holes of the wording fit, up to the
/// next hole; empty: that differs.
std::string_view behind_first_blank(const Wording& wording);

/// Candidates by word: a hash table. Filled, finished, then only read.
class WordIndex {
 public:
  /// `behind`: what texts of this wording always have behind the word; may be empty. The bytes of
  /// `word` must outlive the index.
  void add(std::string_view word, const Wording& wording, std::string_view behind);

  /// To be called once all is added.
  void finish();

  /// Those of `word`, in the order in which they were added.
  std::span<const Candidate> find(std::string_view word) const;

 private:
  struct Slot {
    std::string_view word;  ///< Empty: a free slot.
    std::span<const Candidate> candidates;
  };

  std::unordered_map<std::string_view, std::vector<Candidate>> candidates_;
  std::vector<Slot> slots_;  ///< A power of two, at most half of them used.
};

// Which message is this? All wordings of all kinds, found by the first word of
// the text.
//
// Most wordings begin with a word of their own ("Connected all rings"): an index by the text's
// first word names the few candidates. Wordings that begin with a name ("{name:word} set by
// environment to {value...}") are found by the second word, those that begin in the middle of a
// word by their first byte; what remains is tried last.

/// Wordings in the order in which they are tried: under the text's first word, its second word, its
/// first byte, and those that may begin with anything. Filled, finished, then only read.
class Dispatch {
 public:
  void add(const Wording& wording);

  /// To be called once all is added.
  void finish();

  /// Reads the message that `text` is into `message`, which must be fresh and stays so, with
  /// nullptr as its kind, if no wording fits.
  void read(std::string_view text, Message& message) const;

  Message parse(std::string_view text) const {
    Message message;
    read(text, message);
    return message;
  }

 private:
  bool fits_any(std::string_view text, Message& message) const;

  std::deque<std::string> words_;  ///< Texts of dispatch words that no wording spells whole.
  WordIndex by_first_word_;
  WordIndex by_second_word_;
  std::array<std::vector<Candidate>, 256> by_first_byte_;
  std::vector<Candidate> open_;
};

/// All kinds and how their wordings are found. Any number of threads may use one table.
struct WordingTable {
  WordingTable() = default;
  /// Enters the wordings of `all`, which must outlive the table.
  explicit WordingTable(std::span<const Kind> all) : kinds(all) { enter_wordings(); }
  WordingTable(const WordingTable&) = delete;
  WordingTable& operator=(const WordingTable&) = delete;

  std::span<const Kind> kinds;
  std::unordered_map<std::string_view, const Kind*> by_name;
  Dispatch nccl;     ///< What an NCCL line carries after its header.
  Dispatch foreign;  ///< Lines without one: framework, pasted output, or a quoted NCCL text.

  // What `kinds` views into, where those are no constants.
  std::vector<Kind> own_kinds;
  WordingStore store;
  std::deque<std::vector<Field>> fields;
  std::deque<std::vector<Wording>> wordings;

  /// Makes the wordings of `kinds` found; to be called once.
  void enter_wordings();

  /// Every wording that fits `text`, for whoever wants exactly one to fit.
  std::vector<const Wording*> all_matches(std::string_view text, Source source) const;
};

}  // namespace ncclog
