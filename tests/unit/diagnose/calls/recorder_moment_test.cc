#include "diagnose/calls/recorder_moment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"

namespace ncclog {
namespace {

/// Calls of a rank in a group: those up to `completed` are done, those up to `entered` made.
struct Calls {
  int64_t completed = 0;
  int64_t entered = 0;
};

/// By group.
using Made = std::map<std::string, Calls>;

const std::map<std::string, std::vector<int>> kGroups = {
    {"tp0", {0, 1}}, {"tp1", {2, 3}},       {"tp2", {4, 5}},
    {"tp3", {6, 7}}, {"ep0", {0, 1, 2, 3}}, {"ep1", {4, 5, 6, 7}}};

/// A dump of `rank` of the groups above; of all its last calls, or of those that are open.
FlightRecorderDump dump_of(int rank, const Made& made, bool open_alone, int64_t second = 0) {
  FlightRecorderDump dump;
  dump.rank = rank;
  int64_t id = 0;
  for (const auto& [name, ranks] : kGroups) {
    if (std::ranges::find(ranks, rank) == ranks.end()) continue;
    FlightRecorderGroup& group = dump.groups.emplace_back();
    group.name = name;
    group.ranks = ranks;
    const Calls calls = made.contains(name) ? made.at(name) : Calls{100, 100};
    bool is_listed = false;
    for (int64_t number = calls.completed - 2; number <= calls.entered; ++number) {
      const bool is_done = number <= calls.completed;
      if (is_done && open_alone) continue;
      is_listed = true;
      FlightRecorderEntry& entry = dump.entries.emplace_back();
      entry.pg_id = group.pg_id = ++id;
      entry.group = name;
      entry.collective_seq_id = number;
      entry.p2p_seq_id = 0;
      entry.profiling_name = "nccl:all_reduce";
      entry.state = is_done ? RecordedState::Completed : RecordedState::Scheduled;
      entry.time_created_ns = 1'700'000'000'000'000'000 + (number + second) * 1'000'000;
      entry.retired = is_done;
    }
    // Counters stand under a number, and an entry tells which name that has.
    FlightRecorderGroup counters;
    (is_listed ? dump.groups.back() : counters).last_enqueued = calls.entered;
    (is_listed ? dump.groups.back() : counters).last_completed = calls.completed;
    if (!is_listed) dump.groups.push_back(counters);
  }
  return dump;
}

std::string named(const Job& job) {
  std::vector<int> ranks;
  for (const HoldUp& held : recorder_moment(job).hold_ups) ranks.push_back(held.rank);
  return ranks.empty() ? "nobody" : ranges_text(ranks);
}

/// Rank 4 left its loop, so that its peers wait; those of the other pipeline stage wait in calls that
/// all of them made, for what never comes from there.
std::map<int, Made> one_is_late() {
  std::map<int, Made> all;
  for (int rank = 0; rank < 4; ++rank) {
    all[rank] = {{rank < 2 ? "tp0" : "tp1", {100, 103}}, {"ep0", {50, 51}}};
  }
  all[4] = {{"tp2", {100, 100}}, {"ep1", {50, 50}}};
  all[5] = {{"tp2", {100, 104}}, {"ep1", {50, 50}}};
  for (const int rank : {6, 7}) all[rank] = {{"tp3", {101, 102}}, {"ep1", {50, 51}}};
  return all;
}

/// The GPU of rank 4 stopped after call 100, and it made five more calls; rank 6's stopped, too, and
/// its host ran on as far as the others.
std::map<int, Made> two_gpus_stopped() {
  std::map<int, Made> all;
  for (int rank = 0; rank < 4; ++rank) {
    all[rank] = {{rank < 2 ? "tp0" : "tp1", {100, 103}}, {"ep0", {50, 51}}};
  }
  all[4] = {{"tp2", {100, 105}}, {"ep1", {50, 52}}};
  all[5] = {{"tp2", {105, 108}}, {"ep1", {52, 53}}};
  all[6] = {{"tp3", {100, 108}}, {"ep1", {50, 53}}};
  all[7] = {{"tp3", {106, 108}}, {"ep1", {52, 53}}};
  return all;
}

Job job_of(const std::map<int, Made>& ranks, bool open_alone, const std::set<int>& lacking = {}) {
  Job job;
  for (const auto& [rank, made] : ranks) {
    if (lacking.contains(rank)) continue;
    job.flight_recorders.push_back(dump_of(rank, made, open_alone));
  }
  return job;
}

TEST(RecorderMoment, NamesWhomAllWaitFor) {
  for (const bool open_alone : {false, true}) {
    EXPECT_EQ(named(job_of(one_is_late(), open_alone)), "4") << open_alone;
    EXPECT_EQ(named(job_of(two_gpus_stopped(), open_alone)), "4,6") << open_alone;
  }
}

TEST(RecorderMoment, NamesNobodyElseWhateverDumpsAreLost) {
  std::mt19937 random(1);
  for (int seed = 0; seed < 500; ++seed) {
    std::set<int> lacking;
    const size_t count = 1 + random() % 4;
    while (lacking.size() < count) lacking.insert(static_cast<int>(random() % 8));
    for (const bool open_alone : {false, true}) {
      for (const auto& [ranks, guilty] :
           {std::pair(one_is_late(), std::set<int>{4}), {two_gpus_stopped(), {4, 6}}}) {
        const Job job = job_of(ranks, open_alone, lacking);
        for (const HoldUp& held : recorder_moment(job).hold_ups) {
          EXPECT_TRUE(guilty.contains(held.rank))
              << "rank " << held.rank << " with " << lacking.size() << " lost, seed " << seed;
        }
      }
    }
  }
}

TEST(RecorderMoment, NamesNobodyInAJobThatMayRun) {
  struct {
    std::string_view what;
    std::map<int, Made> change;
  } const rows[] = {
      {"another rank waits for nothing", {{0, {{"tp0", {103, 103}}, {"ep0", {51, 51}}}}}},
      {"somebody completed what the late one has not made", {{5, {{"tp2", {102, 104}}}}}},
      {"the late one waits itself", {{4, {{"tp2", {100, 100}}, {"ep1", {50, 51}}}}}},
      {"a peer of the late one waits for nothing", {{5, {{"tp2", {100, 100}}, {"ep1", {51, 51}}}}}},
  };
  for (const auto& row : rows) {
    std::map<int, Made> ranks = one_is_late();
    for (const auto& [rank, made] : row.change) ranks[rank] = made;
    EXPECT_EQ(named(job_of(ranks, false)), "nobody") << row.what;
  }
}

TEST(RecorderMoment, WhoMovesOnBetweenTwoDumpsIsSlow) {
  Job job = job_of(one_is_late(), false);
  job.flight_recorders.push_back(dump_of(4, {{"tp2", {90, 90}}, {"ep1", {40, 40}}}, false));
  EXPECT_EQ(named(job), "nobody");
  EXPECT_EQ(recorder_moment(job).moved, std::vector<int>{4});

  Job still = job_of(one_is_late(), false);
  still.flight_recorders.push_back(dump_of(4, one_is_late()[4], false));
  EXPECT_EQ(named(still), "4");
}

TEST(RecorderMoment, TheOnlyOneWithoutADumpIsNamedWhereAllOthersWait) {
  std::map<int, Made> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks[rank] = {{rank < 2 ? "tp0" : "tp1", {100, 100}}, {"ep0", {50, 51}}};
  }
  EXPECT_EQ(named(job_of(ranks, false, {3})), "nobody") << "of tp1 nobody is seen to wait";
  for (int rank = 0; rank < 4; ++rank) ranks[rank][rank < 2 ? "tp0" : "tp1"] = {100, 101};
  EXPECT_EQ(named(job_of(ranks, false, {3})), "3");
  EXPECT_EQ(named(job_of(ranks, false, {2, 3})), "nobody");
}

}  // namespace
}  // namespace ncclog
