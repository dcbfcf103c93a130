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

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "report/tables/table.h"

namespace ncclog {

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
