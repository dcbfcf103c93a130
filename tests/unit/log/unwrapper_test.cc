#include "log/unwrapper.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ncclog {
namespace {

using Lines = std::vector<std::string>;

/// Lines as "number+lines: text".
Lines unwrap(const Lines& lines) {
  Lines received;
  Unwrapper unwrapper([&](const Line& line, int count) {
    received.push_back(std::to_string(line.number) + "+" + std::to_string(count) + ": " +
                       std::string(line.text));
  });
  uint64_t number = 0;
  for (const std::string& text : lines) {
    Line line;
    line.text = text;
    line.number = ++number;
    line.offset = number * 100;
    unwrapper.add(line);
  }
  unwrapper.finish();
  return received;
}

constexpr std::string_view kTime = "2026-01-05T12:00:00.1Z ";

std::string cri(std::string_view text) { return std::string(kTime) + std::string(text); }

TEST(Unwrapper, HandsOrdinaryLinesOn) {
  EXPECT_EQ(unwrap({"a", "", "{\"a\":1}"}), (Lines{"1+1: a", "2+1: ", "3+1: {\"a\":1}"}));
}

TEST(Unwrapper, IsConcernedByWrappedLinesOnly) {
  const Unwrapper unwrapper([](const Line&, int) {});
  EXPECT_FALSE(unwrapper.concerns(""));
  EXPECT_FALSE(unwrapper.concerns("node:1:2 [0] NCCL INFO x"));
  EXPECT_FALSE(unwrapper.concerns("node:1:2 [0] NCCL INFO NET/IB : Using [0]={[0] mlx5_0:1/IB}"));
  EXPECT_TRUE(unwrapper.concerns(R"({"log":"x\n"})"));
  EXPECT_TRUE(unwrapper.concerns(cri("stdout P x")));
}

TEST(Unwrapper, JoinsTheHalvesOfALine) {
  EXPECT_EQ(unwrap({cri("stdout P node:1:2 [0] NCCL INFO Chan"), cri("stdout P nel 0"),
                    cri("stdout F 0 x"), cri("stdout F y")}),
            (Lines{"1+3: " + cri("stdout P node:1:2 [0] NCCL INFO Channel 00 x"),
                   "4+1: " + cri("stdout F y")}));
  EXPECT_EQ(unwrap({R"({"log":"a","stream":"stdout","time":"2026-01-05T12:00:00.1Z"})",
                    R"({"log":"b\n","stream":"stdout","time":"2026-01-05T12:00:00.2Z"})"}),
            (Lines{"1+2: " + cri("stdout F ab")}));
}

TEST(Unwrapper, KeepsTheStreamsApart) {
  EXPECT_EQ(unwrap({cri("stdout P a"), cri("stderr F x"), cri("stderr P y"), cri("stdout F b"),
                    cri("stderr F z")}),
            (Lines{"2+1: " + cri("stderr F x"), "1+2: " + cri("stdout P ab"),
                   "3+2: " + cri("stderr P yz")}));
}

TEST(Unwrapper, JoinsNothingToALineThatMayStartAUnit) {
  const std::string whole = cri("stdout F node:1:2 [0] NCCL INFO x");
  EXPECT_EQ(unwrap({cri("stdout P a"), whole}),
            (Lines{"1+1: " + cri("stdout P a"), "2+1: " + whole}));
  EXPECT_EQ(unwrap({cri("stdout P a"), "text", cri("stdout F b")}),
            (Lines{"1+1: " + cri("stdout P a"), "2+1: text", "3+1: " + cri("stdout F b")}));
  EXPECT_EQ(unwrap({cri("stderr P b"), cri("stdout P a")}),
            (Lines{"1+1: " + cri("stderr P b"), "2+1: " + cri("stdout P a")}));
}

TEST(Unwrapper, HandsTheLinesOfOneRecordOnOneByOne) {
  EXPECT_EQ(unwrap({R"({"message":"a\nb\r\nc\rd\n"})", R"({"message":"\n"})"}),
            (Lines{"1+1: a", "1+0: b", "1+0: c", "1+0: d", "2+1: "}));
}

TEST(Unwrapper, UndoesRecordsInsideRecordsAndBehindPrefixes) {
  const std::string inner = R"({\"log\":\"\\u001b[1mx\\n\",\"stream\":\"stdout\"})";
  EXPECT_EQ(unwrap({R"(3: {"message":")" + inner + R"("})"}), (Lines{"1+1: 3: x"}));
  const std::string bar = "a:  33%|###  | 5/15 [1:02<2:06, 6.59s/it]";
  EXPECT_EQ(unwrap({R"(3: {"msg":")" + bar + R"("})"}), (Lines{"1+1: 3: " + bar}));
  EXPECT_EQ(unwrap({cri("stdout F ") + R"({"message":"1: {\"msg\":\"x\"}"})"}),
            (Lines{"1+1: " + cri("stdout F 1: x")}));
}

TEST(Unwrapper, JoinsNoMoreThanALineMayHold) {
  Lines lines(40, cri("stdout P ") + std::string(4000, 'a'));
  const Lines joined = unwrap(lines);
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_LE(joined[0].size(), 70000u);
  EXPECT_EQ(joined[0].substr(0, 6), "1+40: ");
}

TEST(Unwrapper, CountsEveryLineOnce) {
  const Lines pieces{cri("stdout P a"),
                     cri("stderr P b"),
                     cri("stdout F c"),
                     R"({"log":"a","stream":"stdout"})",
                     R"({"log":"a\nb\n","stream":"stderr"})",
                     "text",
                     "node:1:2 [1] NCCL INFO y"};
  for (size_t seed = 0; seed < 2000; ++seed) {
    size_t state = seed;
    int count = 0;
    Unwrapper unwrapper([&](const Line&, int lines) { count += lines; });
    for (int i = 0; i < 8; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      Line line;
      line.text = pieces[(state >> 33) % pieces.size()];
      unwrapper.add(line);
    }
    unwrapper.finish();
    ASSERT_EQ(count, 8) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ncclog
