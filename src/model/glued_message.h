// Does an NCCL message hold more than its process printed?
//
//   Using network Using network Socket      a name of more than a word that NCCL never prints
//   Channel 00/0 : 0[0] -> 1[1] via node-b:52:52 [1] NCCL INFO …
//
// Where several processes write into one file, a message that ends with a free text may have
// another record, or a program's words, in that text.

#pragma once

#include "log/event.h"

namespace ncclog {

/// True for an NCCL message with the beginning of another record, or other people's words, in it.
bool holds_another(const Event& event);

}  // namespace ncclog
