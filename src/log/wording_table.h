// Which message is this? All wordings of all kinds, found by the first word of
// the text.
//
// Most wordings begin with a word of their own ("Connected all rings"): a hash of the text's first
// word names the few candidates. Wordings that begin with a name ("{name:word} set by environment
// to {value...}") are found by the second word, those that begin in the middle of a word by their
// first byte; what remains is tried last.

#pragma once

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "log/wording_pattern.h"

namespace ncclog {

/// The compiled wordings. Built once, then only read: any number of threads may use one table.
class WordingTable {
 public:
  explicit WordingTable(std::span<const Kind> kinds);

  /// The message that an NCCL line carries after its header; kind is nullptr if no wording fits.
  Message parse_nccl(std::string_view text) const { return parse(nccl_, text); }

  /// The message of a line without NCCL header: framework, pasted output, or a quoted NCCL text.
  Message parse_foreign(std::string_view text) const { return parse(foreign_, text); }

  /// Every wording that fits `text`, for the test that says exactly one does.
  std::vector<const WordingPattern*> all_matches(std::string_view text, Source source) const;

 private:
  /// Patterns in the order in which they are tried: under the text's first word, its second word,
  /// its first byte, and those that may begin with anything.
  struct Dispatch {
    std::unordered_map<std::string_view, std::vector<const WordingPattern*>> by_first_word;
    std::unordered_map<std::string_view, std::vector<const WordingPattern*>> by_second_word;
    std::array<std::vector<const WordingPattern*>, 256> by_first_byte;
    std::vector<const WordingPattern*> open;
  };

  static bool find(const Dispatch& dispatch, std::string_view text, Message& message);
  static Message parse(const Dispatch& dispatch, std::string_view text);
  void add(Dispatch& dispatch, const WordingPattern& pattern);

  std::deque<std::string> words_;         ///< Texts of dispatch words that no wording spells whole.
  std::vector<WordingPattern> patterns_;  ///< Never resized after construction: others point here.
  Dispatch nccl_;
  Dispatch foreign_;
};

}  // namespace ncclog
