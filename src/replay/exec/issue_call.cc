#include "replay/exec/issue_call.h"

#include <string_view>

#include "replay/exec/pattern.h"

namespace ncclog {
namespace {

/// A call in NCCL's types.
struct Issue {
  const NcclLibrary& nccl;
  const PlannedCall& call;
  const CallTarget& on;

  size_t count() const { return static_cast<size_t>(call.count); }
  ncclDataType_t type() const { return static_cast<ncclDataType_t>(call.datatype); }
  ncclRedOp_t op() const {
    return call.redop < ncclNumOps ? static_cast<ncclRedOp_t>(call.redop) : ncclSum;
  }
  int64_t block_bytes() const { return call.count * element_bytes(call.datatype); }
};

ncclResult_t send_block(const Issue& issue, int block, int peer) {
  const char* from = static_cast<const char*>(issue.on.send) + block * issue.block_bytes();
  return issue.nccl.send(from, issue.count(), issue.type(), peer, issue.on.comm, issue.on.stream);
}

ncclResult_t receive_block(const Issue& issue, int block, int peer) {
  char* to = static_cast<char*>(issue.on.receive) + block * issue.block_bytes();
  return issue.nccl.recv(to, issue.count(), issue.type(), peer, issue.on.comm, issue.on.stream);
}

/// Runs `exchange` for each rank of the communicator within one group.
template <typename Exchange>
ncclResult_t in_one_group(const Issue& issue, Exchange exchange) {
  ncclResult_t result = issue.nccl.group_start();
  if (result != ncclSuccess) return result;
  for (int peer = 0; peer < issue.on.nranks; ++peer) {
    const ncclResult_t made = exchange(peer);
    if (made != ncclSuccess && made != ncclInProgress) result = made;
  }
  const ncclResult_t ended = issue.nccl.group_end();
  return result != ncclSuccess ? result : ended;
}

bool failed(ncclResult_t result) { return result != ncclSuccess && result != ncclInProgress; }

ncclResult_t exchange_blocks(const Issue& issue) {
  return in_one_group(issue, [&](int peer) {
    const ncclResult_t sent = send_block(issue, peer, peer);
    return failed(sent) ? sent : receive_block(issue, peer, peer);
  });
}

ncclResult_t gather_blocks(const Issue& issue) {
  const bool is_root = issue.on.rank == issue.call.root;
  return in_one_group(issue, [&](int peer) {
    if (peer == issue.on.rank) {
      const ncclResult_t sent = send_block(issue, 0, issue.call.root);
      if (failed(sent)) return sent;
    }
    return is_root ? receive_block(issue, peer, peer) : ncclSuccess;
  });
}

ncclResult_t scatter_blocks(const Issue& issue) {
  const bool is_root = issue.on.rank == issue.call.root;
  return in_one_group(issue, [&](int peer) {
    if (peer == issue.on.rank) {
      const ncclResult_t received = receive_block(issue, 0, issue.call.root);
      if (failed(received)) return received;
    }
    return is_root ? send_block(issue, peer, peer) : ncclSuccess;
  });
}

struct Maker {
  std::string_view op;
  ncclResult_t (*make)(const Issue&);
};

constexpr Maker kMakers[] = {
    {"AllReduce",
     [](const Issue& i) {
       return i.nccl.all_reduce(i.on.send, i.on.receive, i.count(), i.type(), i.op(), i.on.comm,
                                i.on.stream);
     }},
    {"Broadcast",
     [](const Issue& i) {
       return i.nccl.broadcast(i.on.send, i.on.receive, i.count(), i.type(), i.call.root, i.on.comm,
                               i.on.stream);
     }},
    {"Reduce",
     [](const Issue& i) {
       return i.nccl.reduce(i.on.send, i.on.receive, i.count(), i.type(), i.op(), i.call.root,
                            i.on.comm, i.on.stream);
     }},
    {"AllGather",
     [](const Issue& i) {
       return i.nccl.all_gather(i.on.send, i.on.receive, i.count(), i.type(), i.on.comm,
                                i.on.stream);
     }},
    {"ReduceScatter",
     [](const Issue& i) {
       return i.nccl.reduce_scatter(i.on.send, i.on.receive, i.count(), i.type(), i.op(), i.on.comm,
                                    i.on.stream);
     }},
    {"AlltoAll",
     [](const Issue& i) {
       if (i.nccl.all_to_all == nullptr) return exchange_blocks(i);
       return i.nccl.all_to_all(i.on.send, i.on.receive, i.count(), i.type(), i.on.comm,
                                i.on.stream);
     }},
    {"Gather",
     [](const Issue& i) {
       if (i.nccl.gather == nullptr) return gather_blocks(i);
       return i.nccl.gather(i.on.send, i.on.receive, i.count(), i.type(), i.call.root, i.on.comm,
                            i.on.stream);
     }},
    {"Scatter",
     [](const Issue& i) {
       if (i.nccl.scatter == nullptr) return scatter_blocks(i);
       return i.nccl.scatter(i.on.send, i.on.receive, i.count(), i.type(), i.call.root, i.on.comm,
                             i.on.stream);
     }},
    {"Send",
     [](const Issue& i) {
       return i.nccl.send(i.on.send, i.count(), i.type(), i.call.root, i.on.comm, i.on.stream);
     }},
    {"Recv",
     [](const Issue& i) {
       return i.nccl.recv(i.on.receive, i.count(), i.type(), i.call.root, i.on.comm, i.on.stream);
     }},
};

}  // namespace

ncclResult_t issue_call(const NcclLibrary& nccl, const PlannedCall& call, const CallTarget& on) {
  for (const Maker& maker : kMakers) {
    if (maker.op == call.op) return maker.make({nccl, call, on});
  }
  return ncclInvalidUsage;
}

bool is_made_of_messages(const NcclLibrary& nccl, const PlannedCall& call) {
  if (call.op == "AlltoAll") return nccl.all_to_all == nullptr;
  if (call.op == "Gather") return nccl.gather == nullptr;
  return call.op == "Scatter" && nccl.scatter == nullptr;
}

std::string function_name(const PlannedCall& call) { return "nccl" + call.op; }

}  // namespace ncclog
