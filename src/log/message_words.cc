#include "log/message_words.h"

#include <map>
#include <string_view>

#include "base/letters.h"
#include "base/text.h"
#include "log/known_messages.h"

namespace ncclog {
namespace {

constexpr size_t kShortest = 3;

void add_words(std::string_view wording, std::map<std::string, int, std::less<>>& words) {
  std::string word;
  bool in_hole = false;
  const auto finish = [&] {
    if (word.size() >= kShortest) ++words[lower_case(word)];
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
    std::map<std::string, int, std::less<>> counts;
    for (const Kind& kind : all_kinds()) {
      for (const Wording& wording : kind.wordings) add_words(wording.text, counts);
    }
    // Three letters that few messages have, such as "idx", begin the names of hosts, too.
    constexpr int kCommon = 6;
    std::set<std::string, std::less<>> words;
    for (const auto& [word, count] : counts) {
      if (word.size() > kShortest || count >= kCommon) words.insert(word);
    }
    return words;
  }();
  return kWords;
}

}  // namespace ncclog
