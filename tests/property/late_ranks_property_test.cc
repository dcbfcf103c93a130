// Nobody innocent is named, and who is late by enough is found, over many jobs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "diagnose/perf/late/late_ranks.h"
#include "support/late_job.h"
#include "support/paths.h"

namespace ncclog {
namespace {

const uint64_t kJobs = testing::affordable(2000);

TEST(LateRanksProperty, NobodyInnocentIsNamedAndNearlyEverybodyLateIsFound) {
  int tellable = 0;
  int missed = 0;
  for (uint64_t seed = 1; seed <= kJobs; ++seed) {
    const LateJob job = make_late_job(seed);
    const std::string mistake = mistake_of(job, judge_lateness(job.times));
    tellable += job.can_be_told ? 1 : 0;
    if (mistake == "missed") {
      ++missed;
    } else {
      EXPECT_EQ(mistake, "") << job.words;
    }
  }
  EXPECT_GT(tellable, static_cast<int>(kJobs) / 6);
  EXPECT_LE(20 * missed, tellable) << "at least 95 % are found";
}

TEST(LateRanksProperty, NobodyIsNamedBelowTheThreshold) {
  for (uint64_t seed = 1; seed <= kJobs / 4; ++seed) {
    const LateJob job = make_late_job(seed);
    const LateVerdict verdict = judge_lateness(job.times);
    const double least = std::max(kLeastLateUs, kLeastShareOfCall * verdict.median_call_us);
    for (const LateParty& party : verdict.late) {
      EXPECT_GE(party.median_us, least) << job.words;
      EXPECT_GE(party.share, kLeastShareOfCalls) << job.words;
      EXPECT_GE(verdict.calls, kLeastCalls) << job.words;
    }
    EXPECT_EQ(verdict.late.empty(), !verdict.why_nobody.empty()) << job.words;
  }
}

/// Times of other clocks, and names of other ranks.
CallTimes moved(const CallTimes& times) {
  CallTimes result = times;
  std::ranges::reverse(result.ranks);
  for (RankTimes& rank : result.ranks) {
    for (TimedCall& call : rank.calls) call.number += 1'000'000;
  }
  return result;
}

TEST(LateRanksProperty, OrderOfRanksAndFirstNumberMakeNoDifference) {
  for (uint64_t seed = 1; seed <= kJobs / 10; ++seed) {
    const LateJob job = make_late_job(seed);
    if (job.times.resolution_us > 0 || std::isfinite(job.times.ranks[0].calls[0].entered)) continue;
    const LateVerdict a = judge_lateness(job.times);
    const LateVerdict b = judge_lateness(moved(job.times));
    ASSERT_EQ(a.late.size(), b.late.size()) << job.words;
    for (const LateParty& party : a.late) {
      EXPECT_NE(std::ranges::find(b.late, party), b.late.end()) << job.words;
    }
  }
}

}  // namespace
}  // namespace ncclog
