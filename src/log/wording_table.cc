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
  if (words.empty()) dispatch.irregular.push_back(&pattern);
  for (const std::string_view word : words) dispatch.by_first_word[word].push_back(&pattern);
}

Message WordingTable::find(const Dispatch& dispatch, std::string_view text) {
  Message message;
  const auto bucket = dispatch.by_first_word.find(first_word(text));
  if (bucket != dispatch.by_first_word.end()) {
    for (const WordingPattern* pattern : bucket->second) {
      if (match_wording(*pattern, text, message)) return message;
    }
  }
  for (const WordingPattern* pattern : dispatch.irregular) {
    if (match_wording(*pattern, text, message)) return message;
  }
  return {};
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
