#include "diagnose/perf/late/late_ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

namespace ncclog {
namespace {

constexpr double kMs = 1000;

/// How late a rank enters a call, in milliseconds.
using LateMs = std::function<double(int rank, int call)>;

/// Durations of ranks of which the last one to enter spends `transfer` in the call.
CallTimes durations(int nranks, int calls, const LateMs& late_ms, double transfer_ms = 10) {
  CallTimes times{.source = "made up", .communicator = "0x5a", .nranks = nranks};
  for (int rank = 0; rank < nranks; ++rank) {
    RankTimes& own = times.ranks.emplace_back();
    own.rank = rank;
    own.host = fmt::format("node{}", rank / 4);
    for (int call = 0; call < calls; ++call) {
      double last = 0;
      for (int other = 0; other < nranks; ++other) last = std::max(last, late_ms(other, call));
      TimedCall& timed = own.calls.emplace_back();
      timed.number = call;
      timed.duration = (transfer_ms + last - late_ms(rank, call)) * kMs;
    }
  }
  return times;
}

/// "rank 3 steady 1.00 20.0 20.0", "node1 each 10 0.10 …", or why nobody is named.
std::string words(const LateVerdict& verdict) {
  std::string text;
  for (const LateParty& party : verdict.late) {
    const std::string how = !party.in_bursts   ? "steady"
                            : party.period > 0 ? fmt::format("each {}", party.period)
                                               : "bursts";
    text += fmt::format("{}{} {} {:.2f} {:.1f} {:.1f}{}", text.empty() ? "" : "; ",
                        party.rank < 0 ? party.host : fmt::format("rank {}", party.rank), how,
                        party.share, party.median_us / kMs, party.p99_us / kMs,
                        party.inside_the_call ? " inside" : "");
  }
  return text;
}

struct LateRow {
  const char* what;
  int nranks;
  int calls;
  LateMs late_ms;
  const char* named;  ///< Empty: nobody.
};

TEST(LateRanks, WhoIsNamedByDurations) {
  const LateRow rows[] = {
      {"a rank in every call", 8, 200, [](int r, int) { return r == 3 ? 20.0 : 0; },
       "rank 3 steady 1.00 20.0 20.0"},
      {"one of two ranks", 2, 200, [](int r, int) { return r == 1 ? 20.0 : 0; },
       "rank 1 steady 1.00 20.0 20.0"},
      {"a rank in each tenth call", 8, 400,
       [](int r, int c) { return r == 3 && c % 10 == 4 ? 50.0 : 0; },
       "rank 3 each 10 0.10 50.0 50.0"},
      {"a host in every call", 8, 200, [](int r, int) { return r / 4 == 1 ? 20.0 : 0; },
       "node1 steady 1.00 20.0 20.0"},
      {"a late host and a later rank of it", 12, 200,
       [](int r, int) { return r == 5       ? 60.0
                               : r / 4 == 1 ? 20.0
                                            : 0; },
       "rank 5 steady 1.00 60.0 60.0; node1 steady 1.00 20.0 20.0"},
      {"from the middle on", 4, 400, [](int r, int c) { return r == 3 && c > 250 ? 20.0 : 0; },
       "rank 3 bursts 0.41 20.0 20.0"},
      {"nobody", 8, 200, [](int, int) { return 0.0; }, ""},
      {"below 5 ms", 8, 200, [](int r, int) { return r == 3 ? 4.0 : 0; }, ""},
      {"too few calls", 8, 99, [](int r, int) { return r == 3 ? 20.0 : 0; }, ""},
      {"the first calls alone", 8, 200, [](int r, int c) { return r == 3 && c < 40 ? 90.0 : 0; },
       ""},
      {"few calls of many", 8, 2000, [](int r, int c) { return r == 3 && c % 100 == 0 ? 90.0 : 0; },
       ""},
      {"one early rank of four", 4, 200, [](int r, int) { return r == 3 ? 0.0 : 20.0; }, ""},
      {"everybody in turn", 4, 400, [](int r, int c) { return c % 4 == r ? 20.0 : 0; }, ""},
  };
  for (const LateRow& row : rows) {
    const LateVerdict verdict = judge_lateness(durations(row.nranks, row.calls, row.late_ms));
    EXPECT_EQ(words(verdict), row.named) << row.what;
    EXPECT_EQ(verdict.why_nobody.empty(), !verdict.late.empty()) << row.what;
    EXPECT_TRUE(verdict.by_durations);
    EXPECT_EQ(verdict.clock_error_us, 0);
  }
}

TEST(LateRanks, AFifthOfALongCallIsNeeded) {
  const LateMs by_15 = [](int rank, int) { return rank == 1 ? 15.0 : 0; };
  EXPECT_EQ(words(judge_lateness(durations(4, 200, by_15, 90))), "");
  EXPECT_NE(words(judge_lateness(durations(4, 200, by_15, 50))), "");
}

// One host leaves each fifth call 30 ms later than the other, and enters the next one as much later.
TEST(LateRanks, LeavingAtAnotherTimeIsNoLateness) {
  CallTimes times = durations(8, 400, [](int, int) { return 0.0; });
  for (RankTimes& rank : times.ranks) {
    const bool is_later = rank.host == "node1";
    for (TimedCall& call : rank.calls) {
      if (call.number % 5 == 0 && is_later) call.duration += 30 * kMs;
      if (call.number % 5 == 1 && !is_later) call.duration += 30 * kMs;
    }
  }
  EXPECT_EQ(words(judge_lateness(times)), "");
}

TEST(LateRanks, WhoWaitsInOtherCommunicatorsIsNotGuilty) {
  CallTimes times = durations(4, 200, [](int r, int) { return r == 2 ? 20.0 : 0; });
  times.ranks[2].elsewhere_us = 21 * kMs;
  for (const int other : {0, 1, 3}) times.ranks[static_cast<size_t>(other)].elsewhere_us = 2 * kMs;
  const LateVerdict verdict = judge_lateness(times);
  EXPECT_EQ(words(verdict), "");
  EXPECT_NE(verdict.why_nobody.find("other communicators"), std::string::npos);
  for (RankTimes& rank : times.ranks) rank.elsewhere_us = 21 * kMs;
  EXPECT_EQ(words(judge_lateness(times)), "rank 2 steady 1.00 20.0 20.0");
  times.has_unknown_waits = true;
  EXPECT_EQ(words(judge_lateness(times)), "");
}

TEST(LateRanks, HalfOfTheRanksMustHaveTimes) {
  CallTimes times = durations(4, 200, [](int r, int) { return r == 2 ? 20.0 : 0; });
  times.nranks = 8;
  EXPECT_EQ(words(judge_lateness(times)), "rank 2 steady 1.00 20.0 20.0");
  EXPECT_EQ(judge_lateness(times).ranks_with_times, 4);
  times.nranks = 9;
  EXPECT_EQ(words(judge_lateness(times)), "");
}

// Calls of one rank that lacks most of them do not count.
TEST(LateRanks, ARankWithFewCallsIsLeftOut) {
  CallTimes times = durations(4, 200, [](int r, int) { return r == 2 ? 20.0 : 0; });
  times.ranks[0].calls.resize(30);
  const LateVerdict verdict = judge_lateness(times);
  EXPECT_EQ(words(verdict), "rank 2 steady 1.00 20.0 20.0");
  EXPECT_EQ(verdict.ranks_with_times, 3);
  EXPECT_EQ(verdict.calls, 200);
}

/// The same job by times of entry: calls of a second, and the next one begins when all have ended.
CallTimes entries(int nranks, int per_host, int calls, const LateMs& late_ms) {
  CallTimes times{.source = "made up", .communicator = "0x5a", .nranks = nranks};
  for (int rank = 0; rank < nranks; ++rank) {
    RankTimes& own = times.ranks.emplace_back();
    own.rank = rank;
    own.host = fmt::format("node{}", rank / per_host);
    double begin = 3e6 * (rank / per_host);  // By its own clock.
    for (int call = 0; call < calls; ++call) {
      double last = 0;
      for (int other = 0; other < nranks; ++other) last = std::max(last, late_ms(other, call));
      TimedCall& timed = own.calls.emplace_back();
      timed.number = call;
      timed.entered = begin + late_ms(rank, call) * kMs;
      begin += (20 + last) * kMs;
    }
  }
  return times;
}

TEST(LateRanks, ByTimesOfEntryClocksHideWhoIsAlwaysLate) {
  const LateMs rank_3 = [](int r, int) { return r == 3 ? 30.0 : 0; };
  const LateMs host_1 = [](int r, int) { return r / 4 == 1 ? 30.0 : 0; };
  const LateMs host_1_at_times = [](int r, int c) { return r / 4 == 1 && c % 7 == 0 ? 30.0 : 0; };
  EXPECT_EQ(words(judge_lateness(entries(8, 8, 200, rank_3))), "rank 3 steady 1.00 30.0 30.0");
  EXPECT_EQ(words(judge_lateness(entries(8, 4, 200, rank_3))), "rank 3 steady 1.00 30.0 30.0");
  EXPECT_EQ(words(judge_lateness(entries(8, 1, 200, rank_3))), "");
  const LateVerdict hidden = judge_lateness(entries(8, 4, 200, host_1));
  EXPECT_EQ(words(hidden), "");
  EXPECT_NE(hidden.why_nobody.find("cannot be told from a clock"), std::string::npos);
  EXPECT_EQ(words(judge_lateness(entries(8, 4, 350, host_1_at_times))),
            "node1 each 7 0.14 30.0 30.0");
}

TEST(LateRanks, HostsThatRunAheadWaitForNobody) {
  CallTimes times = entries(4, 4, 200, [](int, int) { return 0.0; });
  // All but rank 0 enqueue two calls more than it has.
  for (TimedCall& call : times.ranks[0].calls) call.entered += 45 * kMs;
  const LateVerdict verdict = judge_lateness(times);
  EXPECT_EQ(words(verdict), "");
  EXPECT_NE(verdict.why_nobody.find("run ahead"), std::string::npos);
}

TEST(LateRanks, CoarseTimesOfEntryNameNobody) {
  CallTimes times = entries(4, 4, 200, [](int r, int) { return r == 3 ? 30.0 : 0; });
  times.resolution_us = 1e6;
  EXPECT_EQ(words(judge_lateness(times)), "");
}

TEST(LateRanks, WhoLeavesLateIsNamedWhereStartsAreKnownToo) {
  CallTimes times = entries(8, 4, 300, [](int, int) { return 0.0; });
  for (RankTimes& rank : times.ranks) {
    for (TimedCall& call : rank.calls) {
      call.duration = (rank.rank == 6 && call.number % 6 == 0 ? 40.0 : 10.0) * kMs;
    }
  }
  EXPECT_EQ(words(judge_lateness(times)), "rank 6 each 6 0.17 30.0 30.0 inside");
}

TEST(LateRanks, HostileTimesAreNoTrouble) {
  CallTimes times;
  EXPECT_EQ(words(judge_lateness(times)), "");
  times = durations(3, 300, [](int, int) { return 0.0; });
  const double values[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 0};
  for (RankTimes& rank : times.ranks) {
    for (TimedCall& call : rank.calls) {
      call.duration = values[static_cast<size_t>(call.number + rank.rank) % 6];
      call.entered = values[static_cast<size_t>(call.number * 5 + rank.rank) % 6];
      if (call.number % 7 == 0) call.number = INT64_MAX - call.number % 3;
    }
  }
  const LateVerdict verdict = judge_lateness(times);
  EXPECT_LE(verdict.calls, 300);
}

}  // namespace
}  // namespace ncclog
