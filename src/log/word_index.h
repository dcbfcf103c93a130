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
  const WordingPattern* pattern = nullptr;
  LeadingBytes behind;  ///< What always stands behind the word; may be nothing.

  /// `bytes`: bytes_at(text, end of the word).
  bool may_fit(uint64_t bytes) const { return ((bytes ^ behind.bytes) & behind.mask) == 0; }
};

/// The bytes of `text` up to the first blank.
std::string_view first_word(std::string_view text);

/// Candidates by word. Filled once, then only read: any number of threads may ask.
class WordIndex {
 public:
  /// `behind`: what texts of this pattern always have behind the word; may be empty. The bytes of
  /// `word` must outlive the index.
  void add(std::string_view word, const WordingPattern& pattern, std::string_view behind);

  /// Those that were added under `word`, in that order. Valid until the next add.
  std::span<const Candidate> find(std::string_view word) const;

 private:
  struct Slot {
    std::string_view word;  ///< Empty: a free slot.
    std::vector<Candidate> candidates;
  };

  /// Where `word` is, or would be.
  size_t place_of(std::string_view word) const;
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(16);  ///< A power of two, at most half of them used.
  size_t used_ = 0;
};

}  // namespace ncclog
