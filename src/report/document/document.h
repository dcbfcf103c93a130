// What does ncclog say, before anybody decides how it looks?
//
//   Section{"Next", {Items{.items = {"Look at …"}}}}
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
#include <utility>
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

/// A word that judges ("error", "yes", "PROBLEM") and the sentence that it is about. Without a word
/// it goes on with the statement of less depth above.
struct Statement {
  std::string word;
  Tone tone = Tone::Plain;  ///< Of the word.
  Quote about;              ///< What is judged; empty: the sentence says it.
  std::string text;
  std::string hint;  ///< What to do about it; may be empty.
  int depth = 0;
  bool main = false;  ///< A verdict or a finding: what is labelled below belongs to it.
};

struct Paragraph {
  std::string text;
  int depth = 0;
};

/// "why": a text. Without a label it goes on with the one above.
struct Labelled {
  std::string label;
  std::string text;
};

/// Points of a list, or texts below one label. A command below a label is typed as it stands.
struct Items {
  std::string label;
  std::vector<std::string> items;
};

/// Lines to be pasted.
struct Code {
  std::vector<std::string> lines;
};

/// Lines that show what is said. Without a label: what the statement of less depth above says.
struct Quotes {
  std::string label;
  std::vector<Quote> quotes;
  uint64_t more = 0;  ///< Lines that are not quoted.
  int depth = 0;
};

using Block = std::variant<Statement, Paragraph, Labelled, Items, Code, Quotes, Table>;

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

/// Adds a section, unless it would be empty.
inline void add_section(Document& document, std::string heading, std::vector<Block> blocks) {
  if (!blocks.empty()) document.sections.push_back({std::move(heading), std::move(blocks)});
}

/// Adds a section that is a list of points, unless there are none.
inline void add_points(Document& document, std::string heading, std::vector<std::string> points) {
  if (!points.empty()) add_section(document, std::move(heading), {Items{"", std::move(points)}});
}

}  // namespace ncclog
