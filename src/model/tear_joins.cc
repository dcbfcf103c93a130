// Which pieces of records belong together?
//
//   node-a:41:41 [0] NCCL INFO Channel 00/0 : 1[1] -> node-b:52:52 [1] NCCL INFO Using network IB
//   2[2] via P2P/CUMEM
//
// A piece is tried as the rest of an earlier one. They are joined where that makes a whole record
// of a known process and nothing else is possible; elsewhere the doubt stays.

#include <algorithm>

#include "base/text.h"
#include "model/glued_message.h"
#include "model/tear_guard.h"

namespace ncclog {
namespace {

/// Bytes. NCCL prints messages of up to 1,023; a longer line is no beginning of one, and to try all
/// places where it may have been cut would take hours.
constexpr size_t kLongestRecord = 4096;

}  // namespace

/// A whole record of a known process.
bool TearGuard::is_record(std::string_view text) const {
  const Event event = parse_event(text, all_wordings());
  const Header& header = event.header;
  if (event.fate != LineFate::Recognised || !is_nccl(header) || header.host.empty()) return false;
  const Known& known = known_as(header);
  if (holds_another(event)) return false;
  return !header.torn && header.unexplained.empty() && known.pid == header.pid &&
         known.host == header.host;
}

/// Tries the line held last as the rest of the last one that shows a sign.
void TearGuard::join_to_earlier() {
  const size_t last = held_.size() - 1;
  bool only_records = true;  // Between the two; anything else may be the rest, or a part of it.
  uint64_t gap = 1;
  for (size_t i = last; i-- > 0 && gap <= kMaxGap; gap += held_.lines(i)) {
    if (held_.kind(i) == HeldLines::Kind::Run) only_records = false;
    if (!held_.is_read(i)) continue;
    const HeldLine& first = held_.read(i);
    if (first.sign == TearSign::Merged) {
      if (only_records && ++joins_ <= kMaxJoins) join_merged(i, held_.read(last));
      return;
    }
    if (first.sign == TearSign::Cut) {
      if (++joins_ <= kMaxJoins) join_cut(i, held_.read(last), only_records);
      return;
    }
    const bool whole = first.event.fate == LineFate::Recognised && is_nccl(first.event.header);
    only_records &= whole || first.spent;
  }
}

/// The beginning stands before another record: "X1 Y" and later "X2".
void TearGuard::join_merged(size_t first, HeldLine& rest) {
  HeldLine& line = held_.read(first);
  if (line.begin == 0) return;
  const std::string begun = line.text.substr(0, line.begin);
  const std::string other = line.text.substr(line.begin);
  const std::string whole = begun + rest.text;
  // print() writes a line and its end apart.
  const bool print = trim(rest.text).empty() && !is_nccl(parse_header(begun));
  const bool certain = print || (is_record(whole) && is_only_reading(first, begun, rest.text));
  if (!certain || !is_record(other)) return;
  held_.set_text(line, other);
  set_sign(line, TearSign::None);
  held_.set_text(rest, whole);
  set_sign(rest, TearSign::None);
}

/// The beginning ends its line: "X1" and later "X2", or words that are not NCCL's are in between:
/// "X1 Z" and later "X2". Where that is possible and not certain, the beginning is in doubt.
void TearGuard::join_cut(size_t first, HeldLine& rest, bool only_records) {
  HeldLine& line = held_.read(first);
  const std::vector<size_t> ends = possible_ends(line.text, rest.text);
  if (ends.empty()) return;
  const std::string begun = line.text.substr(0, ends.front());
  const bool certain = only_records && ends.size() == 1 && is_only_reading(first, begun, rest.text);
  if (!certain) return set_sign(line, TearSign::Merged);
  held_.set_text(rest, begun + rest.text);
  set_sign(rest, TearSign::None);
  set_sign(line, TearSign::None);
  if (ends.front() < line.text.size()) return held_.set_text(line, line.text.substr(ends.front()));
  rest.lines += line.lines;
  line.spent = true;
}

/// Where `begun` may end so that `rest` makes a record of it: its own end if that does, else up to
/// two other places. Nowhere if it is too long to have been a record.
std::vector<size_t> TearGuard::possible_ends(std::string_view begun, std::string_view rest) {
  std::vector<size_t> ends;
  if (begun.size() > kLongestRecord) return ends;
  for (size_t end = begun.size(); end > 0 && ends.size() < 2; --end) {
    piece_.assign(begun.substr(0, end));
    piece_ += rest;
    if (!is_record(piece_)) continue;
    ends.push_back(end);
    if (end == begun.size()) break;
  }
  return ends;
}

/// False if `rest` could as well belong to one of the records between, and what that one ends with
/// to `begun`.
bool TearGuard::is_only_reading(size_t first, std::string_view begun, std::string_view rest) {
  for (size_t i = first; i + 1 < held_.size(); ++i) {
    if (held_.kind(i) == HeldLines::Kind::Run) continue;
    const HeldLine& line = held_.read(i);
    const bool between = i > first || line.sign == TearSign::Merged;
    if (!between || !is_nccl(line.event.header) || line.spent) continue;
    const std::string_view other = std::string_view(line.text).substr(line.begin);
    if (other.size() > kLongestRecord) continue;
    for (size_t cut = 1; cut < other.size(); ++cut) {
      piece_.assign(begun);
      piece_ += other.substr(cut);
      if (!is_record(piece_)) continue;
      piece_.assign(other.substr(0, cut));
      piece_ += rest;
      if (is_record(piece_)) return false;
    }
  }
  return true;
}

}  // namespace ncclog
