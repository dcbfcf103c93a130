#include <gtest/gtest.h>

#include <string>
#include <string_view>

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

const AddressCase kCases[] = {
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
    {"the variable is not set", "job.ifname_not_used",
     "red1:10:10 [0] NCCL INFO Bootstrap : Using ens1f0:10.4.4.1<0>\n", "unknown"},
};

TEST(AddressFacts, AnswerFromWhatTheHostsAdvertise) {
  for (const AddressCase& row : kCases) {
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

}  // namespace
}  // namespace ncclog
