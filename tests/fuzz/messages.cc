// Any bytes as a message file: it becomes a table of wordings in which each example is read as its
// own kind, or an Error.

#include "fuzz/fuzz.h"
#include "log/wording/message_file.h"

namespace ncclog::fuzz {

void fuzz_messages(std::string_view bytes) {
  try {
    const std::vector<KindText> kinds = parse_message_file(bytes, "sample.messages");
    WordingTable table;
    build_messages({}, kinds, table);
  } catch (const Error& error) {
    require(!std::string_view(error.what()).empty() && !error.where().empty());
  }
}

}  // namespace ncclog::fuzz
