#include "log/event.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "log/line/prefix.h"
#include "log/line/scanner.h"
#include "log/messages.h"
#include "log/wording/other_programs.h"

namespace ncclog {
namespace {

/// Mostly NULs or control bytes: not text, whatever it once was.
bool is_unreadable(std::string_view line) {
  if (line.empty() || line.find('\0') == line.npos) return false;
  size_t odd = 0;
  for (const char c : line) odd += (c >= 0 && c < 0x20 && c != '\t' && c != '\x1b') ? 1 : 0;
  return odd * 2 > line.size();
}

/// "Last error: Net : Connection closed by remote peer …" is the WARN that it quotes, if that is a
/// known one: it stands for the line that the process did not log.
bool read_quoted_warning(std::string_view text, const WordingTable& wordings, Event& event) {
  constexpr std::string_view kLabel = "Last error: ";
  if (!text.starts_with(kLabel)) return false;
  text = trim(text.substr(kLabel.size()));
  Message quoted;
  wordings.nccl.read(text, quoted);
  if (quoted.kind == nullptr || warning_of(quoted) == nullptr) return false;
  event.message = quoted;
  event.header.level = Level::Warn;
  event.header.message = text;
  return true;
}

/// RAS answers questions about the job from a thread of its own. What fails in it fails no call.
constexpr Warning kRasOnly{
    WarnSeverity::Info, WarnOrigin::System,
    "It is of RAS, which lets ncclras ask a running job; the job itself does not need it."};

}  // namespace

Event parse_event(std::string_view line, const WordingTable& wordings) {
  Event event;
  Header& header = event.header;
  read_header(line, header);
  const bool nccl = is_nccl(header);
  const std::string_view message = trim(header.message);
  if (nccl) {
    wordings.nccl.read(message, event.message);
  } else if (!read_quoted_warning(message, wordings, event)) {
    wordings.foreign.read(message, event.message);
  }
  // Foreign is the default: an unreadable line is looked for only among those that nobody claims.
  if (event.message.kind != nullptr) {
    event.fate = LineFate::Recognised;
  } else if (nccl) {
    event.fate = LineFate::Unrecognised;
  } else if (is_unreadable(line)) {
    event.fate = LineFate::Unreadable;
  }
  return event;
}

const Warning* warning_of(const Event& event) {
  const Level level = event.header.level;
  const bool may_warn = level == Level::Warn || level == Level::None || level == Level::Framework;
  const Warning* warning = may_warn ? warning_of(event.message) : nullptr;
  if (warning == nullptr || warning->severity != WarnSeverity::Fatal) return warning;
  const std::string_view file = event.header.file;
  return file.starts_with("ras/") || file.find("/ras/") != file.npos ? &kRasOnly : warning;
}

namespace {

void move(std::string_view& view, std::string_view from, std::string_view to) {
  // Empty views and constants, such as a choice's word, do not point into the line.
  const bool inside = view.data() >= from.data() && view.data() <= from.data() + from.size();
  if (inside) view = to.substr(static_cast<size_t>(view.data() - from.data()), view.size());
}

}  // namespace

Message moved(const Message& message, std::string_view from, std::string_view to) {
  Message result = message;
  const size_t fields = message.kind == nullptr ? 0 : message.kind->fields.size();
  for (size_t i = 0; i < fields; ++i) move(result.fields[i], from, to);
  return result;
}

Event moved(const Event& event, std::string_view from, std::string_view to) {
  Event result = event;
  Header& header = result.header;
  for (std::string_view* view :
       {&header.host, &header.file, &header.process_group, &header.process_group_name,
        &header.message, &header.unexplained, &header.prefix.host, &header.prefix.address,
        &header.prefix.time, &header.prefix.stream, &header.prefix.progress_title}) {
    move(*view, from, to);
  }
  result.message = moved(event.message, from, to);
  return result;
}

bool may_start_unit(std::string_view line) {
  const Header header = parse_header(line);
  // Only INFO: a WARN may be the end of a header that was wrapped behind its file and line.
  return header.level == Level::Info && !header.host.empty();
}

// Errors in words that no wording knows.

namespace {

constexpr std::string_view kErrorWords[] = {
    "xited with exit code",  // srun, mpirun, Docker; "Exited" and "exited"
    "xited with code",
    "xited with status",
    "xited with error",
    "xited on signal",
    "returned non-zero exit",
    "non-zero exit code",
    "non-zero exit status",
    "died from signal",
    "died with signal",
    "illed by signal",
    "erminated by signal",
    "xited by signal",
    "NCCL WARN ",
    "NCCL ERROR ",
    "ncclUnhandledCudaError",
    "ncclSystemError",
    "ncclInternalError",
    "ncclInvalidArgument",
    "ncclInvalidUsage",
    "ncclRemoteError",
    "rcclUnhandledHipError",
    "unhandled cuda error",
    "unhandled system error",
    "gai error:",
    "NCCL error",
    "NCCL failure",
    "NET/OFI Unable",
    "NET/OFI Failed",
    "(core dumped)",
    "dumped core",
};

/// The first ones, behind which a number follows, or a signal's name; 0 is no error.
constexpr std::span kEnds = std::span(kErrorWords).first(13);

/// Enough by themselves.
constexpr std::span kFailures = std::span(kErrorWords).subspan(kEnds.size());

/// "exited with exit code 0": the number right behind the words is zero.
bool is_zero(std::string_view behind) {
  const size_t at = behind.find_first_not_of(" :=(");
  if (at == behind.npos || behind[at] != '0') return false;
  return at + 1 == behind.size() || !(is_digit(behind[at + 1]) || behind[at + 1] == 'x');
}

/// Source code in a traceback, and text that explains an error, name it without reporting one.
bool is_mention(std::string_view line) {
  constexpr std::string_view kCode[] = {"raise ", "except ", "if ", "case ", "#", "//", "* "};
  return starts_with_one_of(trim(line), kCode);
}

}  // namespace

std::span<const std::string_view> error_needles() { return kErrorWords; }

bool looks_like_error(std::string_view line) {
  const auto ends = [line](std::string_view words) {
    const size_t at = line.find(words);
    return at != line.npos && !is_zero(line.substr(at + words.size()));
  };
  return (holds_one_of(line, kFailures) || std::ranges::any_of(kEnds, ends)) && !is_mention(line);
}

// Beginnings of other processes' records inside a line.

namespace {

/// Where the digits that begin at `from` end.
size_t digits_end(std::string_view text, size_t from) {
  while (from < text.size() && is_digit(text[from])) ++from;
  return from;
}

/// ":4121:4188 [3" at `at`.
bool names_process(std::string_view text, size_t at) {
  const size_t pid = digits_end(text, at + 1);
  if (pid == at + 1 || pid == text.size() || text[pid] != ':') return false;
  const size_t tid = digits_end(text, pid + 1);
  return tid > pid + 1 && text.substr(tid).starts_with(" [") && digits_end(text, tid + 2) > tid + 2;
}

}  // namespace

bool holds_process(std::string_view text) {
  for (size_t at = text.find(':'); at != text.npos; at = text.find(':', at + 1)) {
    if (at > 0 && is_host_char(text[at - 1]) && names_process(text, at)) return true;
  }
  return false;
}

size_t find_task_tag(std::string_view text, bool from_begin) {
  for (size_t at = text.find('[', from_begin ? 0 : 1); at != text.npos;
       at = text.find('[', at + 1)) {
    // Behind a blank or a mark it may follow a launcher's own prefix.
    const char before = at == 0 ? '_' : text[at - 1];
    if (!is_word(before) && before != '/' && before != '.') continue;
    size_t number = at + 1;
    while (number < text.size() && is_alpha(text[number])) ++number;
    if (number == at + 1) continue;
    const size_t end = digits_end(text, number);
    if (end > number && text.substr(end).starts_with("]:")) return at;
  }
  return text.npos;
}

bool is_interrupted(std::string_view host, std::string_view known) {
  if (host.size() <= known.size()) return false;
  size_t same = 0;
  while (same < known.size() && host[same] == known[same]) ++same;
  if (same == 0 || same == known.size() || !host.ends_with(known.substr(same))) return false;
  // Letters on both sides, or letters written between them: "worker-12" is no torn "worker-2".
  const std::string_view inside = host.substr(same, host.size() - known.size());
  const bool in_word = is_alpha(known[same - 1]) && is_alpha(known[same]);
  return in_word || std::ranges::any_of(inside, is_alpha);
}

// Records that span lines.

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

/// `line` without its prefix, if it may go on with a record that begins with the line `begun`: it
/// has no header of its own, is not blank, and its prefix is either none or names the same process.
/// A view into `line`.
std::optional<std::string_view> rest_of_record(std::string_view line, std::string_view begun) {
  if (is_header_stub(line)) return std::nullopt;
  const Header header = parse_header(line);
  if (header.level == Level::Framework || !header.host.empty()) return std::nullopt;
  const size_t prefix = header.prefix.length;
  if (prefix > 0 && !is_same_voice(header.prefix, parse_header(begun).prefix)) return std::nullopt;
  const std::string_view rest = trim(line.substr(prefix));
  return rest.empty() ? std::nullopt : std::optional(rest);
}

}  // namespace

