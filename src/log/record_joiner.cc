#include "log/record_joiner.h"

#include <string>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "log/event.h"
#include "log/foreign_needs.h"
#include "log/header.h"

namespace ncclog {
namespace {

constexpr size_t kMaxJoinedBytes = 4096;  ///< A wrapped record is a paragraph, not a page.
constexpr int kMaxPieces = 4;
constexpr size_t kLongestStub = 512;

/// "… 'ulimit -l'" at the end of a quoted command line: its answer is the next
/// line.
bool asks_for_memlock(std::string_view line) {
  line = trim(line);
  while (!line.empty() && (line.back() == '\'' || line.back() == '"')) line.remove_suffix(1);
  return line.ends_with(kMemlockQuestion[0]);
}

bool is_memlock_answer(std::string_view line) {
  line = trim(line);
  return line == "unlimited" || parse_int(line).has_value();
}

bool is_understood(std::string_view record) {
  return parse_event(record, all_wordings()).message.kind != nullptr;
}

/// A record of PyTorch's C++ side, as wide as a terminal, whose message says nothing so far. Few
/// lines begin like that, so it may be read twice.
bool may_be_wrapped(std::string_view line) {
  constexpr size_t kNarrowest = 60;
  constexpr size_t kWidest = 300;
  if (line.size() < kNarrowest || line.size() > kWidest || line[0] != '[') return false;
  if (line.substr(0, kNarrowest + 20).find(".cpp:") == line.npos) return false;
  return parse_header(line).level == Level::Framework && !is_understood(line);
}

bool is_same_voice(const Prefix& a, const Prefix& b) {
  return std::tie(a.rank, a.local_rank, a.host, a.address, a.pid) ==
         std::tie(b.rank, b.local_rank, b.host, b.address, b.pid);
}

}  // namespace

std::optional<std::string_view> rest_of_record(std::string_view line, std::string_view begun) {
  if (is_header_stub(line)) return std::nullopt;
  const Header header = parse_header(line);
  if (header.level == Level::Framework || !header.host.empty()) return std::nullopt;
  const size_t prefix = header.prefix.length;
  if (prefix > 0 && !is_same_voice(header.prefix, parse_header(begun).prefix)) return std::nullopt;
  const std::string_view rest = trim(line.substr(prefix));
  return rest.empty() ? std::nullopt : std::optional(rest);
}

/// True if held_ and `text` are a header that neither is alone.
bool RecordJoiner::completes_header(std::string_view text) const {
  const auto header = parse_nccl_header(std::string(trim(held_)) + ' ' + std::string(text));
  return header && !header->host.empty() && !header->message.empty();
}

/// Takes the line in if held_ and it are a message that neither is alone. A terminal cuts words
/// where its width ends; the blank that stood there may be gone.
bool RecordJoiner::add_wrapped(const Line& line, int lines) {
  const auto rest = rest_of_record(line.text, held_);
  if (!rest || line.text.size() > held_.size() + 1 || is_understood(line.text)) return false;
  for (const std::string_view between : {"", " "}) {
    std::string joined = held_ + std::string(between) + std::string(trim(line.text));
    if (!is_understood(joined)) continue;
    held_ = std::move(joined);
    ++pieces_;
    lines_ += lines;
    finish();
    return true;
  }
  return false;
}

void RecordJoiner::add(const Line& line, int lines) {
  switch (waiting_) {
    case Waiting::Nothing:
      break;
    case Waiting::ForLevel:
      if (const auto rest = rest_of_record(line.text, held_); rest && completes_header(*rest))
        return append(*rest, lines, Waiting::ForRest);
      break;
    case Waiting::ForRest:
      if (const auto rest = rest_of_record(line.text, held_);
          rest && parse_header(line.text).level == Level::None)
        return append(*rest, lines, Waiting::ForRest);
      break;
    case Waiting::ForAnswer:
      if (const auto rest = rest_of_record(line.text, held_); rest && is_memlock_answer(*rest))
        return append(*rest, lines, Waiting::Nothing);
      break;
    case Waiting::ForMessage:
      if (add_wrapped(line, lines)) return;
      break;
  }
  finish();
  if (asks_for_memlock(line.text)) return hold(line, lines, Waiting::ForAnswer);
  if (line.text.size() < kLongestStub && is_header_stub(line.text))
    return hold(line, lines, Waiting::ForLevel);
  if (may_be_wrapped(line.text)) return hold(line, lines, Waiting::ForMessage);
  receive_(line, lines);
}

void RecordJoiner::finish() {
  if (pieces_ == 0) return;
  Line record = first_;
  record.text = held_;
  record.has_control = record.has_high = true;
  waiting_ = Waiting::Nothing;
  pieces_ = 0;
  receive_(record, lines_);
}

void RecordJoiner::hold(const Line& line, int lines, Waiting waiting) {
  held_.assign(line.text.substr(0, kMaxJoinedBytes));
  first_ = line;
  pieces_ = 1;
  lines_ = lines;
  waiting_ = waiting;
}

void RecordJoiner::append(std::string_view text, int lines, Waiting waiting) {
  while (!held_.empty() && is_blank(held_.back())) held_.pop_back();
  held_ += ' ';
  held_ += trim(text).substr(0, kMaxJoinedBytes);
  ++pieces_;
  lines_ += lines;
  waiting_ = waiting;
  if (waiting == Waiting::Nothing || pieces_ >= kMaxPieces) finish();
}

}  // namespace ncclog
