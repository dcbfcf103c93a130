#include "model/record_lists.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <span>

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

// Settled records.

const Entry* RecordRow::find(const std::vector<Entry>& entries, uint16_t key) {
  const auto entry = std::ranges::lower_bound(entries, key, {}, &Entry::key);
  return entry == entries.end() || entry->key != key ? nullptr : &*entry;
}

RowRecords* RowRecords::allocate(size_t bytes) {
  auto* const made = new (::operator new(sizeof(RowRecords) + bytes)) RowRecords;
  made->bytes_ = static_cast<uint32_t>(bytes);
  return made;
}

std::unique_ptr<RowRecords> RowRecords::make(boost::intrusive_ptr<const RecordRow> row, Own&& own) {
  const bool is_short = own.units.size() == 1 && std::ranges::all_of(own.lines, [](SourceRef line) {
                          return line.line == static_cast<uint32_t>(line.line);
                        });
  const size_t bytes = (own.heads.size() + own.texts.size() + own.units.size()) * sizeof(uint64_t) +
                       (own.places.size() + own.places.size() % 2) * sizeof(uint32_t) +
                       own.lines.size() * (is_short ? sizeof(uint32_t) : sizeof(Line));
  std::unique_ptr<RowRecords> made(allocate(bytes));
  made->row_ = std::move(row);
  made->heads_ = static_cast<uint32_t>(own.heads.size());
  made->texts_ = static_cast<uint32_t>(own.texts.size());
  made->units_ = static_cast<uint32_t>(own.units.size());
  made->is_short_ = is_short;
  auto* at = reinterpret_cast<char*>(made.get() + 1);
  const auto put = [&at](const auto& value) {
    std::memcpy(at, &value, sizeof(value));
    at += sizeof(value);
  };
  for (auto& head : own.heads) put(head.detach());
  for (auto& text : own.texts) put(text.detach());
  for (const uint64_t unit : own.units) put(unit);
  for (const uint32_t place : own.places) put(place);
  if (!is_short && own.places.size() % 2 != 0) put(uint32_t{0});
  for (const SourceRef line : own.lines) {
    if (is_short) {
      put(static_cast<uint32_t>(line.line));
    } else {
      put(Line{line.unit, line.line});
    }
  }
  return made;
}

std::unique_ptr<RowRecords> RowRecords::copy() const {
  std::unique_ptr<RowRecords> made(allocate(bytes_));
  made->row_ = row_;
  made->heads_ = heads_;
  made->texts_ = texts_;
  made->units_ = units_;
  made->is_short_ = is_short_;
  std::memcpy(static_cast<void*>(made.get() + 1), this + 1, bytes_);
  for (size_t i = 0; i < heads_; ++i) {
    if (heads()[i] != nullptr) intrusive_ptr_add_ref(heads()[i]);
  }
  for (size_t i = 0; i < texts_; ++i) intrusive_ptr_add_ref(texts()[i]);
  return made;
}

RowRecords::~RowRecords() {
  for (size_t i = 0; i < heads_; ++i) {
    if (heads()[i] != nullptr) intrusive_ptr_release(heads()[i]);
  }
  for (size_t i = 0; i < texts_; ++i) intrusive_ptr_release(texts()[i]);
}

const RecordText* RowRecords::own_text(size_t place) const {
  const std::span own(places(), texts_);
  const auto found = std::ranges::lower_bound(own, place);
  if (found == own.end() || *found != place) return row_->texts[place].get();
  return texts()[found - own.begin()];
}

namespace {

/// Which keys there are, how many records of each, and which of them have one head.
uint64_t hash_of(const RecordRow& row) {
  uint64_t hash = row.entries.size();
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  };
  for (const Entry& entry : row.entries) mix(uint64_t{entry.key} << 16 | entry.kept);
  for (size_t i = 0; i < row.heads.size(); ++i) {
    mix(uint64_t{row.heads[i]} << 8 | static_cast<uint64_t>(row.levels[i]));
  }
  return hash;
}

bool are_alike(const RecordRow& a, const RecordRow& b) {
  return a.hash == b.hash && a.heads == b.heads && a.levels == b.levels &&
         std::ranges::equal(a.entries, b.entries, [](const Entry& x, const Entry& y) {
           return x.key == y.key && x.kept == y.kept;
         });
}

/// How many of those texts are not the row's.
size_t other_texts(const RecordRow& row,
                   const std::vector<boost::intrusive_ptr<const RecordText>>& texts) {
  if (row.texts.size() != texts.size()) return texts.size();
  size_t other = 0;
  for (size_t i = 0; i < texts.size(); ++i) other += texts[i] != row.texts[i] ? 1 : 0;
  return other;
}

