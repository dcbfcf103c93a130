#include <gtest/gtest.h>

#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

TEST(RecorderCalls, HugeClaimsOfRanksAreLeftOut) {
  Job job;
  FlightRecorderDump dump;
  dump.rank = 0;
  FlightRecorderGroup group{.pg_id = 0, .name = "0"};
  for (int rank = 0; rank < (1 << 20) + 1; ++rank) group.ranks.push_back(rank);
  dump.groups.push_back(std::move(group));
  job.flight_recorders.push_back(std::move(dump));
  EXPECT_TRUE(call_ledger(job, CallSource::Recorder).empty());
}

}  // namespace
}  // namespace ncclog
