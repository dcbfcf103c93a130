#include "model/records.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "log/known_messages.h"
#include "log/messages.h"

namespace ncclog {

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

Record make_record(SourceRef where, std::string_view line, const Event& event) {
  const uint16_t kind = event.message.kind != nullptr ? event.message.kind->index : Record::kNoKind;
  return {where, kind, std::string(line.substr(0, Record::kMaxTextBytes))};
}

bool RecordList::contains(uint64_t hash) const {
  return std::find(hashes.begin(), hashes.end(), hash) != hashes.end();
}

void RecordList::cut_to(size_t most) {
  if (kept.size() <= most) return;
  // As if the next different line had come when so many were kept.
  full = true;
  kept.resize(most);
  hashes.resize(most);
  kept.shrink_to_fit();
  hashes.shrink_to_fit();
}

void RecordList::merge(RecordList&& later, size_t most) {
  const uint64_t sum = total + later.total;
  // The most frequent case: a kind that the earlier stretch does not have.
  if (kept.empty() && !full && later.kept.size() <= most) {
    *this = std::move(later);
    total = sum;
    return;
  }
  for (size_t i = 0; i < later.kept.size(); ++i) {
    add(
        later.hashes[i], [&] { return std::move(later.kept[i]); }, most);
  }
  full |= later.full;
  total = sum;
}

Event parse_record(const Record& record) { return parse_event(record.text, all_wordings()); }

namespace {

bool is_numbered(uint16_t kind) {
  switch (kind) {
    case kKindIndex<TopologyPaths>:
    case kKindIndex<GraphChannel>:
    case kKindIndex<RingNeighbours>:
    case kKindIndex<TreeNeighbours>:
    case kKindIndex<ProxyConnected>:
    case kKindIndex<ProxyNewConnection>:
      return true;
    default:
      return false;
  }
}

}  // namespace

size_t RecordLimit::of(uint16_t kind) const { return is_numbered(kind) ? most_numbered : most; }

RecordLimit record_limit(size_t speakers) {
  constexpr size_t kTogether = 8192;
  constexpr size_t kFewest = 32;
  constexpr size_t kFewestNumbered = 4;
  // In steps, because every list is looked at when the number falls.
  const size_t share = kTogether / std::bit_ceil(std::max<size_t>(speakers, 1));
  return {std::clamp(share, kFewest, RecordList::kMaxKept),
          std::clamp(share, kFewestNumbered, RecordList::kMaxKept)};
}

RecordLimit laxer(const RecordLimit& a, const RecordLimit& b) {
  return {std::max(a.most, b.most), std::max(a.most_numbered, b.most_numbered)};
}

RecordList& RecordLists::operator[](uint16_t key) {
  const auto place = std::lower_bound(keys_.begin(), keys_.end(), key);
  const auto list = lists_.begin() + (place - keys_.begin());
  if (place != keys_.end() && *place == key) return *list;
  keys_.insert(place, key);
  return *lists_.emplace(list);
}

const RecordList* RecordLists::find(uint16_t key) const {
  const auto place = std::lower_bound(keys_.begin(), keys_.end(), key);
  if (place == keys_.end() || *place != key) return nullptr;
  return &lists_[static_cast<size_t>(place - keys_.begin())];
}

const std::vector<Record>& RecordLists::kept(uint16_t key) const {
  static const std::vector<Record> kNone;
  const RecordList* list = find(key);
  return list == nullptr ? kNone : list->kept;
}

void RecordLists::merge(RecordLists&& later, const RecordLimit& limit) {
  if (empty()) {
    *this = std::move(later);
    return;
  }
  for (size_t i = 0; i < later.keys_.size(); ++i) {
    const uint16_t key = later.keys_[i];
    (*this)[key].merge(std::move(later.lists_[i]), limit.of(key));
  }
}

void RecordLists::cut_to(const RecordLimit& limit) {
  for (size_t i = 0; i < keys_.size(); ++i) lists_[i].cut_to(limit.of(keys_[i]));
}

void UnknownShapes::add(SourceRef where, std::string_view line, const Event& event) {
  UnknownLines& lines = shapes[message_shape(event.header.message)];
  if (lines.count++ == 0) {
    lines.first = where;
    lines.example = line.substr(0, Record::kMaxTextBytes);
  }
  lines.levels |= 1U << static_cast<unsigned>(event.header.level);
  limit();
}

void UnknownShapes::merge(UnknownShapes&& later) {
  other += later.other;
  for (auto& [shape, lines] : later.shapes) {
    const auto [place, is_new] = shapes.try_emplace(shape);
    if (is_new) {
      place->second = std::move(lines);
    } else {
      place->second.count += lines.count;
      place->second.levels |= lines.levels;
    }
  }
  limit();
}

void UnknownShapes::limit() {
  while (shapes.size() > kMaxShapes) {
    const auto last = std::prev(shapes.end());
    other += last->second.count;
    shapes.erase(last);
  }
}

}  // namespace ncclog
