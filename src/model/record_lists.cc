#include "model/record_lists.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "log/known_messages.h"
#include "log/messages.h"

namespace ncclog {

using Entry = RecordRow::Entry;

size_t RecordLimit::of(uint16_t kind) const {
  switch (kind) {
    case kKindIndex<TopologyPaths>:
    case kKindIndex<GraphChannel>:
    case kKindIndex<RingNeighbours>:
    case kKindIndex<TreeNeighbours>:
    case kKindIndex<ProxyConnected>:
    case kKindIndex<ProxyNewConnection>:
      return most_numbered;
    default:
      return most;
  }
}

RecordLimit record_limit(size_t speakers) {
  constexpr size_t kTogether = 8192;
  constexpr size_t kFewest = 32;
  constexpr size_t kFewestNumbered = 4;
  // In steps, because every list is looked at when the number falls.
  const size_t share = kTogether / std::bit_ceil(std::max<size_t>(speakers, 1));
  return {std::clamp(share, kFewest, RecordList::kMaxKept),
          std::clamp(share, kFewestNumbered, RecordList::kMaxKept)};
}

// Records as they come.

RecordLists::RecordLists(const RecordLists& other)
    : coming_(other.coming_ ? std::make_unique<Coming>(*other.coming_) : nullptr),
      row_(other.row_),
      settled_(other.settled_ ? other.settled_->copy() : nullptr),
      own_entries_(other.own_entries_ ? std::make_unique<std::vector<Entry>>(*other.own_entries_)
                                      : nullptr) {}

RecordLists::Coming::List* RecordLists::Coming::find(uint16_t key) {
  uint8_t& likely = found[key % found.size()];
  if (likely < lists.size() && lists[likely].key == key) return &lists[likely];
  const auto list = std::ranges::find(lists, key, &List::key);
  if (list == lists.end()) return nullptr;
  likely = static_cast<uint8_t>(list - lists.begin());
  return &*list;
}

bool RecordLists::Coming::holds(const List& list, uint64_t hash) const {
  for (const RecordStep* at = list.last; at != nullptr; at = at->alike) {
    if (hashes[at->number] == hash) return true;
  }
  return false;
}

bool RecordLists::Coming::count(uint16_t key, uint64_t hash, size_t most) {
  List* const list = find(key);
  if (list == nullptr) return false;
  if (!list->full && !holds(*list, hash)) {
    if (list->last->kept < most) return false;
    list->full = true;
  }
  ++list->more;
  return true;
}

void RecordLists::Coming::add(uint16_t key, KeptRecord&& record) {
  // Where heads have times, each line has its own.
  constexpr size_t kLastHeads = 8;
  uint32_t head = 0;
  if (record.head != nullptr) {
    const size_t begin = own.heads.size() - std::min(own.heads.size(), kLastHeads);
    const auto known = std::find(own.heads.begin() + static_cast<std::ptrdiff_t>(begin),
                                 own.heads.end(), record.head);
    head = static_cast<uint32_t>(known - own.heads.begin());
    if (known == own.heads.end()) own.heads.push_back(record.head);
  }
  const uint64_t hash = record.rest->hash;
  const List* const list = find(key);
  RecordStep wanted;
  wanted.alike = list == nullptr ? nullptr : list->last;
  wanted.text = std::move(record.rest);
  wanted.head = head;
  wanted.key = key;
  wanted.entry = static_cast<uint16_t>(list == nullptr ? lists.size()
                                                       : static_cast<size_t>(list - lists.data()));
  wanted.level = record.head == nullptr ? Level::None : record.head->level;
  RecordStep* const next = tree->step_after(step, wanted);
  const bool is_own = wanted.text != nullptr && next->text != wanted.text;
  if (is_own) own.texts.emplace_back(next->number, std::move(wanted.text));
  [[maybe_unused]] const bool is_added = go_to(next, record.where, hash);
  assert(is_added);  // count() takes the lines of a full list.
}

/// Where records of this thread came that are settled now: the next ones need no new memory.
std::unique_ptr<RecordLists::Coming>& RecordLists::idle() {
  thread_local std::unique_ptr<Coming> coming;
  return coming;
}

/// `take` is called for each key and record. Only of settled lists that are not empty.
template <typename Take>
void RecordLists::for_all_as_they_came(Take&& take) const {
  std::vector<uint16_t> keys(row_->places.size());  // By place.
  for (const Entry& entry : entries()) {
    std::fill_n(keys.begin() + entry.end - entry.kept, entry.kept, entry.key);
  }
  for (const uint32_t place : row_->places) take(keys[place], (*settled_)[place]);
}

/// Goes on where the row ended: more is to come.
RecordLists::Coming& RecordLists::open_slowly(RecordRows& rows) {
  const RecordLists settled = std::exchange(*this, RecordLists());
  coming_ = idle() != nullptr ? std::move(idle()) : std::make_unique<Coming>();
  Coming& coming = *coming_;
  coming.tree = rows.tree();
  coming.step = coming.tree->root();
  if (settled.row_ == nullptr) {
    constexpr size_t kUsual = 32;
    coming.own.heads.reserve(kUsual);
    coming.own.heads.emplace_back();
    coming.own.lines.reserve(kUsual);
    coming.lists.reserve(kUsual);
  } else if (settled.row_->tree == coming.tree->number()) {
    settled.settled_->give_back(coming.own);
    coming.step = settled.row_->step;
    coming.lists.resize(settled.entries().size());
    coming.hashes.resize(coming.own.lines.size());
    for (RecordStep* step = coming.step; step->before != nullptr; step = step->before) {
      Coming::List& list = coming.lists[step->entry];
      if (list.last == nullptr) list.last = step;
      list.key = step->key;
      coming.hashes[step->number] = step->text->hash;
    }
    for (const auto& [number, text] : coming.own.texts) coming.hashes[number] = text->hash;
  } else {
    coming.own.heads.emplace_back();
    settled.for_all_as_they_came(
        [&](uint16_t key, const Record& record) { coming.add(key, keep(record)); });
  }
  if (settled.row_ != nullptr) {
    for (const Entry& entry : settled.entries()) {
      Coming::List& list = *coming.find(entry.key);
      list.more = entry.total - entry.kept;
      list.full = entry.full != 0;
    }
  }
  coming.before_opened = coming.own.lines.size();
  return coming;
}

bool RecordLists::append(RecordRows& rows, uint16_t key, uint64_t total, bool full,
                         std::vector<KeptRecord>&& kept) {
  assert(row_ == nullptr);
  constexpr uint64_t kMostLines = uint64_t{1} << 40;
  Coming& coming = open(rows);
  const bool is_greater = coming.lists.empty() || coming.lists.back().key < key;
  const bool is_sound = !kept.empty() && kept.size() <= RecordList::kMaxKept &&
                        kept.size() <= total && total < kMostLines;
  if (!is_greater || !is_sound) return false;
  for (KeptRecord& record : kept) coming.add(key, std::move(record));
  coming.lists.back().more = total - kept.size();
  coming.lists.back().full = full;
  return true;
}

bool RecordLists::add_to_full(RecordRows& rows, uint16_t key) {
  if (coming_ == nullptr && !find(key).full) return false;
  Coming::List* const list = open(rows).find(key);
  if (list == nullptr || !list->full) return false;
  ++list->more;
  return true;
}

bool RecordLists::contains(uint16_t key) const {
  return coming_ != nullptr ? coming_->find(key) != nullptr : find(key).total > 0;
}

// Looking at them.

RecordList RecordLists::find(uint16_t key) const {
  assert(coming_ == nullptr);
  if (row_ == nullptr) return {};
  const Entry* const entry = RecordRow::find(entries(), key);
  return entry == nullptr ? RecordList() : list(*entry);
}

// Putting them into rows.

/// By key, ascending.
std::vector<Entry> RecordLists::Coming::entries() const {
  std::vector<Entry> all;
  for (const List& list : lists) {
    all.push_back({list.key, list.last->kept, 0, list.last->kept + list.more, list.full});
  }
  std::ranges::sort(all, {}, &Entry::key);
  uint32_t end = 0;
  for (Entry& entry : all) entry.end = end += entry.kept;
  return all;
}

/// The row of their steps, with their totals.
boost::intrusive_ptr<const RecordRow> RecordLists::Coming::row() const {
  boost::intrusive_ptr<RecordRow> row(new RecordRow);
  row->step = step;
  row->tree = tree->number();
  row->entries = entries();
  const size_t size = own.lines.size();
  row->texts.resize(size);
  row->heads.resize(size);
  row->levels.resize(size);
  row->places.resize(size);
  row->varies = std::vector<std::atomic<bool>>(size);
  std::vector<uint32_t> ends;  // By the order in which keys came.
  for (const List& list : lists) {
    ends.push_back(RecordRow::find(row->entries, list.key)->end);
    row->totals.push_back({list.more, list.full});
  }
  for (const RecordStep* at = step; at->before != nullptr; at = at->before) {
    const uint32_t place = --ends[at->entry];
    row->places[at->number] = place;
    row->texts[place] = at->text;
    row->heads[place] = at->head;
    row->levels[place] = at->level;
    row->has_bare |= at->head == 0;
  }
  return row;
}

void RecordLists::settle() {
  if (coming_ == nullptr) return;
  std::unique_ptr<Coming> coming = std::move(coming_);
  if (coming->lists.empty()) return;
  constexpr size_t kMostRows = 8;  // Which differ in how often lines came again.
  auto& rows = coming->step->rows;
  const auto known = std::ranges::find_if(rows, [&](const auto& row) {
    return std::ranges::equal(coming->lists, row->totals, [](const auto& list, const auto& total) {
      return list.more == total.more && list.full == total.full;
    });
  });
  if (known != rows.end()) {
    row_ = *known;
  } else if (rows.empty() || (rows.size() < kMostRows && !coming->tree->is_full())) {
    row_ = coming->row();
    coming->tree->note_row(row_);
  } else {
    row_ = rows.front();
    own_entries_ = std::make_unique<std::vector<Entry>>(coming->entries());
  }
  settled_ = RowRecords::make(row_, coming->own);
  coming->tree.reset();
  coming->lists.clear();
  coming->hashes.clear();
  idle() = std::move(coming);
}

// Changing them.

/// Settles, and keeps the records of which `stays(key, record, how many of its key were kept before
/// it)` is true. The others are counted if `counts_others`; if not, it is as if they had not come.
template <typename Stays>
void RecordLists::keep_those(RecordRows& rows, bool counts_others, Stays&& stays) {
  settle();
  if (empty()) return;
  const RecordLists whole = std::exchange(*this, RecordLists());
  Coming& coming = open(rows);
  whole.for_all_as_they_came([&](uint16_t key, const Record& record) {
    const Coming::List* const list = coming.find(key);
    if (stays(key, record, list == nullptr ? 0 : list->last->kept)) {
      coming.add(key, keep(record));
    }
  });
  for (const Entry& entry : whole.entries()) {
    Coming::List* const list = coming.find(entry.key);
    if (list == nullptr) continue;
    const size_t others = size_t{entry.kept} - list->last->kept;
    list->more = entry.total - entry.kept + (counts_others ? others : 0);
    list->full = entry.full != 0 || (counts_others && others > 0);
  }
  settle();
}

void RecordLists::merge(RecordRows& rows, RecordLists&& later, const RecordLimit& limit) {
  later.settle();
  if (later.empty()) return settle();
  if (empty()) {
    *this = std::move(later);
    return cut_to(rows, limit);
  }
  Coming& coming = open(rows);
  later.for_all_as_they_came([&](uint16_t key, const Record& record) {
    if (coming.count(key, record.rest->hash, limit.of(key))) return;
    coming.add(key, keep(record));
  });
  for (const Entry& entry : later.entries()) {
    Coming::List& list = *coming.find(entry.key);
    list.more += entry.total - entry.kept;
    list.full |= entry.full != 0;
  }
  settle();
}

void RecordLists::cut_to(RecordRows& rows, const RecordLimit& limit) {
  // Most lists are shorter than any limit.
  const size_t fewest = std::min(limit.most, limit.most_numbered);
  const auto is_longer = [&](uint16_t key, size_t kept) {
    return kept > fewest && kept > limit.of(key);
  };
  const auto is_any_longer = [&] {
    if (coming_ == nullptr) {
      return row_ != nullptr && std::ranges::any_of(entries(), [&](const Entry& entry) {
               return is_longer(entry.key, entry.kept);
             });
    }
    return std::ranges::any_of(coming_->lists, [&](const Coming::List& list) {
      return is_longer(list.key, list.last->kept);
    });
  };
  if (!is_any_longer()) return;
  // As if the next different line had come when so many were kept.
  keep_those(rows, true,
             [&](uint16_t key, const Record&, size_t kept) { return kept < limit.of(key); });
}

void RecordLists::keep_only(RecordRows& rows,
                            const std::function<bool(uint16_t key, const Record&)>& stays) {
  keep_those(rows, false,
             [&](uint16_t key, const Record& record, size_t) { return stays(key, record); });
}

void RecordLists::forget_repeats() {
  settle();
  if (empty()) return;
  auto counted = std::make_unique<std::vector<Entry>>(entries());
  for (Entry& entry : *counted) entry.total = entry.kept;
  own_entries_ = std::move(counted);
}

// Lines whose order matters.

bool KeptLines::takes(uint16_t kind) {
  const bool is_place = kind == kKindIndex<NcclTestsRank>;
  const bool is_room = is_place ? places_ < kMaxPlaces : kept.size() - places_ < kMaxKept;
  places_ += is_place && is_room;
  return is_room;
}

void KeptLines::merge(KeptLines&& later) {
  total += later.total;
  for (KeptRecord& record : later.kept) {
    if (takes(Record(record).kind())) kept.push_back(std::move(record));
  }
}

}  // namespace ncclog
