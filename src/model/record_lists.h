// How many kept lines are kept, and where.
//
//   Using network IB    twice from one process     → one record, total 2
//   Ring 05 : 3 -> 0    one line for each channel  → the first few are kept, all are counted
//
// Of each kind the first different ones and an exact total (RecordLists); where repetition means
// something the first as they came (KeptLines). Both are associative: joining the lists of two
// neighbouring stretches gives the list of the whole, wherever it was cut.

#pragma once

#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/line.h"
#include "model/records.h"

namespace ncclog {

// The kept lines of one speaker by what they are: the kind of message, or the pattern they match.
//
//   channel_connected → 812 lines, 256 kept        using_network → 1 line
//
// While a log is read they stand as they came. settle() puts them in rows, kind by kind, and then
// most of it is the same from rank to rank: which kinds, how many lines of each, what they say. So
// ranks share one RecordRow, and own where their lines stand, their heads, and the few texts that
// name them. Whoever looks for a kind in the lists of all ranks looks at a few rows.

/// What many lists have alike.
struct RecordRow : boost::intrusive_ref_counter<RecordRow> {
  /// The records of a key.
  struct Entry {
    uint16_t key = 0;
    uint16_t kept = 0;
    uint32_t end = 0;  ///< Place behind its last record; the first is `kept` before.
    uint64_t total : 63 = 0;
    uint64_t full : 1 = 0;

    bool operator==(const Entry&) const = default;
  };

  /// nullptr: none is of that key.
  static const Entry* find(const std::vector<Entry>& entries, uint16_t key);

  std::vector<Entry> entries;                                 ///< By key, ascending.
  std::vector<boost::intrusive_ptr<const RecordText>> texts;  ///< By place.
  std::vector<uint32_t> heads;  ///< By place: into the heads of each list; 0 is no head.
  std::vector<Level> levels;    ///< By place: as the heads say; None where there is no head.
  uint64_t hash = 0;            ///< Of what lists of the row have to have alike.
  /// By place: some list has another text there. Once true it stays so; a list that has one knew it
  /// first.
  mutable std::vector<std::atomic<bool>> varies;
};

/// The rows that came lately, by hash; another one of the same place takes its place.
using RecordRows = std::vector<boost::intrusive_ptr<const RecordRow>>;

/// Settled records. What a list has of its own stands in one piece of memory, because whoever looks
/// at the lists of all ranks waits for each piece.
class RowRecords {
 public:
  /// What the records of a row have of their own.
  struct Own {
    std::vector<boost::intrusive_ptr<const LineHead>> heads;  ///< The first is nullptr.
    std::vector<boost::intrusive_ptr<const RecordText>> texts;
    std::vector<uint32_t> places;  ///< Of `texts`, ascending.
    std::vector<uint64_t> units;
    std::vector<SourceRef> lines;  ///< By place; the unit is a place in `units`.
  };

  static std::unique_ptr<RowRecords> make(boost::intrusive_ptr<const RecordRow> row, Own&& own);
  std::unique_ptr<RowRecords> copy() const;
  RowRecords(const RowRecords&) = delete;
  RowRecords& operator=(const RowRecords&) = delete;
  ~RowRecords();

  /// By place.
  Record operator[](size_t place) const {
    return {where(place), heads()[row_->heads[place]], text(place)};
  }
  /// As level_of and parse_message say of the record, without a look at the rest of it.
  Level level(size_t place) const {
    return row_->heads[place] != 0 ? row_->levels[place] : level_of((*this)[place]);
  }
  /// True if its head says that it is no WARN.
  bool is_below_warn(size_t place) const {
    return row_->heads[place] != 0 && row_->levels[place] != Level::Warn;
  }
  Message message(size_t place) const {
    return row_->heads[place] != 0 ? parse_message(*text(place)) : parse_message((*this)[place]);
  }
  SourceRef where(size_t place) const {
    if (is_short_) return {units()[0], short_lines()[place]};
    const Line& line = lines()[place];
    return {units()[line.unit], line.number};
  }
  const RecordText* text(size_t place) const {
    const bool varies = row_->varies[place].load(std::memory_order_relaxed);
    return varies ? own_text(place) : row_->texts[place].get();
  }

