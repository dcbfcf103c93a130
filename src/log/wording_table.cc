#include "log/wording_table.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string>

#include "base/text.h"
#include "log/wording_pattern.h"

namespace ncclog {
namespace {

/// First words under which texts of this wording are found; empty: they cannot
/// be listed.
std::vector<std::string_view> first_words(const Wording& wording) {
  const PatternStep& step = wording.steps.front();
  const std::string_view word = first_word(step.literal);
  const bool complete = word.size() < step.literal.size() || step.hole == HoleType::None;
  if (!word.empty() && complete) return {word};
  return {};
}

/// Words made of a literal and one of the choices behind it: "NET/" + "IB" for " : Using",
/// "AllReduce" + ":" for ": opCount". Their text is kept in `storage`.
std::vector<std::string_view> choice_words(const Wording& wording,
                                           std::deque<std::string>& storage) {
  const PatternStep& step = wording.steps.front();
  const bool in_first_word = step.literal.find_first_of(" \t") == std::string_view::npos;
  if (!in_first_word || step.hole != HoleType::Choice) return {};
  const bool last = wording.steps.size() == 1;
  const std::string_view next = last ? std::string_view{} : wording.steps[1].literal;
  const std::string_view tail = first_word(next);
  const bool complete = last || tail.size() < next.size() ||
                        (wording.steps.size() == 2 && wording.steps[1].hole == HoleType::None);
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

/// The word behind the first blank of texts of this wording; empty: it is not always the same.
std::string_view second_word(const Wording& wording) {
  if (wording.recognise != nullptr) return {};
  for (const PatternStep& step : wording.steps) {
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

/// Bytes with which texts of this wording begin; empty: any.
std::string first_bytes(const Wording& wording) {
  const PatternStep& step = wording.steps.front();
  if (!step.literal.empty()) return std::string(1, step.literal.front());
  std::string bytes;
  for (const std::string_view choice : step.choices) {
    if (bytes.find(choice.front()) == bytes.npos) bytes.push_back(choice.front());
  }
  return bytes;
}

/// What always stands behind the first word of texts of this wording.
std::string_view behind_first_word(const Wording& wording) {
  if (wording.recognise != nullptr) return {};
  std::string_view literal = wording.steps.front().literal;
  // Blanks at a text's end are no part of it.
  while (!literal.empty() && is_blank(literal.back())) literal.remove_suffix(1);
  return literal.substr(first_word(literal).size());
}

/// Tries the wordings in turn that may fit; true when one does. `at`: where the word ends by which
/// they were found.
bool match_any(std::span<const Candidate> candidates, std::string_view text, size_t at,
               Trail& trail, Message& message) {
  if (candidates.empty()) return false;
  const uint64_t behind = bytes_at(text, at);
  const Candidate* tried = nullptr;
  for (const Candidate& candidate : candidates) {
    if (!candidate.may_fit(behind)) continue;
    const bool follows = tried != nullptr && tried + 1 == &candidate;
    const size_t shared = follows ? candidate.shared : 0;
    if (match_wording_after(trail, shared, *candidate.wording, text, message)) return true;
    tried = &candidate;
  }
  return false;
}

/// Tries the wordings in turn; true when one fits.
bool match_any(std::span<const Wording* const> wordings, std::string_view text, Trail& trail,
               Message& message) {
  for (const Wording* wording : wordings) {
    if (match_wording_after(trail, 0, *wording, text, message)) return true;
  }
  return false;
}

bool find(const Dispatch& dispatch, std::string_view text, Message& message) {
  if (text.empty()) return false;
  Trail trail;
  const std::string_view first = first_word(text);
  if (match_any(dispatch.by_first_word.find(first), text, first.size(), trail, message))
    return true;
  const size_t second_at = std::min(first.size() + 1, text.size());
  const std::string_view second = first_word(text.substr(second_at));
  if (match_any(dispatch.by_second_word.find(second), text, second_at + second.size(), trail,
                message))
    return true;
  const auto byte = static_cast<unsigned char>(text.front());
  return match_any(dispatch.by_first_byte[byte], text, trail, message) ||
         match_any(dispatch.open, text, trail, message);
}

void read(const Dispatch& dispatch, std::string_view text, Message& message) {
  if (!find(dispatch, text, message)) message = {};
}

}  // namespace

void DispatchBuilder::add(const Wording& wording) {
  std::vector<std::string_view> words = first_words(wording);
  const std::string_view behind = words.empty() ? std::string_view{} : behind_first_word(wording);
  if (words.empty()) words = choice_words(wording, words_);
  for (const std::string_view word : words) by_first_word_.add(word, wording, behind);
  if (!words.empty()) return;
  const std::string_view second = second_word(wording);
  if (!second.empty()) return by_second_word_.add(second, wording, {});
  const std::string bytes = first_bytes(wording);
  for (const char byte : bytes)
    by_first_byte_[static_cast<unsigned char>(byte)].push_back(&wording);
  if (bytes.empty()) open_.push_back(&wording);
}

Dispatch DispatchBuilder::dispatch() {
  Dispatch result;
  result.by_first_word = by_first_word_.index();
  result.by_second_word = by_second_word_.index();
  for (size_t i = 0; i < by_first_byte_.size(); ++i) result.by_first_byte[i] = by_first_byte_[i];
  result.open = open_;
  return result;
}

void WordingTable::read_nccl(std::string_view text, Message& message) const {
  read(nccl, text, message);
}

void WordingTable::read_foreign(std::string_view text, Message& message) const {
  read(foreign, text, message);
}

Message WordingTable::parse_nccl(std::string_view text) const {
  Message message;
  read_nccl(text, message);
  return message;
}

Message WordingTable::parse_foreign(std::string_view text) const {
  Message message;
  read_foreign(text, message);
  return message;
}

std::vector<const Wording*> WordingTable::all_matches(std::string_view text, Source source) const {
  std::vector<const Wording*> matches;
  for (const Kind& kind : kinds) {
    for (const Wording& wording : kind.wordings) {
      const bool is_nccl = kind.source == Source::Nccl;
      const bool looked_at = source == Source::Nccl ? is_nccl : !is_nccl || wording.quotable;
      Message message;
      if (looked_at && match_wording(wording, text, message)) matches.push_back(&wording);
    }
  }
  return matches;
}

}  // namespace ncclog
