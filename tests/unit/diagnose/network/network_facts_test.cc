#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "diagnose/facts/fact.h"
#include "model/build/build_job.h"
#include "support/fact_of.h"

namespace ncclog {
namespace {

using testing::answer_of;
using testing::fact_of;

struct AddressCase {
  std::string_view what;
  std::string_view fact;
  std::string_view log;
  std::string_view answer;
};

constexpr std::string_view kRefused =
    "red2:20:31 [0] include/socket.h:390 NCCL WARN Connect to 172.17.0.2<4012> failed : "
    "Connection refused\n";

const AddressCase kAddressCases[] = {
    {"loopback on two hosts", "job.loopback_between_hosts",
     "red1:10:10 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>\n"
     "red2:20:20 [0] NCCL INFO Bootstrap : Using eno1:10.4.4.2<0>\n",
     "yes"},
    {"loopback on one host", "job.loopback_between_hosts",
     "red1:10:10 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>\n"
     "red1:11:11 [1] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>\n",
     "no"},
    {"two finished runs in one folder", "job.loopback_between_hosts",
     "red1:10:10 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>\n"
     "red2:20:20 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>\n"
     "red1:10:12 [0] NCCL INFO comm 0x5a rank 0 nranks 1 cudaDev 0 busId 1000 - Init COMPLETE\n"
     "red2:20:22 [0] NCCL INFO comm 0x5b rank 0 nranks 1 cudaDev 0 busId 1000 - Init COMPLETE\n",
     "no"},
    {"nobody names a host", "job.loopback_between_hosts",
     "NCCL INFO Bootstrap : Using lo:127.0.0.1<0>\n", "unknown"},

    {"docker0 on two hosts", "job.bridge_between_hosts",
     "red1:10:10 [0] NCCL INFO Bootstrap: Using docker0:172.17.0.1<0>\n"
     "red2:20:20 [0] NCCL INFO Bootstrap: Using docker0:172.17.0.1<0>\n",
     "yes"},
    {"different ranges", "job.bridge_between_hosts",
     "red1:10:10 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.1<0>\n"
     "red2:20:20 [0] NCCL INFO Bootstrap: Using virbr0:192.168.122.1<0>\n",
     "no"},
    {"only one side's log, refused by the other", "job.bridge_between_hosts",
     "red2:20:20 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.4<0>\n"
     "red2:20:31 [0] include/socket.h:390 NCCL WARN Connect to 172.17.0.2<4012> failed : "
     "Connection refused\n",
     "yes"},
    {"refused inside its own container", "job.bridge_between_hosts",
     "red2:20:20 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.2<0>\n"
     "red2:20:31 [0] include/socket.h:390 NCCL WARN Connect to 172.17.0.2<4012> failed : "
     "Connection refused\n",
     "no"},

    {"one address twice", "job.same_address_on_hosts",
     "red1:10:10 [0] NCCL INFO Bootstrap: Using docker0:172.17.0.1<0>\n"
     "red2:20:20 [0] NCCL INFO Bootstrap: Using docker0:172.17.0.1<0>\n",
     "yes"},
    {"two addresses", "job.same_address_on_hosts",
     "red1:10:10 [0] NCCL INFO Bootstrap: Using eth0:10.1.0.1<0>\n"
     "red2:20:20 [0] NCCL INFO Bootstrap: Using eth0:10.1.0.2<0>\n",
     "no"},

    {"IPv6 here, IPv4 there", "job.address_families_differ",
     "red1:10:10 [0] NCCL INFO Bootstrap : Using ib0:fe80::9a03:9bff:fe11:2233%ib0<0>\n"
     "red2:20:20 [0] NCCL INFO Bootstrap : Using eno1:10.4.4.2<0>\n",
     "yes"},
    {"IPv6 everywhere", "job.address_families_differ",
     "red1:10:10 [0] NCCL INFO Bootstrap : Using ib0:fe80::9a03:9bff:fe11:2233%ib0<0>\n"
     "red2:20:20 [0] NCCL INFO Bootstrap : Using ib0:fe80::9a03:9bff:fe11:4455%ib0<0>\n",
     "no"},
    {"another process's time in place of an address", "job.address_families_differ",
     "red1:10:10 [0] NCCL INFO Bootstrap: Using eno1:10.4.4.1<0>\n"
     "red2:20:20 [0] NCCL INFO Bootstrap: Using [W1120 20:52:01.573355371 socket.cpp:207] [c10d] "
     "The hostname of the client socket cannot be retrieved. err=-3\n",
     "no"},
    {"no bootstrap line", "job.address_families_differ",
     "red1:10:10 [0] NCCL INFO Using network Socket\n", "unknown"},

    {"two interfaces in one subnet", "job.interfaces_share_subnet",
     "red1:10:10 [0] NCCL INFO NET/Socket : Using [0]ens1:10.4.4.1<0> [1]ens2:10.4.4.11<0>\n",
     "yes"},
    {"two subnets", "job.interfaces_share_subnet",
     "red1:10:10 [0] NCCL INFO NET/Socket : Using [0]ens1:10.4.4.1<0> [1]ens2:10.4.5.1<0>\n", "no"},

    {"a bridge among the interfaces", "job.virtual_interface",
     "red1:10:10 [0] NCCL INFO NET/Socket : Using [0]ens1:10.4.4.1<0> [1]virbr0:192.168.122.1<0>\n",
     "yes"},
    {"an address without DHCP", "job.virtual_interface",
     "red1:10:10 [0] NCCL INFO NET/Socket : Using [0]ens1:169.254.3.1<0>\n", "yes"},
    {"IPoIB with link-local IPv6", "job.virtual_interface",
     "red1:10:10 [0] NCCL INFO Bootstrap : Using ib0:fe80::9a03:9bff:fe11:2233%ib0<0>\n", "no"},

    {"a list of InfiniBand interfaces", "job.ipoib_interfaces",
     "red1:10:10 [0] NCCL INFO NET/Socket : Using [0]ib0:10.3.4.1<0>\n", "yes"},
    {"only out of band", "job.ipoib_interfaces",
     "red1:10:10 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:10.3.4.1<0>\n", "no"},

    {"a command's value that a host ignores", "job.ifname_not_used",
     "$ mpirun -np 2 -x NCCL_SOCKET_IFNAME=bond0 ./train\n"
     "red2:20:20 [0] NCCL INFO Bootstrap : Using eth0:10.9.9.2<0>\n",
     "yes"},
    {"prefixes", "job.ifname_not_used",
     "red1:10:10 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to en,eth\n"
     "red1:10:10 [0] NCCL INFO Bootstrap : Using ens1f0:10.4.4.1<0>\n",
     "no"},
    {"a prefix where an exact name is asked for", "job.ifname_not_used",
     "red1:10:10 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to =ens1\n"
     "red1:10:10 [0] NCCL INFO Bootstrap : Using ens1f0:10.4.4.1<0>\n",
     "yes"},
    {"an exclude list", "job.ifname_not_used",
     "red1:10:10 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to ^docker0\n"
     "red1:10:10 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>\n",
     "no"},
    {"a blank behind a comma, which NCCL takes for a part of the name", "job.ifname_not_used",
     "red1:10:10 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0, eth1\n"
     "red1:10:10 [0] NCCL INFO Bootstrap : Using eth1:10.4.4.1<0>\n",
     "yes"},
    {"a comma behind the last name", "job.ifname_not_used",
     "red1:10:10 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0,\n"
     "red1:10:10 [0] NCCL INFO Bootstrap : Using eth0:10.4.4.1<0>\n",
     "no"},
    {"the variable is not set", "job.ifname_not_used",
     "red1:10:10 [0] NCCL INFO Bootstrap : Using ens1f0:10.4.4.1<0>\n", "unknown"},
};

TEST(AddressFacts, AnswerFromWhatTheHostsAdvertise) {
  for (const AddressCase& row : kAddressCases) {
    EXPECT_EQ(answer_of(row.fact, row.log), row.answer) << row.fact << ": " << row.what;
  }
}

TEST(AddressFacts, NameOneAddressOfEachHost) {
  const FactValue answer =
      fact_of("job.bridge_between_hosts",
              "red1:10:10 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.2<0>\n"
              "red1:11:11 [1] NCCL INFO Bootstrap: Using eth0:172.17.0.2<0>\n"
              "red2:20:20 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.4<0>\n");
  EXPECT_EQ(answer.what, "eth0:172.17.0.2 on red1, eth0:172.17.0.4 on red2");
  EXPECT_EQ(answer.evidence.size(), 2u);
  EXPECT_EQ(answer.processes, (std::vector<int>{0, 1, 2}));
}

TEST(AddressFacts, BelieveAFailedConnectionMoreThanAFinishedCommunicator) {
  const std::string log =
      "red1:10:10 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.2<0>\n"
      "red2:20:20 [0] NCCL INFO Bootstrap: Using eth0:172.17.0.4<0>\n"
      "red1:10:12 [0] NCCL INFO comm 0x5a rank 0 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n"
      "red2:20:22 [0] NCCL INFO comm 0x5b rank 1 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n";
  EXPECT_EQ(answer_of("job.bridge_between_hosts", log), "no");
  EXPECT_EQ(answer_of("job.bridge_between_hosts", log + std::string(kRefused)), "yes");
}

using testing::answer_of;

struct P2pCase {
  std::string_view what;
  std::string log;
  std::string_view answer;
};

const std::string kConnected =
    "box:9:31 [0] NCCL INFO comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x51 - "
    "Init START\n"
    "box:9:31 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n";
const std::string kOverShm =
    "box:9:31 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct\n";

std::string search(std::string_view channels, std::string_view type) {
  return "box:9:31 [0] NCCL INFO Pattern 4, crossNic 0, nChannels " + std::string(channels) +
         ", bw 12.000000/12.000000, type " + std::string(type) + ", sameChannels 1\n";
}

std::string matrix(std::string_view link) {
  const std::string cell(link);
  return "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \t" + cell + "\t0-15\nGPU1\t" + cell +
         "\t X \t0-15\n";
}

const P2pCase kWays[] = {
    {"a search over PCIe", kConnected + search("2", "PHB/PIX"), "yes"},
    {"a search over NVLink", kConnected + search("2", "NVL/PIX"), "no"},
    {"a search that found nothing", kConnected + search("0", "SYS/PIX"), "unknown"},
    {"a matrix without NVLink", kConnected + matrix("PHB"), "yes"},
    {"a matrix with NVLink", kConnected + matrix("NV12"), "no"},
    {"both", kConnected + search("2", "PHB/PIX") + matrix("NV12"), "no"},
    {"no word about links", kConnected, "unknown"},
    {"shared memory", kOverShm + matrix("PHB"), "unknown"},
};

TEST(FirstTransfer, TellPcieFromNvlink) {
  for (const P2pCase& row : kWays) {
    EXPECT_EQ(answer_of("job.p2p_over_pcie", row.log), row.answer) << row.what;
  }
}

std::string timeout_of(std::string_view seq) {
  return "[E ProcessGroupNCCL.cpp:828] [Rank 0] Watchdog caught collective operation timeout: "
         "WorkNCCL(SeqNum=" +
         std::string(seq) +
         ", OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, Timeout(ms)=1800000) ran for 1800019 "
         "milliseconds before timing out.\n";
}

const std::string kBegun =
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 "
    "agg iters: 1 validation: 1 graph: 0\n";
const std::string kCancelled =
    "slurmstepd: error: *** STEP 81.0 ON box CANCELLED AT 2026-02-03T04:05:06 DUE TO TIME LIMIT "
    "***\n";

const P2pCase kStalls[] = {
    {"begun, no row, cancelled", kBegun + kCancelled, "yes"},
    {"begun and no row, perhaps not at its end", kBegun, "unknown"},
    {"a row",
     kBegun +
         "     1048576        262144     float     sum      -1    45.31   23.14   40.50     "
         " 0    44.87   23.37   40.90      0\n" +
         kCancelled,
     "unknown"},
    {"the first call", timeout_of("1"), "yes"},
    {"a later call", timeout_of("812"), "no"},
    {"the first call of one group, a later one of another", timeout_of("1") + timeout_of("812"),
     "no"},
    {"nothing", "box:9:31 [0] NCCL INFO Using network Socket\n", "unknown"},
};

TEST(FirstTransfer, SeeAStallFromTheStartOnly) {
  for (const P2pCase& row : kStalls) {
    EXPECT_EQ(answer_of("job.stalled_from_start", row.log), row.answer) << row.what;
  }
}

// Pairs of ranks, GPUs and network interfaces as things that rules are judged for.

std::string init(const char* host, int pid, int rank, int nranks, const char* comm_id = "0x9c") {
  return fmt::format(
      "{0}:{1}:{1} [0] NCCL INFO ncclCommInitRank comm 0x{2}{1} rank {2} nranks {3} cudaDev 0 "
      "nvmlDev 0 busId {2}b000 commId {4} - Init START\n",
      host, pid, rank, nranks, comm_id);
}

/// "name: fact=value …" of every instance.
std::string facts_of(const std::string& log, Scope scope) {
  const Job job = job_from_text(log);
  std::string text;
  for (const Instance& instance : instances_of(job, scope)) {
    text += name_of(job, instance) + ":";
    for (const Fact& fact : all_facts()) {
      if (fact.scope != scope) continue;
      const FactValue value = fact.derive(job, instance);
      if (!value.known()) continue;
      text += fmt::format(" {}={}", fact.name.substr(fact.name.find('.') + 1), fact_text(value));
    }
    text += "\n";
  }
  return text;
}

TEST(InstanceFacts, ARankPairHasAllItsPaths) {
  const std::string log =
      init("n1", 7, 0, 3) + init("n1", 8, 1, 3) + init("n2", 9, 2, 3) +
      "n1:7:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
      "n1:8:8 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via SHM/direct/direct\n"
      "n1:8:8 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via "
      "NET/IB/0/GDRDMA\n"
      "n2:9:9 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [receive] via "
      "NET/IB/0/GDRDMA\n"
      "n2:9:9 [0] NCCL INFO Channel 01/0 : 1[1] -> 2[0] [receive] via NET/IB/0\n";
  EXPECT_EQ(facts_of(log, Scope::RankPair),
            "ranks 0 and 1: path=P2P/CUMEM, SHM/direct/direct same_host=yes "
            "transport=P2P+SHM\n"
            "ranks 1 and 2: path=NET/IB/0, NET/IB/0/GDRDMA same_host=no "
            "transport=NET/IB\n");
}

/// The line names no communicator, and rank 1 is another process in each of the two.
TEST(InstanceFacts, APairThatMayBeAnotherIsLeftOut) {
  const std::string log = init("n1", 7, 0, 2, "0x9c") + init("n1", 8, 1, 2, "0x9c") +
                          init("n1", 7, 0, 2, "0x9d") + init("n1", 9, 1, 2, "0x9d") +
                          "n1:7:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n";
  EXPECT_EQ(facts_of(log, Scope::RankPair), "");
}

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
