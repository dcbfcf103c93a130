// Jobs of known truth: who is guilty is named, and nobody else ever is, however the job ended.
//
// A failing seed is named in full. To look at its logs, or to judge seeds that nobody has seen:
//
//   build/dev/tests/ncclog_synthetic_job SEED - FOLDER; ncclog analyze FOLDER
//   build/dev/tests/ncclog_synthetic_job judge FIRST_SEED 5000 THREADS

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "support/paths.h"
#include "support/synthetic/trials.h"

namespace ncclog::testing {
namespace {

/// Enough for a share of one in 100; sanitized, of fewer jobs, one may fail.
const uint64_t kSeedsPerPart = is_sanitized() ? 40 : 240;
constexpr uint64_t kSeedParts = 4;  ///< Tests that share the seeds, so that they run side by side.

class SyntheticJobsProperty : public ::testing::TestWithParam<uint64_t> {};

/// At most so many jobs whose lines suffice may have nobody named: `percent` of them; a small part
/// may have one.
uint64_t most_unnamed(const Tally& tally, uint64_t percent) {
  return std::max<uint64_t>(1, tally.must * percent / 100);
}

TEST_P(SyntheticJobsProperty, NamesTheGuiltyAloneAndKeepsRunsApart) {
  Tallies tallies = judge_seeds(GetParam() * kSeedsPerPart, kSeedsPerPart, 1);
  const Tally& once = tallies.run_once;
  EXPECT_LE(once.must - once.named, most_unnamed(once, 1));
  EXPECT_LE(once.count(kWrongVerdict), std::max<uint64_t>(1, once.jobs / 100));
  // Where a file names no process, lines of a framework may be of either run, so that less is named.
  const Tally tally = std::move(tallies).all();
  for (const std::string_view kind : {kInnocentNamed, kOverClaimsClean, kFinishedNotClean,
                                      kFalseAlarm, kWrongId, kRunsNotApart}) {
    EXPECT_EQ(tally.count(kind), 0u) << kind;
  }
  EXPECT_LE(tally.must - tally.named, most_unnamed(tally, 5));
  // Nothing may show where the second run begins; then nobody knows whose the end of the work is.
  EXPECT_LE(tally.count(kWrongRunVerdict), 1u);
  if (HasFailure()) ADD_FAILURE() << summary(tally, 2);
}
INSTANTIATE_TEST_SUITE_P(Part, SyntheticJobsProperty, ::testing::Range<uint64_t>(0, kSeedParts));

/// Else the other property says little. Nothing is analysed here.
TEST(SyntheticJobsShareProperty, InMostFaultyJobsTheLinesSuffice) {
  uint64_t faulty = 0;
  uint64_t suffices = 0;
  for (uint64_t seed = 0; seed < affordable(2000); ++seed) {
    const Truth truth = make_synthetic_job(seed, fault_of(seed)).truth;
    if (!truth.is_marred || !truth.is_hung) continue;
    ++faulty;
    suffices += truth.must_name ? 1 : 0;
  }
  EXPECT_GE(suffices * 100, faulty * 60) << suffices << " of " << faulty;
}

TEST(SyntheticFaultsTallyProperty, AWrongExpectationFails) {
  const Analyst analyst;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SyntheticJob job = make_synthetic_job(seed, Fault::WrongCount);
    const std::string report = analyst.report_on(job);
    if (!job.truth.must_name || !judge(job, report).names_guilty) continue;
    job.truth.planted.guilty.front() ^= 1;
    Tally tally;
    tally.add(job, seed, report);
    EXPECT_EQ(tally.named, 0u) << describe(job, seed);
    EXPECT_EQ(tally.count(kInnocentNamed), 1u) << describe(job, seed);
    return;
  }
  FAIL() << "no seed names the guilty";
}

}  // namespace
}  // namespace ncclog::testing
