// Message files: what a library prints, as data, and how the table of wordings is built of them.
//
//   # The network is chosen, once per communicator.
//   network_selected  nccl INIT  typed
//     network:text  "Socket", "IB", or what a plugin calls itself.
//     ! degraded system  What the wordings below mean at level WARN, until the next of these lines.
//     = Using network {network...}
//     @ quotable
//     > Using network AWS Libfabric
//
// src/log/messages/README.md explains each part. A mistake is an Error with file, line and column,
// and the nearest valid word.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "log/wording/message_kind.h"
#include "log/wording/wording_table.h"

namespace ncclog {

/// Where something stands in a message file; both count from 1.
struct FilePlace {
  std::string file;
  int line = 0;
  int column = 0;
};

/// Throws the Error of a place in a message file.
[[noreturn]] void fail_at(const FilePlace& place, const std::string& what,
                          const std::string& hint = {});

struct FieldText {
  std::string name;
  FieldType type = FieldType::Text;
  bool wide = false;  ///< A 64-bit integer in the struct of a typed kind.
  std::string meaning;
};

struct WordingText {
  std::string text;
  std::string example;
  bool quotable = false;
  bool general = false;
  const Recogniser* recogniser = nullptr;  ///< nullptr: the holes match.
  WarnSeverity severity = WarnSeverity::None;
  WarnOrigin origin = WarnOrigin::System;
  std::string meaning;  ///< Of the WARN.
  FilePlace place;      ///< Of the text's first byte.
  FilePlace example_place;
};

/// A kind as its file states it.
struct KindText {
  std::string name;
  Library library = Library::Nccl;
  Subsystem subsystem = Subsystem::None;
  bool typed = false;    ///< The build makes a struct of it.
  std::string meaning;   ///< The comment before it; lines separated by '\n'.
  std::string replaces;  ///< Kind whose wordings it takes away; may be empty.
  std::vector<FieldText> fields;
  std::vector<WordingText> wordings;
  FilePlace place;
};

/// The kinds of one file's text. `file` is its name in messages. Throws Error for a mistake that
/// the text alone shows; what needs the other kinds is found by build_messages.
std::vector<KindText> parse_message_file(std::string_view text, const std::string& file);

/// The steps of a wording of a kind with these fields; they live as long as the store. Throws Error
/// where `place`, that of the first byte, is not that of a wording that can be compiled. The bytes
/// of `text` must outlive the store.
std::span<const PatternStep> compile_wording(std::string_view text, std::span<const Field> fields,
                                             const FilePlace& place, WordingStore& store);

// From the kinds of message files to the table by which lines are understood.
//
// The generator (log/messages/make_messages.cc) builds the built-in kinds this way and writes them
// down as constants; --messages builds one more when the program runs, of the built-in kinds and
// those that files add. Both prove the same of every wording: its example is read as its own kind,
// by itself, and no other wording fits it.

/// Builds a table of the `known` kinds and those that are `added` to them, in this order: where two
/// wordings fit a line, the first one wins. A kind that is known already gets further wordings. A
/// kind that `replaces:` another takes that one's wordings away. Throws Error for what is wrong
/// with an added kind.
void build_messages(std::span<const Kind> known, std::span<const KindText> added,
                    WordingTable& result);

}  // namespace ncclog
