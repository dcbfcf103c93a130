#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "diagnose/facts/fact.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/stop_evidence.h"
#include "model/build/build_job.h"
#include "support/call_log.h"
#include "support/empty_split.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::fact_of;
using testing::guilty_answer;
using testing::GuiltyCase;

constexpr std::string_view kMissing = "job.rank_missing_in_collective";
constexpr std::string_view kBehind = "job.rank_behind";
constexpr std::string_view kCircle = "job.collective_order_inverted";
constexpr std::string_view kMessages = "job.messages_unmatched";
constexpr std::string_view kAllEntered = "job.collectives_all_entered";

/// As PyTorch 2.0 prints it: the rank is that in some group.
constexpr std::string_view kUnnamedTimeout =
    "[E ProcessGroupNCCL.cpp:828] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600011 milliseconds before "
    "timing out.";

/// `nranks` ranks that made one call together.
CallLog world(int nranks) {
  CallLog log;
  for (int rank = 0; rank < nranks; ++rank) log.init(rank, nranks, 1);
  for (int rank = 0; rank < nranks; ++rank) log.call(rank, 1);
  return log;
}

/// Two ranks with two communicators, after `loops` times a call on both.
CallLog two_communicators(int loops) {
  CallLog log;
  for (int rank = 0; rank < 2; ++rank) log.init(rank, 2, 1).init(rank, 2, 2);
  for (int i = 0; i < loops; ++i) {
    for (int rank = 0; rank < 2; ++rank) log.call(rank, 1).call(rank, 2);
  }
  return log;
}

/// Two ranks with two communicators, after `length` calls on the first one.
CallLog with_run(int length) {
  CallLog log = two_communicators(1);
  for (int i = 0; i < length; ++i) log.call(0, 1).call(1, 1);
  return log;
}

/// Four ranks that made one call together, and two of them one on a communicator of their own.
CallLog world_with_pair() {
  CallLog log = world(4);
  log.init(0, 2, 2, 0).init(1, 2, 2, 1).call(0, 2).call(1, 2);
  return log;
}

constexpr int kManyRanks = 300;  ///< More peers than a rank's messages are counted for.

/// Rank 0 receives from all others, which then call an AllReduce; rank 150 has not sent.
CallLog gather_without_one() {
  CallLog log;
  for (int rank = 0; rank < kManyRanks; ++rank) log.init(rank, kManyRanks, 1);
  for (int rank = 1; rank < kManyRanks; ++rank) {
    log.call(0, 1, "Recv", 8, rank).call(rank, 1);
    if (rank != 150) log.call(rank, 1, "Send", 8, 0);
  }
  return log;
}

/// Rank 5 sends to all others and then calls an AllReduce with them, but not the third time.
CallLog hub_without_call() {
  CallLog log;
  for (int rank = 0; rank < kManyRanks; ++rank) log.init(rank, kManyRanks, 1);
  for (int i = 0; i < 3; ++i) {
    for (int rank = 0; rank < kManyRanks; ++rank) {
      if (rank != 5) log.call(5, 1, "Send", 8, rank).call(rank, 1, "Recv", 8, 5);
    }
    for (int rank = 0; rank < kManyRanks; ++rank) {
      if (i < 2 || rank != 5) log.call(rank, 1);
    }
  }
  return log;
}

/// Three stages of a pipeline after five iterations; in the sixth rank 1 sends nothing to rank 2.
CallLog without_send() {
  CallLog log = world(3);
  for (int i = 0; i < 6; ++i) {
    log.call(0, 1, "Send", 8, 1).call(1, 1, "Recv", 8, 0);
    if (i < 5) log.call(1, 1, "Send", 8, 2);
    log.call(2, 1, "Recv", 8, 1).call(0, 1).call(1, 1);
    if (i < 5) log.call(2, 1);
  }
  return log;
}

/// Rank 2, which owes rank 1 a message, has no lines of NCCL; rank 1 did not come to its pair's
/// call.
CallLog without_sender() {
  CallLog log;
  for (int rank = 0; rank < 2; ++rank) log.init(rank, 3, 1).init(rank, 2, 2);
  for (int rank = 0; rank < 2; ++rank) log.call(rank, 2);
  log.call(1, 1, "Recv", 8, 2).call(0, 2).timeout(0, 2);
  return log;
}

