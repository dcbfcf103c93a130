#include <gtest/gtest.h>

#include "model/derive/build_job.h"
#include "report/document/report_document.h"

namespace ncclog {
namespace {

std::string shape_of(std::string_view log) {
  std::string text;
  for (const auto& [label, value] : job_shape(job_from_text(log)).rows) {
    text += label + ": " + value + "\n";
  }
  return text;
}

TEST(JobShape, SaysWhatTheLogSays) {
  EXPECT_EQ(
      shape_of("a:1:1 [0] NCCL INFO cudaDriverVersion 12040\n"
               "a:1:1 [0] NCCL INFO NCCL version 2.28.9+cuda12.8\n"
               "b:2:2 [0] NCCL INFO cudaDriverVersion 13000\n"
               "a:1:1 [0] NCCL INFO Using network IB\n"
               "a:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 3 cudaDev 0 nvmlDev 0 "
               "busId 1000 commId 0x77 - Init START\n"
               "b:2:2 [0] NCCL INFO ncclCommInitRank comm 0x2 rank 1 nranks 3 cudaDev 0 nvmlDev 0 "
               "busId 2000 commId 0x77 - Init START\n"
               "a:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/3(5)/GDRDMA\n"
               "a:1:1 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/4/GDRDMA\n"
               "a:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/3\n"
               "a:1:1 [0] NCCL INFO Channel 00 : 0[0] -> 2[0] via P2P/CUMEM\n"),
      "ranks: 3 on 2 hosts; no line of rank 2\n"
      "GPUs: 2: 1 on each host\n"
      "hosts: a, b\n"
      "NCCL: 2.28.9\n"
      "CUDA: 12.8, driver 12.4, 13.0\n"
      "network: IB\n"
      "connections: NET/IB 1, NET/IB/GDRDMA 1, P2P/CUMEM 1\n"
      "communicators: 1 of 3 ranks\n");
}

TEST(JobShape, IsEmptyForALogThatSaysNothing) { EXPECT_EQ(shape_of("hello\n"), ""); }

}  // namespace
}  // namespace ncclog
