#include <gtest/gtest.h>

#include "support/call_log.h"
#include "support/fact_of.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::fact_of;
using testing::guilty_answer;
using testing::GuiltyCase;

constexpr std::string_view kSizes = "job.message_sizes_differ";

CallLog inits(int nranks) {
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
  CallLog log = inits(nranks);
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
  CallLog log = inits(2);
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
  CallLog log = inits(2);
  log.call(0, 1, "Send", 8, 1, 7).call(1, 1, "Recv", 16, 0, 9);
  EXPECT_EQ(guilty_answer(kSizes, log.text()), "unknown");
}

TEST(MessageSizes, TakeALeftOutMessageForNoOtherSize) {
  CallLog skipped = inits(2);
  for (const int size : {8, 4, 2}) skipped.call(1, 1, "Recv", size, 0);
  for (const int size : {8, 2}) skipped.call(0, 1, "Send", size, 1);
  EXPECT_EQ(guilty_answer(kSizes, skipped.text()), "unknown");
  // A size that the receiver never had is no shift.
  CallLog cut = inits(2);
  for (const int size : {8, 8, 8, 8}) cut.call(1, 1, "Recv", size, 0);
  for (const int size : {8, 8, 6}) cut.call(0, 1, "Send", size, 1);
  EXPECT_EQ(guilty_answer(kSizes, cut.text()), "yes 0,1");
}

/// Rank 0 sent `more` times more than rank 1 received, and its message `odd` in another size.
std::string ahead(int received, int more, int odd) {
  CallLog log = inits(2);
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
  CallLog log = inits(2);
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
