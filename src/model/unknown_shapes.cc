#include "model/unknown_shapes.h"

#include <iterator>
#include <utility>

#include "log/message_shape.h"
#include "model/record.h"

namespace ncclog {

void UnknownShapes::add(SourceRef where, std::string_view line, const Event& event) {
  UnknownLines& lines = shapes[message_shape(event.header.message)];
  if (lines.count++ == 0) {
    lines.first = where;
    lines.example = line.substr(0, Record::kMaxTextBytes);
  }
  lines.levels |= 1U << static_cast<unsigned>(event.header.level);
  limit();
}

void UnknownShapes::merge(UnknownShapes&& later) {
  other += later.other;
  for (auto& [shape, lines] : later.shapes) {
    const auto [place, is_new] = shapes.try_emplace(shape);
    if (is_new) {
      place->second = std::move(lines);
    } else {
      place->second.count += lines.count;
      place->second.levels |= lines.levels;
    }
  }
  limit();
}

void UnknownShapes::limit() {
  while (shapes.size() > kMaxShapes) {
    const auto last = std::prev(shapes.end());
    other += last->second.count;
    shapes.erase(last);
  }
}

}  // namespace ncclog
