// How is a report kept within the 65,536 characters that an issue on GitHub may have?
//
//   | NCCL_DEBUG | INFO | 0-1023 |
//   …
//   412 more settings are left out here.
//
// Every section has room for so many bytes. It is made of pieces (rows, findings, list items), of
// which the first ones that fit are shown; how many are left out is said.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "report/table.h"

namespace ncclog {

/// The pieces that still fit into `bytes`, in order, and a line that counts the others: "2 more
/// `what`s are left out here." The line comes on top of `bytes`; every piece ends with a newline.
std::string fitted(std::span<const std::string> pieces, size_t bytes, std::string_view what);

/// A section that a reader opens by a click. `title` is ours; `body` is Markdown.
std::string collapsed(std::string_view title, std::string_view body);

/// A table of GitHub's Markdown with the rows that fit into `bytes`; columns without a value are
/// left out. Empty for a table without rows. Cells hold up to kMaxCellBytes; notes are left out.
std::string markdown_table(const Table& table, size_t bytes, std::string_view what);

/// Of a longer cell the beginning and the end are shown.
inline constexpr size_t kMaxCellBytes = 160;

}  // namespace ncclog
