#include "model/tear_guard.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "model/job_from_text.h"

namespace ncclog {
namespace {

// Both processes are known before anything is torn.
constexpr std::string_view kStart =
    "node-a:41:41 [0] NCCL INFO Using network IB\n"
    "node-b:52:52 [1] NCCL INFO Using network IB\n";

/// What the lines after kStart say, one line a record, by process and kind.
std::string said(std::string_view torn) {
  const Shard shard = read_text(std::string(kStart) + std::string(torn));
  std::string text;
  for (const auto& [speaker, log] : shard.speakers()) {
    for (const auto& [kind, list] : log.records) {
      for (const Record& record : list.kept) {
        if (kStart.find(record.text) == kStart.npos) text += record.text + "\n";
      }
    }
  }
  return text;
}

uint64_t in_doubt(std::string_view torn) {
  const LossTable losses = read_text(std::string(kStart) + std::string(torn)).losses();
  return losses.count(Loss::LineInDoubt) + losses.count(Loss::LineTorn);
}

struct Row {
  std::string_view name;
  std::string_view torn;
  std::string_view said;
};

constexpr std::string_view kBoth =
    "node-a:41:41 [0] NCCL INFO cudaDriverVersion 13000\n"
    "node-b:52:52 [1] NCCL INFO Connected all rings\n";

TEST(TearGuard, JoinsPiecesWhereOnlyOneReadingIsPossible) {
  constexpr Row kRows[] = {
      {"nothing is torn",
       "node-a:41:41 [0] NCCL INFO cudaDriverVersion 13000\n"
       "node-b:52:52 [1] NCCL INFO Connected all rings\n",
       kBoth},
      {"a record inside another",
       "node-a:41:41 [0] NCCL INFO cudaDrivernode-b:52:52 [1] NCCL INFO Connected all rings\n"
       "Version 13000\n",
       kBoth},
      {"a line end inside a record",
       "node-a:41:41 [0] NCCL INFO cudaDriver\n"
       "node-b:52:52 [1] NCCL INFO Connected all rings\n"
       "Version 13000\n",
       kBoth},
      {"a program's line inside a record",
       "node-a:41:41 [0] NCCL INFO cudaDriverstep 10 | loss 3.25\n"
       "Version 13000\n"
       "node-b:52:52 [1] NCCL INFO Connected all rings\n",
       kBoth},
      {"a line that a program ends later",
       "step 10 | loss 3.25node-a:41:41 [0] NCCL INFO cudaDriverVersion 13000\n"
       "node-b:52:52 [1] NCCL INFO Connected all rings\n"
       "\n",
       kBoth},
      {"two whole records on a line",
       "node-a:41:41 [0] NCCL INFO cudaDriverVersion 13000"
       "node-b:52:52 [1] NCCL INFO Connected all rings\n"
       "\n",
       kBoth},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(said(row.torn), row.said) << row.name;
    EXPECT_EQ(in_doubt(row.torn), 0u) << row.name;
  }
}

TEST(TearGuard, PrefixThatNobodyKnowsIsNoTear) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "<worker " + std::to_string(i) + "> node-a:41:41 [0] NCCL INFO Connected all rings\n";
  }
  const LossTable losses = read_text(text).losses();
  EXPECT_EQ(losses.count(Loss::LineInDoubt), 0u);
  EXPECT_EQ(read_text("Seen: node-a:41:41 [0] NCCL INFO Using network IB\n")
                .losses()
                .count(Loss::LineInDoubt),
            0u);
}

TEST(TearGuard, NothingOfDoubtfulLinesIsEvidence) {
  constexpr Row kRows[] = {
      {"the rest stands behind another beginning",
       "node-a:41:41 [0] NCCL INFO cudaDriverVernode-b:52:52 [1] NCCL INFO Connected all rings\n"
       "node-b:52:52 [1] NCCL INFO cudaDriverVersion 1sion 13000\n",
       ""},
      {"the rest never comes",
       "node-a:41:41 [0] NCCL INFO cudaDrivernode-b:52:52 [1] NCCL INFO Connected all rings\n", ""},
      {"both records may end with either rest",
       "node-a:41:41 [0] NCCL INFO cudaDriverVersion 13node-b:52:52 [1] NCCL INFO "
       "cudaDriverVersion 12040\n"
       "000\n",
       ""},
      {"a record inside another's header",
       "node-a:41:4node-b:52:52 [1] NCCL INFO Connected all rings\n"
       "1 [0] NCCL INFO cudaDriverVersion 13000\n",
       ""},
      {"a record inside another's host",
       "nonode-b:52:52 [1] NCCL INFO Connected all rings\n"
       "de-a:41:41 [0] NCCL INFO cudaDriverVersion 13000\n",
       ""},
      {"a header lost its host",
       "node-a:41:41 [0] NCCL INFO Connected all rings\n"
       ":52 [1] NCCL INFO cudaDriverVersion 13000\n",
       ""},
      {"a record of the framework inside",
       "node-a:41:41 [0] NCCL INFO Using network Sock[rank3]:[E717 13:20:49.407638053 "
       "ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog\n",
       ""},
      {"a header without host inside",
       "node-a:41:41 [0] NCCL INFO Using network S52 [1] NCCL INFO Connected all rings\n", ""},
      {"the beginning of a header inside",
       "node-a:41:41 [0] NCCL INFO Using network Snode-b:52:52 [1] NCocket\n", ""},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(said(row.torn), row.said) << row.name;
    EXPECT_GT(in_doubt(row.torn), 0u) << row.name;
  }
}

