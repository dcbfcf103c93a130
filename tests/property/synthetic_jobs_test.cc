// Jobs of known truth: in a healthy one nothing is found.
//
// A failing seed is named in full. To look at its logs:
//
//   build/dev/tests/ncclog_synthetic_job SEED "FAULT" FOLDER; ncclog analyze FOLDER

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/read_job.h"
#include "input/find_inputs.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "support/synthetic/synthetic_job.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kHealthySeeds = 60;
#else
constexpr uint64_t kHealthySeeds = 500;
#endif
constexpr uint64_t kParts = 4;  ///< Tests that share the healthy seeds.

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
  for (uint64_t seed = GetParam(); seed < kHealthySeeds; seed += kParts) {
    const SyntheticJob job = make_synthetic_job(seed, Fault::None);
    const Diagnosis diagnosis = analyst.analyze(job);
    for (const Finding& finding : diagnosis.findings) {
      EXPECT_EQ(finding.severity, Severity::Info)
          << describe(job, seed) << "\n  " << finding.id << ": " << finding.message;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Part, SyntheticHealthyProperty, ::testing::Range<uint64_t>(0, kParts));

}  // namespace
}  // namespace ncclog::testing
