// Is what stands before a record a launcher's prefix that nobody knows, or a piece of another
// record?
//
//   <worker 3 of 8> node-a:41:41 [0] NCCL INFO …      on every line: a prefix
//   frame #3: c10d::Pronode-a:41:41 [0] NCCL INFO …   once: a piece
//
// A prefix has the same shape wherever it stands, whatever its numbers and words are, and stands
// before most records.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ncclog {

/// Shape of a text: its words and numbers do not count, everything else does. Never 0.
uint64_t shape_of(std::string_view text);

/// Counts the shapes that stand before the records of one stretch.
class UnknownPrefixes {
 public:
  static constexpr uint64_t kOften = 3;  ///< Records from which on a stretch shows its habits.

  /// Counts a record and the shape before it; 0 if it stands alone or behind a known prefix.
  void add(uint64_t shape);

  /// Counts so many records that stand alone.
  void add_none(uint64_t records) { records_ += records; }

  /// True if most records so far have that shape before them, and at least kOften do.
  bool is_prefix(uint64_t shape) const;

  /// At the end of a stretch of few records: true if most of them have that shape before them.
  bool is_prefix_of_few(uint64_t shape) const;

 private:
  struct Seen {
    uint64_t shape = 0;
    uint64_t count = 0;
  };
  const Seen* find(uint64_t shape) const;

  uint64_t records_ = 0;
  std::array<Seen, 8> seen_;  ///< Of torn lines, too; the rarest makes room.
};

}  // namespace ncclog
