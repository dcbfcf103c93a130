// How many kept lines are kept, and where.
//
//   Using network IB    twice from one process     → one record, total 2
//   Ring 05 : 3 -> 0    one line for each channel  → the first few are kept, all are counted
//
// Of each kind the first different ones and an exact total (RecordLists); where repetition means
// something the first as they came (KeptLines). Both are associative: joining the lists of two
// neighbouring stretches gives the list of the whole, wherever it was cut.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/line.h"
#include "model/record_rows.h"
#include "model/records.h"

namespace ncclog {

/// The first different records of one kind, in input order: kMaxKept, or fewer where there are many
/// lists (RecordLimit). A list that is cut down later is as if it had never kept more.
struct RecordList {
  uint64_t total = 0;  ///< Lines of this kind, kept or not, repeated or not. 0: there is no list.
  bool full = false;   ///< A different line came when as many were kept as may be.
  Records kept;

  static constexpr size_t kMaxKept = 256;
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

/// A line that may be kept. Its texts must live until it is added.
struct NewRecord {
  SourceRef where;
  uint64_t hash = 0;  ///< As in its record's text: equal messages are kept once.
  /// Of its record, if they are known before that is made; `rest` is nullptr if they are not.
  const LineHead* head = nullptr;
  const RecordText* rest = nullptr;
};

// The kept lines of one speaker by what they are: the kind of message, or the pattern they match.
//
//   proxy_connected → 812 lines, 256 kept        network_selected → 1 line
//
/// Lists of records by key, in ascending order of the keys. Between add() and settle() nothing may
/// be asked but which keys there are. All of a list's changes are to be given the same rows, or
/// much is done again.
class RecordLists {
 public:
  RecordLists() = default;
  RecordLists(const RecordLists& other);
  RecordLists(RecordLists&&) = default;
  RecordLists& operator=(const RecordLists& other) { return *this = RecordLists(other); }
  RecordLists& operator=(RecordLists&&) = default;

  /// Counts a line. `make` is called for its KeptRecord only if it is new, fewer than `most` are
  /// kept, and other lists have not gone on with it from here.
  template <typename Make>
  void add(RecordRows& rows, uint16_t key, const NewRecord& line, Make&& make,
           size_t most = RecordList::kMaxKept) {
    Coming& coming = open(rows);
    if (!coming.follow(key, line, most) && !coming.count(key, line.hash, most)) {
      coming.add(key, make());
    }
  }

  /// Counts a line of a list that is full; false if that is not so.
  bool add_to_full(RecordRows& rows, uint16_t key);

  /// Puts all records that were added where they belong.
  void settle();

  /// The same if many records came since it was done: as many as there were, for a list that is
  /// settled is taken apart again when more come.
  void settle_many() {
    constexpr size_t kMany = 32;
    if (coming_ == nullptr) return;
    if (coming_->own.lines.size() >= 2 * coming_->before_opened + kMany) settle();
  }

  /// No total if there is none. Valid until the lists are changed.
  RecordList find(uint16_t key) const;

  /// The records of that list; none if there is no such list.
  Records kept(uint16_t key) const { return find(key).kept; }

  bool contains(uint16_t key) const;
  bool empty() const { return coming_ == nullptr && row_ == nullptr; }

  /// All records, kind by kind; nullptr: there are none.
  const RowRecords* all() const { return settled_.get(); }
  void set_process(int process) {
    if (settled_ != nullptr) settled_->set_process(process);
  }

  /// What keys they have, if there are any; mostly those of the row.
  const std::vector<RecordRow::Entry>& entries() const {
    return own_entries_ != nullptr ? *own_entries_ : row_->entries;
  }

  /// Keys and their lists.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::pair<uint16_t, RecordList>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = value_type;

    Iterator() = default;
    Iterator(const RecordLists& lists, size_t place) : lists_(&lists), place_(place) {}
    value_type operator*() const {
      const RecordRow::Entry& entry = lists_->entries()[place_];
      return {entry.key, lists_->list(entry)};
    }
    Iterator& operator++() { return ++place_, *this; }
    void operator++(int) { ++place_; }
    bool operator==(const Iterator& other) const { return place_ == other.place_; }

   private:
    const RecordLists* lists_ = nullptr;
    size_t place_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, row_ == nullptr ? 0 : entries().size()}; }

  /// Joins what a later stretch of input kept, and settles.
  void merge(RecordRows& rows, RecordLists&& later, const RecordLimit& limit = {});

  /// Adds the list of a key, its records in input order, to lists that only append() has made. False:
  /// the key is not greater than the last one, or so many lines cannot have been kept. To be settled
  /// afterwards.
  bool append(RecordRows& rows, uint16_t key, uint64_t total, bool full,
              std::vector<KeptRecord>&& kept);

  /// Keeps the first records of each list only, as many as `limit` allows. Settles if it
  /// cuts any.
  void cut_to(RecordRows& rows, const RecordLimit& limit);

