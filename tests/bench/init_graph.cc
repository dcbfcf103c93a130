#include "bench/init_graph.h"

#include <string>

namespace ncclog::testing {
namespace {

struct HostTree {
  int up = -1;
  int down[2] = {-1, -1};
};

/// A heap over the hosts; `is_mirrored`: from the last one.
HostTree host_tree(int hosts, int host, bool is_mirrored) {
  const auto number = [&](int h) { return is_mirrored ? hosts - 1 - h : h; };
  const int own = number(host);
  HostTree tree;
  if (own > 0) tree.up = number((own - 1) / 2);
  for (int i = 0; i < 2; ++i) {
    if (2 * own + 1 + i < hosts) tree.down[i] = number(2 * own + 1 + i);
  }
  return tree;
}

int hosts(const LogText& log) {
  return (log.options().ranks + log.options().ranks_per_host - 1) / log.options().ranks_per_host;
}

/// GPUs of the host; the last one may have fewer.
int gpus_of(const LogText& log, int host) {
  const int first = host * log.options().ranks_per_host;
  return std::min(log.options().ranks - first, log.options().ranks_per_host);
}

/// The rank at which `channel` enters the host.
int entry(const LogText& log, int host, int channel) {
  return host * log.options().ranks_per_host + channel % gpus_of(log, host);
}

std::string tree_text(const LogText& log, int rank, int channel) {
  const Neighbours at = neighbours(log, rank, channel);
  return fmt::format("{}/{}/{}->{}->{}", at.down[0], at.down[1], at.down[2], rank, at.up);
}

/// "Channel 00/16 :    0    1    2 …", cut at 127 characters as NCCL does.
void write_ring_members(LogText& log, int channel) {
  constexpr size_t kCut = 127;
  const auto width = std::to_string(log.options().ranks - 1).size();
  std::string members = fmt::format("Channel {:02}/{:02} :", channel, log.options().channels);
  int rank = 0;
  for (int i = 0; i < log.options().ranks && members.size() < kCut; ++i) {
    members += fmt::format(" {:{}}", rank, width);
    rank = neighbours(log, rank, channel).next;
  }
  if (members.size() > kCut) members = members.substr(0, kCut - 3) + "...";
  log.info(0, "{}", members);
}

void write_path_line(LogText& log, int rank, bool from_net, int from) {
  const int gpus = gpus_of(log, log.host(rank));
  std::string line =
      from_net ? fmt::format("NET/0-{:x} :", from) : fmt::format("GPU/0-{:x} :", gpu_bus(from));
  const auto add = [&](std::string_view node, int id, int hops, std::string_view rest) {
    line += fmt::format("{}/0-{:x} ({}/{}) ", node, id, hops, rest);
  };
  for (int gpu = 0; gpu < gpus; ++gpu) {
    if (from_net) {
      add("GPU", gpu_bus(gpu), gpu == from ? 3 : 5, gpu == from ? "48.0/PIX" : "48.0/PXN");
    } else {
      add("GPU", gpu_bus(gpu), gpu == from ? 0 : 2, gpu == from ? "5000.0/LOC" : "370.8/NVL");
    }
  }
  if (!from_net) add("NVS", 0, 1, "370.8/NVL");
  add("CPU", 0, 2, "48.0/PHB");
  for (int net = 0; net < gpus; ++net) {
    const bool is_own = net == from;
    if (from_net) {
      add("NET", net, is_own ? 0 : 6, is_own ? "5000.0/LOC" : "48.0/PHB");
    } else {
      add("NET", net, is_own ? 3 : 5, is_own ? "48.0/PIX" : "48.0/PXN");
    }
  }
  log.info(rank, "{}", line);
}

void write_pattern(LogText& log, int rank, int pattern) {
  const int gpus = gpus_of(log, log.host(rank));
  const int channels = log.options().channels;
  log.info(rank,
           "Pattern {}, crossNic 0, nChannels {}, bw 40.000000/40.000000, type NVL/PIX, "
           "sameChannels 1",
           pattern, channels);
  for (int channel = 0; channel < channels; ++channel) {
    std::string members = fmt::format("{:2} : NET/0-{:x}", channel, channel % gpus);
    for (int i = 0; i < gpus; ++i) {
      members += fmt::format(" GPU/0-{:x}", gpu_bus((channel + i) % gpus));
    }
    log.info(rank, "{} NET/0-{:x}", members, channel % gpus);
  }
}

/// What the proxy thread and the rank say about one more connection. `transport`: 0 P2P, 2 NET.
void write_proxy(LogText& log, int rank, std::string_view direction, int transport) {
  const uint64_t number = log.random(512);
  log.proxy_info(rank, "New proxy {} connection {} from local rank {}, transport {}", direction,
                 number, log.device(rank), transport);
  log.info(rank, "Connected to proxy localRank {} -> connection {:#x}", log.device(rank),
           0x7fdeac004f40 + number * 0x78);
}

void write_direct_rdma(LogText& log, int rank, int nic) {
  log.info(rank,
           "GPU Direct RDMA Enabled for GPU {} / HCA {} (distance 4 <= 5), read 0 mode Default",
           rank, nic);
}

void write_receive(LogText& log, int rank, int peer, int channel) {
  if (peer < 0 || peer == rank) return;
  if (log.host(peer) == log.host(rank)) return write_proxy(log, rank, "recv", 0);
  const int nic = log.device(rank);
  write_direct_rdma(log, rank, nic);
  write_proxy(log, rank, "recv", 2);
  log.info(rank, "Channel {:02}/0 : {}[{}] -> {}[{}] [receive] via NET/IB/{}/GDRDMA", channel, peer,
           log.device(peer), rank, log.device(rank), nic);
}

void write_send(LogText& log, int rank, int peer, int channel) {
  if (peer < 0 || peer == rank) return;
  if (log.host(peer) == log.host(rank)) {
    log.info(rank, "Channel {:02}/0 : {}[{}] -> {}[{}] via P2P/CUMEM", channel, rank,
             log.device(rank), peer, log.device(peer));
    return write_proxy(log, rank, "send", 0);
  }
  const int through = entry(log, log.host(rank), channel);
  const int nic = log.device(through);
  write_direct_rdma(log, rank, nic);
  write_proxy(log, rank, "send", 2);
  const std::string proxy = through == rank ? "" : fmt::format("({})", through);
  log.info(rank, "Channel {:02}/0 : {}[{}] -> {}[{}] [send] via NET/IB/{}{}/GDRDMA", channel, rank,
           log.device(rank), peer, log.device(peer), nic, proxy);
}

}  // namespace

Neighbours neighbours(const LogText& log, int rank, int channel) {
  const int host = log.host(rank);
  const int all = hosts(log);
  const int gpus = gpus_of(log, host);
  const int first = host * log.options().ranks_per_host;
  const int start = channel % gpus;
  const int place = (log.device(rank) - start + gpus) % gpus;
  const auto at_place = [&](int p) { return first + (start + p) % gpus; };
  Neighbours at;
  const int host_before = (host + all - 1) % all;
  const int last_before = (entry(log, host_before, channel) % log.options().ranks_per_host +
                           gpus_of(log, host_before) - 1) %
                          gpus_of(log, host_before);
  at.previous =
      place > 0 ? at_place(place - 1) : host_before * log.options().ranks_per_host + last_before;
  at.next = place + 1 < gpus ? at_place(place + 1) : entry(log, (host + 1) % all, channel);
  if (place + 1 < gpus) at.down[0] = at_place(place + 1);
  if (place > 0) {
    at.up = at_place(place - 1);
    return at;
  }
  const HostTree tree = host_tree(all, host, channel >= log.options().channels / 2);
  if (tree.up >= 0) at.up = entry(log, tree.up, channel);
  for (size_t i = 0; i < 2; ++i) {
    if (tree.down[i] >= 0) at.down[i + 1] = entry(log, tree.down[i], channel);
  }
  return at;
}

void write_topology(LogText& log, int rank) {
  const int gpus = gpus_of(log, log.host(rank));
  log.info(rank, "TOPO/NET : Importing network plugins to topology");
  for (int nic = 0; nic < gpus; ++nic) {
    log.info(rank, "NET/IB : GPU Direct RDMA Enabled for HCA {} 'mlx5_{}'", nic, nic);
  }
  log.info(rank, "=== System : maxBw 50.0 totalBw 370.8 ===");
  log.info(rank, "CPU/0-0 (1/1/4)");
  for (int gpu = 0; gpu < gpus; ++gpu) {
    log.info(rank, "+ PCI[48.0] - PCI/0-{:x} (1000c0301000ffff)", gpu_bus(gpu) - 0x800);
    log.info(rank, "              + PCI[48.0] - GPU/0-{:x} ({})", gpu_bus(gpu),
             rank - log.device(rank) + gpu);
    log.info(rank, "                            + NVL[370.8] - NVS/0-0");
    log.info(rank, "              + PCI[48.0] - NIC/0-{:x}", gpu_bus(gpu) + 0x1000);
    log.info(rank, "                            + NET[50.0] - NET/0-{:x} (0/{:x}/1/50.000000)", gpu,
             0x9c63c003005f4a0 + gpu);
  }
  log.info(rank, "==========================================");
  for (int gpu = 0; gpu < gpus; ++gpu) write_path_line(log, rank, false, gpu);
  for (int nic = 0; nic < gpus; ++nic) write_path_line(log, rank, true, nic);
  write_pattern(log, rank, 4);
  write_pattern(log, rank, 1);
}

void write_graphs(LogText& log, int rank) {
  const int channels = log.options().channels;
  std::string trees = "Trees";
  for (int channel = 0; channel < channels; ++channel) {
    const Neighbours at = neighbours(log, rank, channel);
    log.info(rank, "Tree {} : {} -> {} -> {}/{}/{}", channel, at.up, rank, at.down[0], at.down[1],
             at.down[2]);
    trees += fmt::format(" [{}] {}", channel, tree_text(log, rank, channel));
  }
  for (int channel = 0; rank == 0 && channel < channels; ++channel) {
    write_ring_members(log, channel);
  }
  for (int channel = 0; channel < channels; ++channel) {
    const Neighbours at = neighbours(log, rank, channel);
    log.info(rank, "Ring {:02} : {} -> {} -> {}", channel, at.previous, rank, at.next);
  }
  log.info(rank, "{}", trees.substr(0, 1023));
  log.info(rank, "P2P Chunksize set to 131072");
}

void write_ring_connections(LogText& log, int rank, int channel) {
  const Neighbours at = neighbours(log, rank, channel);
  write_receive(log, rank, at.previous, channel);
  write_send(log, rank, at.next, channel);
}

void write_tree_connections(LogText& log, int rank, int channel) {
  const Neighbours at = neighbours(log, rank, channel);
  for (int child : at.down) {
    write_receive(log, rank, child, channel);
    write_send(log, rank, child, channel);
  }
  write_receive(log, rank, at.up, channel);
  write_send(log, rank, at.up, channel);
}

}  // namespace ncclog::testing