TEST(TearGuard, ContainersMayHaveSimilarNamesAndOnePid) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += "llm-0:7:7 [0] NCCL INFO Connected all rings\n";
    text += "llm-worker-0:7:7 [0] NCCL INFO Connected all rings\n";
  }
  const Shard shard = read_text(text);
  EXPECT_EQ(shard.speakers().size(), 2u);
  EXPECT_LT(shard.losses().count(Loss::LineInDoubt), 300u);
}

TEST(TearGuard, DoubtEndsSomeLinesAway) {
  std::string text;
  const auto add_lines = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) text += "node-a:41:41 [0] NCCL INFO Connected all rings\n";
  };
  add_lines(2 * TearGuard::kBefore);
  text += "node-a:41:41 [0] NCCL INFO Usingnode-b:52:52 [1] NCCL INFO Connected all rings\n";
  add_lines(2 * TearGuard::kAfter);
  EXPECT_EQ(in_doubt(text), TearGuard::kBefore + 1 + TearGuard::kAfter);
}

TEST(TearGuard, LinesThatLeaveBeforeATearIsMendedAreInNoDoubt) {
  std::string text;
  const auto add_lines = [&](size_t lines) {
    for (size_t i = 0; i < lines; ++i) {
      text += "node-a:41:41 [0] NCCL INFO cudaDriverVersion " + std::to_string(i) + "\n";
    }
  };
  add_lines(2 * TearGuard::kBefore);
  text += "step 10 | loss 3.25node-b:52:52 [1] NCCL INFO Connected all rings\n";
  add_lines(TearGuard::kMaxGap - 1);
  text += "\n";
  add_lines(2 * TearGuard::kBefore);
  EXPECT_EQ(in_doubt(text), 0u);
}

TEST(TearGuard, AllSpeakersOfADoubtfulStretchAreTorn) {
  const Shard shard = read_text(
      "node-a:41:41 [0] NCCL INFO Using network IB\n" + std::string(2 * TearGuard::kBefore, '\n') +
      "node-a:41:41 [0] NCCL INFO Usingnode-b:52:52 [1] NCCL INFO Connected all rings\n");
  ASSERT_EQ(shard.speakers().size(), 1u);
  EXPECT_TRUE(shard.speakers().begin()->second.torn);
}

TEST(TearGuard, FileThatEndsInsideARecordIsCutAndNotMerged) {
  constexpr std::string_view kEnds[] = {"node-b:52:52 [1] NCCL I",
                                        "node-b:52:52 [1] NCCL INFO comm 0x7f10 rank 1 nra",
                                        " 3: node-b:52:52 [1] ", "node-b:5", "no"};
  for (const std::string_view end : kEnds) {
    EXPECT_EQ(in_doubt(end), 0u) << end;
    const Shard shard = read_text(std::string(kStart) + std::string(end));
    EXPECT_TRUE(shard.speakers().begin()->second.torn) << end;
  }
}

TEST(TearGuard, FileOfOneProcessThatEndsInsideARecordIsNotTorn) {
  const Shard shard = read_text(
      "node-a:41:41 [0] NCCL INFO Using network IB\n"
      "node-a:41:41 [0] NCCL INFO comm 0x7f10 rank 0 nra");
  ASSERT_EQ(shard.speakers().size(), 1u);
  EXPECT_TRUE(shard.speakers().begin()->second.cut);
  EXPECT_FALSE(shard.speakers().begin()->second.torn);
}

TEST(TearGuard, FileOfOneProcessThatEndsInsideAStampIsCut) {
  constexpr std::string_view kWhole =
      "[2026-02-03 04:05:06.202370] node-a:41:41 [0] NCCL INFO Using network IB\n";
  for (const std::string_view end : {"[2026-02-03 04:05", "[", "[2026-02-03 04:05:06.202371] "}) {
    const Shard shard = read_text(std::string(kWhole) + std::string(end));
    EXPECT_TRUE(shard.speakers().begin()->second.cut) << end;
  }
  for (const std::string_view end : {"done", "[x", ""}) {
    const Shard shard = read_text(std::string(kWhole) + std::string(end));
    EXPECT_FALSE(shard.speakers().begin()->second.cut) << end;
  }
}

TEST(TearGuard, EveryLineIsCountedOnce) {
  const LossTable losses = read_text(
                               "node-a:41:41 [0] NCCL INFO cudaDriver\n"
                               "Version 13000\n"
                               "node-a:41:41 [0] NCCL INFO cudaDri\n"
                               "node-a:41:41 [0] NCCL INFO xnode-b:52:52 [1] NCCL INFO y\n")
                               .losses();
  EXPECT_EQ(losses.lines, 4u);
  EXPECT_EQ(losses.lines,
            losses.recognised + losses.unrecognised + losses.foreign + losses.unreadable);
}

}  // namespace
}  // namespace ncclog
