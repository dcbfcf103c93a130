// How many kept lines are kept, and where.
//
//   Using network IB    twice from one process     → one record, total 2
//   Ring 05 : 3 -> 0    one line for each channel  → the first few are kept, all are counted
//
// Of each kind the first different ones and an exact total (RecordLists); where repetition means
// something the first as they came (OrderedLines). Both are associative: joining the lists of two
// neighbouring stretches gives the list of the whole, wherever it was cut.
//
// Thousands of ranks print the same in the same order. So a settled list refers to a RecordLayout,
// which lists of the same records in the same order share, and beside it has only what is its own
// (SettledRecords): where its lines stand, its heads, and the few texts that name it. Whoever looks
// for a kind in the lists of all ranks looks at a few layouts. How lists come to share one is in
// model/record_trie.h, which readers of a job do without.

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
#include <type_traits>
#include <utility>
#include <vector>

#include "base/line.h"
#include "model/records.h"

namespace ncclog {

class LineTrie;
struct TrieNode;

/// The trie in which the lists of one thread are opened now; begins as nullptr. A new one comes once
/// it is full: a list that is of another one is added to it from its beginning. Copies share it, so
/// no two threads may have one.
using SharedTrie = std::shared_ptr<LineTrie>;

/// What many settled lists have alike: kind by kind, and in each kind as the lines came.
struct RecordLayout : boost::intrusive_ref_counter<RecordLayout> {
  /// The records of a key.
  struct Entry {
    uint16_t key = 0;
    uint16_t kept = 0;
    uint32_t end = 0;  ///< One past the place of its last record; the first is at end - kept.
    uint64_t total : 63 = 0;
    uint64_t full : 1 = 0;
  };

  /// nullptr: none is of that key.
  static const Entry* find(const std::vector<Entry>& entries, uint16_t key);

  std::vector<Entry> entries;                                 ///< By key, ascending.
  std::vector<boost::intrusive_ptr<const RecordText>> texts;  ///< By place.
  std::vector<uint32_t> heads;   ///< By place: into the heads of each list; 0 is no head.
  std::vector<Level> levels;     ///< By place: as the heads say; None where there is no head.
  std::vector<uint32_t> places;  ///< Of the records in the order in which they came.
  std::vector<uint16_t> order;   ///< Of the keys as they came: into `entries`.
  /// Where its lists ended. Dangles once its trie is gone: only for whoever holds that.
  TrieNode* node = nullptr;
  uint64_t trie = 0;      ///< LineTrie::number() of it.
  bool has_bare = false;  ///< Some record has no head.
  /// By place: some list has another text there. Never reset; each list sets its own before anybody
  /// else sees that list.
  mutable std::vector<std::atomic<bool>> varies;
};

/// Settled records. What a list has of its own stands in one piece of memory, because whoever looks
/// at the lists of all ranks waits for each piece.
class SettledRecords {
 public:
  /// What the records of a layout have of their own.
  struct Own {
    std::vector<boost::intrusive_ptr<const LineHead>> heads;  ///< The first is nullptr.
    std::vector<SourceRef> lines;                             ///< In the order in which they came.
    /// Those that are not the layout's, with the number of their record in that order, ascending.
    std::vector<std::pair<uint32_t, boost::intrusive_ptr<const RecordText>>> texts;
  };

  /// `own` is spent, but may be used again.
  static std::unique_ptr<SettledRecords> make(boost::intrusive_ptr<const RecordLayout> layout,
                                              Own& own);
  /// Adds what make() was given; `own` is empty before.
  void give_back(Own& own) const;
  std::unique_ptr<SettledRecords> copy() const;
  SettledRecords(const SettledRecords&) = delete;
  SettledRecords& operator=(const SettledRecords&) = delete;
  ~SettledRecords();

  size_t size() const { return layout_->texts.size(); }
  const RecordLayout& layout() const { return *layout_; }
  /// Into Job::processes, of a built job; -1 before.
  int process() const { return process_; }
  void set_process(int process) { process_ = process; }

  /// What stands before the messages, each once but for a few; the first is nullptr.
  std::span<const LineHead* const> heads() const {
    return {reinterpret_cast<const LineHead* const*>(this + 1), heads_};
  }
  /// Into heads(), by place.
  uint32_t head_index(size_t place) const { return layout_->heads[place]; }

