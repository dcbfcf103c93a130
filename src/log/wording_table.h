// Which message is this? All wordings of all kinds, found by the first word of
// the text.
//
// Most wordings begin with a word of their own ("Connected all rings"): an index by the text's
// first word names the few candidates. Wordings that begin with a name ("{name:word} set by
// environment to {value...}") are found by the second word, those that begin in the middle of a
// word by their first byte; what remains is tried last.

#pragma once

#include <array>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/message_kind.h"
#include "log/word_index.h"

namespace ncclog {

/// Wordings in the order in which they are tried: under the text's first word, its second word, its
/// first byte, and those that may begin with anything.
struct Dispatch {
  WordIndex by_first_word;
  WordIndex by_second_word;
  std::array<std::span<const Wording* const>, 256> by_first_byte;
  std::span<const Wording* const> open;
};

/// All kinds and how their wordings are found. The built-in one is a constant that the build makes;
/// any number of threads may use one table.
struct WordingTable {
  std::span<const Kind> kinds;
  Dispatch nccl;
  Dispatch foreign;

  /// Reads the message that an NCCL line carries after its header into `message`, which must be
  /// fresh and stays so, with nullptr as its kind, if no wording fits.
  void read_nccl(std::string_view text, Message& message) const;

  /// The same for a line without NCCL header: framework, pasted output, or a quoted NCCL text.
  void read_foreign(std::string_view text, Message& message) const;

  Message parse_nccl(std::string_view text) const;
  Message parse_foreign(std::string_view text) const;

  /// Every wording that fits `text`, for whoever wants exactly one to fit.
  std::vector<const Wording*> all_matches(std::string_view text, Source source) const;
};

/// The lists of a dispatch while it is filled; `dispatch` views into them.
class DispatchBuilder {
 public:
  void add(const Wording& wording);

  /// Valid until the next add, and as long as the builder.
  Dispatch dispatch();

 private:
  std::deque<std::string> words_;  ///< Texts of dispatch words that no wording spells whole.
  WordIndexBuilder by_first_word_;
  WordIndexBuilder by_second_word_;
  std::array<std::vector<const Wording*>, 256> by_first_byte_;
  std::vector<const Wording*> open_;
};

}  // namespace ncclog
