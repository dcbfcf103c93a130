#include <array>
#include <string>

#include "bench/log_mixes.h"

namespace ncclog::testing {
namespace {

/// An address of the host that `rank` is on, with a port.
std::string address(LogText& log, int rank) {
  const int host = log.host(rank);
  return fmt::format("10.0.{}.{}<{}>", host / 250, host % 250 + 1, 32768 + log.random(28000));
}

int other_rank(LogText& log, int rank) {
  const int ranks = log.options().ranks;
  return ranks > 1
             ? (rank + 1 + static_cast<int>(log.random(static_cast<uint64_t>(ranks - 1)))) % ranks
             : rank;
}

/// The error on its way up, as each function that returns it says.
void write_way_up(LogText& log, int rank, std::initializer_list<std::string_view> places,
                  int code) {
  for (std::string_view place : places) log.proxy_info(rank, "{} -> {}", place, code);
}

void write_closed(LogText& log, int rank) {
  log.warn(rank, "misc/socket.cc:72", "socketProgress: Connection closed by remote peer {}",
           address(log, other_rank(log, rank)));
  write_way_up(log, rank,
               {"misc/socket.cc:845", "transport/net_socket.cc:557", "transport/net.cc:1508"}, 6);
  log.proxy_info(rank, "proxy.cc:965 -> 6 [Progress Thread]");
}

void write_refused(LogText& log, int rank) {
  log.warn(
      rank, "misc/socket.cc:583",
      "socketPollConnect: connect to {} returned Connection refused, exceeded error retry count "
      "after 35 attempts",
      address(log, other_rank(log, rank)));
  write_way_up(log, rank, {"misc/socket.cc:646", "misc/socket.cc:704", "bootstrap.cc:311"}, 6);
}

void write_completion(LogText& log, int rank) {
  const std::string peer = address(log, other_rank(log, rank));
  log.warn(rank, "transport/net_ib/p2p.cc:312",
           "NET/IB: Got completion from peer {} with status=IBV_WC_RETRY_EXC_ERR(12) "
           "opcode=IBV_WC_SEND(0) reqSize={} vendor_err=129 req_type=Send hca mlx5_{}",
           peer, log.random(1 << 20), log.device(rank));
  write_way_up(log, rank, {"transport/net.cc:1362"}, 6);
  log.proxy_info(rank, "proxy.cc:965 -> 6 [Progress Thread]");
}

void write_no_space(LogText& log, int rank) {
  const uint64_t bytes = 4096 * (1 + log.random(4096));
  const std::string segment = fmt::format("/dev/shm/nccl-{:06x}", log.random(1 << 24));
  log.warn(rank, "misc/shmutils.cc:87",
           "Error: failed to extend {} to {} bytes, error: No space left on device (28)", segment,
           bytes + 4);
  log.warn(
      rank, "misc/shmutils.cc:132",
      "Error while creating shared memory segment {} (size {}), error: No space left on device "
      "(28)",
      segment, bytes);
  write_way_up(log, rank, {"transport/shm.cc:549", "transport/shm.cc:491"}, 2);
}

void write_proxy_failed(LogText& log, int rank) {
  log.warn(rank, "proxy.cc:1734",
           "[Proxy Service {}] Failed to execute operation Init from rank {}, retcode 6",
           log.device(rank), other_rank(log, rank));
}

/// "[rank3]:[E1120 20:52:37.924076329 ProcessGroupNCCL.cpp:689] ", of PyTorch 2.11.
std::string watchdog_header(LogText& log, int rank, int line) {
  return fmt::format("[rank{}]:[E1120 {}.{:09} ProcessGroupNCCL.cpp:{}]", rank,
                     log.time().substr(11), log.random(1000000000), line);
}

void write_watchdog(LogText& log, int rank) {
  const uint64_t number = 1 + log.random(100000);
  const std::string caught = watchdog_header(log, rank, 689);
  log.line(
      "{} [Rank {}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={}, "
      "OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for {} "
      "milliseconds before timing out.",
      caught, rank, number, 600000 + log.random(100));
  log.line(
      "{} [PG ID 0 PG GUID 0(default_pg) Rank {}]  failure detected by watchdog at work sequence "
      "id: "
      "{} PG status: last enqueued work: {}, last completed work: {}",
      watchdog_header(log, rank, 2303), rank, number, number, number - 1);
}

using Outcry = void (*)(LogText& log, int rank);

constexpr std::array<Outcry, 8> kOutcries = {
    write_closed,     write_closed,   write_closed,       write_refused,
    write_completion, write_no_space, write_proxy_failed, write_watchdog,
};

}  // namespace

void write_storm(LogText& log) {
  write_short_init(log);
  while (!log.is_full()) {
    for (int rank : log.shuffled_ranks()) {
      if (!log.is_full()) kOutcries[log.random(kOutcries.size())](log, rank);
    }
  }
}

}  // namespace ncclog::testing
