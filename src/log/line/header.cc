#include "log/line/header.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "log/line/line_time.h"
#include "log/line/scanner.h"

namespace ncclog {
namespace {

// Records of PyTorch's loggers.

constexpr size_t kLongestName = 120;  ///< Of a source file or a process group's description.

constexpr bool is_severity(char c) {
  return c == 'E' || c == 'W' || c == 'I' || c == 'F' || c == 'V';
}
constexpr bool is_file_char(char c) { return is_word(c) || c == '.' || c == '+' || c == '-'; }
constexpr bool is_path_char(char c) { return is_file_char(c) || c == '/'; }

/// "ProcessGroupNCCL.cpp:632] ".
template <typename Accept>
bool read_location(Scanner& scan, Accept is_name, Header& header) {
  const std::string_view file = scan.take_while(is_name, kLongestName);
  int line = -1;
  if (file.find('.') == file.npos || !scan.skip(':') || !scan.number(line) || !scan.skip(']'))
    return false;
  header.file = file;
  header.line = line;
  scan.skip(' ');
  return true;
}

/// "[E717 13:20:49.407638053 ProcessGroupNCCL.cpp:632] " and, to 2.3, "[E ProcessGroupNCCL.cpp:828]
/// ".
bool read_cpp_record(Scanner& scan, Header& header) {
  if (!scan.skip('[') || !scan.skip_if(is_severity)) return false;
  if (is_digit(scan.peek())) {
    const size_t date = scan.take_while(is_digit, 5).size();
    if (date < 3 || date > 4 || !scan.skip(' ') || take_clock(scan).empty()) return false;
  }
  return scan.skip(' ') && read_location(scan, is_file_char, header);
}

/// "ProcessGroupNCCL.cpp:629] [Rank 1] ", "28.123456 ProcessGroupNCCL.cpp:629] [Rank 1] ", "[Rank 1]
/// Watchdog …": what is left of a record whose beginning another one took along.
bool read_beheaded_record(Scanner& scan, Header& header) {
  constexpr std::string_view kGroups[] = {"[Rank ", "[PG "};
  constexpr std::string_view kWatchdog[] = {"atchdog", "WorkNCCL(", "NCCL work"};
  constexpr size_t kLongestStamp = 32;
  Header located;
  Scanner behind = scan;
  behind.take_while([](char c) { return is_digit(c) || c == ':' || c == '.' || c == ' '; },
                    kLongestStamp);
  const bool has_place = read_location(behind, is_file_char, located);
  const std::string_view rest = has_place ? behind.rest() : scan.rest();
  if (!starts_with_one_of(rest, kGroups) || (!has_place && !holds_one_of(rest, kWatchdog)))
    return false;
  if (has_place) scan = behind;
  header.file = located.file;
  header.line = located.line;
  return true;
}

/// "E0717 13:20:49.407638  4242 ProcessGroupNCCL.cpp:607] " of glog, "E0105 12:00:00.123000 1400
/// torch/distributed/elastic/multiprocessing/api.py:826] " of torch's Python logger.
bool read_glog_record(Scanner& scan, Header& header) {
  if (!scan.skip_if(is_severity)) return false;
  const size_t date = scan.take_while(is_digit, 9).size();
  if ((date != 4 && date != 8) || !scan.skip(' ')) return false;
  if (take_clock(scan).empty() || scan.blanks() == 0) return false;
  int64_t process = -1;  // A thread up to 2.6, so it is not noted.
  if (scan.number(process) && scan.blanks() == 0) return false;
  return read_location(scan, is_path_char, header);
}

/// "torch.distributed.elastic.multiprocessing.api: [ERROR] " behind a time (2.1, 2.2).
bool read_stamped_python_record(Scanner& scan, Header& header) {
  if (!scan.skip('[') || take_iso_stamp(scan).empty()) return false;
  if (!scan.skip("] ") || !scan.rest().starts_with("torch.")) return false;
  const std::string_view logger = scan.take_while(is_file_char, kLongestName);
  std::string_view level;
  if (!scan.skip(": [") || !scan.until(']', level, 10)) return false;
  scan.skip(' ');
  header.file = logger;
  return true;
}

/// "ERROR:torch.distributed.elastic.multiprocessing.api:" (2.0 and before).
bool read_basic_python_record(Scanner& scan, Header& header) {
  constexpr std::string_view kLevels[] = {"ERROR", "WARNING", "INFO", "CRITICAL", "DEBUG"};
  const auto level =
      std::ranges::find_if(kLevels, [&](std::string_view word) { return scan.skip(word); });
  if (level == std::end(kLevels) || !scan.skip(':') || !scan.rest().starts_with("torch."))
    return false;
  const std::string_view logger = scan.take_while(is_file_char, kLongestName);
  if (!scan.skip(':')) return false;
  header.file = logger;
  return true;
}

/// Takes "[rank6]:" off the end of `text`; the rank, -1 if there is none.
int take_rank_before(std::string_view& text) {
  if (!text.ends_with("]:")) return -1;
  const size_t open = text.rfind("[rank");
  if (open == text.npos) return -1;
  Scanner scan(text.substr(open + 5));
  int rank = -1;
  if (!scan.number(rank) || scan.rest() != "]:") return -1;
  text = text.substr(0, open);
  return rank;
}

/// "ID 2 PG GUID 3(tp_pg) Rank 6" and, in 2.3 and 2.4, "3 (tp_pg) Rank 6".
bool read_group(Scanner& scan, Header& header) {
  const bool has_guid = scan.skip("ID ");
  if (has_guid) {
    scan.take_while(is_digit);
    if (!scan.skip(" PG GUID ")) return false;
  }
  const std::string_view group = scan.take_while(is_file_char, kLongestName);
  if (group.empty()) return false;
  header.process_group = group;
  scan.skip(' ');
  if (scan.skip('(')) {
    if (!scan.until(')', header.process_group_name, kLongestName)) return false;
    scan.skip(' ');
  }
  return scan.skip("Rank ");
}

/// Takes one "[PG … Rank 6] " or "[Rank 6] " off the message.
bool take_group_tag(Header& header) {
  Scanner scan(header.message);
  Header tagged = header;
  scan.blanks();
  if (!scan.skip('[')) return false;
  if (scan.skip("PG ")) {
    if (!read_group(scan, tagged)) return false;
  } else if (!scan.skip("Rank ")) {
    return false;
  }
  if (!scan.number(tagged.group_rank) || !scan.skip(']')) return false;
  if (!scan.done() && !is_blank(scan.peek())) return false;
  tagged.message = scan.rest();
  header = tagged;
  return true;
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/// Two bytes tell most lines from a record of Python's or glog's: "E0105", "[2026", "ERROR".
bool may_begin_record(std::string_view text) {
  if (text.size() < 2) return false;
  const bool is_number = is_digit(text[1]) && (is_severity(text[0]) || text[0] == '[');
  return is_number || (is_upper(text[0]) && is_upper(text[1]));
}

/// The place behind the last one where a record may begin.
size_t places_end(std::string_view line, size_t prefix) {
  while (prefix < line.size() && is_blank(line[prefix])) ++prefix;
  return std::min(prefix + 1, line.size());
}

/// Few lines hold a rank of a group near their beginning.
bool may_be_beheaded(std::string_view text) {
  constexpr size_t kNear = 80;
  const std::string_view near = text.substr(0, kNear);
  return near.find("[Rank ") != near.npos || near.find("[PG ") != near.npos;
}

/// Whatever its digits are, only a line that holds one of these is a record of Python's loggers.
bool names_framework(std::string_view line) {
  return line.find("torch") != line.npos || line.find(".cpp:") != line.npos;
}

using ReadRecord = bool (*)(Scanner&, Header&);
constexpr ReadRecord kCppForms[] = {read_cpp_record};
constexpr ReadRecord kBeheadedForms[] = {read_beheaded_record};
constexpr ReadRecord kPythonForms[] = {read_glog_record, read_stamped_python_record,
                                       read_basic_python_record};

/// Reads the record of one of `forms` that begins at `at`; false, and `header` is as it was, if
/// none does.
bool read_record_at(std::string_view line, size_t at, std::span<const ReadRecord> forms,
                    Header& header) {
  for (const auto read : forms) {
    Scanner scan(line.substr(at));
    if (!read(scan, header)) continue;
    header.level = Level::Framework;
    header.unexplained = line.substr(0, at);
    header.message = scan.rest();
    while (take_group_tag(header)) continue;
    return true;
  }
  return false;
}

/// Reads the record of PyTorch that `line` holds, whose prefixes have so many bytes: C++ records
/// stand anywhere, those of Python's loggers at the start of the line, behind prefixes only.
bool find_framework_record(std::string_view line, size_t prefix, Header& header) {
  for (size_t at = line.find('['); at != line.npos; at = line.find('[', at + 1)) {
    if (read_record_at(line, at, kCppForms, header)) return true;
  }
  const size_t begin = places_end(line, prefix);
  if (begin > 0 && may_be_beheaded(line.substr(begin - 1)) &&
      read_record_at(line, begin - 1, kBeheadedForms, header))
    return true;
  if (!names_framework(line)) return false;
  const size_t end = places_end(line, prefix);
  for (size_t at = 0; at < end; ++at) {
    if (may_begin_record(line.substr(at)) && read_record_at(line, at, kPythonForms, header))
      return true;
  }
  return false;
}

// NCCL's headers, from the anchor leftwards.

/// In the order of the enum.
constexpr std::string_view kLevelNames[] = {"VERSION", "WARN", "INFO",      "TRACE", "CALL",
                                            "ABORT",   "DIAG", "FRAMEWORK", ""};
/// What stands behind "NCCL ", the most frequent ones first.
constexpr Level kAnchoredLevels[] = {Level::Info, Level::Warn,  Level::Trace,
                                     Level::Call, Level::Abort, Level::Diag};
constexpr std::string_view kFatal = "[FATAL ERROR]: ";  ///< RCCL, from ROCm 7.2 on.
constexpr size_t kLongestHost = 255;  ///< A host name is no longer (RFC 1123); torn bytes may be.

/// The level of "NCCL <LEVEL>" at `begin`, where "NCCL " stands; None if no level follows.
Level level_at(std::string_view line, size_t begin) {
  const std::string_view rest = line.substr(begin + kAnchor.size());
  for (const Level level : kAnchoredLevels) {
    const std::string_view name = kLevelNames[static_cast<size_t>(level)];
    if (!rest.starts_with(name)) continue;
    if (rest.size() == name.size() || is_blank(rest[name.size()])) return level;
  }
  return Level::None;
}

/// Notes the level that stands behind the anchor at `begin`, and the message.
void note_level(std::string_view line, size_t begin, Level level, Header& header) {
  const size_t end = begin + kAnchor.size() + kLevelNames[static_cast<size_t>(level)].size();
  header.level = level;
  header.message = line.substr(std::min(end + 1, line.size()));
}

/// Where "NCCL " stands next. Names of GPUs, NICs and paths begin with N too, so whole blocks are
/// asked for both of its first bytes at once.
size_t find_mark(std::string_view line, size_t from) {
  constexpr size_t kBlock = 32;
  for (; from + kBlock + kAnchor.size() <= line.size(); from += kBlock) {
    const char* block = line.data() + from;
    unsigned char any = 0;
    for (size_t i = 0; i < kBlock; ++i) {
      any |= static_cast<unsigned char>((block[i] == 'N') & (block[i + 1] == 'C'));
    }
    if (any == 0) continue;
    const size_t at = line.substr(from, kBlock + kAnchor.size() - 1).find(kAnchor);
    if (at != line.npos) return from + at;
  }
  return line.find(kAnchor, from);
}

/// Where the first "NCCL <LEVEL>" stands that begins a record for certain, since it is not glued to
/// a word; npos if none does.
size_t find_anchor(std::string_view line) {
  for (size_t at = find_mark(line, 0); at != line.npos; at = find_mark(line, at + 1)) {
    if ((at == 0 || is_blank(line[at - 1])) && level_at(line, at) != Level::None) return at;
  }
  return line.npos;
}

/// Reads digits that end before `end`, leftwards; returns where they begin.
size_t digits_begin(std::string_view text, size_t end) {
  while (end > 0 && is_digit(text[end - 1])) --end;
  return end;
}

/// "04:05:06.5-" at the start of a name, where the hours and minutes stand before `name`; its
/// length.
size_t clock_tail_length(std::string_view before, std::string_view name) {
  const bool minutes = before.size() >= 6 && before.ends_with(':') && is_digit(before.end()[-2]) &&
                       is_digit(before.end()[-3]) && before.end()[-4] == ':' &&
                       is_digit(before.end()[-5]);
  Scanner scan(name);
  if (!minutes || !scan.digits(2)) return 0;
  if (scan.skip('.') || scan.skip(',')) scan.take_while(is_digit, 9);
  scan.take_while([](char c) { return c == '-' || c == '_' || c == '.'; });
  return scan.done() ? 0 : scan.taken();
}

/// "2026-02-03_04-05-06_" at the start of a name; its length. No host is called by a second.
size_t dashed_stamp_length(std::string_view name) {
  const auto is_mark = [](char c) { return c == '-' || c == '_' || c == '.' || c == 'T'; };
  Scanner scan(name);
  if (!scan.digits(4)) return 0;
  for (int i = 0; i < 5; ++i) {
    scan.take_while(is_mark, 1);
    if (!scan.digits(2)) return 0;
  }
  if (scan.take_while(is_mark).empty()) return 0;
  return scan.done() ? 0 : scan.taken();
}

/// "12:00:00", "2026-01-05T12:00:00": two digits everywhere, as no host and process have.
bool is_clock(std::string_view text) {
  Scanner scan(text);
  return (!take_clock(scan).empty() || !take_iso_stamp(scan).empty()) && scan.done();
}

/// "host:pid:tid" that ends at `end`; fills the header and returns where the
/// host begins.
std::optional<size_t> process_before(std::string_view text, size_t end, Header& header) {
  const size_t tid = digits_begin(text, end);
  if (tid == end || tid < 2 || text[tid - 1] != ':') return std::nullopt;
  const size_t pid = digits_begin(text, tid - 1);
  if (pid == tid - 1 || pid < 2 || text[pid - 1] != ':') return std::nullopt;
  size_t host = pid - 1;
  while (host > 0 && is_host_char(text[host - 1])) --host;
  // NCCL_DEBUG_TIMESTAMP_FORMAT may end without a blank.
  host += clock_tail_length(text.substr(0, host), text.substr(host, pid - 1 - host));
  host += dashed_stamp_length(text.substr(host, pid - 1 - host));
  if (host == pid - 1 || pid - 1 - host > kLongestHost) return std::nullopt;
  if (is_clock(text.substr(host, end - host))) return std::nullopt;
  const auto pid_number = parse_int(text.substr(pid, tid - 1 - pid));
  const auto tid_number = parse_int(text.substr(tid, end - tid));
  if (!pid_number || !tid_number) return std::nullopt;
  header.host = text.substr(host, pid - 1 - host);
  header.pid = *pid_number;
  header.tid = *tid_number;
  return host;
}

constexpr int kMostDevice = 1'000'000;

/// "[3] " at the start of `text`: the calling thread's device. Returns its length.
size_t device_length(std::string_view text, Header& header) {
  if (!text.starts_with('[')) return 0;
  const size_t close = text.find(']');
  if (close == text.npos) return 0;
  const auto device = parse_int(text.substr(1, close - 1));
  // NCCL prints -1 where the thread has no device yet; a larger number is somebody else's bracket.
  if (!device || *device < -1 || *device > kMostDevice) return 0;
  header.cuda_dev = static_cast<int>(*device);
  size_t length = close + 1;
  while (length < text.size() && is_blank(text[length])) ++length;
  return length;
}

/// Takes "1523.404125 " off: milliseconds, in front of a TRACE's function.
std::string_view without_time(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && (is_digit(text[n]) || text[n] == '.')) ++n;
  return n > 0 && n < text.size() && is_blank(text[n]) ? trim(text.substr(n)) : text;
}

/// Takes " (socketProgress)" off the end.
std::string_view without_function(std::string_view text) {
  return text.ends_with(')') ? text.substr(0, text.rfind(" (")) : text;
}

/// True for "… socket.cc:57", "… socket.cc:57 (socketProgress)", "… [3]" and "… NCCL": a glance,
/// made for every line.
bool may_end_in_header(std::string_view text) {
  if (text.empty()) return false;
  if (text.back() == 'L') return text.ends_with(" NCCL");
  const bool device = text.back() == ']';
  text = device ? text.substr(0, text.size() - 1) : without_function(text);
  const size_t number = digits_begin(text, text.size());
  return number < text.size() && number > 0 && text[number - 1] == (device ? '[' : ':');
}

/// True if two digits stand around a colon somewhere, as in "host:pid:tid".
bool joins_numbers(std::string_view text) {
  for (size_t at = text.find(':', 1); at != text.npos; at = text.find(':', at + 1)) {
    if (is_digit(text[at - 1]) && at + 1 < text.size() && is_digit(text[at + 1])) return true;
  }
  return false;
}

/// "misc/socket.cc:57 (socketProgress)": where a WARN was raised; plugins put
/// words there. False if the text names no place.
bool read_location(std::string_view text, Header& header) {
  text = without_function(without_time(trim(text)));
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return false;
  const auto line = parse_int(text.substr(colon + 1));
  if (!line || *line < 0 || *line > 1'000'000) return false;
  header.file = text.substr(0, colon);
  header.line = static_cast<int>(*line);
  return true;
}

/// What stands left of the anchor where the process is not named: people quote lines without it.
void read_nameless(std::string_view left, Header& header) {
  header.unexplained = left;
  const size_t bracket = left.rfind('[');
  const size_t blank = left.find("] ", std::min(bracket, left.size()));
  if (blank == left.npos || device_length(left.substr(bracket), header) == 0) return;
  header.unexplained = left.substr(0, bracket);
  read_location(left.substr(blank + 1), header);
}

/// Reads what stands left of the anchor: the rightmost host:pid:tid wins, since times such as
/// 04:05:06 before it look alike. True if it was there and all that follows it was understood.
bool read_left(std::string_view left, Header& header) {
  for (size_t end = left.size(); end > 0; --end) {
    const bool at_end = end == left.size() || is_blank(left[end]);
    if (!at_end || !is_digit(left[end - 1])) continue;
    const auto host = process_before(left, end, header);
    if (!host) continue;
    std::string_view rest = left.substr(end);
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    rest.remove_prefix(device_length(rest, header));
    const bool has_location = read_location(rest, header);
    header.unexplained = left.substr(0, *host);
    return has_location || rest.empty();
  }
  if (!left.empty()) read_nameless(left, header);
  return false;
}

/// "node07:4121 " before "NCCL DIAG": reports on the job name no thread (2.31). False, and `header`
/// is as it was, if something else stands there.
bool read_diag_left(std::string_view left, Header& header) {
  left = trim(left);
  const size_t pid = digits_begin(left, left.size());
  if (pid == left.size() || pid < 2 || left[pid - 1] != ':') return false;
  size_t host = pid - 1;
  while (host > 0 && is_host_char(left[host - 1])) --host;
  const auto number = parse_int(left.substr(pid));
  const size_t length = pid - 1 - host;
  if (!number || length == 0 || length > kLongestHost) return false;
  // "04:05", and the pid and tid of another kind of header.
  const bool is_number = std::ranges::all_of(left.substr(host, length), is_digit);
  if (is_number || is_clock(left.substr(host))) return false;
  header.host = left.substr(host, length);
  header.pid = *number;
  header.unexplained = left.substr(0, host);
  return true;
}

/// is_host_char as a table: hosts are looked at byte by byte in every line.
constexpr auto kIsHostChar = [] {
  std::array<bool, 256> table{};
  for (size_t c = 0; c < table.size(); ++c) table[c] = is_host_char(static_cast<char>(c));
  return table;
}();

/// "host:pid:tid [dev] NCCL INFO " at the very start of the line, as nearly every NCCL line begins:
/// read from left to right in one go. False, and `header` is spoilt, for whatever looks a little
/// different: a host that begins with a digit may be a time.
bool read_plain_head(std::string_view line, Header& header) {
  if (line.empty() || is_digit(line[0])) return false;
  Scanner scan(line);
  const auto in_host = [](char c) { return kIsHostChar[static_cast<unsigned char>(c)]; };
  header.host = scan.take_while(in_host);
  const bool is_named = !header.host.empty() && header.host.size() <= kLongestHost &&
                        scan.skip(':') && scan.number(header.pid) && scan.skip(':') &&
                        scan.number(header.tid) && scan.skip(' ');
  if (!is_named) return false;
  if (scan.skip('[') &&
      !(scan.number(header.cuda_dev) && header.cuda_dev <= kMostDevice && scan.skip("] ")))
    return false;
  if (!scan.rest().starts_with(kAnchor)) return false;
  const Level level = level_at(line, scan.taken());
  note_level(line, scan.taken(), level, header);
  return level != Level::None;
}

/// Takes "INFO ", "include/socket.h:360 WARN " or RCCL's "[FATAL ERROR]: " off the front.
bool take_bare_level(std::string_view text, Header& header) {
  if (text.starts_with(kFatal)) {
    header.level = Level::Warn;
    header.message = text.substr(kFatal.size());
    return true;
  }
  constexpr std::string_view kInfo = "INFO ";
  constexpr std::string_view kWarn = "WARN ";
  if (text.starts_with(kInfo)) {
    header.level = Level::Info;
    header.message = text.substr(kInfo.size());
    return true;
  }
  const size_t blank = text.find(' ');
  if (blank == text.npos || !text.substr(blank + 1).starts_with(kWarn)) return false;
  if (!read_location(text.substr(0, blank), header)) return false;
  header.level = Level::Warn;
  header.message = text.substr(blank + 1 + kWarn.size());
  return true;
}

/// "host:pid:tid [dev] INFO …", "host:pid:tid [dev] file:line WARN …" behind the prefix that `header`
/// has already: up to 2.3 NCCL does not name itself, nor does RCCL before "[FATAL ERROR]: ".
bool read_old_head(std::string_view line, Header& header) {
  // Most lines of other programs have neither.
  const bool may_be = line.find("] INFO ") != line.npos || line.find(kFatal) != line.npos ||
                      (line.find(" WARN ") != line.npos && line.find("] ") != line.npos);
  if (!may_be) return false;
  std::string_view text = line.substr(header.prefix.length);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const size_t blank = text.find(' ');
  Header old{.prefix = header.prefix};
  if (blank == text.npos || process_before(text, blank, old) != 0) return false;
  const std::string_view rest = text.substr(blank + 1);
  const size_t device = device_length(rest, old);
  if (device == 0 || !take_bare_level(rest.substr(device), old)) return false;
  header = old;
  return true;
}

/// "[1,3]<stdout>:NCCL INFO …": quoted without its process, right behind the prefix that `header`
/// has already. Glued to any other word, an anchor may be part of it.
bool read_quoted(std::string_view line, Header& header) {
  const size_t begin = header.prefix.length;
  if (!line.substr(begin).starts_with(kAnchor)) return false;
  const Level level = level_at(line, begin);
  if (level != Level::None) note_level(line, begin, level, header);
  return level != Level::None;
}

/// The header of a line up to a given anchor.
void read_head(std::string_view line, size_t anchor, Header& header) {
  const std::string_view left = line.substr(0, anchor);
  const Level level = level_at(line, anchor);
  if (level != Level::Diag || !read_diag_left(left, header)) read_left(left, header);
  note_level(line, anchor, level, header);
}

/// Goes over to the last record that begins inside `header`'s message: another process wrote it
/// before the first one's line was finished. That is lost, as its message ends in the other one's
/// header. Notes an anchor without a host.
void take_last_record(Header& header) {
  std::optional<Header> last;
  std::string_view rest = header.message;
  if (find_mark(rest, 0) == rest.npos) return;
  for (size_t anchor = find_anchor(rest); anchor != rest.npos; anchor = find_anchor(rest)) {
    Header inner;
    read_head(rest, anchor, inner);
    rest = inner.message;
    if (!inner.host.empty()) last = inner;
    header.anchored_twice |= inner.host.empty();
  }
  // "[1,3]<stdout>:NCCL INFO …", where the message begins: a launcher's tag may end with no blank.
  Header quoted{.prefix = parse_prefix(rest)};
  header.anchored_twice |= read_quoted(rest, quoted);
  if (!last) return;
  header = *last;
  header.torn = true;
}

/// Reads the record of an NCCL line into a fresh `header`; false, and it is as it was, if the line
/// has no anchor.
bool find_nccl_record(std::string_view line, Header& header) {
  // Nearly every NCCL line is read by the first of the two.
  if (!read_plain_head(line, header)) {
    header = {};
    const size_t anchor = find_anchor(line);
    if (anchor == line.npos) return false;
    read_head(line, anchor, header);
  }
  take_last_record(header);
  return true;
}

// Whole lines.

/// Reads what stands in front of the record, all of which is `unexplained` so far.
void read_prefix(Header& header) {
  std::string_view text = header.unexplained;
  const bool is_framework = header.level == Level::Framework;
  const int stated = is_framework ? take_rank_before(text) : -1;
  header.prefix = parse_prefix(text);
  std::string_view rest = text.substr(header.prefix.length);
  const size_t host = header.host.size();
  if (is_framework) {
    const TqdmBar bar = parse_progress_bar(rest);
    if (bar.length > 0) header.prefix.progress_title = bar.title;
    if (stated >= 0) header.prefix.rank = stated;
    rest.remove_prefix(bar.length);
  } else if (host > 0 && rest.starts_with(header.host) && rest.substr(host) == ": ") {
    // "w1: w1:900:950 [0] NCCL INFO …" of pdsh: whatever the name looks like, a process has it.
    header.prefix.host = rest.substr(0, host);
    header.prefix.length = text.size();
    rest = {};
  }
  header.unexplained = trim(rest);
  // "misc/socket.cc:57 NCCL WARN …", quoted without its process: no device, which may be -1, and no
  // place was read off between this text and the anchor.
  const bool is_nameless =
      std::string_view(text.end(), header.message.begin()).starts_with(kAnchor);
  if (is_nameless && read_location(header.unexplained, header)) header.unexplained = {};
}

/// Takes Ray's " [repeated 7x across cluster]", with its long hint the first time, off the message.
void take_repetition(Header& header) {
  constexpr std::string_view kHint = " (Ray deduplicates logs by default.";
  constexpr std::string_view kEnd = kRepetitionEnd;
  constexpr std::string_view kBegin = " [repeated ";
  std::string_view text = trim(header.message);
  if (!text.ends_with(']') && !text.ends_with(')')) return;
  if (text.ends_with(')') && text.find(kHint) != text.npos) {
    text = trim(text.substr(0, text.rfind(kHint)));
  }
  if (!text.ends_with(kEnd)) return;
  const size_t begin = text.rfind(kBegin);
  if (begin == text.npos) return;
  Scanner scan(text.substr(begin + kBegin.size()));
  if (!scan.number(header.repeated) || scan.rest() != kEnd) return;
  header.message = text.substr(0, begin);
}

/// "[1,19]<stderr>:RuntimeError[1,19]<stderr>:: text" → "text". Python writes the name of an
/// exception and what follows it in two steps, and mpirun tags both.
std::string_view behind_second_tag(std::string_view prefix, std::string_view message) {
  const std::string_view tag = trim(prefix);
  if (!tag.starts_with('[') || !tag.ends_with(">:")) return message;
  const size_t at = message.find(tag);
  if (at == message.npos || at == 0) return message;
  const std::string_view name = message.substr(0, at);
  const bool is_name = std::ranges::all_of(name, [](char c) { return is_word(c) || c == '.'; }) &&
                       (name.ends_with("Error") || name.ends_with("Exception"));
  const std::string_view behind = message.substr(at + tag.size());
  return is_name && behind.starts_with(": ") ? behind.substr(2) : message;
}

/// Takes the end of Markdown's "**bold**" off the message of a record before which it begins.
void take_bold(Header& header) {
  constexpr std::string_view kBold = "**";
  const std::string_view text = trim(header.message);
  if (!header.unexplained.ends_with(kBold) || !text.ends_with(kBold)) return;
  header.message = text.substr(0, text.size() - kBold.size());
}

}  // namespace

std::string_view to_string(Level level) { return kLevelNames[static_cast<size_t>(level)]; }

void read_header(std::string_view line, Header& header) {
  if (!find_nccl_record(line, header)) {
    header.prefix = parse_prefix(line);
    const size_t prefix = header.prefix.length;
    if (!read_quoted(line, header) && !read_old_head(line, header) &&
        !find_framework_record(line, prefix, header))
      header.message = behind_second_tag(line.substr(0, prefix), line.substr(prefix));
  }
  if (!header.unexplained.empty() || header.level == Level::Framework) read_prefix(header);
  if (!header.unexplained.empty()) take_bold(header);
  take_repetition(header);
}

Header parse_header(std::string_view line) {
  Header header;
  read_header(line, header);
  return header;
}

bool may_begin_python_record(std::string_view line, size_t prefix) {
  if (line.empty()) return false;
  const size_t end = places_end(line, prefix);
  for (size_t at = 0; at < end; ++at) {
    if (may_begin_record(line.substr(at))) return names_framework(line);
  }
  return false;
}

bool may_be_header_stub(std::string_view line) {
  line = trim(line);
  return may_end_in_header(line) && joins_numbers(line);
}

bool is_header_stub(std::string_view line) {
  if (!may_be_header_stub(line)) return false;
  if (is_nccl(parse_header(line))) return false;
  line = trim(line);
  if (line.ends_with(" NCCL")) line.remove_suffix(5);
  Header header;
  return read_left(trim(line), header);
}

bool holds_process(std::string_view text) {
  for (size_t at = text.find(':'); at != text.npos; at = text.find(':', at + 1)) {
    if (at == 0 || !is_host_char(text[at - 1])) continue;
    Scanner scan(text.substr(at));
    const auto skip_number = [&] { return !scan.take_while(is_digit).empty(); };
    if (scan.skip(':') && skip_number() && scan.skip(':') && skip_number() && scan.skip(" [") &&
        skip_number())
      return true;
  }
  return false;
}

size_t find_task_tag(std::string_view text, bool from_begin) {
  for (size_t at = text.find('[', from_begin ? 0 : 1); at != text.npos;
       at = text.find('[', at + 1)) {
    // Behind a blank or a mark it may follow a launcher's own prefix.
    const char before = at == 0 ? '_' : text[at - 1];
    if (!is_word(before) && before != '/' && before != '.') continue;
    Scanner scan(text.substr(at + 1));
    if (!scan.take_while(is_alpha).empty() && !scan.take_while(is_digit).empty() && scan.skip("]:"))
      return at;
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

}  // namespace ncclog
