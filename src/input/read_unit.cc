#include "input/read_unit.h"

#include <algorithm>
#include <string_view>

#include "base/odd_bytes.h"
#include "base/text.h"

namespace ncclog {
namespace {

SourceOptions source_options(const Unit& unit, const ReadOptions& options) {
  SourceOptions source{.max_expanded = options.max_expanded};
  if (unit.whole) return source;
  source.begin = unit.begin;
  source.end = unit.end;
  return source;
}

/// Only plain text is cut; a stretch that happens to start like something else is text all the
/// same.
UnitResult start_result(const Unit& unit, const ByteSource& source) {
  UnitResult result;
  result.compression = source.compression();
  result.bytes_on_disk = source.regular_size();
  result.content = unit.whole ? sniff_content(source.head()) : Content::Text;
  return result;
}

bool has_nul(std::string_view bytes) { return bytes.find('\0') != bytes.npos; }

/// Without the beginning of a character at the end, where cutting the line left it.
std::string_view without_partial_character(std::string_view text) {
  constexpr size_t kLongestTail = 3;
  for (size_t i = 1; i <= kLongestTail && i <= text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[text.size() - i]);
    if (byte >= 0xC0) return text.substr(0, text.size() - i);
    if (byte < 0x80) break;
  }
  return text;
}

bool is_utf8(const Line& line) {
  if (is_valid_utf8(line.text)) return true;
  return line.cut && is_valid_utf8(without_partial_character(line.text));
}

}  // namespace

void add_state(SourceState state, UnitResult& result) {
  switch (state) {
    case SourceState::Good:
      return;
    case SourceState::Cut:
      result.status = InputStatus::Cut;
      return result.losses.add(Loss::InputCut);
    case SourceState::SizeLimit:
      result.status = InputStatus::Cut;
      return result.losses.add(Loss::SizeLimit);
    case SourceState::Unreadable:
      result.status = InputStatus::Unreadable;
      return result.losses.add(Loss::InputUnreadable);
  }
}

ByteSource open_unit(const Unit& unit, const std::string& path, const ReadOptions& options) {
  return ByteSource(path, source_options(unit, options));
}

void LineCounts::add_losses(const Line& line) {
  if (line.cut) losses.add(Loss::LineCut);
  if (line.has_control && has_nul(line.text)) losses.add(Loss::NulBytes);
  if (line.has_high && !is_utf8(line)) losses.add(Loss::InvalidUtf8);
}

void LineCounts::add_whole(std::string_view text, uint64_t count, bool is_ascii) {
  lines += count;
  if (is_ascii || !find_odd_bytes(text).high || is_valid_utf8(text)) return;
  while (!text.empty()) {
    const size_t size = text.find('\n');
    if (!is_valid_utf8(text.substr(0, size))) losses.add(Loss::InvalidUtf8);
    text.remove_prefix(size + 1);
  }
}

UnitReader::UnitReader(const Unit& unit, ByteSource& source, std::span<char> memory)
    : source_(source), result_(start_result(unit, source_)), offset_(unit.begin), memory_(memory) {}

void UnitReader::start_lines() {
  const auto read = [this](char* buffer, size_t capacity) { return read_block(buffer, capacity); };
  if (memory_.empty()) {
    lines_.emplace(read, offset_);
  } else {
    lines_.emplace(read, memory_.first(std::min(memory_.size(), kMaxLineBytes + kBlockBytes)),
                   LinePlace{.offset = offset_});
  }
}

size_t UnitReader::read_block(char* buffer, size_t capacity) {
  if (!is_log(result_.content)) return 0;
  const size_t count = source_.read(buffer, capacity);
  result_.bytes += count;
  return count;
}

void UnitReader::add(const LineCounts& counts, uint64_t newlines) {
  counts_.lines += counts.lines;
  counts_.losses += counts.losses;
  result_.newlines += newlines;
}

size_t UnitReader::read(char* buffer, size_t capacity) {
  is_read_ = true;
  const size_t count = source_.read(buffer, capacity);
  result_.bytes += count;
  return count;
}

void UnitReader::refuse(std::string why) { refusal_ = std::move(why); }

UnitResult UnitReader::finish() {
  if (lines_) result_.newlines += lines_->newlines();
  result_.lines = counts_.lines;
  result_.losses += counts_.losses;
  result_.note = source_.note();
  add_state(source_.state(), result_);
  if (!refusal_.empty()) {
    result_.status = InputStatus::Unreadable;
    result_.note = result_.note.empty() ? refusal_ : refusal_ + " " + result_.note;
    result_.losses = {};
    result_.losses.add(Loss::InputUnreadable);
  } else if (!is_log(result_.content) && !is_read_) {
    result_.status = InputStatus::Skipped;
    result_.note = content_note(result_.content);
    result_.losses = {};
    result_.losses.add(Loss::InputSkipped);
  }
  return std::move(result_);
}

}  // namespace ncclog
