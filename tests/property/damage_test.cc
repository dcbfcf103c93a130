// What happens to logs on their way accuses nobody, and makes no problem vanish.
//
// A failing seed is named with its log. To look at its copy, or to judge more of them:
//
//   build/dev/tests/ncclog_damage SEED FOLDER; ncclog analyze FOLDER
//   build/dev/tests/ncclog_damage judge FIRST_SEED 5000 THREADS

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/damage_trials.h"
#include "support/paths.h"

namespace ncclog::testing {
namespace {

constexpr uint64_t kDamageParts =
    4;  ///< Tests that share the seeds, so that they run side by side.

/// NCCLOG_DAMAGE_SEEDS says how many to try.
uint64_t seeds_per_part() {
  const char* value = std::getenv("NCCLOG_DAMAGE_SEEDS");
  return (value == nullptr ? affordable(400) : std::stoull(value)) / kDamageParts;
}

class DamageProperty : public ::testing::TestWithParam<uint64_t> {};

TEST_P(DamageProperty, WhatIsSaidStaysTrue) {
  const uint64_t count = seeds_per_part();
  const DamageTally tally = judge_damaged(GetParam() * count, count, 1);
  EXPECT_EQ(tally.copies, count);
  for (const std::string_view kind : {kNewError, kOthersNamed, kBecomesClean}) {
    EXPECT_EQ(tally.count(kind), 0u) << kind;
  }
  if (HasFailure()) ADD_FAILURE() << summary(tally);
}
INSTANTIATE_TEST_SUITE_P(Part, DamageProperty, ::testing::Range<uint64_t>(0, kDamageParts));

}  // namespace
}  // namespace ncclog::testing
