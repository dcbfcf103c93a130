// Any bytes as a log line: understanding it neither throws nor reads outside it, and every text of
// an NCCL message lies inside the line.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "log/address.h"
#include "log/event.h"
#include "log/known_messages.h"

namespace {

void require_inside(std::string_view part, std::string_view line) {
  if (part.empty()) return;
  if (part.data() < line.data() || part.data() + part.size() > line.data() + line.size()) {
    std::abort();
  }
}

/// Recognisers may give names of their own; holes may not.
void require_fields(const ncclog::Message& message, std::string_view line) {
  if (message.kind == nullptr || message.kind->source != ncclog::Source::Nccl) return;
  for (size_t i = 0; i < message.kind->fields.size(); ++i) {
    require_inside(message.fields[i], line);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const ncclog::Event event = ncclog::parse_event(line, ncclog::all_wordings());
  require_inside(event.header.host, line);
  require_inside(event.header.file, line);
  require_inside(event.header.message, line);
  require_fields(event.message, line);
  ncclog::may_start_unit(line);
  ncclog::is_header_stub(line);
  for (const ncclog::NetDevice& device : ncclog::parse_device_list(line)) {
    require_inside(device.name, line);
    require_inside(device.address, line);
  }
  return 0;
}
