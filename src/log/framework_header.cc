#include "log/framework_header.h"

#include <algorithm>

#include "log/scanner.h"
#include "log/time_stamp.h"

namespace ncclog {
namespace {

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
  if (!scan.skip('[') || !is_severity(scan.peek())) return false;
  scan.skip(scan.peek());
  if (is_digit(scan.peek())) {
    const size_t date = scan.take_while(is_digit, 5).size();
    if (date < 3 || date > 4 || !scan.skip(' ')) return false;
    const size_t clock = clock_length(scan.rest());
    if (clock == 0) return false;
    scan.skip(scan.rest().substr(0, clock));
  }
  return scan.skip(' ') && read_location(scan, is_file_char, header);
}

/// "E0717 13:20:49.407638  4242 ProcessGroupNCCL.cpp:607] " of glog, "E0105 12:00:00.123000 1400
/// torch/distributed/elastic/multiprocessing/api.py:826] " of torch's Python logger.
bool read_glog_record(Scanner& scan, Header& header) {
  if (!is_severity(scan.peek())) return false;
  scan.skip(scan.peek());
  const size_t date = scan.take_while(is_digit, 9).size();
  if ((date != 4 && date != 8) || !scan.skip(' ')) return false;
  const size_t clock = clock_length(scan.rest());
  if (clock == 0) return false;
  scan.skip(scan.rest().substr(0, clock));
  if (scan.blanks() == 0) return false;
  int64_t process = -1;  // A thread up to 2.6, so it is not noted.
  if (scan.number(process) && scan.blanks() == 0) return false;
  return read_location(scan, is_path_char, header);
}

/// "torch.distributed.elastic.multiprocessing.api: [ERROR] " behind a time (2.1, 2.2).
bool read_stamped_python_record(Scanner& scan, Header& header) {
  if (!scan.skip('[')) return false;
  const size_t stamp = iso_stamp_length(scan.rest());
  if (stamp == 0) return false;
  scan.skip(scan.rest().substr(0, stamp));
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
  const auto level = std::find_if(std::begin(kLevels), std::end(kLevels),
                                  [&](std::string_view word) { return scan.skip(word); });
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

/// Where, in a message, another record begins: several processes write into one pipe.
size_t next_record(std::string_view message) {
  for (size_t at = message.find("[rank"); at != message.npos; at = message.find("[rank", at + 1)) {
    Scanner scan(message.substr(at + 5));
    int rank = -1;
    Header ignored;
    if (scan.number(rank) && scan.skip("]:") && read_cpp_record(scan, ignored)) return at;
  }
  return message.size();
}

/// Completes a header whose record was found between `left` and `message`.
Header finish(Header header, std::string_view left, std::string_view message) {
  const int rank = take_rank_before(left);
  header.level = Level::Framework;
  header.prefix = parse_prefix(left);
  const TqdmBar bar = parse_progress_bar(left.substr(header.prefix.length));
  if (bar.length > 0) header.prefix.progress_title = bar.title;
  header.unexplained = trim(left.substr(header.prefix.length + bar.length));
  if (rank >= 0) header.prefix.rank = rank;
  header.message = message.substr(0, next_record(message));
  while (take_group_tag(header)) continue;
  return header;
}

std::optional<Header> find_cpp_record(std::string_view line) {
  for (size_t at = line.find('['); at != line.npos; at = line.find('[', at + 1)) {
    Scanner scan(line.substr(at));
    Header header;
    if (read_cpp_record(scan, header)) return finish(header, line.substr(0, at), scan.rest());
  }
  return std::nullopt;
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

/// Records of Python's loggers stand at the start of the line, behind prefixes only.
std::optional<Header> find_python_record(std::string_view line) {
  constexpr bool (*kForms[])(Scanner&, Header&) = {read_glog_record, read_stamped_python_record,
                                                   read_basic_python_record};
  if (line.find("torch") == line.npos && line.find(".cpp:") == line.npos) return std::nullopt;
  const size_t end = places_end(line, parse_prefix(line).length);
  for (size_t at = 0; at < end; ++at) {
    if (!may_begin_record(line.substr(at))) continue;
    for (const auto read : kForms) {
      Scanner scan(line.substr(at));
      Header header;
      if (read(scan, header)) return finish(header, line.substr(0, at), scan.rest());
    }
  }
  return std::nullopt;
}

}  // namespace

bool may_begin_python_record(std::string_view line, size_t prefix) {
  if (line.empty()) return false;
  const size_t end = places_end(line, prefix);
  for (size_t at = 0; at < end; ++at) {
    if (may_begin_record(line.substr(at))) return true;
  }
  return false;
}

std::optional<Header> parse_framework_header(std::string_view line) {
  if (auto header = find_cpp_record(line)) return header;
  return find_python_record(line);
}

}  // namespace ncclog
