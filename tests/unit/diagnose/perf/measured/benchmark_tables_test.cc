// Benchmarks of PyTorch programs: their units, and what their throughput is of.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "diagnose/perf/measured/measurement.h"
#include "model/derive/build_job.h"

namespace ncclog {
namespace {

/// "all_reduce_bench.py AllReduce 8 ranks: 67108864 344.0 us 341.20".
std::string table_texts(const std::string& log) {
  const Job job = job_from_text(log);
  std::vector<std::string> texts;
  for (const Measurement& one : measurements(job)) {
    std::string text =
        fmt::format("{} {} {} ranks:", one.name,
                    one.op == Operation::Unknown ? "?" : name_of(one.op), one.nranks);
    for (const MeasuredPoint& point : one.points) {
      text += fmt::format(" {} {:.1f} us {:.2f}", point.bytes, point.out_of_place.time_us,
                          point.busbw());
    }
    texts.push_back(std::move(text));
  }
  return join(texts, "; ");
}

/// A trial of 8 ranks: 4 GB in 0.25 s are 16 GB/s, of which a ring carries 28.
std::string trial(std::string_view id) {
  return fmt::format(
      "{}:\n duration: 0.2500 sec\n algo throughput: 256000000000.0000 bps, 256.0000 Gbps\n busbw: "
      "224.0000  Gbps\n",
      id);
}

TEST(BenchmarkTables, TrialsArePrintedInGigabits) {
  EXPECT_EQ(table_texts("ignore me 0\n0 data size: 4.0 GB\n" + trial("0") + trial("1")),
            "all_reduce_bench.py AllReduce 8 ranks: 4000000000 250000.0 us 28.00 4000000000 "
            "250000.0 us 28.00");
  EXPECT_EQ(
      table_texts("node-a:0 data size: 4.0 GB\nnode-a:0:\n duration: 0.2500 sec\n algo throughput: "
                  "256.0000 Gbps\n busbw: 224.0000  Gbps\n"),
      "all_reduce_bench.py AllReduce 8 ranks: 4000000000 250000.0 us 28.00");
  EXPECT_EQ(table_texts("0 data size: 6.0 GB\ntput_avg (Gbps): 256.5 busbw_avg (Gbps): 224.0\n"),
            "all_reduce_bench.py AllReduce -1 ranks: 6000000000 -1.0 us 28.00");
}

TEST(BenchmarkTables, TrialsOfRanksThatALauncherNamesAreOneMeasurement) {
  EXPECT_EQ(table_texts("[1,0]<stdout>:0 data size: 4.0 GB\n"
                        "[1,0]<stdout>: duration: 0.2500 sec\n"
                        "[1,1]<stdout>: duration: 0.2500 sec\n"
                        "[1,1]<stdout>: busbw: 224.0000  Gbps\n"
                        "[1,0]<stdout>: busbw: 224.0000  Gbps\n"),
            "all_reduce_bench.py AllReduce 8 ranks: 4000000000 250000.0 us 28.00 4000000000 "
            "250000.0 us 28.00");
}

TEST(BenchmarkTables, TablesArePrintedInGigabytes) {
  EXPECT_EQ(
      table_texts("The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials):\n\n"
                  "| payload |    busbw   |    algbw   |\n"
                  "| ------: | ---------: | ---------: |\n"
                  "|   32KiB |   1.50GBps |   0.86GBps |\n"
                  "|   64MiB | 341.20GBps | 194.97GBps |\n"),
      "all_reduce_bench.py AllReduce 8 ranks: 32768 38.1 us 1.50 67108864 344.2 us 341.20");
  // Newer ones add latencies.
  EXPECT_EQ(
      table_texts("The average bandwidth and the per-call latency of all_gather over 16 ranks (5 "
                  "warmups / 20 trials):\n"
                  "|   1.5MiB |   80.00GBps |   85.33GBps |         19.0us |    25.1us |    19.4us "
                  "|  1000 |\n"),
      "torch-dist-bench.py AllGather 16 ranks: 1572864 18.4 us 80.00");
  // All rows of one payload, as the heading says.
  EXPECT_EQ(
      table_texts(
          "The 2.0GiB payload bandwidth of all_reduce over 8 ranks (5 warmups / 3 trials):\n"
          "| 450.00GBps | 257.14GBps |\n| 452.00GBps | 258.28GBps |\n"),
      "all_reduce_bench.py AllReduce 8 ranks: 2147483648 8351.4 us 450.00 2147483648 8314.6 us "
      "452.00");
  EXPECT_EQ(
      table_texts("The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 8 ranks):\n"
                  " algbw: 172.143 GBps (1377.1 Gbps)\n busbw: 301.250 GBps (2410.0 Gbps)\n"),
      "all_reduce_bench.py AllReduce 8 ranks: 4000000000 -1.0 us 301.25");
}

TEST(BenchmarkTables, ATableWithoutHeadingTellsItsRanks) {
  EXPECT_EQ(table_texts("| payload |    busbw   |    algbw   |\n"
                        "|   32KiB |   1.50GBps |   0.86GBps |\n"
                        "|   64MiB | 341.20GBps | 194.97GBps |\n"),
            "all_reduce_bench.py AllReduce 8 ranks: 32768 38.1 us 1.50 67108864 344.2 us 341.20");
}

TEST(BenchmarkTables, DeepSpeedsRowsAreOfTheShapeAndItsUnitIsFoundByArithmetic) {
  // 64 MiB in 1.25 ms on 8 ranks: 53.69 GB/s, of which a ring carries 93.95, or 751.6 Gbit/s.
  const std::string heading =
      "---- Performance of all_reduce on 8 devices "
      "---------------------------------------------------------\n"
      "Size (Bytes)         Description               Duration             Throughput (Gbps)    "
      "BusBW "
      "(Gbps)\n";
  EXPECT_EQ(
      table_texts(heading + "64.0 MB              16777216x4                1.250 ms             "
                            "858.993              751.619\n"),
      "ds_bench AllReduce 8 ranks: 67108864 1250.0 us 93.95");
  EXPECT_EQ(table_texts(heading + "67108864 16777216x4 1250.000 107.374 93.952\n"),
            "ds_bench AllReduce 8 ranks: 67108864 1250.0 us 93.95");
  // An AllGather is counted by what one rank gives.
  EXPECT_EQ(table_texts(
                "---- Performance of all_gather on 8 devices ----\n"
                "8.0 MB               2097152x4                 1.250 ms             429.497      "
                "        375.810\n"),
            "ds_bench AllGather 8 ranks: 67108864 1250.0 us 46.98");
}

TEST(BenchmarkTables, TheCommsLoggerTimesCallsOfATraining) {
  const std::string heading =
      "Comm. Op            Message Size        Count               Total Latency(ms)   Avg "
      "Latency(ms) "
      "    tput_avg (Gbps)     busbw_avg (Gbps)\n";
  const std::string rows =
      "all_reduce\n"
      "                    2.0 KB              146                 11.12               0.08        "
      "    "
      "    0.43                0.41\n"
      "                    512.0 MB            40                  412.10              10.30       "
      "    "
      "    834.00              729.75\n"
      "barrier\n";
  EXPECT_EQ(table_texts(heading + rows),
            "DeepSpeed's comms logger AllReduce -1 ranks: 2048 80.0 us 0.05 536870912 10300.0 us "
            "91.22");
  EXPECT_TRUE(measurements(job_from_text(heading + rows)).front().in_training);
  // The table of stragglers has as many columns and no bandwidth; a word alone is no operation.
  EXPECT_EQ(
      table_texts("Comm. Op            Message Size        Count               Total comm lat(ms)  "
                  "Total straggler(ms) Avg comm lat(ms)    Avg straggler(ms)\n" +
                  rows),
      "");
  EXPECT_EQ(table_texts(rows), "");
  const std::string call =
      "[2026-01-05 12:00:05,123] [INFO] [logging.py:96:log_dist] [Rank 0] comm op: all_reduce | "
      "time "
      "(ms): 10.30 | msg size: 512.0 MB | algbw (Gbps): 834.00 | busbw (Gbps): 729.75\n";
  const std::string other =
      "rank=0 | comm op: broadcast | time (ms): 1.00 | msg size: 2.0 KB | algbw (Gbps): 0.02  | "
      "busbw "
      "(Gbps): 0.02 \n";
  EXPECT_EQ(
      table_texts(call + other + call),
      "DeepSpeed's comms logger AllReduce -1 ranks: 536870912 10300.0 us 91.22 536870912 10300.0 "
      "us 91.22; DeepSpeed's comms logger Broadcast -1 ranks: 2048 1000.0 us 0.00");
}

TEST(BenchmarkTables, ParamsRowsAreReadInAllTheirForms) {
  EXPECT_EQ(
      table_texts("\tCOMMS-RES-all_reduce-float32        67108864          16777216             "
                  "345.2       346.0       347.9       341.7       350.3        194.406     "
                  "340.211\n"),
      "PARAM AllReduce 8 ranks: 67108864 345.2 us 340.21");
  EXPECT_EQ(
      table_texts("0: \tCOMMS-RES-all_to_all-float32        67108864         41.187      38.613\n"),
      "PARAM AlltoAll 16 ranks: 67108864 -1.0 us 38.61");
  EXPECT_EQ(table_texts("\tCOMMS-RES-all_reduce-float32\tsize (B)\tnElementsPerRank\n"), "");
}

TEST(BenchmarkTables, RowsOfAnyScriptAreReadByTheirHeading) {
  EXPECT_EQ(table_texts("size(MB)   tavg(usec)  busbw(GB/sec)\n"
                        "16.00      700.0       40.00\n"
                        "32.00      1300.0      43.08\n"),
            "a benchmark ? -1 ranks: 16000000 700.0 us 40.00 32000000 1300.0 us 43.08");
}

TEST(BenchmarkTables, RowsWhoseSizesDoNotRiseAreRunsOfTheirOwn) {
  EXPECT_EQ(table_texts("| Config | GPUs | Size (MB) | Time (ms) | busbw (GB/s) |\n"
                        "|---|---:|---:|---:|---:|\n"
                        "| 1n2g | 2 | 400 | 34.0 | 12.81 |\n"
                        "| 2n1g | 2 | 400 | 40.3 | 10.80 |\n"),
            "a benchmark ? 2 ranks: 400000000 34000.0 us 12.81; "
            "a benchmark ? 2 ranks: 400000000 40300.0 us 10.80");
}

TEST(BenchmarkTables, NoCutOfALineThrows) {
  const std::string log =
      "0 data size: 4.0 GB\n" + trial("0") +
      "| 32KiB | 1.50GBps | 0.86GBps |\n64.0 MB 16777216x4 1.250 ms 858.9 751.6\n";
  for (size_t size = 0; size < log.size(); ++size) table_texts(log.substr(0, size));
  table_texts(
      "9999999999999999999 data size: 1e999 GB\n duration: 0 sec\n busbw: 1e308  Gbps\n"
      "1 99999999999999999x999 1 1 1\n999999999999 GB 1x1 0.0 ms 0 0\n");
}

}  // namespace
}  // namespace ncclog
