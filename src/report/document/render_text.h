// A document on a terminal.
//
//   PROBLEM   Rank 1 on trainbox could not extend a segment.      Statement, main
//             certain cause, shm-no-space; rank 1 on trainbox     Labelled, without a label
//
//     seen    logs/run.txt:2                                      Quotes
//             … NCCL WARN Error: failed to extend /dev/shm/nc…
//     fix     Start the container with --shm-size=1g.             Items, with a label
//
//   Worth knowing                                                 Section, its heading
//     - P2P is switched off by NCCL_P2P_DISABLE.                  Items
//
// No text steers the terminal: all pass through printable().

#pragma once

#include <string>

#include "report/document/document.h"
#include "report/text_layout.h"

namespace ncclog {

/// An empty line between sections, a newline at the end.
std::string render_text(const Document& document, const TextStyle& style);

}  // namespace ncclog
