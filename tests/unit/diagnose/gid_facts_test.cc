#include <gtest/gtest.h>

#include <string_view>

#include "support/fact_of.h"

namespace ncclog {
namespace {

using testing::answer_of;
using testing::fact_of;

struct GidCase {
  std::string_view what;
  std::string_view log;
  std::string_view answer;
};

const GidCase kCases[] = {
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
  for (const GidCase& row : kCases) {
    EXPECT_EQ(answer_of("job.gid_evidence", row.log), row.answer) << row.what;
  }
}

TEST(GidFacts, SayWhichEntryIsInUse) {
  EXPECT_EQ(fact_of("job.gid_evidence", kCases[0].log).what,
            "GID index 0 of mlx5_0 is link-local, the default of this release");
}

}  // namespace
}  // namespace ncclog