  /// Of more memory than the type tells.
  static void operator delete(void* memory) { ::operator delete(memory); }

 private:
  struct Line {
    uint64_t unit : 24;  ///< Into units(): a list has fewer records.
    uint64_t number : 40;
  };

  RowRecords() = default;
  const RecordText* own_text(size_t place) const;
  static RowRecords* allocate(size_t bytes);

  // Behind this: heads, texts, units, places of the texts, lines.
  const LineHead* const* heads() const {
    return reinterpret_cast<const LineHead* const*>(this + 1);
  }
  const RecordText* const* texts() const {
    return reinterpret_cast<const RecordText* const*>(heads() + heads_);
  }
  const uint64_t* units() const { return reinterpret_cast<const uint64_t*>(texts() + texts_); }
  const uint32_t* places() const { return reinterpret_cast<const uint32_t*>(units() + units_); }
  const uint32_t* short_lines() const { return places() + texts_; }
  const Line* lines() const {
    // They need an address as units do.
    return reinterpret_cast<const Line*>(short_lines() + texts_ % 2);
  }

  boost::intrusive_ptr<const RecordRow> row_;
  uint32_t bytes_ = 0;  ///< Behind this.
  uint32_t heads_ = 0;  ///< How many there are.
  uint32_t texts_ = 0;
  uint32_t units_ : 31 = 0;
  uint32_t is_short_ : 1 = 0;  ///< There is one unit, and numbers of lines have 32 bits.
};

/// Some records of a list, one behind the other. Views the RecordLists that they are of, which may
/// be moved.
class Records {
 public:
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Record;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Record;

    Iterator() = default;
    Iterator(const RowRecords* all, size_t place) : all_(all), place_(place) {}
    Record operator*() const { return (*all_)[place_]; }
    Record operator[](difference_type n) const { return *(*this + n); }
    Iterator& operator++() { return ++place_, *this; }
    Iterator operator++(int) { return {all_, place_++}; }
    Iterator& operator--() { return --place_, *this; }
    Iterator operator--(int) { return {all_, place_--}; }
    Iterator& operator+=(difference_type n) { return place_ += static_cast<size_t>(n), *this; }
    Iterator& operator-=(difference_type n) { return *this += -n; }
    friend Iterator operator+(Iterator at, difference_type n) { return at += n; }
    friend Iterator operator+(difference_type n, Iterator at) { return at += n; }
    friend Iterator operator-(Iterator at, difference_type n) { return at -= n; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) {
      return static_cast<difference_type>(a.place_ - b.place_);
    }
    bool operator==(const Iterator& other) const { return place_ == other.place_; }
    auto operator<=>(const Iterator& other) const { return place_ <=> other.place_; }

   private:
    const RowRecords* all_ = nullptr;
    size_t place_ = 0;
  };

  Records() = default;
  Records(const RowRecords& all, size_t begin, size_t end) : all_(&all), begin_(begin), end_(end) {}
  Iterator begin() const { return {all_, begin_}; }
  Iterator end() const { return {all_, end_}; }
  size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  Record operator[](size_t n) const { return (*all_)[begin_ + n]; }
  Record front() const { return (*all_)[begin_]; }
  Record back() const { return (*all_)[end_ - 1]; }
  const RowRecords* all() const { return all_; }  ///< Those of the whole list; may be nullptr.
  size_t first_place() const { return begin_; }   ///< In all().
  size_t end_place() const { return end_; }       ///< Behind the last one, likewise.

 private:
  const RowRecords* all_ = nullptr;
  size_t begin_ = 0;
  size_t end_ = 0;
};

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

