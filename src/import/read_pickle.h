// A Python pickle as plain data, without Python and without running anything.
//
//   80 02 7d 71 00 58 07 00 00 00 "version" …  → Dict{"version": …}
//   80 04 8c 02 "os" 8c 06 "system" 93 …       → problem: "STACK_GLOBAL at byte 14 imports a name,
//                                                 which plain data never does"
//
// A pickle is a program for a small stack machine. Only the opcodes that make None, truth values,
// numbers, texts, lists, tuples and dicts are carried out; any other one ends the reading. Lengths
// in the file are compared with what is left of it before they are believed, so nothing is
// allocated for a text that is not there.

#pragma once

#include <string_view>

#include "import/document.h"

namespace ncclog {

/// Reads a pickle of protocol 0 to 5. `bytes` must outlive the document. Never throws for what the
/// bytes are: Document::problem says with opcode and offset why they were refused. Bytes after the
/// end of the pickle are not looked at.
Document read_pickle(std::string_view bytes);

}  // namespace ncclog
