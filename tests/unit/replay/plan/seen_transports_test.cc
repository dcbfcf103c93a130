#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/build/build_job.h"
#include "replay/plan/plan_frame.h"

namespace ncclog {
namespace {

std::string shares_text(const std::vector<TransportShare>& shares) {
  std::string out;
  for (const TransportShare& share : shares) {
    out += share.transport + ":" + std::to_string(share.connections) + " ";
  }
  return out;
}

std::string text_of(const Job& job, size_t comm) {
  return shares_text(seen_transports(job.communicators.at(comm), edges_of(job)));
}

constexpr const char* kTwoHosts =
    "ant-1:11:11 [0] NCCL INFO ncclCommInitRank comm 0xa1 rank 0 nranks 3 cudaDev 0 nvmlDev 0 "
    "busId 1000 commId 0x77 - Init START\n"
    "ant-1:12:12 [1] NCCL INFO ncclCommInitRank comm 0xa2 rank 1 nranks 3 cudaDev 1 nvmlDev 1 "
    "busId 2000 commId 0x77 - Init START\n"
    "ant-2:13:13 [0] NCCL INFO ncclCommInitRank comm 0xa3 rank 2 nranks 3 cudaDev 0 nvmlDev 0 "
    "busId 1000 commId 0x77 - Init START\n"
    "ant-1:11:11 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
    "ant-1:11:11 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
    "ant-1:12:12 [1] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/Socket/0\n"
    "ant-2:13:13 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [receive] via NET/Socket/0\n"
    "ant-2:13:13 [0] NCCL INFO Channel 00/0 : 2[0] -> 0[0] [send] via NET/AWS Libfabric/0\n";

TEST(SeenTransports, CountsPairsOnceWhoeverAnnouncesThemAndOnHoweverManyChannels) {
  EXPECT_EQ(text_of(job_from_text(kTwoHosts), 0), "NET/AWS Libfabric:1 NET/Socket:1 P2P:1 ");
}

TEST(SeenTransports, LeavesOutNumbersThatACommunicatorDoesNotHave) {
  const Job job = job_from_text(
      std::string(kTwoHosts) +
      "ant-1:11:11 [0] NCCL INFO ncclCommInitRank comm 0xb1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
      "busId 1000 commId 0x88 - Init START\n"
      "ant-2:13:13 [0] NCCL INFO ncclCommInitRank comm 0xb3 rank 1 nranks 2 cudaDev 0 nvmlDev 0 "
      "busId 1000 commId 0x88 - Init START\n"
      "ant-1:11:11 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0\n");
  ASSERT_EQ(job.communicators.size(), 2u);
  // Rank 0 has P2P to a rank 1 of the large one; of the small one that is another process.
  EXPECT_EQ(text_of(job, 1), "NET/IB:1 P2P:1 ");
}

TEST(SeenTransports, IsEmptyWhereNoConnectionIsPrinted) {
  EXPECT_EQ(text_of(job_from_text("ant-1:11:11 [0] NCCL INFO ncclCommInitRank comm 0xa1 rank 0 "
                                  "nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 - Init "
                                  "START\n"),
                    0),
            "");
}

TEST(TransportClassName, NamesNetworksAsNcclDoes) {
  EXPECT_EQ(transport_class_name(parse_path("NET/IB/3(5)/GDRDMA")), "NET/IB");
  EXPECT_EQ(transport_class_name(parse_path("SHM/direct/direct")), "SHM");
  EXPECT_EQ(transport_class_name(parse_path("CollNet/SHARP/0")), "other");
}

}  // namespace
}  // namespace ncclog