constexpr size_t kRows = 1024;
constexpr size_t kAlike = 16;  ///< Rows of one hash: ranks differ in what names their GPU.

/// The row that has most of that one alike; nullptr: none of those that came lately has enough.
boost::intrusive_ptr<const RecordRow> find_row(RecordRows& rows, const RecordRow& row) {
  rows.resize(kRows);
  const size_t near = row.texts.size() / 4;
  size_t fewest = row.texts.size() / 2 + 1;
  boost::intrusive_ptr<const RecordRow> best;
  for (size_t look = 0; look < kAlike; ++look) {
    const auto& known = rows[(row.hash + look) % kRows];
    // While there is room, ranks of other GPUs get rows of their own.
    if (known == nullptr) return fewest <= near ? best : nullptr;
    if (known->hash != row.hash) continue;
    const size_t others = other_texts(*known, row.texts);
    if (others >= fewest || !are_alike(*known, row)) continue;
    fewest = others;
    best = known;
    if (fewest <= near) break;
  }
  return best;
}

void note_row(RecordRows& rows, const boost::intrusive_ptr<const RecordRow>& row) {
  size_t look = 0;
  while (look + 1 < kAlike && rows[(row->hash + look) % kRows] != nullptr) ++look;
  rows[(row->hash + look) % kRows] = row;
}

/// The place of an element of that value, which is added unless it is one of the last ones.
template <typename T>
size_t place_of(std::vector<T>& all, const T& value) {
  constexpr size_t kLast = 8;  // Where heads have times, each line has its own.
  for (size_t place = all.size(); place > 0 && place + kLast > all.size(); --place) {
    if (all[place - 1] == value) return place - 1;
  }
  all.push_back(value);
  return all.size() - 1;
}

}  // namespace

// Records as they come.

RecordLists::RecordLists(const RecordLists& other)
    : coming_(other.coming_ ? std::make_unique<Coming>(*other.coming_) : nullptr),
      row_(other.row_),
      settled_(other.settled_ ? other.settled_->copy() : nullptr),
      own_entries_(other.own_entries_ ? std::make_unique<std::vector<Entry>>(*other.own_entries_)
                                      : nullptr) {}

Entry* RecordLists::Coming::find(uint16_t key) {
  const auto place = std::find(keys.begin(), keys.end(), key);
  return place == keys.end() ? nullptr : &entries[static_cast<size_t>(place - keys.begin())];
}

Entry& RecordLists::Coming::add(uint16_t key) {
  keys.push_back(key);
  return entries.emplace_back(Entry{key, 0, 0, 0, 0});
}

/// Where records of this thread came that are settled now: the next ones need no new memory.
std::unique_ptr<RecordLists::Coming>& RecordLists::idle() {
  thread_local std::unique_ptr<Coming> coming;
  return coming;
}

/// Takes the row apart: more is to come.
RecordLists::Coming& RecordLists::open_slowly() {
  const RecordLists settled = std::exchange(*this, RecordLists());
  coming_ = idle() != nullptr ? std::move(idle()) : std::make_unique<Coming>();
  constexpr size_t kUsual = 32;
  coming_->records.reserve(kUsual);
  coming_->before.reserve(kUsual);
  coming_->keys.reserve(kUsual);
  coming_->entries.reserve(kUsual);
  for (const auto& [key, list] : settled) {
    std::vector<KeptRecord> kept;
    for (const Record& record : list.kept) kept.push_back(keep(record));
    append(key, list.total, list.full, std::move(kept));
  }
  coming_->before_opened = coming_->records.size();
  return *coming_;
}

bool RecordLists::append(uint16_t key, uint64_t total, bool full, std::vector<KeptRecord>&& kept) {
  Coming& coming = open();
  const bool is_behind = coming.keys.empty() || coming.keys.back() < key;
  if (!is_behind || kept.size() > RecordList::kMaxKept || kept.size() > total) return false;
  Entry& entry = coming.entry(key);
  entry.kept = static_cast<uint16_t>(kept.size());
  entry.total = total;
  entry.full = full;
  for (KeptRecord& record : kept) {
    coming.before.push_back(entry.end);
    coming.records.push_back(std::move(record));
    entry.end = static_cast<uint32_t>(coming.records.size());
  }
  return true;
}

