// Any bytes as a log line: understanding it neither throws nor reads outside it, and every text of
// an NCCL message lies inside the line.

#include "log/event.h"

#include "fuzz/fuzz.h"
#include "log/address.h"
#include "log/known_messages.h"

namespace ncclog::fuzz {
namespace {

void require_inside(std::string_view part, std::string_view line) {
  if (part.empty()) return;
  require(part.data() >= line.data() && part.data() + part.size() <= line.data() + line.size());
}

/// Recognisers may give names of their own; holes may not.
void require_fields(const Message& message, std::string_view line) {
  if (message.kind == nullptr || message.kind->source != Source::Nccl) return;
  for (size_t i = 0; i < message.kind->fields.size(); ++i) {
    require_inside(message.fields[i], line);
  }
}

}  // namespace

void fuzz_event(std::string_view line) {
  const Event event = parse_event(line, all_wordings());
  require_inside(event.header.host, line);
  require_inside(event.header.file, line);
  require_inside(event.header.message, line);
  require_fields(event.message, line);
  may_start_unit(line);
  is_header_stub(line);
  for (const NetDevice& device : parse_device_list(line)) {
    require_inside(device.name, line);
    require_inside(device.address, line);
  }
}

}  // namespace ncclog::fuzz