  /// By place.
  Record operator[](size_t place) const {
    return {where(place), heads()[head_index(place)], text(place)};
  }
  /// As level_of and parse_message say of the record, without a look at the rest of it.
  Level level(size_t place) const {
    return layout_->heads[place] != 0 ? layout_->levels[place] : level_of((*this)[place]);
  }
  /// True if its head says that it is no WARN.
  bool is_below_warn(size_t place) const {
    return layout_->heads[place] != 0 && layout_->levels[place] != Level::Warn;
  }
  Message message(size_t place) const {
    return layout_->heads[place] != 0 ? parse_message(*text(place)) : parse_message((*this)[place]);
  }
  SourceRef where(size_t place) const {
    if (is_short_) return {units()[0], short_lines()[place]};
    const Line& line = lines()[place];
    return {units()[line.unit], line.number};
  }
  const RecordText* text(size_t place) const {
    const bool varies = layout_->varies[place].load(std::memory_order_relaxed);
    return varies ? own_text(place) : layout_->texts[place].get();
  }

  /// Of more memory than the type tells.
  static void operator delete(void* memory) { ::operator delete(memory); }

 private:
  struct Line {
    uint64_t unit : 24;  ///< Into units(): a list has fewer records.
    uint64_t number : 40;
  };

  SettledRecords() = default;
  const RecordText* own_text(size_t place) const;
  static SettledRecords* allocate(size_t bytes);
  size_t bytes() const;  ///< Behind this.

  // Behind this: heads, texts, units, places of the texts, lines.
  const RecordText* const* texts() const {
    return reinterpret_cast<const RecordText* const*>(this + 1) + heads_;
  }
  const uint64_t* units() const { return reinterpret_cast<const uint64_t*>(texts() + texts_); }
  const uint32_t* places() const { return reinterpret_cast<const uint32_t*>(units() + units_); }
  const uint32_t* short_lines() const { return places() + texts_; }
  const Line* lines() const {
    // They need an address as units do.
    return reinterpret_cast<const Line*>(short_lines() + texts_ % 2);
  }

  boost::intrusive_ptr<const RecordLayout> layout_;
  int process_ = -1;
  uint32_t heads_ = 0;  ///< How many there are.
  uint32_t texts_ = 0;
  uint32_t units_ : 31 = 0;
  uint32_t is_short_ : 1 = 0;  ///< There is one unit, and numbers of lines have 32 bits.
};

/// Goes over what `Of` has at places one behind the other.
template <typename Of>
class PlaceIterator {
 public:
  using value_type = std::remove_cvref_t<decltype(std::declval<const Of&>()[0])>;
  using reference = value_type;
  using pointer = const value_type*;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;  // What it gives is made when it is asked for.
  using iterator_concept = std::forward_iterator_tag;

  PlaceIterator() = default;
  PlaceIterator(const Of* all, size_t place) : all_(all), place_(place) {}
  value_type operator*() const { return (*all_)[place_]; }
  PlaceIterator& operator++() { return ++place_, *this; }
  PlaceIterator operator++(int) { return {all_, place_++}; }
  bool operator==(const PlaceIterator& other) const { return place_ == other.place_; }

 private:
  const Of* all_ = nullptr;
  size_t place_ = 0;
};

/// Some records of a list, one behind the other. Views the RecordLists that they are of, which may
/// be moved.
class Records {
 public:
  Records() = default;
  Records(const SettledRecords& all, size_t begin, size_t end)
      : all_(&all), begin_(begin), end_(end) {}
  PlaceIterator<SettledRecords> begin() const { return {all_, begin_}; }
  PlaceIterator<SettledRecords> end() const { return {all_, end_}; }
  size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  Record operator[](size_t n) const { return (*all_)[begin_ + n]; }
  Record front() const { return (*all_)[begin_]; }
  Record back() const { return (*all_)[end_ - 1]; }
  const SettledRecords* all() const { return all_; }  ///< Those of the whole list; may be nullptr.
  size_t first_place() const { return begin_; }       ///< In all().
  size_t end_place() const { return end_; }           ///< Behind the last one, likewise.

 private:
  const SettledRecords* all_ = nullptr;
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

// The kept lines of one speaker by what they are: the kind of message, or the pattern they match.
//
//   proxy_connected → 812 lines, 256 kept        network_selected → 1 line
//
/// Lists of records by key, in ascending order of the keys. Between add() and settle() nothing may
/// be asked but which keys there are. All of a list's changes are to be given the same trie, or
/// much is done again.
class RecordLists {
 public:
  RecordLists();
  RecordLists(const RecordLists& other);
  RecordLists(RecordLists&&) noexcept;
  RecordLists& operator=(const RecordLists& other) { return *this = RecordLists(other); }
  RecordLists& operator=(RecordLists&&) noexcept;
  ~RecordLists();

