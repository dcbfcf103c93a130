// A document on a terminal.
//
//   Next                                                         Section, its heading
//     - Look at what the program of rank 5 does before …         Items
//
//   error    train.sh:8  NCCL_SOCKET_IFNAME==eth0                Statement about a Quote
//            admits none of the interfaces of node-a: lo, ens5
//            → NCCL_SOCKET_IFNAME=ens5
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