/// Rank 2 of 3 has no lines of NCCL, and rank 1 did not make the second call.
CallLog without_rank_2() {
  CallLog log;
  log.init(0, 3, 1).init(1, 3, 1).call(0, 1).call(1, 1).call(0, 1).timeout(0, 2);
  return log;
}

/// Rank 0 sends eight times, its peer received five of them.
CallLog with_sends_ahead() {
  CallLog log = world(2);
  for (int i = 0; i < 8; ++i) log.call(0, 1, "Send", 64, 1);
  for (int i = 0; i < 5; ++i) log.call(1, 1, "Recv", 64, 0);
  return log.timeout(0, 6, "SEND");
}

/// Ranks 0 and 1 send to ranks 2 and 3, which compute together in calls that no line shows: rank 3
/// came to its second Recv, and rank 2 to its third one.
CallLog sends_to_group() {
  CallLog log = world(4);
  for (int rank = 0; rank < 4; ++rank) {
    log.init(rank, 2, static_cast<uint64_t>(2 + rank % 2), rank / 2);
  }
  log.init(2, 2, 4, 0).init(3, 2, 4, 1).call(2, 4).call(3, 4);
  for (int i = 0; i < 4; ++i) log.call(0, 2, "Send", 8, 1).call(1, 3, "Send", 8, 1);
  for (int i = 0; i < 3; ++i) log.call(2, 2, "Recv", 8, 0);
  return log.call(3, 3, "Recv", 8, 0).call(3, 3, "Recv", 8, 0);
}

/// The logs of three ranks that made the same calls; only rank 1's has its watchdog.
std::string one_behind_the_other() {
  CallLog log;
  for (int rank = 0; rank < 3; ++rank) {
    log.init(rank, 3, 1).call(rank, 1).call(rank, 1);
    if (rank == 1) log.timeout(1, 2);
  }
  return log.text();
}

/// A Send from rank 0 to rank 1, and two calls of all; in the third step rank 0 leaves out the
/// second of these and sends again.
CallLog step_without_call() {
  CallLog log;
  for (int rank = 0; rank < 4; ++rank) log.init(rank, 4, 1);
  for (int step = 0; step < 3; ++step) {
    log.call(0, 1, "Send", 8, 1).call(1, 1, "Recv", 8, 0);
    for (int rank = 0; rank < 4; ++rank) {
      log.call(rank, 1, "AllReduce", 1);
      if (rank > 0 || step < 2) log.call(rank, 1, "AllReduce", 2);
    }
  }
  log.call(0, 1, "Send", 8, 1).timeout(0, 4, "SEND");
  for (int rank = 1; rank < 4; ++rank) log.timeout(rank, 6);
  return log;
}

