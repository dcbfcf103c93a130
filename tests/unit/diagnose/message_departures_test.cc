#include "diagnose/message_departures.h"

#include <gtest/gtest.h>

#include "model/job_from_text.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

using testing::CallLog;

/// Rank 0 sends to rank 1, which computes with it on a communicator of its own; `times` times.
void add_loop(CallLog& log, int times) {
  for (int i = 0; i < times; ++i) {
    log.call(0, 1, "Send", 8, 1).call(1, 1, "Recv", 8, 0);
    for (int call = 0; call < 7; ++call) log.call(1, 2);
  }
}

void all_reduce(CallLog& log) { log.call(0, 1).call(1, 1); }

CallLog two_ranks() {
  CallLog log;
  log.init(0, 2, 1).init(1, 2, 1).init(1, 1, 2, 0);
  all_reduce(log);
  return log;
}

std::optional<MessageDeparture> departure_of(const CallLog& log) {
  const Job job = job_from_text(log.text());
  const auto unmatched = unmatched_messages(job, 0);
  EXPECT_EQ(unmatched.size(), 1u) << log.text();
  return unmatched.empty() ? std::nullopt : message_departure(job, unmatched[0]);
}

TEST(MessageDeparture, IsWhereAMessageAlwaysStood) {
  CallLog log = two_ranks();
  add_loop(log, 4);
  log.call(0, 1, "Send", 8, 1);
  all_reduce(log);
  const auto departure = departure_of(log);
  ASSERT_TRUE(departure.has_value());
  EXPECT_EQ(departure->waiter.cuda_dev, 1);
  EXPECT_EQ(departure->made.op, OpName("AllReduce"));
  EXPECT_EQ(departure->made.index, 1u);
  EXPECT_EQ(departure->index, 4u);
}

TEST(MessageDeparture, IsNotTheEndOfALoopThatBothEndsMadeAlike) {
  CallLog log = two_ranks();
  add_loop(log, 4);
  all_reduce(log);
  log.call(0, 1, "Send", 8, 1);
  EXPECT_FALSE(departure_of(log).has_value());
}

TEST(MessageDeparture, IsUnknownWhereTheRankOnlyCameNoFurther) {
  CallLog log = two_ranks();
  add_loop(log, 4);
  log.call(0, 1, "Send", 8, 1);
  EXPECT_FALSE(departure_of(log).has_value());
}

TEST(MessageDeparture, IsUnknownWithoutACollectiveOfBothEnds) {
  CallLog log;
  log.init(0, 2, 1).init(1, 2, 1).init(1, 1, 2, 0);
  add_loop(log, 4);
  log.call(0, 1, "Send", 8, 1).call(1, 2);
  EXPECT_FALSE(departure_of(log).has_value());
}

}  // namespace
}  // namespace ncclog
