#include "diagnose/roce_subnets.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/fact_of.h"

namespace ncclog {
namespace {

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

const SubnetCase kCases[] = {
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
  for (const SubnetCase& row : kCases) {
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
