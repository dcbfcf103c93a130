// Lines worth keeping: the first different ones of each kind, and how many there were in all.
//
// Keeping the first N different lines and an exact total is associative: joining the lists of two
// neighbouring stretches gives the list of the whole, wherever it was cut.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_ref.h"
#include "log/event.h"

namespace ncclog {

/// A kept line.
struct Record {
  SourceRef where;
  uint16_t kind = kNoKind;  ///< Index of the message kind.
  std::string text;         ///< The record as read, ANSI codes removed, at most kMaxTextBytes.

  static constexpr uint16_t kNoKind = 0xFFFF;
  static constexpr size_t kMaxTextBytes = 2048;
};

/// Makes the record of a line.
Record make_record(SourceRef where, std::string_view line, const Event& event);

/// The first different records of one kind, in input order: kMaxKept, or fewer where there are many
/// lists (model/record_limit.h). A list that is cut down later is as if it had never kept more.
struct RecordList {
  uint64_t total = 0;  ///< Lines of this kind, kept or not, repeated or not.
  bool full = false;   ///< A different line came when as many were kept as may be.
  std::vector<Record> kept;
  /// message_hash of each kept one, side by side: a line that came before is known by them alone.
  std::vector<uint64_t> hashes;

  static constexpr size_t kMaxKept = 256;

  /// Counts a line by its message_hash: equal messages are kept once. `make` is called for its
  /// record only if it is new and fewer than `most` are kept.
  template <typename Make>
  void add(uint64_t hash, Make&& make, size_t most = kMaxKept) {
    ++total;
    if (full || contains(hash)) return;
    if (kept.size() < most) {
      kept.push_back(make());
      hashes.push_back(hash);
    } else {
      full = true;
    }
  }

  bool contains(uint64_t hash) const;

  /// Joins what a later stretch of input kept.
  void merge(RecordList&& later, size_t most = kMaxKept);

  /// Keeps the first `most` only.
  void cut_to(size_t most);
};

/// Hash by which messages count as equal; the same on every run of one machine.
uint64_t message_hash(std::string_view message);

/// Takes a kept line apart again. The views in the result point into `record.text`.
Event parse_record(const Record& record);

}  // namespace ncclog
