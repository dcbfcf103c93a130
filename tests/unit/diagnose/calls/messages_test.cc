#include "diagnose/calls/messages.h"

#include <gtest/gtest.h>

#include "diagnose/calls/diverged.h"
#include "diagnose/calls/rank_programs.h"
#include "model/derive/build_job.h"
#include "support/call_log.h"
#include "support/fact_of.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::fact_of;
using testing::guilty_answer;

constexpr std::string_view kMessages = "job.messages_unmatched";

/// Two stages of two ranks: 0 sends to 2, and 1 to 3.
CallLog two_stages() {
  CallLog log;
  for (int rank = 0; rank < 4; ++rank) {
    log.init(rank, 4, 1).init(rank, 2, static_cast<uint64_t>(2 + rank % 2), rank / 2);
  }
  return log;
}

/// The step in which a rank leaves a message out.
struct Skipped {
  int rank = -1;
  int step = -1;
};

/// Forth, back and an AllReduce; `without`: the first of the two messages.
void add_step(CallLog& log, int rank, bool without = false) {
  const auto pair = static_cast<uint64_t>(2 + rank % 2);
  const bool first = rank < 2;
  const int peer = first ? 1 : 0;
  if (!without) log.call(rank, pair, first ? "Send" : "Recv", 8, peer);
  log.call(rank, pair, first ? "Recv" : "Send", 8, peer).call(rank, 1);
}

/// So many steps, one of them without a message; all wait at the end.
CallLog steps(int count, Skipped skipped) {
  CallLog log = two_stages();
  for (int step = 0; step < count; ++step) {
    for (int rank = 0; rank < 4; ++rank) {
      add_step(log, rank, rank == skipped.rank && step == skipped.step);
    }
  }
  return log;
}

CallLog& all_time_out(CallLog& log) {
  for (int rank = 0; rank < 4; ++rank) log.timeout(rank, 9);
  return log;
}

TEST(MessageBalance, IsLostWhereBothEndsWentOn) {
  const Job job = job_from_text(steps(6, {3, 4}).text());
  const std::vector<OutOfStep>& all = messages_out_of_step(job);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].sent, 5u);
  EXPECT_EQ(all[0].received, 4u);
  EXPECT_EQ(all[0].index, 4u);
}

TEST(MessageBalance, IsNotKnownBeforeBothWentOn) {
  CallLog log = steps(5, {});
  add_step(log, 3, true);
  log.call(1, 3, "Send", 8, 1);
  EXPECT_TRUE(messages_out_of_step(job_from_text(log.text())).empty());
}

TEST(MessageBalance, IsNotExpectedWhereMessagesCrossCallsAllTheTime) {
  CallLog log = two_stages();
  for (int step = 0; step < 6; ++step) {
    log.call(0, 2, "Send", 8, 1).call(0, 1).call(2, 1).call(2, 2, "Recv", 8, 0);
    log.call(1, 1).call(3, 1);
  }
  EXPECT_TRUE(messages_out_of_step(job_from_text(log.text())).empty());
}

/// Later messages make up the count, so that at the end another end seems to owe one.
TEST(MessageBalance, TellsWhoLeftAMessageOutThatLaterOnesHide) {
  CallLog log = steps(6, {3, 4});
  log.call(3, 3, "Recv", 8, 0);
  EXPECT_EQ(guilty_answer(kMessages, all_time_out(log).text()), "yes 3");
  EXPECT_EQ(fact_of(kMessages, log.text()).what.substr(0, 128),
            "when both entered call 5 of communicator 0x1 (4 ranks), rank 1 had sent 5 messages to "
            "rank 3, which had received 4; rank 3 (n3, ");
}

TEST(MessageBalance, TellsItAlsoOfAnEarlyStep) {
  CallLog log = steps(12, {1, 3});
  EXPECT_EQ(guilty_answer(kMessages, all_time_out(log).text()), "yes 1");
}

/// Four GPUs of one process, of which the last calls are kept: as rank 3 is a call behind, they
/// begin at different places of a step.
std::string last_calls_of_four_threads() {
  CallLog log = two_stages();
  constexpr int kSteps = 30;
  constexpr int kCalls = 26;  ///< Forth, back, and calls of all.
  for (int call = 0; call < kSteps * kCalls; ++call) {
    for (int rank = 0; rank < 4; ++rank) {
      const auto pair = static_cast<uint64_t>(2 + rank % 2);
      const bool sends = (call % kCalls == 0) == (rank < 2);
      if (call % kCalls < 2) {
        log.call(rank, pair, sends ? "Send" : "Recv", 8, rank < 2 ? 1 : 0);
      } else if (rank != 3 || call + 1 < kSteps * kCalls) {
        log.call(rank, 1);
      }
    }
  }
  std::string text = log.text();
  for (const std::string thread : {"51", "52", "53"}) {
    const std::string head = "n3:" + thread + ":" + thread;
    for (size_t at = text.find(head); at != std::string::npos; at = text.find(head, at)) {
      text.replace(at, head.size(), "n3:50:" + thread);
    }
  }
  return text;
}

TEST(MessageBalance, TakesNoProgramThatBeginsElsewhereForAnother) {
  const Job job = job_from_text(last_calls_of_four_threads());
  EXPECT_EQ(rank_programs(job).size(), 4u);
  EXPECT_TRUE(diverged_from_twins(job).empty());
}

}  // namespace

}  // namespace ncclog
