#include "log/record_marks.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr bool is_host_char(char c) { return is_word(c) || c == '-' || c == '.'; }

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

bool is_header_beginning(std::string_view text) {
  size_t host = 0;
  while (host < text.size() && is_host_char(text[host])) ++host;
  if (host == 0 || host == text.size() || !names_process(text, host)) return false;
  const size_t close = text.find(']', host);
  if (close == text.npos) return digits_end(text, text.rfind('[') + 1) == text.size();
  const std::string_view rest = trim(text.substr(close + 1));
  constexpr std::string_view kAnchors[] = {"NCCL INFO", "NCCL WARN"};
  return std::any_of(std::begin(kAnchors), std::end(kAnchors),
                     [&](std::string_view anchor) { return anchor.starts_with(rest); });
}

size_t find_task_tag(std::string_view text, bool from_begin) {
  for (size_t at = text.find('[', from_begin ? 0 : 1); at != text.npos;
       at = text.find('[', at + 1)) {
    // Behind a blank or a mark it may follow a launcher's own prefix.
    const bool is_glued =
        at == 0 || is_word(text[at - 1]) || text[at - 1] == '/' || text[at - 1] == '.';
    size_t number = at + 1;
    while (number < text.size() && is_alpha(text[number])) ++number;
    const size_t end = digits_end(text, number);
    if (is_glued && number > at + 1 && end > number && text.substr(end).starts_with("]:")) {
      return at;
    }
  }
  return text.npos;
}

bool is_interrupted(std::string_view host, std::string_view known) {
  if (host.size() <= known.size()) return false;
  size_t same = 0;
  while (same < known.size() && host[same] == known[same]) ++same;
  if (same == 0 || same == known.size() || !host.ends_with(known.substr(same))) return false;
  const std::string_view inside = host.substr(same, host.size() - known.size());
  const bool in_word = is_alpha(known[same - 1]) && is_alpha(known[same]);
  return in_word || std::any_of(inside.begin(), inside.end(), is_alpha);
}

}  // namespace ncclog
