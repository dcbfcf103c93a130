#include "report/graph.h"

namespace ncclog {

const DrawingKind* find_drawing_kind(std::string_view name) {
  static constexpr DrawingKind kKinds[] = {{"channels", channels_drawing},
                                           {"topology", topology_drawing}};
  for (const DrawingKind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace ncclog
