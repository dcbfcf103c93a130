// How much can a path carry? Figures of links as bus bandwidth, and the formulas between them.
//
//   8 x H100, AllReduce          → 480 by NVLS, 370 by rings over NVLink
//   2 hosts, 8 x 400 Gb/s each   → 400 by rings, 750 by trees: they send less over the network
//   AlltoAll, 16 ranks of 8      → 93.75 over the same NICs: most data leave the host
//
// Figures are rows of gpu_models.table, host_types.table and path_factors.table, each with its
// source; here is what is done with them. Bandwidths are GB/s, 10^9 bytes a second, one direction.
// NICs are counted in Gbit/s, as people name them: 400 Gbit/s are 50 GB/s.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/collectives.h"
#include "diagnose/facts/fact.h"

namespace ncclog {

/// What data pass on their way from rank to rank.
enum class Stage {
  NVLink,         ///< Rings and trees over NVLink or XGMI, without the switch's help.
  NVLS,           ///< NVSwitch that reduces: NVLink SHARP.
  PCIe,           ///< Peer to peer over PCIe.
  SHM,            ///< Through memory of the host.
  CPU,            ///< Between sockets of a host.
  NIC,            ///< RDMA: rate x number of NICs that a host uses.
  NICWithoutGDR,  ///< RDMA staged in memory of the host.
  TCP,            ///< Sockets.
  Protocol,       ///< LL, or LL128, for sizes that it is not made for.
  Channels,       ///< Too few channels for the link.
  Algorithm,      ///< An algorithm that was forced.
  Rank,           ///< A rank that is late, or whose GPU is shared.
  Unknown,
};

/// As JSON and rules spell it: "nvlink", "nvls", "nic-without-gdr" …
constexpr std::string_view enum_words(Stage) {
  return "nvlink|nvls|pcie|shm|cpu|nic|nic-without-gdr|tcp|protocol|channels|algorithm|rank|"
         "unknown";
}

/// What a stage lets pass, as bus bandwidth of the operation that was measured.
struct Ceiling {
  Stage stage = Stage::Unknown;
  double busbw = -1;        ///< GB/s
  double normal_from = -1;  ///< A curve that ends here or above is normal, GB/s; -1: unknown.
  std::string why;          ///< In words: "8 NICs x 400 Gb/s a host, 96 % usable".
  /// Where the figure is from, for the whole program: "NCCL graph/topo.h", a published result.
  std::string_view source;
  std::vector<Evidence> evidence;  ///< Lines that show the stage is in use.
  bool in_use = false;  ///< Lines show it; false: the machine has it, as far as its name tells.
};

/// A line of gpu_models.table. Figures of 0 are unknown, or there is no such thing.
struct GpuModel {
  std::string_view words;   ///< "a100 pcie": what a printed name holds.
  std::string_view family;  ///< "hopper", "cdna3".
  std::string_view links;   ///< "nvlink", "xgmi", "pcie": what joins the GPUs of a host.
  double ring;              ///< Bus bandwidth of 8 GPUs by rings; of PCIe models that of a slot.
  double peer;              ///< Of two GPUs that share no switch with others.
  double nvls;              ///< By NVLink SHARP.
  int nvls_from;            ///< From how many GPUs.
  int pcie;                 ///< Generation.
  double nic_gbits;         ///< Of the NIC that each GPU of a usual host of 8 has.
  std::string_view rdma;    ///< "yes"; empty: some hosts with such GPUs have no RDMA NICs.
  std::string_view source;

  bool is_joined() const { return links != "pcie"; }
  bool has_rdma() const { return rdma == "yes"; }
};

/// The model with that printed name: "NVIDIA A100-SXM4-80GB"; nullptr if none is known.
const GpuModel* find_gpu_model(std::string_view printed);

/// The model that a host's name gives away: "slurm-gb200-17"; nullptr if none does. Models that
/// people name no hosts after, such as T4, are left out.
const GpuModel* gpu_model_in_host_name(std::string_view host);

/// The model whose NVLinks to switches have that bandwidth in NCCL's topology: H100 of 370.8, which
/// stands for its like; nullptr: none has.
const GpuModel* gpu_model_by_nvlink(double bw);

/// What is known of a host's kind beside its GPUs.
struct HostHints {
  std::vector<std::string> names;  ///< Plugins' platforms, topology files, hosts.
  const GpuModel* gpu = nullptr;
  int gpus_per_host = -1;  ///< That the job uses.
  bool slingshot = false;
  bool efa = false;
  bool cray_x = false;  ///< Hosts are named as "x3006c0s1b1n0".
};

/// A line of host_types.table.
struct HostType {
  std::string_view named;  ///< Empty: GPUs and fabric decide.
  std::string_view gpu;    ///< Words of its model.
  int gpus;                ///< Of a whole host.
  std::string_view fabric;
  int nics;
  double nic_gbits;
  double best;                ///< AllReduce over many such hosts has reached it; 0: unknown.
  double best_of_two;         ///< The same over two, where trees may send less.
  std::string_view protocol;  ///< "rdma", "tcp".
  std::string_view source;

  bool is_tcp() const { return protocol == "tcp"; }

  /// GB/s of all NICs.
  double network() const { return nics * nic_gbits / 8; }
};

/// The first kind of host that fits; nullptr: none is known.
const HostType* find_host_type(const HostHints& hints);

/// Every kind that a table holds, for tests.
std::span<const GpuModel> gpu_models();
std::span<const HostType> host_types();

/// A line of path_factors.table, or of common_rates.table, whose keys tell where a rate may explain
/// what was reached.
struct PathFactor {
  std::string_view key;
  double figure;
  std::string_view source;
  std::string_view what = {};  ///< Of a common rate, in words: "A100 give by rings over NVLink".
};

/// The row of that key; nullptr: there is none.
const PathFactor* find_path_factor(std::string_view key);

/// Its figure, of a key that has to be one.
double path_factor(std::string_view key);

/// Gbit/s that the name of an RDMA device gives away: 100 of "hfi1_0" (Omni-Path); -1: nothing.
double rate_of_device(std::string_view name);

// Formulas. `nranks` are spread evenly over `nhosts`, 2 or more of which take part; `network` is
// GB/s of the NICs that one host uses.

/// Bus bandwidth over NICs, by rings where an operation has a choice. AlltoAll sends what does not
/// stay on the host; a SendRecv to the next rank, and what has a root, pass one rank's NICs alone.
double over_nics(Operation op, int nranks, int nhosts, double network);

/// AllReduce by trees: an edge carries each byte once up and once down, whatever the number of
/// ranks, so that bus bandwidth, which counts 2(n-1)/n, is higher: 2(n-1)/n-fold on two hosts.
double by_trees_over_nics(int nranks, int nhosts, double network);

/// Bus bandwidth by rings inside a host, of so many of its GPUs, where NVSwitches join them or all
/// of them take part.
double ring_in_host(const GpuModel& model, int gpus);

/// The same where each pair has links of its own: fewer than all use only the links between them.
double ring_by_pairs(const GpuModel& model, int gpus);

/// Bus bandwidth by NVLink SHARP of so many GPUs; -1: it takes no part.
double nvls_of(const GpuModel& model, Operation op, int gpus);

/// GB/s of a PCIe slot as NCCL reckons (graph/topo.h): 12 of generation 3 with 16 lanes, doubled
/// with each generation; -1 for generations that it does not know.
double pcie_slot(int generation, int lanes);

}  // namespace ncclog
