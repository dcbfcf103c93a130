// Jobs of known truth: who is guilty is named, and nobody else ever is, however the job ended.
//
// A failing seed is named in full. To look at its logs, or to judge seeds that nobody has seen:
//
//   build/dev/tests/ncclog_synthetic_job SEED - FOLDER; ncclog analyze FOLDER
//   build/dev/tests/ncclog_synthetic_job judge FIRST_SEED 5000 THREADS

#include <gtest/gtest.h>

#include <string>

#include "support/paths.h"
#include "support/synthetic/trials.h"

namespace ncclog::testing {
namespace {

const uint64_t kSeedsPerPart = is_sanitized() ? 60 : 240;  ///< Enough for a share of one in 100.
constexpr uint64_t kParts = 4;  ///< Tests that share the seeds, so that they run side by side.

class SyntheticJobsProperty : public ::testing::TestWithParam<uint64_t> {};

/// Claims that name somebody innocent of a hang.
size_t accused_in_hangs(const Tally& tally) {
  size_t accused = 0;
  for (const auto& [key, seeds] : tally.wrong) {
    const bool is_of_a_hang = key.find("(none,") == key.npos;
    if (key.starts_with(kInnocentNamed) && is_of_a_hang) accused += seeds.size();
  }
  return accused;
}

/// What the report says of healthy ends and of silence is counted by summary(), and is not yet held
/// to a bound here.
TEST_P(SyntheticJobsProperty, TheGuiltyAreNamedAndNobodyElse) {
  const Tally tally = judge_seeds(GetParam() * kSeedsPerPart, kSeedsPerPart, 1);
  EXPECT_EQ(accused_in_hangs(tally), 0u);
  // A Send that was left out, and one that waits for a Recv behind it, look alike in a pipeline.
  EXPECT_LE(tally.count(kWrongId), 1u);
  EXPECT_GE(tally.named * 100, tally.must * 60);
  EXPECT_GE(tally.must * 100, tally.faulty * 50);
  EXPECT_EQ(tally.count(kRunsNotApart), 0u);
  // Where a file names no process, and nothing in it shows where the second run begins, nobody
  // knows whose the end of the work is.
  EXPECT_LE(tally.count(kWrongRunVerdict), 1u);
  if (HasFailure()) ADD_FAILURE() << summary(tally, 2);
}
INSTANTIATE_TEST_SUITE_P(Part, SyntheticJobsProperty, ::testing::Range<uint64_t>(0, kParts));

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
