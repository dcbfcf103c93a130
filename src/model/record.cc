#include "model/record.h"

#include <algorithm>
#include <cstring>
#include <utility>

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
  full = true;
  kept.resize(most);
  hashes.resize(most);
  kept.shrink_to_fit();
  hashes.shrink_to_fit();
}

void RecordList::merge(RecordList&& later, size_t most) {
  const uint64_t sum = total + later.total;
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

}  // namespace ncclog
