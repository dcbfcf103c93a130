#include "model/tear_guard.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "log/record_marks.h"
#include "model/glued_message.h"

namespace ncclog {
namespace {

/// Two hosts of one pid have different places.
size_t place_of_odd(const Header& header) {
  return std::hash<std::string_view>{}(header.host) + static_cast<size_t>(header.pid);
}

/// Place in `text` of a view into it.
size_t place_of(std::string_view part, std::string_view text) {
  return static_cast<size_t>(part.data() - text.data());
}

/// What stands before a record, as a launcher would close it: "train.sh[3]: ", "w3 | ". A piece of
/// another process's record has no reason to end like that.
bool is_closed_prefix(std::string_view unexplained, std::string_view line) {
  if (unexplained.empty()) return false;
  const size_t end = place_of(unexplained, line) + unexplained.size();
  constexpr std::string_view kClosings = "]:|>)";
  return end < line.size() && is_blank(line[end]) && kClosings.find(line[end - 1]) != line.npos &&
         !holds_process(unexplained) && unexplained.find("NCCL") == unexplained.npos;
}

/// A record of the framework that ends where another one begins.
bool is_cut_short(std::string_view text, const Header& header) {
  const size_t end = place_of(header.message, text) + header.message.size();
  return header.level == Level::Framework && end != text.size();
}

/// What stands before the host of a record; empty for other lines.
std::string_view head_of(const Event& event, std::string_view text) {
  if (!is_nccl(event.header) || event.header.host.empty()) return {};
  return text.substr(0, static_cast<size_t>(event.header.host.data() - text.data()));
}

/// What was cut off inside a stamp or a prefix looks like the beginning of the record before it,
/// but for its digits.
bool is_beginning_of_head(std::string_view line, std::string_view head) {
  if (line.empty() || line.size() > head.size()) return false;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::equal(line.begin(), line.end(), head.begin(),
                    [&](char a, char b) { return a == b || (digit(a) && digit(b)); });
}

}  // namespace

TearGuard::TearGuard(Shard& shard, const LineMatcher& matcher) : shard_(shard), matcher_(matcher) {}

void TearGuard::make_room(size_t bytes) {
  while (held_.is_full(bytes)) hand_on_oldest();
}

void TearGuard::add(std::span<const KnownLine> lines, uint64_t number) {
  prefixes_.add_none(lines.size());
  constexpr size_t kMost = HeldLines::kLines - 1;
  if (lines.size() > kMost) {
    while (held_.size() > 0) hand_on_oldest();
    // Those that others stand behind would leave one by one.
    std::span<const KnownLine> first = lines.first(lines.size() - kMost);
    lines = lines.last(kMost);
    for (; !first.empty() && since_sign_ < kAfter; first = first.subspan(1), ++number) {
      held_.push(first.front(), number);
      hand_on_oldest();
    }
    shard_.add(first, number);
    since_sign_ += first.size();
    number += first.size();
  }
  for (const KnownLine& line : lines) {
    make_room(line.text.size());
    held_.push(line, number++);
  }
}

void TearGuard::add(ForeignRun run) {
  constexpr uint64_t kMost = HeldLines::kLines - 1;
  if (run.lines > kMost) {
    ForeignRun begin = run;
    run = take_last_lines(begin, kMost);
    while (held_.size() > 0) hand_on_oldest();
    while (begin.lines > 0 && since_sign_ < kAfter) hand_on(take_lines(begin, 1), false);
    if (begin.lines > 0) hand_on(begin, true);
  }
  make_room(run.text.size());
  held_.push(run);
}

bool TearGuard::is_quiet() const {
  uint64_t gap = 1;
  for (size_t i = held_.size(); i-- > 0 && gap <= kMaxGap; gap += held_.lines(i)) {
    if (held_.sign(i) != TearSign::None) return false;
  }
  return true;
}

bool TearGuard::is_last_whole() {
  if (held_.size() == 0) return false;
  const HeldLine& line = held_.read(held_.size() - 1);
  const Header& header = line.event.header;
  const Known& known = known_as(header);
  return line.sign == TearSign::None && line.shape == 0 && known.pid == header.pid &&
         known.host == header.host;
}

void TearGuard::settle() { held_.settle(); }

void TearGuard::add(const Line& record, const Event& event, int lines) {
  make_room(record.text.size());
  HeldLine& line = held_.push(record, event, lines);
  count_shape(line);
  note_odd(line.event.header);
  find_sign(line);
  const Header& header = line.event.header;
  const bool no_begin = line.sign == TearSign::Merged && line.begin == 0;
  const bool no_host = header.level != Level::Framework && header.host.empty();
  if (no_host || no_begin) join_to_earlier();
}

void TearGuard::finish() {
  accept_prefixes([&](uint64_t shape) { return prefixes_.is_prefix_of_few(shape); });
  // What was cut off may be more than the rest of one line.
  const bool ends_inside = ends_inside_record();
  while (held_.size() > 0) hand_on_oldest();
  if (ends_inside && !doubted_ && shard_.has_one_writer()) {
    shard_.note_cut();
  } else if (ends_inside || doubted_) {
    shard_.note_torn();
  }
}

/// The last line is the beginning of another one. Lines of runs are not.
bool TearGuard::ends_inside_record() {
  const size_t count = held_.size();
  if (count == 0 || held_.kind(count - 1) == HeldLines::Kind::Run) return false;
  const HeldLine& last = held_.read(count - 1);
  if (is_beginning(last)) return true;
  if (count == 1 || held_.kind(count - 2) == HeldLines::Kind::Run) return false;
  const HeldLine& before = held_.read(count - 2);
  return is_beginning_of_head(last.text, head_of(before.event, before.text));
}

const TearGuard::Known& TearGuard::known_as(const Header& header) const {
  return recent_[static_cast<uint64_t>(header.pid) % recent_.size()];
}

void TearGuard::note_speaker(const Header& header) {
  if (header.host.empty()) return;
  Known& known = recent_[static_cast<uint64_t>(header.pid) % recent_.size()];
  if (known.pid == header.pid && known.host == header.host) return;
  known.host.assign(header.host);
  known.pid = header.pid;
  known.head = nullptr;
  any_host_ = true;
}

/// Notes who speaks in known lines; false if another host has that pid.
bool TearGuard::note_speaker(const KnownHead& head) {
  Known& known = recent_[static_cast<uint64_t>(head.pid) % recent_.size()];
  if (known.pid == head.pid && known.host != head.host) return false;
  if (known.pid != head.pid) known.host = head.host;
  known.pid = head.pid;
  known.head = &head;
  return true;
}

/// Counts what stands before a record, and how its process is called.
void TearGuard::count_shape(HeldLine& line) {
  const Header& header = line.event.header;
  const bool has_host = is_nccl(header) && !header.host.empty();
  const bool is_record = has_host || header.level == Level::Framework;
  const bool is_odd = is_record && !header.torn && !header.unexplained.empty() &&
                      !is_closed_prefix(header.unexplained, line.text);
  line.shape = is_odd ? shape_of(header.unexplained) : 0;
  if (is_record) prefixes_.add(line.shape);
  if (is_odd) accept_prefixes([&](uint64_t shape) { return prefixes_.is_prefix(shape); });
}

/// Takes the doubt from held lines before which a launcher's prefix stands after all.
template <typename IsPrefix>
void TearGuard::accept_prefixes(IsPrefix is_prefix) {
  for (size_t i = 0; i < held_.size(); ++i) {
    if (!held_.is_read(i)) continue;
    HeldLine& line = held_.read(i);
    if (line.shape == 0 || !is_prefix(line.shape)) continue;
    line.shape = 0;
    find_sign(line);
  }
}

void TearGuard::set_sign(HeldLine& line, TearSign sign, size_t begin) {
  merged_ -= line.sign == TearSign::Merged ? 1 : 0;
  merged_ += sign == TearSign::Merged ? 1 : 0;
  line.sign = sign;
  line.begin = begin;
}

void TearGuard::find_sign(HeldLine& line) {
  size_t begin = 0;
  const TearSign sign = sign_of(line, begin);
  set_sign(line, sign, begin);
  if (sign != TearSign::Merged && is_nccl(line.event.header)) note_speaker(line.event.header);
}

TearSign TearGuard::sign_of(const HeldLine& line, size_t& begin) const {
  const Header& header = line.event.header;
  if (!is_nccl(header)) return foreign_sign(line);
  if (header.host.empty()) {
    // "[0] NCCL INFO …" among records that name their process: the end of a header.
    const bool headless = any_host_ && header.cuda_dev >= 0;
    if (headless || !header.unexplained.empty()) return TearSign::Merged;
    return any_host_ ? cut_sign() : TearSign::None;
  }
  begin = record_begin(line);
  if (begin > 0 || is_torn_host(header) || holds_another(line.event)) return TearSign::Merged;
  return line.event.fate == LineFate::Unrecognised ? cut_sign() : TearSign::None;
}

/// One sign supports the other.
TearSign TearGuard::cut_sign() const {
  return since_sign_ < kAfter ? TearSign::Merged : TearSign::Cut;
}

TearSign TearGuard::foreign_sign(const HeldLine& line) const {
  const Header& header = line.event.header;
  if (line.shape != 0 || is_cut_short(line.text, header)) return TearSign::Merged;
  if (holds_task_tag(header.message)) return TearSign::Merged;
  if (!any_host_ || !holds_process(line.text)) return TearSign::None;
  return is_header_beginning(header.message) ? cut_sign() : TearSign::Merged;
}

/// Where the last record of an NCCL line begins, if something stands before it that is no prefix;
/// 0 if nothing does.
size_t TearGuard::record_begin(const HeldLine& line) const {
  const Header& header = line.event.header;
  const Known& known = known_as(header);
  const bool longer = known.pid == header.pid && known.host.size() < header.host.size() &&
                      header.host.ends_with(known.host) && !is_often(header);
  if (longer) {
    return place_of(header.host, line.text) + header.host.size() - known.host.size();
  }
  return header.torn || line.shape != 0 ? place_of(header.host, line.text) : 0;
}

/// True if the host is a known one without its beginning, or with something inside.
bool TearGuard::is_torn_host(const Header& header) const {
  const Known& known = known_as(header);
  if (known.pid != header.pid || known.host == header.host || is_often(header)) return false;
  return known.host.ends_with(header.host) || is_interrupted(header.host, known.host);
}

/// The stretch ends inside a record of a known process: its file was cut, or copied too early.
bool TearGuard::is_beginning(const HeldLine& line) const {
  // The last word before a crash is often a warning that no wording fits.
  if (line.sign == TearSign::Cut) return line.event.header.level != Level::Warn;
  const std::string_view text = line.event.header.message;
  if (line.event.header.level != Level::None || text.empty()) return false;
  return std::any_of(recent_.begin(), recent_.end(), [&](const Known& known) {
    return known.pid >= 0 && (known.host.starts_with(text) || text.starts_with(known.host + ':'));
  });
}

/// True if lines have named this host and pid before, so often that no tear did it.
bool TearGuard::is_often(const Header& header) const {
  const Odd& odd = odd_[place_of_odd(header) % odd_.size()];
  return odd.named.pid == header.pid && odd.named.host == header.host && odd.count >= kOften;
}

/// Counts how often a name comes that a tear might have made.
void TearGuard::note_odd(const Header& header) {
  if (!is_nccl(header) || header.host.empty()) return;
  const Known& known = known_as(header);
  if (known.pid != header.pid || known.host == header.host) return;
  Odd& odd = odd_[place_of_odd(header) % odd_.size()];
  if (odd.named.pid != header.pid || odd.named.host != header.host) {
    odd = {{std::string(header.host), header.pid}, 0};
  }
  ++odd.count;
}

void TearGuard::hand_on_oldest() {
  switch (held_.kind(0)) {
    case HeldLines::Kind::Read:
      return hand_on_line();
    case HeldLines::Kind::Call:
      return hand_on_call();
    case HeldLines::Kind::Run:
      return hand_on_run();
  }
}

/// True if the oldest line or one of the kBefore lines behind it is Merged.
bool TearGuard::is_near_sign() const {
  if (merged_ == 0) return false;
  uint64_t distance = 0;
  for (size_t i = 0; i < held_.size() && distance <= kBefore; distance += held_.lines(i), ++i) {
    if (held_.sign(i) == TearSign::Merged) return true;
  }
  return false;
}

void TearGuard::hand_on_call() {
  if (!is_clean()) return hand_on_line();
  shard_.add({&held_.call(0), 1}, held_.call_number(0));
  ++since_sign_;
  held_.pop();
}

void TearGuard::hand_on_run() {
  const bool is_whole = merged_ == 0 && since_sign_ >= kAfter;
  const bool clean = is_whole || is_clean();
  const ForeignRun run = is_whole ? held_.run(0) : held_.take_line_of_run();
  hand_on(run, clean);
  if (is_whole || held_.run(0).lines == 0) held_.pop();
}

void TearGuard::hand_on(const ForeignRun& run, bool clean) {
  if (clean) {
    shard_.add(run);
  } else {
    doubted_ = true;
    shard_.add_in_doubt(Event(), static_cast<int>(run.lines));
  }
  since_sign_ += run.lines;
}

void TearGuard::hand_on_line() {
  HeldLine& line = held_.read(0);
  hand_on(line);
  since_sign_ = line.sign == TearSign::Merged ? 0 : since_sign_ + 1;
  set_sign(line, TearSign::None);
  held_.pop();
  line.text.clear();
}

void TearGuard::hand_on(HeldLine& line) {
  if (line.spent) return;
  if (!is_clean()) {
    doubted_ = true;
    shard_.add_in_doubt(line.event, line.lines);
    return;
  }
  line.line.text = line.text;
  matched_.clear();
  if (matcher_) matcher_(line.text, matched_);
  shard_.add(line.line, line.event, line.lines, matched_);
}

}  // namespace ncclog
