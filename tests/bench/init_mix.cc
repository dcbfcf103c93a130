#include "bench/init_graph.h"
#include "bench/log_mixes.h"

namespace ncclog::testing {
namespace {

/// What the first communicator of a process finds out for all of them.
void write_process_start(LogText& log, int rank) {
  const int host = log.host(rank);
  log.info(rank, "ENV/Plugin: Could not find: libnccl-env.so");
  log.info(rank, "Bootstrap: Using ib0:10.0.{}.{}<0>", host / 250, host % 250 + 1);
  log.info(rank, "cudaDriverVersion 13000");
  log.info(rank, "NCCL version 2.28.9+cuda13.0");
}

void write_process_network(LogText& log, int rank) {
  const int host = log.host(rank);
  std::string devices;
  log.info(rank, "NET/Plugin: Could not find: libnccl-net.so");
  log.info(rank, "NCCL_IB_HCA set to mlx5");
  for (int nic = 0; nic < 8; ++nic) {
    log.info(rank,
             "NET/IB: [{}] mlx5_{}:uverbs{}:1/IB provider=Mlx5 speed=400000 context={:#x} "
             "pciPath=/sys/devices/pci0000:{:02x}/0000:{:02x}:00.0 ar=1",
             nic, nic, nic, 0x55d0a3f0b000 + nic * 0x4000, 16 * nic, 16 * nic + 3);
    devices += fmt::format(" [{}]mlx5_{}:1/IB", nic, nic);
  }
  log.info(rank, "NET/IB : Using{} [RO]; OOB ib0:10.0.{}.{}<0>", devices, host / 250,
           host % 250 + 1);
  log.info(rank, "Initialized NET plugin IB");
}

/// "ncclCommInitRankConfig comm 0x… rank 0 … - Init START", or COMPLETE.
void write_state(LogText& log, const MadeComm& comm, int rank, std::string_view word) {
  const int dev = log.device(rank);
  log.info(rank,
           "ncclCommInitRankConfig comm {:#x} rank {} nranks {} cudaDev {} nvmlDev {} busId {:x} "
           "commId {:#x} - Init {}",
           comm.pointer(rank), rank, log.options().ranks, dev, dev, gpu_bus(dev), comm.commid(),
           word);
}

void write_start(LogText& log, const MadeComm& comm, int rank) {
  if (comm.number == 0) write_process_start(log, rank);
  log.info(rank, "Comm config Blocking set to 1");
}

void write_bootstrap(LogText& log, const MadeComm& comm, int rank) {
  if (comm.number == 0) write_process_network(log, rank);
  log.info(rank, "Assigned NET plugin IB to comm");
  log.info(rank, "Using network IB");
  log.info(rank, "DMA-BUF is available on GPU device {}", log.device(rank));
  write_state(log, comm, rank, "START");
  log.info(rank,
           "Bootstrap timings total 0.{:06} (create 0.000027, send 0.000086, recv 0.001257, ring "
           "0.000338, delay 0.000001)",
           100000 + log.random(800000));
  log.info(rank, "MNNVL busId {:#x} fabric UUID 0.0 cliqueId 0x0 state 3 healthMask 0x0",
           gpu_bus(log.device(rank)));
}

void write_layout(LogText& log, const MadeComm& comm, int rank) {
  const int a_host = std::min(log.options().ranks, log.options().ranks_per_host);
  log.info(rank, "comm {:#x} rank {} nRanks {} nNodes {} localRanks {} localRank {} MNNVL 0",
           comm.pointer(rank), rank, log.options().ranks,
           (log.options().ranks + a_host - 1) / a_host, a_host, log.device(rank));
  write_graphs(log, rank);
}

void write_proxies(LogText& log, const MadeComm&, int rank) {
  const int dev = log.device(rank);
  const int channels = log.options().channels;
  log.info(rank, "PROFILER/Plugin: Could not find: libnccl-profiler.so");
  log.info(rank, "Check P2P Type isAllDirectP2p 1 directMode 0 isAllCudaP2p 1");
  log.info(rank, "ncclP2pSchedule: group size used is 8");
  log.proxy_info(rank, "[Proxy Service UDS] Device {} CPU core {}", dev, log.random(128));
  log.proxy_info(rank, "[Proxy Service] Device {} CPU core {}", dev, log.random(128));
  log.info(rank, "TUNER/Plugin: Could not find: libnccl-tuner.so");
  log.info(rank, "threadThresholds 8/8/64 | 64/8/64 | 512 | 512");
  log.info(
      rank,
      "{} coll channels, {} collnet channels, 0 nvls channels, {} p2p channels, 2 p2p channels "
      "per peer",
      channels, channels, channels);
  log.info(rank, "CC Off, workFifoBytes 1048576");
}

void write_complete(LogText& log, const MadeComm& comm, int rank) {
  write_state(log, comm, rank, "COMPLETE");
  log.info(rank,
           "Init timings - ncclCommInitRankConfig: rank {} nranks {} total 4.{:02} (kernels 0.52, "
           "alloc 0.82, bootstrap 0.90, allgathers 0.41, topo 0.25, graphs 0.30, connections 0.71, "
           "rest 0.10)",
           rank, log.options().ranks, log.random(100));
}

using Step = void (*)(LogText& log, const MadeComm& comm, int rank);

constexpr Step kSteps[] = {
    write_start,
    write_bootstrap,
    [](LogText& log, const MadeComm&, int rank) { write_topology(log, rank); },
    write_layout,
    write_proxies,
    write_complete,
};

/// All connections of the rings, or of the trees. Each rank says that it is done.
void write_connections(LogText& log, void (*write)(LogText& log, int rank, int channel),
                       std::string_view done) {
  for (int channel = 0; channel < log.options().channels; ++channel) {
    for (int rank : log.shuffled_ranks()) write(log, rank, channel);
  }
  for (int rank : log.shuffled_ranks()) log.info(rank, "Connected all {}", done);
}

}  // namespace

void write_inits(LogText& log) {
  for (MadeComm comm; !log.is_full(); ++comm.number) {
    for (Step step : kSteps) {
      for (int rank : log.shuffled_ranks()) step(log, comm, rank);
    }
    write_connections(log, write_ring_connections, "rings, use ring PXN 1 GDR 1");
    write_connections(log, write_tree_connections, "trees");
  }
}

}  // namespace ncclog::testing
