#include "diagnose/step_past.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace ncclog {
namespace {

/// Of the last letter, where each letter is a step.
StepPast past_of_last(std::string_view letters) {
  const std::vector<int> steps(letters.begin(), letters.end());
  return past_of_step(steps, steps.size() - 1, steps.size() - 1);
}

TEST(PastOfStep, IsOtherWhereAnotherStepAlwaysStood) {
  const StepPast past = past_of_last("abcdefghX abcdefghX abcdefghY");
  EXPECT_EQ(past.past, Past::Other);
  EXPECT_EQ(past.usual, 18u);
}

TEST(PastOfStep, IsTheSameWhereItStoodOnce) {
  EXPECT_EQ(past_of_last("abcdefghY abcdefghX abcdefghX abcdefghY").past, Past::Same);
}

TEST(PastOfStep, IsUnknownAfterOneTimeOrWhereDifferentStepsFollowed) {
  EXPECT_EQ(past_of_last("abcdefghX abcdefghY").past, Past::Unknown);
  EXPECT_EQ(past_of_last("abcdefghX abcdefghZ abcdefghY").past, Past::Unknown);
}

TEST(PastOfStep, NeedsEightEqualStepsBefore) {
  EXPECT_EQ(past_of_last("bcdefghX1bcdefghX2bcdefghY").past, Past::Unknown);
}

TEST(PastOfStep, IsWhatStoodBeforeTheGivenPlace) {
  const std::string_view letters = "abcdefghX abcdefghX abcdefghY";
  const std::vector<int> steps(letters.begin(), letters.end());
  EXPECT_EQ(past_of_step(steps, 28, 19).past, Past::Other);
  EXPECT_EQ(past_of_step(steps, 28, 18).past, Past::Unknown);
}

}  // namespace
}  // namespace ncclog
