// Any bytes as the lines of a log: collectors' records, halves of lines and broken records are put
// together without reading outside a line, and every line is counted once.

#include "log/event_reader.h"

#include <algorithm>

#include "fuzz/fuzz.h"

namespace ncclog::fuzz {

void fuzz_event_reader(std::string_view text) {
  int64_t handed_on = 0;
  EventReader reader([&](const Line&, const Event&, int lines) { handed_on += lines; });
  Line line;
  for (line.number = 1; !text.empty(); ++line.number) {
    line.text = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.text.size() + 1, text.size()));
    reader.add(line);
  }
  reader.finish();
  require(handed_on == static_cast<int64_t>(line.number) - 1);
}

}  // namespace ncclog::fuzz
