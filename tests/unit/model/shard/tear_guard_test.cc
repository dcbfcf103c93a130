#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "model/derive/build_job.h"
#include "model/shard/read_log.h"

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
  for (const auto& [speaker, log] : shard.speakers) {
    for (const auto& [kind, list] : log.records) {
      for (const Record& record : list.kept) {
        if (kStart.find(record.text()) == kStart.npos) text += record.text() + "\n";
      }
    }
  }
  return text;
}

uint64_t in_doubt(std::string_view torn) {
  const LossTable losses = read_text(std::string(kStart) + std::string(torn)).losses;
  return losses.count(Loss::LineInDoubt) + losses.count(Loss::LineTorn);
}

struct TornRow {
  std::string_view name;
  std::string_view torn;
  std::string_view said;
};

constexpr std::string_view kBoth =
    "node-a:41:41 [0] NCCL INFO cudaDriverVersion 13000\n"
    "node-b:52:52 [1] NCCL INFO Connected all rings\n";

TEST(TearGuard, JoinsPiecesWhereOnlyOneReadingIsPossible) {
  constexpr TornRow kRows[] = {
      {"nothing is torn",
       "node-a:41:41 [0] NCCL INFO cudaDriverVersion 13000\n"
       "node-b:52:52 [1] NCCL INFO Connected all rings\n",
       kBoth},
      {"a record inside another",
       "node-a:41:41 [0] NCCL INFO cudaDrivernode-b:52:52 [1] NCCL INFO Connected all rings\n"
       "Version 13000\n",
       kBoth},
      {"a line that a program ends later",
       "shard 10 | rows 3.25node-a:41:41 [0] NCCL INFO cudaDriverVersion 13000\n"
       "node-b:52:52 [1] NCCL INFO Connected all rings\n"
       "\n",
       kBoth},
      {"a record inside another's header",
       "node-a:41:4node-b:52:52 [1] NCCL INFO Connected all rings\n"
       "1 [0] NCCL INFO cudaDriverVersion 13000\n",
       kBoth},
      {"two whole records on a line",
       "node-a:41:41 [0] NCCL INFO Connected all treesnode-b:52:52 [1] NCCL INFO Connected all "
       "rings\n",
       "node-a:41:41 [0] NCCL INFO Connected all trees\n"
       "node-b:52:52 [1] NCCL INFO Connected all rings\n"},
  };
  for (const TornRow& row : kRows) {
    EXPECT_EQ(said(row.torn), row.said) << row.name;
    EXPECT_EQ(in_doubt(row.torn), 0u) << row.name;
  }
}

