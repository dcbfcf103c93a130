// Logs that re-create what public tables and threads show, with names and numbers of our own.

#include "diagnose/perf/verdict/perf_verdict.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/collectives.h"
#include "model/derive/build_job.h"
#include "support/fact_of.h"
#include "support/job_from_files.h"

namespace ncclog {
namespace {

using testing::answer_of;
using testing::job_from_files;

struct Rows {
  std::string test = "all_reduce_perf";
  std::string op = "AllReduce";
  int hosts = 1;
  int per_host = 8;
  std::string gpu = "NVIDIA H100 80GB HBM3";
  std::string host = "box";
  bool list_ranks = true;
  /// Bytes as a power of two, and GB/s.
  std::vector<std::pair<int, double>> rows;
};

std::string host_name(const Rows& table, int host) {
  return table.hosts == 1 ? table.host : fmt::format("{}{}", table.host, host);
}

/// What nccl-tests prints.
std::string table_of(const Rows& table) {
  const int nranks = table.hosts * table.per_host;
  std::string text = fmt::format("# Collective test starting: {}\n# Using devices\n", table.test);
  for (int rank = 0; rank < nranks && table.list_ranks; ++rank) {
    text += fmt::format("#  Rank {:2} Group  0 Pid {:6} on {} device {:2} [0000:{:02x}:00] {}\n",
                        rank, 1000 + rank, host_name(table, rank / table.per_host),
                        rank % table.per_host, 16 + rank % table.per_host, table.gpu);
  }
  for (const auto& [power, busbw] : table.rows) {
    const double bytes = static_cast<double>(int64_t{1} << power);
    const double algbw = busbw / bus_factor(operation_of(table.op), nranks);
    const std::string values =
        fmt::format("{:.1f} {:.2f} {:.2f} 0", bytes / algbw / 1e3, algbw, busbw);
    text += fmt::format("{} {} float {} -1 {} {}\n", int64_t{1} << power, int64_t{1} << (power - 2),
                        table.op == "AllReduce" ? "sum" : "none", values, values);
  }
  return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 12.5\n";
}

/// Large sizes that reach `busbw`.
std::vector<std::pair<int, double>> flat(double busbw) {
  return {{28, busbw * 0.93}, {30, busbw * 0.98}, {32, busbw * 0.995}, {33, busbw}};
}

/// Lines that each host's processes print after a header.
std::string says(const Rows& table, const std::string& message) {
  std::string text;
  for (int rank = 0; rank < table.hosts * table.per_host; ++rank) {
    text +=
        fmt::format("{0}:{1}:{1} [{2}] NCCL INFO {3}\n", host_name(table, rank / table.per_host),
                    1000 + rank, rank % table.per_host, message);
  }
  return text;
}

std::string init(const Rows& table) {
  std::string text;
  const int nranks = table.hosts * table.per_host;
  for (int rank = 0; rank < nranks; ++rank) {
    text += fmt::format(
        "{0}:{1}:{1} [{2}] NCCL INFO ncclCommInitRank comm 0x{3:x} rank {4} nranks {5} cudaDev {2} "
        "nvmlDev {2} busId {6:x}000 commId 0x77 - Init COMPLETE\n",
        host_name(table, rank / table.per_host), 1000 + rank, rank % table.per_host, 0x100 + rank,
        rank, nranks, 16 + rank % table.per_host);
  }
  return text;
}

/// A connection from the last rank of the first host to the first of the second.
std::string connected(const Rows& table, const std::string& path) {
  const int last = table.per_host - 1;
  return fmt::format(
      "{0}:{1}:{1} [{2}] NCCL INFO Channel 00/0 : {2}[{2}] -> {3}[0] [send] via {4}\n"
      "{5}:{6}:{6} [0] NCCL INFO Channel 00/0 : {2}[{2}] -> {3}[0] [receive] via {4}\n",
      host_name(table, 0), 1000 + last, last, table.per_host, path, host_name(table, 1),
      1000 + table.per_host);
}

std::string verdict_of(const std::string& log) {
  const Job job = job_from_text(log);
  const auto& verdicts = perf_verdicts(job);
  if (verdicts.size() != 1) return fmt::format("{} verdicts", verdicts.size());
  return fmt::format("{} {} {:.0f}", to_string(verdicts[0].answer), to_string(verdicts[0].stage),
                     verdicts[0].ceiling);
}

bool holds(const std::vector<std::string>& words, std::string_view part) {
  return std::ranges::any_of(
      words, [&](const std::string& each) { return each.find(part) != std::string::npos; });
}

struct TableCase {
  std::string_view name;
  Rows table;
  std::string_view verdict;
};

TEST(PerfVerdicts, CallNormalWhatSuchMachinesGive) {
  const TableCase kCases[] = {
      {"8 x A100", {.gpu = "NVIDIA A100-SXM4-80GB", .rows = flat(231)}, "normal nvlink 235"},
      {"8 x H100 by the switch", {.rows = flat(478)}, "normal nvls 480"},
      {"AllGather has no switch",
       {.test = "all_gather_perf", .op = "AllGather", .rows = flat(366)},
       "normal nvlink 370"},
      {"4 x H100 have no switch", {.per_host = 4, .rows = flat(362)}, "normal nvlink 370"},
      {"2 A100 may have a third of the links, or a switch",
       {.per_host = 2, .gpu = "NVIDIA A100-SXM4-40GB", .rows = flat(76)},
       "cannot-tell unknown -1"},
      {"DGX-1", {.gpu = "Tesla V100-SXM2-16GB", .rows = flat(128)}, "normal nvlink 130"},
      {"8 x MI300X", {.gpu = "AMD Instinct MI300X", .rows = flat(312)}, "normal nvlink 313"},
      {"2 x MI300X",
       {.per_host = 2, .gpu = "AMD Instinct MI300X", .rows = flat(46)},
       "normal nvlink 47"},
      {"8 x B200", {.gpu = "NVIDIA B200", .rows = flat(835)}, "normal nvls 840"},
      {"2 x L40S", {.per_host = 2, .gpu = "NVIDIA L40S", .rows = flat(21)}, "normal pcie 24"},
      {"8 x L40S share links, or lack lanes",
       {.gpu = "NVIDIA L40S", .rows = flat(9)},
       "cannot-tell unknown -1"},
      {"less than any healthy host of such cards",
       {.per_host = 4, .gpu = "Tesla T4", .rows = flat(1.5)},
       "below unknown 12"},
      {"2 hosts of 8 x H100", {.hosts = 2, .rows = flat(360)}, "normal nic 400"},
      {"2 hosts by trees", {.hosts = 2, .rows = flat(470)}, "normal nvls 480"},
      {"16 hosts", {.hosts = 16, .rows = flat(355)}, "normal nic 400"},
      {"one GPU a host", {.hosts = 4, .per_host = 1, .rows = flat(48)}, "normal nic 50"},
      {"AlltoAll over hosts",
       {.test = "alltoall_perf", .op = "AlltoAll", .hosts = 2, .rows = flat(85)},
       "normal nic 94"},
      {"one rack of GB200",
       {.hosts = 18, .per_host = 4, .gpu = "NVIDIA GB200", .rows = flat(845)},
       "normal nvls 840"},
      {"Cray hosts with Slingshot",
       {.hosts = 4,
        .per_host = 4,
        .gpu = "NVIDIA GH200 120GB",
        .host = "nid00123",
        .rows = flat(91)},
       "normal nic 100"},
  };
  for (const TableCase& row : kCases) {
    EXPECT_EQ(verdict_of(table_of(row.table)), row.verdict) << row.name;
  }
}

TEST(PerfVerdicts, JudgeTheEndOfTheCurveAndNotTheMean) {
  const Rows table = {.rows = {{10, 0.1}, {20, 40}, {28, 436}, {30, 464}, {33, 480}}};
  const Job job = job_from_text(table_of(table));
  const PerfVerdict& verdict = perf_verdicts(job).front();
  EXPECT_EQ(verdict.answer, PerfAnswer::Normal);
  EXPECT_TRUE(holds(verdict.notes, "mean of 12.5 GB/s"));
  EXPECT_TRUE(holds(verdict.do_not, "Avg bus bandwidth"));
}

TEST(PerfVerdicts, ExpectLessOfACurveThatStillRises) {
  const Rows table = {.per_host = 4, .rows = {{24, 250}, {25, 280}, {26, 307}, {27, 324}}};
  const Job job = job_from_text(table_of(table));
  const PerfVerdict& verdict = perf_verdicts(job).front();
  EXPECT_EQ(verdict.answer, PerfAnswer::Normal);
  EXPECT_TRUE(holds(verdict.notes, "still rises"));
}

TEST(PerfVerdicts, ExpectLessOfOneSmallSize) {
  EXPECT_EQ(verdict_of(table_of({.rows = {{24, 220}}})), "normal nvls 480");
  EXPECT_EQ(verdict_of(table_of({.rows = {{33, 220}}})), "below unknown 480");
}

TEST(PerfVerdicts, ExpectLessWhereAllSizesAreSmall) {
  const Rows table = {.rows = {{18, 22}, {20, 40}, {22, 107}, {23, 150}}};
  const Job job = job_from_text(table_of(table));
  EXPECT_EQ(perf_verdicts(job).front().answer, PerfAnswer::Normal);
  EXPECT_TRUE(holds(perf_verdicts(job).front().notes, "is small"));
}

TEST(PerfVerdicts, SayHowMuchIsMissingWhereTheMachineIsKnown) {
  const Rows table = {.gpu = "NVIDIA A100-SXM4-80GB", .rows = flat(118)};
  const Job job = job_from_text(table_of(table));
  const PerfVerdict& verdict = perf_verdicts(job).front();
  EXPECT_EQ(verdict.headline,
            "AllReduce of 8 ranks on 1 host: 118 GB/s, 50 % below the 235 that 8 x A100 give by "
            "rings over NVLink; these lines do not tell which stage or host it is");
  EXPECT_TRUE(holds(verdict.attempts, "nvidia-smi nvlink"));
}

TEST(PerfVerdicts, DoNotAccuseHostsWhoseNetworkIsAGuess) {
  // Some hosts of 8 x H100 have half or a quarter of the usual network.
  EXPECT_EQ(verdict_of(table_of({.hosts = 4, .rows = flat(92)})), "cannot-tell unknown -1");
  EXPECT_EQ(verdict_of(table_of({.hosts = 4, .rows = flat(9)})), "below unknown 100");
}

TEST(PerfVerdicts, SeeThatACurveFallsThatShouldNot) {
  const Rows table = {.test = "alltoall_perf",
                      .op = "AlltoAll",
                      .hosts = 2,
                      .per_host = 1,
                      .rows = {{25, 7.2}, {28, 7.9}, {30, 4.8}, {32, 2.8}, {34, 0.8}}};
  const Job job = job_from_text(table_of(table));
  const PerfVerdict& verdict = perf_verdicts(job).front();
  EXPECT_EQ(verdict.answer, PerfAnswer::Below);
  EXPECT_TRUE(holds(verdict.notes, "falls from 7.90 GB/s to 0.80"));
  EXPECT_TRUE(holds(verdict.capture, "pairs of these hosts"));
}

struct LogCase {
  std::string_view name;
  std::string log;
  std::string_view verdict;
};

TEST(PerfVerdicts, NameTheStageThatLinesShow) {
  const Rows two = {.hosts = 2, .rows = flat(9)};
  const Rows half = {.hosts = 2, .rows = flat(180)};
  const Rows one = {.rows = flat(60)};
  const Rows lane = {.rows = flat(21)};
  const Rows slow_pcie = {.per_host = 2, .gpu = "NVIDIA A40", .rows = flat(5.6)};
  const std::string ib =
      "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB [4]mlx5_4:1/IB "
      "[5]mlx5_5:1/IB [6]mlx5_6:1/IB [7]mlx5_7:1/IB [RO]; OOB eno1:10.4.4.1<0>";
  const LogCase kCases[] = {
      {"sockets between hosts with RDMA", table_of(two) + says(two, "Using network Socket"),
       "limited tcp -1"},
      {"RDMA switched off",
       table_of(two) + says(two, "NCCL_IB_DISABLE set by environment to 1.") +
           says(two, "Using network Socket"),
       "limited tcp -1"},
      {"no GPUDirect RDMA, as NCCL says of each NIC",
       table_of(half) + says(half, ib) + says(half, "Using network IB") +
           says(half, "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"),
       "limited nic-without-gdr 200"},
      {"no GPUDirect RDMA",
       table_of(half) + init(half) + says(half, ib) + says(half, "Using network IB") +
           connected(half, "NET/IB/0"),
       "limited nic-without-gdr 200"},
      {"one NIC of eight",
       table_of(two) + says(two, "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eno1:10.4.4.1<0>") +
           says(two,
                "NET/IB: [0] mlx5_0:uverbs0:1/IB provider=Mlx5 speed=100000 context=0x55 "
                "pciPath=/sys/devices/pci0000:17 ar=1") +
           says(two, "NCCL_TOPO_FILE set by environment to /opt/ndv5-topo.xml") +
           says(two, "Using network IB"),
       "limited nic 12"},
      {"P2P switched off", table_of(one) + says(one, "NCCL_P2P_DISABLE set by environment to 1."),
       "limited shm -1"},
      {"P2P and SHM switched off",
       table_of(one) + says(one, "NCCL_P2P_DISABLE set by environment to 1.") +
           says(one, "NCCL_SHM_DISABLE set by environment to 1."),
       "limited tcp -1"},
      {"one channel",
       table_of(lane) + says(lane, "NCCL_MAX_NCHANNELS set by environment to 1.") +
           says(lane,
                "1 coll channels, 1 collnet channels, 0 nvls channels, 1 p2p channels, 1 p2p "
                "channels per peer"),
       "limited channels 37"},
      {"trees between two ranks, which send what rings do",
       table_of({.per_host = 2, .list_ranks = false, .rows = {{24, 39.9}, {25, 41.5}}}) +
           "$ mpirun -x NCCL_ALGO=Tree -np 2 ./all_reduce_perf -b 16M -e 32M -f 2\n",
       "cannot-tell unknown -1"},
      {"LL forced", table_of(one) + says(one, "NCCL_PROTO set by environment to LL"),
       "limited protocol 141"},
      {"host memory in spite of NVLink",
       table_of(one) + init(one) +
           "box:1000:1000 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n",
       "limited shm -1"},
      {"PCIe where NVLink should be",
       table_of(lane) + says(lane,
                             "Pattern 4, crossNic 0, nChannels 2, bw 22.0/22.0, type PIX/PIX, "
                             "sameChannels 1"),
       "limited pcie 44"},
      {"the link between sockets",
       table_of(slow_pcie) + says(slow_pcie,
                                  "Pattern 4, crossNic 0, nChannels 1, bw 20.0/20.0, type "
                                  "SYS/SYS, sameChannels 1"),
       "limited cpu 20"},
  };
  for (const LogCase& row : kCases) EXPECT_EQ(verdict_of(row.log), row.verdict) << row.name;
}

TEST(PerfVerdicts, KnowTheGpusByTheirLinksToSwitches) {
  const std::string rows = table_of({.per_host = 2, .list_ranks = false, .rows = flat(28)});
  const std::string lines = R"(box:7:7 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.
box:7:7 [0] NCCL INFO ncclCommInitRank comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0x77 - Init START
box:8:8 [1] NCCL INFO ncclCommInitRank comm 0x20 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 70 commId 0x77 - Init START
box:7:7 [0] NCCL INFO === System : maxBw 370.8 totalBw 370.8 ===
box:7:7 [0] NCCL INFO CPU/0-0 (1/1/2)
box:7:7 [0] NCCL INFO + PCI[48.0] - GPU/0-60 (0)
box:7:7 [0] NCCL INFO               + NVL[370.8] - NVS/0-0
box:7:7 [0] NCCL INFO + PCI[48.0] - GPU/0-70 (1)
box:7:7 [0] NCCL INFO               + NVL[370.8] - NVS/0-0
box:7:7 [0] NCCL INFO ==========================================
box:7:7 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct
box:7:7 [0] NCCL INFO ncclCommInitRank comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0x77 - Init COMPLETE
box:8:8 [1] NCCL INFO ncclCommInitRank comm 0x20 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 70 commId 0x77 - Init COMPLETE
)";
  const Job job = job_from_text(rows + lines);
  const PerfVerdict& verdict = perf_verdicts(job).front();
  EXPECT_EQ(verdict.answer, PerfAnswer::Limited);
  EXPECT_EQ(verdict.stage, Stage::SHM);
  EXPECT_EQ(verdict.machine_ceiling, 370);
}

TEST(PerfVerdicts, TakeWhatIsAboveASlotForABridge) {
  const Rows good = {.per_host = 2, .gpu = "NVIDIA A100-PCIE-40GB", .rows = flat(210)};
  const Rows half = {.per_host = 2, .gpu = "NVIDIA H100 PCIe", .rows = flat(116)};
  EXPECT_EQ(verdict_of(table_of(good)), "normal nvlink 240");
  EXPECT_EQ(verdict_of(table_of(half)), "below unknown 247");
}

TEST(PerfVerdicts, SayThatNICsOfAKindOfHostAreUsualForIt) {
  const Rows table = {.hosts = 4, .host = "a3mega-", .rows = flat(178)};
  const Job job = job_from_text(table_of(table));
  const PerfVerdict& verdict = perf_verdicts(job).front();
  EXPECT_NE(verdict.headline.find("8 NICs x 200 Gb/s a host (usual for a3mega) give"),
            std::string::npos)
      << verdict.headline;
}

TEST(PerfVerdicts, AskTheRatesThatIbstatPrintsInAFileOfItsOwn) {
  const Rows table = {.hosts = 3, .gpu = "Tesla V100-SXM2-32GB", .rows = flat(47)};
  const std::string log =
      table_of(table) +
      says(table,
           "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB ; OOB "
           "eth0:10.4.4.1<0>") +
      says(table, "Using network IB");
  const std::string ibstat = "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tRate: 100\n";
  const Job job = job_from_files({{"a/log.txt", log}, {"a/ibstat.txt", ibstat}});
  const PerfVerdict& verdict = perf_verdicts(job).front();
  EXPECT_EQ(verdict.answer, PerfAnswer::Normal);
  EXPECT_NE(verdict.headline.find("4 NICs x 100 Gb/s a host"), std::string::npos)
      << verdict.headline;
}

TEST(PerfVerdicts, LeaveASettingAloneThatCostsNothing) {
  const Rows table = {.rows = flat(478)};
  const Job job =
      job_from_text(table_of(table) + says(table, "NCCL_P2P_DISABLE set by environment to 1."));
  const PerfVerdict& verdict = perf_verdicts(job).front();
  EXPECT_EQ(verdict.answer, PerfAnswer::Normal);
  EXPECT_TRUE(holds(verdict.notes, "NCCL_P2P_DISABLE=1 is set, and costs nothing"));
}

TEST(PerfVerdicts, CallNoSocketsNormalWhoseRateIsUnknown) {
  const Rows table = {.hosts = 2, .per_host = 1, .gpu = "Tesla T4", .rows = flat(2.6)};
  const std::string sockets =
      says(table, "NET/IB : No device found.") + says(table, "Using network Socket");
  EXPECT_EQ(verdict_of(table_of(table) + sockets), "limited tcp -1");
}

TEST(PerfVerdicts, CountNicsThatLinesList) {
  const Rows table = {.test = "all_gather_perf",
                      .op = "AllGather",
                      .hosts = 2,
                      .per_host = 4,
                      .gpu = "NVIDIA H100",
                      .rows = flat(97)};
  const std::string nics = says(table,
                                "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_2:1/IB [2]mlx5_3:1/IB "
                                "[3]mlx5_4:1/IB [4]mlx5_5:1/IB [RO]; OOB eno1:10.4.4.1<0>");
  const Job job = job_from_text(table_of(table) + nics + says(table, "Using network IB"));
  const PerfVerdict& verdict = perf_verdicts(job).front();
  // Which rate explains the value proves nothing.
  EXPECT_EQ(verdict.answer, PerfAnswer::CannotTell);
  EXPECT_NE(verdict.headline.find("97 % of the 100 that 4 NICs of 200 Gb/s a host give"),
            std::string::npos)
      << verdict.headline;
}

/// Healthy machines at `share` of what they give.
std::vector<TableCase> rescaled(double share) {
  std::vector<TableCase> cases = {
      {"8 x H100", {.rows = flat(482)}, ""},
      {"2 x H100", {.per_host = 2, .rows = flat(340)}, ""},
      {"2 x L40S", {.per_host = 2, .gpu = "NVIDIA L40S", .rows = flat(22.4)}, ""},
      {"2 hosts by trees", {.hosts = 2, .rows = flat(487)}, ""},
      {"2 hosts of 4 by trees",
       {.hosts = 2,
        .per_host = 4,
        .gpu = "NVIDIA GH200 120GB",
        .host = "nid00123",
        .rows = flat(158)},
       ""},
      {"rows alone", {.hosts = 2, .list_ranks = false, .rows = flat(390)}, ""},
      {"2 hosts of MI300X", {.hosts = 2, .gpu = "AMD Instinct MI300X", .rows = flat(358)}, ""},
      {"racks", {.hosts = 36, .per_host = 4, .gpu = "NVIDIA GB200", .rows = flat(820)}, ""},
  };
  for (TableCase& each : cases) {
    for (auto& [size, busbw] : each.table.rows) busbw *= share;
  }
  return cases;
}

TEST(PerfVerdicts, CallNoHealthyMachineNormalAtHalfOfItsSpeed) {
  for (const double share : {0.5, 0.25}) {
    for (const TableCase& row : rescaled(share)) {
      EXPECT_NE(verdict_of(table_of(row.table)).substr(0, 6), "normal") << row.name << share;
    }
  }
  for (const TableCase& row : rescaled(1)) {
    if (!row.table.list_ranks) continue;
    EXPECT_EQ(verdict_of(table_of(row.table)).substr(0, 6), "normal") << row.name;
  }
}

TEST(PerfVerdicts, SayWhatAValueWouldBeNormalOfWhereNothingNamesTheMachine) {
  const auto headline = [](const Rows& table) {
    const Job job = job_from_text(table_of(table));
    return perf_verdicts(job).front().headline;
  };
  EXPECT_EQ(
      headline({.hosts = 2, .per_host = 4, .list_ranks = false, .rows = flat(44.4)}),
      "AllReduce of 8 ranks: 44.4 GB/s; cannot tell: nothing in the logs names the machine "
      "or its links; it would be all of the 43.8 that 200 Gb/s of NICs a host give by trees or "
      "89 % of the 50.0 that 400 Gb/s of NICs a host give");
  // What is below may be sockets or host memory as well.
  EXPECT_EQ(headline({.hosts = 2, .list_ranks = false, .rows = flat(11.8)}),
            "AllReduce of 16 ranks: 11.8 GB/s; cannot tell: nothing in the logs names the machine "
            "or its links");
}

TEST(PerfVerdicts, TakeSettingsThatRestrictForLimits) {
  const Rows pairs = {.hosts = 2, .per_host = 2, .rows = flat(24)};
  EXPECT_EQ(verdict_of(table_of(pairs) + says(pairs, "NCCL_IB_HCA set by environment to mlx5_0")),
            "limited nic -1");
  const Rows one = {.rows = flat(21)};
  EXPECT_EQ(verdict_of("NCCL_MAX_NCHANNELS=1\n" + table_of(one)), "limited channels 37");
}

TEST(PerfVerdicts, SayWhatATestOfOneRankIs) {
  const Rows table = {.per_host = 1, .rows = {}};
  const std::string rows = "1048576 262144 float sum -1 4.1 255.75 0.00 0 0.3 3495.25 0.00 0\n";
  const Job job = job_from_text(table_of(table) + rows);
  ASSERT_EQ(perf_verdicts(job).size(), 1u);
  EXPECT_EQ(perf_verdicts(job)[0].answer, PerfAnswer::CannotTell);
  EXPECT_NE(perf_verdicts(job)[0].headline.find("one rank"), std::string::npos);
}

TEST(PerfVerdicts, ReadSettingsOfFilesBesideTheTable) {
  Rows table = {.per_host = 2, .gpu = "NVIDIA GeForce RTX 5090", .rows = flat(0.06)};
  const std::string text = table_of(table);
  const auto verdict = [&](const std::string& settings, const std::string& path) {
    const Job job = job_from_files({{path, settings}, {"logs/a/log.txt", text}});
    return std::string(to_string(perf_verdicts(job).front().stage));
  };
  const std::string settings = "NCCL_PROTO=LL\nNCCL_P2P_DISABLE=1\nNCCL_SHM_DISABLE=1\n";
  EXPECT_EQ(verdict(settings, "logs/a/env.txt"), "protocol");
  EXPECT_EQ(verdict(settings, "logs/env.txt"), "protocol");
  // Those of another run are its own.
  EXPECT_EQ(verdict(settings, "logs/b/env.txt"), "unknown");
}

TEST(PerfVerdicts, SuspectSocketsWhereSettingsNameNoPluginOnSlingshot) {
  const Rows table = {
      .hosts = 2, .per_host = 4, .gpu = "NVIDIA GH200 120GB", .host = "nid00123", .rows = flat(8)};
  EXPECT_EQ(verdict_of(table_of(table)), "below unknown 158");
  EXPECT_EQ(verdict_of("NCCL_NET_GDR_LEVEL=PHB\n" + table_of(table)), "limited tcp -1");
  EXPECT_EQ(verdict_of("+ export 'NCCL_NET=AWS Libfabric'\n" + table_of(table)),
            "below unknown 158");
}

TEST(PerfVerdicts, TellThePathWhereNothingWasMeasured) {
  const Rows table = {.hosts = 2, .per_host = 1};
  const Job job = job_from_text(init(table) + connected(table, "NET/Libfabric/0"));
  ASSERT_EQ(perf_verdicts(job).size(), 1u);
  const PerfVerdict& verdict = perf_verdicts(job)[0];
  EXPECT_EQ(verdict.measurement, nullptr);
  EXPECT_EQ(verdict.answer, PerfAnswer::CannotTell);
  EXPECT_EQ(verdict.stage, Stage::NICWithoutGDR);
  EXPECT_TRUE(holds(verdict.capture, "A table of nccl-tests"));
}

TEST(PerfVerdicts, HaveNothingToSayOfLogsWithoutPaths) {
  const Job job = job_from_text("nothing\n");
  EXPECT_TRUE(perf_verdicts(job).empty());
}

TEST(PerfFacts, AccuseOnlyWhatIsKnownToBeLess) {
  const Rows slow = {.rows = flat(60)};
  const Rows fast = {.rows = flat(478)};
  const std::string forced = says(slow, "NCCL_PROTO set by environment to LL");
  EXPECT_EQ(answer_of("job.perf_limited", table_of(slow) + forced), "yes");
  EXPECT_EQ(answer_of("job.perf_limited", table_of(fast) + forced), "no");
  EXPECT_EQ(answer_of("job.perf_below", table_of(slow)), "yes");
  EXPECT_EQ(answer_of("job.perf_below", table_of(fast)), "no");
  EXPECT_EQ(answer_of("job.perf_normal", table_of(fast)), "yes");
  EXPECT_EQ(answer_of("job.perf_normal", table_of(slow)), "no");
  EXPECT_EQ(answer_of("job.perf_normal", "nothing\n"), "unknown");
  // Sockets where nothing better is known are no finding.
  const Rows unnamed = {.hosts = 2, .per_host = 1, .list_ranks = false, .rows = flat(2)};
  EXPECT_EQ(
      answer_of("job.perf_limited", table_of(unnamed) + says(unnamed, "Using network Socket")),
      "no");
}

const std::string kGood = "8388608 2097152 float sum -1 49.3 1.71 3.20 0 50.1 1.67 3.14 0\n";

/// What NCCL's search promises: channels times GB/s inside a host, and between hosts.
std::string promise(std::string_view channels, std::string_view bw) {
  return fmt::format(
      "n1:7:7 [0] NCCL INFO Pattern 4, crossNic 0, nChannels {}, bw {}, type PIX/PIX, sameChannels "
      "1\n",
      channels, bw);
}

TEST(PerfFacts, HoldTheMeasuredBandwidthAgainstWhatNcclReckonsWith) {
  using testing::fact_of;
  constexpr std::string_view kNormal = "job.perf_normal";
  EXPECT_EQ(fact_of(kNormal, promise("1", "5.0/1.0") + kGood).what,
            "AllReduce: 3.20 GB/s of the 5.00 that NCCL reckons with (PIX/PIX): normal");
  EXPECT_EQ(answer_of(kNormal, promise("2", "5.0/1.0") + kGood), "no");
  EXPECT_EQ(answer_of(kNormal, promise("2", "5.0/2.0") + kGood +
                                   "n2:8:8 [0] NCCL INFO Using network Socket\n"),
            "yes");
  EXPECT_EQ(answer_of(kNormal, kGood), "no");
  EXPECT_EQ(answer_of(kNormal,
                      promise("1", "5.0/1.0") + kGood + "# Avg bus bandwidth    : 3.17 FAILED\n"),
            "no");
}

TEST(PerfVerdict, SaysWhatNcclsOwnTableExpectsWhereNothingElseTells) {
  Measurement measurement{.op = Operation::AllReduce, .nranks = 8};
  for (const double busbw : {9.0, 9.5, 10.0}) {
    MeasuredPoint& point = measurement.points.emplace_back();
    point.bytes = int64_t{1} << (28 + measurement.points.size());
    point.out_of_place.busbw = busbw;
  }
  Machine machine;
  machine.nranks = 8;
  machine.modelled = 40;
  machine.modelled_by = "Ring, Simple";
  const PerfVerdict low = judge_measurement(measurement, machine);
  EXPECT_EQ(low.answer, PerfAnswer::CannotTell);
  ASSERT_EQ(low.ceilings.size(), 1u);
  EXPECT_EQ(low.ceilings[0].why, "NCCL expects of Ring, Simple");
  const auto is_said = [](const PerfVerdict& verdict) {
    return std::ranges::any_of(verdict.notes, [](const std::string& note) {
      return note.find("tuning table expects 40.0 GB/s of Ring, Simple") != note.npos;
    });
  };
  EXPECT_TRUE(is_said(low));
  machine.modelled = 14;
  EXPECT_FALSE(is_said(judge_measurement(measurement, machine)));
}

}  // namespace
}  // namespace ncclog
