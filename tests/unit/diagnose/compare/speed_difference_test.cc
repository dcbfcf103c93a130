#include "diagnose/compare/speed_difference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnose/compare/run_difference.h"
#include "model/derive/build_job.h"

namespace ncclog {
namespace {

std::string timed_line(int rank, std::string_view message) {
  return fmt::format("node-{0}:{1}:{1} [0] NCCL INFO {2}\n", rank == 0 ? "a" : "b", 4100 + rank,
                     message);
}

std::string on_both_nodes(std::string_view message) {
  return timed_line(0, message) + timed_line(1, message);
}

std::string timed_init(int rank, std::string_view phase) {
  return timed_line(rank,
                    fmt::format("ncclCommInitRank comm {:#x} rank {} nranks 2 cudaDev 0 nvmlDev 0 "
                                "busId 1000 commId 0x9c1b - Init {}",
                                0x7f1000 + rank, rank, phase));
}

/// A table of all_reduce_perf over 2 ranks, from 256 MiB on.
std::string table(const std::vector<double>& busbw, std::string_view gpu = "NVIDIA H100 80GB HBM3",
                  int64_t first = int64_t{1} << 28) {
  std::string text = "# Collective test starting: all_reduce_perf\n# Using devices\n";
  for (const int rank : {0, 1}) {
    text += fmt::format("#  Rank {:2} Group  0 Pid {:6} on node-{} device  0 [0000:1b:00] {}\n",
                        rank, 4100 + rank, rank == 0 ? "a" : "b", gpu);
  }
  int64_t bytes = first;
  for (const double value : busbw) {
    const double time = static_cast<double>(bytes) / value / 1e3;
    text += fmt::format(
        "{0:12}  {1:12}     float     sum      -1 {2:8.1f} {3:7.2f} {3:7.2f}       0 "
        "{2:8.1f} {3:7.2f} {3:7.2f}       0\n",
        bytes, bytes / 4, time, value);
    bytes *= 2;
  }
  return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 40.0\n#\n";
}

std::string timed_run(std::string_view middle, const std::string& measured) {
  return on_both_nodes("NCCL version 2.28.9+cuda13.0") +
         on_both_nodes("Comm config Blocking set to 1") + timed_init(0, "START") +
         timed_init(1, "START") + std::string(middle) + timed_init(0, "COMPLETE") +
         timed_init(1, "COMPLETE") + measured;
}

RunDifference compared_speed(const std::string& good, const std::string& bad) {
  const Job good_job = job_from_text(good);
  const Job bad_job = job_from_text(bad);
  return compare_runs({good_job, compared_facts(good_job, {})},
                      {bad_job, compared_facts(bad_job, {})});
}

/// "bad 2.8: likely setting NCCL_NET_GDR_LEVEL", "-".
std::string speed_text(const RunDifference& difference) {
  if (!difference.speed) return "-";
  const SpeedDifference& speed = *difference.speed;
  std::string text = fmt::format("{} {:.1f}", speed.bad_is_slower ? "bad" : "good", speed.ratio);
  for (const SpeedCause& cause : speed.causes) {
    const DifferenceRow& row = difference.rows[cause.row];
    text += fmt::format("; {} {} {}", to_string(cause.likelihood), to_string(row.topic), row.name);
  }
  return text;
}

std::string channels(int count) {
  return timed_line(0,
                    fmt::format("{0} coll channels, {0} collnet channels, 0 nvls channels, {0} p2p "
                                "channels, 2 p2p channels per peer",
                                count));
}

std::string path(std::string_view via) {
  return timed_line(0, fmt::format("Channel 00/0 : 0[0] -> 1[0] [send] via {}", via)) +
         timed_line(1, fmt::format("Channel 00/0 : 0[0] -> 1[0] [receive] via {}", via));
}

const std::vector<double> kFast = {90, 92, 93, 93};
const std::vector<double> kSlow = {32, 33, 33, 33};

struct SpeedRow {
  const char* what;
  std::string good;
  std::string bad;
  const char* speed;
};

void check_speed(std::initializer_list<SpeedRow> rows) {
  for (const SpeedRow& row : rows) {
    EXPECT_EQ(speed_text(compared_speed(row.good, row.bad)), row.speed) << row.what;
  }
}

TEST(SpeedDifference, NamesWhatExplainsTheRatio) {
  const std::string gdr_off = on_both_nodes("NCCL_NET_GDR_LEVEL set by environment to LOC");
  check_speed({
      {"GPU Direct RDMA", timed_run(path("NET/IB/0/GDRDMA"), table(kFast)),
       timed_run(path("NET/IB/0"), table(kSlow)), "bad 2.8; likely transport between hosts"},
      {"switched off by a setting that the other run need not print",
       timed_run(path("NET/IB/0/GDRDMA"), table(kFast)),
       timed_run(gdr_off + path("NET/IB/0"), table(kSlow)),
       "bad 2.8; likely transport between hosts; possible setting NCCL_NET_GDR_LEVEL"},
      {"switched off by a setting",
       timed_run(
           on_both_nodes("NCCL_NET_GDR_LEVEL set by environment to SYS") + path("NET/IB/0/GDRDMA"),
           table(kFast)),
       timed_run(gdr_off + path("NET/IB/0"), table(kSlow)),
       "bad 2.8; likely setting NCCL_NET_GDR_LEVEL; likely transport between hosts"},
      {"sockets",
       timed_run(timed_line(0, "Using network IB") + path("NET/IB/0/GDRDMA"), table(kFast)),
       timed_run(timed_line(0, "Using network Socket") + path("NET/Socket/0"), table({2, 2, 2, 2})),
       "bad 46.5; likely network network; likely transport between hosts"},
      {"fewer channels", timed_run(channels(16), table(kFast)),
       timed_run(channels(4), table(kSlow)), "bad 2.8; likely channels largest communicator"},
      {"more channels explain nothing", timed_run(channels(4), table(kFast)),
       timed_run(channels(16), table(kSlow)), "bad 2.8"},
      {"another GPU", timed_run("", table(kFast)),
       timed_run("", table(kSlow, "NVIDIA A100-SXM4-40GB")), "bad 2.8; likely topology GPU models"},
      {"a protocol", timed_run("", table(kFast)),
       timed_run(on_both_nodes("NCCL_PROTO set by environment to LL"), table(kSlow)),
       "bad 2.8; likely setting NCCL_PROTO"},
  });
}

TEST(SpeedDifference, WhatCannotSlowDownIsNoCause) {
  check_speed({
      {"where to write", timed_run("", table(kFast)),
       timed_run(on_both_nodes("NCCL_RAS_ENABLE set by environment to 0"), table(kSlow)),
       "bad 2.8"},
      {"it slows down by less", timed_run("", table(kFast)),
       timed_run(on_both_nodes("NCCL_NVLS_ENABLE set by environment to 0"), table(kSlow)),
       "bad 2.8; partly setting NCCL_NVLS_ENABLE"},
      {"the slower run has the better path", timed_run(path("NET/IB/0"), table(kFast)),
       timed_run(path("NET/IB/0/GDRDMA"), table(kSlow)), "bad 2.8"},
  });
}

TEST(SpeedDifference, TheSidesAreTreatedAlike) {
  const std::string fast = timed_run(path("NET/IB/0/GDRDMA"), table(kFast));
  const std::string slow = timed_run(path("NET/IB/0"), table(kSlow));
  EXPECT_EQ(speed_text(compared_speed(slow, fast)), "good 2.8; likely transport between hosts");
}

TEST(SpeedDifference, NoiseIsNoDifference) {
  check_speed({
      {"a tenth", timed_run("", table(kFast)), timed_run("", table({82, 84, 85, 85})), "-"},
      {"a fifth at each large size", timed_run("", table(kFast)),
       timed_run("", table({75, 76, 77, 77})), "bad 1.2"},
      {"one size", timed_run("", table(kFast)), timed_run("", table({90, 30, 93, 93})), "-"},
      {"only one run measured", timed_run("", table(kFast)), timed_run("", ""), "-"},
      {"no size in common", timed_run("", table(kFast)),
       timed_run("", table({1, 2, 3, 4}, "NVIDIA H100 80GB HBM3", 1 << 10)), "-"},
  });
}

TEST(SpeedDifference, SmallSizesCountWhereLargeOnesAreAlike) {
  const RunDifference difference = compared_speed(timed_run("", table({10, 20, 40, 80, 90, 93})),
                                                  timed_run("", table({5, 10, 20, 80, 90, 93})));
  ASSERT_TRUE(difference.speed);
  EXPECT_EQ(difference.speed->bytes, int64_t{1} << 30);
  EXPECT_EQ(speed_text(difference), "bad 2.0");
}

/// Lines of steps 1, 2, … that take so many milliseconds, as Megatron prints them.
std::vector<StepLine> megatron(const std::vector<double>& milliseconds) {
  std::vector<StepLine> lines;
  for (const double time : milliseconds) {
    const auto step = static_cast<int64_t>(lines.size()) + 1;
    lines.push_back(
        {step,
         {{0, lines.size() + 1},
          fmt::format("[2026-01-05 12:00:00] iteration {:8}/     500 | consumed samples: 1 "
                      "| elapsed time per iteration (ms): {:.1f} | loss: 2.1 |",
                      step, time)}});
  }
  return lines;
}

/// So many steps around `middle`, by up to `spread` either way.
std::vector<double> around(double middle, double spread, int steps = 40) {
  std::vector<double> times;
  for (int n = 0; n < steps; ++n) times.push_back(middle + spread * (n % 5 - 2) / 2);
  return times;
}

TEST(StepTimes, AreReadAsFrameworksPrintThem) {
  const std::vector<std::pair<const char*, double>> rows = {
      {" iteration 10/ 500 | elapsed time per iteration (ms): 812.3 | lr: 1", 0.8123},
      {"steps: 10 loss: 6.1234 iter time (s): 0.512 samples/sec: 62.5", 0.512},
      {"  1%|1         | 24/1752 [01:08<1:23:01,  2.88s/it]", 2.88},
      {"Epoch 2:  10%|#         | 100/1000 [00:10<01:30, 10.00it/s, v_num=0]", 0.1},
      {" 1%|1 | 1/1752 [00:00<?, ?it/s]", -1},
      {"step: 10  loss:  7.1234", -1},
      {"elapsed time per iteration (ms): -5", -1},
      {"elapsed time per iteration (ms):", -1},
      {"0.0it/s", -1},
      {"", -1}};
  for (const auto& [line, seconds] : rows)
    EXPECT_NEAR(printed_step_time(line), seconds, 1e-9) << line;
}

TEST(StepTimes, LeaveOutTheFirstOnesAndTellTheMiddle) {
  std::vector<double> times = around(800, 20);
  times[0] = 60000;
  const auto of = step_times(megatron(times));
  ASSERT_TRUE(of);
  EXPECT_EQ(of->steps, 36u);
  EXPECT_NEAR(of->median, 0.8, 1e-9);
  EXPECT_NEAR(of->low, 0.78, 1e-9);
  EXPECT_NEAR(of->high, 0.82, 1e-9);
  EXPECT_NE(of->line.text.find("(ms): 800.0"), std::string::npos);
  EXPECT_FALSE(step_times(megatron(around(800, 20, 10))));
  EXPECT_FALSE(step_times({}));
}

TEST(StepTimes, AreTakenFromClocksWhereNoLinePrintsThem) {
  std::vector<StepLine> lines;
  for (int n = 0; n < 30; ++n) {
    const StepLine line = {10 * (n + 1),
                           {{0, lines.size() + 1},
                            fmt::format("2026-01-05 12:{:02}:{:02},500 - root - INFO - step: {}",
                                        n / 12, n % 12 * 5, 10 * (n + 1))}};
    lines.push_back(line);
    lines.push_back(line);  // Of another rank.
  }
  const auto of = step_times(lines);
  ASSERT_TRUE(of);
  EXPECT_NEAR(of->median, 0.5, 1e-9);
}

TEST(StepTimes, DifferWhereMostOfOneAreSlowerThanMostOfTheOther) {
  const auto compared = [](double good, double bad, double spread) {
    return step_difference(*step_times(megatron(around(good, spread))),
                           *step_times(megatron(around(bad, spread))));
  };
  const auto slower = compared(800, 1200, 50);
  ASSERT_TRUE(slower);
  EXPECT_TRUE(slower->bad_is_slower);
  EXPECT_NEAR(slower->ratio, 1.5, 1e-9);
  EXPECT_NEAR(slower->bad.time_us, 1.2e6, 1e-3);
  EXPECT_FALSE(compared(1200, 800, 50)->bad_is_slower);
  EXPECT_FALSE(compared(800, 1200, 300)) << "steps of one run differ as much";
  EXPECT_FALSE(compared(800, 820, 1)) << "too little to lead with";
}

}  // namespace
}  // namespace ncclog
