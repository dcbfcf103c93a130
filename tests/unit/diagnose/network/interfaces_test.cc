#include "diagnose/network/interfaces.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/fact_of.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::answer_of;
using testing::fact_of;

struct GidCase {
  std::string_view what;
  std::string_view log;
  std::string_view answer;
};

const GidCase kGidCases[] = {
    {"the default of an old release is link-local",
     "NCCL version 2.8.4+cuda11.1\n"
     "mlx5_0\t1\t0\tfe80:0000:0000:0000:0e42:a1ff:fe00:1122\t\t\tv1\tens2f0\n",
     "yes"},
    {"the same table, but a later release chooses",
     "NCCL version 2.27.3+cuda12.9\n"
     "mlx5_0\t1\t0\tfe80:0000:0000:0000:0e42:a1ff:fe00:1122\t\t\tv1\tens2f0\n",
     "no"},
    {"a setting that picks a routable entry",
     "NCCL version 2.18.5+cuda12.2\n"
     "red1:10:10 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 3.\n"
     "mlx5_0\t1\t0\tfe80:0000:0000:0000:0e42:a1ff:fe00:1122\t\t\tv1\tens2f0\n"
     "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a07:0102\t10.7.1.2  \tv2\tens2f0\n",
     "no"},
    {"a setting that picks RoCE v1",
     "red1:10:10 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 2.\n"
     "mlx5_0\t1\t2\t0000:0000:0000:0000:0000:ffff:0a07:0102\t10.7.1.2  \tv1\tens2f0\n",
     "yes"},
    {"entry 0 by setting", "red1:10:10 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 0.\n",
     "yes"},
    {"the failing connection's GID",
     "red1:10:44 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
     "10.7.9.2<41822> with error 12, opcode 0, len 0, vendor err 129 (Send) localGid "
     "fe80::e42:a1ff:fe00:1122 remoteGids fe80::e42:a1ff:fe00:3344\n",
     "yes"},
    {"the default between two subnets",
     "NCCL version 2.8.4+cuda11.1\n"
     "red1:10:10 [0] NCCL INFO Bootstrap : Using eth0:10.7.1.2<0>\n"
     "red2:20:20 [0] NCCL INFO Bootstrap : Using eth0:10.7.9.2<0>\n",
     "yes"},
    {"the default within one subnet",
     "NCCL version 2.8.4+cuda11.1\n"
     "red1:10:10 [0] NCCL INFO Bootstrap : Using eth0:10.7.1.2<0>\n"
     "red2:20:20 [0] NCCL INFO Bootstrap : Using eth0:10.7.1.3<0>\n",
     "no"},
    {"nothing about GIDs", "red1:10:10 [0] NCCL INFO Using network IB\n", "no"},
};

TEST(GidFacts, FindGidsThatNoOtherHostReaches) {
  for (const GidCase& row : kGidCases) {
    EXPECT_EQ(answer_of("job.gid_evidence", row.log), row.answer) << row.what;
  }
}

TEST(GidFacts, SayWhichEntryIsInUse) {
  EXPECT_EQ(fact_of("job.gid_evidence", kGidCases[0].log).what,
            "GID index 0 of mlx5_0 is link-local, the default of this release");
}

using testing::guilty_answer;
using testing::GuiltyCase;

constexpr std::string_view kWithin = "job.ib_timeout_within_host";

const std::string kHosts =
    "n1:10:10 [0] NCCL INFO ncclCommInitRank comm 0xa0 rank 0 nranks 3 cudaDev 0 nvmlDev 0 busId "
    "1000 commId "
    "0x7 - Init "
    "COMPLETE\n"
    "n1:10:10 [0] NCCL INFO Bootstrap : Using eno1:10.1.0.1<0>\n"
    "n1:11:11 [1] NCCL INFO ncclCommInitRank comm 0xb0 rank 1 nranks 3 cudaDev 1 nvmlDev 1 busId "
    "2000 commId "
    "0x7 - Init "
    "COMPLETE\n"
    "n2:12:12 [0] NCCL INFO Bootstrap : Using eno1:10.1.0.2<0>\n";

std::string failed(std::string_view peer, std::string_view status = "12") {
  return "n1:11:44 [1] transport/net_ib.cc:1301 NCCL WARN NET/IB: Got completion from peer " +
         std::string(peer) + "<41822> with status=" + std::string(status) +
         " opcode=0 len=0 vendor err 129 (Send) hca mlx5_1\n";
}

const GuiltyCase kCases[] = {
    {"the peer is on the same host", kWithin, kHosts + failed("10.1.0.1"), "yes 1"},
    {"the peer is on another host", kWithin, kHosts + failed("10.1.0.2"), "no"},
    {"both fail", kWithin, kHosts + failed("10.1.0.1") + failed("10.1.0.2"), "no"},
    {"nobody's address", kWithin, kHosts + failed("10.1.0.9"), "no"},
    {"another status", kWithin, kHosts + failed("10.1.0.1", "5"), "unknown"},
    {"an address that two hosts claim", kWithin,
     kHosts + "n2:12:12 [0] NCCL INFO NET/Socket : Using [0]docker0:10.1.0.1<0>\n" +
         failed("10.1.0.1"),
     "no"},
};

TEST(IbPeerFacts, TellAPeerOnTheSameHost) {
  for (const GuiltyCase& c : kCases) {
    EXPECT_EQ(guilty_answer(c.fact, c.log), c.answer) << c.what;
  }
}

TEST(IbPeerFacts, NameHostAndNic) {
  EXPECT_EQ(testing::fact_of(kWithin, kHosts + failed("10.1.0.1")).what, "n1 (mlx5_1)");
}

