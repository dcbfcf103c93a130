// Which message is this? All wordings of all kinds, found by the first word of
// the text.
//
// Most wordings begin with a word of their own ("Connected all rings"): an index by the text's
// first word names the few candidates. Wordings that begin with a name ("{name:word} set by
// environment to {value...}") are found by the second word, those that begin in the middle of a
// word by their first byte; what remains is tried last.

#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "log/message_kind.h"

namespace ncclog {

struct WordingPattern;

/// The compiled wordings. Built once, then only read: any number of threads may use one table.
class WordingTable {
 public:
  explicit WordingTable(std::span<const Kind> kinds);
  ~WordingTable();

  /// Reads the message that an NCCL line carries after its header into `message`, which must be
  /// fresh and stays so, with nullptr as its kind, if no wording fits.
  void read_nccl(std::string_view text, Message& message) const;

  /// The same for a line without NCCL header: framework, pasted output, or a quoted NCCL text.
  void read_foreign(std::string_view text, Message& message) const;

  Message parse_nccl(std::string_view text) const;
  Message parse_foreign(std::string_view text) const;

  /// Every wording that fits `text`, for the test that says exactly one does.
  std::vector<const WordingPattern*> all_matches(std::string_view text, Source source) const;

 private:
  struct Patterns;
  std::unique_ptr<const Patterns> patterns_;
};

}  // namespace ncclog
