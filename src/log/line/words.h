// Which words tell what a text means, of another program mostly?
//
//   listed_words("leaving")   "exhausted", "no more data", "stopping early", …
//
// The lists are rows of words.table.

#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>

namespace ncclog {

/// A row of the table.
struct ListedWord {
  std::string_view list;
  std::string_view word;
};

inline constexpr ListedWord kListedWords[] = {
#include "log/line/words.inc"
};

/// Their words alone.
inline constexpr auto kWordsOfLists = [] {
  std::array<std::string_view, std::size(kListedWords)> words;
  std::ranges::transform(kListedWords, words.begin(), &ListedWord::word);
  return words;
}();

/// The words of one list, which stand together in the table; empty: there is no such list.
constexpr std::span<const std::string_view> find_words(std::string_view list) {
  const auto* const first = std::ranges::find(kListedWords, list, &ListedWord::list);
  const auto count = std::ranges::count(kListedWords, list, &ListedWord::list);
  return std::span(kWordsOfLists).subspan(first - kListedWords, count);
}

/// The same, known when the program is built.
consteval std::span<const std::string_view> listed_words(std::string_view list) {
  return find_words(list);
}

}  // namespace ncclog
