// Lines that are kept as they are, so that facts and rules can read them again.
//
//   Using network IB    twice from one process     → one record, total 2
//   Ring 05 : 3 -> 0    one line for each channel  → the first few are kept, all are counted
//
// Of each kind the first different ones and an exact total (RecordLists); where repetition means
// something the first as they came (KeptLines). Both are associative: joining the lists of two
// neighbouring stretches gives the list of the whole, wherever it was cut.
//
// Thousands of ranks print the same messages, and each prints many behind the same words. So a
// record holds both by pointers, and who makes records shares them (RecordTexts).

#pragma once

#include <algorithm>
#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/line.h"
#include "log/event.h"

namespace ncclog {

/// What stands before the messages of kept lines: launchers' prefixes and NCCL's header.
struct LineHead : boost::intrusive_ref_counter<LineHead> {
  std::string text;
  Level level = Level::None;
};

/// The message of kept lines, or all of one line.
struct RecordText : boost::intrusive_ref_counter<RecordText> {
  std::string text;
  uint64_t hash = 0;                 ///< message_hash of the message.
  const Wording* wording = nullptr;  ///< That fits the message; nullptr: none does.
};

/// A kept line. Copies share its texts.
struct Record {
  SourceRef where;
  boost::intrusive_ptr<const LineHead> head;  ///< nullptr: `rest` is the whole line.
  boost::intrusive_ptr<const RecordText> rest;

  static constexpr uint16_t kNoKind = 0xFFFF;
  static constexpr size_t kMaxTextBytes = 2048;

  /// Index of the message kind.
  uint16_t kind() const {
    const bool has_kind = rest != nullptr && rest->wording != nullptr;
    return has_kind ? rest->wording->kind->index : kNoKind;
  }

  /// The record as read, ANSI codes removed, at most kMaxTextBytes.
  std::string text() const;
};

/// Hash by which messages count as equal; the same on every run of one machine.
uint64_t message_hash(std::string_view message);

/// A message with that message_hash, which all of the wording fits; nullptr: none does.
boost::intrusive_ptr<const RecordText> make_text(std::string_view text, uint64_t hash,
                                                 const Wording* wording);

/// The record of a line that shares nothing; `event` is what the line says.
Record make_record(SourceRef where, std::string_view line, const Event& event);

/// The same of a line of which nobody asks what it says.
Record make_record(SourceRef where, std::string_view line);

/// Takes a kept line apart again. Views in the result point into the texts that the record holds.
Event parse_record(const Record& record);

/// The same of its message alone, which takes a fraction of the time.
Message parse_message(const Record& record);

/// The level at which it was printed.
Level level_of(const Record& record);

/// The time in front of its message; unknown if it carries none. Views what the record holds.
LineTime time_of(const Record& record);

/// Makes records that share their texts. Of what came lately only: memory is bounded.
class RecordTexts {
 public:
  /// The record of a line that says `event`; `hash` is that of its message.
  Record record(SourceRef where, std::string_view line, const Event& event, uint64_t hash);

  /// What stands before the message of a line with that header; nullptr if it does not mean the
  /// same alone.
  boost::intrusive_ptr<const LineHead> head(std::string_view text, const Header& header);

  /// The message with that message_hash, which all of the wording fits.
  boost::intrusive_ptr<const RecordText> message(std::string_view text, uint64_t hash,
                                                 const Wording& wording);

 private:
  /// By hash; another text of the same place takes its place.
  static constexpr size_t kHeads = 1024;
  static constexpr size_t kMessages = 4096;
  std::vector<boost::intrusive_ptr<const LineHead>> heads_{kHeads};
  std::vector<boost::intrusive_ptr<const RecordText>> messages_{kMessages};
};

/// The first different records of one kind, in input order: kMaxKept, or fewer where there are many
/// lists (RecordLimit). A list that is cut down later is as if it had never kept more. Views the
/// RecordLists that it is of.
struct RecordList {
  uint64_t total = 0;  ///< Lines of this kind, kept or not, repeated or not. 0: there is no list.
  bool full = false;   ///< A different line came when as many were kept as may be.
  std::span<const Record> kept;

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

// The kept lines of one speaker by what they are: the kind of message, or the pattern they match.
//
//   channel_connected → 812 lines, 256 kept        using_network → 1 line
//
// A speaker prints a few dozen of the hundreds of kinds, and thousands of speakers take turns. So
// the records of all kinds lie in one row, kind by kind. New ones wait beside it as they came, so
// that not each of them moves all those behind its place. How many there are of each kind is mostly
// the same from rank to rank, and kept once (share): whoever looks for a kind in the lists of all
// ranks finds it without a glance at their memory.

/// Lists of records by key, in ascending order of the keys. Between add() and settle() nothing may
/// be asked but which keys there are.
class RecordLists {
  struct Entry;
  using Entries = std::vector<Entry>;

 public:
  RecordLists() = default;
  RecordLists(const RecordLists& other);
  RecordLists(RecordLists&&) = default;
  RecordLists& operator=(const RecordLists& other) { return *this = RecordLists(other); }
  RecordLists& operator=(RecordLists&&) = default;

  /// Counts a line by its message_hash: equal messages are kept once. `make` is called for its
  /// record only if it is new and fewer than `most` are kept.
  template <typename Make>
  void add(uint16_t key, uint64_t hash, Make&& make, size_t most = RecordList::kMaxKept) {
    Slot& slot = slot_of(key);
    Entry& entry = entries_[slot.entry - 1];
    ++entry.total;
    if (entry.full || (entry.kept > 0 && holds(entry, slot, hash))) return;
    entry.full = entry.kept >= most;
    if (entry.full) return;
    ++entry.kept;
    waiting_->before.push_back(slot.last);
    waiting_->records.push_back(make());
    slot.last = static_cast<uint16_t>(waiting_->records.size());
    if (waiting_->records.size() == kMostWaiting) settle();
  }

