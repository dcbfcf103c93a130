// What does ncclog say, before anybody decides how it looks?
//
//   Section{"Next", {Items{{"Look at …"}}}}
//
//   → Next
//       - Look at what the program of rank 5 does before AllReduce, call 8.
//
// A document knows no widths, colours or escapes. Its texts may hold any bytes of the logs: the
// renderer of a format makes them harmless and decides what each block looks like. What stands
// between backquotes is code.

#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "report/tables/table.h"
#include "report/text_layout.h"

namespace ncclog {

/// A place and what stands there: "train.log:40" and its line. Either may be empty.
struct Quote {
  std::string place;
  std::string text;
};

/// A word that judges ("error", "yes") and the sentence that it is about. Without a word it goes on
/// with the statement of less depth above, or with the one beside it.
struct Statement {
  std::string word;
  Tone tone = Tone::Plain;  ///< Of the word.
  Quote about;              ///< What is judged; empty: the sentence says it.
  std::string text;
  std::string hint;  ///< What to do about it; may be empty.
  int depth = 0;
};

struct Paragraph {
  std::string text;
  int depth = 0;
};

/// "Nothing to remark on": a text.
struct Labelled {
  std::string label;
  std::string text;
};

/// A list of points.
struct Items {
  std::vector<std::string> items;
};

/// The line that shows what the statement of less depth above says.
struct Quotes {
  Quote first;
  uint64_t more = 0;  ///< Lines like it.
  int depth = 0;
};

using Block = std::variant<Statement, Paragraph, Labelled, Items, Quotes, Table>;

/// What stands together, with or without a heading.
struct Section {
  std::string heading;
  std::vector<Block> blocks;
  Tone tone = Tone::Strong;  ///< Of the heading.
  std::string aside;         ///< Behind the heading: the title of a rule whose id is the heading.
};

struct Document {
  std::vector<Section> sections;
};

}  // namespace ncclog
