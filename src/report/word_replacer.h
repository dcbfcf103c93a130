// Replaces known words in a text, all of them in one pass.
//
//   {"gpu-node-1" → "host-1", "alice" → "user-1"}
//   "nccl-log.gpu-node-1.77.txt of Alice" → "nccl-log.host-1.77.txt of user-1"
//   "gpu-node-12"                          stays: that is another name
//
// A word counts where no letter or digit joins on; one of kLongWord bytes also inside of others, as
// long as no digit continues its number ("xgpu-node-1a"), the other is no ordinary word ("chan" in
// "Channel") and no hexadecimal number ("beef" in 0xbeef04). Case matters for words below four
// bytes only. Of several the longest one is taken. A place costs one look-up for each length among
// the words that begin with its two bytes, however many there are.

#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "report/known_names.h"

namespace ncclog {

class WordReplacer {
 public:
  /// Words from here on are found inside of others, too.
  static constexpr size_t kLongWord = 4;

  /// Words in lower case inside of which none is looked for.
  void set_ordinary_words(const OrdinaryWords& words) { ordinary_ = words; }

  /// Adds a word of at least two bytes; the first replacement given for it holds.
  void add(std::string_view word, std::string_view replacement);

  /// A word that stands at `at`.
  struct Hit {
    size_t length = 0;  ///< 0: none does.
    std::string_view word;
    std::string_view replacement;  ///< Owned by the replacer.
  };
  Hit find(std::string_view text, size_t at) const;

  /// Appends text[begin, end) with the words in it replaced. What stands around counts for where a
  /// word ends.
  void append_replaced(std::string& out, std::string_view text, size_t begin, size_t end) const;

 private:
  /// Hashes a view as the string that it equals.
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
  };
  /// Replacements by word; lower case where case does not matter.
  using Words = std::unordered_map<std::string, std::string, Hash, std::equal_to<>>;
  using ByLength = std::map<size_t, Words, std::greater<>>;

  bool stands_alone(std::string_view text, size_t at, size_t length) const;

  OrdinaryWords ordinary_;
  std::bitset<65536> first_bytes_;  ///< By the first two bytes, lower case: some word begins so.
  std::unordered_map<uint16_t, ByLength> by_start_;
};

}  // namespace ncclog