  /// Counts a line of a list that is full; false if that is not so.
  bool add_to_full(uint16_t key);

  /// Settles if that has not been done for long: joining what waits costs about as much as adding
  /// it did.
  void settle_in_time() {
    if (waiting_ != nullptr && waiting_->records.size() > records_.size()) settle();
  }

  /// Puts all records that were added where they belong.
  void settle();

  /// No total if there is none. Valid until the lists are changed.
  RecordList find(uint16_t key) const;

  /// The records of that list; none if there is no such list.
  std::span<const Record> kept(uint16_t key) const { return find(key).kept; }

  bool contains(uint16_t key) const { return find_entry(key) != nullptr; }
  bool empty() const { return entries().empty(); }

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
    value_type operator*() const { return {lists_->entries()[place_].key, lists_->list(place_)}; }
    Iterator& operator++() { return ++place_, *this; }
    void operator++(int) { ++place_; }
    bool operator==(const Iterator& other) const { return place_ == other.place_; }

   private:
    const RecordLists* lists_ = nullptr;
    size_t place_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, entries().size()}; }

  /// Joins what a later stretch of input kept.
  void merge(RecordLists&& later, const RecordLimit& limit = {});

  /// Puts a list behind those of smaller keys, of lists that were settled. False: its key is not
  /// greater, or it cannot be that of so many lines.
  bool append(uint16_t key, uint64_t total, bool full, std::vector<Record>&& kept);

  /// Keeps the first records of each list only, as many as `limit` allows.
  void cut_to(const RecordLimit& limit);

  /// Keeps the records of which `stays(key, record)` is true, as if no other had come. Lists of
  /// which none is left go: rules ask which kinds there are.
  template <typename Stays>
  void keep_only(Stays stays) {
    settle();
    unshare();
    std::vector<Record> rest;
    size_t begin = 0;
    for (Entry& entry : entries_) {
      const size_t end = std::exchange(begin, entry.end);
      const size_t before = rest.size();
      for (size_t i = end; i < entry.end; ++i) {
        if (stays(entry.key, std::as_const(records_[i]))) rest.push_back(std::move(records_[i]));
      }
      entry.total -= (entry.end - end) - (rest.size() - before);
      entry.kept = static_cast<uint16_t>(rest.size() - before);
      if (entry.kept == 0) entry.total = 0;
      entry.end = static_cast<uint32_t>(rest.size());
    }
    records_ = std::move(rest);
    std::erase_if(entries_, [](const Entry& entry) { return entry.total == 0; });
  }

  /// As if no message had come twice.
  void forget_repeats();

  /// Settles, and gives back memory that nothing stands in.
  void fit();

  /// How many there are of each key in lists that came lately, by hash; another one of the same
  /// place takes its place.
  using Shared = std::vector<std::shared_ptr<const Entries>>;

  /// Settles, and holds the numbers by those of lists that have the same.
  void share(Shared& known);

 private:
  struct Entry {
    uint16_t key = 0;
    uint16_t kept = 0;  ///< Records, those that wait included.
    uint32_t end = 0;   ///< Into records_: behind its last one that is in its place; its first
                        ///< is behind the entry before.
    uint64_t total : 63 = 0;
    uint64_t full : 1 = 0;

    bool operator==(const Entry&) const = default;
  };

  static constexpr size_t kMostWaiting = 256;
  static constexpr size_t kFewSlots = 64;
  static constexpr size_t kManySlots = 256;

  /// Of a key while records wait: places, counted from 1. 0: there is none.
  struct Slot {
    uint16_t entry;  ///< In entries_.
    uint16_t last;   ///< In Waiting::records: the last one of the key.
  };
  /// Records that came since all were in their places. Until settle() entries_ that are new stand
  /// behind the others, in any order.
  struct Waiting {
    std::vector<Record> records;
    std::vector<uint16_t> before;  ///< For each the one before it of the same key, as Slot::last.
    std::vector<Slot> slots;       ///< By key, Record::kNoKind first.
    size_t entries = 0;            ///< How many are not new.

    Slot& slot(uint16_t key) {
      const auto place = static_cast<uint16_t>(key + 1);
      if (place >= slots.size()) slots.resize(place < kFewSlots ? kFewSlots : place + kManySlots);
      return slots[place];
    }
  };

  static std::unique_ptr<Waiting>& idle();
  Slot& slot_of(uint16_t key);
  const Entry* find_entry(uint16_t key) const;
  const Entries& entries() const { return shared_ != nullptr ? *shared_ : entries_; }
  void unshare();
  size_t begin_of(size_t place) const { return place == 0 ? 0 : entries()[place - 1].end; }
  RecordList list(size_t place) const;
  bool holds(const Entry& entry, const Slot& slot, uint64_t hash) const;

  Entries entries_;                        ///< By key, ascending; empty if they are shared.
  std::shared_ptr<const Entries> shared_;  ///< nullptr: they are not.
  std::vector<Record> records_;
  std::unique_ptr<Waiting> waiting_;  ///< nullptr: all are in their places.
};

// Lines whose order and repetition matter: the first ones of a family as they came, equal or not.
//
//   # nThread 1 nGpus 8 minBytes 8 …      the same line again begins another run

/// The first lines of a family, in input order. Of lines that list where ranks run more are kept:
/// they are as many as ranks, and the rows of the table stand behind them.
struct KeptLines {
  uint64_t total = 0;  ///< Lines of the family, kept or not.
  std::vector<Record> kept;

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
