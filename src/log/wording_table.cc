#include "log/wording_table.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

std::string_view first_word(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && !is_blank(text[n])) ++n;
  return text.substr(0, n);
}

/// First words under which texts of this pattern are found; empty: they cannot
/// be listed.
std::vector<std::string_view> first_words(const WordingPattern& pattern) {
  const PatternStep& step = pattern.steps.front();
  const std::string_view word = first_word(step.literal);
  const bool complete = word.size() < step.literal.size() || step.hole == HoleType::None;
  if (!word.empty() && complete) return {word};
  return {};
}

/// Words made of a literal and one of the choices behind it: "NET/" + "IB" for " : Using",
/// "AllReduce" + ":" for ": opCount". Their text is kept in `storage`.
std::vector<std::string_view> choice_words(const WordingPattern& pattern,
                                           std::deque<std::string>& storage) {
  const PatternStep& step = pattern.steps.front();
  const bool in_first_word = step.literal.find_first_of(" \t") == std::string_view::npos;
  if (!in_first_word || step.hole != HoleType::Choice) return {};
  const bool last = pattern.steps.size() == 1;
  const std::string_view next = last ? std::string_view{} : pattern.steps[1].literal;
  const std::string_view tail = first_word(next);
  const bool complete = last || tail.size() < next.size() ||
                        (pattern.steps.size() == 2 && pattern.steps[1].hole == HoleType::None);
  std::vector<std::string_view> result;
  for (const std::string_view choice : step.choices) {
    const std::string word = std::string(step.literal) + std::string(choice) + std::string(tail);
    const std::string_view first = first_word(word);
    if (!complete && first.size() == word.size()) return {};
    if (std::find(result.begin(), result.end(), first) != result.end()) continue;
    storage.emplace_back(first);
    result.push_back(storage.back());
  }
  return result;
}

/// The word behind the first blank of texts of this pattern; empty: it is not always the same.
std::string_view second_word(const WordingPattern& pattern) {
  if (pattern.wording->recognise != nullptr) return {};
  for (const PatternStep& step : pattern.steps) {
    const size_t blank = step.literal.find_first_of(" \t");
    if (blank != step.literal.npos) {
      const std::string_view rest = step.literal.substr(blank + 1);
      const std::string_view word = first_word(rest);
      return word.size() < rest.size() || step.hole == HoleType::None ? word : std::string_view{};
    }
    const bool without_blanks =
        step.hole == HoleType::Word || step.hole == HoleType::Integer || step.hole == HoleType::Hex;
    if (!without_blanks) return {};
  }
  return {};
}

/// Bytes with which texts of this pattern begin; empty: any.
std::string first_bytes(const WordingPattern& pattern) {
  const PatternStep& step = pattern.steps.front();
  if (!step.literal.empty()) return std::string(1, step.literal.front());
  std::string bytes;
  for (const std::string_view choice : step.choices) {
    if (bytes.find(choice.front()) == bytes.npos) bytes.push_back(choice.front());
  }
  return bytes;
}

/// Tries the patterns in turn; true when one fits.
bool match_any(const std::vector<const WordingPattern*>& patterns, std::string_view text,
               Message& message) {
  for (const WordingPattern* pattern : patterns) {
    if (match_wording(*pattern, text, message)) return true;
  }
  return false;
}

}  // namespace

WordingTable::WordingTable(std::span<const Kind> kinds) {
  size_t count = 0;
  for (const Kind& kind : kinds) count += kind.wordings.size();
  patterns_.reserve(count);
  for (const Kind& kind : kinds) {
    for (const Wording& wording : kind.wordings) {
      const WordingPattern& pattern = patterns_.emplace_back(compile_wording(kind, wording));
      if (kind.source == Source::Nccl) add(nccl_, pattern);
      if (kind.source != Source::Nccl || wording.quotable) add(foreign_, pattern);
    }
  }
}

void WordingTable::add(Dispatch& dispatch, const WordingPattern& pattern) {
  std::vector<std::string_view> words = first_words(pattern);
  if (words.empty()) words = choice_words(pattern, words_);
  for (const std::string_view word : words) dispatch.by_first_word[word].push_back(&pattern);
  if (!words.empty()) return;
  const std::string_view second = second_word(pattern);
  if (!second.empty()) {
    dispatch.by_second_word[second].push_back(&pattern);
    return;
  }
  const std::string bytes = first_bytes(pattern);
  for (const char byte : bytes)
    dispatch.by_first_byte[static_cast<unsigned char>(byte)].push_back(&pattern);
  if (bytes.empty()) dispatch.open.push_back(&pattern);
}

bool WordingTable::find(const Dispatch& dispatch, std::string_view text, Message& message) {
  if (text.empty()) return false;
  const std::string_view first = first_word(text);
  const auto by_first = dispatch.by_first_word.find(first);
  if (by_first != dispatch.by_first_word.end() && match_any(by_first->second, text, message))
    return true;
  const std::string_view rest = text.substr(std::min(first.size() + 1, text.size()));
  const auto by_second = dispatch.by_second_word.find(first_word(rest));
  if (by_second != dispatch.by_second_word.end() && match_any(by_second->second, text, message))
    return true;
  const auto byte = static_cast<unsigned char>(text.front());
  return match_any(dispatch.by_first_byte[byte], text, message) ||
         match_any(dispatch.open, text, message);
}

Message WordingTable::parse(const Dispatch& dispatch, std::string_view text) {
  Message message;
  if (!find(dispatch, text, message)) message = {};
  return message;
}

std::vector<const WordingPattern*> WordingTable::all_matches(std::string_view text,
                                                             Source source) const {
  std::vector<const WordingPattern*> matches;
  Message message;
  for (const WordingPattern& pattern : patterns_) {
    const bool nccl = pattern.kind->source == Source::Nccl;
    const bool looked_at = source == Source::Nccl ? nccl : !nccl || pattern.wording->quotable;
    if (looked_at && match_wording(pattern, text, message)) matches.push_back(&pattern);
  }
  return matches;
}

}  // namespace ncclog
