#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

FlightRecorderGroup group_of(const std::string& name, int nranks) {
  FlightRecorderGroup group{.name = name};
  for (int rank = 0; rank < nranks; ++rank) group.ranks.push_back(rank);
  return group;
}

TEST(RecorderCalls, GroupsFromAHugeClaimOfRanksOnAreLeftOut) {
  constexpr int kMost = 1 << 20;
  struct {
    std::vector<FlightRecorderGroup> groups;
    std::vector<std::string> kept;
  } const rows[] = {
      {{group_of("0", kMost)}, {"0"}},
      {{group_of("0", kMost + 1)}, {}},
      {{group_of("0", 8), group_of("1", 4), group_of("2", kMost)}, {"0", "1"}},
      {{group_of("2", 4), group_of("1", kMost), group_of("0", 8)}, {"0"}},
  };
  for (const auto& row : rows) {
    Job job;
    FlightRecorderDump& dump = job.flight_recorders.emplace_back();
    dump.rank = 0;
    dump.groups = row.groups;
    std::vector<std::string> kept;
    for (const CallAccount& account : call_ledger(job, CallSource::Recorder)) {
      kept.push_back(account.group);
    }
    EXPECT_EQ(kept, row.kept);
  }
}

}  // namespace
}  // namespace ncclog
