// Who is late, from files as users have them.

#include "diagnose/perf/late/call_times.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/read/read_example.h"
#include "app/read/read_job.h"
#include "diagnose/perf/late/late_ranks.h"
#include "input/find_inputs.h"
#include "support/call_log.h"
#include "support/dump_line.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::DumpLine;
using testing::TempDir;

/// "Flight Recorder 0 (default_pg): rank 1 of 150 calls", or why nobody is named.
std::string words(const Job& job) {
  std::string text;
  for (const LateVerdict& verdict : late_verdicts(job)) {
    text += verdict.source + " " + verdict.communicator + ":";
    for (const LateParty& party : verdict.late) {
      text += party.rank < 0 ? " " + party.host : fmt::format(" rank {}", party.rank);
    }
    text += verdict.late.empty() ? " " + verdict.why_nobody
                                 : fmt::format(" of {} calls", verdict.calls);
    text += "\n";
  }
  return text;
}

/// A dump of a rank of three whose calls take as long as `duration_ms` says.
template <typename DurationMs>
std::string dump(DurationMs duration_ms, std::string_view op = "all_reduce") {
  DumpLine line(3);
  for (int call = 1; call <= 150; ++call) {
    line.done(call, 512, op).with(fmt::format(",\"duration_ms\":{}", duration_ms(call)));
  }
  return line.text();
}

TEST(CallTimes, FlightRecorderDurationsNameTheLateRank) {
  const auto waits = [](int) { return 34.5; };
  const auto is_late = [](int) { return 4.5; };
  const Job job = read_example(dump(waits) + dump(is_late) + dump(waits), {});
  EXPECT_EQ(words(job), "Flight Recorder 0 (default_pg): rank 1 of 150 calls\n");
  EXPECT_TRUE(late_verdicts(job)[0].by_durations);
  EXPECT_EQ(late_verdicts(job)[0].late[0].evidence[0].text,
            "rank 1: times of 150 calls, median 4.5 ms");
}

TEST(CallTimes, ARootWaitsForNobody) {
  const auto waits = [](int) { return 34.5; };
  const auto root = [](int) { return 4.5; };
  const Job job = read_example(
      dump(waits, "broadcast") + dump(root, "broadcast") + dump(waits, "broadcast"), {});
  EXPECT_EQ(words(job), "");
}

std::string inspected(int rank, int calls, double time_us, std::string_view id = "0x7f8c",
                      int nranks = 4, int process = -1) {
  std::string text;
  for (int call = 0; call < calls; ++call) {
    text += fmt::format(
        R"({{"header":{{"id":"{}","rank":{},"n_ranks":{},"nnodes":2}},"metadata":{{)"
        R"("inspector_output_format_version":"v4.0","hostname":"node{}","pid":{}}},"coll_perf":{{)"
        R"("coll":"{}","coll_sn":{},"coll_exec_time_us":{},"coll_timing_source":"kernel_gpu"}}}})"
        "\n",
        id, rank, nranks, (process < 0 ? rank : process) / 2, 100 + (process < 0 ? rank : process),
        call % 2 == 0 ? "AllReduce" : "AllGather", call / 2, time_us);
  }
  return text;
}

TEST(CallTimes, InspectorFilesNameTheLateRank) {
  const TempDir folder;
  for (int rank = 0; rank < 4; ++rank) {
    folder.add(fmt::format("node{}-pid{}.log", rank / 2, 100 + rank),
               inspected(rank, 200, rank == 2 ? 4000 : 40000));
  }
  const std::vector<std::string> folders = {folder.path().string()};
  const std::vector<std::string> inputs = find_inputs(folders);
  const Job job = read_job(inputs, {});
  EXPECT_EQ(job.inputs.front().format, "inspector");
  EXPECT_EQ(words(job), "NCCL Inspector 0x7f8c: rank 2 of 200 calls\n");
  EXPECT_EQ(late_verdicts(job)[0].late[0].host, "node1");
}

