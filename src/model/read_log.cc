#include "model/read_log.h"

#include <utility>

#include "log/prefix.h"

namespace ncclog {

LogReader::LogReader(uint32_t unit, uint32_t input, const LineMatcher& matcher)
    : matcher_(matcher),
      wordings_(all_wordings()),
      shard_(unit, input),
      joiner_([this](const Line& record, int lines) { add_record(record, lines); }) {}

void LogReader::add(const Line& line) {
  Line plain = line;
  plain.text = strip_ansi(line.text, plain_);
  joiner_.add(plain);
}

Shard LogReader::finish() {
  joiner_.finish();
  return std::move(shard_);
}

void LogReader::add_record(const Line& record, int lines) {
  matched_.clear();
  if (matcher_) matcher_(record.text, matched_);
  shard_.add(record, parse_event(record.text, wordings_), lines, matched_);
}

}  // namespace ncclog
