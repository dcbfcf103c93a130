// NCCL lines that no wording fits, and lines of others that report an error in unknown words
// (log/error_line.h), by shape, so that a user can report them.
//
//   NET/IB: Frobnicated #:#   ×812, INFO, first: node07:41:42 [3] NCCL INFO NET/IB: Frobnicated …
//
// Only the smallest kMaxShapes shapes are kept. One among the smallest of the whole is among the
// smallest of every part that has it, so its count is never lost, and merging parts in any grouping
// gives what reading the whole gives.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/line.h"
#include "base/source_ref.h"
#include "log/event.h"

namespace ncclog {

/// Lines of one shape.
struct UnknownLines {
  uint64_t count = 0;
  uint32_t levels = 0;  ///< Bit 1 << Level for each level that a line had.
  SourceRef first;
  std::string example;  ///< The first one, at most Record::kMaxTextBytes of it.

  bool operator==(const UnknownLines&) const = default;
};

struct UnknownShapes {
  std::map<std::string, UnknownLines> shapes;  ///< By message_shape; at most kMaxShapes.
  uint64_t other = 0;                          ///< Lines whose shapes are not kept.

  static constexpr size_t kMaxShapes = 2048;

  /// Counts a line whose fate is Unrecognised, or a foreign one that looks like an error.
  void add(SourceRef where, std::string_view line, const Event& event);

  /// Joins what a later stretch of input holds.
  void merge(UnknownShapes&& later);

  bool operator==(const UnknownShapes&) const = default;

 private:
  void limit();
};

}  // namespace ncclog