/// True if held_ and `text` are a header that neither is alone.
bool RecordJoiner::completes_header(std::string_view text) const {
  const std::string joined = std::string(trim(held_)) + ' ' + std::string(text);
  const Header header = parse_header(joined);
  return !header.host.empty() && !header.message.empty();
}

/// Takes the line in if held_ and it are a message that neither is alone. A terminal cuts words
/// where its width ends; the blank that stood there may be gone.
bool RecordJoiner::add_wrapped(const Line& line, int lines) {
  const auto rest = rest_of_record(line.text, held_);
  // What was wrapped is as wide as the terminal, so the rest is no longer than the line before it.
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
  // The line does not go on with what was held, so it may begin a record of its own.
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

// NCCL lines whose message was broken.

namespace {

constexpr size_t kMostPieces = 4;
constexpr size_t kLongestPiece =
    1024;                          ///< Of NCCL's own buffer: no line of a broken one is longer.
constexpr size_t kNarrowest = 40;  ///< Columns; nothing breaks shorter lines.

/// "[rank1]: Last error:": the WARN that an exception of PyTorch quotes is on the next line.
bool is_label(const Event& event) {
  return event.message.kind != nullptr && event.message.kind->index == kKindIndex<LastErrorLabel>;
}

/// No wording fits, or only one for what a page or a collector cut: the rest may be on the next
/// line.
bool may_be_cut(const Event& event) {
  if (event.fate == LineFate::Unrecognised) return true;
  return event.message.wording != nullptr && event.message.wording->general &&
         event.message.kind->index == kKindIndex<IbCompletion>;
}

}  // namespace

void BrokenMessage::add(const Line& line, int lines) {
  if (held_ > 0 && join(line, lines)) return;
  finish();
  const Event event = parse_event(line.text, wordings_);
  const bool is_open = may_be_cut(event) && !event.header.torn && line.text.size() >= kNarrowest;
  const bool may_go_on = (is_open || is_label(event)) && line.text.size() <= kLongestPiece;
  if (may_go_on) return hold(line, lines);
  receive_(line, event, lines);
}

void BrokenMessage::finish() {
  for (size_t i = 0; i < held_; ++i) {
    const Piece& piece = pieces_[i];
    Line line = piece.place;
    line.text = piece.text;
    receive_(line, parse_event(line.text, wordings_), piece.lines);
  }
  held_ = 0;
}

void BrokenMessage::hold(const Line& line, int lines) {
  if (held_ == pieces_.size()) pieces_.emplace_back();
  pieces_[held_].text.assign(line.text);
  pieces_[held_].place = line;
  pieces_[held_].lines = lines;
  ++held_;
}

/// True if `line` goes on with what is held: it was handed on with it, or is held too.
bool BrokenMessage::join(const Line& line, int lines) {
  if (line.text.size() > kLongestPiece) return false;
  const auto rest = rest_of_record(line.text, pieces_[0].text);
  const Event event = parse_event(line.text, wordings_);
  if (!rest || event.header.level != Level::None || event.fate != LineFate::Foreign) return false;
  hold(line, lines);
  if (is_label(parse_event(pieces_[0].text, wordings_))) {
    // A text that is no known WARN stays a line of its own.
    if (!hand_on_joined(" ")) finish();
    held_ = 0;
    return true;
  }
  // A page breaks at blanks and drops them, a terminal breaks anywhere.
  if (hand_on_joined(" ") || hand_on_joined("")) {
    held_ = 0;
    return true;
  }
  if (held_ == kMostPieces) finish();
  return true;
}

/// Hands the pieces on as one record if a wording fits them, put together with `separator`.
bool BrokenMessage::hand_on_joined(std::string_view separator) {
  joined_.clear();
  int lines = 0;
  for (size_t i = 0; i < held_; ++i) {
    const std::string_view text = pieces_[i].text;
    joined_ += i == 0
                   ? trim(text)
                   : std::string(separator) + std::string(*rest_of_record(text, pieces_[0].text));
    lines += pieces_[i].lines;
  }
  const Event event = parse_event(joined_, wordings_);
  // Nothing fits yet, or only what fits a cut line too: the next line may hold the rest.
  if (event.fate != LineFate::Recognised || may_be_cut(event)) return false;
  Line record = pieces_[0].place;
  record.text = joined_;
  record.has_control = record.has_high = true;
  receive_(record, event, lines);
  return true;
}

// All of it, in the order in which lines were changed on their way, last change first.

EventReader::EventReader(Receiver receive)
    : unwrapper_([this](const Line& line, int lines) { joiner_.add(line, lines); }),
      joiner_([this](const Line& record, int lines) { messages_.add(record, lines); }),
      messages_(all_wordings(), [this, receive = std::move(receive)](
                                    const Line& record, const Event& event, int lines) {
        if (!tracebacks_.concern(event)) return receive(record, event, lines);
        receive(record, tracebacks_.read(record.text, event), lines);
      }) {}

void EventReader::add(const Line& line) {
  Line plain = line;
  plain.text = strip_ansi(line.text, plain_);
  if (unwrapper_.concerns(plain.text)) return unwrapper_.add(plain);
  joiner_.add(plain);
}

/// In this order: what one part hands on at its end, the next one may still join.
void EventReader::finish() {
  unwrapper_.finish();
  joiner_.finish();
  messages_.finish();
}

// Times of lines.

namespace {

constexpr size_t kLongestHead = 256;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 24 * 3600 * kSecond;

int two_digits(std::string_view text) { return (text[0] - '0') * 10 + (text[1] - '0'); }

/// Nanoseconds of a fraction's digits.
int64_t fraction(std::string_view digits) {
  int64_t value = 0;
  for (size_t i = 0; i < 9; ++i) value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  return value;
}

/// "12:00:00.25+02:00", as take_clock takes it.
void read_clock(std::string_view clock, LineTime& time) {
  time.nanoseconds += ((two_digits(clock) * 60 + two_digits(clock.substr(3))) * int64_t{60} +
                       two_digits(clock.substr(6))) *
                      kSecond;
  Scanner rest(clock.substr(8));
  if (rest.skip('.') || rest.skip(',')) time.nanoseconds += fraction(rest.take_while(is_digit));
  if (rest.done()) return;
  time.has_zone = true;
  if (rest.skip('Z')) return;
  const int64_t sign = rest.peek() == '-' ? -1 : 1;
  rest.skip(rest.peek());
  const int hours = two_digits(rest.rest());
  const std::string_view minutes = rest.rest().substr(rest.rest().size() - 2);
  time.nanoseconds -= sign * (hours * 60 + two_digits(minutes)) * 60 * kSecond;
}

/// A time of which all parts are known; unknown if they can be none. Counted in a leap year.
LineTime time_at(std::string_view text, int year, int64_t month, int64_t day,
                 std::string_view clock) {
  using namespace std::chrono;
  if (month < 1 || month > 12 || day < 1 || day > 31) return {};
  LineTime time{.text = text, .year = year};
  const sys_days first_of_month = 2000y / static_cast<int>(month) / 1;
  time.nanoseconds = nanoseconds(first_of_month - sys_days(2000y / 1 / 1) + days(day - 1)).count();
  read_clock(clock, time);
  return time;
}

/// "2026-02-03 04:05:06".
LineTime read_iso(std::string_view text) {
  Scanner scan(text);
  const std::string_view stamp = take_iso_stamp(scan);
  if (stamp.empty()) return {};
  const int year = two_digits(stamp) * 100 + two_digits(stamp.substr(2));
  return time_at(stamp, year, two_digits(stamp.substr(5)), two_digits(stamp.substr(8)),
                 stamp.substr(11));
}

/// "Jan  5 12:00:00", as syslog and the kernel's log write it.
LineTime read_month(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  Scanner scan(text);
  const std::string_view stamp = take_month_stamp(scan);
  if (stamp.empty()) return {};
  const size_t clock_at = stamp.find(':') - 2;
  std::string_view date = stamp.substr(0, clock_at);
  if (kMonths.find(date.substr(0, 3)) == kMonths.npos) date.remove_prefix(4);  // Day of the week.
  const size_t month = kMonths.find(date.substr(0, 3));
  const auto day = parse_int(trim(date.substr(3)));
  if (month == kMonths.npos || !day) return {};
  Scanner clock(stamp.substr(clock_at));
  return time_at(stamp, 0, static_cast<int64_t>(month / 3) + 1, *day, take_clock(clock));
}

/// "11-22 08:26:08" behind a level, as vLLM's logger prints it: "INFO 11-22 08:26:08 [core.py:58]
/// …".
LineTime read_month_and_day(std::string_view before, std::string_view text) {
  constexpr std::string_view kLevels[] = {"INFO ", "WARNING ", "ERROR ", "DEBUG ", "CRITICAL "};
  Scanner scan(text);
  if (!scan.digits(2) || !scan.skip('-') || !scan.digits(2) || !scan.skip(' ')) return {};
  const std::string_view clock = take_clock(scan);
  const bool has_level =
      std::ranges::any_of(kLevels, [&](auto level) { return before.ends_with(level); });
  if (clock.empty() || !has_level) return {};
  return time_at(text.substr(0, scan.taken()), 0, two_digits(text), two_digits(text.substr(3)),
                 clock);
}

/// "E717 13:20:49.4", "I20260105 12:00:00.5": a severity, month and day, then the clock.
LineTime read_glog(std::string_view text) {
  constexpr std::string_view kSeverities = "EWIFV";
  if (kSeverities.find(text.front()) == kSeverities.npos) return {};
  Scanner scan(text.substr(1));
  std::string_view date = scan.take_while(is_digit, 9);
  if ((date.size() != 3 && date.size() != 4 && date.size() != 8) || !scan.skip(' ')) return {};
  const std::string_view clock = take_clock(scan);
  if (clock.empty()) return {};
  const std::string_view stamp = text.substr(1, scan.taken());
  int year = 0;
  if (date.size() == 8) {
    year = two_digits(date) * 100 + two_digits(date.substr(2));
    date.remove_prefix(4);
  }
  const auto month = parse_int(date.substr(0, date.size() - 2));
  return time_at(stamp, year, *month, two_digits(date.substr(date.size() - 2)), clock);
}

/// A glance for "12:00:00": most lines hold none.
bool may_hold_time(std::string_view line) {
  const auto is_pair = [&](size_t at) { return is_digit(line[at]) && is_digit(line[at + 1]); };
  for (size_t colon = line.find(':', 2); colon != line.npos && colon + 5 < line.size();
       colon = line.find(':', colon + 1)) {
    if (line[colon + 3] == ':' && is_pair(colon - 2) && is_pair(colon + 1) && is_pair(colon + 4)) {
      return true;
    }
  }
  return false;
}

}  // namespace

LineTime find_line_time(std::string_view head) {
  head = head.substr(0, kLongestHead);
  if (!may_hold_time(head)) return {};
  for (size_t i = 0; i + 8 < head.size(); ++i) {
    // A stamp begins with a digit, a name or a level, and no word's middle.
    const bool may_begin = is_digit(head[i]) || (head[i] >= 'A' && head[i] <= 'Z');
    if (!may_begin || (i > 0 && is_word(head[i - 1]))) continue;
    const std::string_view text = head.substr(i);
    LineTime time = read_iso(text);
    if (!time.known()) time = read_month(text);
    if (!time.known()) time = read_glog(text);
    if (!time.known()) time = read_month_and_day(head.substr(0, i), text);
    if (time.known()) return time;
  }
  return {};
}

LineTime time_before(std::string_view line, std::string_view message) {
  message = trim(message);
  const std::less_equal<const char*> not_behind;
  const bool inside = !message.empty() && not_behind(line.data(), message.data()) &&
                      not_behind(message.data(), line.data() + line.size());
  if (!inside) return {};
  return find_line_time(line.substr(0, static_cast<size_t>(message.data() - line.data())));
}

LineTime time_of_line(std::string_view line) {
  return time_before(line, parse_header(line).message);
}

}  // namespace ncclog
