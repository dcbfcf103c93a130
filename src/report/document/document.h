// What does ncclog say, before anybody decides how it looks?
//
//   Section{"Next", {Items{.items = {"Look at …"}}}}
//
//   → Next
//       - Look at what the program of rank 5 does before AllReduce, call 8.
//
// A document knows no widths, colours or escapes. Its texts may hold any bytes of the logs: the
// renderer of a format (render_text and so on) makes them harmless and decides what each block
// looks like, and nothing else. What stands between backquotes is code.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/job.h"
#include "report/graph/graph.h"
#include "report/tables/table.h"
#include "report/text_layout.h"

namespace ncclog {

/// A place and what stands there: "train.log:40" and its line. Either may be empty.
struct Quote {
  std::string place;
  std::string text;
  std::string clock = {};  ///< "12:04:11", for who cannot show all of the text; may be empty.
  std::string keep = {};   ///< Words of the text that such a one shows, too; may be empty.
};

/// A word that judges ("error", "yes", "PROBLEM") and the sentence that it is about. Without a word
/// it goes on with the statement of less depth above.
struct Statement {
  std::string word;
  Quote about;           ///< What is judged; empty: the sentence says it.
  std::string text;      ///< May be empty where `standing` is not.
  std::string hint;      ///< What to do about it; may be empty.
  Quote shown = {};      ///< The line that decides it, right below; empty: none.
  std::string standing;  ///< How sure it is, what it is called, whom it is about; may be empty.
  int depth = 0;
  bool main = false;  ///< A verdict or a finding: what is labelled below belongs to it.
};

/// True if there is nothing but the word: a title of what stands below.
bool is_title(const Statement& statement);

/// The tone of a word that judges, the same wherever it stands; `otherwise` for all other words.
Tone tone_of(std::string_view word, Tone otherwise = Tone::Plain);

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
  bool are_sources = false;  ///< References of a rule, which a page links where it knows them.
};

/// True for an item that is typed as it stands. Prose starts with a capital or ends a sentence.
bool is_command(std::string_view item);

/// Lines to be pasted.
struct Code {
  std::vector<std::string> lines;
};

/// Lines that show what is said. Without a label: what the statement of less depth above says.
struct Quotes {
  std::string label;
  std::vector<Quote> quotes;
  std::vector<Quote> rest;  ///< Of less interest; counted where they do not fold.
  uint64_t more = 0;        ///< Lines that are not quoted.
  int depth = 0;
};

/// Names of parts of this document, with their ids: "1 other finding: peer-closed (rank 3)".
struct Links {
  std::string label;
  std::string lead;
  std::vector<std::pair<std::string, std::string>> links;  ///< Text and id.
};

/// What is known of a thing, value by value; `tally`: numbers of what a name says.
struct KeyValues {
  std::vector<Labelled> rows;
  bool tally = false;
};

/// One of several bars below each other, made of parts that are told apart by their names.
struct Bar {
  std::string label;
  std::vector<std::pair<std::string, uint64_t>> parts;
};

/// How ranks stand, host by host. Of a large job those of a host that are alike share a cell, and
/// hosts that are alike a row.
struct RankGrid {
  enum class State { Attributed, Waiting, Failed, NotSeen, Finished, Other };
  struct Cell {
    std::string ranks;  ///< "3", "8-15", "pid 41".
    State state = State::Other;
    std::string reason;  ///< In a sentence, who it is first.
    size_t count = 1;
  };
  struct Host {
    std::string name;
    std::vector<Cell> cells;
  };
  std::vector<Host> hosts;  ///< None is without cells.
};
constexpr std::string_view enum_words(RankGrid::State) {
  return "attributed|waiting|failed|not_seen|finished|other";
}

/// Lanes over one scale of time, in nanoseconds.
struct TimeChart {
  enum class Kind { Init, Calls, Silence, Moment, Failure };
  struct Span {
    int64_t from = 0;
    int64_t to = 0;
    std::string title;
    Kind kind = Kind::Moment;
  };
  struct Lane {
    std::string name;
    int64_t first = 0;
    int64_t last = 0;
    std::vector<Span> spans;  ///< By kind: the last ones are drawn above others.
  };
  int64_t begin = 0;
  int64_t end = 0;
  std::vector<Lane> lanes;
  std::optional<Span> verdict;  ///< The moment of what the verdict is about, of no length.
};

/// Curves over one scale of sizes in powers of two, and straight lines across.
struct CurveChart {
  struct Curve {
    std::string name;
    std::vector<std::pair<int64_t, double>> points;  ///< Bytes above 0, ascending, and GB/s.
  };
  struct Level {
    std::string name;
    double at = 0;  ///< GB/s
  };
  std::vector<Curve> curves;  ///< At least one, none of them empty.
  std::vector<Level> lines;
};

/// Something drawn, and the same as a table; a graph without one is told by graph_lines().
struct Figure {
  std::string name;
  std::variant<TransportMatrix, RankGrid, TimeChart, std::vector<Bar>, CurveChart, Graph> drawing;
  Table table;
};

/// What stands for a figure where nothing can be drawn.
std::variant<Table, Code> text_form(const Figure& figure);

/// What stands for links where none can be followed.
Labelled text_form(const Links& links);

using Block = std::variant<Statement, Paragraph, Labelled, Items, Code, Quotes, Links, KeyValues,
                           Table, Figure>;

