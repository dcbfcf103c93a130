#include "diagnose/facts/line_places.h"

#include <gtest/gtest.h>

namespace ncclog::testing {
namespace {

/// Two inputs, the first of which was read in two stretches.
Job job_of_two_inputs() {
  Job job;
  job.inputs.resize(2);
  job.units = {{.number = 0, .input = 0}, {.number = 1, .input = 0}, {.number = 7, .input = 1}};
  return job;
}

LinePlaces places_in(const Job& job, std::initializer_list<SourceRef> lines) {
  LinePlaces places;
  for (const SourceRef line : lines) places.add(job, line);
  places.sort();
  return places;
}

TEST(LinePlaces, CountLinesOfTheSameInputOnly) {
  const Job job = job_of_two_inputs();
  const LinePlaces places = places_in(job, {{1, 3}, {0, 10}, {7, 5}, {0, 20}, {7, 6}});
  EXPECT_EQ(places.before(job, {0, 20}), 1u);
  EXPECT_EQ(places.after(job, {0, 10}), 2u);
  EXPECT_EQ(places.before(job, {1, 3}), 2u);
  EXPECT_EQ(places.after(job, {1, 3}), 0u);
  EXPECT_EQ(places.before(job, {7, 1}), 0u);
  EXPECT_EQ(places.after(job, {7, 1}), 2u);
}

TEST(LinePlaces, KnowNothingOfNoLine) {
  const Job job = job_of_two_inputs();
  const LinePlaces places = places_in(job, {{0, 0}, {0, 10}});
  EXPECT_EQ(places.size(), 1u);
  EXPECT_EQ(places.before(job, {}), 0u);
  EXPECT_EQ(places.after(job, {}), 0u);
}

TEST(LinePlaces, TellWhatStandsBetweenTwoLines) {
  const Job job = job_of_two_inputs();
  const LinePlaces places = places_in(job, {{0, 10}, {7, 5}});
  EXPECT_TRUE(places.any_between(job, {0, 9}, {1, 1}));
  EXPECT_FALSE(places.any_between(job, {0, 9}, {0, 10}));
  EXPECT_FALSE(places.any_between(job, {0, 10}, {1, 1}));
  EXPECT_FALSE(places.any_between(job, {0, 11}, {7, 6}));
}

/// A unit that the job does not list is an input of its own.
TEST(LinePlaces, OrderLinesOfOneUnknownUnit) {
  const Job job = job_of_two_inputs();
  const LinePlaces places = places_in(job, {{3, 10}, {4, 10}});
  EXPECT_EQ(places.after(job, {3, 1}), 1u);
  EXPECT_EQ(places.before(job, {4, 11}), 1u);
}

}  // namespace
}  // namespace ncclog::testing
