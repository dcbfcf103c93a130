#include "diagnose/network/interfaces.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

TEST(InterfaceClasses, TellsVirtualInterfacesByTheirNames) {
  for (const auto* name : {"docker0", "br-1f0c9a", "virbr0", "cni0", "flannel.1", "vxlan.calico",
                           "veth2a1b", "tun0", "tailscale0", "ip6tnl0", "sit0"}) {
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

}  // namespace

}  // namespace ncclog
