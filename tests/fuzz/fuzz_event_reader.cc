// Any bytes as the lines of a log: collectors' records, halves of lines and broken records are put
// together without reading outside a line, and every line is counted once.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "log/event_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  int64_t handed_on = 0;
  ncclog::EventReader reader(
      [&](const ncclog::Line&, const ncclog::Event&, int lines) { handed_on += lines; });
  ncclog::Line line;
  for (line.number = 1; !text.empty(); ++line.number) {
    line.text = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.text.size() + 1, text.size()));
    reader.add(line);
  }
  reader.finish();
  if (handed_on != static_cast<int64_t>(line.number) - 1) std::abort();
  return 0;
}
