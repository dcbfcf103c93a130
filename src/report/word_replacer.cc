#include "report/word_replacer.h"

#include <algorithm>

#include "base/letters.h"
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

/// Whether a name can end between two characters: nothing joins on, or only a long name's letters.
bool is_border(char inside, char outside, bool is_long) {
  if (!is_alnum(outside) || !is_alnum(inside)) return true;
  return is_long && !(is_digit(inside) && is_digit(outside));
}

/// Whether no name goes on in front of or behind text[at, at + length).
bool stands_alone(std::string_view text, size_t at, size_t length) {
  const bool is_long = length >= WordReplacer::kLongWord;
  const char before = at > 0 ? text[at - 1] : ' ';
  const char after = at + length < text.size() ? text[at + length] : ' ';
  return is_border(text[at], before, is_long) && is_border(text[at + length - 1], after, is_long);
}

}  // namespace

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
    if (at + length > text.size() || !stands_alone(text, at, length)) continue;
    const auto found = words.find(normal(text.substr(at, length)));
    if (found != words.end()) return {length, found->first, found->second};
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

bool WordReplacer::contains(std::string_view word) const {
  if (word.size() < 2) return false;
  const auto start = by_start_.find(start_of(word, 0));
  if (start == by_start_.end()) return false;
  const auto words = start->second.find(word.size());
  return words != start->second.end() && words->second.contains(normal(word));
}

}  // namespace ncclog
