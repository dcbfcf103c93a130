#include <gtest/gtest.h>

#include <string_view>

#include "support/fact_of.h"

namespace ncclog {
namespace {

using testing::answer_of;
using testing::fact_of;

struct NetworkCase {
  std::string_view what;
  std::string_view fact;
  std::string_view log;
  std::string_view answer;
};

const NetworkCase kCases[] = {
    {"an HCA list", "job.rdma_evidence",
     "red1:10:10 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eno1:10.4.4.1<0>\n", "yes"},
    {"ports of ibdev2netdev", "job.rdma_evidence", "mlx5_0 port 1 ==> ib0 (Up)\n", "yes"},
    {"a port that is down", "job.rdma_evidence", "mlx5_0 port 1 ==> ib0 (Down)\n", "no"},
    {"a setting that names HCAs", "job.rdma_evidence",
     "red1:10:10 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5\n", "yes"},
    {"a setting that excludes one", "job.rdma_evidence",
     "red1:10:10 [0] NCCL INFO NCCL_IB_HCA set by environment to ^mlx5_bond_0\n", "no"},
    {"interfaces of InfiniBand ports", "job.rdma_evidence",
     "red1:10:10 [0] NCCL INFO NET/Socket : Using [0]ib0:10.3.4.1<0>\n", "yes"},
    {"an empty HCA list", "job.rdma_evidence",
     "red1:10:10 [0] NCCL INFO NET/IB : No device found.\n"
     "red1:10:10 [0] NCCL INFO NET/IB : Using [RO]; OOB eth0:10.4.4.1<0>\n",
     "no"},

    {"IB here, Socket there", "job.networks_differ",
     "red1:10:10 [0] NCCL INFO Using network IB\nred2:20:20 [0] NCCL INFO Using network Socket\n",
     "yes"},
    {"IB everywhere", "job.networks_differ",
     "red1:10:10 [0] NCCL INFO Using network IB\nred2:20:20 [0] NCCL INFO Using network IB\n",
     "no"},
    {"a line cut at the end of a file", "job.networks_differ",
     "red1:10:10 [0] NCCL INFO Using network Socket\nred2:20:20 [0] NCCL INFO Using network Soc\n",
     "no"},
    {"communicators with networks of their own", "job.networks_differ",
     "red1:10:10 [0] NCCL INFO Using network IB\nred1:10:10 [0] NCCL INFO Using network Socket\n"
     "red2:20:20 [0] NCCL INFO Using network IB\n",
     "no"},
    {"NCCL's own complaint", "job.networks_differ",
     "red1:10:10 [0] init.cc:1104 NCCL WARN Detected mixed local Net device counts across ranks "
     "(min 7, max 8). Set NCCL_IGNORE_NET_MISMATCH=1 to continue.\n",
     "yes"},
    {"no such line", "job.networks_differ", "red1:10:10 [0] NCCL INFO cudaDriverVersion 12040\n",
     "unknown"},

    {"eight devices and seven", "job.hca_sets_differ",
     "red1:10:10 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB "
     "a:10.4.4.1<0>\n"
     "red2:20:20 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB a:10.4.4.2<0>\n",
     "yes"},
    {"other names, same number", "job.hca_sets_differ",
     "red1:10:10 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB a:10.4.4.1<0>\n"
     "red2:20:20 [0] NCCL INFO NET/IB : Using [0]mlx5_7:1/IB [RO]; OOB a:10.4.4.2<0>\n",
     "no"},
    {"each rank has its own devices", "job.hca_sets_differ",
     "red1:10:10 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB "
     "a:10.4.4.1<0>\n"
     "red1:11:11 [1] NCCL INFO NET/IB : Using [0]mlx5_2:1/IB [RO]; OOB a:10.4.4.1<0>\n"
     "red2:20:20 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB a:10.4.4.2<0>\n",
     "unknown"},
    {"one host", "job.hca_sets_differ",
     "red1:10:10 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB a:10.4.4.1<0>\n", "unknown"},

    {"a bond among InfiniBand", "job.hca_link_mix",
     "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/I [2]mlx5_bond_0:1/RoCE [RO]; OOB "
     "a:10.4.4.1<0>\n",
     "yes"},
    {"NCCL's own complaint", "job.hca_link_mix",
     "red1:10:33 [0] transport/net_ib/connect.cc:512 NCCL WARN NET/IB : Attempted to connect "
     "incompatible devices: [0]mlx5_0:1/IB and [4]mlx5_4:1/RoCE. Try selecting NICs of only one "
     "link type using NCCL_IB_HCA\n",
     "yes"},
    {"a RoCE port that carries nothing", "job.hca_link_mix",
     "red1:10:10 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_bond_0:1/RoCE [RO]; OOB "
     "a:10.4.4.1<0>\n"
     "red1:10:44 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] [receive] via NET/IB/0\n",
     "no"},
    {"connections over both kinds", "job.hca_link_mix",
     "red1:10:10 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_bond_0:1/RoCE [RO]; OOB "
     "a:10.4.4.1<0>\n"
     "red1:10:44 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] [receive] via NET/IB/0\n"
     "red1:10:44 [0] NCCL INFO Channel 01/0 : 1[1] -> 0[0] [receive] via NET/IB/1\n",
     "yes"},
    {"one kind carries all, be it RoCE", "job.hca_link_mix",
     "red1:10:10 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_bond_0:1/RoCE [RO]; OOB "
     "a:10.4.4.1<0>\n"
     "red1:10:44 [0] NCCL INFO Channel 01/0 : 1[1] -> 0[0] [receive] via NET/IB/1\n",
     "no"},
    {"a job that stays on one host", "job.hca_link_mix",
     "red1:10:10 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_bond_0:1/RoCE [RO]; OOB "
     "a:10.4.4.1<0>\n"
     "red1:10:12 [0] NCCL INFO comm 0x5a rank 0 nranks 2 cudaDev 0 busId 1000 - Init START\n"
     "red1:10:12 [0] NCCL INFO comm 0x5a rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL "
     "0\n",
     "no"},
    {"a cut entry alone", "job.hca_link_mix",
     "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/I\n", "no"},

    {"bonds only", "job.hca_bonds_only",
     "NCCL INFO NET/IB : Using [0]mlx5_bond_0:1/RoCE [1]mlx5_bond_1:1/RoCE [RO]; OOB "
     "a:10.4.4.1<0>\n",
     "yes"},
    {"a plain RoCE card", "job.hca_bonds_only",
     "NCCL INFO NET/IB : Using [0]mlx5_bond_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB a:10.4.4.1<0>\n",
     "no"},
    {"RoCE only", "job.all_roce",
     "NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB a:10.4.4.1<0>\n", "yes"},
    {"no list", "job.all_roce", "NCCL INFO Using network IB\n", "unknown"},

    {"channels with GPUDirect", "job.gpudirect",
     "red1:10:44 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] [receive] via NET/IB/0/GDRDMA\n", "yes"},
    {"rings with GPUDirect", "job.gpudirect",
     "red1:10:44 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 1\n", "yes"},
    {"rings without", "job.gpudirect",
     "red1:10:44 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 0\n", "no"},
    {"channels without", "job.gpudirect",
     "red1:10:44 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] [receive] via NET/IB/0\n", "no"},
    {"an HCA without it", "job.gpudirect",
     "red1:10:44 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n", "no"},
};

TEST(NetworkFacts, AnswerFromDeviceListsAndSettings) {
  for (const NetworkCase& row : kCases) {
    EXPECT_EQ(answer_of(row.fact, row.log), row.answer) << row.fact << ": " << row.what;
  }
}

TEST(NetworkFacts, NameTheFewThatUseAnotherNetwork) {
  const FactValue answer = fact_of("job.networks_differ",
                                   "red1:10:10 [0] NCCL INFO Using network IB\n"
                                   "red1:11:11 [1] NCCL INFO Using network IB\n"
                                   "red2:20:20 [0] NCCL INFO Using network Socket\n");
  EXPECT_EQ(answer.what, "(IB in 2 processes on red1, Socket in 1 process on red2)");
  EXPECT_EQ(answer.processes, (std::vector<int>{2}));
}

TEST(NetworkFacts, BlameNobodyWithoutAMajority) {
  const FactValue answer = fact_of("job.networks_differ",
                                   "red1:10:10 [0] NCCL INFO Using network IB\n"
                                   "red2:20:20 [0] NCCL INFO Using network Socket\n");
  EXPECT_TRUE(answer.processes.empty());
}

TEST(NetworkFacts, NameTheOddDevice) {
  const FactValue answer = fact_of(
      "job.hca_link_mix",
      "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_bond_0:1/RoCE [RO]; OOB "
      "a:10.4.4.1<0>\n");
  EXPECT_EQ(answer.what, "(mlx5_bond_0/RoCE beside 2 of the other kind)");
}

constexpr std::string_view kTwoRanks =
    "red1:10:12 [0] NCCL INFO comm 0x5a rank 0 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n"
    "red1:11:13 [1] NCCL INFO comm 0x5b rank 1 nranks 2 cudaDev 1 busId 2000 - Init COMPLETE\n"
    "red1:10:12 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0\n";

TEST(NetworkFacts, SeeTheNetworkBetweenRanksOfOneHost) {
  EXPECT_EQ(answer_of("job.staged_net_within_host", kTwoRanks), "yes");
  EXPECT_EQ(answer_of("job.socket_between_hosts", kTwoRanks), "no");
}

TEST(NetworkFacts, TakeHostIdsForAnIntendedSeparation) {
  const std::string log =
      std::string(kTwoRanks) + "red1:10:12 [0] NCCL INFO NCCL_HOSTID set by environment to a\n";
  EXPECT_EQ(answer_of("job.staged_net_within_host", log), "no");
}

}  // namespace
}  // namespace ncclog