TEST(TearGuard, OnlyWholeRecordsAreEvidence) {
  constexpr TornRow kRows[] = {
      {"a header lost its host",
       "node-a:41:41 [0] NCCL INFO Connected all rings\n"
       ":52 [1] NCCL INFO cudaDriverVersion 13000\n",
       "node-a:41:41 [0] NCCL INFO Connected all rings\n"},
      {"a record of the framework inside",
       "node-a:41:41 [0] NCCL INFO Using network Sock[rank3]:[E717 13:20:49.407638053 "
       "ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog\n",
       ""},
      {"a header without host inside",
       "node-a:41:41 [0] NCCL INFO Using network S52 [1] NCCL INFO Connected all rings\n", ""},
      {"the beginning of a header inside",
       "node-a:41:41 [0] NCCL INFO Using network Snode-b:52:52 [1] NCocket\n", ""},
      {"the rest stands behind another beginning",
       "node-a:41:41 [0] NCCL INFO cudaDriverVernode-b:52:52 [1] NCCL INFO Connected all rings\n"
       "node-b:52:52 [1] NCCL INFO cudaDriverVersion 1sion 13000\n",
       "node-b:52:52 [1] NCCL INFO Connected all rings\n"},
      {"a program's words behind a number",
       "node-a:41:41 [0] NCCL INFO NCCL_NVLS_ENABLE set by environment to 0.  return f(*args)\n",
       ""},
      {"a program's words behind a name",
       "node-a:41:41 [0] NCCL INFO Using network   return func(*args, **kwargs)\n", ""},
      {"pieces of two calls make a third",
       "node-a:41:41 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 datatype "
       "7 op 0 root 0 comm 0x7f10 [nranks=2] stream (nil)\n"
       "node-b:52:52 [1] NCCL INFO Using netnode-a:41:41 [0] NCCL INFO AllReduce: opCount 1 "
       "sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 op 0 root 0 comm 0x57e0 [nranks=2] stream "
       "(nil)\n",
       ""},
      {"the beginning of another record inside a function's name",
       "node-a:41:41 [0] NCCL INFO AllReducenode: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 "
       "datatype 7 op 0 root 0 comm 0x7f10 [nranks=2] stream (nil)\n",
       ""},
      {"the same where the rest is joined",
       "node-a:41:41 [0] NCCL INFO AllReducenode-b:52:52 [1] NCCL INFO Connected all rings\n"
       "node: opCount 0 sendbuff 0x1 recvbuff 0x1 count 8 datatype 7 op 0 root 0 comm 0x7f10 "
       "[nranks=2] stream (nil)\n",
       "node-b:52:52 [1] NCCL INFO Connected all rings\n"},
      {"a host whose name may be a piece of another's",
       "node-a:41:41 [0] NCCL INFO MNNVL busId 0x70 fabr1:63:63 [2] NCCL INFO Connected all "
       "rings\n",
       ""},
      {"anything fits behind a number",
       "node-a:41:41 [0] NCCL INFO NCCL_BUFFSIZE set by environment to 1048node-b:52:52 [1] NCCL "
       "INFO Connected all rings\n"
       "1/-1/-1->1->0\n",
       ""},
      {"a header lost all of its process after another was torn",
       "node-a:41:41 [0] NCCL INFO Inonde-b:52:52 [1] NCCL INFO Connected all rings\n"
       " [1] NCCL INFO cudaDriverVersion 13000\n",
       ""},
      {"a warning behind another record's words",
       "node-a:41:41 [0] NCCL INFO Innode-b:52:52 [1] NCCL INFO Connected all rings\n"
       "[rank3]:   File \"lib/dshmutils.cc:132 NCCL WARN Error while creating shared memory "
       "segment "
       "/dev/shm/nccl-T2EFKg (size 9637888), error: No space left on device (28)\n",
       "node-b:52:52 [1] NCCL INFO Connected all rings\n"},
      {"the rest of a header behind a program's words",
       "node-c:4121:4121 [2] NCCL INFO Connected all rings\n"
       "ite4121:4121 [2] NCCL INFO cudaDriverVersion 13000\n",
       "node-c:4121:4121 [2] NCCL INFO Connected all rings\n"},
      {"the number of a thread stands in a header",
       "01node-b:52:5:2 [1] NCCL INFO cudaDriverVersion 13000\n", ""},
      {"a piece of a header behind a host",
       "] node-b:52-b:5208:52 [1] NCCL INFO cudaDriverVersion 13000\n", ""},
      {"a pid in place of a host", "e-b:52:5201:52 [1] NCCL INFO cudaDriverVersion 13000\n", ""},
      {"the rest never comes",
       "node-a:41:41 [0] NCCL INFO cudaDrivernode-b:52:52 [1] NCCL INFO Connected all rings\n",
       "node-b:52:52 [1] NCCL INFO Connected all rings\n"},
  };
  for (const TornRow& row : kRows) {
    EXPECT_EQ(said(row.torn), row.said) << row.name;
    EXPECT_GT(in_doubt(row.torn), 0u) << row.name;
  }
}

// Whoever began "gpu-no" begins the lines of both hosts, so none of their silences proves anything.
TEST(TearGuard, WhoseRecordIsLostIsNotGuessed) {
  const Shard shard = read_text(
      "gpu-node-1:41:41 [0] NCCL INFO Connected all rings\n"
      "gpu-node-2:52:52 [1] NCCL INFO Connected all rings\n"
      "gpu-no[rank1]:[E717 13:20:49.407638053 ProcessGroupNCCL.cpp:632] [Rank 1] Watchdog\n");
  size_t torn = 0;
  for (const auto& [speaker, log] : shard.speakers) torn += log.torn && speaker.pid >= 0;
  EXPECT_EQ(torn, 2u);
}

TEST(TearGuard, CallThatAProgramCutOffIsMissed) {
  const Shard shard = read_text(
      "node-a:41:41 [0] NCCL INFO Connected all rings\n"
      "node-a:41:41 [0] NCCL INFO AllReduce: opCount 4 sendbuff 0x1 recvbuff 0x1 count 10485"
      "iteration: 0 | lr: 1.0E-04\n");
  EXPECT_TRUE(shard.speakers.begin()->second.torn);
}

