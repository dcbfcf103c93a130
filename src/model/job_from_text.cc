#include "model/job_from_text.h"

#include <algorithm>
#include <utility>

#include "model/build_job.h"
#include "model/read_log.h"

namespace ncclog {

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
  input.bytes = input.text_bytes = text.size();
  input.lines = shard.losses().lines;
  const LossTable losses = shard.losses();
  return build_job(std::move(shard), {std::move(input)}, {JobUnit{}}, losses);
}

}  // namespace ncclog