  /// Counts a line, the texts of which must live until then. `known` says where it stands, and has
  /// its texts if they are known before the record is made; `hash` is as in the record's text: equal
  /// messages are kept once. `make` is called for its OwnedRecord only if it is new, fewer than `most`
  /// are kept, and other lists have not gone on with it from here. Defined in model/record_trie.h.
  template <typename Make>
  void add(SharedTrie& trie, uint16_t key, const Record& known, uint64_t hash, Make&& make,
           size_t most = RecordList::kMaxKept);

  /// Counts a line of a list that is full; false if that is not so.
  bool add_to_full(SharedTrie& trie, uint16_t key);

  /// Puts all records that were added where they belong.
  void settle();

  /// The same if many records came since it was done. Defined in model/record_trie.h.
  void settle_many();

  /// No total if there is none. Valid until the lists are changed.
  RecordList find(uint16_t key) const;

  /// The records of that list; none if there is no such list.
  Records kept(uint16_t key) const { return find(key).kept; }

  bool contains(uint16_t key) const;
  bool empty() const { return builder_ == nullptr && layout_ == nullptr; }

  /// All records, kind by kind; nullptr: there are none.
  const SettledRecords* all() const { return settled_.get(); }
  void set_process(int process) {
    if (settled_ != nullptr) settled_->set_process(process);
  }

  /// What keys they have, if there are any; mostly those of the layout.
  const std::vector<RecordLayout::Entry>& entries() const {
    return own_entries_ != nullptr ? *own_entries_ : layout_->entries;
  }

  /// Keys and their lists.
  std::pair<uint16_t, RecordList> operator[](size_t place) const {
    const RecordLayout::Entry& entry = entries()[place];
    return {entry.key, list(entry)};
  }
  PlaceIterator<RecordLists> begin() const { return {this, 0}; }
  PlaceIterator<RecordLists> end() const {
    return {this, layout_ == nullptr ? 0 : entries().size()};
  }

  /// Joins what a later stretch of input kept, and settles.
  void merge(SharedTrie& trie, RecordLists&& later, const RecordLimit& limit = {});

  /// Adds the list of a key, its records in input order, to lists that only append() has made. False:
  /// the key is not greater than the last one, or so many lines cannot have been kept. To be settled
  /// afterwards.
  bool append(SharedTrie& trie, uint16_t key, uint64_t total, bool full,
              std::vector<OwnedRecord>&& kept);

  /// Keeps the first records of each list only, as many as `limit` allows. Settles if it
  /// cuts any.
  void cut_to(SharedTrie& trie, const RecordLimit& limit);

  /// Keeps the records of which `stays(key, record)` is true, as if no other had come, and settles.
  /// Lists of which none is left go: rules ask which kinds there are.
  void keep_only(SharedTrie& trie, const std::function<bool(uint16_t key, const Record&)>& stays);

  /// As if no message had come twice.
  void forget_repeats();

 private:
  struct Builder;  ///< Takes records as they come (model/record_trie.h).

  static std::unique_ptr<Builder>& idle();
  Builder& open(SharedTrie& trie);
  Builder& open_slowly(SharedTrie& trie);
  template <typename Take>
  void for_all_as_they_came(Take&& take) const;
  template <typename Stays>
  void keep_those(SharedTrie& trie, bool counts_others, Stays&& stays);
  RecordList list(const RecordLayout::Entry& entry) const {
    return {entry.total, entry.full != 0, {*settled_, entry.end - size_t{entry.kept}, entry.end}};
  }

  std::unique_ptr<Builder> builder_;                 ///< While records come, else nullptr.
  boost::intrusive_ptr<const RecordLayout> layout_;  ///< Else of these; nullptr: there are none.
  std::unique_ptr<SettledRecords> settled_;
  /// Of other totals than the layout's.
  std::unique_ptr<std::vector<RecordLayout::Entry>> own_entries_;
};

// Lines whose order and repetition matter: the first ones of a family as they came, equal or not.
//
//   # nThread 1 nGpus 8 minBytes 8 …      the same line again begins another run

/// The first lines of a family, in input order. Of lines that list where ranks run more are kept:
/// they are as many as ranks, and the rows of the table stand behind them.
struct OrderedLines {
  uint64_t total = 0;  ///< Lines of the family, kept or not.
  std::vector<OwnedRecord> kept;

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
  void merge(OrderedLines&& later);

 private:
  template <typename Io>
  friend void carry(Io& io, OrderedLines& lines);  ///< part/carry_shard.h

  /// Takes a place for one more line of that kind; false: there is no room.
  bool takes(uint16_t kind);

  size_t places_ = 0;  ///< Lines of `kept` that list where ranks run.
};

}  // namespace ncclog
