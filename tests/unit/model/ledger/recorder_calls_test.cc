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

/// An entry of group "0"; `messages` so far, and whether it is one itself.
FlightRecorderEntry entry_of(const std::string& name, int64_t number, int64_t messages,
                             bool is_message, RecordedState state) {
  FlightRecorderEntry entry;
  entry.group = "0";
  entry.profiling_name = name;
  entry.collective_seq_id = number;
  entry.p2p_seq_id = messages;
  entry.is_p2p = is_message;
  entry.state = state;
  entry.time_created_ns = 1'700'000'000'000'000'000 + number + messages;
  return entry;
}

TEST(RecorderCalls, CollectivesAreCountedBesideMessages) {
  constexpr RecordedState kDone = RecordedState::Completed;
  constexpr RecordedState kOpen = RecordedState::Scheduled;
  struct {
    std::string_view what;
    std::vector<FlightRecorderEntry> entries;
    uint64_t entered = 0;
    bool is_idle = false;
  } const rows[] = {
      {"a collective behind sends",
       {entry_of("nccl:send 0->1", 0, 1, true, kDone),
        entry_of("nccl:all_reduce", 1, 1, false, kOpen)},
       1,
       false},
      {"a send behind a collective",
       {entry_of("nccl:all_reduce", 1, 0, false, kDone),
        entry_of("nccl:send 0->1", 1, 1, true, kOpen)},
       1,
       false},
      {"the parts of a batch stay scheduled when it is over",
       {entry_of("nccl:all_reduce", 4, 8, false, kDone),
        entry_of("nccl:send 0->1", 4, 9, true, kOpen),
        entry_of("nccl:coalesced", 4, 9, false, kDone)},
       4,
       true},
  };
  for (const auto& row : rows) {
    Job job;
    for (const int rank : {0, 1}) {
      FlightRecorderDump& dump = job.flight_recorders.emplace_back();
      dump.rank = rank;
      dump.groups = {group_of("0", 2)};
      dump.groups[0].last_enqueued = 40;  // Counts messages as well.
      dump.entries = row.entries;
    }
    const std::vector<CallAccount>& accounts = call_ledger(job, CallSource::Recorder);
    ASSERT_EQ(accounts.size(), 1U);
    EXPECT_TRUE(accounts[0].is_numbered_alike) << row.what;
    EXPECT_EQ(accounts[0].ranks[0].entered, row.entered) << row.what;
    EXPECT_EQ(accounts[0].ranks[0].is_idle, row.is_idle) << row.what;
  }
}

TEST(RecorderCalls, OfSeveralDumpsOfARankTheLastOneCounts) {
  const auto dump_of = [](int64_t calls, int64_t time_ns) {
    FlightRecorderDump dump;
    dump.rank = 0;
    dump.groups = {group_of("0", 1)};
    dump.groups[0].last_enqueued = calls;
    dump.entries = {entry_of("nccl:all_reduce", calls, 0, false, RecordedState::Completed)};
    dump.entries[0].time_created_ns = time_ns;
    return dump;
  };
  constexpr auto kLess = std::partial_ordering::less;
  EXPECT_EQ(age_order(dump_of(5, 100), dump_of(9, 200)), kLess);
  EXPECT_EQ(age_order(dump_of(900, 100), dump_of(9, 200)), kLess) << "an earlier job came further";
  EXPECT_EQ(age_order(dump_of(5, -1), dump_of(9, -1)), kLess);
  EXPECT_EQ(age_order(dump_of(5, -1), dump_of(9, 100)), kLess) << "one tells no time";
  EXPECT_EQ(age_order(dump_of(5, 100), dump_of(5, 100)), std::partial_ordering::equivalent);
  Job job;
  job.flight_recorders = {dump_of(9, 200), dump_of(5, 100)};
  EXPECT_EQ(call_ledger(job, CallSource::Recorder).front().ranks.front().entered, 9U);
}

}  // namespace
}  // namespace ncclog
