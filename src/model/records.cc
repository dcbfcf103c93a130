#include "model/records.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <tuple>

#include "base/text.h"
#include "log/known_messages.h"
#include "log/messages.h"

namespace ncclog {

namespace {

/// True if the headers say the same but for their messages.
bool is_same(const Header& a, const Header& b) {
  const auto parts = [](const Header& header) {
    const Prefix& prefix = header.prefix;
    return std::tie(header.level, header.host, header.pid, header.tid, header.cuda_dev, header.file,
                    header.line, header.process_group, header.process_group_name, header.group_rank,
                    header.repeated, header.torn, header.anchored_twice, header.unexplained,
                    prefix.length, prefix.rank, prefix.rank_is_stated, prefix.task,
                    prefix.local_rank, prefix.host, prefix.address, prefix.pid, prefix.time,
                    prefix.stream, prefix.progress_title);
  };
  return parts(a) == parts(b);
}

/// What stands before the message, if it means the same without it; nullptr if not.
boost::intrusive_ptr<const LineHead> head_of(std::string_view head, const Header& header) {
  Header alone;
  read_header(head, alone);
  if (!is_same(alone, header)) return nullptr;
  boost::intrusive_ptr<LineHead> made = new LineHead;
  made->text = head;
  made->level = header.level;
  return made;
}

}  // namespace

std::string Record::text() const {
  if (rest == nullptr) return {};
  return head == nullptr ? rest->text : head->text + rest->text;
}

uint64_t message_hash(std::string_view message) {
  uint64_t hash = 0xcbf29ce484222325u ^ message.size();
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  };
  uint64_t word = 0;
  for (; message.size() >= sizeof(word); message.remove_prefix(sizeof(word))) {
    std::memcpy(&word, message.data(), sizeof(word));
    mix(word);
  }
  word = 0;
  message.copy(reinterpret_cast<char*>(&word), message.size());
  mix(word);
  return hash;
}

boost::intrusive_ptr<const RecordText> make_text(std::string_view text, uint64_t hash,
                                                 const Wording* wording) {
  boost::intrusive_ptr<RecordText> made = new RecordText;
  made->text = text;
  made->hash = hash;
  made->wording = wording;
  return made;
}

Record make_record(SourceRef where, std::string_view line, const Event& event) {
  return {where, nullptr,
          make_text(line.substr(0, Record::kMaxTextBytes), message_hash(event.header.message),
                    event.message.wording)};
}

Record make_record(SourceRef where, std::string_view line) {
  return {where, nullptr, make_text(line.substr(0, Record::kMaxTextBytes), 0, nullptr)};
}

Event parse_record(const Record& record) {
  if (record.rest == nullptr) return {};
  if (record.head == nullptr) return parse_event(record.rest->text, all_wordings());
  Event event;
  read_header(record.head->text, event.header);
  event.header.message = record.rest->text;
  event.message = parse_message(record);
  event.fate = LineFate::Recognised;
  return event;
}

Message parse_message(const Record& record) {
  Message message;
  if (record.head == nullptr) return parse_record(record).message;
  match_wording(*record.rest->wording, trim(record.rest->text), message);
  return message;
}

Level level_of(const Record& record) {
  return record.head != nullptr ? record.head->level : parse_record(record).header.level;
}

LineTime time_of(const Record& record) {
  if (record.head != nullptr) return find_line_time(record.head->text);
  return record.rest == nullptr ? LineTime() : time_of_line(record.rest->text);
}

boost::intrusive_ptr<const LineHead> RecordTexts::head(std::string_view text,
                                                       const Header& header) {
  auto& known = heads_[message_hash(text) % kHeads];
  if (known != nullptr && known->text == text) return known;
  auto made = head_of(text, header);
  if (made != nullptr) known = made;
  return made;
}

boost::intrusive_ptr<const RecordText> RecordTexts::message(std::string_view text, uint64_t hash,
                                                            const Wording& wording) {
  auto& known = messages_[hash % kMessages];
  const bool is_known =
      known != nullptr && known->hash == hash && known->text == text && known->wording == &wording;
  if (!is_known) known = make_text(text, hash, &wording);
  return known;
}