std::vector<GuiltyCase> cases() {
  return {
      {"who did not enter is named where somebody waited until a limit", kMissing,
       world(3).call(0, 1).call(2, 1).timeout(0, 2).text(), "yes 1"},
      {"without such a sign nobody is named", kMissing, world(3).call(0, 1).call(2, 1).text(),
       "unknown"},
      {"but it is told who was behind", kBehind, world(3).call(0, 1).call(2, 1).text(), "yes 1"},
      {"nobody is behind where all made the same calls", kBehind, world(3).text(), "unknown"},
      {"a rank whose own watchdog fired waits in a call that it entered", kMissing,
       world(3).call(0, 1).call(2, 1).timeout(0, 2).timeout(1, 1).text(), "unknown"},
      {"where most are behind, nobody says that they are to blame", kMissing,
       world(4).call(0, 1).timeout(0, 2).text(), "unknown"},
      {"nor is who waits alone, however many the others are", kMissing,
       world(6).call(0, 1).timeout(0, 2).text(), "unknown"},
      {"who entered only when the others had given up came too late", kMissing,
       world(3).call(0, 1).call(2, 1).timeout(0, 2).timeout(2, 2).call(1, 1).text(), "yes 1"},
      {"files that were put one behind the other have no order", kMissing, one_behind_the_other(),
       "unknown"},
      {"one that is behind because it waits elsewhere is no reason for silence", kMissing,
       world_with_pair().call(0, 2).call(2, 1).call(3, 1).timeout(0, 2).timeout(2, 2).text(),
       "yes 1"},
      {"a rank that waits in an initialisation is not late", kMissing,
       world(3)
           .call(0, 1)
           .call(2, 1)
           .line("n3:51:51 [1] NCCL INFO ncclCommInitRank comm 0x99 rank 0 nranks 2 cudaDev 1 "
                 "nvmlDev 1 busId 2000 commId 0x9 - Init START")
           .timeout(0, 2)
           .text(),
       "unknown"},
      {"an unknown rank whose watchdog fired waits", kMissing,
       without_rank_2().timeout(2, 2).text(), "yes 1"},
      {"any other unknown rank may be the one", kMissing, without_rank_2().text(), "unknown"},
      {"calls of two communicators swapped by one, all entered", kCircle,
       world_with_pair()
           .init(2, 2, 3, 0)
           .init(3, 2, 3, 1)
           .call(2, 3)
           .call(3, 3)
           .call(0, 1)
           .call(0, 2)
           .call(2, 1)
           .call(2, 3)
           .call(3, 1)
           .call(3, 3)
           .call(1, 2)
           .call(1, 1)
           .timeout(0, 2)
           .timeout(1, 2)
           .text(),
       "yes 1"},
      {"one against one, swapped: nobody is named", kCircle,
       two_communicators(1).call(0, 1).call(0, 2).call(1, 2).call(1, 1).timeout(0, 2).text(),
       "yes"},
      {"nor is that a stall of all that entered the same", kAllEntered,
       two_communicators(1).call(0, 1).call(0, 2).call(1, 2).call(1, 1).timeout(0, 2).text(),
       "unknown"},
      {"a circle is a circle", kCircle,
       two_communicators(1).call(0, 1).call(1, 2).timeout(0, 2).timeout(1, 2).text(), "yes"},
      {"of a circle the rank that diverges from its past is named", kCircle,
       two_communicators(12).call(0, 1).call(1, 2).timeout(0, 13).timeout(1, 13).text(), "yes 1"},
      {"a run of one call that ends is no divergence", kCircle,
       with_run(10).call(0, 1).call(1, 2).timeout(0, 13).timeout(1, 13).text(), "yes"},
      {"a Send without Recv names the rank that waits for nobody", kMessages,
       world(2).call(0, 1, "Send", 512, 1).timeout(0, 2, "SEND").text(), "yes 1"},
      {"a rank that left out what it always sent is named, and not who waits for it", kMessages,
       without_send().timeout(0, 7).timeout(1, 7).timeout(2, 6, "RECV").text(), "yes 1"},
      {"nor does that rank hold up the collective", kMissing, without_send().timeout(0, 7).text(),
       "unknown"},
      {"a message that once was not needed was not left out by who waits for somebody else",
       kMessages, testing::empty_split().text(), "yes 5"},
      {"nor does it hide who is awaited", kMissing, testing::empty_split().text(), "yes 5"},
      {"of many peers, too, who waits for a message is not late", kMissing,
       gather_without_one().timeout(1, 1).text(), "unknown"},
      {"and who owes it is known", kMessages, gather_without_one().timeout(1, 1).text(),
       "yes 0,150"},
      {"messages with many peers hide nobody", kMissing, hub_without_call().timeout(0, 3).text(),
       "yes 5"},
      {"whoever may wait for a message of an unknown rank is not late", kMissing,
       without_sender().text(), "unknown"},
      {"a message owed by who waits for another one is no news", kMessages,
       world(3)
           .call(0, 1, "Recv", 8, 1)
           .call(1, 1, "Recv", 8, 2)
           .timeout(0, 2, "RECV")
           .timeout(1, 2, "RECV")
           .text(),
       "yes 2"},
      {"two that wait for each other's messages", kMessages,
       world(2)
           .call(0, 1, "Send", 8, 1)
           .call(1, 1, "Send", 8, 0)
           .timeout(0, 2, "SEND")
           .timeout(1, 2, "SEND")
           .text(),
       "yes 0,1"},
      {"beside somebody else who is late, neither end of a message is named", kMessages,
       world_with_pair()
           .init(2, 2, 3, 0)
           .init(3, 2, 3, 1)
           .call(0, 2, "Send", 8, 1)
           .call(2, 3)
           .line(kUnnamedTimeout)
           .text(),
       "yes"},
      {"a watchdog tells of several that they do not wait", kMessages,
       sends_to_group().timeout(0, 4, "SEND").timeout(1, 4, "SEND").text(), "yes 2,3"},
      {"messages and a collective in a circle are no inversion of collectives", kCircle,
       two_communicators(1)
           .call(0, 1)
           .call(0, 2)
           .call(1, 1, "Recv", 8, 0)
           .timeout(0, 2)
           .timeout(1, 2)
           .text(),
       "unknown"},
      {"messages whose other ends are not covered may be the ones", kAllEntered,
       CallLog()
           .init(0, 2, 1)
           .init(1, 2, 1)
           .call(0, 1)
           .call(1, 1)
           .size(9, 2)
           .call(0, 9, "Recv", 8, 1)
           .timeout(0, 1)
           .text(),
       "unknown"},
      {"a rank that has not received", kMessages, with_sends_ahead().text(), "yes 1"},
      {"one that waits itself, in a message that both made, may not have come to it", kMessages,
       with_sends_ahead().timeout(1, 6, "RECV").text(), "unknown"},
      {"who left out a call of all sends too early, and who waits in it owes nothing", kMessages,
       step_without_call().text(), "yes"},
      {"a message to oneself that lacks its end tells whose fault the others are", kMessages,
       world(2)
           .call(0, 1, "Send", 8, 1)
           .call(0, 1, "Recv", 8, 1)
           .call(1, 1, "Send", 8, 1)
           .timeout(0, 2, "SEND")
           .timeout(1, 2, "SEND")
           .text(),
       "yes 1"},
      {"messages that match are no news", kMessages,
       world(2).call(0, 1, "Send", 512, 1).call(1, 1, "Recv", 512, 0).timeout(0, 2, "SEND").text(),
       "unknown"},
      {"all entered and a watchdog fired", kAllEntered, world(3).timeout(0, 1).text(), "yes"},
      {"not where a rank is unknown", kAllEntered,
       CallLog().init(0, 3, 1).init(1, 3, 1).call(0, 1).call(1, 1).timeout(0, 1).text(), "unknown"},
      {"not where one is behind", kAllEntered, world(3).call(0, 1).timeout(0, 2).text(), "unknown"},
  };
}

