#include "model/read_log.h"

#include <utility>

namespace ncclog {

LogReader::LogReader(uint64_t unit, uint64_t input, const LineMatcher& matcher)
    : matcher_(matcher),
      shard_(unit, input),
      events_([this](const Line& record, const Event& event, int lines) {
        add_record(record, event, lines);
      }) {}

Shard LogReader::finish() {
  events_.finish();
  return std::move(shard_);
}

void LogReader::add_record(const Line& record, const Event& event, int lines) {
  matched_.clear();
  if (matcher_) matcher_(record.text, matched_);
  shard_.add(record, event, lines, matched_);
}

}  // namespace ncclog