Record RecordTexts::record(SourceRef where, std::string_view line, const Event& event,
                           uint64_t hash) {
  const Header& header = event.header;
  const std::string_view message = header.message;
  const auto before = static_cast<size_t>(message.data() - line.data());
  const Wording* wording = event.message.wording;
  const bool is_plain = is_nccl(header) && wording != nullptr && !header.anchored_twice &&
                        header.repeated == 0 && before + message.size() == line.size() &&
                        line.size() <= Record::kMaxTextBytes;
  auto shared = is_plain ? head(line.substr(0, before), header) : nullptr;
  if (shared == nullptr) return make_record(where, line, event);
  return {where, std::move(shared), this->message(message, hash, *wording)};
}

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

RecordLists::RecordLists(const RecordLists& other)
    : entries_(other.entries_),
      shared_(other.shared_),
      records_(other.records_),
      waiting_(other.waiting_ ? std::make_unique<Waiting>(*other.waiting_) : nullptr) {}

/// Where records of this thread waited that are in their places now, so that the next ones need no
/// new memory.
std::unique_ptr<RecordLists::Waiting>& RecordLists::idle() {
  thread_local std::unique_ptr<Waiting> waiting;
  return waiting;
}

/// Where the key stands while records wait, which they may from now on.
RecordLists::Slot& RecordLists::slot_of(uint16_t key) {
  if (waiting_ == nullptr) {
    unshare();
    waiting_ = idle() ? std::move(idle()) : std::make_unique<Waiting>();
    waiting_->entries = entries_.size();
    for (uint16_t place = 0; place < entries_.size(); ++place) {
      waiting_->slot(entries_[place].key).entry = place + 1;
    }
  }
  Slot& slot = waiting_->slot(key);
  if (slot.entry == 0) {
    entries_.push_back({key, 0, 0, 0, 0});
    slot.entry = static_cast<uint16_t>(entries_.size());
  }
  return slot;
}

const RecordLists::Entry* RecordLists::find_entry(uint16_t key) const {
  if (waiting_ != nullptr) {
    const uint16_t place = waiting_->slot(key).entry;
    return place == 0 ? nullptr : &entries_[place - size_t{1}];
  }
  const auto place = std::ranges::lower_bound(entries(), key, {}, &Entry::key);
  return place == entries().end() || place->key != key ? nullptr : &*place;
}

bool RecordLists::add_to_full(uint16_t key) {
  const Entry* entry = find_entry(key);
  if (entry == nullptr || !entry->full) return false;
  const auto place = static_cast<size_t>(entry - entries().data());
  unshare();
  ++entries_[place].total;
  return true;
}

RecordList RecordLists::list(size_t place) const {
  assert(waiting_ == nullptr);
  const Entry& entry = entries()[place];
  const size_t begin = begin_of(place);
  return {entry.total, entry.full != 0, std::span(records_).subspan(begin, entry.end - begin)};
}

RecordList RecordLists::find(uint16_t key) const {
  const Entry* entry = find_entry(key);
  return entry == nullptr ? RecordList() : list(static_cast<size_t>(entry - entries().data()));
}

bool RecordLists::holds(const Entry& entry, const Slot& slot, uint64_t hash) const {
  size_t settled = entry.kept;
  for (size_t at = slot.last; at != 0; at = waiting_->before[at - 1]) {
    if (waiting_->records[at - 1].rest->hash == hash) return true;
    --settled;
  }
  const auto end = records_.begin() + entry.end;
  return std::any_of(end - static_cast<std::ptrdiff_t>(settled), end,
                     [&](const Record& record) { return record.rest->hash == hash; });
}

void RecordLists::settle() {
  if (waiting_ == nullptr) return;
  std::unique_ptr<Waiting> waiting = std::move(waiting_);
  const auto news = entries_.begin() + static_cast<std::ptrdiff_t>(waiting->entries);
  std::ranges::sort(news, entries_.end(), {}, &Entry::key);
  std::ranges::inplace_merge(entries_.begin(), news, entries_.end(), {}, &Entry::key);
  std::vector<Record> rows;
  rows.reserve(records_.size() + waiting->records.size());
  std::vector<size_t> own;
  for (Entry& entry : entries_) {
    own.clear();
    for (size_t at = waiting->slot(entry.key).last; at != 0; at = waiting->before[at - 1]) {
      own.push_back(at - 1);
    }
    for (size_t at = entry.end - (entry.kept - own.size()); at < entry.end; ++at) {
      rows.push_back(std::move(records_[at]));
    }
    for (; !own.empty(); own.pop_back()) rows.push_back(std::move(waiting->records[own.back()]));
    entry.end = static_cast<uint32_t>(rows.size());
  }
  records_ = std::move(rows);
  for (const Entry& entry : entries_) waiting->slot(entry.key) = {};
  waiting->records.clear();
  waiting->before.clear();
  idle() = std::move(waiting);
}