bool RecordLists::add_to_full(uint16_t key) {
  if (coming_ == nullptr && !find(key).full) return false;
  Entry* const entry = open().find(key);
  if (entry == nullptr || !entry->full) return false;
  ++entry->total;
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

void RecordLists::settle(RecordRows* rows) {
  if (coming_ == nullptr) return;
  std::unique_ptr<Coming> coming = std::move(coming_);
  if (coming->entries.empty()) return;
  RecordRow row;
  row.entries = coming->entries;
  std::ranges::sort(row.entries, {}, &Entry::key);
  std::vector<uint32_t> order(coming->records.size());
  size_t end = 0;
  for (Entry& entry : row.entries) {
    size_t place = end += entry.kept;
    for (uint32_t at = entry.end; at != 0; at = coming->before[at - 1]) order[--place] = at - 1;
    entry.end = static_cast<uint32_t>(end);
  }
  RowRecords::Own own;
  own.heads.emplace_back();
  own.lines.reserve(order.size());
  row.texts.reserve(order.size());
  row.heads.reserve(order.size());
  row.levels.reserve(order.size());
  for (const uint32_t at : order) {
    KeptRecord& record = coming->records[at];
    own.lines.push_back({place_of(own.units, record.where.unit), record.where.line});
    row.levels.push_back(record.head == nullptr ? Level::None : record.head->level);
    row.heads.push_back(
        record.head == nullptr ? 0 : static_cast<uint32_t>(place_of(own.heads, record.head)));
    row.texts.push_back(std::move(record.rest));
  }
  row.hash = hash_of(row);
  row_ = rows != nullptr ? find_row(*rows, row) : nullptr;
  if (row_ == nullptr) {
    row.varies = std::vector<std::atomic<bool>>(row.texts.size());
    row_ = new RecordRow(std::move(row));
    if (rows != nullptr) note_row(*rows, row_);
  } else {
    const bool counts_alike = row.entries == row_->entries;
    if (!counts_alike) own_entries_ = std::make_unique<std::vector<Entry>>(std::move(row.entries));
    for (size_t place = 0; place < row.texts.size(); ++place) {
      if (row.texts[place] == row_->texts[place]) continue;
      row_->varies[place].store(true, std::memory_order_relaxed);
      own.places.push_back(static_cast<uint32_t>(place));
      own.texts.push_back(std::move(row.texts[place]));
    }
  }
  settled_ = RowRecords::make(row_, std::move(own));
  coming->keys.clear();
  coming->entries.clear();
  coming->records.clear();
  coming->before.clear();
  idle() = std::move(coming);
}

// Changing them.

void RecordLists::merge(RecordLists&& later, const RecordLimit& limit, RecordRows* rows) {
  later.settle(rows);
  if (later.empty()) return settle(rows);
  if (empty()) {
    *this = std::move(later);
    return cut_to(limit, rows);
  }
  Coming& coming = open();
  for (const auto& [key, list] : later) {
    const uint64_t total = coming.entry(key).total + list.total;
    for (const Record& record : list.kept) {
      add(
          key, record.rest->hash, [&] { return keep(record); }, limit.of(key));
    }
    Entry& entry = coming.entry(key);
    entry.total = total;
    entry.full |= list.full ? 1 : 0;
  }
  settle(rows);
}

void RecordLists::cut_to(const RecordLimit& limit, RecordRows* rows) {
  // Most lists are shorter than any limit.
  const size_t fewest = std::min(limit.most, limit.most_numbered);
  const auto is_longer = [&](const Entry& entry) {
    return entry.kept > fewest && entry.kept > limit.of(entry.key);
  };
  if (empty()) return;
  if (std::ranges::none_of(coming_ ? coming_->entries : entries(), is_longer)) return;
  const bool was_settled = coming_ == nullptr;
  settle();
  const RecordLists whole = std::exchange(*this, RecordLists());
  for (const auto& [key, list] : whole) {
    const size_t most = std::min(limit.of(key), list.kept.size());
    std::vector<KeptRecord> kept;
    for (size_t i = 0; i < most; ++i) kept.push_back(keep(list.kept[i]));
    // As if the next different line had come when so many were kept.
    append(key, list.total, list.full || most < list.kept.size(), std::move(kept));
  }
  if (was_settled) settle(rows);
}

void RecordLists::keep_only(const std::function<bool(uint16_t key, const Record&)>& stays) {
  settle();
  const RecordLists whole = std::exchange(*this, RecordLists());
  for (const auto& [key, list] : whole) {
    std::vector<KeptRecord> kept;
    for (const Record& record : list.kept) {
      if (stays(key, record)) kept.push_back(keep(record));
    }
    const uint64_t gone = list.kept.size() - kept.size();
    if (!kept.empty()) append(key, list.total - gone, list.full, std::move(kept));
  }
  settle();
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
