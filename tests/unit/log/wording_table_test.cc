#include "log/wording/wording_table.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "log/known_messages.h"

namespace ncclog::testing {
namespace {

/// The first candidate of the text's first word that fits when each is tried from the beginning.
Message tried_one_by_one(const WordingTable& table, std::string_view text) {
  for (const Candidate& candidate : table.nccl.by_first_word.find(first_word(text))) {
    Message message;
    if (match_wording(*candidate.wording, text, message)) return message;
  }
  return {};
}

/// Wordings that begin alike are tried from the step at which they part; that must not show.
TEST(WordingTableDispatch, FindsWhatTryingEachWordingFromItsBeginningFinds) {
  const WordingTable& table = all_wordings();
  size_t texts = 0;
  for (const Kind& kind : table.kinds) {
    if (kind.source != Source::Nccl) continue;
    for (const Wording& wording : kind.wordings) {
      const std::string_view example = wording.example;
      for (size_t size = 1; size <= example.size(); ++size) {
        for (const std::string_view end : {"", " comm 0x7f nRanks 02", "/flush=None", "]"}) {
          const std::string text = std::string(example.substr(0, size)) + std::string(end);
          const Message expected = tried_one_by_one(table, text);
          if (expected.kind == nullptr) continue;
          const Message found = table.nccl.parse(text);
          ++texts;
          ASSERT_EQ(found.wording, expected.wording) << text;
          ASSERT_EQ(found.fields, expected.fields) << text;
        }
      }
    }
  }
  EXPECT_GT(texts, 10'000u);
}

}  // namespace
}  // namespace ncclog::testing
