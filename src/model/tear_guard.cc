#include "model/tear_guard.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "log/messages/all_messages.h"
#include "log/read_message.h"
#include "log/record_marks.h"

namespace ncclog {
namespace {

constexpr size_t kMaxHeldBytes = size_t{256} << 10;

bool is_nccl(const Header& header) {
  return header.level != Level::None && header.level != Level::Framework;
}

/// Two hosts of one pid have different places.
size_t place_of_odd(const Header& header) {
  return std::hash<std::string_view>{}(header.host) + static_cast<size_t>(header.pid);
}

/// Place in `text` of a view into it.
size_t place_of(std::string_view part, std::string_view text) {
  return static_cast<size_t>(part.data() - text.data());
}

/// What NCCL prints behind "via".
bool is_path(std::string_view path) {
  return transport_of(path) != Transport::Other && path.find(':') == path.npos &&
         path.find("[20") == path.npos;
}

bool is_setting(const EnvSet& set) {
  const bool name = std::all_of(set.name.begin(), set.name.end(), [](char c) {
    return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z');
  });
  return name && !set.value.starts_with(' ');
}

/// False where words of a program or of another process stand in a message that any text fits.
bool is_plausible(const Message& message) {
  if (message.kind == nullptr) return true;
  const uint16_t kind = message.kind->index;
  if (kind == kKindIndex<ChannelConnected>) {
    return is_path(read_message<ChannelConnected>(message).path);
  }
  if (kind == kKindIndex<EnvSet>) return is_setting(read_message<EnvSet>(message));
  const bool is_name = kind == kKindIndex<NetworkSelected> || kind == kKindIndex<NcclVersion>;
  if (!is_name) return true;
  const std::string_view name = message.fields[0];
  return name.find_first_of(":/#") == name.npos;
}

/// An NCCL message with the beginning of another record, or other people's words, in it.
bool holds_another(const Event& event) {
  const Header& header = event.header;
  return header.anchored_twice || holds_process(header.message) || holds_task_tag(header.message) ||
         !is_plausible(event.message);
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

/// The line held as number `i`; a known one is filled in.
TearGuard::Held& TearGuard::held(size_t i) {
  const size_t place = place_of_held(i);
  Held& line = ring_[place];
  KnownLine& known = calls_[place].line;
  if (known.call == nullptr) return line;
  if (known.text.data() != line.text.data()) line.text.assign(known.text);
  line.line = {{}, calls_[place].number, 0, false};
  line.lines = 1;
  line.spent = false;
  line.event = parse_event(line.text, all_wordings());
  line.shape = 0;
  line.sign = Sign::None;
  line.begin = 0;
  known.call = nullptr;
  return line;
}

bool TearGuard::add(const KnownLine& line, uint64_t number) {
  const KnownHead& head = *line.call->head;
  Known& known = recent_[static_cast<uint64_t>(head.pid) % recent_.size()];
  if (known.head != &head && (known.pid != head.pid || known.host != head.host)) return false;
  known.head = &head;
  while (count_ == ring_.size() || (count_ > 0 && bytes_ + line.text.size() > kMaxHeldBytes)) {
    hand_on_oldest();
  }
  calls_[place_of_held(count_++)] = {line, number};
  bytes_ += line.text.size();
  prefixes_.add_none();
  return true;
}

bool TearGuard::is_last_whole() const {
  if (count_ == 0) return false;
  const Held& line = ring_[place_of_held(count_ - 1)];
  const Header& header = line.event.header;
  const Known& known = known_as(header);
  return line.sign == Sign::None && line.shape == 0 && known.pid == header.pid &&
         known.host == header.host;
}

void TearGuard::settle() {
  for (size_t i = 0; i < count_; ++i) {
    std::string& text = ring_[place_of_held(i)].text;
    std::string_view& known = calls_[place_of_held(i)].line.text;
    if (!is_call(i) || known.data() == text.data()) continue;
    text.assign(known);
    known = text;
  }
}

void TearGuard::add(const Line& record, const Event& event, int lines) {
  while (count_ == ring_.size() || (count_ > 0 && bytes_ + record.text.size() > kMaxHeldBytes)) {
    hand_on_oldest();
  }
  const size_t place = place_of_held(count_++);
  calls_[place].line.call = nullptr;
  Held& line = ring_[place];
  line.line = record;
  line.lines = lines;
  line.spent = false;
  line.text.assign(record.text);
  bytes_ += line.text.size();
  line.event = moved(event, record.text, line.text);
  count_shape(line);
  note_odd(line.event.header);
  find_sign(line);
  const Header& header = line.event.header;
  const bool no_begin = line.sign == Sign::Merged && line.begin == 0;
  const bool no_host = header.level != Level::Framework && header.host.empty();
  if (no_host || no_begin) join_to_earlier();
}

void TearGuard::finish() {
  accept_prefixes([&](uint64_t shape) { return prefixes_.is_prefix_of_few(shape); });
  // What was cut off may be more than the rest of one line.
  const bool ends_inside =
      (count_ > 0 && is_beginning(held(count_ - 1))) ||
      (count_ > 1 && is_beginning_of_head(held(count_ - 1).text,
                                          head_of(held(count_ - 2).event, held(count_ - 2).text)));
  while (count_ > 0) hand_on_oldest();
  if (ends_inside && !doubted_ && shard_.has_one_writer()) {
    shard_.note_cut();
  } else if (ends_inside || doubted_) {
    shard_.note_torn();
  }
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

/// Counts what stands before a record, and how its process is called.
void TearGuard::count_shape(Held& line) {
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
  for (size_t i = 0; i < count_; ++i) {
    if (is_call(i)) continue;
    Held& line = held(i);
    if (line.shape == 0 || !is_prefix(line.shape)) continue;
    line.shape = 0;
    find_sign(line);
  }
}

void TearGuard::set_text(Held& line, std::string_view text) {
  bytes_ -= line.text.size();
  line.text.assign(text);
  bytes_ += line.text.size();
  line.event = parse_event(line.text, all_wordings());
}

void TearGuard::set_sign(Held& line, Sign sign, size_t begin) {
  merged_ -= line.sign == Sign::Merged ? 1 : 0;
  merged_ += sign == Sign::Merged ? 1 : 0;
  line.sign = sign;
  line.begin = begin;
}

void TearGuard::find_sign(Held& line) {
  size_t begin = 0;
  const Sign sign = sign_of(line, begin);
  set_sign(line, sign, begin);
  if (sign != Sign::Merged && is_nccl(line.event.header)) note_speaker(line.event.header);
}

TearGuard::Sign TearGuard::sign_of(const Held& line, size_t& begin) const {
  const Header& header = line.event.header;
  if (!is_nccl(header)) return foreign_sign(line);
  if (header.host.empty()) {
    // "[0] NCCL INFO …" among records that name their process: the end of a header.
    const bool headless = any_host_ && header.cuda_dev >= 0;
    if (headless || !header.unexplained.empty()) return Sign::Merged;
    return any_host_ ? cut_sign() : Sign::None;
  }
  begin = record_begin(line);
  if (begin > 0 || is_torn_host(header) || holds_another(line.event)) return Sign::Merged;
  return line.event.fate == LineFate::Unrecognised ? cut_sign() : Sign::None;
}

/// One sign supports the other.
TearGuard::Sign TearGuard::cut_sign() const {
  return since_sign_ < kAfter ? Sign::Merged : Sign::Cut;
}

TearGuard::Sign TearGuard::foreign_sign(const Held& line) const {
  const Header& header = line.event.header;
  if (line.shape != 0 || is_cut_short(line.text, header)) return Sign::Merged;
  if (holds_task_tag(header.message)) return Sign::Merged;
  if (!any_host_ || !holds_process(line.text)) return Sign::None;
  return is_header_beginning(header.message) ? cut_sign() : Sign::Merged;
}

/// Where the last record of an NCCL line begins, if something stands before it that is no prefix;
/// 0 if nothing does.
size_t TearGuard::record_begin(const Held& line) const {
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
bool TearGuard::is_beginning(const Held& line) const {
  // The last word before a crash is often a warning that no wording fits.
  if (line.sign == Sign::Cut) return line.event.header.level != Level::Warn;
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
  const size_t last = count_ - 1;
  bool only_records = true;  // Between the two; anything else may be the rest, or a part of it.
  for (size_t gap = 1; gap <= last && gap <= kMaxGap; ++gap) {
    if (is_call(last - gap)) continue;
    const Held& first = held(last - gap);
    if (first.sign == Sign::Merged) {
      if (only_records && ++joins_ <= kMaxJoins) join_merged(last - gap, held(last));
      return;
    }
    if (first.sign == Sign::Cut) {
      if (++joins_ <= kMaxJoins) join_cut(last - gap, held(last), only_records);
      return;
    }
    const bool whole = first.event.fate == LineFate::Recognised && is_nccl(first.event.header);
    only_records &= whole || first.spent;
  }
}

/// The beginning stands before another record: "X1 Y" and later "X2".
void TearGuard::join_merged(size_t first, Held& rest) {
  Held& line = held(first);
  if (line.begin == 0) return;
  const std::string begun = line.text.substr(0, line.begin);
  const std::string other = line.text.substr(line.begin);
  const std::string whole = begun + rest.text;
  // print() writes a line and its end apart.
  const bool print = trim(rest.text).empty() && !is_nccl(parse_header(begun));
  const bool certain = print || (is_record(whole) && is_only_reading(first, begun, rest.text));
  if (!certain || !is_record(other)) return;
  set_text(line, other);
  set_sign(line, Sign::None);
  set_text(rest, whole);
  set_sign(rest, Sign::None);
}

/// The beginning ends its line: "X1" and later "X2", or words that are not NCCL's are in between:
/// "X1 Z" and later "X2". Where that is possible and not certain, the beginning is in doubt.
void TearGuard::join_cut(size_t first, Held& rest, bool only_records) {
  Held& line = held(first);
  const std::vector<size_t> ends = possible_ends(line.text, rest.text);
  if (ends.empty()) return;
  const std::string begun = line.text.substr(0, ends.front());
  const bool certain = only_records && ends.size() == 1 && is_only_reading(first, begun, rest.text);
  if (!certain) return set_sign(line, Sign::Merged);
  set_text(rest, begun + rest.text);
  set_sign(rest, Sign::None);
  set_sign(line, Sign::None);
  if (ends.front() < line.text.size()) return set_text(line, line.text.substr(ends.front()));
  rest.lines += line.lines;
  line.spent = true;
}

/// Where `begun` may end so that `rest` makes a record of it: its own end if that does, else up to
/// two other places.
std::vector<size_t> TearGuard::possible_ends(std::string_view begun, std::string_view rest) {
  std::vector<size_t> ends;
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
  for (size_t i = first; i + 1 < count_; ++i) {
    const Held& line = held(i);
    const bool between = i > first || line.sign == Sign::Merged;
    if (!between || !is_nccl(line.event.header) || line.spent) continue;
    const std::string_view other = std::string_view(line.text).substr(line.begin);
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

void TearGuard::hand_on_oldest() {
  if (!hand_on_call()) {
    Held& line = held(0);
    hand_on(line);
    since_sign_ = line.sign == Sign::Merged ? 0 : since_sign_ + 1;
    set_sign(line, Sign::None);
    bytes_ -= line.text.size();
    line.text.clear();
  }
  oldest_ = place_of_held(1);
  --count_;
}

/// Hands the oldest line on as the known one that it is; false if it is none, or in doubt.
bool TearGuard::hand_on_call() {
  const HeldCall& call = calls_[oldest_];
  if (call.line.call == nullptr || since_sign_ < kAfter || is_near_sign()) return false;
  bytes_ -= call.line.text.size();
  shard_.add(call.line, call.number);
  ++since_sign_;
  return true;
}

/// True if the oldest line or one of the kBefore lines behind it is Merged.
bool TearGuard::is_near_sign() {
  if (merged_ == 0) return false;
  const size_t end = std::min(count_, kBefore + 1);
  for (size_t i = 0; i < end; ++i) {
    if (!is_call(i) && held(i).sign == Sign::Merged) return true;
  }
  return false;
}

void TearGuard::hand_on(Held& line) {
  if (line.spent) return;
  if (since_sign_ < kAfter || is_near_sign()) {
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