TEST(HangFacts, NameWhoHoldsTheJobUpAndNobodyElse) {
  for (const GuiltyCase& one : cases()) {
    EXPECT_EQ(guilty_answer(one.fact, one.log), one.answer) << one.what << "\n" << one.log;
  }
}

TEST(HangFacts, WithoutAWatchdogWhoMayWaitForARankBesideItIsNotNamed) {
  Job job = job_from_text(sends_to_group().text());
  job.stated = StatedOutcome::Hung;
  const FactValue value = find_fact(kMessages)->derive(job, job_instance(job));
  ASSERT_EQ(value.processes.size(), 1u);
  EXPECT_EQ(job.processes[static_cast<size_t>(value.processes[0])].rank, 3);
}

TEST(HangFacts, ARankThatCameAfterTheLimitIsNamedWhereLinesCarryTimes) {
  CallLog log;
  log.stamp("[2026-02-03 04:05:06] ");
  for (int rank = 0; rank < 3; ++rank) log.init(rank, 3, 1);
  log.call(0, 1).call(2, 1);
  log.stamp("[2026-02-03 04:16:06] ").call(1, 1).timeout(0, 1);
  EXPECT_EQ(guilty_answer(kMissing, log.text()), "yes 1");
  EXPECT_EQ(guilty_answer(kAllEntered, log.text()), "unknown");
  EXPECT_NE(fact_of(kMissing, log.text()).what.find("660 s after the others"), std::string::npos);
}

