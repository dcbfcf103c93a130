#include "diagnose/perf/verdict/expectation.h"

#include <fmt/format.h>

#include <algorithm>

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

/// GB/s that pass the PCIe slots of a host's GPUs; without a bound where a chip joins GPU and CPU, and
/// where the model is not known.
double slots_of(const Machine& machine) {
  const bool is_bound =
      machine.gpu != nullptr && machine.per_host() > 0 && !machine.gpu->words.starts_with('g');
  return is_bound ? machine.per_host() * pcie_slot(machine.gpu->pcie, 16) : 1e9;
}

HostNetwork known_network(const Machine& machine) {
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
    network.best_of_two = machine.type->best_of_two;
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
  // NCCL's own search leads where it found more NICs in reach than were taken for granted, as far as
  // the slots of GPUs let it.
  const double searched = std::min(machine.searched_between, slots_of(machine));
  if (network.known != Known::No && searched > path_factor("carried") * network.bandwidth) {
    network.known = Known::Said;
    network.bandwidth = searched;
    network.nics = -1;
    network.source = "NCCL's search for rings";
    network.evidence = {machine.searched_line};
  }
  return network;
}

constexpr int kRack = 72;  ///< GPUs of a GB200 or GB300 rack, 4 a host.

/// NVLink joins the hosts of a rack.
bool is_nvlink_domain(const Machine& machine) {
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
    if (!slot.in_use) expected.most = path_factor("best-pcie") * slot.busbw;
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

/// Nothing but rings is left to AllReduce.
bool is_by_rings(const Machine& machine) {
  const SettingInForce* algo = machine.setting("NCCL_ALGO");
  return algo != nullptr && lower_case(algo->value) == "ring";
}

void expect_between(const Machine& machine, Operation op, double reached,
                    MachineExpectation& expected) {
  const Ceiling local = expected.deciding;
  expected.deciding = {};
  const HostNetwork network = expected.network = known_network(machine);
  if (network.known == Known::No) return;
  const int nhosts = std::max(machine.nhosts, 2);
  const int nranks = std::max(machine.nranks, 2);
  const double line = expected.line = over_nics(op, nranks, nhosts, network.bandwidth);
  Ceiling nics = {Stage::NIC,
                  line,
                  line * network.normal,
                  nics_text(machine, network) + " give",
                  network.source,
                  network.evidence};
  nics.in_use = network.known == Known::Said;
  if (network.by_slot) nics.why = nics_text(machine, network) + " give through their PCIe slots";
  double least = nics.normal_from;
  // On two hosts trees send so much less that either may be what NCCL takes.
  double most = line;
  if (op == Operation::AllReduce && !is_by_rings(machine)) {
    const double by_trees = by_trees_over_nics(nranks, nhosts, network.bandwidth);
    if (nhosts == 2 && (machine.gpu == nullptr || machine.gpu->links != "xgmi")) most = by_trees;
    if (reached > path_factor("carried") * line) {
      nics.busbw = by_trees;
      nics.why = nics_text(machine, network) + " give by trees";
    }
  }
  expected.ceilings.push_back(nics);
  const double published = nhosts == 2 ? network.best_of_two : network.best;
  if (op == Operation::AllReduce) {
    expected.best = published;
    if (network.best > 0) least = std::min(least, network.best * path_factor("normal-best"));
  }
  const bool is_local_less = local.busbw > 0 && local.busbw < nics.busbw;
  expected.deciding = is_local_less ? local : nics;
  // Links inside a host are shared with what comes over NICs: the rate of NICs decides what is low.
  if (is_local_less && local.normal_from > 0) least = std::min(least, local.normal_from);
  expected.slow_below = least;
  expected.deciding.normal_from = least;
  if (local.busbw > 0) most = std::min(most, local.busbw);
  if (expected.best > 0) {
    most = std::min(most, expected.best);
    expected.deciding.normal_from = expected.best * path_factor("normal-best");
  }
  expected.most = most;
}

/// Racks of NVLink that NICs join: what some have been seen to give, and no more is known.
void expect_racks(const Machine& machine, Operation op, MachineExpectation& expected) {
  const int racks = (machine.nranks + kRack - 1) / kRack;
  const bool is_published =
      op == Operation::AllReduce && machine.gpu->words == "gb200" && (racks <= 2 || racks == 20);
  if (!is_published) return;
  const PathFactor& seen = *find_path_factor(fmt::format("racks-{}", racks));
  expected.decide({Stage::NIC, seen.figure, seen.figure * path_factor("normal-best"),
                   fmt::format("{} racks of GB200 have been seen to give", racks), seen.source});
  expected.slow_below = 0;
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

namespace {

MachineExpectation ways_of(const Machine& machine, Operation op, double reached) {
  MachineExpectation expected;
  const bool in_domain = is_nvlink_domain(machine) && machine.nhosts != 1;
  // Where nothing but NCCL's search is known, one host is taken for all.
  const bool seems_one = machine.nhosts < 0 && machine.hosts_seen == 1 && machine.gpu == nullptr;
  expected.within = machine.nhosts == 1 || in_domain || (seems_one && machine.searched_within > 0);
  if (machine.shares_gpu) return expected;
  if (is_several_domains(machine)) {
    expect_racks(machine, op, expected);
    return expected;
  }
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
  // Of all ways to spread a few ranks over hosts one host is the fastest: what is normal there is
  // normal, and what is less may be.
  constexpr int kUsualHost = 8;
  // Its GPUs have links to each other.
  const bool is_joined_host = machine.gpu != nullptr && machine.gpu->is_joined();
  if (machine.nhosts < 0 && machine.nranks <= kUsualHost && is_joined_host) {
    expected.within = true;
    expect_within(machine, op, machine.nranks, reached, expected);
    expected.slow_below = 0;
  }
  if (machine.nhosts < 2) return expected;
  expect_within(machine, op, machine.per_host(), reached, expected);
  // A PCIe slot is no bound for several NICs of a host, nor is a ring over XGMI for other ways.
  const bool is_bound = machine.gpu != nullptr && machine.gpu->links == "nvlink";
  if (!is_bound) expected.deciding = {};
  if (has_sockets_alone(machine)) {
    expected.deciding = {};
    expect_sockets(machine, expected);
  } else {
    expect_between(machine, op, reached, expected);
  }
  return expected;
}

}  // namespace

MachineExpectation expect_of(const Machine& machine, Operation op, double reached) {
  MachineExpectation expected = ways_of(machine, op, reached);
  double& normal_from = expected.deciding.normal_from;
  normal_from = std::max(normal_from, kLeastNormal * std::max(expected.most, 0.0));
  return expected;
}

std::string rates_that_fit(const Machine& machine, Operation op, double reached) {
  const int nranks = machine.nranks;
  if (reached < path_factor("surely-rdma") && machine.nics < 1) return {};
  const bool one_host = nranks > 0 && nranks <= 8 && machine.nhosts < 2;
  const bool may_be_two = nranks >= 2 && nranks % 2 == 0 && nranks <= 16 && machine.nhosts < 3;
  const bool of_all = op == Operation::AllReduce;
  const bool by_nics = !machine.nvls_tree && machine.nhosts != 1;
  std::vector<std::pair<double, std::string>> fitting;
  const auto add = [&](double busbw, std::string what) {
    if (reached <= path_factor("carried") * busbw && reached >= kLeastNormal * busbw)
      fitting.emplace_back(busbw, std::move(what));
  };
  const bool are_listed = machine.nics > 0 && nranks > 1 && machine.nhosts > 1;
  for (const double gbits : {100.0, 200.0, 400.0, 800.0}) {
    if (!are_listed) break;
    const int nics = used_nics(machine.nics, machine.per_host());
    const double network = nics * gbits / 8;
    const std::string what = fmt::format("{} of {:g} Gb/s a host give", plural(nics, "NIC"), gbits);
    add(over_nics(op, nranks, machine.nhosts, network), what);
    if (of_all && machine.nhosts == 2) {
      add(by_trees_over_nics(nranks, machine.nhosts, network), what + " by trees");
    }
  }
  for (const PathFactor& rate : kCommonRates) {
    const bool is_meant = rate.key == "switch"  ? of_all && (one_host || may_be_two)
                          : rate.key == "links" ? one_host
                          : rate.key == "nics"  ? by_nics
                                                : by_nics && of_all && may_be_two;
    const double busbw =
        rate.key == "trees" ? by_trees_over_nics(nranks, 2, rate.figure) : rate.figure;
    if (is_meant && !are_listed) add(busbw, std::string(rate.what));
  }
  std::ranges::sort(fitting);
  std::vector<std::string> texts;
  for (const auto& [busbw, what] : fitting) {
    const std::string share =
        reached < busbw ? fmt::format("{:.0f} % of", 100 * reached / busbw) : "all of";
    texts.push_back(fmt::format("{} the {} that {}", share, bandwidth_text(busbw), what));
  }
  constexpr size_t kMost = 3;
  if (texts.size() > kMost) texts.resize(kMost);
  return join(texts, " or ");
}

}  // namespace ncclog
