#include "log/wording/wording_table.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "log/known_messages.h"

namespace ncclog::testing {
namespace {

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
          const Message found = table.nccl.parse(text);
          if (found.kind != nullptr) {
            Message alone;
            ASSERT_TRUE(match_wording(*found.wording, text, alone)) << text;
            ASSERT_EQ(found.fields, alone.fields) << text;
          }
          // Trying all takes long.
          if (++texts % 997 != 0) continue;
          const auto fitting = table.all_matches(text, Source::Nccl);
          if (fitting.size() == 1) {
            ASSERT_EQ(found.wording, fitting.front()) << text;
          }
          ASSERT_EQ(found.kind == nullptr, fitting.empty()) << text;
        }
      }
    }
  }
  EXPECT_GT(texts, 10'000u);
}

}  // namespace
}  // namespace ncclog::testing