TEST(HangFacts, ARankThatCallsOnAfterItsOwnWatchdogWaitedLikeTheOthers) {
  CallLog log;
  log.stamp("[2026-02-03 04:05:06] ");
  for (int rank = 0; rank < 3; ++rank) log.init(rank, 3, 1);
  for (int rank = 0; rank < 3; ++rank) log.call(rank, 1);
  log.call(0, 1).call(2, 1).timeout(0, 1).timeout(1, 1).timeout(2, 1);
  log.stamp("[2026-02-03 04:16:06] ").call(1, 1);
  EXPECT_EQ(guilty_answer(kMissing, log.text()), "unknown");
}

TEST(HangFacts, SomeSecondsApartAreNoLateness) {
  CallLog log;
  log.stamp("[2026-02-03 04:05:06] ");
  for (int rank = 0; rank < 3; ++rank) log.init(rank, 3, 1);
  log.call(0, 1).call(2, 1);
  log.stamp("[2026-02-03 04:05:46] ").call(1, 1).timeout(0, 1);
  EXPECT_EQ(guilty_answer(kMissing, log.text()), "unknown");
  EXPECT_EQ(guilty_answer(kAllEntered, log.text()), "yes");
}

TEST(HangFacts, WithoutAWatchdogManyWhoOweMessagesMayWait) {
  const auto blamed = [](int owers) {
    CallLog log = world(2 * owers);
    for (int rank = 0; rank < owers; ++rank) log.call(rank, 1, "Recv", 8, owers + rank);
    Job job = job_from_text(log.text());
    job.stated = StatedOutcome::Hung;
    return find_fact(kMessages)->derive(job, {}).processes.size();
  };
  EXPECT_EQ(blamed(1), 1u);
  EXPECT_EQ(blamed(5), 0u);
}

TEST(HangFacts, SayWhichCallWhereAndWhatTheLateRankDidLast) {
  const CallLog log =
      world(3).call(0, 1, "AllGather", 64).call(2, 1, "AllGather", 64).timeout(0, 2);
  const FactValue value = fact_of(kMissing, log.text());
  EXPECT_EQ(
      value.what,
      "ranks 0,2 entered call 2, AllGather of 64 float32, of communicator 0x1 (3 ranks); rank "
      "1 (n3, pid 51, GPU 1) did not; its last call was AllReduce of 512 float32 (sum) on "
      "communicator 0x1 (3 ranks)");
  EXPECT_EQ(value.communicator, "0x1");
  EXPECT_EQ(value.evidence.size(), 2u);
}

TEST(HangFacts, SayWhatAllEntered) {
  EXPECT_EQ(fact_of(kAllEntered, world(3).timeout(0, 1).text()).what,
            "all 3 ranks of communicator 0x1 (3 ranks) made the same call");
  EXPECT_EQ(fact_of(kAllEntered, world(2).call(0, 1).call(1, 1).timeout(0, 2).text()).what,
            "all 2 ranks of communicator 0x1 (2 ranks) made the same 2 calls");
  CallLog messages = world(2);
  messages.call(0, 1, "Send", 8, 1).call(1, 1, "Recv", 8, 0);
  EXPECT_EQ(fact_of(kAllEntered, CallLog(messages).timeout(0, 2).text()).what,
            "all 2 ranks of communicator 0x1 (2 ranks) made the same collective, and the only "
            "message between ranks has both ends");
  CallLog pipeline;
  pipeline.init(0, 2, 1).init(1, 2, 1);
  for (int i = 0; i < 3; ++i) pipeline.call(0, 1, "Send", 8, 1).call(1, 1, "Recv", 8, 0);
  EXPECT_EQ(fact_of(kAllEntered, CallLog(pipeline).timeout(0, 3).text()).what,
            "all 3 messages between ranks have both ends");
  EXPECT_EQ(guilty_answer(kAllEntered, CallLog().init(0, 2, 1).init(1, 2, 1).timeout(0, 1).text()),
            "unknown");
}

TEST(HangFacts, SayWhichMessageIsMissingAndWhatWasCalledInstead) {
  const FactValue value = fact_of(kMessages, without_send().timeout(0, 7).text());
  EXPECT_EQ(
      value.what,
      "rank 1 has no Send to rank 2 that matches Recv number 6 of rank 2; rank 1 (n3, pid 51, "
      "GPU 1) called AllReduce where it had always called Send to rank 2");
  EXPECT_EQ(value.communicator, "0x1");
}

