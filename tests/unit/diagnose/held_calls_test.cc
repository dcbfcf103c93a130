#include "diagnose/held_calls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "model/build/build_job.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

using testing::CallLog;

CallLog world(int nranks) {
  CallLog log;
  for (int rank = 0; rank < nranks; ++rank) log.init(rank, nranks, 1);
  return log;
}

std::string ranks_of(const std::vector<Waiter>& waiters) {
  std::vector<std::string> ranks;
  for (const Waiter& waiter : waiters) ranks.push_back(std::to_string(waiter.cuda_dev));
  return join(ranks, "+");
}

/// "0>1#2: 1 for 0": rank 1 may wait in the third message from 0 to 1, for rank 0.
std::string held_in(const CallLog& log) {
  const Job job = job_from_text(log.text());
  std::vector<std::string> calls;
  for (const HeldCall& held : held_calls(job)) {
    const CallLine& line = held.line;
    const std::string where =
        line.is_message() ? fmt::format("{}>{}", line.sender, line.receiver) : "all";
    calls.push_back(fmt::format("{}#{}: {} for {}", where, held.index, ranks_of(held.waiting),
                                ranks_of(held.awaited)));
  }
  return join(calls, "; ");
}

TEST(HeldCalls, AreNoneWhereNothingIsOpen) {
  EXPECT_EQ(held_in(world(2).call(0, 1).call(1, 1)), "");
  EXPECT_EQ(held_in(world(2).call(0, 1, "Send", 8, 1).call(1, 1, "Recv", 8, 0)), "");
}

TEST(HeldCalls, StandBehindAnOpenOne) {
  // Rank 1 enqueued its Send to rank 0 behind a Recv that lacks its Send.
  CallLog log = world(3);
  log.call(0, 1, "Recv", 8, 1).call(1, 1, "Recv", 8, 2).call(1, 1, "Send", 8, 0);
  EXPECT_EQ(held_in(log.call(2, 1)), "1>0#0: 0 for 1");
}

TEST(HeldCalls, AreNotThoseBeforeAnOpenOne) {
  CallLog log = world(3);
  log.call(0, 1, "Recv", 8, 1).call(1, 1, "Send", 8, 0).call(1, 1, "Recv", 8, 2);
  EXPECT_EQ(held_in(log.call(2, 1)), "");
}

TEST(HeldCalls, MayBeACollectiveOfManyRanks) {
  CallLog log = world(4);
  log.call(1, 1, "Recv", 8, 3);
  for (int rank = 0; rank < 4; ++rank) log.call(rank, 1);
  EXPECT_EQ(held_in(log), "all#0: 0+2+3 for 1");
}

TEST(HeldCalls, HoldFurtherOnes) {
  // Rank 2 waits for a Send of rank 3, rank 1 for one behind that, rank 0 for one behind that.
  CallLog log = world(4);
  log.call(2, 1, "Recv", 8, 3).call(2, 1, "Send", 8, 1);
  log.call(1, 1, "Recv", 8, 2).call(1, 1, "Send", 8, 0).call(0, 1, "Recv", 8, 1).call(3, 1);
  EXPECT_EQ(held_in(log), "1>0#0: 0 for 1; 2>1#0: 1 for 2");
}

}  // namespace
}  // namespace ncclog
