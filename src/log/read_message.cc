#include "log/read_message.h"

namespace ncclog {

void read_fields(const Message& message, std::span<const FieldPlace> places, void* result) {
  for (size_t i = 0; i < places.size(); ++i) {
    const std::string_view text = message.fields[i];
    void* const member = static_cast<char*>(result) + places[i].offset;
    if (text.data() != nullptr) read_field(text, places[i].type, member);
  }
}

}  // namespace ncclog