TEST(HangFacts, ShowWhatBothEndsOfAMissingMessageCalledLast) {
  const CallLog log = without_send();
  const auto line_of_last = [&](std::string_view begin) {
    const size_t at = log.text().rfind(begin);
    return static_cast<uint64_t>(std::count(log.text().begin(), log.text().begin() + at, '\n')) + 1;
  };
  const FactValue value = fact_of(kMessages, without_send().timeout(0, 7).text());
  ASSERT_EQ(value.evidence.size(), 2u);
  EXPECT_EQ(value.evidence[0].where.line, line_of_last("n3:52:52 [2] NCCL INFO Recv"));
  EXPECT_EQ(value.evidence[1].where.line, line_of_last("n3:51:51 [1] NCCL INFO AllReduce"));
}

TEST(HangFacts, SayThatOnlySomeMessagesDifferInSize) {
  CallLog log = world(2);
  log.call(0, 1, "Send", 64, 1).call(1, 1, "Recv", 64, 0);
  log.call(0, 1, "Send", 64, 1).call(1, 1, "Recv", 128, 0);
  EXPECT_EQ(fact_of(kMessages, log.timeout(0, 3, "SEND").text()).what,
            "of the 2 messages from rank 0 to rank 1, not all were sent and received in one size");
}

std::string line(int rank, std::string_view message) {
  return fmt::format("n1:{}:{} [{}] NCCL INFO {}\n", 70 + rank, 70 + rank, rank, message);
}

std::string init(int rank, std::string_view phase) {
  return line(rank,
              fmt::format("ncclCommInitRank comm 0x5a{} rank {} nranks 3 cudaDev {} nvmlDev {} "
                          "busId 3d000 commId 0x77 - Init {}",
                          rank, rank, rank, rank, phase));
}

std::string up() {
  std::string log;
  for (int rank = 0; rank < 3; ++rank) log += init(rank, "START");
  for (int rank = 0; rank < 3; ++rank) log += init(rank, "COMPLETE");
  return log;
}

std::string call(int rank, int count = 512) {
  return line(rank, fmt::format("AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count {} datatype "
                                "7 op 0 root 0 comm 0x5a{} [nranks=3] stream 0x5",
                                count, rank));
}

std::string end(int rank, std::string_view action) {
  return line(rank, fmt::format("comm 0x5a{} rank {} nranks 3 cudaDev {} busId 3d000 - {} COMPLETE",
                                rank, rank, rank, action));
}

/// The same lines, each with NCCL's stamp.
std::string stamped(std::string_view time, std::string_view lines) {
  std::string result;
  while (!lines.empty()) {
    const size_t end = lines.find('\n') + 1;
    result += fmt::format("[2026-02-03 {}] {}", time, lines.substr(0, end));
    lines.remove_prefix(end);
  }
  return result;
}

std::string step(std::string_view time, int number) {
  return fmt::format("2026-02-03 {} INFO train: step {} loss 8.31\n", time, number);
}

std::string signalled(std::string_view time) {
  return fmt::format(
      "W0203 {} 40 torch/distributed/elastic/agent/server/api.py:739] Received 15 death signal, "
      "shutting down workers\n",
      time);
}

std::string gave_up(int rank) {
  return fmt::format(
      "[rank{}]:[E203 04:05:41.100000000 ProcessGroupNCCL.cpp:689] [Rank {}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=2, OpType=ALLREDUCE, NumelIn=512, "
      "NumelOut=512, Timeout(ms)=20000) ran for 20071 milliseconds before timing out.\n",
      rank, rank);
}

const std::string kSteps =
    step("04:05:06,100", 0) + step("04:05:06,700", 5) + step("04:05:07,300", 10);
const std::string kCancelled =
    "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-02-03T04:35:42 DUE TO TIME LIMIT ***\n";
const std::string kStepCancelled =
    "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-02-03T04:05:30 ***\n"
    "srun: error: n1: tasks 0-2: Terminated\n";
