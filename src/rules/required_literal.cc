#include "rules/required_literal.h"

#include <algorithm>

namespace ncclog {
namespace {

/// Skips a group or class that begins at `at`; returns the position behind it.
size_t skip_bracket(std::string_view pattern, size_t at) {
  int depth = 0;
  bool in_class = false;
  for (; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '\\') {
      ++at;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A bracket that comes first in a class stands for itself.
      if (at + 1 < pattern.size() && pattern[at + 1] == '^') ++at;
      if (at + 1 < pattern.size() && pattern[at + 1] == ']') ++at;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      --depth;
    }
    if (depth == 0 && !in_class) return at + 1;
  }
  return pattern.size();
}

/// True if what stands before `at` may occur zero times.
bool is_optional(std::string_view pattern, size_t at) {
  return at < pattern.size() && (pattern[at] == '?' || pattern[at] == '*' || pattern[at] == '{');
}

bool stands_for_itself(char c) {
  return std::string_view(".^$|()[]{}*+?\\").find(c) == std::string_view::npos;
}

bool is_punctuation(char c) {
  return c > ' ' && c < 0x7F && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') &&
         !(c >= 'a' && c <= 'z');
}

/// The position behind an operator, a group, a class or an escape that begins at `at`.
size_t skip_special(std::string_view pattern, size_t at) {
  switch (pattern[at]) {
    case '(':
    case '[':
      return skip_bracket(pattern, at);
    case '{':
      return std::min(pattern.find('}', at), pattern.size() - 1) + 1;
    case '\\':
      return at + 2;
    default:
      return at + 1;
  }
}

/// Escapes of more than two characters (\x41, \pN, \101, \Q) are not worth understanding.
bool has_long_escape(std::string_view pattern) {
  for (size_t at = pattern.find('\\'); at < pattern.size(); at = pattern.find('\\', at + 2)) {
    const char c = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    if (c == 'x' || c == 'p' || c == 'P' || c == 'Q' || (c >= '0' && c <= '9')) return true;
  }
  return false;
}

/// Groups with a question mark, but for those that only name or join: (?i) changes what letters
/// stand for.
bool has_flags(std::string_view pattern) {
  for (size_t at = pattern.find("(?"); at != pattern.npos; at = pattern.find("(?", at + 1)) {
    const std::string_view group = pattern.substr(at);
    if (!group.starts_with("(?P<") && !group.starts_with("(?:")) return true;
  }
  return false;
}

bool has_alternatives(std::string_view pattern) {
  for (size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '|') return true;
    if (pattern[at] == '\\') {
      at += 2;
    } else if (pattern[at] == '(' || pattern[at] == '[') {
      at = skip_bracket(pattern, at);
    } else {
      ++at;
    }
  }
  return false;
}

}  // namespace

std::string required_literal(std::string_view pattern) {
  if (has_flags(pattern) || has_long_escape(pattern)) return {};
  if (has_alternatives(pattern)) return {};
  std::string longest;
  std::string run;
  const auto end_run = [&] {
    if (run.size() > longest.size()) longest = run;
    run.clear();
  };
  for (size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    const bool escaped = c == '\\' && at + 1 < pattern.size() && is_punctuation(pattern[at + 1]);
    const size_t next = at + (escaped ? 2 : 1);
    if (!escaped && !stands_for_itself(c)) {
      end_run();
      at = skip_special(pattern, at);
    } else if (is_optional(pattern, next)) {
      end_run();
      at = next;
    } else {
      run += pattern[next - 1];
      at = next;
    }
  }
  end_run();
  return longest;
}

}  // namespace ncclog
