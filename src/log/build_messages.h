// From the kinds of message files to the table by which lines are understood.
//
// The generator (log/messages/make_messages.cc) builds the built-in table this way and writes it
// down as constants; --messages builds one more when the program runs, of the built-in kinds and
// those that files add. Both prove the same of every wording: its example is read as its own kind,
// by itself, and no other wording fits it.

#pragma once

#include <deque>
#include <span>
#include <vector>

#include "log/message_file.h"
#include "log/wording_table.h"

namespace ncclog {

/// A table and what it views into. Neither copied nor moved once it is built.
struct OwnedWordingTable {
  OwnedWordingTable() = default;
  OwnedWordingTable(const OwnedWordingTable&) = delete;
  OwnedWordingTable& operator=(const OwnedWordingTable&) = delete;

  WordingTable table;
  std::vector<Kind> kinds;
  WordingStore store;
  std::deque<std::vector<Field>> fields;
  std::deque<std::vector<Wording>> wordings;
  DispatchBuilder nccl;
  DispatchBuilder foreign;
};

/// Builds a table of the `known` kinds and those that are `added` to them, in this order: where two
/// wordings fit a line, the first one wins. A kind that is known already gets further wordings. A
/// kind that `replaces:` another takes that one's wordings away. Throws Error for what is wrong
/// with an added kind.
void build_messages(std::span<const Kind> known, std::span<const KindText> added,
                    OwnedWordingTable& result);

}  // namespace ncclog
