#include "report/identity_cursor.h"

#include "report/known_names.h"

namespace ncclog {
namespace {

bool ends_path(char c) {
  return ends_value(c) || std::string_view("<:=?#*!(").find(c) != std::string_view::npos;
}

}  // namespace

bool ends_value(char c) {
  return static_cast<unsigned char>(c) <= ' ' ||
         std::string_view("\"'`,;)]}>|&\\").find(c) != std::string_view::npos;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::string_view IdentityCursor::before() const {
  const size_t begin = at < kLongestRun ? 0 : at - kLongestRun;
  return slice(begin, at);
}

std::string_view IdentityCursor::around() const {
  const size_t begin = at < kLongestRun ? 0 : at - kLongestRun;
  return text.substr(begin, 2 * kLongestRun);
}

bool IdentityCursor::add(IdentityKind kind, size_t begin, size_t end) {
  if (end <= begin) return false;
  found.push_back({kind, begin, end - begin});
  at = end;
  return true;
}

bool IdentityCursor::add_user(size_t begin, size_t end) {
  const std::string_view user = slice(begin, end);
  if (is_plain_word(user) || is_number(user)) return false;
  return add(IdentityKind::User, begin, end);
}

bool IdentityCursor::add_host(size_t begin, size_t end) {
  while (end > begin && text[end - 1] == '.') --end;
  const std::string_view name = slice(begin, end);
  const size_t dot = std::min(name.find('.'), name.size());
  const std::string_view host = name.substr(0, dot);
  const bool is_host = !is_plain_word(host) && !is_number(host);
  if (is_host) add(IdentityKind::Host, begin, begin + dot);
  const bool has_domain = dot + 1 < name.size();
  if (has_domain) add(IdentityKind::Domain, begin + dot + 1, end);
  return is_host || has_domain;
}

bool IdentityCursor::add_path(size_t begin) {
  const char first = peek(begin + 1);
  if (!is_word(first) && first != '.') return false;
  size_t end = long_run_end(begin, [](char c) { return !ends_path(c); });
  while (end > begin + 1 && (text[end - 1] == '.' || text[end - 1] == '-')) --end;
  return end > begin + 1 && add(IdentityKind::Path, begin, end);
}

bool IdentityCursor::add_name(IdentityKind kind, size_t begin, size_t end) {
  const std::string_view value = slice(begin, end);
  // A path is none. One whose first folder is longer than a run is hostile text: it is taken.
  if (value.substr(0, kLongestRun).find('/') != value.npos) return false;
  if (kind == IdentityKind::User) return add_user(begin, end);
  if (is_number(value)) return value.size() >= 4 && add(IdentityKind::JobNumber, begin, end);
  return value.size() >= 3 && !is_plain_word(value) && add(kind, begin, end);
}

}  // namespace ncclog
