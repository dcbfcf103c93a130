#include "report/word_replacer.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr size_t kCaseMatters = 4;  ///< Below this length.

uint16_t start_of(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(lower_case(text[at]));
  const auto second = static_cast<unsigned char>(lower_case(text[at + 1]));
  return static_cast<uint16_t>(first << 8 | second);
}

std::string normal(std::string_view word) {
  std::string result(word);
  if (word.size() >= kCaseMatters) result = lower_case(word);
  return result;
}

constexpr size_t kSurelyNoNumber = 8;  ///< Hexadecimal digits that are a name of their own.

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_hex_digit(c); });
}

/// The letters around text[at, at + length), in lower case.
std::string word_around(std::string_view text, size_t at, size_t length) {
  size_t begin = at;
  size_t end = at + length;
  while (begin > 0 && is_alpha(text[begin - 1])) --begin;
  while (end < text.size() && is_alpha(text[end])) ++end;
  return lower_case(text.substr(begin, end - begin));
}

}  // namespace

/// Whether text[at, at + length) is a word of its own, or so much of one that it is replaced in it.
bool WordReplacer::stands_alone(std::string_view text, size_t at, size_t length) const {
  const char before = at > 0 ? text[at - 1] : ' ';
  const char after = at + length < text.size() ? text[at + length] : ' ';
  const char first = text[at];
  const char last = text[at + length - 1];
  const bool joins_before = is_alnum(before) && is_alnum(first);
  const bool joins_after = is_alnum(after) && is_alnum(last);
  if (!joins_before && !joins_after) return true;
  if (length < kLongWord) return false;
  if (joins_before && is_digit(before) && is_digit(first)) return false;
  if (joins_after && is_digit(after) && is_digit(last)) return false;
  const std::string_view word = text.substr(at, length);
  if (length < kSurelyNoNumber && is_hex(word) && (is_hex_digit(before) || is_hex_digit(after)))
    return false;
  return !ordinary_.contains(word_around(text, at, length));
}

void WordReplacer::add(std::string_view word, std::string_view replacement) {
  if (word.size() < 2) return;
  const uint16_t start = start_of(word, 0);
  first_bytes_.set(start);
  by_start_[start][word.size()].try_emplace(normal(word), replacement);
}

WordReplacer::Hit WordReplacer::find(std::string_view text, size_t at) const {
  if (at + 2 > text.size()) return {};
  const uint16_t start = start_of(text, at);
  if (!first_bytes_.test(start)) return {};
  for (const auto& [length, words] : by_start_.at(start)) {
    if (at + length > text.size()) continue;
    const auto found = words.find(normal(text.substr(at, length)));
    if (found != words.end() && stands_alone(text, at, length))
      return {length, found->first, found->second};
  }
  return {};
}

void WordReplacer::append_replaced(std::string& out, std::string_view text, size_t begin,
                                   size_t end) const {
  size_t copied = begin;
  for (size_t at = begin; at + 1 < end;) {
    const Hit hit = find(text, at);
    if (hit.length == 0 || at + hit.length > end) {
      ++at;
      continue;
    }
    out += text.substr(copied, at - copied);
    out += hit.replacement;
    at += hit.length;
    copied = at;
  }
  out += text.substr(copied, end - copied);
}

}  // namespace ncclog
