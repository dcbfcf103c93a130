#include "model/read_log.h"

#include <algorithm>
#include <utility>

#include "log/prefix.h"
#include "model/build_job.h"

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

Shard read_text(std::string_view text, const LineMatcher& matcher) {
  LogReader reader(0, 0, matcher);
  Line line{{}, 1, 0, false};
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const bool crlf = text.substr(end).starts_with("\r\n");
    const bool ends_line = crlf || end == text.size() || text[end] == '\n';
    line.text = text.substr(0, end);
    reader.add(line);
    const size_t taken = std::min(end + (crlf ? 2 : 1), text.size());
    line.offset += taken;
    line.number += ends_line ? 1 : 0;
    text.remove_prefix(taken);
  }
  return reader.finish();
}

Job job_from_text(std::string_view text, const LineMatcher& matcher, std::string path) {
  Shard shard = read_text(text, matcher);
  JobInput input;
  input.path = std::move(path);
  input.format = "plain";
  input.bytes = text.size();
  input.lines = shard.losses().lines;
  const LossTable losses = shard.losses();
  return build_job(std::move(shard), {std::move(input)}, {JobUnit{0, 1}}, losses);
}

}  // namespace ncclog
