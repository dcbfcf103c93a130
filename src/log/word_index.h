// Which wordings can a text have, going by one word of it?
//
//   "Connected" → "Connected all rings", "Connected all trees", "Connected to proxy localRank …"
//
// Behind the word the next bytes are asked too, so that of dozens of wordings that begin with
// "NET/IB:" one or two are left to be matched. Order among the wordings of a word is kept.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "log/wording_pattern.h"

namespace ncclog {

/// A wording that texts with a certain word may have.
struct Candidate {
  const Wording* wording = nullptr;
  LeadingBytes behind;  ///< What always stands behind the word; may be nothing.
  size_t shared = 0;    ///< Steps with which the wording before it in the list begins, too.

  /// `bytes`: bytes_at(text, end of the word).
  bool may_fit(uint64_t bytes) const { return ((bytes ^ behind.bytes) & behind.mask) == 0; }
};

/// The bytes of `text` up to the first blank.
std::string_view first_word(std::string_view text);

/// Candidates by word: a hash table that is a constant, or was made by WordIndexBuilder.
struct WordIndex {
  struct Slot {
    std::string_view word;  ///< Empty: a free slot.
    std::span<const Candidate> candidates;
  };
  std::span<const Slot> slots;  ///< A power of two, at most half of them used.

  /// Those of `word`, in their order.
  std::span<const Candidate> find(std::string_view word) const;
};

/// Fills an index. What it made views into it and lives as long.
class WordIndexBuilder {
 public:
  /// `behind`: what texts of this wording always have behind the word; may be empty. The bytes of
  /// `word` must outlive the index.
  void add(std::string_view word, const Wording& wording, std::string_view behind);

  /// Valid until the next add.
  WordIndex index();

 private:
  struct Entry {
    std::string_view word;
    std::vector<Candidate> candidates;
  };
  std::vector<Entry> entries_;
  std::vector<size_t> places_ = std::vector<size_t>(16);  ///< In entries_, plus one; 0: free.
  std::vector<WordIndex::Slot> slots_;
};

}  // namespace ncclog