/// What stands together, with or without a heading.
struct Section {
  std::string heading;  ///< Toned by its first word, if that judges.
  std::vector<Block> blocks;
  std::string aside;           ///< Behind the heading: the title of a rule whose id is the heading.
  std::string id;              ///< What links name; may be empty.
  std::vector<Section> parts;  ///< Below the blocks.
  /// Opened by those who want it; a screen leaves it out. An issue folds sections; a page has room
  /// for them, and folds their parts.
  bool folds = false;
};

struct Document {
  std::vector<Section> sections;
  Statement lead = {};    ///< The verdict, above all sections; without a word there is none.
  std::string signature;  ///< Which program and which rules say so; may be empty.
};

/// Adds a section, unless it would be empty.
inline void add_section(Document& document, std::string heading, std::vector<Block> blocks) {
  if (!blocks.empty()) document.sections.push_back({std::move(heading), std::move(blocks)});
}

/// Adds a section that is a list of points, unless there are none.
inline void add_points(Document& document, std::string heading, std::vector<std::string> points,
                       std::string id = {}) {
  if (points.empty()) return;
  document.sections.push_back(
      {std::move(heading), {Items{"", std::move(points)}}, "", std::move(id)});
}

/// Adds `most` of the items at most, unless there are none.
void add_items(std::string label, const std::vector<std::string>& items, size_t most,
               std::vector<Block>& blocks);

// A document in each format: on a terminal, in an issue, in a browser.
//
//   PROBLEM   Rank 1 on trainbox could not extend a segment.      the lead
//             run.txt:2  NCCL WARN Error: failed to extend …      the line shown
//             cause (certain), shm-no-space; rank 1 on trainbox   its standing
//
//     seen    logs/run.txt:2                                      Quotes
//             … NCCL WARN Error: failed to extend /dev/shm/nc…
//     fix     Start the container with --shm-size=1g.             Items, with a label
//
//   Worth knowing                                                 Section, its heading
//     - P2P is switched off by NCCL_P2P_DISABLE.                  Items
//
// No text steers what shows it: all pass through printable(), markdown_text() or html_text().

/// The verdict alone, in one line however long, with a newline at the end.
std::string lead_line(const Document& document, const TextStyle& style);

/// An empty line between sections, a newline at the end. What folds is left out.
std::string render_text(const Document& document, const TextStyle& style);

/// As GitHub renders it, within kMaxMarkdown bytes whatever the document: sections share the room,
/// and say what they leave out. Its first line, which nobody sees, keeps it from being read as a
/// log where it lies beside logs (input/find_inputs.h).
std::string render_markdown(const Document& document);

/// Bytes, so never fewer than characters. GitHub refuses issues of more than 65,536 characters; the
/// rest is for what people write themselves.
inline constexpr size_t kMaxMarkdown = 60'000;

/// One page with everything. No request leaves it, its content security policy forbids any; it can
/// be read without its script, in light and in dark, on a phone and on paper. How large it may be
/// does not depend on the document: tables and drawings are cut, and say so.
std::string render_html(const Document& document);

// Pieces of Markdown (markdown.cc).
//
// How does any text stand in Markdown as what it is, and as nothing else? And how is a report kept
// within the 65,536 characters that an issue on GitHub may have?
//
//   rank <b>3</b> | @ops, see #12    →  rank &lt;b&gt;3&lt;/b&gt; \| `@ops`, see `#12`
//   NCCL_IB_HCA=mlx5_0               →  `NCCL_IB_HCA=mlx5_0`
//
// Logs hold whatever people name their hosts and print. On GitHub a text may become HTML, a link,
// an image, a table's edge, an emoji, a formula, a mention that notifies somebody or a reference to
// an issue. The last three are looked for after Markdown is done, so a backslash does not stop
// them: words that could be one stand in a code span, where GitHub looks for nothing. That also
// keeps them exact for who copies them.
//
// What takes text takes any bytes and gives valid UTF-8 without control codes, as printable() does.

/// Prose on one line. What stands between a pair of backquotes becomes a code span.
std::string markdown_text(std::string_view text);

/// The same for a table's cell, in which no "|" may be left, not even in a code span.
std::string markdown_cell(std::string_view text);

/// All of it as one code span; empty for blanks.
std::string markdown_code(std::string_view text);

/// Lines as a block of code whose fence is longer than any in them. `language` is ours, or empty.
/// Newlines inside a line are shown as control codes.
std::string markdown_fence(std::span<const std::string> lines, std::string_view language);

/// Valid UTF-8 of at most `bytes` and a few: of a longer text the beginning, "…" and the end, for
/// errors stand at the end of a line.
std::string shortened(std::string_view text, size_t bytes);

// A list is made of pieces (rows, points, sections), of which the first ones that fit are shown;
// how many are left out is said.

/// The pieces that still fit into `bytes`, in order, and a line that counts the others: "2 more are
/// left out here." The line comes on top of `bytes`; every piece ends with a newline.
std::string fitted(std::span<const std::string> pieces, size_t bytes);

/// A table of GitHub's Markdown with the rows that fit into `bytes`; columns without a value are
/// left out. Empty for a table without rows. Of long cells the beginning and the end are shown;
/// notes are left out.
std::string markdown_table(const Table& table, size_t bytes);

}  // namespace ncclog
