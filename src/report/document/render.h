// A document in each format: on a terminal, in an issue, in a browser.
//
//   PROBLEM   Rank 1 on trainbox could not extend a segment.      the lead
//             certain cause, shm-no-space; rank 1 on trainbox     its standing
//
//     seen    logs/run.txt:2                                      Quotes
//             … NCCL WARN Error: failed to extend /dev/shm/nc…
//     fix     Start the container with --shm-size=1g.             Items, with a label
//
//   Worth knowing                                                 Section, its heading
//     - P2P is switched off by NCCL_P2P_DISABLE.                  Items
//
// No text steers what shows it: all pass through printable(), markdown_text() or html_text().

#pragma once

#include <cstddef>
#include <string>

#include "report/document/document.h"
#include "report/text_layout.h"

namespace ncclog {

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

}  // namespace ncclog
