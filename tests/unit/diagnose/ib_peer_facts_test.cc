#include <gtest/gtest.h>

#include "support/fact_of.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

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

}  // namespace
}  // namespace ncclog