TEST(InterfaceClasses, TellsVirtualInterfacesByTheirNames) {
  for (const auto* name : {"docker0", "br-1f0c9a", "virbr0", "cni0", "flannel.1", "vxlan.calico",
                           "veth2a1b", "tun0", "tailscale0"}) {
    EXPECT_TRUE(is_virtual_interface(name)) << name;
  }
  for (const auto* name : {"eth0", "eno1", "enp90s0f0", "bond0", "ib0", "brn542", "lo", ""}) {
    EXPECT_FALSE(is_virtual_interface(name)) << name;
  }
}

TEST(InterfaceClasses, TellsBridgesThatEveryHostHas) {
  EXPECT_TRUE(is_host_bridge("docker0"));
  EXPECT_FALSE(is_host_bridge("flannel.1"));
}

TEST(InterfaceClasses, TellsInfiniBandInterfacesByTheKernelsNaming) {
  for (const auto* name : {"ib0", "ib12", "ibs108", "ibp25s0"}) {
    EXPECT_TRUE(is_infiniband_interface(name)) << name;
  }
  for (const auto* name : {"ib", "ibs", "ibmveth0", "eth0", "bib0", ""}) {
    EXPECT_FALSE(is_infiniband_interface(name)) << name;
  }
}

TEST(InterfaceClasses, NamesTheBridgeRangeOfAnAddress) {
  EXPECT_EQ(bridge_range("172.17.0.3", false), "172.17.0.0/16");
  EXPECT_EQ(bridge_range("192.168.122.1", false), "192.168.122.0/24");
  EXPECT_EQ(bridge_range("172.18.0.3", true), "172.18.0.0/16");
  EXPECT_EQ(bridge_range("10.88.0.7", true), "10.88.0.0/16");
}

TEST(InterfaceClasses, LeavesOtherAddressesAlone) {
  for (const auto* ip : {"172.18.0.3", "172.17.33.4", "172.16.0.1", "10.88.0.7", "192.168.1.1",
                         "fe80::1", "node-a", "172.17.0", ""}) {
    EXPECT_EQ(bridge_range(ip, false), "") << ip;
  }
  EXPECT_EQ(bridge_range("172.32.0.1", true), "");
}

TEST(InterfaceClasses, TakesThreeBytesForTheSubnet) {
  EXPECT_EQ(subnet_of("10.1.2.3"), "10.1.2");
  EXPECT_EQ(subnet_of("fe80::1"), "");
  EXPECT_EQ(subnet_of("node.a.b.c"), "");
}

TEST(InterfaceClasses, TellsHostNamesThatContainerRuntimesMakeUp) {
  EXPECT_TRUE(is_container_host("c5ab17e0d2f4"));
  EXPECT_FALSE(is_container_host("c5ab17e0d2fz"));
  EXPECT_FALSE(is_container_host("gpu-node-01"));
  EXPECT_FALSE(is_container_host("deadbeef"));
}

using testing::answer_of;
using testing::fact_of;

std::string refused(std::string_view speaker, std::string_view device, std::string_view gid) {
  return std::string(speaker) +
         " misc/ibvwrap.cc:311 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed "
         "out, on dev " +
         std::string(device) +
         ":1, curr state INIT, next state RTR, local GID index 3, local GID " + std::string(gid) +
         ", remote GID ::ffff:10.21.0.9\n";
}

struct SubnetCase {
  std::string_view what;
  std::string log;
  std::string_view answer;
};

const std::string kFirst = refused("gold1:10:44 [0]", "mlx5_0", "::ffff:10.21.0.1");

const SubnetCase kSubnetCases[] = {
    {"two NICs of one host in one subnet",
     kFirst + refused("gold1:11:45 [1]", "mlx5_1", "::ffff:10.21.0.2"), "yes"},
    {"one NIC twice", kFirst + refused("gold1:11:45 [1]", "mlx5_0", "::ffff:10.21.0.1"), "no"},
    {"two NICs in two subnets", kFirst + refused("gold1:11:45 [1]", "mlx5_1", "::ffff:10.22.0.1"),
     "no"},
    {"two hosts of one subnet", kFirst + refused("gold2:20:45 [0]", "mlx5_1", "::ffff:10.21.0.2"),
     "no"},
    {"link-local addresses", refused("gold1:10:44 [0]", "mlx5_0", "fe80::e42:a1ff:fe00:1122"),
     "unknown"},
    {"no address at all", "gold1:10:10 [0] NCCL INFO Using network IB\n", "unknown"},
    {"rows of show_gids",
     "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a15:0001\t10.21.0.1  \tv2\tens2f0\n"
     "mlx5_1\t1\t3\t0000:0000:0000:0000:0000:ffff:0a15:0002\t10.21.0.2  \tv2\tens2f1\n",
     "yes"},
    {"two addresses of one device",
     "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a15:0001\t10.21.0.1  \tv2\tens2f0\n"
     "mlx5_0\t1\t5\t0000:0000:0000:0000:0000:ffff:0a15:0002\t10.21.0.2  \tv2\tens2f0\n",
     "no"},
};

TEST(RoceSubnets, FindNicsOfOneHostInOneSubnet) {
  for (const SubnetCase& row : kSubnetCases) {
    EXPECT_EQ(answer_of("job.roce_nics_share_subnet", row.log), row.answer) << row.what;
  }
}

TEST(RoceSubnets, NameBothNics) {
  const std::string log = kFirst + refused("gold1:11:45 [1]", "mlx5_1", "::ffff:10.21.0.2");
  EXPECT_EQ(fact_of("job.roce_nics_share_subnet", log).what,
            "mlx5_0 with 10.21.0.1 and mlx5_1 with 10.21.0.2 on gold1");
}

}  // namespace

}  // namespace ncclog
