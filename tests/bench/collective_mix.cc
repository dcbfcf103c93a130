#include <array>

#include "bench/log_mixes.h"

namespace ncclog::testing {
namespace {

struct Collective {
  std::string_view op;
  uint64_t count;
  int datatype;  ///< NCCL's number: 7 is float32, 9 bfloat16.
  uint64_t send;
  uint64_t receive;
};

constexpr uint64_t kLayers = 32;
constexpr uint64_t kCalls = 3 * kLayers + 1;  ///< Of an iteration.

/// Where in its GPU's memory a rank keeps a part of a layer: aligned, and in no order.
uint64_t buffer(uint64_t device, uint64_t layer, uint64_t part) {
  const uint64_t key = (device * kLayers + layer) * 2 + part;
  return 0x7f1000000000 + device * 0x1000000000 + ((key * 0x9e3779b97f4a7c15U) >> 28 & 0xffffffe00);
}

/// Sharded training: each layer is gathered for the forward pass, and from the last to the first
/// one again for the backward pass, which scatters its gradients. Then all agree on their norm.
Collective call_of_iteration(uint64_t device, uint64_t number) {
  constexpr uint64_t kShard = 16777216;
  const bool is_forward = number < kLayers;
  const uint64_t back = number - kLayers;
  const uint64_t layer = is_forward ? number : kLayers - 1 - back / 2;
  if (number == kCalls - 1) {
    return {"AllReduce", 1, 7, buffer(device, 0, 0), buffer(device, 0, 0)};
  }
  const uint64_t shard = buffer(device, layer, 0);
  const uint64_t whole = buffer(device, layer, 1);
  if (is_forward || back % 2 == 0) return {"AllGather", kShard, 9, shard, whole};
  return {"ReduceScatter", kShard, 9, whole, shard};
}

uint64_t comm(int rank) { return 0x55d0a4001000 + static_cast<uint64_t>(rank) * 0x100000; }

void write_call(LogText& log, int rank, uint64_t number, const Collective& call) {
  log.info(rank,
           "{}: opCount {:x} sendbuff {:#x} recvbuff {:#x} count {} datatype {} op 0 root 0 comm "
           "{:#x} [nranks={}] stream {:#x}",
           call.op, number, call.send, call.receive, call.count, call.datatype, comm(rank),
           log.options().ranks, comm(rank) + 0x5e4a80);
}

/// Anywhere in 46 bits, as an allocator hands out what is free.
uint64_t random_buffer(LogText& log) {
  const auto [high, low] = log.random({1 << 23, 1 << 23});
  return high << 23 | low;
}

/// Now and then something else than a call.
void write_something_else(LogText& log, int rank) {
  const int next = (rank + 1) % log.options().ranks;
  switch (log.random(6)) {
    case 0:
      return log.info(rank, "Channel {:02}/0 : {}[{}] -> {}[{}] via P2P/CUMEM", log.random(16),
                      rank, log.device(rank), next, log.device(next));
    case 1:
      return log.info(rank, "NCCL_SOCKET_IFNAME set by environment to eth0");
    case 2:
      return log.line("step {:6} loss 2.{:04}", log.random(100000), log.random(10000));
    default:
      return;
  }
}

}  // namespace

void CollectiveCalls::write(int rank) {
  log_.count_call();
  const auto device = static_cast<uint64_t>(log_.device(rank));
  Collective call = call_of_iteration(device, calls_ % kCalls);
  if (log_.options().mix == LogMix::Irregular) call.count += calls_ / 8;
  write_call(log_, rank, calls_, call);
}

void write_short_init(LogText& log) {
  for (int rank : log.shuffled_ranks()) {
    const int dev = log.device(rank);
    const int host = log.host(rank);
    const auto state = [&](std::string_view word) {
      log.info(rank,
               "ncclCommInitRankConfig comm {:#x} rank {} nranks {} cudaDev {} nvmlDev {} busId "
               "{:x} commId 0x749998f53f4ea7f2 - Init {}",
               comm(rank), rank, log.options().ranks, dev, dev, (dev + 1) << 12, word);
    };
    log.info(rank, "NCCL version 2.28.9+cuda13.0");
    log.info(rank, "Bootstrap: Using eth0:10.0.{}.{}<0>", host / 250, host % 250 + 1);
    log.info(rank, "Using network Socket");
    state("START");
    state("COMPLETE");
  }
}

void write_collectives(LogText& log) {
  write_short_init(log);
  CollectiveCalls calls(log);
  while (!log.is_full()) {
    calls.next([&](int rank) {
      if (log.options().mix == LogMix::Everything) write_something_else(log, rank);
    });
  }
}

void write_random_collectives(LogText& log) {
  constexpr std::array<std::string_view, 4> kOps = {"AllReduce", "AllGather", "ReduceScatter",
                                                    "Broadcast"};
  write_short_init(log);
  for (uint64_t number = 1; !log.is_full(); ++number) {
    log.count_call();
    const auto [op, count, is_short] = log.random({kOps.size(), 1 << 26, 2});
    for (int rank = 0; rank < log.options().ranks; ++rank) {
      const uint64_t send = random_buffer(log);
      const uint64_t receive = random_buffer(log);
      if (log.options().rank >= 0 && log.options().rank != rank) continue;
      write_call(log, rank, number, {kOps[op], 256 + count, is_short == 1 ? 9 : 7, send, receive});
    }
  }
}

}  // namespace ncclog::testing