const std::string kUndated =
    " iteration        1/    1000 | consumed samples:         1024 | lm loss: 9.1 |\n";
const std::string kAllCalled = call(0) + call(1) + call(2);
const std::string kTwoCalled = kAllCalled + call(0) + call(2);

struct Row {
  std::string_view name;
  std::string log;
  std::string_view fact;  ///< Of these it is asked whether it is yes.
  bool yes = false;
  std::vector<int> ranks;  ///< Whom it names.
};

const Row kRows[] = {
    {"signal after a silence",
     up() + kSteps + signalled("04:05:29.8"),
     "job.stalled_before_end",
     true,
     {}},
    {"the scheduler, and what it ended",
     up() + kSteps + kStepCancelled,
     "job.stalled_before_end",
     true,
     {}},
    {"six seconds are none",
     up() + kSteps + signalled("04:05:13.3"),
     "job.stalled_before_end",
     false,
     {}},
    {"two printed steps with others between them",
     up() + step("04:05:06,100", 0) + step("04:05:06,700", 5) + signalled("04:05:29.8"),
     "job.stalled_before_end",
     true,
     {}},
    {"signal at work",
     up() + kSteps + signalled("04:05:07.9"),
     "job.stalled_before_end",
     false,
     {}},
    {"it is said to have been at work",
     up() + kSteps + signalled("04:05:07.9"),
     "job.ended_at_work",
     true,
     {}},
    {"steps go on without times",
     up() + kSteps + kUndated + signalled("04:05:29.8"),
     "job.stalled_before_end",
     false,
     {}},
    {"no rhythm is known",
     up() + "2026-02-03 04:05:06,100 INFO train: loading\n" + signalled("04:05:29.8"),
     "job.stalled_before_end",
     false,
     {}},
    {"slow steps",
     up() + step("04:05:00,0", 0) + step("04:05:30,0", 1) + step("04:06:00,0", 2) +
         signalled("04:06:50.0"),
     "job.stalled_before_end",
     false,
     {}},
    {"the scheduler's clock may keep another zone",
     up() + kSteps + kCancelled,
     "job.stalled_before_end",
     false,
     {}},
    {"silence names who is behind",
     up() + kAllCalled + kSteps + call(0) + call(2) + signalled("04:05:29.8"),
     "job.rank_missing_in_collective",
     true,
     {1}},
    {"at work nobody is behind",
     up() + kAllCalled + kSteps + call(0) + call(2) + signalled("04:05:07.9"),
     "job.rank_missing_in_collective",
     false,
     {}},
    {"the log ends", up() + kTwoCalled, "job.ends_at_work", true, {}},
    {"who alone is behind is worth a look", up() + kTwoCalled, "job.rank_behind", true, {1}},
    {"what a scheduler ended, and nobody knows when it last worked",
     up() + kTwoCalled + kStepCancelled,
     "job.ends_at_work",
     true,
     {}},
    {"what a launcher ended by a request",
     up() + kTwoCalled +
         "mpirun noticed that process rank 0 with PID 70 on node n1 exited on signal 15 "
         "(Terminated).\n",
     "job.ends_at_work",
     true,
     {}},
    {"what a scheduler ended at work",
     up() + kSteps + kTwoCalled + signalled("04:05:07.9"),
     "job.ends_at_work",
     false,
     {}},
    {"the scheduler prints whole seconds",
     up() + kTwoCalled + kSteps +
         "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-02-03T04:05:07 ***\n",
     "job.ends_at_work",
     false,
     {}},
    {"steps without times beside calls that have them",
     up() + stamped("04:05:06.1", call(0) + call(1) + call(2)) +
         stamped("04:05:06.7", call(0) + call(1) + call(2)) +
         stamped("04:05:07.3", call(0) + call(1) + call(2)) + kUndated + signalled("04:05:29.8"),
     "job.stalled_before_end",
     true,
     {}},
    {"captured calls are not printed again",
     up() + stamped("04:05:06.1", call(0) + call(1) + call(2)) +
         stamped("04:05:06.7", call(0) + call(1) + call(2)) +
         stamped("04:05:07.3", call(0) + call(1) + call(2)) + kUndated + kUndated + kUndated +
         signalled("04:05:29.8"),
     "job.stalled_before_end",
     false,
     {}},
    {"all entered, and then silence",
     up() + kAllCalled + kSteps + signalled("04:05:29.8"),
     "job.collectives_all_entered",
     true,
     {}},
    {"all entered, and at work",
     up() + kAllCalled + kSteps + signalled("04:05:07.9"),
     "job.collectives_all_entered",
     false,
     {}},
    {"it came to its end",
     up() + kTwoCalled + end(0, "Destroy") + end(1, "Destroy") + end(2, "Destroy"),
     "job.ends_at_work",
     false,
     {}},
    {"own last words",
     up() + kAllCalled + "2026-02-03 04:05:07,5 INFO train[rank 2]: data exhausted, leaving\n" +
         call(0) + call(1) + gave_up(0) + gave_up(1),
     "job.left_early",
     true,
     {2}},
    {"last words of a job that ended well",
     up() + kAllCalled + "2026-02-03 04:05:07,5 INFO train[rank 2]: data exhausted, leaving\n" +
         end(0, "Destroy") + end(1, "Destroy") + end(2, "Destroy"),
     "job.left_early",
     false,
     {}},
    {"two of three were through: the third one goes on too long",
     up() + kAllCalled + end(0, "Destroy") + end(1, "Destroy") + call(2) + gave_up(2),
     "job.left_early",
     false,
     {}},
    {"one of three was through",
     up() + kAllCalled + end(1, "Destroy") + call(0) + call(2) + gave_up(0) + gave_up(2),
     "job.left_early",
     true,
     {1}},
    {"an abort before all others gave up",
     up() + end(1, "Abort") + gave_up(0) + gave_up(2),
     "job.aborted_early",
     true,
     {1}},
    {"aborts after they gave up",
     up() + gave_up(0) + gave_up(1) + gave_up(2) + end(0, "Abort") + end(1, "Abort") +
         end(2, "Abort"),
     "job.aborted_early",
     false,
     {}},
};

