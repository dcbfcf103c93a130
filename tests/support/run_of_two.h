// Lines of a run of two ranks on host a, for logs that hold several such runs.

#pragma once

#include <fmt/format.h>

#include <string>

namespace ncclog::testing {

/// A rank whose communicator is complete.
inline std::string rank_of_two(int pid, int number, int comm_id) {
  const std::string init = fmt::format(
      "a:{0}:{0} [{1}] NCCL INFO ncclCommInitRankConfig comm 0x5{0:x} rank {1} nranks 2 cudaDev "
      "{1} nvmlDev {1} busId {1}000 commId 0x{2:x}",
      pid, number, comm_id);
  return init + " - Init START\n" + init + " - Init COMPLETE\n";
}

inline std::string call_of_two(int pid, int number, int count = 8) {
  return fmt::format(
      "a:{0}:{0} [{1}] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f00 recvbuff 0x7f00 count {2} "
      "datatype 7 op 0 root 0 comm 0x5{0:x} [nranks=2] stream 0x55\n",
      pid, number, count);
}

inline std::string destroy_of_two(int pid, int number) {
  return fmt::format(
      "a:{0}:{0} [{1}] NCCL INFO comm 0x5{0:x} rank {1} nranks 2 cudaDev {1} busId {1}000 - "
      "Destroy COMPLETE\n",
      pid, number);
}

inline std::string run_of_two(int first_pid, int comm_id) {
  return rank_of_two(first_pid, 0, comm_id) + rank_of_two(first_pid + 1, 1, comm_id);
}

inline std::string end_of_two(int first_pid) {
  return destroy_of_two(first_pid, 0) + destroy_of_two(first_pid + 1, 1);
}

inline constexpr char kTimeoutOfTwo[] =
    "[rank0]:[E203 04:15:06.160 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
    "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n";
inline constexpr char kFinishedWork[] = "Training completed\n";

}  // namespace ncclog::testing
