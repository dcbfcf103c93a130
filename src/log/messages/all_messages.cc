#include "log/messages/all_messages.h"

#include "log/read_message.h"

namespace ncclog {
namespace {

template <typename... T>
std::vector<Kind> make_kinds(Kinds<T...>) {
  uint16_t index = 0;
  return {make_kind<T>(index++)...};
}

}  // namespace

std::span<const Kind> all_kinds() {
  static const std::vector<Kind> kinds = make_kinds(AllMessages{});
  return kinds;
}

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : all_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace ncclog
