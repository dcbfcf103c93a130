#include "diagnose/calls/messages.h"

#include <gtest/gtest.h>

#include "diagnose/calls/diverged.h"
#include "diagnose/calls/rank_programs.h"
#include "model/build/build_job.h"
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

/// Rank 2 and rank 3 differ from each other; rank 3 did what it always had done.
TEST(MessageBalance, IsNotNeededWhereOneOfTwoLeftItsPast) {
  CallLog log = steps(5, {});
  add_step(log, 0);
  log.call(1, 3, "Send", 8, 1);
  add_step(log, 2, true);
  log.call(3, 3, "Recv", 8, 0).call(3, 3, "Send", 8, 0);
  EXPECT_EQ(guilty_answer(kMessages, all_time_out(log).text()), "yes 2");
}

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

using testing::CallLog;
using testing::fact_of;
using testing::guilty_answer;
using testing::GuiltyCase;

constexpr std::string_view kSizes = "job.message_sizes_differ";

CallLog sized_inits(int nranks) {
  CallLog log;
  for (int rank = 0; rank < nranks; ++rank) log.init(rank, nranks, 1);
  return log;
}

/// One message with both ends.
CallLog& message(CallLog& log, int from, int to, int64_t sent, int64_t received) {
  log.call(from, 1, "Send", sent, to);
  return log.call(to, 1, "Recv", received, from);
}

/// Every rank sends to all others; `odd` sends its splits to two of them in another way.
std::string exchange_with_odd(int nranks, int odd, int before) {
  CallLog log = sized_inits(nranks);
  for (int step = 0; step <= before; ++step) {
    for (int from = 0; from < nranks; ++from) {
      for (int to = 0; to < nranks; ++to) {
        if (from == to) continue;
        const bool is_odd = from == odd && step == before;
        const int64_t sent = !is_odd ? 200 : to % 2 == 0 ? 300 : 100;
        message(log, from, to, sent, 200);
      }
    }
  }
  return log.text();
}

std::string pair_of(std::initializer_list<std::pair<int, int>> sizes) {
  CallLog log = sized_inits(2);
  for (const auto& [sent, received] : sizes) message(log, 0, 1, sent, received);
  return log.text();
}

TEST(MessageSizes, NameTheRankThatAllDifferingPairsShare) {
  EXPECT_EQ(guilty_answer(kSizes, exchange_with_odd(4, 1, 2)), "yes 1");
  EXPECT_EQ(guilty_answer(kSizes, exchange_with_odd(4, 3, 0)), "yes 3");
}

/// Where nothing tells which end is wrong, the pair is named.
TEST(MessageSizes, OfOnePairNameWhoLeftTheSizeThatBothUsed) {
  const GuiltyCase cases[] = {
      {"the sender did", kSizes, pair_of({{8, 8}, {8, 8}, {8, 8}, {6, 8}}), "yes 0"},
      {"the receiver did", kSizes, pair_of({{8, 8}, {8, 8}, {8, 8}, {8, 6}}), "yes 1"},
      {"both did", kSizes, pair_of({{8, 8}, {8, 8}, {8, 8}, {6, 4}}), "yes 0,1"},
      {"there are too few", kSizes, pair_of({{8, 8}, {8, 6}}), "yes 0,1"},
      {"the sizes always changed", kSizes, pair_of({{8, 8}, {7, 7}, {6, 6}, {8, 6}}), "yes 0,1"},
      {"all agree", kSizes, pair_of({{8, 8}, {7, 7}}), "unknown"},
  };
  for (const GuiltyCase& test : cases) {
    EXPECT_EQ(guilty_answer(test.fact, test.log), test.answer) << test.what;
  }
}

TEST(MessageSizes, CompareBytesAndNotElements) {
  CallLog log = sized_inits(2);
  log.call(0, 1, "Send", 8, 1, 7).call(1, 1, "Recv", 16, 0, 9);
  EXPECT_EQ(guilty_answer(kSizes, log.text()), "unknown");
}

TEST(MessageSizes, TakeALeftOutMessageForNoOtherSize) {
  CallLog skipped = sized_inits(2);
  for (const int size : {8, 4, 2}) skipped.call(1, 1, "Recv", size, 0);
  for (const int size : {8, 2}) skipped.call(0, 1, "Send", size, 1);
  EXPECT_EQ(guilty_answer(kSizes, skipped.text()), "unknown");
  // A size that the receiver never had is no shift.
  CallLog cut = sized_inits(2);
  for (const int size : {8, 8, 8, 8}) cut.call(1, 1, "Recv", size, 0);
  for (const int size : {8, 8, 6}) cut.call(0, 1, "Send", size, 1);
  EXPECT_EQ(guilty_answer(kSizes, cut.text()), "yes 0,1");
}

/// Rank 0 sent `more` times more than rank 1 received, and its message `odd` in another size.
std::string ahead(int received, int more, int odd) {
  CallLog log = sized_inits(2);
  for (int i = 0; i < received + more; ++i) {
    log.call(0, 1, "Send", i == odd ? 16 : 8, 1);
    if (i < received) log.call(1, 1, "Recv", 8, 0);
  }
  return log.text();
}

TEST(MessageSizes, TellASizeThatTheOtherEndCameTo) {
  const GuiltyCase cases[] = {
      {"the sender ran ahead behind it", kSizes, ahead(5, 1, 4), "yes 0"},
      {"by several messages", kSizes, ahead(5, 3, 2), "yes 0"},
      {"nobody has come to it", kSizes, ahead(5, 1, 5), "unknown"},
      {"nobody has come to the first of them", kSizes, ahead(5, 3, 5), "unknown"},
  };
  for (const GuiltyCase& test : cases) {
    EXPECT_EQ(guilty_answer(test.fact, test.log), test.answer) << test.what;
  }
  EXPECT_EQ(fact_of(kSizes, ahead(5, 1, 4)).what.substr(0, 85),
            "rank 0 sends 16 float32 to rank 1, which receives 8 float32 (message 5 between them)");
}

/// As many were sent as received, but the fourth Recv was left out: those behind it meet others.
TEST(MessageSizes, AreNotThoseOfMessagesThatWentOutOfStep) {
  CallLog log = sized_inits(2);
  for (int step = 0; step < 6; ++step) {
    const int size = 8 << step % 3;
    if (step < 5) log.call(0, 1, "Send", size, 1);
    if (step != 3) log.call(1, 1, "Recv", size, 0);
    if (step < 5) log.call(0, 1).call(1, 1);
  }
  EXPECT_EQ(guilty_answer(kSizes, log.text()), "unknown");
}

TEST(MessageSizes, SayWhoSendsWhatToWhom) {
  EXPECT_EQ(fact_of(kSizes, pair_of({{8, 8}, {6, 8}})).what,
            "rank 0 sends 6 float32 to rank 1, which receives 8 float32 (message 2 between them)");
  EXPECT_EQ(fact_of(kSizes, pair_of({{8, 8}, {6, 8}, {6, 8}})).what,
            "rank 0 sends 6 float32 to rank 1, which receives 8 float32");
  EXPECT_EQ(fact_of(kSizes, pair_of({{8, 8}, {6, 4}, {4, 6}})).what,
            "not all messages from rank 0 to rank 1 are sent and received in one size");
}

}  // namespace

}  // namespace ncclog
