// What many lists of records have alike, and what each has of its own.
//
//   rank 0   version 2.28.3 ─ comm 0x5a rank 0 ─ Using network IB
//   rank 1   the same       ─ comm 0x6b rank 1 ─ the same          its own: one text, three numbers
//   rank 2   the same       ─ comm 0x7c rank 2 ─ Channel 00/02 : …  another kind: steps of its own
//
// Thousands of ranks print the same in the same order. So a list that is being read is a place in a
// tree of steps (RecordStep), and beside it only what is its own: where its lines stand, its heads,
// and the few texts that name it. For most lines nothing is noted but their number. A settled list
// refers to a row (RecordRow), which lists of the same steps and totals share. Whoever looks for a
// kind in the lists of all ranks looks at a few rows.

#pragma once

#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/line.h"
#include "model/records.h"

namespace ncclog {

struct RecordStep;

/// What many settled lists have alike: kind by kind, and in each kind as the lines came.
struct RecordRow : boost::intrusive_ref_counter<RecordRow> {
  /// The records of a key.
  struct Entry {
    uint16_t key = 0;
    uint16_t kept = 0;
    uint32_t end = 0;  ///< One past the place of its last record; the first is at end - kept.
    uint64_t total : 63 = 0;
    uint64_t full : 1 = 0;
  };

  /// Of a key: the lines that are not kept, and RecordList::full.
  struct Total {
    uint64_t more = 0;
    bool full = false;
  };

  /// nullptr: none is of that key.
  static const Entry* find(const std::vector<Entry>& entries, uint16_t key);

  std::vector<Entry> entries;                                 ///< By key, ascending.
  std::vector<boost::intrusive_ptr<const RecordText>> texts;  ///< By place.
  std::vector<uint32_t> heads;   ///< By place: into the heads of each list; 0 is no head.
  std::vector<Level> levels;     ///< By place: as the heads say; None where there is no head.
  std::vector<uint32_t> places;  ///< Of the records in the order in which they came.
  std::vector<Total> totals;     ///< In the order in which keys came: of lines that are not kept.
  /// Where its lists ended. Dangles once its tree is gone: only for whoever holds that.
  RecordStep* step = nullptr;
  uint64_t tree = 0;      ///< RecordTree::number() of it.
  bool has_bare = false;  ///< Some record has no head.
  /// By place: some list has another text there. Never reset; each list sets its own before anybody
  /// else sees that list.
  mutable std::vector<std::atomic<bool>> varies;
};

/// A record, as lists have it after those of the steps before it.
struct RecordStep {
  RecordStep* before = nullptr;   ///< nullptr: nothing has come.
  RecordStep* alike = nullptr;    ///< The last one before it of the same key; nullptr: none.
  RecordStep* next = nullptr;     ///< The newest step after it; the others follow by
  RecordStep* sibling = nullptr;  ///< this, from newer to older.
  boost::intrusive_ptr<const RecordText> text;
  std::vector<boost::intrusive_ptr<const RecordRow>> rows;  ///< Of lists that were settled here.
  uint32_t number = 0;                                      ///< How many records stand before it.
  uint32_t head = 0;                                        ///< Into the heads of each list.
  uint16_t key = 0;
  uint16_t kept = 0;   ///< How many of its key there are, with this one.
  uint16_t entry = 0;  ///< How many other keys came before its own.
  Level level = Level::None;
  bool varies = false;  ///< Some list has another text here.
};

/// The steps of lists, which one thread adds to.
class RecordTree {
 public:
  RecordTree();
  RecordTree(const RecordTree&) = delete;
  RecordTree& operator=(const RecordTree&) = delete;

  uint64_t number() const { return number_; }  ///< No other tree of the program has it.
  RecordStep* root() { return &steps_.front(); }

  /// The step after `step` with the key, head, level and text of `wanted`. Or one with another text,
  /// where few lists hold the wanted one or many texts stand there already: `wanted` keeps its text
  /// then, which is the list's own. If there is none, it is made of `wanted`.
  RecordStep* step_after(RecordStep* step, RecordStep& wanted);

  /// Whether no more should be added: another tree is to be begun.
  bool is_full() const { return steps_.size() >= kMostSteps || places_ >= kMostPlaces; }

  /// Notes a row for lists that are settled at its step, if there is room.
  void note_row(const boost::intrusive_ptr<const RecordRow>& row);

 private:
  static constexpr size_t kMostSteps = 16384;
  static constexpr size_t kMostPlaces = size_t{1} << 19;  ///< Of rows: some 10 MB.

  uint64_t number_;
  std::deque<RecordStep> steps_;
  size_t places_ = 0;
};

/// What lists that one thread reads or joins have alike. Of those that came lately only: memory is
/// bounded. Copies share their tree, so no two threads may have one.
class RecordRows {
 public:
  /// The tree in which lists are opened now: a new one once the last is full. A list that is of
  /// another one is added to it from its beginning.
  const std::shared_ptr<RecordTree>& tree() {
    if (tree_ == nullptr || tree_->is_full()) tree_ = std::make_shared<RecordTree>();
    return tree_;
  }

 private:
  std::shared_ptr<RecordTree> tree_;
};

/// Settled records. What a list has of its own stands in one piece of memory, because whoever looks
/// at the lists of all ranks waits for each piece.
class RowRecords {
 public:
  /// What the records of a row have of their own.
  struct Own {
    std::vector<boost::intrusive_ptr<const LineHead>> heads;  ///< The first is nullptr.
    std::vector<SourceRef> lines;                             ///< In the order in which they came.
    /// Those that are not the row's, with the number of their record in that order, ascending.
    std::vector<std::pair<uint32_t, boost::intrusive_ptr<const RecordText>>> texts;
  };

  /// `own` is spent, but may be used again.
  static std::unique_ptr<RowRecords> make(boost::intrusive_ptr<const RecordRow> row, Own& own);
  /// Adds what make() was given; `own` is empty before.
  void give_back(Own& own) const;
  std::unique_ptr<RowRecords> copy() const;
  RowRecords(const RowRecords&) = delete;
  RowRecords& operator=(const RowRecords&) = delete;
  ~RowRecords();

  size_t size() const { return row_->texts.size(); }
  const RecordRow& row() const { return *row_; }
  /// Into Job::processes, of a built job; -1 before.
  int process() const { return process_; }
  void set_process(int process) { process_ = process; }

  /// What stands before the messages, each once but for a few; the first is nullptr.
  std::span<const LineHead* const> heads() const {
    return {reinterpret_cast<const LineHead* const*>(this + 1), heads_};
  }
  /// Into heads(), by place.
  uint32_t head_index(size_t place) const { return row_->heads[place]; }

  /// By place.
  Record operator[](size_t place) const {
    return {where(place), heads()[head_index(place)], text(place)};
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

  boost::intrusive_ptr<const RecordRow> row_;
  int process_ = -1;
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

}  // namespace ncclog
