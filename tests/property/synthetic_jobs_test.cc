// Jobs of known truth: who is guilty is named, and nobody else ever is.
//
// A failing seed is named in full. To look at its logs:
//
//   build/dev/tests/ncclog_synthetic_job SEED "FAULT" FOLDER; ncclog analyze FOLDER
//
// NCCLOG_FIRST_SEED=N tries seeds from N on instead of those from 0 on.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "app/read_job.h"
#include "input/find_inputs.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/synthetic/judge.h"
#include "support/synthetic/synthetic_job.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kHealthySeeds = 60;
constexpr uint64_t kSeedsPerFault = 15;
#else
constexpr uint64_t kHealthySeeds = 500;
constexpr uint64_t kSeedsPerFault = 143;  ///< 2574 over the 18 faults.
#endif
constexpr uint64_t kFaultParts = 2;  ///< Large enough for a share of one in a hundred.
constexpr uint64_t kParts = 4;       ///< Tests that share the seeds, so that they run side by side.

uint64_t first_seed() {
  const char* first = std::getenv("NCCLOG_FIRST_SEED");
  return first == nullptr ? 0 : std::strtoull(first, nullptr, 10);
}

/// The whole way from files to findings, as `ncclog analyze` goes it.
class Analyst {
 public:
  Diagnosis analyze(const SyntheticJob& synthetic) const {
    const TempDir folder;
    for (const auto& [name, text] : synthetic.files) folder.add(name, text);
    const std::vector<std::string> inputs = find_inputs(std::vector{folder.path().string()});
    const Job job = read_job(inputs, {.threads = 1, .matcher = matcher_});
    return evaluate(rulebook_, job);
  }

 private:
  Rulebook rulebook_ = load_rulebook();
  LineMatcher matcher_ = make_line_matcher(rulebook_);
};

class SyntheticHealthyProperty : public ::testing::TestWithParam<uint64_t> {};

TEST_P(SyntheticHealthyProperty, NothingIsFound) {
  const Analyst analyst;
  for (uint64_t i = GetParam(); i < kHealthySeeds; i += kParts) {
    const uint64_t seed = first_seed() + i;
    const SyntheticJob job = make_synthetic_job(seed, Fault::None);
    const Diagnosis diagnosis = analyst.analyze(job);
    for (const Finding& finding : diagnosis.findings) {
      EXPECT_EQ(finding.severity, Severity::Info)
          << describe(job, seed) << "\n  " << finding.id << ": " << finding.message;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Part, SyntheticHealthyProperty, ::testing::Range<uint64_t>(0, kParts));

/// What is said about the jobs of some seeds.
struct Tally {
  uint64_t must = 0;   ///< Jobs in which the guilty have to be named.
  uint64_t named = 0;  ///< Of those, in how many they are, and nobody else.
  std::string missed;
  std::vector<std::string> wrong;

  void add(const SyntheticJob& job, uint64_t seed, const Diagnosis& diagnosis) {
    const Judgement judgement = judge(job, diagnosis);
    for (const std::string& claim : judgement.wrong) {
      wrong.push_back(describe(job, seed) + "\n  wrong: " + claim);
    }
    if (!job.truth.must_name) return;
    ++must;
    named += judgement.names_guilty ? 1 : 0;
    if (!judgement.names_guilty) missed += describe(job, seed) + "\n" + describe(diagnosis);
  }
};

class SyntheticFaultsProperty : public ::testing::TestWithParam<uint64_t> {};

TEST_P(SyntheticFaultsProperty, TheGuiltyAreNamedAndNobodyElse) {
  const Analyst analyst;
  Tally tally;
  for (uint64_t i = GetParam(); i < kSeedsPerFault; i += kFaultParts) {
    const uint64_t seed = first_seed() + i;
    for (const Fault fault : all_faults()) {
      const SyntheticJob job = make_synthetic_job(seed, fault);
      tally.add(job, seed, analyst.analyze(job));
    }
  }
  for (const std::string& wrong : tally.wrong) ADD_FAILURE() << wrong;
  EXPECT_GE(tally.named * 100, tally.must * 99)
      << tally.named << " of " << tally.must << " named; not named:\n"
      << tally.missed;
  EXPECT_GT(tally.must, kSeedsPerFault / kFaultParts * 3);
}
INSTANTIATE_TEST_SUITE_P(Part, SyntheticFaultsProperty, ::testing::Range<uint64_t>(0, kFaultParts));

TEST(SyntheticFaultsTallyProperty, AWrongExpectationFails) {
  const Analyst analyst;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SyntheticJob job = make_synthetic_job(seed, Fault::WrongCount);
    const Diagnosis diagnosis = analyst.analyze(job);
    if (!job.truth.must_name || !judge(job, diagnosis).names_guilty) continue;
    job.truth.planted.guilty.front() ^= 1;
    Tally tally;
    tally.add(job, seed, diagnosis);
    EXPECT_EQ(tally.named, 0u) << describe(job, seed);
    EXPECT_FALSE(tally.wrong.empty()) << describe(job, seed);
    return;
  }
  FAIL() << "no seed names the guilty";
}

}  // namespace
}  // namespace ncclog::testing