void RecordLists::merge(RecordLists&& later, const RecordLimit& limit) {
  if (empty()) {
    *this = std::move(later);
    settle();
    return cut_to(limit);
  }
  later.settle();
  later.unshare();
  unshare();
  for (size_t i = 0; i < later.entries_.size(); ++i) {
    const Entry& news = later.entries_[i];
    const uint64_t total = entries_[slot_of(news.key).entry - 1].total + news.total;
    for (size_t r = later.begin_of(i); r < news.end; ++r) {
      Record& record = later.records_[r];
      add(
          news.key, record.rest->hash, [&] { return std::move(record); }, limit.of(news.key));
    }
    Entry& entry = entries_[slot_of(news.key).entry - 1];
    entry.total = total;
    entry.full |= news.full;
  }
  settle();
}

bool RecordLists::append(uint16_t key, uint64_t total, bool full, std::vector<Record>&& kept) {
  const bool is_behind = entries_.empty() || entries_.back().key < key;
  if (!is_behind || kept.size() > RecordList::kMaxKept || kept.size() > total) return false;
  records_.insert(records_.end(), std::make_move_iterator(kept.begin()),
                  std::make_move_iterator(kept.end()));
  Entry& entry = entries_.emplace_back();
  entry.key = key;
  entry.kept = static_cast<uint16_t>(kept.size());
  entry.end = static_cast<uint32_t>(records_.size());
  entry.total = total;
  entry.full = full;
  return true;
}

void RecordLists::cut_to(const RecordLimit& limit) {
  // Most lists are shorter than any limit.
  const size_t fewest = std::min(limit.most, limit.most_numbered);
  const auto is_longer = [&](const Entry& entry) {
    return entry.kept > fewest && entry.kept > limit.of(entry.key);
  };
  if (std::ranges::none_of(entries(), is_longer)) return;
  settle();
  unshare();
  std::vector<size_t> most;
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    most.push_back(std::min(limit.of(entry.key), entry.end - begin_of(i)));
    // As if the next different line had come when so many were kept.
    entry.full |= begin_of(i) + most.back() < entry.end;
  }
  size_t begin = 0;
  size_t kept = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    for (size_t r = 0; r < most[i]; ++r, ++kept) {
      if (kept < begin + r) records_[kept] = std::move(records_[begin + r]);
    }
    begin = std::exchange(entries_[i].end, static_cast<uint32_t>(kept));
    entries_[i].kept = static_cast<uint16_t>(most[i]);
  }
  records_.resize(kept);
  fit();
}

void RecordLists::forget_repeats() {
  settle();
  unshare();
  for (size_t i = 0; i < entries_.size(); ++i) entries_[i].total = entries_[i].end - begin_of(i);
}

void RecordLists::share(Shared& known) {
  settle();
  if (entries_.empty()) return;
  constexpr size_t kPlaces = 1024;
  known.resize(kPlaces);
  const auto* const bytes = reinterpret_cast<const char*>(entries_.data());
  auto& one = known[message_hash({bytes, entries_.size() * sizeof(Entry)}) % kPlaces];
  if (one == nullptr || *one != entries_) one = std::make_shared<const Entries>(entries_);
  shared_ = one;
  entries_ = {};
}

void RecordLists::unshare() {
  if (shared_ == nullptr) return;
  entries_ = *shared_;
  shared_ = nullptr;
}

void RecordLists::fit() {
  settle();
  records_.shrink_to_fit();
  entries_.shrink_to_fit();
}

bool KeptLines::takes(uint16_t kind) {
  const bool is_place = kind == kKindIndex<NcclTestsRank>;
  const bool is_room = is_place ? places_ < kMaxPlaces : kept.size() - places_ < kMaxKept;
  places_ += is_place && is_room;
  return is_room;
}

void KeptLines::merge(KeptLines&& later) {
  total += later.total;
  for (Record& record : later.kept) {
    if (takes(record.kind())) kept.push_back(std::move(record));
  }
}

}  // namespace ncclog
