#include <fmt/format.h>
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
using testing::inits;

constexpr std::string_view kMismatched = "job.collectives_mismatched";

/// Each rank makes one call with its own number of elements.
CallLog counts(const std::vector<int64_t>& of_ranks) {
  CallLog log = inits(static_cast<int>(of_ranks.size()));
  for (size_t rank = 0; rank < of_ranks.size(); ++rank) {
    log.call(static_cast<int>(rank), 1, "AllReduce", of_ranks[rank]);
  }
  return log;
}

/// Two ranks in loops of 8 or 10 large calls and a small one. In the last one rank 1 makes a large
/// call smaller, where a small one would do as well; behind it both leave the loop.
CallLog loop_that_ends_behind() {
  CallLog log = inits(2);
  const auto both = [&](int times, int64_t count) {
    for (int i = 0; i < times; ++i) {
      for (int rank = 0; rank < 2; ++rank) log.call(rank, 1, "AllReduce", count);
    }
  };
  for (const int length : {8, 10, 8, 10}) {
    both(length, 512);
    both(1, 8);
  }
  both(8, 512);
  log.call(0, 1).call(1, 1, "AllReduce", 256);
  both(1, 512);
  both(1, 8);
  both(3, 512);
  both(1, 64);
  return log;
}

std::vector<GuiltyCase> mismatch_cases() {
  return {
      {"two against two blames nobody", kMismatched, counts({8, 8, 4, 4}).text(), "yes"},
      {"what they call behind the difference does not", kMismatched, loop_that_ends_behind().text(),
       "yes"},
  };
}

TEST(MismatchFacts, NameTheOddOneOnlyWhereSomethingDecides) {
  for (const GuiltyCase& one : mismatch_cases()) {
    EXPECT_EQ(guilty_answer(one.fact, one.log), one.answer) << one.what << "\n" << one.log;
  }
}

TEST(MismatchFacts, AreLessSureWhereTheCommunicatorIsInferred) {
  CallLog log;
  log.size(1, 3).call(0, 1).call(1, 1).call(2, 1, "AllReduce", 8);
  const FactValue value = fact_of(kMismatched, log.text());
  EXPECT_TRUE(value.inferred);
  EXPECT_EQ(value.processes.size(), 1u);
  EXPECT_FALSE(fact_of(kMismatched, counts({8, 8, 4}).text()).inferred);
}

}  // namespace

}  // namespace ncclog
