#include "log/message_words.h"

#include <string_view>

#include "base/letters.h"
#include "base/text.h"
#include "log/known_messages.h"

namespace ncclog {
namespace {

void add_words(std::string_view wording, std::set<std::string, std::less<>>& words) {
  constexpr size_t kShortest = 3;
  std::string word;
  bool in_hole = false;
  const auto finish = [&] {
    if (word.size() >= kShortest) words.insert(lower_case(word));
    word.clear();
  };
  for (const char c : wording) {
    in_hole = c == '{' || (in_hole && c != '}');
    if (!in_hole && is_alpha(c)) {
      word += c;
    } else {
      finish();
    }
  }
  finish();
}

}  // namespace

const std::set<std::string, std::less<>>& message_words() {
  static const std::set<std::string, std::less<>> kWords = [] {
    std::set<std::string, std::less<>> words;
    for (const Kind& kind : all_kinds()) {
      for (const Wording& wording : kind.wordings) add_words(wording.text, words);
    }
    return words;
  }();
  return kWords;
}

}  // namespace ncclog