TEST(TearGuard, ContainersMayHaveSimilarNamesAndOnePid) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += "llm-0:7:7 [0] NCCL INFO Connected all rings\n";
    text += "llm-worker-0:7:7 [0] NCCL INFO Connected all rings\n";
  }
  const Shard shard = read_text(text);
  EXPECT_EQ(shard.speakers.size(), 2u);
  EXPECT_LT(shard.losses.count(Loss::LineInDoubt), 300u);
}

// A program had begun a line: "iteration: 3".
TEST(TearGuard, LineThatNamesAlmostTheSameHostMayBeTheKnownProcesss) {
  const Shard shard = read_text(std::string(kStart) +
                                "itenode-a:41:41 [0] NCCL INFO Connected all rings\n"
                                "node-b:52:52 [1] NCCL INFO Connected all rings\n");
  for (const auto& [speaker, log] : shard.speakers) {
    EXPECT_EQ(log.torn, speaker.pid == 41) << speaker.host;
  }
}

TEST(TearGuard, HostsThatShareAPidAreNotTorn) {
  std::string text;
  for (const std::string_view host : {"llm-0", "llm-worker-0", "llm-0", "llm-worker-0"}) {
    for (int i = 0; i < 10; ++i)
      text += std::string(host) + ":7:7 [0] NCCL INFO Connected all rings\n";
  }
  const Shard shard = read_text(text);
  EXPECT_EQ(shard.speakers.size(), 2u);
  for (const auto& [speaker, log] : shard.speakers) EXPECT_FALSE(log.torn) << speaker.host;
}

TEST(TearGuard, BeginningOfAHeaderInsideAnotherProcesssWordsIsMissed) {
  const Shard shard = read_text(std::string(kStart) +
                                "node-b:52:52 [1] NCCL INFO Ininode-a:41:4tialized NET plugin IB\n"
                                "node-b:52:52 [1] NCCL INFO Connected all rings\n");
  bool is_missed = false;
  for (const auto& [speaker, log] : shard.speakers) is_missed |= log.torn && speaker.pid == 41;
  EXPECT_TRUE(is_missed);
}

TEST(TearGuard, HeaderThatALaunchersTagHidesIsMissed) {
  const Shard shard = read_text(std::string(kStart) +
                                "[default0]:node-a:41:41 [0] NCC/workspace/train.py FAILED\n"
                                "L INFO NCCL_NVLS_ENABLE set by environment to 0.\n");
  for (const auto& [speaker, log] : shard.speakers) {
    EXPECT_EQ(log.torn, speaker.pid == 41) << speaker.host;
  }
}

TEST(TearGuard, DoubtIsLocal) {
  std::string text;
  const auto add_lines = [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      text += "node-a:41:41 [0] NCCL INFO cudaDriverVersion " + std::to_string(i) + "\n";
    }
  };
  add_lines(0, 100);
  text += "node-a:41:41 [0] NCCL INFO Usingnode-b:52:52 [1] NCCL INFO Connected all rings\n";
  add_lines(100, 200);
  EXPECT_EQ(in_doubt(text), 1u);
  const Shard shard = read_text(std::string(kStart) + text);
  for (const auto& [speaker, log] : shard.speakers) {
    EXPECT_EQ(log.lines, speaker.host == "node-a" ? 201u : 2u);
    EXPECT_EQ(log.torn, speaker.host == "node-a");
  }
}

// A launcher handed on 4,096 bytes of each: the line between fits a wording and is two half ones.
TEST(TearGuard, LineThatEndsWithTheRestOfAnotherRecordIsInDoubt) {
  constexpr std::string_view kChunks =
      "node-a:41:41 [0] NCCL INFO comm 0x7f10 rank 0 nRanks 8 nNodes 2 localRanks 4 localRank 0 "
      "node-b:52:52 [1] NCCL INFO Connected all rings\n"
      "node-b:52:52 [1] NCCL INFO Trees [0] 0/-1/-1->3->2 [1] 2MNNVL 0\n"
      "node-a:41:41 [0] NCCL INFO cudaDriverVersion 13000\n";
  EXPECT_EQ(said(kChunks), kBoth);
  EXPECT_EQ(in_doubt(kChunks), 3u);  // And two records are lost.
}

