#include "log/record_joiner.h"

#include "base/text.h"
#include "log/header.h"

namespace ncclog {
namespace {

constexpr size_t kMaxJoinedBytes = 4096;  ///< A wrapped record is a paragraph, not a page.
constexpr int kMaxJoinedLines = 4;

/// "… 'ulimit -l'" at the end of a quoted command line: its answer is the next
/// line.
bool asks_for_memlock(std::string_view line) {
  line = trim(line);
  while (!line.empty() && (line.back() == '\'' || line.back() == '"')) line.remove_suffix(1);
  return line.ends_with("ulimit -l");
}

bool is_memlock_answer(std::string_view line) {
  line = trim(line);
  return line == "unlimited" || parse_int(line).has_value();
}

bool starts_with_level(std::string_view line) {
  return line.starts_with("NCCL WARN ") || line.starts_with("NCCL INFO ");
}

/// A line that can only be the rest of a wrapped sentence: text that announces
/// nothing itself.
bool is_rest_of_record(std::string_view line) {
  if (trim(line).empty() || starts_with_level(line) || is_header_stub(line)) return false;
  const Header header = parse_header(line);
  return header.level == Level::None && header.prefix.length == 0;
}

}  // namespace

void RecordJoiner::add(const Line& line) {
  switch (waiting_) {
    case Waiting::Nothing:
      break;
    case Waiting::ForLevel:
      if (starts_with_level(line.text)) return append(line.text, Waiting::ForRest);
      break;
    case Waiting::ForRest:
      if (is_rest_of_record(line.text)) return append(line.text, Waiting::ForRest);
      break;
    case Waiting::ForAnswer:
      if (is_memlock_answer(line.text)) {
        append(line.text, Waiting::Nothing);
        return;
      }
      break;
  }
  finish();
  if (asks_for_memlock(line.text)) return hold(line, Waiting::ForAnswer);
  if (line.text.size() < 512 && is_header_stub(line.text)) return hold(line, Waiting::ForLevel);
  receive_(line, 1);
}

void RecordJoiner::finish() {
  if (lines_ == 0) return;
  Line record = first_;
  record.text = held_;
  const int lines = lines_;
  waiting_ = Waiting::Nothing;
  lines_ = 0;
  receive_(record, lines);
}

void RecordJoiner::hold(const Line& line, Waiting waiting) {
  held_.assign(line.text.substr(0, kMaxJoinedBytes));
  first_ = line;
  lines_ = 1;
  waiting_ = waiting;
}

void RecordJoiner::append(std::string_view text, Waiting waiting) {
  while (!held_.empty() && is_blank(held_.back())) held_.pop_back();
  held_ += ' ';
  held_ += trim(text).substr(0, kMaxJoinedBytes);
  ++lines_;
  waiting_ = waiting;
  if (waiting == Waiting::Nothing || lines_ >= kMaxJoinedLines) finish();
}

}  // namespace ncclog
