#include "diagnose/perf/verdict/expectation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/perf/verdict/perf_words.h"
#include "diagnose/settings/nccl_variables.h"

namespace ncclog {
namespace {

/// GPUs of one host that are neighbours of a NIC each use that one: few GPUs, few NICs.
int used_nics(int nics, int per_host) {
  constexpr int kWholeHost = 8;
  return per_host <= 0 || per_host >= kWholeHost ? nics : std::min(nics, per_host);
}

/// Of a known kind of host the share that belongs to the GPUs which take part.
int used_nics(const HostType& type, int per_host) {
  if (per_host <= 0 || type.gpus <= 0 || per_host >= type.gpus) return type.nics;
  return std::max(1, type.nics * per_host / type.gpus);
}

/// A slot that passes less than this part of its port is what limits it.
constexpr double kSlotBelowPort = 0.9;

HostNetwork known_network(const Machine& machine, double reached) {
  HostNetwork network;
  network.normal = path_factor(machine.slingshot ? "normal-slingshot" : "normal-nic");
  const int per_host = machine.per_host();
  if (machine.nics > 0 && machine.nic_gbits > 0) {
    network.known = Known::Said;
    network.nics = used_nics(machine.nics, per_host);
    network.gbits = machine.nic_gbits;
    network.source = "NICs and rates that lines list";
    network.evidence = machine.nic_lines;
  } else if (machine.type != nullptr) {
    network.known = Known::Type;
    network.nics = used_nics(*machine.type, per_host);
    if (machine.nics > 0) network.nics = std::min(network.nics, machine.nics);
    network.gbits = machine.type->nic_gbits;
    network.best = machine.type->best;
    network.source = machine.type->source;
  } else if (machine.searched_between > 0) {
    network.known = Known::Said;
    network.bandwidth = machine.searched_between;
    network.normal = path_factor("normal-searched");
    network.source = "NCCL's search for rings";
    network.evidence = {machine.searched_line};
  } else if (machine.gpu != nullptr && machine.gpu->nic_gbits > 0 && per_host > 0 &&
             (machine.nics < 0 || (machine.nics == per_host && per_host == 8))) {
    network.known = Known::Typical;
    network.nics = per_host;
    network.gbits = machine.gpu->nic_gbits;
    network.source = "what most hosts with such GPUs have";
  }
  if (network.bandwidth < 0 && network.nics > 0) {
    double each = network.gbits / 8;
    if (machine.nic_pcie.bw > 0 && machine.nic_pcie.bw < kSlotBelowPort * each) {
      each = machine.nic_pcie.bw;
      network.by_slot = true;
    }
    network.bandwidth = network.nics * each;
  }
  // NCCL's own search leads where it found more NICs in reach than were taken for granted.
  const double searched = machine.searched_between;
  const double carried = path_factor("carried") * network.bandwidth;
  if (network.known != Known::No && searched > carried && reached > carried) {
    network.known = Known::Said;
    network.bandwidth = searched;
    network.nics = -1;
    network.source = "NCCL's search for rings";
    network.evidence = {machine.searched_line};
  }
  return network;
}

/// NVLink joins the hosts of a GB200 or GB300 rack; up to 72 GPUs, 4 a host.
bool is_nvlink_domain(const Machine& machine) {
  constexpr int kRack = 72;
  const bool is_rack_model =
      machine.gpu != nullptr && (machine.gpu->words == "gb200" || machine.gpu->words == "gb300");
  return machine.mnnvl || (is_rack_model && machine.nranks <= kRack);
}

std::string gpus_text(const Machine& machine, int gpus) {
  return fmt::format("{} x {}", gpus, upper_case(machine.gpu->words));
}

/// What GPUs of one host, or NVLink domain, exchange.
void expect_within(const Machine& machine, Operation op, int gpus, double reached,
                   MachineExpectation& expected) {
  if (machine.gpu == nullptr || gpus < 2) return;
  const GpuModel& gpu = *machine.gpu;
  double ring = ring_in_host(gpu, gpus);
  double least_ring = machine.has_nvswitch ? ring : ring_by_pairs(gpu, gpus);
  // Links that the topology prints go before those that the model may have.
  if (machine.nvlink_peer > 0 && !machine.has_nvswitch && gpu.is_joined()) {
    ring = std::min(ring, machine.nvlink_peer * (gpus - 1));
    least_ring = std::min(least_ring, ring);
  }
  // Buffers that are registered let the switch multicast for other operations too.
  const bool beyond_rings = reached > path_factor("carried") * ring;
  const double nvls = nvls_of(gpu, beyond_rings ? Operation::AllReduce : op, gpus);
  expected.ring = ring;
  const bool over_bridge = !gpu.is_joined() && gpu.peer > 0 && beyond_rings;
  if (over_bridge) {
    expected.decide({Stage::NVLink, gpu.peer, gpu.peer * path_factor("normal-nvlink"),
                     fmt::format("a bridge between two {} gives", upper_case(gpu.words)),
                     gpu.source});
    return;
  }
  if (!gpu.is_joined()) {
    Ceiling slot = {Stage::PCIe, ring, ring * path_factor("normal-pcie"),
                    fmt::format("a PCIe slot of {} gives", upper_case(gpu.words)), gpu.source};
    if (machine.searched_within > 0 && expected.within) {
      slot.busbw = machine.searched_within;
      slot.normal_from = std::min(slot.normal_from, slot.busbw * path_factor("normal-searched"));
      slot.why = fmt::format("NCCL reckons with ({})", machine.searched_paths);
      slot.source = "NCCL's search for rings";
      slot.evidence = {machine.searched_line};
      slot.in_use = true;
    }
    expected.decide(slot);
    return;
  }
  Ceiling rings = {Stage::NVLink, ring, least_ring * path_factor("normal-nvlink"),
                   fmt::format("{} give by rings over {}", gpus_text(machine, gpus),
                               gpu.links == "xgmi" ? "XGMI" : "NVLink"),
                   gpu.source};
  rings.in_use = machine.has_p2p;
  if (machine.searched_within > 0 && expected.within && machine.searched_paths.starts_with("NV")) {
    rings.evidence = {machine.searched_line};
  }
  expected.decide(rings);
  const bool switched_off =
      machine.setting("NCCL_NVLS_ENABLE") != nullptr && !machine.is_on("NCCL_NVLS_ENABLE");
  if (nvls <= 0 || machine.nvls == false || switched_off) return;
  Ceiling by_switch = {Stage::NVLS,
                       nvls,
                       nvls * path_factor("normal-nvls"),
                       fmt::format("{} give by NVLink SHARP", gpus_text(machine, gpus)),
                       gpu.source,
                       machine.nvls_lines};
  by_switch.in_use = machine.nvls == true;
  // Where no line speaks of it, an old release or a virtual machine may do without.
  if (!by_switch.in_use) by_switch.normal_from = rings.normal_from;
  expected.decide(by_switch);
}

/// "8 NICs x 200 Gb/s a host (usual for a3-mega)": no line of the log says what is usual.
std::string nics_text(const Machine& machine, const HostNetwork& network) {
  if (network.nics <= 0)
    return fmt::format("{} GB/s between hosts", bandwidth_text(network.bandwidth));
  const std::string usual =
      network.known == Known::Type ? fmt::format(" (usual for {})", machine.type_by) : "";
  return fmt::format("{} NIC{} x {:g} Gb/s a host{}", network.nics, network.nics == 1 ? "" : "s",
                     network.gbits, usual);
}

/// What NICs let pass; by trees where rings cannot have carried what was reached.
Ceiling over_network(const Machine& machine, Operation op, double reached, HostNetwork& network,
                     double& line) {
  const int nhosts = std::max(machine.nhosts, 2);
  const int nranks = std::max(machine.nranks, 2);
  // A guess that is too low is no guess: such hosts have faster NICs than most.
  const auto most = [&](double bandwidth) {
    return op == Operation::AllReduce ? by_trees_over_nics(nranks, nhosts, bandwidth)
                                      : over_nics(op, nranks, nhosts, bandwidth);
  };
  constexpr double kFastest = 800;
  while (network.known == Known::Typical && network.gbits < kFastest &&
         reached > path_factor("carried") * most(network.bandwidth)) {
    network.gbits *= 2;
    network.bandwidth *= 2;
  }
  line = over_nics(op, nranks, nhosts, network.bandwidth);
  Ceiling nics = {Stage::NIC,
                  line,
                  line * network.normal,
                  nics_text(machine, network) + " give",
                  network.source,
                  network.evidence};
  nics.in_use = network.known == Known::Said;
  if (network.by_slot) nics.why = nics_text(machine, network) + " give through their PCIe slots";
  if (op == Operation::AllReduce && reached > path_factor("carried") * line) {
    nics.busbw = by_trees_over_nics(nranks, nhosts, network.bandwidth);
    nics.why = nics_text(machine, network) + " give by trees";
  }
  return nics;
}

/// NICs whose number is known and whose rate is not: the standard rate that explains the value.
HostNetwork fitted_rate(const Machine& machine, Operation op, double reached) {
  HostNetwork network;
  network.nics = used_nics(machine.nics, machine.per_host());
  network.normal = path_factor("normal-nic");
  network.source = "NICs that lines list; the rate is what explains the value";
  network.evidence = machine.nic_lines;
  const int nhosts = std::max(machine.nhosts, 2);
  const double by_ring = over_nics(op, machine.nranks, nhosts, 1);
  const double by_tree =
      op == Operation::AllReduce ? by_trees_over_nics(machine.nranks, nhosts, 1) : by_ring;
  constexpr double kGoodFit = 0.8;
  for (const double factor : {by_ring, by_tree}) {
    const double needed = reached / factor;
    const double gbits = nic_rate_that_carries(needed, network.nics);
    if (gbits < 100) continue;  // NICs of that size are no HPC fabric: it may as well be a fault.
    const double rate = network.nics * gbits / 8;
    if (network.known == Known::Fitted && needed < kGoodFit * rate) continue;
    network.known = Known::Fitted;
    network.gbits = gbits;
    network.bandwidth = rate;
    if (needed >= kGoodFit * rate) break;
  }
  return network;
}

void expect_between(const Machine& machine, Operation op, double reached,
                    MachineExpectation& expected) {
  HostNetwork network = known_network(machine, reached);
  if (network.known == Known::No && machine.nics > 0) {
    network = fitted_rate(machine, op, reached);
  }
  if (network.known == Known::No) {
    expected.deciding = {};
    return;
  }
  const Ceiling nics = over_network(machine, op, reached, network, expected.line);
  expected.network = network;
  expected.ceilings.push_back(nics);
  if (network.best > 0 && op == Operation::AllReduce) expected.best = network.best;
  const bool is_local_less = expected.known() && expected.deciding.busbw < nics.busbw;
  if (!is_local_less) expected.deciding = nics;
  // Links inside a host are shared with what comes over NICs: the rate of NICs decides what is low.
  expected.deciding.normal_from =
      std::min(expected.deciding.normal_from > 0 && is_local_less ? expected.deciding.normal_from
                                                                  : nics.normal_from,
               nics.normal_from);
  if (expected.best > 0) {
    expected.deciding.normal_from =
        std::min(expected.deciding.normal_from, expected.best * path_factor("normal-best"));
  }
}

/// Sockets where nothing else is to be had.
void expect_sockets(const Machine& machine, MachineExpectation& expected) {
  const bool is_tcp_type = machine.type != nullptr && machine.type->is_tcp();
  const double rate =
      is_tcp_type ? machine.type->network() : std::max(machine.searched_between, -1.0);
  if (rate <= 0) return;
  expected.decide({Stage::TCP, rate, rate * path_factor("normal-tcp"),
                   is_tcp_type ? fmt::format("Ethernet of {} gives", machine.type_by)
                               : std::string("NCCL reckons with between hosts"),
                   is_tcp_type ? machine.type->source : "NCCL's search for rings",
                   machine.net_lines, true});
}

constexpr PathFactor kCommonRates[] = {
#include "diagnose/perf/verdict/common_rates.inc"
};

/// The lowest of `all` that carries the value, if that is near enough.
Ceiling nearest(std::vector<Ceiling> all, double reached, double fit) {
  std::ranges::sort(all, {}, &Ceiling::busbw);
  for (const Ceiling& each : all) {
    if (reached > path_factor("carried") * each.busbw) continue;
    return reached >= fit * each.busbw ? each : Ceiling{};
  }
  return {};
}

}  // namespace

bool is_several_domains(const Machine& machine) {
  return machine.gpu != nullptr && machine.gpu->words.starts_with("gb") &&
         machine.gpu->links == "nvlink" && !is_nvlink_domain(machine);
}

bool has_sockets_alone(const Machine& machine) {
  if (machine.net != NetKind::TCP || machine.has_rdma_nics) return false;
  if (machine.type != nullptr) return machine.type->is_tcp();
  // Who switches RDMA off may have it.
  if (machine.is_on("NCCL_IB_DISABLE")) return false;
  return machine.gpu != nullptr && !machine.gpu->has_rdma();
}

MachineExpectation expect_of(const Machine& machine, Operation op, double reached) {
  MachineExpectation expected;
  const bool in_domain = is_nvlink_domain(machine) && machine.nhosts != 1;
  // Where nothing but NCCL's search is known, one host is taken for all.
  const bool seems_one = machine.nhosts < 0 && machine.hosts_seen == 1 && machine.gpu == nullptr;
  expected.within = machine.nhosts == 1 || in_domain || (seems_one && machine.searched_within > 0);
  if (is_several_domains(machine) || machine.shares_gpu) return expected;
  if (expected.within) {
    expect_within(machine, op, machine.nranks, reached, expected);
    // NCCL's own words, where no name tells the links.
    if (!expected.known() && machine.searched_within > 0) {
      expected.decide({machine.searched_paths.starts_with("NV") ? Stage::NVLink : Stage::PCIe,
                       machine.searched_within,
                       machine.searched_within * path_factor("normal-searched"),
                       fmt::format("NCCL reckons with ({})", machine.searched_paths),
                       "NCCL's search for rings",
                       {machine.searched_line},
                       true});
    }
    // PCIe links of GPUs whose name says nothing. More than they carry went another way.
    const double listed = machine.gpu == nullptr ? machine.gpu_pcie.bw : -1;
    if (!expected.known() && listed > 0 && reached <= path_factor("carried") * listed) {
      expected.decide({Stage::PCIe, listed, listed * path_factor("normal-pcie"),
                       "the slowest PCIe link of its GPUs gives",
                       "NCCL graph/topo.h, by the lanes and generation that are listed",
                       machine.gpu_pcie.lines, true});
    }
    return expected;
  }
  if (machine.nhosts < 2) return expected;
  expect_within(machine, op, machine.per_host(), reached, expected);
  // A PCIe slot is no bound for several NICs of a host.
  if (expected.deciding.stage == Stage::PCIe) expected.deciding = {};
  if (has_sockets_alone(machine)) {
    expected.deciding = {};
    expect_sockets(machine, expected);
  } else {
    expect_between(machine, op, reached, expected);
  }
  return expected;
}

Ceiling explained_by_rates(const Machine& machine, Operation op, double reached) {
  if (reached < path_factor("surely-rdma")) return {};
  const int nranks = machine.nranks;
  const bool one_host = nranks > 0 && nranks <= 8 && machine.nhosts < 2;
  const bool may_be_two = nranks >= 2 && nranks % 2 == 0 && nranks <= 16 && machine.nhosts < 3;
  constexpr int kTwoHosts = 16;
  const bool of_all = op == Operation::AllReduce;
  const bool by_switch = of_all && (machine.nvls_tree || one_host || machine.mnnvl ||
                                    (may_be_two && nranks == kTwoHosts));
  const bool by_nics = !machine.nvls_tree && machine.nhosts != 1;
  std::vector<Ceiling> candidates;
  std::vector<Ceiling> by_trees;
  for (const PathFactor& rate : kCommonRates) {
    double busbw = rate.figure;
    const auto add = [&](std::vector<Ceiling>& to, Stage stage) {
      to.push_back(
          {stage, busbw, busbw * path_factor("normal-nic"), std::string(rate.what), rate.source});
    };
    if (rate.key == "switch" && by_switch) add(candidates, Stage::NVLS);
    if (rate.key == "links" && one_host) add(candidates, Stage::NVLink);
    if (rate.key == "nics" && by_nics) add(candidates, Stage::NIC);
    if (rate.key == "trees" && by_nics && of_all && may_be_two) {
      busbw = by_trees_over_nics(nranks, 2, busbw);
      add(by_trees, Stage::NIC);
    }
  }
  constexpr double kGoodFit = 0.8;
  Ceiling found = nearest(candidates, reached, kGoodFit);
  if (found.busbw < 0) found = nearest(by_trees, reached, kGoodFit);
  if (found.busbw < 0) found = nearest(candidates, reached, path_factor("normal-nic"));
  return found;
}

}  // namespace ncclog