TEST(TearGuard, OddShapesAreNoTears) {
  constexpr std::string_view kOdd[] = {
      "::16674:16674 [0] NCCL INFO Connected all rings\n",
      "[Node-A]:[PID]:[Thread] [0] NCCL INFO Connected all rings\n",
      "**node-a:41:41 [0] NCCL INFO Connected all rings**\n",
      "[trainer0|0]:node-a:41:41 [0] NCCL INFO Connected all rings\n",
      "451 node-a:41:41 [0] NCCL INFO Connected all rings\n",
      "> node-a:41:41 [0] NCCL INFO Connected all rings\n",
      "[rank1]: [rank1]: node-a:41:41 [0] NCCL INFO Connected all rings\n",
      "  | 2026-02-03T04:05:06.789Z | node-a:41:41 [0] NCCL INFO Connected all rings\n",
      "node-a:41:41 [0] NCCL INFO Connected all rings          node-b:52:52 [1] NCCL INFO "
      "Connected "
      "all trees       \n",
      "node-a:41:41 [0] NCCL INFO Connected all rings [1,1]<stdout>:node-b:52:52 [1] NCCL INFO "
      "Connected all trees\n",
      "node-a:41:41 [0] transport/[net_ib.cc:101](http://net_ib.cc:101/) NCCL WARN NET/IB : "
      "mlx5_0:1 "
      "Got async event : local access violation work queue error\n",
  };
  for (const std::string_view odd : kOdd) {
    EXPECT_EQ(in_doubt(odd), 0u) << odd;
    const Shard shard = read_text(std::string(kStart) + std::string(odd));
    EXPECT_EQ(shard.losses.unrecognised, 0u) << odd;
    for (const auto& [speaker, log] : shard.speakers) EXPECT_FALSE(log.torn) << odd;
  }
}

TEST(TearGuard, FileThatEndsInsideARecordIsCutAndNotMerged) {
  constexpr std::string_view kEnds[] = {"node-b:52:52 [1] NCCL I", " 3: node-b:52:52 [1] ",
                                        "node-b:5", "no"};
  for (const std::string_view end : kEnds) {
    EXPECT_EQ(in_doubt(end), 0u) << end;
    const Shard shard = read_text(std::string(kStart) + std::string(end));
    EXPECT_TRUE(shard.speakers.begin()->second.cut) << end;
  }
}

TEST(TearGuard, FileOfOneProcessThatEndsInsideARecordIsNotTorn) {
  const Shard shard = read_text(
      "node-a:41:41 [0] NCCL INFO Using network IB\n"
      "node-a:41:41 [0] NCCL INFO comm 0x7f10 rank 0 nra");
  ASSERT_EQ(shard.speakers.size(), 1u);
  EXPECT_TRUE(shard.speakers.begin()->second.cut);
  EXPECT_FALSE(shard.speakers.begin()->second.torn);
}

TEST(TearGuard, FileOfOneProcessThatEndsInsideAStampIsCut) {
  constexpr std::string_view kWhole =
      "[2026-02-03 04:05:06.202370] node-a:41:41 [0] NCCL INFO Using network IB\n";
  for (const std::string_view end : {"[2026-02-03 04:05", "[", "[2026-02-03 04:05:06.202371] "}) {
    const Shard shard = read_text(std::string(kWhole) + std::string(end));
    EXPECT_TRUE(shard.speakers.begin()->second.cut) << end;
  }
  for (const std::string_view end : {"done", "[x", ""}) {
    const Shard shard = read_text(std::string(kWhole) + std::string(end));
    EXPECT_FALSE(shard.speakers.begin()->second.cut) << end;
  }
}

TEST(TearGuard, APrefixWithNothingBehindItIsNoBeginningOfARecord) {
  for (const std::string_view prefix : {"[1,3]<stdout>:", "3: ", "node1: ", "[default3]:"}) {
    const std::string whole(prefix);
    const Shard shard = read_text(whole + "node-a:41:41 [0] NCCL INFO Using network IB\n" + whole +
                                  "node-b:52:52 [1] NCCL INFO Using network IB\n" + whole);
    for (const auto& [speaker, log] : shard.speakers) EXPECT_FALSE(log.cut || log.torn) << prefix;
  }
}

TEST(TearGuard, EveryLineIsCountedOnce) {
  const LossTable losses = read_text(
                               "node-a:41:41 [0] NCCL INFO cudaDriver\n"
                               "Version 13000\n"
                               "node-a:41:41 [0] NCCL INFO cudaDri\n"
                               "node-a:41:41 [0] NCCL INFO xnode-b:52:52 [1] NCCL INFO y\n")
                               .losses;
  EXPECT_EQ(losses.lines, 4u);
  EXPECT_EQ(losses.lines,
            losses.recognised + losses.unrecognised + losses.foreign + losses.unreadable);
}

}  // namespace

}  // namespace ncclog