  /// Keeps the records of which `stays(key, record)` is true, as if no other had come, and settles.
  /// Lists of which none is left go: rules ask which kinds there are.
  void keep_only(RecordRows& rows, const std::function<bool(uint16_t key, const Record&)>& stays);

  /// As if no message had come twice.
  void forget_repeats();

 private:
  /// Records as they come: steps that other lists may have taken before.
  struct Coming {
    struct List {
      uint16_t key = 0;
      bool full = false;
      uint64_t more = 0;           ///< Lines that are not kept.
      RecordStep* last = nullptr;  ///< The last record.
    };

    std::shared_ptr<RecordTree> tree;
    RecordStep* step = nullptr;  ///< Of the last record.
    std::vector<List> lists;     ///< In the order in which their keys came.
    RowRecords::Own own;
    std::vector<uint64_t> hashes;  ///< Of the texts, in the same order as the lines of `own`.
    size_t before_opened = 0;      ///< So many of the records are older.
    /// Places in `lists` where those with a key of that remainder were found last.
    std::array<uint8_t, 64> found{};

    /// Adds a line that others added here; false: nobody did, or it may have to be counted only.
    bool follow(uint16_t key, const NewRecord& line, size_t most) {
      constexpr int kMostLooked = 64;
      if (line.rest == nullptr) return false;
      const auto is_it = [&](const RecordStep& known) {
        return known.text.get() == line.rest && known.key == key && known.head < own.heads.size() &&
               own.heads[known.head].get() == line.head;
      };
      RecordStep* next = step->next;
      for (int looked = 1; next != nullptr && !is_it(*next); ++looked) {
        next = looked < kMostLooked ? next->sibling : nullptr;
      }
      if (next == nullptr || next->kept > most) return false;
      for (const RecordStep* other = next->alike; other != nullptr; other = other->alike) {
        if (other->varies) return false;
      }
      return go_to(next, line.where, line.hash);
    }

    /// Counts a line that is not to be kept; false if it is.
    bool count(uint16_t key, uint64_t hash, size_t most);
    void add(uint16_t key, KeptRecord&& record);
    List* find(uint16_t key);
    boost::intrusive_ptr<const RecordRow> row() const;
    std::vector<RecordRow::Entry> entries() const;

   private:
    /// False: that list is full, and nothing was done.
    bool go_to(RecordStep* next, SourceRef where, uint64_t hash) {
      if (next->entry == lists.size()) lists.push_back({.key = next->key});
      List& list = lists[next->entry];
      if (list.full) return false;
      step = list.last = next;
      hashes.push_back(hash);
      own.lines.push_back(where);
      return true;
    }
    bool holds(const List& list, uint64_t hash) const;
  };

  static std::unique_ptr<Coming>& idle();
  Coming& open(RecordRows& rows) { return coming_ != nullptr ? *coming_ : open_slowly(rows); }
  Coming& open_slowly(RecordRows& rows);
  template <typename Take>
  void for_all_as_they_came(Take&& take) const;
  template <typename Stays>
  void keep_those(RecordRows& rows, bool counts_others, Stays&& stays);
  RecordList list(const RecordRow::Entry& entry) const {
    return {entry.total, entry.full != 0, {*settled_, entry.end - size_t{entry.kept}, entry.end}};
  }

  std::unique_ptr<Coming> coming_;             ///< While records come, else nullptr.
  boost::intrusive_ptr<const RecordRow> row_;  ///< Else these; nullptr: there are none.
  std::unique_ptr<RowRecords> settled_;
  std::unique_ptr<std::vector<RecordRow::Entry>> own_entries_;  ///< Of other totals than the row's.
};

// Lines whose order and repetition matter: the first ones of a family as they came, equal or not.
//
//   # nThread 1 nGpus 8 minBytes 8 …      the same line again begins another run

/// The first lines of a family, in input order. Of lines that list where ranks run more are kept:
/// they are as many as ranks, and the rows of the table stand behind them.
struct KeptLines {
  uint64_t total = 0;  ///< Lines of the family, kept or not.
  std::vector<KeptRecord> kept;

  static constexpr size_t kMaxKept = 4096;
  static constexpr size_t kMaxPlaces = 16384;

  /// Counts a line of the kind of that index; `make` is called for its record only if there is
  /// room.
  template <typename Make>
  void add(uint16_t kind, Make&& make) {
    ++total;
    if (takes(kind)) kept.push_back(make());
  }

  /// Joins what a later stretch of input kept.
  void merge(KeptLines&& later);

 private:
  template <typename Io>
  friend void carry(Io& io, KeptLines& lines);  ///< part/carry_shard.h

  /// Takes a place for one more line of that kind; false: there is no room.
  bool takes(uint16_t kind);

  size_t places_ = 0;  ///< Lines of `kept` that list where ranks run.
};

}  // namespace ncclog
