#include "model/record.h"

#include <algorithm>
#include <utility>

namespace ncclog {

uint64_t message_hash(std::string_view message) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : message) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

Record make_record(SourceRef where, std::string_view line, const Event& event) {
  const uint16_t kind = event.message.kind != nullptr ? event.message.kind->index : Record::kNoKind;
  return {where, kind, std::string(line.substr(0, Record::kMaxTextBytes)),
          message_hash(event.header.message)};
}

bool RecordList::contains(uint64_t hash) const {
  return std::any_of(kept.begin(), kept.end(),
                     [&](const Record& record) { return record.hash == hash; });
}

void RecordList::merge(RecordList&& later) {
  const uint64_t sum = total + later.total;
  full |= later.full;
  for (Record& record : later.kept) {
    add(record.hash, [&] { return std::move(record); });
  }
  total = sum;
}

Event parse_record(const Record& record) { return parse_event(record.text, all_wordings()); }

}  // namespace ncclog
