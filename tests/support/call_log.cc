#include "support/call_log.h"

#include <fmt/format.h>

namespace ncclog::testing {
namespace {

uint64_t pointer(int rank, uint64_t comm_id) {
  return (static_cast<uint64_t>(rank) + 1) * 0x100000 + comm_id * 0x10;
}

}  // namespace

void CallLog::nccl(int rank, std::string_view message) {
  text_ +=
      fmt::format("{}n3:{}:{} [{}] NCCL INFO {}\n", stamp_, 50 + rank, 50 + rank, rank, message);
}

CallLog& CallLog::init(int rank, int nranks, uint64_t comm_id, int local) {
  size(comm_id, nranks);
  nccl(rank,
       fmt::format("ncclCommInitRank comm {:#x} rank {} nranks {} cudaDev {} nvmlDev {} busId "
                   "{}000 commId {:#x} - Init COMPLETE",
                   pointer(rank, comm_id), local < 0 ? rank : local, nranks, rank, rank, rank + 1,
                   comm_id));
  return *this;
}

CallLog& CallLog::call(int rank, uint64_t comm_id, std::string_view op, int64_t count, int root,
                       int datatype, int redop) {
  nccl(rank,
       fmt::format("{}: opCount {:x} sendbuff 0x1 recvbuff 0x2 count {} datatype {} op {} root "
                   "{} comm {:#x} [nranks={}] stream 0x5",
                   op, op_count_, count, datatype, redop, root, pointer(rank, comm_id),
                   sizes_[comm_id]));
  return *this;
}

CallLog& CallLog::op_count(uint64_t number) {
  op_count_ = number;
  return *this;
}

CallLog& CallLog::size(uint64_t comm_id, int nranks) {
  sizes_[comm_id] = nranks;
  return *this;
}

CallLog& CallLog::timeout(int rank, int seq, std::string_view op) {
  text_ += fmt::format(
      "[rank{0}]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn=512, NumelOut=512, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n",
      rank, seq, op);
  return *this;
}

CallLog& CallLog::destroyed(int rank, int nranks, uint64_t comm_id) {
  nccl(rank, fmt::format("comm {:#x} rank {} nranks {} cudaDev {} busId {}000 - Destroy COMPLETE",
                         pointer(rank, comm_id), rank, nranks, rank, rank + 1));
  return *this;
}

CallLog& CallLog::line(std::string_view text) {
  text_ += text;
  text_ += '\n';
  return *this;
}

CallLog& CallLog::stamp(std::string_view text) {
  stamp_ = text;
  return *this;
}

CallLog inits(int nranks, uint64_t comm_id) {
  CallLog log;
  for (int rank = 0; rank < nranks; ++rank) log.init(rank, nranks, comm_id);
  return log;
}

CallLog world(int nranks) {
  CallLog log = inits(nranks);
  for (int rank = 0; rank < nranks; ++rank) log.call(rank, 1);
  return log;
}

}  // namespace ncclog::testing
