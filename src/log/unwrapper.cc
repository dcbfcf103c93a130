#include "log/unwrapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/text.h"
#include "log/event.h"
#include "log/line/line_time.h"
#include "log/line/prefix.h"
#include "log/line/scanner.h"
#include "log/record_starts.h"

namespace ncclog {

// One JSON object of a collector.

namespace {

constexpr int kDeepest = 8;           ///< Objects in objects that are looked into.
constexpr size_t kLongestTime = 40;   ///< Of a stamp that is put in front.
constexpr size_t kLongestName = 253;  ///< Of a pod or a host (RFC 1123).

/// What the members of one record said; texts as they stand in the JSON, escapes and all.
struct Members {
  std::string_view message;
  int message_place = -1;  ///< Of its key in kMessageKeys: earlier ones win. -1: none seen.
  bool is_bytes = false;   ///< `message` is a list of byte numbers.
  std::string_view time;
  std::string_view stream;
  std::string_view pod;
  std::string_view container;
  std::string_view host;
  std::string_view program;
  std::string_view pid;
  std::string_view microseconds;  ///< Since 1970.
  std::string_view rank;
  std::string_view level;
  std::string_view step;  ///< With `loss`: of a record about a step of the training.
  std::string_view loss;
  std::string_view traceback;  ///< In one text, or as a list of texts, from bracket to bracket.
  std::string_view exception_type;
  std::string_view exception_value;
  bool is_partial = false;       ///< The collector says so.
  bool only_docker_keys = true;  ///< No key but those of docker's own files.
};

/// Place of the key in kMessageKeys; -1: another one.
int message_place_of(std::string_view key) {
  const auto is_it = [&](std::string_view quoted) {
    return quoted.substr(1, quoted.size() - 2) == key;
  };
  const auto found = std::ranges::find_if(kMessageKeys, is_it);
  return found == std::end(kMessageKeys) ? -1 : static_cast<int>(found - std::begin(kMessageKeys));
}

/// Objects whose members count as if they stood outside: Google Cloud's, Elasticsearch's, those of
/// loguru, logstash and Rust's tracing.
bool is_envelope(std::string_view parent) {
  constexpr std::string_view kEnvelopes[] = {"jsonPayload", "_source", "record", "extra", "fields"};
  return parent.empty() || equals_one_of(parent, kEnvelopes);
}

/// Keys under which loggers put an exception, or an object about it.
bool is_exception(std::string_view key) {
  constexpr std::string_view kKeys[] = {"exception", "exc_info", "error",
                                        "err",       "exc",      "traceback"};
  return equals_one_of(key, kKeys);
}

void note_message(std::string_view key, std::string_view value, bool is_bytes, Members& members) {
  const int place = message_place_of(key);
  if (place < 0 || (members.message_place >= 0 && members.message_place <= place)) return;
  members.message = value;
  members.message_place = place;
  members.is_bytes = is_bytes;
}

/// Members of the outer object, or of one that only wraps it.
void note_outer(std::string_view key, std::string_view value, Members& members) {
  constexpr std::string_view kTimes[] = {"time", "timestamp", "@timestamp", "ts"};
  constexpr std::string_view kDocker[] = {"log", "stream", "time", "attrs"};
  if (!equals_one_of(key, kDocker)) members.only_docker_keys = false;
  note_message(key, value, false, members);
  if (equals_one_of(key, kTimes)) members.time = value;
  if (key == "stream") members.stream = value;
  if (key == "SYSLOG_IDENTIFIER") members.program = value;
  if (key == "__REALTIME_TIMESTAMP") members.microseconds = value;
  if (key == "logtag") members.is_partial |= value == "P";
  if (key == "partial_message") members.is_partial |= value == "true";
}

/// What applications say beside their message, in the keys of json_members.table.
void note_application(std::string_view parent, std::string_view key, std::string_view value,
                      Members& members) {
  struct Meaning {
    std::string_view Members::*member;
    std::string_view parent;  ///< Empty: outside.
    std::string_view key;
  };
  constexpr Meaning kMeanings[] = {
#include "log/json_members.inc"
  };
  for (const Meaning& each : kMeanings) {
    const bool is_inside = each.parent.empty() ? is_envelope(parent) : each.parent == parent;
    if (is_inside && each.key == key) members.*each.member = value;
  }
  const size_t begin = value.find(kTracebackStart);
  if (begin != value.npos && members.traceback.empty()) members.traceback = value.substr(begin);
  if (is_exception(parent)) {
    constexpr std::string_view kTypes[] = {"type", "exc_type", "name", "class"};
    constexpr std::string_view kValues[] = {"value", "exc_value", "message"};
    if (equals_one_of(key, kTypes)) members.exception_type = value;
    if (equals_one_of(key, kValues)) members.exception_value = value;
  } else if (is_envelope(parent) && is_exception(key)) {
    members.exception_value = value;
  }
}

void note_string(std::string_view parent, std::string_view key, std::string_view value,
                 Members& members) {
  if (is_envelope(parent)) note_outer(key, value, members);
  note_application(parent, key, value, members);
  if (parent != "kubernetes" && parent != "labels") return;
  if (key == "pod_name" || key == "pod") members.pod = value;
  if (key == "container_name" || key == "container") members.container = value;
}

void skip_space(Scanner& scan) {
  scan.take_while([](char c) { return is_blank(c) || c == '\r'; });
}

/// A string's text as it stands between its quotes.
bool read_string(Scanner& scan, std::string_view& text) {
  if (!scan.skip('"')) return false;
  const std::string_view rest = scan.rest();
  size_t end = 0;
  while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
  if (end >= rest.size()) return false;
  text = rest.substr(0, end);
  return scan.skip(text) && scan.skip('"');
}

/// A list, without looking into it, from bracket to bracket.
bool skip_list(Scanner& scan, std::string_view& text) {
  const std::string_view rest = scan.rest();
  int depth = 0;
  std::string_view ignored;
  do {
    if (scan.peek() == '"') {
      if (!read_string(scan, ignored)) return false;
      continue;
    }
    depth += scan.peek() == '[' ? 1 : scan.peek() == ']' ? -1 : 0;
    if (!scan.skip(scan.peek())) return false;
  } while (depth > 0);
  text = rest.substr(0, rest.size() - scan.rest().size());
  return true;
}

bool read_object(Scanner& scan, std::string_view parent, int depth, Members& members);

/// Lines of a traceback, or structlog's objects: what was raised last stands first.
void note_exceptions(std::string_view key, std::string_view list, int depth, Members& members) {
  Scanner scan(list.substr(1));
  skip_space(scan);
  if (scan.peek() == '{') read_object(scan, key, depth + 1, members);
  if (scan.rest().starts_with('"') && list.find(kTracebackStart) != list.npos)
    members.traceback = list;
}

bool read_value(Scanner& scan, std::string_view parent, std::string_view key, int depth,
                Members& members) {
  std::string_view value;
  switch (scan.peek()) {
    case '"':
      if (!read_string(scan, value)) return false;
      note_string(parent, key, value, members);
      return true;
    case '{':
      if (is_envelope(parent) && key != "attrs") members.only_docker_keys = false;
      return read_object(scan, key, depth + 1, members);
    case '[':
      if (!skip_list(scan, value)) return false;
      if (key == "MESSAGE" && is_envelope(parent)) note_message(key, value, true, members);
      if (is_exception(key)) note_exceptions(key, value, depth, members);
      return true;
    default:
      value = trim(scan.take_while([](char c) { return c != ',' && c != '}' && c != ']'; }));
      if (!value.empty() && is_digit(value.back()) && !is_exception(key) && !is_exception(parent))
        note_application(parent, key, value, members);
      return !value.empty();
  }
}

bool read_object(Scanner& scan, std::string_view parent, int depth, Members& members) {
  if (depth > kDeepest || !scan.skip('{')) return false;
  for (skip_space(scan); !scan.skip('}'); skip_space(scan)) {
    std::string_view key;
    if (!read_string(scan, key)) return false;
    skip_space(scan);
    if (!scan.skip(':')) return false;
    skip_space(scan);
    if (!read_value(scan, parent, key, depth, members)) return false;
    skip_space(scan);
    if (!scan.skip(',') && scan.peek() != '}') return false;
  }
  return true;
}

/// A member on a line of its own, as journalctl -o json-pretty prints: "\t"MESSAGE" : "text",".
bool read_lone_member(Scanner& scan, Members& members) {
  std::string_view key;
  if (!read_string(scan, key) || message_place_of(key) < 0) return false;
  skip_space(scan);
  if (!scan.skip(':')) return false;
  skip_space(scan);
  return scan.peek() == '"' && read_value(scan, {}, key, 0, members);
}

/// "00e9" behind "\u"; 0xFFFD where four hexadecimal digits are not there.
uint32_t take_code_unit(Scanner& scan) {
  constexpr uint32_t kReplacement = 0xFFFD;
  const std::string_view digits = scan.rest().substr(0, 4);
  if (digits.size() < 4 || !std::ranges::all_of(digits, is_hex_digit)) return kReplacement;
  scan.skip(digits);
  return static_cast<uint32_t>(*parse_hex(digits));
}

void append_code_point(Scanner& scan, std::string& text) {
  uint32_t code = take_code_unit(scan);
  // Two halves of a character beyond U+FFFF.
  if (code >= 0xD800 && code < 0xDC00 && scan.rest().starts_with("\\u")) {
    Scanner second = scan;
    second.skip("\\u");
    const uint32_t low = take_code_unit(second);
    if (low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      scan = second;
    }
  }
  append_utf8(text, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
}

void append_unescaped(std::string_view raw, std::string& text) {
  constexpr std::string_view kNames = "nrtbf";
  constexpr std::string_view kBytes = "\n\r\t\b\f";
  Scanner scan(raw);
  while (!scan.done()) {
    text += scan.take_while([](char c) { return c != '\\'; });
    if (!scan.skip('\\')) continue;
    if (scan.skip('u')) {
      append_code_point(scan, text);
      continue;
    }
    const size_t name = scan.done() ? kNames.npos : kNames.find(scan.peek());
    if (!scan.done()) text.push_back(name == kNames.npos ? scan.peek() : kBytes[name]);
    scan.skip(scan.peek());
  }
}

/// "[104, 105]": journald's form of a text that holds control characters.
void append_bytes(std::string_view list, std::string& text) {
  Scanner scan(list);
  while (!scan.done()) {
    int byte = -1;
    scan.take_while([](char c) { return !is_digit(c); });
    if (!scan.number(byte)) return;
    if (byte <= 255) text.push_back(static_cast<char>(byte));
  }
}

/// "2026-01-05T12:00:00.000001Z"; empty if the number is none.
std::string stamp_of(std::string_view microseconds) {
  constexpr int64_t kYear3000 = 32503680000;
  const auto since_1970 = parse_int(microseconds);
  if (!since_1970 || *since_1970 < 0 || *since_1970 / 1'000'000 > kYear3000) return {};
  const std::chrono::sys_seconds time{std::chrono::seconds(*since_1970 / 1'000'000)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const int64_t seconds = (time - day).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", int{date.year()},
                     unsigned{date.month()}, unsigned{date.day()}, seconds / 3600,
                     seconds / 60 % 60, seconds % 60, *since_1970 % 1'000'000);
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, is_host_char);
}

/// "2026-… node07 kernel: " of journald's own members; empty where they do not say enough.
std::string journal_prefix(const Members& members) {
  const std::string stamp = stamp_of(members.microseconds);
  if (stamp.empty()) return {};
  if (!is_name(members.host) || !is_name(members.program)) return stamp + " ";
  if (members.program == "kernel") return fmt::format("{} {} kernel: ", stamp, members.host);
  if (!parse_int(members.pid)) return stamp + " ";
  return fmt::format("{} {} {}[{}]: ", stamp, members.host, members.program, members.pid);
}

bool is_iso_stamp(std::string_view text) {
  Scanner scan(text);
  return !take_iso_stamp(scan).empty() && scan.done();
}

std::string prefix_of(const Members& members) {
  std::string prefix = journal_prefix(members);
  if (prefix.empty() && members.time.size() <= kLongestTime && !members.time.empty() &&
      is_iso_stamp(members.time)) {
    const bool named = members.stream == "stdout" || members.stream == "stderr";
    prefix = named ? fmt::format("{} {} F ", members.time, members.stream)
                   : fmt::format("{} ", members.time);
    // As the journal would put it.
    if (!named && members.pod.empty() && is_name(members.host))
      prefix +=
          fmt::format("{} app[{}]: ", members.host, parse_int(members.pid) ? members.pid : "-");
  }
  if (is_name(members.pod)) {
    prefix += fmt::format("[pod/{}/{}] ", members.pod,
                          is_name(members.container) ? members.container : "container");
  }
  if (parse_int(members.rank)) prefix += fmt::format("[rank{}]: ", members.rank);
  return prefix;
}

/// Of a record that reports an exception, the lines that Python would print; of a step, its line.
void append_application(const Members& members, std::string& text) {
  const auto begin_line = [&] {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
  };
  if (!members.step.empty() && !members.loss.empty() && std::ranges::none_of(text, is_digit)) {
    begin_line();
    text.append("step ").append(members.step).append(" loss ").append(members.loss);
  }
  // What a logger does not call an error was survived. Google Cloud calls DEFAULT what it knows no
  // level of.
  constexpr std::string_view kQuiet = "dDiInNtTwW";
  const bool is_quiet = !members.level.empty() && members.level != "DEFAULT" &&
                        kQuiet.find(members.level.front()) != kQuiet.npos;
  if (is_quiet || text.find(kTracebackStart) != text.npos) return;
  if (members.traceback.starts_with('[')) {
    Scanner scan(members.traceback);
    while (scan.skip(scan.peek())) {  // The bracket, then commas.
      std::string_view line;
      skip_space(scan);
      if (!read_string(scan, line)) break;
      begin_line();
      append_unescaped(line, text);
      skip_space(scan);
    }
  } else if (!members.traceback.empty()) {
    begin_line();
    append_unescaped(members.traceback, text);
  } else if (!members.exception_value.empty()) {
    begin_line();
    if (!members.exception_type.empty())
      text.append(kTracebackStart).append(":\n").append(members.exception_type).append(": ");
    append_unescaped(members.exception_value, text);
  }
}

}  // namespace

bool read_collector_json(std::string_view line, CollectorLine& record) {
  Members members;
  Scanner scan(line);
  skip_space(scan);
  const bool is_whole = scan.peek() == '{';
  if (is_whole ? !read_object(scan, {}, 0, members) : !read_lone_member(scan, members))
    return false;
  skip_space(scan);
  scan.skip(',');
  skip_space(scan);
  if (!scan.done() || members.message_place < 0) return false;
  record.prefix = prefix_of(members);
  record.text.clear();
  if (members.is_bytes) {
    append_bytes(members.message, record.text);
  } else {
    append_unescaped(members.message, record.text);
  }
  append_application(members, record.text);
  // Docker cuts lines at 16 KiB without a word: what was cut off lacks the line end.
  const bool is_docker = is_whole && members.only_docker_keys && !members.stream.empty() &&
                         members.message_place == message_place_of("log");
  record.is_partial = members.is_partial || (is_docker && !record.text.ends_with('\n'));
  return true;
}

// Lines out of records, and halves of lines joined.

namespace {

constexpr size_t kMaxWrappedBytes = size_t{64} << 10;  ///< As long as a line may be anywhere.
constexpr int kMaxNesting = 4;  ///< Collectors that wrap each other's records.

/// Length of "2026-01-05T12:00:00.1Z stdout P " with which `line` begins; 0 if it does not.
size_t cri_tag_length(std::string_view line, bool& is_partial) {
  Scanner scan(line);
  take_iso_stamp(scan);
  if (!scan.skip(" stdout ") && !scan.skip(" stderr ")) return 0;
  is_partial = scan.peek() == 'P';
  if (!scan.skip('P') && !scan.skip('F')) return 0;
  return scan.skip(' ') || scan.done() ? scan.taken() : 0;
}

std::string_view without_line_end(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

/// What stands in front of a collector's object is a prefix, but some forms count only in front of
/// records, and the object may hold any text: then the same in a form that is one there, too.
std::string prefix_of_any_text(std::string_view text, const Prefix& prefix) {
  if (text.empty() || parse_prefix(std::string(text) + "x").length == text.size())
    return std::string(text);
  std::string certain;
  if (!prefix.host.empty()) certain = fmt::format("[pod/{}/-] ", prefix.host);
  if (prefix.task >= 0) certain += fmt::format("{}: ", prefix.task);
  return certain;
}

}  // namespace

void Unwrapper::add(const Line& line) {
  // A log may be cut here, and then nobody would know of the half that is held.
  if (is_holding() && may_start_unit(line.text)) finish();
  if (may_be_collector_json(line.text) && read_json(line.text)) return add_record(line);
  bool is_partial = false;
  const size_t tag = cri_tag_length(line.text, is_partial);
  if (tag > 0) return add_part(line, tag, is_partial, 1);
  finish();
  receive_(line, 1);
}

/// Fills record_ from the record that stands behind the line's prefixes, and from records inside
/// it.
bool Unwrapper::read_json(std::string_view line) {
  const Prefix prefix = parse_prefix(line);
  if (!read_collector_json(line.substr(prefix.length), record_)) return false;
  record_.prefix.insert(0, prefix_of_any_text(line.substr(0, prefix.length), prefix));
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
  HeldRecord& half = halves_[is_stderr ? 1 : 0];
  if (half.pieces == 0) {
    if (!is_partial) return receive_(line, lines);
    return half.hold(line, lines);
  }
  const size_t room = kMaxWrappedBytes - std::min(kMaxWrappedBytes, half.text.size());
  half.append(line.text.substr(prefix, room), lines);
  if (!is_partial) hand_on(half);
}

void Unwrapper::hand_on(HeldRecord& half) {
  half.pieces = 0;
  receive_(half.record(), half.lines);
}

void Unwrapper::finish() {
  // As they began: a half whose end never came stands where its first part stood.
  const bool stdout_first = halves_[0].first.offset <= halves_[1].first.offset;
  for (const size_t i : {stdout_first ? 0 : 1, stdout_first ? 1 : 0}) {
    if (halves_[i].pieces > 0) hand_on(halves_[i]);
  }
}

}  // namespace ncclog
