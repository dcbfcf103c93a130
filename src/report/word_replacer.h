// Replaces known words in a text, all of them in one pass.
//
//   {"gpu-node-1" → "host-1", "alice" → "user-1"}
//   "nccl-log.gpu-node-1.77.txt of Alice" → "nccl-log.host-1.77.txt of user-1"
//   "gpu-node-12"                          stays: that is another name
//
// A word counts where no letter or digit joins on; a longer one of kLongWord bytes also inside of
// others, as long as no digit continues its number. Case matters for words below four bytes only.
// Of several the longest one is taken.

#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ncclog {

class WordReplacer {
 public:
  /// Words from here on are found inside of others, too.
  static constexpr size_t kLongWord = 8;

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

  bool contains(std::string_view word) const;

 private:
  struct Entry {
    std::string word;  ///< Lower case where case does not matter.
    std::string replacement;
  };

  std::bitset<65536> first_bytes_;  ///< By the first two bytes, lower case: some word begins so.
  std::unordered_map<uint16_t, std::vector<Entry>> by_start_;  ///< Longest first.
};

}  // namespace ncclog