/// Lists of records by key, in ascending order of the keys. Between add() and settle() nothing may
/// be asked but which keys there are.
class RecordLists {
 public:
  RecordLists() = default;
  RecordLists(const RecordLists& other);
  RecordLists(RecordLists&&) = default;
  RecordLists& operator=(const RecordLists& other) { return *this = RecordLists(other); }
  RecordLists& operator=(RecordLists&&) = default;

  /// Counts a line by its message_hash: equal messages are kept once. `make` is called for its
  /// KeptRecord only if it is new and fewer than `most` are kept.
  template <typename Make>
  void add(uint16_t key, uint64_t hash, Make&& make, size_t most = RecordList::kMaxKept) {
    Coming& coming = open();
    RecordRow::Entry& entry = coming.entry(key);
    ++entry.total;
    if (entry.full || coming.holds(entry, hash)) return;
    entry.full = entry.kept >= most;
    if (entry.full) return;
    ++entry.kept;
    coming.records.push_back(make());
    const auto place = static_cast<uint32_t>(coming.records.size());
    coming.before.push_back(std::exchange(entry.end, place));
  }

  /// Counts a line of a list that is full; false if that is not so.
  bool add_to_full(uint16_t key);

  /// Puts all records that were added where they belong; lists that have much alike with rows that
  /// came lately hold it by those.
  void settle(RecordRows* rows = nullptr);

  /// The same if many records came since it was done.
  void settle_many(RecordRows& rows) {
    constexpr size_t kMany = 32;
    if (coming_ != nullptr && coming_->records.size() >= coming_->before_opened + kMany)
      settle(&rows);
  }

  /// No total if there is none. Valid until the lists are changed.
  RecordList find(uint16_t key) const;

  /// The records of that list; none if there is no such list.
  Records kept(uint16_t key) const { return find(key).kept; }

  bool contains(uint16_t key) const;
  bool empty() const { return coming_ == nullptr && row_ == nullptr; }

  /// All records, kind by kind; nullptr: there are none.
  const RowRecords* all() const { return settled_.get(); }

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
  void merge(RecordLists&& later, const RecordLimit& limit = {}, RecordRows* rows = nullptr);

  /// Adds a list of a greater key than those there are, in its order. False: its key is not
  /// greater, or it cannot be that of so many lines. To be settled afterwards.
  bool append(uint16_t key, uint64_t total, bool full, std::vector<KeptRecord>&& kept);

  /// Keeps the first records of each list only, as many as `limit` allows. What was settled stays so.
  void cut_to(const RecordLimit& limit, RecordRows* rows = nullptr);

  /// Keeps the records of which `stays(key, record)` is true, as if no other had come. Lists of
  /// which none is left go: rules ask which kinds there are.
  void keep_only(const std::function<bool(uint16_t key, const Record&)>& stays);

  /// As if no message had come twice.
  void forget_repeats();

 private:
  /// Records as they came.
  struct Coming {
    std::vector<uint16_t> keys;             ///< Of `entries`, to be searched.
    std::vector<RecordRow::Entry> entries;  ///< `end` is the place of its last record, from 1.
    std::vector<KeptRecord> records;
    std::vector<uint32_t> before;  ///< For each the one before it of the same key, likewise.
    size_t before_opened = 0;      ///< So many of the records are older.

    RecordRow::Entry* find(uint16_t key);
    RecordRow::Entry& entry(uint16_t key) {
      RecordRow::Entry* const known = find(key);
      return known != nullptr ? *known : add(key);
    }
    bool holds(const RecordRow::Entry& entry, uint64_t hash) const {
      for (size_t at = entry.end; at != 0; at = before[at - 1]) {
        if (records[at - 1].rest->hash == hash) return true;
      }
      return false;
    }

   private:
    RecordRow::Entry& add(uint16_t key);
  };

  static std::unique_ptr<Coming>& idle();
  Coming& open() { return coming_ != nullptr ? *coming_ : open_slowly(); }
  Coming& open_slowly();
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
