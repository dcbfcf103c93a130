#include "model/glued_message.h"

#include <algorithm>

#include "base/text.h"
#include "log/messages/all_messages.h"
#include "log/read_message.h"
#include "log/record_marks.h"
#include "model/connections.h"

namespace ncclog {
namespace {

/// What NCCL prints behind "via".
bool is_path(std::string_view path) {
  return transport_of(path) != Transport::Other && path.find(':') == path.npos &&
         path.find("[20") == path.npos;
}

bool is_setting(const EnvSet& set) {
  const bool name = std::all_of(set.name.begin(), set.name.end(), [](char c) {
    return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z');
  });
  return name && !set.value.starts_with(' ');
}

/// False where words of a program or of another process stand in a message that any text fits.
bool is_plausible(const Message& message) {
  if (message.kind == nullptr) return true;
  const uint16_t kind = message.kind->index;
  if (kind == kKindIndex<ChannelConnected>) {
    return is_path(read_message<ChannelConnected>(message).path);
  }
  if (kind == kKindIndex<EnvSet>) return is_setting(read_message<EnvSet>(message));
  const bool is_name = kind == kKindIndex<NetworkSelected> || kind == kKindIndex<NcclVersion>;
  if (!is_name) return true;
  const std::string_view name = message.fields[0];
  return name.find_first_of(":/#") == name.npos;
}

}  // namespace

bool holds_another(const Event& event) {
  const Header& header = event.header;
  return header.anchored_twice || holds_process(header.message) ||
         find_task_tag(header.message, true) != header.message.npos || !is_plausible(event.message);
}

}  // namespace ncclog
