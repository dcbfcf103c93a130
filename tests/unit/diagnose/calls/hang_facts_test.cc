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
constexpr std::string_view kMessages = "job.messages_unmatched";

/// `nranks` ranks that made one call together.
CallLog world(int nranks) {
  CallLog log;
  for (int rank = 0; rank < nranks; ++rank) log.init(rank, nranks, 1);
  for (int rank = 0; rank < nranks; ++rank) log.call(rank, 1);
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

std::vector<GuiltyCase> cases() {
  return {
      {"a message that once was not needed was not left out by who waits for somebody else",
       kMessages, testing::empty_split().text(), "yes 5"},
      {"nor does it hide who is awaited", kMissing, testing::empty_split().text(), "yes 5"},
      {"of many peers, too, who waits for a message is not late", kMissing,
       gather_without_one().timeout(1, 1).text(), "unknown"},
      {"and who owes it is known", kMessages, gather_without_one().timeout(1, 1).text(),
       "yes 0,150"},
      {"messages with many peers hide nobody", kMissing, hub_without_call().timeout(0, 3).text(),
       "yes 5"},
  };
}

TEST(HangFacts, NameWhoHoldsUpALargeJob) {
  for (const GuiltyCase& one : cases()) {
    EXPECT_EQ(guilty_answer(one.fact, one.log), one.answer) << one.what << "\n" << one.log;
  }
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

std::string call(int rank) {
  return line(rank, fmt::format("AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 512 datatype "
                                "7 op 0 root 0 comm 0x5a{} [nranks=3] stream 0x5",
                                rank));
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

const std::string kSteps =
    step("04:05:06,100", 0) + step("04:05:06,700", 5) + step("04:05:07,300", 10);
const std::string kTwoCalled = call(0) + call(1) + call(2) + call(0) + call(2);

TEST(StallFacts, WhatTheUserSawDecidesWhereTheLogsEnd) {
  const Job job = job_from_text(up() + kTwoCalled);
  EXPECT_FALSE(stood_still(job));
  Job hung = job;
  hung.stated = StatedOutcome::Hung;
  EXPECT_TRUE(stood_still(hung));
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
