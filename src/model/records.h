// Lines that are kept as they are, so that facts and rules can read them again.
//
//   Using network IB    twice from one process     → one record, total 2
//   Ring 05 : 3 -> 0    one line for each channel  → the first few are kept, all are counted
//
// Of each kind the first different ones and an exact total (RecordLists); where repetition means
// something the first as they came (KeptLines); of lines that no wording fits the first of each
// shape (UnknownShapes). All of these are associative: joining the lists of two neighbouring
// stretches gives the list of the whole, wherever it was cut.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/line.h"
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
/// lists (RecordLimit). A list that is cut down later is as if it had never kept more.
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

/// Says which of a rulebook's line patterns match a line. May be empty: no patterns.
struct LineMatcher {
  using Match = std::function<void(std::string_view line, std::vector<int>& matched)>;

  Match match;
  /// For each pattern a text that stands in every line that it matches; empty: there is none.
  /// nullopt: nothing is known of the patterns.
  std::optional<std::vector<std::string>> literals;

  explicit operator bool() const { return match != nullptr; }
  void operator()(std::string_view line, std::vector<int>& matched) const { match(line, matched); }
};

// How many different lines of a kind are kept of each process?
//
//   8 processes     256 of each kind
//   256 processes    32 of each kind
//   4,096 processes  32 of each kind, but 4 of "New proxy send connection 17 …", "Ring 05 : …"
//
// What all keep together is bounded, but for a few lines of each. The limit of a kind never grows
// with the number of processes, so a list that is cut down when more of them speak is as if it had
// never kept more.

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

// The kept lines of one speaker by what they are: the kind of message, or the pattern they match.
//
//   channel_connected → 812 lines, 256 kept        using_network → 1 line
//
// A speaker prints a few dozen of the hundreds of kinds, one line after the other of another kind,
// and thousands of speakers take turns. So the keys stand side by side, apart from what they lead
// to.

/// Lists of records by key, in ascending order of the keys.
class RecordLists {
 public:
  using Entry = std::pair<uint16_t, const RecordList&>;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Entry;

    Iterator(const RecordLists& lists, size_t at) : lists_(&lists), at_(at) {}
    Entry operator*() const { return {lists_->keys_[at_], lists_->lists_[at_]}; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const RecordLists* lists_;
    size_t at_;  ///< Into both vectors of *lists_.
  };

  /// The list of `key`; made if there is none. Valid until another one is made.
  RecordList& operator[](uint16_t key);

  /// nullptr if there is none.
  const RecordList* find(uint16_t key) const;

  /// The records of that list; none if there is no such list.
  const std::vector<Record>& kept(uint16_t key) const;

  bool contains(uint16_t key) const { return find(key) != nullptr; }
  bool empty() const { return keys_.empty(); }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, keys_.size()}; }

  /// Joins what a later stretch of input kept.
  void merge(RecordLists&& later, const RecordLimit& limit = {});

  /// Keeps the first records of each list only, as many as `limit` allows.
  void cut_to(const RecordLimit& limit);

 private:
  std::vector<uint16_t> keys_;     ///< Ascending.
  std::vector<RecordList> lists_;  ///< By place in keys_.
};

// Lines whose order and repetition matter: the first ones of a family as they came, equal or not.
//
//   # nThread 1 nGpus 8 minBytes 8 …      the same line again begins another run

/// The first kMaxKept lines of a family, in input order.
struct KeptLines {
  uint64_t total = 0;  ///< Lines of the family, kept or not.
  std::vector<Record> kept;

  static constexpr size_t kMaxKept = 4096;

  /// Counts a line; `make` is called for its record only if there is room.
  template <typename Make>
  void add(Make&& make) {
    ++total;
    if (kept.size() < kMaxKept) kept.push_back(make());
  }

  /// Joins what a later stretch of input kept.
  void merge(KeptLines&& later) {
    total += later.total;
    for (Record& record : later.kept) {
      if (kept.size() == kMaxKept) break;
      kept.push_back(std::move(record));
    }
  }
};

// NCCL lines that no wording fits, and lines of others that report an error in unknown words
// (log/event.h), by shape, so that a user can report them.
//
//   NET/IB: Frobnicated #:#   ×812, INFO, first: node07:41:42 [3] NCCL INFO NET/IB: Frobnicated …
//
// Only the smallest kMaxShapes shapes are kept. One among the smallest of the whole is among the
// smallest of every part that has it, so its count is never lost, and merging parts in any grouping
// gives what reading the whole gives.

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
