#include <fmt/format.h>

#include <algorithm>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/perf/verdict/perf_verdict.h"
#include "diagnose/settings/nccl_variables.h"

namespace ncclog {
namespace {

using Causes = std::vector<PerfCause>;

/// The setting of that name, which is there, is named by the cause's words and the first of its
/// lines.
void name_setting(const Machine& machine, std::string_view name, PerfCause& cause) {
  const SettingInForce& setting = *machine.setting(name);
  cause.figures["setting"] = fmt::format("{}={}", name, printable(setting.value));
  cause.evidence.insert(cause.evidence.begin(), setting.line);
}

/// The choices that a setting leaves, in upper case; empty: it is not set.
std::vector<std::string> choices(const Machine& machine, std::string_view name) {
  const SettingInForce* setting = machine.setting(name);
  const NcclVariable* variable = find_nccl_variable(name);
  if (setting == nullptr || variable == nullptr) return {};
  return admitted_choices(*variable, setting->value);
}

/// A part of what is expected; -1 where that is unknown.
double part_of(double expected, std::string_view factor) {
  return expected > 0 ? expected * path_factor(factor) : -1;
}

bool is_joined(const Machine& machine) {
  return machine.gpu != nullptr && machine.gpu->is_joined();
}

/// Peer to peer is switched off inside hosts; nullptr: it is not.
const char* p2p_switch(const Machine& machine) {
  if (machine.is_on("NCCL_P2P_DISABLE")) return "NCCL_P2P_DISABLE";
  const SettingInForce* level = machine.setting("NCCL_P2P_LEVEL");
  const bool is_local = level != nullptr && (level->value == "LOC" || level->value == "0");
  return is_local ? "NCCL_P2P_LEVEL" : nullptr;
}

// Protocols, where one alone is left.

void add_protocol(const Machine& machine, double expected, Causes& causes) {
  const std::vector<std::string> left = choices(machine, "NCCL_PROTO");
  PerfCause by_ll = {.stage = Stage::Protocol,
                     .path = part_of(expected, "ll"),
                     .source = find_path_factor("ll")->source};
  if (!machine.ll_lines.empty() && left.empty()) {
    by_ll.key = "ll-chosen";
    by_ll.evidence = machine.ll_lines;
    causes.push_back(by_ll);
  } else if (left.size() == 1 && left[0] == "LL") {
    by_ll.key = "ll";
    if (machine.nhosts == 1 && is_joined(machine)) {
      const PathFactor* most = find_path_factor(fmt::format("ll-{}", machine.gpu->family));
      const bool is_least = most != nullptr && (by_ll.path <= 0 || most->figure < by_ll.path);
      if (is_least) by_ll.path = most->figure;
    }
    name_setting(machine, "NCCL_PROTO", by_ll);
    causes.push_back(by_ll);
  } else if (left.size() == 1 && left[0] == "LL128" &&
             (machine.net == NetKind::TCP || is_on_loopback(machine))) {
    PerfCause& cause = causes.emplace_back(PerfCause{Stage::Protocol, "ll128"});
    name_setting(machine, "NCCL_PROTO", cause);
  }
}

/// A link that lspci lists with fewer lanes than both of its ends have, of which a host uses
/// `links` (-1: unknown).
PerfCause narrow_link(const PcieLink& link, std::string_view key, int links) {
  return {Stage::PCIe,
          key,
          links > 0 ? links * link.bw : -1,
          link.lines,
          "NCCL graph/topo.h, by the lanes that are listed",
          {{"link", link.narrow}, {"figure", bandwidth_text(link.bw)}}};
}

/// What NCCL's search for paths shows, with the bandwidth that it counts with.
PerfCause searched_cause(Stage stage, std::string_view key, double path, const Machine& machine) {
  return {stage, key, path, {machine.searched_line}, "NCCL's search for paths"};
}

// Inside a host.

void add_within(const Machine& machine, Causes& causes) {
  if (machine.pseudo_hosts) {
    const bool is_tcp = machine.net == NetKind::TCP;
    PerfCause& cause = causes.emplace_back(
        PerfCause{is_tcp ? Stage::TCP : Stage::NIC, is_tcp ? "hostid-tcp" : "hostid"});
    name_setting(machine, "NCCL_HOSTID", cause);
    return;
  }
  // One GPU a host has nobody to reach there.
  if (machine.per_host() == 1 && !machine.shares_gpu) return;
  const char* name = p2p_switch(machine);
  if (name != nullptr && (machine.nhosts == 1 || machine.has_shm || is_on_loopback(machine))) {
    PerfCause& cause = causes.emplace_back(PerfCause{Stage::SHM, "shm", -1, machine.shm_lines});
    if (machine.is_on("NCCL_SHM_DISABLE")) {
      cause.stage = machine.net == NetKind::RDMA ? Stage::NIC : Stage::TCP;
      cause.key = machine.net == NetKind::RDMA ? "net-within" : "tcp-within";
      cause.evidence = {machine.setting("NCCL_SHM_DISABLE")->line};
    }
    name_setting(machine, name, cause);
  } else if (machine.has_net_within) {
    const Stage stage = machine.net == NetKind::TCP ? Stage::TCP : Stage::NIC;
    causes.push_back({stage, "net-within", -1, machine.net_within_lines});
  } else if (machine.has_shm && is_joined(machine)) {
    causes.push_back({Stage::SHM, "shm-on-nvlink", -1, machine.shm_lines});
  }
}

// Between hosts.

/// The setting that leaves sockets alone; nullptr: none does.
const char* socket_switch(const Machine& machine) {
  if (machine.is_on("NCCL_IB_DISABLE")) return "NCCL_IB_DISABLE";
  const SettingInForce* net = machine.setting("NCCL_NET");
  return net != nullptr && lower_case(net->value) == "socket" ? "NCCL_NET" : nullptr;
}

/// Libfabric's plugin is what NCCL needs on Slingshot, and all settings are known.
bool lacks_slingshot_plugin(const Machine& machine) {
  if (!machine.slingshot || !machine.settings_told || machine.net != NetKind::Unknown) return false;
  return std::ranges::none_of(machine.settings, [](const auto& setting) {
    const std::string_view name = setting.first;
    return name == "NCCL_NET" || name == "NCCL_NET_PLUGIN" || name.starts_with("FI_");
  });
}

void add_sockets(const Machine& machine, Causes& causes) {
  if (machine.nhosts == 1) return;
  if (lacks_slingshot_plugin(machine)) {
    PerfCause& cause = causes.emplace_back(PerfCause{Stage::TCP, "tcp-plugin"});
    for (const auto& [name, setting] : machine.settings) cause.evidence.push_back(setting.line);
    return;
  }
  if (machine.net != NetKind::TCP) return;
  PerfCause& cause = causes.emplace_back(PerfCause{Stage::TCP, "tcp-alone", -1, machine.net_lines});
  if (machine.gpu != nullptr && machine.gpu->has_rdma()) cause.key = "tcp-usual";
  const bool of_rdma_type = machine.type != nullptr && !machine.type->is_tcp();
  if (machine.has_rdma_nics || of_rdma_type) cause.key = "tcp";
  if (const char* name = socket_switch(machine)) {
    cause.key = "tcp-asked";
    name_setting(machine, name, cause);
  }
}

/// How many devices NCCL_IB_HCA names one by one; 0: it names none, or a family of them.
int named_hcas(const Machine& machine) {
  const SettingInForce* setting = machine.setting("NCCL_IB_HCA");
  return setting == nullptr ? 0 : devices_named_in(setting->value);
}

void add_nic_path(const Machine& machine, double expected, Causes& causes) {
  if (machine.nhosts == 1 || machine.net != NetKind::RDMA) return;
  const double port = machine.nic_gbits / 8;
  const double nic_link = machine.nic_pcie.bw;
  if (nic_link > 0 && nic_link < 0.9 * port) {
    PerfCause& cause = causes.emplace_back(
        PerfCause{Stage::PCIe,
                  "nic-slot",
                  expected,
                  machine.nic_pcie.lines,
                  "the topology that NCCL reads",
                  {{"figure", bandwidth_text(nic_link)},
                   {"usual", bandwidth_text(port)},
                   {"lanes", fmt::format("x{:.0f}", 16 * nic_link / pcie_slot(3, 16))}}});
    if (!machine.nic_pcie.narrow.empty()) {
      cause = narrow_link(machine.nic_pcie, "nic-lanes", 1);
      cause.path = expected;
    }
  }
  if (machine.gdr == false) {
    causes.push_back({Stage::NICWithoutGDR,
                      "no-gdr",
                      part_of(expected, "no-gdr"),
                      machine.gdr_lines,
                      find_path_factor("no-gdr")->source,
                      {{"network", "NET/" + printable(machine.net_name)}}});
  }
  if (machine.searched_paths.ends_with("/SYS")) {
    causes.push_back(searched_cause(Stage::CPU, "cpu", machine.searched_between, machine));
  }
  // Of a whole host: fewer GPUs than it has may well use fewer NICs.
  const HostType* type = machine.type;
  if (type != nullptr && machine.nics > 0 && 2 * machine.nics <= type->nics &&
      machine.per_host() == type->gpus) {
    causes.push_back(
        {Stage::NIC,
         "few-nics",
         -1,
         machine.nic_lines,
         type->source,
         {{"figure", std::to_string(machine.nics)}, {"usual", std::to_string(type->nics)}},
         type->network()});
  }
  if (machine.nics > 0 && machine.nics < machine.per_host() && named_hcas(machine) > 0) {
    PerfCause& cause = causes.emplace_back(PerfCause{
        Stage::NIC,
        "hca",
        -1,
        machine.nic_lines,
        "",
        {{"nics", plural(machine.nics, "NIC")}, {"gpus", plural(machine.per_host(), "GPU")}}});
    name_setting(machine, "NCCL_IB_HCA", cause);
  }
  // The rate of its port is not known, and may be less than the lanes carry.
  if (!machine.nic_pcie.narrow.empty() && port <= 0) {
    causes.push_back(narrow_link(machine.nic_pcie, "nic-lanes-likely", machine.nics));
  }
}

// Links that are less than their model has.

void add_links(const Machine& machine, double expected, Causes& causes) {
  if (machine.nhosts > 1) return;
  if (machine.gpu == nullptr) {
    if (!machine.gpu_pcie.narrow.empty()) {
      causes.push_back(narrow_link(machine.gpu_pcie, "gpu-lanes", 1));
    }
    return;
  }
  const double slot = pcie_slot(machine.gpu->pcie, 16);
  constexpr double kDowngraded = 0.6;  // x8 instead of x16, or a generation less.
  const double gpu_link = machine.gpu_pcie.bw;
  const bool is_less = gpu_link > 0 && gpu_link < kDowngraded * slot;
  if (!is_joined(machine) && is_less && !machine.gpu_pcie.narrow.empty()) {
    causes.push_back(narrow_link(machine.gpu_pcie, "gpu-lanes", 1));
  } else if (!is_joined(machine) && is_less && machine.gpu->ring > gpu_link) {
    PerfCause& cause = causes.emplace_back(
        PerfCause{Stage::PCIe,
                  "pcie",
                  gpu_link,
                  machine.gpu_pcie.lines,
                  "the topology that NCCL reads",
                  {{"figure", bandwidth_text(gpu_link)}, {"usual", bandwidth_text(slot)}}});
    if (cause.evidence.empty()) cause.evidence = {machine.searched_line};
  }
  const std::string_view type = machine.searched_paths;
  if (type.starts_with("SYS") && !is_joined(machine)) {
    causes.push_back(searched_cause(Stage::CPU, "cpu-within", machine.searched_within, machine));
  }
  const bool by_pcie = type.starts_with("P") || type.starts_with("SYS");
  if (is_joined(machine) && by_pcie && machine.searched_within < expected / 2) {
    causes.push_back(searched_cause(Stage::PCIe, "no-nvlink", machine.searched_within, machine));
  }
}

/// The setting that allows no more channels than `channels` (-1: than so few that it shows anywhere);
/// nullptr: none does.
const char* channels_cap(const Machine& machine, int channels) {
  constexpr int kFew = 2;
  for (const char* cap : {"NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MAX_CTAS"}) {
    const SettingInForce* setting = machine.setting(cap);
    const int64_t allowed = setting == nullptr ? -1 : read_number(setting->value);
    if (allowed > 0 && allowed <= (channels > 0 ? channels : kFew)) return cap;
  }
  return nullptr;
}

void add_channels(const Machine& machine, double expected, Causes& causes) {
  const char* cap = channels_cap(machine, machine.channels);
  const auto channels = machine.channels > 0 || cap == nullptr
                            ? int64_t{machine.channels}
                            : int64_t{read_number(machine.setting(cap)->value)};
  if (channels <= 0) return;
  const PathFactor* each = machine.gpu == nullptr || machine.nhosts > 1 || !is_joined(machine)
                               ? nullptr
                               : find_path_factor(fmt::format("channel-{}", machine.gpu->family));
  PerfCause cause = {Stage::Channels, "few-channels"};
  cause.figures = {{"channels", plural(channels, "channel")}};
  if (machine.channels > 0) cause.evidence = {machine.channels_line};
  if (each != nullptr) {
    cause.path = static_cast<double>(channels) * each->figure;
    cause.source = each->source;
    if (expected > 0 && cause.path >= expected) return;
  }
  if (cap != nullptr) {
    cause.key = "channels";
    name_setting(machine, cap, cause);
  }
  // So few that a line asks for are known to cost, whatever the links are.
  const bool is_asked = cap != nullptr && channels_cap(machine, -1) != nullptr;
  if (is_asked || (each != nullptr && expected > 0)) causes.push_back(std::move(cause));
}

void add_algorithm(const Machine& machine, Operation op, Causes& causes) {
  const std::vector<std::string> left = choices(machine, "NCCL_ALGO");
  if (left.empty() || op != Operation::AllReduce) return;
  // Between two ranks rings and trees send the same.
  const bool is_plain = std::ranges::all_of(
      left, [](const std::string& name) { return name == "RING" || name == "TREE"; });
  if (machine.nranks == 2 && is_plain) return;
  // Rings are what carries most over NICs; only on one host do they leave the switch out.
  if (left.size() == 1 && left[0] == "RING" && machine.nhosts != 1) return;
  PerfCause& cause = causes.emplace_back(PerfCause{Stage::Algorithm, "algo"});
  if (machine.gpu != nullptr) cause.source = machine.gpu->source;
  const bool by_switch =
      std::ranges::any_of(left, [](const std::string& name) { return name.starts_with("NVLS"); });
  if (machine.gpu != nullptr && machine.nhosts == 1 && !by_switch) cause.path = machine.gpu->ring;
  name_setting(machine, "NCCL_ALGO", cause);
}

}  // namespace

bool is_on_loopback(const Machine& machine) {
  return p2p_switch(machine) != nullptr && machine.is_on("NCCL_SHM_DISABLE") &&
         machine.nhosts <= 1 && machine.net != NetKind::RDMA;
}

std::vector<PerfCause> perf_causes(const Machine& machine, Operation op, double expected) {
  Causes causes;
  add_protocol(machine, expected, causes);
  add_within(machine, causes);
  add_sockets(machine, causes);
  add_nic_path(machine, expected, causes);
  add_links(machine, expected, causes);
  add_channels(machine, expected, causes);
  if (machine.shares_gpu) causes.push_back({Stage::Rank, "shared-gpu"});
  add_algorithm(machine, op, causes);
  return causes;
}

}  // namespace ncclog