// Rank 0 is late for rank 1, which is late for rank 3 therefore.
TEST(CallTimes, AVictimInAnotherCommunicatorIsNotNamed) {
  const TempDir folder;
  const double waits = 40000;
  const double is_late = 4000;
  const auto process = [&](int number, double in_pair, double in_other, int pair, int other) {
    std::string text;
    for (int i = 0; i < 200; ++i) {
      const auto one = [&](std::string_view id, int rank, double time) {
        text += fmt::format(
            R"({{"header":{{"id":"{}","rank":{},"n_ranks":2,"nnodes":1}},"metadata":{{)"
            R"("hostname":"n","pid":{}}},"coll_perf":{{"coll":"AllReduce","coll_sn":{},)"
            R"("coll_exec_time_us":{}}}}})"
            "\n",
            id, rank, 100 + number, i, time);
      };
      one(pair == 0 ? "0xa0" : "0xa1", number % 2, in_pair);
      one(other == 0 ? "0xb0" : "0xb1", number / 2, in_other);
    }
    folder.add(fmt::format("n-pid{}.log", 100 + number), text);
  };
  process(0, is_late, is_late, 0, 0);
  process(1, waits, is_late, 0, 1);
  process(2, is_late, waits, 1, 0);
  process(3, is_late, waits, 1, 1);
  const std::vector<std::string> folders = {folder.path().string()};
  const std::vector<std::string> inputs = find_inputs(folders);
  const std::string all = words(read_job(inputs, {}));
  EXPECT_NE(all.find("0xa0: rank 0 of"), std::string::npos) << all;
  EXPECT_NE(all.find("0xb0: rank 0 of"), std::string::npos) << all;
  EXPECT_NE(all.find("0xb1: who is late here waits as long"), std::string::npos) << all;
}

/// Stamped lines of three ranks on one host, of which `late` enters every call 30 ms late.
std::string stamped_log(int late, int calls, bool with_other_group = false) {
  CallLog log;
  for (int rank = 0; rank < 3; ++rank) log.init(rank, 3, 0x77);
  for (int rank = 0; rank < 2; ++rank) log.init(rank, 2, 0x99);
  int64_t now_us = 0;
  for (int call = 0; call < calls; ++call) {
    for (int rank = 0; rank < 3; ++rank) {
      const int64_t us = now_us + rank * 40 + (rank == late ? 30'000 : 0);
      log.stamp(fmt::format("[2026-11-20 20:{:02}:{:02}.{:06}] ", us / 60'000'000,
                            us / 1'000'000 % 60, us % 1'000'000));
      log.call(rank, 0x77);
      if (with_other_group && rank < 2) log.call(rank, 0x99);
    }
    now_us += 60'000;
  }
  return log.text();
}

TEST(CallTimes, StampedLinesNameTheLateRankOfAHost) {
  const TempDir folder;
  const std::vector<std::string> inputs = {folder.add("nccl.log", stamped_log(1, 200))};
  const Job job = read_job(find_inputs(inputs), {});
  EXPECT_EQ(words(job), "stamped lines 0x77: rank 1 of 200 calls\n");
  EXPECT_FALSE(late_verdicts(job)[0].by_durations);
}

TEST(CallTimes, StampedLinesTellNothingWhereOtherCommunicatorsAreWaitedFor) {
  const TempDir folder;
  const std::vector<std::string> inputs = {folder.add("nccl.log", stamped_log(1, 200, true))};
  const std::string all = words(read_job(find_inputs(inputs), {}));
  EXPECT_EQ(all.find(" of 200 calls"), std::string::npos) << all;
}

TEST(CallTimes, WholeSecondsAreNotReadAgain) {
  const TempDir folder;
  CallLog log;
  for (int rank = 0; rank < 2; ++rank) log.init(rank, 2, 0x77);
  for (int call = 0; call < 200; ++call) {
    log.stamp(fmt::format("[2026-11-20 20:{:02}:{:02}] ", call / 60, call % 60));
    for (int rank = 0; rank < 2; ++rank) log.call(rank, 0x77);
  }
  const std::vector<std::string> inputs = {folder.add("nccl.log", log.text())};
  const Job job = read_job(find_inputs(inputs), {});
  EXPECT_TRUE(job.call_stamps.empty());
  EXPECT_TRUE(stamped_calls(job).empty());
}

}  // namespace
}  // namespace ncclog