std::vector<int> ranks_named(const Job& job, const FactValue& value) {
  std::vector<int> ranks = value.ranks;
  for (const int p : value.processes) ranks.push_back(job.processes[static_cast<size_t>(p)].rank);
  return ranks;
}

TEST(StallFacts, TellHowJobsEndWithoutAWatchdog) {
  for (const Row& row : kRows) {
    const Job job = job_from_text(row.log);
    const FactValue value = find_fact(row.fact)->derive(job, {});
    const bool* yes = std::get_if<bool>(&value.value);
    EXPECT_EQ(yes != nullptr && *yes, row.yes) << row.name;
    if (row.yes) {
      EXPECT_EQ(ranks_named(job, value), row.ranks) << row.name;
    }
  }
}

TEST(StallFacts, WhatTheUserSawDecidesWhereTheLogsEnd) {
  const Job job = job_from_text(up() + kTwoCalled);
  EXPECT_FALSE(stood_still(job));
  Job hung = job;
  hung.stated = StatedOutcome::Hung;
  EXPECT_TRUE(stood_still(hung));
  const FactValue missing = find_fact("job.rank_missing_in_collective")->derive(hung, {});
  EXPECT_EQ(ranks_named(hung, missing), std::vector<int>{1});
  const Job slow = job_from_text(up() + kSteps + signalled("04:05:29.8"));
  EXPECT_TRUE(stood_still(slow));
  for (const StatedOutcome seen :
       {StatedOutcome::Slow, StatedOutcome::Finished, StatedOutcome::Crashed}) {
    Job told = slow;
    told.stated = seen;
    EXPECT_FALSE(stood_still(told)) << to_string(seen);
  }
}

TEST(StallFacts, DurationsAreWordsForPeople) {
  constexpr int64_t kMs = 1'000'000;
  EXPECT_EQ(duration_words(114 * kMs), "0.11 s");
  EXPECT_EQ(duration_words(22'617 * kMs), "22.6 s");
  EXPECT_EQ(duration_words(600'000 * kMs), "10 minutes");
}

}  // namespace

}  // namespace ncclog
