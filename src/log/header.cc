#include "log/header.h"

#include "base/text.h"
#include "log/framework_header.h"

namespace ncclog {
namespace {

struct LevelWord {
  std::string_view word;
  Level level;
};
constexpr LevelWord kLevelWords[] = {
    {"INFO", Level::Info}, {"WARN", Level::Warn},   {"TRACE", Level::Trace},
    {"CALL", Level::Call}, {"ABORT", Level::Abort},
};
constexpr std::string_view kAnchor = "NCCL ";
constexpr size_t kLongestHost = 255;  ///< A host name is no longer (RFC 1123); torn bytes may be.

/// Where "NCCL <LEVEL>" stands and what it is.
struct Anchor {
  size_t begin = 0;  ///< Of "NCCL ".
  size_t end = 0;    ///< Behind the level word and the blank after it.
  Level level = Level::None;
};

std::optional<Anchor> anchor_at(std::string_view line, size_t begin) {
  if (begin > 0 && !is_blank(line[begin - 1])) return std::nullopt;
  const std::string_view rest = line.substr(begin + kAnchor.size());
  for (const LevelWord& candidate : kLevelWords) {
    if (!rest.starts_with(candidate.word)) continue;
    const size_t after = candidate.word.size();
    if (after < rest.size() && !is_blank(rest[after])) continue;
    const size_t end = begin + kAnchor.size() + after;
    return Anchor{begin, std::min(end + 1, line.size()), candidate.level};
  }
  return std::nullopt;
}

std::optional<Anchor> find_anchor(std::string_view line) {
  for (size_t at = line.find(kAnchor); at != line.npos; at = line.find(kAnchor, at + 1)) {
    if (const auto anchor = anchor_at(line, at)) return anchor;
  }
  return std::nullopt;
}

constexpr bool is_host_char(char c) { return is_word(c) || c == '-' || c == '.'; }

/// Reads digits that end before `end`, leftwards; returns where they begin.
size_t digits_begin(std::string_view text, size_t end) {
  while (end > 0 && is_digit(text[end - 1])) --end;
  return end;
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
  if (host == pid - 1 || pid - 1 - host > kLongestHost) return std::nullopt;
  const auto pid_number = parse_int(text.substr(pid, tid - 1 - pid));
  const auto tid_number = parse_int(text.substr(tid, end - tid));
  if (!pid_number || !tid_number) return std::nullopt;
  header.host = text.substr(host, pid - 1 - host);
  header.pid = *pid_number;
  header.tid = *tid_number;
  return host;
}

/// "[3] " at the start of `text`: the calling thread's device. Returns its
/// length.
size_t device_length(std::string_view text, Header& header) {
  if (!text.starts_with('[')) return 0;
  const size_t close = text.find(']');
  if (close == text.npos) return 0;
  const auto device = parse_int(text.substr(1, close - 1));
  if (!device || *device < -1 || *device > 1'000'000) return 0;
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

/// True for "… socket.cc:57" and "… socket.cc:57 (socketProgress)": a glance, made for every line.
bool ends_with_line_number(std::string_view text) {
  text = without_function(text);
  const size_t number = digits_begin(text, text.size());
  return number < text.size() && number > 0 && text[number - 1] == ':';
}

/// "misc/socket.cc:57 (socketProgress)": where a WARN was raised; plugins put
/// words there.
void read_location(std::string_view text, Header& header) {
  text = without_function(without_time(trim(text)));
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return;
  const auto line = parse_int(text.substr(colon + 1));
  if (!line || *line < 0 || *line > 1'000'000) return;
  header.file = text.substr(0, colon);
  header.line = static_cast<int>(*line);
}

/// Reads what stands left of the anchor: the rightmost host:pid:tid wins, since
/// times such as 04:05:06 before it look alike.
void read_left(std::string_view left, Header& header) {
  for (size_t end = left.size(); end > 0; --end) {
    const bool at_end = end == left.size() || is_blank(left[end]);
    if (!at_end || !is_digit(left[end - 1])) continue;
    const auto host = process_before(left, end, header);
    if (!host) continue;
    std::string_view rest = left.substr(end);
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    rest.remove_prefix(device_length(rest, header));
    read_location(rest, header);
    if (*host > 0) header.prefix = parse_prefix(left.substr(0, *host));
    return;
  }
  if (!left.empty()) {
    header.prefix = parse_prefix(left);
    read_location(left.substr(header.prefix.length), header);
  }
}

}  // namespace

std::string_view to_string(Level level) {
  switch (level) {
    case Level::Version:
      return "VERSION";
    case Level::Warn:
      return "WARN";
    case Level::Info:
      return "INFO";
    case Level::Trace:
      return "TRACE";
    case Level::Call:
      return "CALL";
    case Level::Abort:
      return "ABORT";
    case Level::Framework:
      return "FRAMEWORK";
    case Level::None:
      return "";
  }
  return "";
}

namespace {

/// The header of a line up to a given anchor.
Header header_at(std::string_view line, const Anchor& anchor) {
  Header header;
  header.level = anchor.level;
  read_left(line.substr(0, anchor.begin), header);
  header.message = line.substr(anchor.end);
  return header;
}

/// The last record that begins inside `header`'s message: another process wrote it before the first
/// one's line was finished. nullopt if the message is whole.
std::optional<Header> torn_in_by(const Header& header) {
  std::optional<Header> last;
  std::string_view rest = header.message;
  while (const auto anchor = find_anchor(rest)) {
    Header inner = header_at(rest, *anchor);
    rest = inner.message;
    if (!inner.host.empty()) last = inner;
  }
  return last;
}

}  // namespace

std::optional<Header> parse_nccl_header(std::string_view line) {
  const auto anchor = find_anchor(line);
  if (!anchor) return std::nullopt;
  Header header = header_at(line, *anchor);
  if (auto whole = torn_in_by(header)) {
    whole->torn = true;
    return whole;
  }
  return header;
}

Header parse_header(std::string_view line) {
  if (auto header = parse_nccl_header(line)) return *header;
  if (auto header = parse_framework_header(line)) return *header;
  Header header;
  header.prefix = parse_prefix(line);
  header.message = line.substr(header.prefix.length);
  return header;
}

bool is_header_stub(std::string_view line) {
  line = trim(line);
  if (!ends_with_line_number(line) || find_anchor(line)) return false;
  Header header;
  read_left(line, header);
  return !header.host.empty() && header.line >= 0;
}

}  // namespace ncclog
