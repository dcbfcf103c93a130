#include "replay/call_words.h"

#include <fmt/format.h>

#include "base/text.h"
#include "log/nccl_names.h"
#include "replay/call_shape.h"

namespace ncclog {

std::string words_of(const PlannedCall& call) {
  const std::string_view datatype = datatype_name(call.datatype);
  std::string words = fmt::format("{} of {} {}", printable(call.op), call.count,
                                  datatype.empty() ? "unknown elements" : datatype);
  if (is_reduction(call.op)) words += fmt::format(" ({})", reduction_name(call.redop));
  if (has_root(call.op)) words += fmt::format(" with root {}", call.root);
  if (is_message(call.op)) {
    words += fmt::format(" {} rank {}", call.op == "Send" ? "to" : "from", call.root);
  }
  return words;
}

}  // namespace ncclog
