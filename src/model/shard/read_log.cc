#include "model/shard/read_log.h"

#include <algorithm>

#include "log/stack_lines.h"

namespace ncclog {

const ForeignFilter* SharedFilter::get() const {
  std::call_once(once_, [this] {
    if (matcher_ && !matcher_.literals) return;
    filter_.emplace(matcher_ ? *matcher_.literals : std::vector<std::string>(), finder_);
  });
  return filter_ ? &*filter_ : nullptr;
}

namespace {

/// Lines of other programs from which on a filter pays.
constexpr uint64_t kWorthFilter = 64;

/// So many lines behind one of a stack all are read: nothing marks a frame, and ranks mix theirs.
constexpr uint64_t kStackReach = 64;

/// Lines about calls that are taken at a time.
constexpr size_t kMostCalls = 1024;

/// Up to and with the last `end` that stands before the last byte of `block`, which is not empty.
std::string_view up_to_last(char end, std::string_view block) {
  const void* last = ::memrchr(block.data(), end, block.size() - 1);
  if (last == nullptr) return {};
  return block.substr(0, static_cast<size_t>(static_cast<const char*>(last) - block.data()) + 1);
}

/// Whole lines without the last two: those that may end the stretch are read.
std::string_view without_last_lines(std::string_view block) {
  std::string_view rest = block;
  for (int i = 0; i < 2 && !rest.empty(); ++i) rest = up_to_last('\n', rest);
  // A progress bar may have drawn those two: lines of thousands of pieces, the last of which may end
  // with "\r\n".
  std::string_view pieces = block.substr(rest.size());
  for (int i = 0; i < 3 && !pieces.empty(); ++i) pieces = up_to_last('\r', pieces);
  const size_t size = rest.size() + pieces.size();
  const bool is_in_crlf = !pieces.empty() && block[size] == '\n';
  return block.substr(0, size + (is_in_crlf ? 1 : 0));
}

}  // namespace

LogReader::LogReader(uint64_t unit, uint64_t input, const LineMatcher& matcher,
                     const MarkerFinder& finder, const SharedFilter* filter, ReadBefore* before)
    : before_(before != nullptr ? *before : own_.emplace(matcher, finder)),
      shard_(unit, input, finder, before_.texts, before_.trie, before_.limit),
      guard_(shard_, matcher),
      learns_(!finder.wants_all_lines()),
      matcher_(matcher),
      filter_(filter),
      events_([this](const Line& record, const Event& event, int lines) {
        receive(record, event, lines);
      }) {
  before_.lines.change_reader();
}

void LogReader::add(const Line& line) {
  line_ = line.text;
  events_.add(line);
}

void LogReader::receive(const Line& record, const Event& event, int lines) {
  guard_.add(record, event, lines);
  is_foreign_ = event.fate == LineFate::Foreign;
  foreign_ += is_foreign_ ? 1 : 0;
  const bool is_plain = record.text.data() == line_.data() && record.text.size() == line_.size() &&
                        !event.is_of_traceback;
  const bool is_of_stack = is_stack_line(record.text, event.header);
  if (is_of_stack) stack_end_ = record.number + kStackReach;
  if (is_plain && lines == 1 && !record.cut && !is_of_stack && event.header.level == Level::None) {
    return before_.lines.learn_other(record.text, event);
  }
  // Only a line that was read unchanged, alone and whole stands for others like it.
  if (!learns_ || !is_plain || lines != 1 || record.cut || !guard_.is_last_whole()) return;
  if (!is_usual_call(event)) return before_.lines.learn_message(record.text, event);
  if (!may_match(matcher_, record.text)) calls_.learn(record.text, event);
}

LineRun LogReader::take_known(std::string_view block, uint64_t number) {
  LineRun taken;
  if (!events_.is_idle() || !guard_.is_quiet()) return taken;
  const std::string_view others = without_last_lines(block);
  while (take_calls(block, number, taken) || take_messages(block, number, taken) ||
         take_others(others, number, taken)) {
  }
  return taken;
}

bool LogReader::take_calls(std::string_view block, uint64_t number, LineRun& taken) {
  run_.clear();
  calls_.forget_others();
  number += taken.numbers;
  CachedCallLine line;
  while (run_.size() < kMostCalls) {
    const size_t length = calls_.find(block.substr(taken.bytes), line);
    if (length == 0 || !guard_.accepts(line)) break;
    run_.push_back(line);
    taken.bytes += length;
  }
  guard_.add(run_, number);
  taken.lines += run_.size();
  taken.numbers += run_.size();
  return !run_.empty();
}

bool LogReader::take_messages(std::string_view block, uint64_t number, LineRun& taken) {
  const uint64_t before = taken.lines;
  CachedLine line;
  while (const size_t length = before_.lines.find_message(block.substr(taken.bytes), line)) {
    if (!guard_.add(line, number + taken.numbers)) break;
    taken.bytes += length;
    ++taken.lines;
    ++taken.numbers;
  }
  return taken.lines > before;
}

/// Those of other programs.
bool LogReader::take_others(std::string_view block, uint64_t number, LineRun& taken) {
  const uint64_t before = taken.lines;
  while (take_other(block, number, taken) || take_foreign(block, number, taken)) {
  }
  return taken.lines > before;
}

bool LogReader::take_other(std::string_view block, uint64_t number, LineRun& taken) {
  if (taken.bytes >= block.size()) return false;
  const std::string_view rest = block.substr(taken.bytes);
  CachedLine line;
  const size_t size = before_.lines.find_other(rest, line);
  if (size == 0 || !guard_.add(line, number + taken.numbers)) return false;
  const bool is_crlf = rest.substr(size).starts_with("\r\n");
  taken.bytes += size + (is_crlf ? 2 : 1);
  ++taken.lines;
  if (is_crlf || rest[size] == '\n') ++taken.numbers;
  taken.is_ascii = false;
  return true;
}

bool LogReader::take_foreign(std::string_view block, uint64_t number, LineRun& taken) {
  if (foreign_ < kWorthFilter || filter_ == nullptr || taken.bytes >= block.size() ||
      number + taken.numbers == kept_ || number + taken.numbers < stack_end_) {
    return false;
  }
  const std::string_view rest = block.substr(taken.bytes);
  // Between NCCL's lines a search would find nothing to let go.
  if (!is_foreign_ && rest.substr(0, rest.find('\n')).find("NCCL ") != rest.npos) return false;
  const ForeignFilter* filter = filter_->get();
  if (filter == nullptr) return false;
  // Where lines of known shapes stand between, the ones behind the first would be searched in vain.
  const bool goes_on = number + taken.numbers == boring_end_;
  stretch_ = goes_on ? std::min(2 * stretch_, ForeignFilter::kMostLines)
                     : std::max(stretch_ / 2, size_t{1});
  const LineRun boring = filter->boring_lines(rest, stretch_);
  boring_end_ = number + taken.numbers + boring.lines;
  if (boring.lines < stretch_) kept_ = boring_end_;
  stretch_ = std::clamp(boring.lines, size_t{1}, stretch_);
  if (boring.lines == 0) return false;
  guard_.add_skipped(rest.substr(0, boring.bytes), number + taken.numbers, boring.lines);
  taken.bytes += boring.bytes;
  taken.lines += boring.lines;
  taken.numbers += boring.lines;
  taken.is_ascii = false;
  return true;
}

void LogReader::settle() { shard_.settle(); }

Shard LogReader::finish(bool ends_input) {
  events_.finish();
  guard_.finish(ends_input);
  Shard shard = shard_.finish(calls_);
  before_.limit = shard.limit;
  return shard;
}

}  // namespace ncclog
