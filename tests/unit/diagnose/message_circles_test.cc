#include <gtest/gtest.h>

#include "support/call_log.h"
#include "support/fact_of.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::fact_of;
using testing::guilty_answer;

constexpr std::string_view kCircle = "job.messages_in_circle";

CallLog inits(int nranks) {
  CallLog log;
  for (int rank = 0; rank < nranks; ++rank) log.init(rank, nranks, 1);
  return log;
}

/// Each rank posts its Send to the next one before its Recv from the one before.
CallLog ring(int nranks) {
  CallLog log = inits(nranks);
  for (int rank = 0; rank < nranks; ++rank) {
    log.call(rank, 1, "Send", 512, (rank + 1) % nranks);
    log.call(rank, 1, "Recv", 512, (rank + nranks - 1) % nranks);
  }
  return log;
}

CallLog& all_time_out(CallLog& log, int nranks, std::string_view op) {
  for (int rank = 0; rank < nranks; ++rank) log.timeout(rank, 1, op);
  return log;
}

TEST(MessageCircles, NameAllRanksOfTheCircle) {
  CallLog log = ring(4);
  all_time_out(log, 4, "SEND");
  EXPECT_EQ(guilty_answer(kCircle, log.text()), "yes 0-3");
  EXPECT_EQ(fact_of(kCircle, log.text()).what,
            "rank 0 → rank 1 → rank 2 → rank 3 → rank 0 wait in a circle, each for a call that the "
            "next one makes only behind its own: rank 0 waits in its Send number 1 to rank 1");
}

TEST(MessageCircles, DoNotHoldWhereOneRankReceivesFirst) {
  CallLog log = inits(2);
  log.call(0, 1, "Send", 512, 1).call(0, 1, "Recv", 512, 1);
  log.call(1, 1, "Recv", 512, 0).call(1, 1, "Send", 512, 0);
  log.timeout(0, 1, "SEND").timeout(1, 1, "RECV");
  EXPECT_EQ(guilty_answer(kCircle, log.text()), "unknown");
}

TEST(MessageCircles, DoNotHoldWhereARankOfTheRingDidNotGiveUp) {
  CallLog log = ring(4);
  for (const int rank : {0, 1, 3}) log.timeout(rank, 1, "SEND");
  EXPECT_EQ(guilty_answer(kCircle, log.text()), "unknown");
}

TEST(MessageCircles, DoNotHoldForAGroup) {
  CallLog log = ring(4);
  all_time_out(log, 4, "COALESCED");
  EXPECT_EQ(guilty_answer(kCircle, log.text()), "unknown");
}

TEST(MessageCircles, HoldWhereHostsWaitBeforeTheyPostTheOtherEnd) {
  CallLog log = inits(3);
  for (int rank = 0; rank < 3; ++rank) log.call(rank, 1, "Send", 512, (rank + 1) % 3);
  all_time_out(log, 3, "SEND");
  EXPECT_EQ(guilty_answer(kCircle, log.text()), "yes 0-2");
}

/// Three times there and three times back in each step, and then without a Recv of rank 1.
TEST(MessageCircles, DoNotHoldWhereOneRankLeftAMessageOut) {
  CallLog log = inits(2);
  for (int step = 0; step < 5; ++step) {
    const int received = step < 4 ? 3 : 2;
    for (int i = 0; i < 3; ++i) log.call(0, 1, "Send", 512, 1);
    for (int i = 0; i < received; ++i) log.call(1, 1, "Recv", 512, 0);
    for (int i = 0; i < 3; ++i) log.call(1, 1, "Send", 512, 0);
    if (step < 4) {
      for (int i = 0; i < 3; ++i) log.call(0, 1, "Recv", 512, 1);
      log.call(0, 1).call(1, 1);
    }
  }
  log.timeout(0, 27, "SEND").timeout(1, 27, "SEND");
  EXPECT_EQ(guilty_answer(kCircle, log.text()), "unknown");
}

/// The same where both had gone on since: rank 1 left its first Recv out.
TEST(MessageCircles, DoNotHoldWhereMessagesWentOutOfStep) {
  CallLog log = inits(2);
  for (int step = 0; step < 4; ++step) {
    log.call(0, 1, "Send", 512, 1).call(0, 1, "Recv", 512, 1).call(0, 1).call(0, 1);
    if (step < 3) log.call(1, 1, "Recv", 512, 0);
    log.call(1, 1, "Send", 512, 0).call(1, 1).call(1, 1);
  }
  log.timeout(0, 7, "SEND").timeout(1, 7, "SEND");
  EXPECT_EQ(guilty_answer(kCircle, log.text()), "unknown");
}

TEST(MessageCircles, NeedNoLinesOfCallsWhereEveryRankGaveUpOnASend) {
  CallLog log = inits(4);
  all_time_out(log, 4, "SEND");
  EXPECT_EQ(guilty_answer(kCircle, log.text()), "yes 0-3");
  CallLog three = inits(4);
  all_time_out(three, 3, "SEND");
  EXPECT_EQ(guilty_answer(kCircle, three.text()), "unknown");
  // On communicators of two ranks messages run on streams of their own.
  CallLog pairs = inits(4);
  pairs.init(0, 2, 2, 0).init(1, 2, 2, 1);
  all_time_out(pairs, 4, "SEND");
  EXPECT_EQ(guilty_answer(kCircle, pairs.text()), "unknown");
}

}  // namespace
}  // namespace ncclog
