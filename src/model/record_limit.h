// How many different lines of a kind are kept of each process?
//
//   8 processes     256 of each kind
//   256 processes    32 of each kind
//   4,096 processes  32 of each kind, but 4 of "New proxy send connection 17 …", "Ring 05 : …"
//
// What all keep together is bounded, but for a few lines of each. The limit of a kind never grows
// with the number of processes, so a list that is cut down when more of them speak is as if it had
// never kept more.

#pragma once

#include <cstddef>
#include <cstdint>

#include "model/record.h"

namespace ncclog {

/// How many records the lists of each process may keep.
struct RecordLimit {
  size_t most = RecordList::kMaxKept;  ///< Of most kinds, and of each pattern of the LineMatcher.
  /// Of the kinds of which a process prints one line for each channel or connection, always of the
  /// same form; what they say is summed up elsewhere (model/init_section.h), or only counts.
  size_t most_numbered = RecordList::kMaxKept;

  /// Of the kind of that index.
  size_t of(uint16_t kind) const;

  /// The limit of lists that go by pattern instead of kind.
  RecordLimit of_patterns() const { return {most, most}; }

  bool operator==(const RecordLimit&) const = default;
};

/// The limit where so many processes speak.
RecordLimit record_limit(size_t speakers);

/// What both allow, and more where one of them does.
RecordLimit laxer(const RecordLimit& a, const RecordLimit& b);

}  // namespace ncclog
