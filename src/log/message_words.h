// Which words does NCCL print, whoever runs it?
//
//   "{nranks:int} ranks were missing"   ranks, were, missing
//
// Those of all wordings (log/message_kind.h), so that they need no list of their own.

#pragma once

#include <functional>
#include <set>
#include <string>

namespace ncclog {

/// The words of all messages in lower case, from three letters on; names of holes are none.
const std::set<std::string, std::less<>>& message_words();

}  // namespace ncclog
