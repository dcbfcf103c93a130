// Tables of nccl-tests as curves: operation, ranks, hosts, rows, whatever the release or the paste.

#include "diagnose/perf/measured/measurement.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "diagnose/perf/measured/curve.h"
#include "model/derive/build_job.h"

namespace ncclog {
namespace {

/// "AllReduce 8 ranks 1 host, 2 sizes, 458.66 at 704643072"; ranks by ratio have a "~".
std::string text_of(const Measurement& one) {
  const Curve curve = read_curve(one);
  return fmt::format("{} {}{} ranks {} hosts, {} sizes, {:.2f} at {}",
                     one.op == Operation::Unknown ? "?" : name_of(one.op),
                     one.nranks_by_ratio ? "~" : "", one.nranks, one.nhosts, curve.sizes.size(),
                     curve.best, curve.best_at);
}

std::string texts_of(const std::string& log, const std::string& path = "log.txt") {
  const Job job = job_from_text(log, {}, path);
  std::vector<std::string> texts;
  for (const Measurement& one : measurements(job)) texts.push_back(text_of(one));
  return join(texts, "; ");
}

const std::string kRanks =
    "#  Rank  0 Group  0 Pid   4100 on gpu-a device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid   4101 on gpu-a device  1 [0000:43:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  2 Group  0 Pid   7100 on gpu-b device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  3 Group  0 Pid   7101 on gpu-b device  1 [0000:43:00] NVIDIA H100 80GB HBM3\n";

const std::string kRow =
    "    67108864      16777216     float     sum      -1   1500.0   44.74   67.11      0   1480.0 "
    "  "
    "45.34   68.02      0\n";

TEST(Measurements, ATableHasItsOperationRanksHostsAndGpus) {
  const Job job = job_from_text(
      "# nccl-tests version 2.18.3 nccl-headers=23003 nccl-library=23003\n"
      "# Collective test starting: all_reduce_perf\n" +
      kRanks + kRow + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 67.565 \n");
  ASSERT_EQ(measurements(job).size(), 1U);
  const Measurement& one = measurements(job).front();
  EXPECT_EQ(text_of(one), "AllReduce 4 ranks 2 hosts, 1 sizes, 68.02 at 67108864");
  EXPECT_EQ(one.name, "all_reduce_perf");
  EXPECT_EQ(one.datatype, "float");
  EXPECT_EQ(join(one.hosts, " "), "gpu-a gpu-b");
  EXPECT_EQ(join(one.gpus, " "), "NVIDIA H100 80GB HBM3");
  EXPECT_FALSE(one.shares_gpu);
  EXPECT_DOUBLE_EQ(one.mean_busbw, 67.565);
  EXPECT_EQ(one.points.front().wrong, 0);
  EXPECT_DOUBLE_EQ(one.points.front().out_of_place.time_us, 1500.0);
}

struct MeasuredRow {
  std::string_view what;
  std::string log;
  std::string_view measured;
};

TEST(Measurements, RowsOfAllReleasesAndPastesAreRead) {
  const MeasuredRow kRows[] = {
      {"2.0 to 2.10: no root, the largest error",
       "#   Rank  0 Pid    198 on node-a device  0 [0x00] Tesla V100\n"
       "#   Rank  1 Pid    198 on node-a device  1 [0x00] Tesla V100\n"
       "     1048576        262144   float     sum    819.0    1.28    1.28  2e-07    801.3    "
       "1.31  "
       "  1.31  2e-07\n",
       "AllReduce 2 ranks 1 hosts, 1 sizes, 1.31 at 1048576"},
      {"1.x: neither pid nor microseconds",
       "#   Rank  0 on     dgx-a device  0 [0x06] Tesla P100-SXM2-16GB\n"
       "#   Rank  1 on     dgx-a device  1 [0x07] Tesla P100-SXM2-16GB\n"
       "    10000000       2500000   float     sum    0.500   20.00   20.00    1e-06    0.490   "
       "20.41  "
       " 20.41    1e-06\n",
       "AllReduce 2 ranks 1 hosts, 1 sizes, 20.41 at 10000000"},
      {"a test without reduction, by the count of each rank",
       "    16777216        524288   float            345.1   48.62   42.54    N/A    340.2   "
       "49.32  "
       " 43.15    N/A\n",
       "AllGather 8 ranks -1 hosts, 1 sizes, 43.15 at 16777216"},
      {"with time stamps",
       "67108864 16777216 float sum -1 1500.0 44.74 67.11 0 1480.0 45.34 68.02 0  2026-01-05 "
       "12:00:00\n",
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 68.02 at 67108864"},
      {"times in exponents",
       "17179869184 1073741824 double none -1 1.1e+07 1.57 0.79 0 1.1e+07 1.60 0.80 N/A\n",
       "AllGather 2 ranks -1 hosts, 1 sizes, 0.80 at 17179869184"},
      {"per-iteration times behind each way",
       "67108864 16777216 float sum -1 1500.0 44.74 67.11 0 1.0 2.0 3.0 4.0 1480.0 45.34 68.02 0 "
       "1.0 2.0 3.0 4.0\n",
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 68.02 at 67108864"},
      {"out of place only", "67108864 16777216 float sum -1 1500.0 44.74 67.11 0\n",
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 67.11 at 67108864"},
      {"no errors, no root: programs that follow the form",
       "     67108864      16777216     float     sum    1500.0   44.74   67.11\n",
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 67.11 at 67108864"},
      {"no errors, both ways",
       "67108864 16777216 float sum -1 1500.0 44.74 67.11 1480.0 45.34 68.02\n",
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 68.02 at 67108864"},
      {"srun's labels",
       "0: #       size         count      type   redop    root     time   algbw   busbw #wrong    "
       " "
       "time   algbw   busbw #wrong\n"
       "0:     67108864      16777216     float     sum      -1   1500.0   44.74   67.11      0   "
       "1480.0   45.34   68.02      0\n",
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 68.02 at 67108864"},
      {"Intel MPI's labels",
       "[0]     67108864      16777216     float     sum      -1   1500.0   "
       "44.74   67.11      0   1480.0   45.34   68.02      0\n",
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 68.02 at 67108864"},
      {"a host's name, as pdsh puts it",
       "node-01:     67108864      16777216     float     sum      "
       "-1   1500.0   44.74   67.11      0   1480.0   45.34   68.02      0\n",
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 68.02 at 67108864"},
      {"mpirun's tags at each piece",
       "[1,0]<stdout>:    67108864      16777216     float     sum      -1[1,0]<stdout>:  1500.0   "
       "44.74   67.11      0[1,0]<stdout>:  1480.0   45.34   68.02      0\n",
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 68.02 at 67108864"},
      {"Markdown",
       "| size | count | type | redop | root | time | algbw | busbw | #wrong |\n|---|---|\n"
       "| 67108864 | 16777216 | float | sum | -1 | 1500.0 | 44.74 | 67.11 | 0 | 1480.0 | 45.34 | "
       "68.02 | 0 |\n",
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 68.02 at 67108864"},
      {"CSV", "67108864,16777216,float,sum,-1,1500.0,44.74,67.11,0,1480.0,45.34,68.02,0\n",
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 68.02 at 67108864"},
      {"sizes of no bytes", "0 0 float sum -1 6.28 0.00 0.00 0 6.35 0.00 0.00 0\n" + kRow,
       "AllReduce ~4 ranks -1 hosts, 1 sizes, 68.02 at 67108864"},
      {"numbers that are no row", "1 2 3 4 5 6 7 8 9 10 11\n12 7 apples 1 2 3 4\n", ""},
      {"a bandwidth that is not size by time: some other table",
       "67108864 16777216 float sum 1500.0 99.00 67.11\n", ""},
  };
  for (const MeasuredRow& row : kRows) EXPECT_EQ(texts_of(row.log), row.measured) << row.what;
}

TEST(Measurements, MillisecondsOfOldReleasesBecomeMicroseconds) {
  const Job job = job_from_text(
      "    10000000       2500000   float     sum    0.500   20.00   20.00    1e-06    0.490   "
      "20.41   "
      "20.41    1e-06\n");
  ASSERT_EQ(measurements(job).size(), 1U);
  EXPECT_DOUBLE_EQ(measurements(job).front().points.front().out_of_place.time_us, 500);
}

TEST(Measurements, TheOperationIsThatOfItsColumnsAndOfTheFilesNameBetweenThose) {
  const std::string gathers =
      "16777216 524288 float none -1 345.1 48.62 42.54 0 340.2 49.32 43.15 0\n";
  EXPECT_EQ(texts_of(gathers), "AllGather 8 ranks -1 hosts, 1 sizes, 43.15 at 16777216");
  EXPECT_EQ(texts_of(gathers, "runs/nccl_alltoall.log"),
            "AlltoAll 8 ranks -1 hosts, 1 sizes, 43.15 at 16777216");
  // The name contradicts the columns.
  EXPECT_EQ(texts_of(kRow, "runs/alltoall.log"),
            "AllReduce ~4 ranks -1 hosts, 1 sizes, 68.02 at 67108864");
  EXPECT_EQ(texts_of("16777216 524288 float sum -1 345.1 48.62 42.54 0 340.2 49.32 43.15 0\n"),
            "ReduceScatter 8 ranks -1 hosts, 1 sizes, 43.15 at 16777216");
  // Messages check one way only.
  EXPECT_EQ(texts_of("67108864 8388608 double sum -1 10368.0 6.47 6.47 0 9974.0 6.73 6.73 N/A\n"),
            "SendRecv -1 ranks -1 hosts, 1 sizes, 6.73 at 67108864");
  EXPECT_EQ(texts_of("67108864 16777216 float none 0 1500.0 44.74 44.74 0 1480.0 45.34 45.34 0\n"),
            "Broadcast -1 ranks -1 hosts, 1 sizes, 45.34 at 67108864");
}

TEST(Measurements, SeveralTestsInOneLogAreSeveral) {
  const std::string gather =
      "67108864 4194304 float none -1 1500.0 44.74 33.56 0 1480.0 45.34 34.01 0\n";
  EXPECT_EQ(texts_of("# Collective test starting: all_reduce_perf\n" + kRanks + kRow +
                     "# Avg bus bandwidth    : 67.5\n"
                     "# Collective test starting: all_gather_perf\n" +
                     kRanks + gather + "# Avg bus bandwidth    : 33.8\n"),
            "AllReduce 4 ranks 2 hosts, 1 sizes, 68.02 at 67108864; "
            "AllGather 4 ranks 2 hosts, 1 sizes, 34.01 at 67108864");
}

TEST(Measurements, AQuotedEndOfTheListTellsRanksAndHosts) {
  const std::string row =
      "536870912 134217728 float sum -1 1806.7 297.16 586.06 0 1835.9 292.43 576.74 0\n";
  EXPECT_EQ(
      texts_of("#  Rank 71 Group  0 Pid  14840 on tray-18 device  3 [0x01] NVIDIA GB200\n" + row),
      "AllReduce 72 ranks 18 hosts, 1 sizes, 586.06 at 536870912");
  // Each process sees one GPU, so the device tells nothing of hosts.
  EXPECT_EQ(
      texts_of("#  Rank 71 Group  0 Pid  14840 on tray-18 device  0 [0x01] NVIDIA GB200\n" + row),
      "AllReduce 72 ranks -1 hosts, 1 sizes, 586.06 at 536870912");
}

TEST(Measurements, RanksOfGroupsMeasureAmongThemselves) {
  std::string ranks;
  for (int rank = 0; rank < 8; ++rank) {
    ranks += fmt::format("#  Rank {} Group {} Pid 410{} on gpu-a device {} [0000:{}b:00] H100\n",
                         rank, rank % 2, rank, rank, rank);
  }
  EXPECT_EQ(texts_of(ranks + kRow), "AllReduce 4 ranks 1 hosts, 1 sizes, 68.02 at 67108864");
}

struct Sharing {
  std::string_view what;
  std::string_view ranks;
  bool shares;
  int nhosts;
};

TEST(Measurements, OneGpuForTwoRanksIsToldFromMachinesThatLookAlike) {
  const Sharing kRows[] = {
      {"two ranks of one launcher on one GPU",
       "#  Rank  0 Group  0 Pid 41000 on lab device 0 [0000:02:00] RTX 5090\n"
       "#  Rank  1 Group  0 Pid 41001 on lab device 0 [0000:02:00] RTX 5090\n",
       true, 1},
      {"the bus alone is the same for several GPUs of some hosts",
       "#  Rank  0 Group  0 Pid 41000 on lab device  0 [0x01] GH200\n"
       "#  Rank  1 Group  0 Pid 41001 on lab device  0 [0x01] GH200\n",
       false, 1},
      {"containers of one name: equal pids",
       "#  Rank  0 Group  0 Pid 25 on worker device 0 [0000:02:00] H100\n"
       "#  Rank  1 Group  0 Pid 25 on worker device 1 [0000:03:00] H100\n"
       "#  Rank  2 Group  0 Pid 90025 on worker device 0 [0000:02:00] H100\n"
       "#  Rank  3 Group  0 Pid 90025 on worker device 1 [0000:03:00] H100\n",
       false, 2},
  };
  for (const Sharing& row : kRows) {
    const Job job = job_from_text(std::string(row.ranks) + kRow);
    ASSERT_EQ(measurements(job).size(), 1U);
    EXPECT_EQ(measurements(job).front().shares_gpu, row.shares) << row.what;
    EXPECT_EQ(measurements(job).front().nhosts, row.nhosts) << row.what;
  }
}

TEST(Measurements, ProcessesThatMeasureAloneAreOneMeasurement) {
  std::string log;
  for (int i = 0; i < 8; ++i) {
    log += "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20\n";
    log += fmt::format("#  Rank  0 Group  0 Pid 410{} on gpu-a device  0 [0000:1b:00] H100\n", i);
  }
  for (int i = 0; i < 8; ++i) {
    log += "67108864 16777216 float sum -1 67.75 990.54 0.00 0 0.07 962824.45 0.00 0\n";
  }
  const Job job = job_from_text(log);
  ASSERT_EQ(measurements(job).size(), 1U);
  EXPECT_EQ(measurements(job).front().lone_processes, 8);
  EXPECT_EQ(text_of(measurements(job).front()), "AllReduce 1 ranks 1 hosts, 1 sizes, -1.00 at -1");
}

TEST(Measurements, NcclsLinesTellTheCommunicatorAndItsHosts) {
  const std::string nccl =
      "gpu-a:41:41 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
      "busId 1b000 "
      "commId 0x77 - Init COMPLETE\n"
      "gpu-b:42:42 [0] NCCL INFO ncclCommInitRank comm 0x5b rank 1 nranks 2 cudaDev 0 nvmlDev 0 "
      "busId 1b000 "
      "commId 0x77 - Init COMPLETE\n";
  const Job job = job_from_text(
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20\n" +
      nccl + "67108864 16777216 float sum -1 1500.0 44.74 44.74 0 1480.0 45.34 45.34 0\n");
  ASSERT_EQ(measurements(job).size(), 1U);
  EXPECT_EQ(measurements(job).front().communicator, 0);
  EXPECT_EQ(measurements(job).front().nhosts, 2);
  EXPECT_EQ(join(measurements(job).front().hosts, " "), "gpu-a gpu-b");
}

TEST(Measurements, AMillionRowsKeepABoundedNumber) {
  std::string log;
  for (int i = 0; i < 20'000; ++i) log += kRow;
  const Job job = job_from_text(log);
  ASSERT_EQ(measurements(job).size(), 1U);
  EXPECT_EQ(measurements(job).front().points.size(), OrderedLines::kMaxKept);
}

TEST(Measurements, RowsAreKeptBehindThousandsOfRanks) {
  std::string log;
  for (int i = 0; i < 6000; ++i) {
    log += fmt::format("#  Rank {} Group  0 Pid 4{} on gpu-{} device {} [0000:1b:00] H100\n", i,
                       i % 8, i / 8, i % 8);
  }
  EXPECT_EQ(
      texts_of(log + "536870912 134217728 float sum -1 18067 29.71 59.42 0 18067 29.71 59.42 0\n"),
      "AllReduce 6000 ranks 750 hosts, 1 sizes, 59.42 at 536870912");
}

TEST(Measurements, NoCutOfALogThrows) {
  const std::string log = "# Collective test starting: all_reduce_perf\n" + kRanks + kRow + kRow;
  for (size_t size = 0; size < log.size(); size += 7) texts_of(log.substr(0, size));
}

/// A table of OSU's under `heading`.
std::string osu_table(const std::string& heading) {
  return heading +
         "\n# OSU MPI-CUDA Bandwidth Test v7.1\n# Size      Bandwidth (MB/s)\n"
         "2097152     9950.00\n4194304     9960.00\n";
}

TEST(Measurements, HostsAreThoseOfTheHeadingRightAboveTheTable) {
  EXPECT_EQ(texts_of(osu_table("Latency and bandwidth for nodes n1 n2")),
            "? -1 ranks 2 hosts, 2 sizes, 9.96 at 4194304");
  EXPECT_EQ(texts_of(osu_table("=== hosts: n1 <-> n2 ===")),
            "? -1 ranks 2 hosts, 2 sizes, 9.96 at 4194304");
  for (const std::string_view other :
       {"Excluding nodes n1 n2 from the test", "link down between nodes n1 and n2",
        "Testing nodes N1 N2", "test: waiting for nodes n1 and n2", "Testing node n1"}) {
    EXPECT_EQ(texts_of(osu_table(std::string(other))),
              "? -1 ranks -1 hosts, 2 sizes, 9.96 at 4194304")
        << other;
  }
  std::string far = "Bandwidth test for nodes n1 n2\n";
  for (int i = 0; i < 120; ++i) far += "loading\n";
  EXPECT_EQ(texts_of(osu_table(far)), "? -1 ranks -1 hosts, 2 sizes, 9.96 at 4194304");
}

TEST(RankCount, OneRowTellsAsMuchAsItsDigits) {
  // 2 (n - 1) / n of 128 ranks; and of 1440, which five digits leave open by a few dozen.
  EXPECT_EQ(ranks_by_row(Operation::AllReduce, 17179869184, "92173", "369.86"),
            (RankRange{128, 128}));
  const RankRange many = ranks_by_row(Operation::AllReduce, 17179869184, "84625", "405.74");
  EXPECT_TRUE(many.holds(1440));
  EXPECT_LT(many.most - many.least, 100);
  EXPECT_EQ(ranks_by_row(Operation::AllGather, 67108864, "1480.0", "34.01"), (RankRange{4, 4}));
  EXPECT_EQ(ranks_by_row(Operation::AllReduce, 67108864, "67.75", "0.00"), (RankRange{1, 1}));
}

TEST(RankCount, WhatSaysNothingIsUnbounded) {
  EXPECT_EQ(ranks_by_row(Operation::SendRecv, 67108864, "1480.0", "45.34"), RankRange{});
  EXPECT_EQ(ranks_by_row(Operation::Unknown, 67108864, "1480.0", "45.34"), RankRange{});
  EXPECT_EQ(ranks_by_row(Operation::AllReduce, 67108864, "N/A", "45.34"), RankRange{});
  EXPECT_EQ(ranks_by_row(Operation::AllReduce, 0, "6.28", "0.00"), RankRange{});
  EXPECT_FALSE(ranks_by_row(Operation::AllReduce, 8, "85.14", "0.00").is_bounded());
  // Twice what the operation can have: another definition.
  EXPECT_TRUE(ranks_by_row(Operation::AllReduce, 67108864, "1500.0", "134.2").is_empty());
}

TEST(RankCount, ARowThatContradictsTheOthersNarrowsNothing) {
  RankRange range = {8, 64};
  range.narrow_to({16, 128});
  EXPECT_EQ(range, (RankRange{16, 64}));
  range.narrow_to({2, 4});
  EXPECT_EQ(range, (RankRange{16, 64}));
}

TEST(RankCount, WholeHostsAreLikelier) {
  EXPECT_EQ(likeliest_in({127, 130}), 128);
  EXPECT_EQ(likeliest_in({1936, 2112}), 2048);
  EXPECT_EQ(likeliest_in({1411, 1471}), 1440);
  EXPECT_EQ(likeliest_in({11, 13}), 12);
  EXPECT_EQ(likeliest_in({5, 7}), 6);
  EXPECT_EQ(likeliest_in({3, 3}), 3);
  EXPECT_EQ(likeliest_in(RankRange{}), -1);
  EXPECT_EQ(likeliest_in({4, 2}), -1);
}

TEST(RankCount, RoundingIsThatOfTheLastDigit) {
  EXPECT_DOUBLE_EQ(rounding_of("369.86"), 0.005);
  EXPECT_DOUBLE_EQ(rounding_of("92173"), 0.5);
  EXPECT_DOUBLE_EQ(rounding_of("1.1e+07"), 500000);
}

}  // namespace
}  // namespace ncclog
