// Why are kept lines no flat vector of {kind, process, line, text}, with the texts interned?
//
// An init of 20,000 ranks may take 200 MB, and takes 191 MB. Of it 1.5 million lines are kept, 75 a
// rank, in 8.6 MB: 5.7 bytes each, of which 4 are the number of the line. Flat, 16 bytes each make
// 24 MB, 206 MB in all, before the vector grows and before anything is there that knows which
// messages a rank has printed already.

#include "model/record_lists.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "log/known_messages.h"
#include "log/messages.h"
#include "model/record_trie.h"

namespace ncclog {

using Entry = RecordLayout::Entry;

size_t RecordLimit::of(uint16_t kind) const {
  switch (kind) {
    case kKindIndex<TopologyPaths>:
    case kKindIndex<GraphChannel>:
    case kKindIndex<RingNeighbours>:
    case kKindIndex<TreeNeighbours>:
    case kKindIndex<ProxyConnected>:
    case kKindIndex<ProxyNewConnection>:
      return most_numbered;
    // A kernel repeats one event many times, and another one may stand behind it.
    case kKindIndex<Xid>:
    case kKindIndex<Sxid>:
    case kKindIndex<GpuOffBus>:
    case kKindIndex<GpuFirmwareSilent>:
    case kKindIndex<GpuStartFailed>:
    case kKindIndex<OomKill>:
      return RecordList::kMaxKept;
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

// The trie.

LineTrie::LineTrie() {
  static std::atomic<uint64_t> tries = 0;
  number_ = ++tries;
  nodes_.emplace_back();
}

TrieNode* LineTrie::node_after(TrieNode* node, TrieNode& wanted) {
  // A text that few lists hold names a rank or its host. One that many hold begins nodes of its own,
  // as do those of ranks at the same place in each host.
  constexpr unsigned kFew = 128;
  constexpr size_t kMostAlike = 16;
  TrieNode* like = nullptr;
  size_t likes = 0;
  constexpr size_t kMostLooked = 256;  // Hostile lists go on in thousands of ways.
  size_t looked = 0;
  for (TrieNode* known = node->next; known != nullptr && looked++ < kMostLooked;
       known = known->sibling) {
    const bool is_like =
        known->key == wanted.key && known->head == wanted.head && known->level == wanted.level;
    if (!is_like) continue;
    if (known->text == wanted.text) return known;
    if (likes++ == 0) like = known;
  }
  if (like != nullptr && (likes >= kMostAlike || wanted.text->use_count() <= kFew)) {
    like->varies = true;
    return like;
  }
  TrieNode& made = nodes_.emplace_back(std::move(wanted));
  made.before = node;
  made.number = node->before == nullptr ? 0 : node->number + 1;
  made.kept = static_cast<uint16_t>(made.alike == nullptr ? 1 : made.alike->kept + 1);
  made.sibling = std::exchange(node->next, &made);
  return &made;
}

void LineTrie::note_layout(const boost::intrusive_ptr<const RecordLayout>& layout) {
  if (is_full()) return;
  layout->node->layouts.push_back(layout);
  places_ += layout->texts.size();
}

// Settled records.

const Entry* RecordLayout::find(const std::vector<Entry>& entries, uint16_t key) {
  const auto entry = std::ranges::lower_bound(entries, key, {}, &Entry::key);
  return entry == entries.end() || entry->key != key ? nullptr : &*entry;
}

SettledRecords* SettledRecords::allocate(size_t bytes) {
  return new (::operator new(sizeof(SettledRecords) + bytes)) SettledRecords;
}

size_t SettledRecords::bytes() const {
  const size_t lines = size() * (is_short_ ? sizeof(uint32_t) : sizeof(Line));
  return (size_t{heads_} + texts_ + units_) * sizeof(uint64_t) +
         (size_t{texts_} + (is_short_ ? 0 : texts_ % 2)) * sizeof(uint32_t) + lines;
}

namespace {

/// The place of an element of that value, which is added unless it is one of the last ones.
size_t place_of(std::vector<uint64_t>& all, uint64_t value) {
  constexpr size_t kLast = 8;
  for (size_t place = all.size(); place > 0 && place + kLast > all.size(); --place) {
    if (all[place - 1] == value) return place - 1;
  }
  all.push_back(value);
  return all.size() - 1;
}

}  // namespace

std::unique_ptr<SettledRecords> SettledRecords::make(
    boost::intrusive_ptr<const RecordLayout> layout, Own& own) {
  const uint64_t unit = own.lines.front().unit;
  const bool is_short = std::ranges::all_of(own.lines, [unit](SourceRef line) {
    return line.unit == unit && line.line == static_cast<uint32_t>(line.line);
  });
  std::vector<uint64_t> units;
  std::vector<Line> lines;
  for (const SourceRef line : own.lines) {
    if (!is_short) lines.push_back({place_of(units, line.unit), line.line});
  }
  if (is_short) units.push_back(unit);
  const size_t texts = own.texts.size();
  const size_t bytes = (own.heads.size() + texts + units.size()) * sizeof(uint64_t) +
                       (texts + (is_short ? 0 : texts % 2)) * sizeof(uint32_t) +
                       own.lines.size() * (is_short ? sizeof(uint32_t) : sizeof(Line));
  std::unique_ptr<SettledRecords> made(allocate(bytes));
  made->heads_ = static_cast<uint32_t>(own.heads.size());
  made->texts_ = static_cast<uint32_t>(texts);
  made->units_ = static_cast<uint32_t>(units.size());
  made->is_short_ = is_short;
  for (auto& [number, text] : own.texts) number = layout->places[number];
  std::ranges::sort(own.texts, {}, [](const auto& text) { return text.first; });
  auto* at = reinterpret_cast<char*>(made.get() + 1);
  const auto put = [&at](const auto& value) {
    constexpr size_t kBytes = sizeof(value);  // NOLINT(bugprone-sizeof-expression): of a pointer.
    std::memcpy(at, static_cast<const void*>(&value), kBytes);
    at += kBytes;
  };
  for (auto& head : own.heads) put(head.detach());
  for (auto& [place, text] : own.texts) put(text.detach());
  for (const uint64_t number : units) put(number);
  for (const auto& [place, text] : own.texts) {
    layout->varies[place].store(true, std::memory_order_relaxed);
    put(place);
  }
  if (!is_short && texts % 2 != 0) put(uint32_t{0});
  for (size_t i = 0; i < own.lines.size(); ++i) {
    char* const to = at + layout->places[i] * (is_short ? sizeof(uint32_t) : sizeof(Line));
    if (is_short) {
      const auto line = static_cast<uint32_t>(own.lines[i].line);
      std::memcpy(to, &line, sizeof(line));
    } else {
      std::memcpy(to, &lines[i], sizeof(Line));
    }
  }
  made->layout_ = std::move(layout);
  own.heads.clear();
  own.lines.clear();
  own.texts.clear();
  return made;
}

void SettledRecords::give_back(Own& own) const {
  own.heads.assign(heads().begin(), heads().end());
  std::vector<uint32_t> numbers(layout_->places.size());
  for (uint32_t number = 0; number < numbers.size(); ++number) {
    numbers[layout_->places[number]] = number;
    own.lines.push_back(where(layout_->places[number]));
  }
  for (size_t i = 0; i < texts_; ++i) own.texts.emplace_back(numbers[places()[i]], texts()[i]);
  std::ranges::sort(own.texts, {}, [](const auto& text) { return text.first; });
}

std::unique_ptr<SettledRecords> SettledRecords::copy() const {
  std::unique_ptr<SettledRecords> made(allocate(bytes()));
  made->layout_ = layout_;
  made->process_ = process_;
  made->heads_ = heads_;
  made->texts_ = texts_;
  made->units_ = units_;
  made->is_short_ = is_short_;
  std::memcpy(static_cast<void*>(made.get() + 1), static_cast<const void*>(this + 1), bytes());
  for (size_t i = 0; i < heads_; ++i) {
    if (heads()[i] != nullptr) intrusive_ptr_add_ref(heads()[i]);
  }
  for (size_t i = 0; i < texts_; ++i) intrusive_ptr_add_ref(texts()[i]);
  return made;
}

SettledRecords::~SettledRecords() {
  for (size_t i = 0; i < heads_; ++i) {
    if (heads()[i] != nullptr) intrusive_ptr_release(heads()[i]);
  }
  for (size_t i = 0; i < texts_; ++i) intrusive_ptr_release(texts()[i]);
}

const RecordText* SettledRecords::own_text(size_t place) const {
  const std::span own(places(), texts_);
  const auto found = std::ranges::lower_bound(own, place);
  if (found == own.end() || *found != place) return layout_->texts[place].get();
  return texts()[found - own.begin()];
}

// Records as they come.

RecordLists::RecordLists() = default;
RecordLists::RecordLists(RecordLists&&) noexcept = default;
RecordLists& RecordLists::operator=(RecordLists&&) noexcept = default;
RecordLists::~RecordLists() = default;

RecordLists::RecordLists(const RecordLists& other)
    : builder_(other.builder_ ? std::make_unique<Builder>(*other.builder_) : nullptr),
      layout_(other.layout_),
      settled_(other.settled_ ? other.settled_->copy() : nullptr),
      own_entries_(other.own_entries_ ? std::make_unique<std::vector<Entry>>(*other.own_entries_)
                                      : nullptr) {}

RecordLists::Builder::List* RecordLists::Builder::find(uint16_t key) {
  uint8_t& likely = found[key % found.size()];
  if (likely < lists.size() && lists[likely].key == key) return &lists[likely];
  const auto list = std::ranges::find(lists, key, &List::key);
  if (list == lists.end()) return nullptr;
  likely = static_cast<uint8_t>(list - lists.begin());
  return &*list;
}

bool RecordLists::Builder::holds(const List& list, uint64_t hash) const {
  for (const TrieNode* at = list.last; at != nullptr; at = at->alike) {
    if (hashes[at->number] == hash) return true;
  }
  return false;
}

bool RecordLists::Builder::count(uint16_t key, uint64_t hash, size_t most) {
  List* const list = find(key);
  if (list == nullptr) return false;
  if (!list->full && !holds(*list, hash)) {
    if (list->last->kept < most) return false;
    list->full = true;
  }
  ++list->more;
  return true;
}

void RecordLists::Builder::add(uint16_t key, OwnedRecord&& record) {
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
  TrieNode wanted;
  wanted.alike = list == nullptr ? nullptr : list->last;
  wanted.text = std::move(record.rest);
  wanted.head = head;
  wanted.key = key;
  wanted.entry = static_cast<uint16_t>(list == nullptr ? lists.size()
                                                       : static_cast<size_t>(list - lists.data()));
  wanted.level = record.head == nullptr ? Level::None : record.head->level;
  TrieNode* const next = trie->node_after(node, wanted);
  const bool is_own = wanted.text != nullptr && next->text != wanted.text;
  if (is_own) own.texts.emplace_back(next->number, std::move(wanted.text));
  [[maybe_unused]] const bool is_added = go_to(next, record.where, hash);
  assert(is_added);  // count() takes the lines of a full list.
}

/// Where records of this thread came that are settled now: the next ones need no new memory.
std::unique_ptr<RecordLists::Builder>& RecordLists::idle() {
  thread_local std::unique_ptr<Builder> builder;
  return builder;
}

/// `take` is called for each key and record. Only of settled lists that are not empty.
template <typename Take>
void RecordLists::for_all_as_they_came(Take&& take) const {
  std::vector<uint16_t> keys(layout_->places.size());  // By place.
  for (const Entry& entry : entries()) {
    std::fill_n(keys.begin() + entry.end - entry.kept, entry.kept, entry.key);
  }
  for (const uint32_t place : layout_->places) take(keys[place], (*settled_)[place]);
}

/// Goes on where the layout ended: more is to come.
RecordLists::Builder& RecordLists::open_slowly(SharedTrie& trie) {
  const RecordLists settled = std::exchange(*this, RecordLists());
  builder_ = idle() != nullptr ? std::move(idle()) : std::make_unique<Builder>();
  Builder& builder = *builder_;
  if (trie == nullptr || trie->is_full()) trie = std::make_shared<LineTrie>();
  builder.trie = trie;
  builder.node = builder.trie->root();
  if (settled.layout_ == nullptr) {
    constexpr size_t kUsual = 32;
    builder.own.heads.reserve(kUsual);
    builder.own.heads.emplace_back();
    builder.own.lines.reserve(kUsual);
    builder.lists.reserve(kUsual);
  } else if (settled.layout_->trie == builder.trie->number()) {
    settled.settled_->give_back(builder.own);
    builder.node = settled.layout_->node;
    builder.lists.resize(settled.entries().size());
    builder.hashes.resize(builder.own.lines.size());
    for (TrieNode* node = builder.node; node->before != nullptr; node = node->before) {
      Builder::List& list = builder.lists[node->entry];
      if (list.last == nullptr) list.last = node;
      list.key = node->key;
      builder.hashes[node->number] = node->text->hash;
    }
    for (const auto& [number, text] : builder.own.texts) builder.hashes[number] = text->hash;
  } else {
    builder.own.heads.emplace_back();
    settled.for_all_as_they_came(
        [&](uint16_t key, const Record& record) { builder.add(key, keep(record)); });
  }
  if (settled.layout_ != nullptr) {
    for (const Entry& entry : settled.entries()) {
      Builder::List& list = *builder.find(entry.key);
      list.more = entry.total - entry.kept;
      list.full = entry.full != 0;
    }
  }
  builder.before_opened = builder.own.lines.size();
  return builder;
}

bool RecordLists::append(SharedTrie& trie, uint16_t key, uint64_t total, bool full,
                         std::vector<OwnedRecord>&& kept) {
  assert(layout_ == nullptr);
  constexpr uint64_t kMostLines = uint64_t{1} << 40;
  Builder& builder = open(trie);
  const bool is_greater = builder.lists.empty() || builder.lists.back().key < key;
  const bool is_sound = !kept.empty() && kept.size() <= RecordList::kMaxKept &&
                        kept.size() <= total && total < kMostLines;
  if (!is_greater || !is_sound) return false;
  for (OwnedRecord& record : kept) builder.add(key, std::move(record));
  builder.lists.back().more = total - kept.size();
  builder.lists.back().full = full;
  return true;
}

bool RecordLists::add_to_full(SharedTrie& trie, uint16_t key) {
  if (builder_ == nullptr && !find(key).full) return false;
  Builder::List* const list = open(trie).find(key);
  if (list == nullptr || !list->full) return false;
  ++list->more;
  return true;
}

bool RecordLists::contains(uint16_t key) const {
  return builder_ != nullptr ? builder_->find(key) != nullptr : find(key).total > 0;
}

// Looking at them.

RecordList RecordLists::find(uint16_t key) const {
  assert(builder_ == nullptr);
  if (layout_ == nullptr) return {};
  const Entry* const entry = RecordLayout::find(entries(), key);
  return entry == nullptr ? RecordList() : list(*entry);
}

// Putting them into layouts.

/// By key, ascending.
std::vector<Entry> RecordLists::Builder::entries() const {
  std::vector<Entry> all;
  for (const List& list : lists) {
    all.push_back({list.key, list.last->kept, 0, list.last->kept + list.more, list.full});
  }
  std::ranges::sort(all, {}, &Entry::key);
  uint32_t end = 0;
  for (Entry& entry : all) entry.end = end += entry.kept;
  return all;
}

/// The layout of their nodes, with their totals.
boost::intrusive_ptr<const RecordLayout> RecordLists::Builder::layout() const {
  boost::intrusive_ptr<RecordLayout> layout(new RecordLayout);
  layout->node = node;
  layout->trie = trie->number();
  layout->entries = entries();
  const size_t size = own.lines.size();
  layout->texts.resize(size);
  layout->heads.resize(size);
  layout->levels.resize(size);
  layout->places.resize(size);
  layout->varies = std::vector<std::atomic<bool>>(size);
  std::vector<uint32_t> ends;  // By the order in which keys came.
  for (const List& list : lists) {
    const Entry& entry = *RecordLayout::find(layout->entries, list.key);
    layout->order.push_back(static_cast<uint16_t>(&entry - layout->entries.data()));
    ends.push_back(entry.end);
  }
  for (const TrieNode* at = node; at->before != nullptr; at = at->before) {
    const uint32_t place = --ends[at->entry];
    layout->places[at->number] = place;
    layout->texts[place] = at->text;
    layout->heads[place] = at->head;
    layout->levels[place] = at->level;
    layout->has_bare |= at->head == 0;
  }
  return layout;
}

void RecordLists::settle() {
  if (builder_ == nullptr) return;
  std::unique_ptr<Builder> builder = std::move(builder_);
  if (builder->lists.empty()) return;
  constexpr size_t kMostLayouts = 8;  // Which differ in how often lines came again.
  auto& layouts = builder->node->layouts;
  const auto known = std::ranges::find_if(layouts, [&](const auto& layout) {
    for (size_t i = 0; i < builder->lists.size(); ++i) {
      const Builder::List& list = builder->lists[i];
      const Entry& entry = layout->entries[layout->order[i]];
      if (list.more != entry.total - entry.kept || list.full != (entry.full != 0)) return false;
    }
    return true;
  });
  if (known != layouts.end()) {
    layout_ = *known;
  } else if (layouts.empty() || (layouts.size() < kMostLayouts && !builder->trie->is_full())) {
    layout_ = builder->layout();
    builder->trie->note_layout(layout_);
  } else {
    layout_ = layouts.front();
    own_entries_ = std::make_unique<std::vector<Entry>>(builder->entries());
  }
  settled_ = SettledRecords::make(layout_, builder->own);
  builder->trie.reset();
  builder->lists.clear();
  builder->hashes.clear();
  idle() = std::move(builder);
}

// Changing them.

/// Settles, and keeps the records of which `stays(key, record, how many of its key were kept before
/// it)` is true. The others are counted if `counts_others`; if not, it is as if they had not come.
template <typename Stays>
void RecordLists::keep_those(SharedTrie& trie, bool counts_others, Stays&& stays) {
  settle();
  if (empty()) return;
  const RecordLists whole = std::exchange(*this, RecordLists());
  Builder& builder = open(trie);
  whole.for_all_as_they_came([&](uint16_t key, const Record& record) {
    const Builder::List* const list = builder.find(key);
    if (stays(key, record, list == nullptr ? 0 : list->last->kept)) builder.add(key, keep(record));
  });
  for (const Entry& entry : whole.entries()) {
    Builder::List* const list = builder.find(entry.key);
    if (list == nullptr) continue;
    const size_t others = size_t{entry.kept} - list->last->kept;
    list->more = entry.total - entry.kept + (counts_others ? others : 0);
    list->full = entry.full != 0 || (counts_others && others > 0);
  }
  settle();
}

void RecordLists::merge(SharedTrie& trie, RecordLists&& later, const RecordLimit& limit) {
  later.settle();
  if (later.empty()) return settle();
  if (empty()) {
    *this = std::move(later);
    return cut_to(trie, limit);
  }
  Builder& builder = open(trie);
  later.for_all_as_they_came([&](uint16_t key, const Record& record) {
    if (builder.count(key, record.rest->hash, limit.of(key))) return;
    builder.add(key, keep(record));
  });
  for (const Entry& entry : later.entries()) {
    Builder::List& list = *builder.find(entry.key);
    list.more += entry.total - entry.kept;
    list.full |= entry.full != 0;
  }
  settle();
}

void RecordLists::cut_to(SharedTrie& trie, const RecordLimit& limit) {
  // Most lists are shorter than any limit.
  const size_t fewest = std::min(limit.most, limit.most_numbered);
  const auto is_longer = [&](uint16_t key, size_t kept) {
    return kept > fewest && kept > limit.of(key);
  };
  const auto is_any_longer = [&] {
    if (builder_ == nullptr) {
      return layout_ != nullptr && std::ranges::any_of(entries(), [&](const Entry& entry) {
               return is_longer(entry.key, entry.kept);
             });
    }
    return std::ranges::any_of(builder_->lists, [&](const Builder::List& list) {
      return is_longer(list.key, list.last->kept);
    });
  };
  if (!is_any_longer()) return;
  // As if the next different line had come when so many were kept.
  keep_those(trie, true,
             [&](uint16_t key, const Record&, size_t kept) { return kept < limit.of(key); });
}

void RecordLists::keep_only(SharedTrie& trie,
                            const std::function<bool(uint16_t key, const Record&)>& stays) {
  keep_those(trie, false,
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

bool OrderedLines::takes(uint16_t kind) {
  const bool is_place = kind == kKindIndex<NcclTestsRank>;
  const bool is_room = is_place ? places_ < kMaxPlaces : kept.size() - places_ < kMaxKept;
  places_ += is_place && is_room;
  return is_room;
}

void OrderedLines::merge(OrderedLines&& later) {
  total += later.total;
  for (OwnedRecord& record : later.kept) {
    if (takes(Record(record).kind())) kept.push_back(std::move(record));
  }
}

}  // namespace ncclog
