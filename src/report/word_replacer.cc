#include "report/word_replacer.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr size_t kCaseMatters = 4;  ///< Below this length.

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_alnum(char c) { return is_alpha(c) || is_digit(c); }

uint16_t start_of(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(lower(text[at]));
  const auto second = static_cast<unsigned char>(lower(text[at + 1]));
  return static_cast<uint16_t>(first << 8 | second);
}

std::string normal(std::string_view word) {
  std::string result(word);
  if (word.size() >= kCaseMatters) std::transform(word.begin(), word.end(), result.begin(), lower);
  return result;
}

bool equals(std::string_view text, std::string_view word) {
  if (word.size() < kCaseMatters) return text == word;
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return lower(a) == b; });
}

/// Whether a name can end between two characters: nothing joins on, or only a long name's letters.
bool is_border(char inside, char outside, bool is_long) {
  if (!is_alnum(outside) || !is_alnum(inside)) return true;
  return is_long && !(is_digit(inside) && is_digit(outside));
}

}  // namespace

void WordReplacer::add(std::string_view word, std::string_view replacement) {
  if (word.size() < 2 || contains(word)) return;
  const uint16_t start = start_of(word, 0);
  first_bytes_.set(start);
  std::vector<Entry>& entries = by_start_[start];
  const auto place = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.word.size() < word.size();
  });
  entries.insert(place, {normal(word), std::string(replacement)});
}

WordReplacer::Hit WordReplacer::find(std::string_view text, size_t at) const {
  if (at + 2 > text.size()) return {};
  const uint16_t start = start_of(text, at);
  if (!first_bytes_.test(start)) return {};
  for (const Entry& entry : by_start_.at(start)) {
    const size_t length = entry.word.size();
    if (at + length > text.size() || !equals(text.substr(at, length), entry.word)) continue;
    const bool is_long = length >= kLongWord;
    const char before = at > 0 ? text[at - 1] : ' ';
    const char after = at + length < text.size() ? text[at + length] : ' ';
    if (!is_border(text[at], before, is_long)) continue;
    if (!is_border(text[at + length - 1], after, is_long)) continue;
    return {length, entry.word, entry.replacement};
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
  const auto found = by_start_.find(start_of(word, 0));
  if (found == by_start_.end()) return false;
  const std::string wanted = normal(word);
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const Entry& entry) { return entry.word == wanted; });
}

}  // namespace ncclog
