#include "log/unwrapper.h"

#include <algorithm>

#include "log/event.h"
#include "log/prefix.h"
#include "log/scanner.h"
#include "log/time_stamp.h"

namespace ncclog {
namespace {

constexpr size_t kMaxJoinedBytes = size_t{64} << 10;  ///< As long as a line may be anywhere.
constexpr int kMaxNesting = 4;  ///< Collectors that wrap each other's records.

/// Length of "2026-01-05T12:00:00.1Z stdout P " with which `line` begins; 0 if it does not.
size_t cri_tag_length(std::string_view line, bool& is_partial) {
  Scanner scan(line);
  scan.skip(line.substr(0, iso_stamp_length(line)));
  if (!scan.skip(" stdout ") && !scan.skip(" stderr ")) return 0;
  is_partial = scan.peek() == 'P';
  if (!scan.skip('P') && !scan.skip('F')) return 0;
  return scan.skip(' ') || scan.done() ? scan.taken() : 0;
}

std::string_view without_line_end(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

void Unwrapper::add(const Line& line) {
  if (is_holding_ && may_start_unit(line.text)) flush();
  if (may_be_collector_json(line.text) && read_json(line.text)) return add_record(line);
  bool is_partial = false;
  const size_t tag = cri_tag_length(line.text, is_partial);
  if (tag > 0) return add_part(line, tag, is_partial, 1);
  flush();
  receive_(line, 1);
}

void Unwrapper::finish() { flush(); }

/// Fills record_ from the record that stands behind the line's prefixes, and from records inside
/// it.
bool Unwrapper::read_json(std::string_view line) {
  const size_t prefix = parse_prefix(line).length;
  if (!read_collector_json(line.substr(prefix), record_)) return false;
  record_.prefix.insert(0, line.substr(0, prefix));
  for (int depth = 1; depth < kMaxNesting; ++depth) {
    const std::string_view text = without_line_end(record_.text);
    if (!may_be_collector_json(text)) break;
    const size_t inner = parse_prefix(text).length;
    CollectorLine nested;
    if (!read_collector_json(text.substr(inner), nested)) break;
    nested.prefix.insert(0, record_.prefix + std::string(text.substr(0, inner)));
    record_ = std::move(nested);
  }
  return true;
}

/// Hands on the lines of record_. The first one stands for `line`, the others for none.
void Unwrapper::add_record(const Line& line) {
  const std::string_view text = without_line_end(record_.text);
  int lines = 1;
  for (size_t begin = 0; begin <= text.size(); lines = 0) {
    const size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    Line piece = line;
    piece_.assign(record_.prefix).append(text.substr(begin, end - begin));
    piece.text = strip_ansi(piece_, plain_);
    piece.has_control = piece.has_high = true;
    const size_t prefix = std::min(record_.prefix.size(), piece.text.size());
    add_part(piece, prefix, record_.is_partial && end == text.size(), lines);
    begin = end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
  }
}

/// Completes or begins a line whose process's own text starts behind `prefix` bytes.
void Unwrapper::add_part(const Line& line, size_t prefix, bool is_partial, int lines) {
  const bool is_stderr = line.text.substr(0, prefix).find(" stderr ") != line.text.npos;
  Half& half = halves_[is_stderr ? 1 : 0];
  if (!half.held) {
    if (!is_partial) return receive_(line, lines);
    half = {std::string(line.text), line, 0, true};
  } else {
    const size_t room = kMaxJoinedBytes - std::min(kMaxJoinedBytes, half.text.size());
    half.text += line.text.substr(prefix, room);
  }
  half.lines += lines;
  is_holding_ = true;
  if (!is_partial) hand_on(half);
}

void Unwrapper::hand_on(Half& half) {
  half.held = false;
  is_holding_ = halves_[0].held || halves_[1].held;
  Line line = half.first;
  line.text = half.text;
  line.has_control = line.has_high = true;
  receive_(line, half.lines);
}

void Unwrapper::flush() {
  const bool stdout_first = halves_[0].first.offset <= halves_[1].first.offset;
  for (const size_t i : {stdout_first ? 0 : 1, stdout_first ? 1 : 0}) {
    if (halves_[i].held) hand_on(halves_[i]);
  }
}

}  // namespace ncclog
