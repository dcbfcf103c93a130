// Which interfaces and RDMA ports of a host would NCCL take, and can others reach them?

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/hosts/host_reports.h"
#include "diagnose/network/interfaces.h"
#include "diagnose/settings/lint.h"
#include "diagnose/settings/nccl_variables.h"

namespace ncclog {
namespace {

/// So many ports or interfaces are named.
constexpr size_t kMostDevices = 8;

/// The first address that NCCL takes: of the family that is asked for, and no IPv6 loopback; empty:
/// none.
std::string usable_address(const HostInterface& interface, std::string_view family) {
  for (const std::string& address : interface.addresses) {
    const std::string ip = address.substr(0, address.find('/'));  // "10.1.2.3" of "10.1.2.3/24".
    const bool is_6 = is_ipv6(ip);
    if ((family == "AF_INET" && is_6) || (family == "AF_INET6" && !is_6) || ip == "::1") continue;
    return ip;
  }
  return {};
}

// Which interface does the bootstrap take?

std::string words_of(const HostInterface& taken) {
  return fmt::format("NCCL would take {} ({})", taken.name, taken.addresses.front());
}

/// Asks `judge` about the bootstrap's interface: true, false, or nullopt where that is not known.
template <typename Judge>
FactValue about_bootstrap(const HostReport& report, Judge judge) {
  const auto taken = taken_interfaces(report);
  if (taken.empty()) return unknown();
  const std::optional<bool> answer = judge(taken.front());
  return answer ? yes_or_no(*answer, words_of(taken.front())) : unknown();
}

bool is_real(const HostInterface& interface) {
  return interface.kind == "physical" || interface.kind == "bond" || interface.kind == "vlan";
}

FactValue bootstrap_bridge(const HostReport& report) {
  return about_bootstrap(report, [&](const HostInterface& taken) -> std::optional<bool> {
    if (is_host_bridge(taken.name)) return true;
    const bool in_container = !report.container.empty();
    // Some sites number their network like Docker's bridge.
    if (bridge_range(taken.addresses.front(), in_container).empty() || is_real(taken)) return false;
    return taken.kind.empty() ? std::optional<bool>() : true;
  });
}

FactValue bootstrap_virtual(const HostReport& report) {
  return about_bootstrap(report, [](const HostInterface& taken) -> std::optional<bool> {
    return is_virtual_interface(taken.name) && !is_real(taken);
  });
}

FactValue bootstrap_loopback(const HostReport& report) {
  const auto is_other = [](const HostInterface& each) {
    return each.name != "lo" && each.is_up && !each.addresses.empty();
  };
  const bool has_others = report.interfaces && std::ranges::any_of(*report.interfaces, is_other);
  return about_bootstrap(report, [&](const HostInterface& taken) -> std::optional<bool> {
    return taken.name == "lo" && has_others;
  });
}

FactValue bootstrap_link_local(const HostReport& report) {
  return about_bootstrap(report, [](const HostInterface& taken) -> std::optional<bool> {
    return is_link_local(taken.addresses.front());
  });
}

FactValue no_interface(const HostReport& report) {
  if (!report.interfaces) return unknown();
  const auto taken = taken_interfaces(report);
  if (!taken.empty()) return no_because(words_of(taken.front()));
  std::vector<std::string> names;
  for (const HostInterface& each : *report.interfaces) {
    names.push_back(each.name + (each.is_up ? "" : " (down)"));
  }
  if (names.empty()) return yes("no network interface has an address");
  std::string settings;
  for (const char* name : {"NCCL_SOCKET_IFNAME", "NCCL_SOCKET_FAMILY"}) {
    const std::string_view value = setting_of(report, name);
    if (!value.empty()) settings += fmt::format("{}={} ", name, value);
  }
  return yes(fmt::format("{}admits none of {}", settings.empty() ? "NCCL " : settings,
                         few_of(names, kMostDevices, ", ")));
}

// Which RDMA ports, and are they of one kind?

std::string port_name(const RdmaPort& port) { return fmt::format("{}:{}", port.device, port.port); }

std::string names_of(const std::vector<const RdmaPort*>& ports) {
  std::vector<std::string> names;
  for (const RdmaPort* port : ports) {
    names.push_back(fmt::format("{}/{}", port_name(*port), port->link));
  }
  return few_of(names, kMostDevices, ", ");
}

FactValue hca_link_mix(const HostReport& report) {
  const auto ports = taken_ports(report);
  std::set<std::string_view> links;
  for (const RdmaPort* port : ports) links.insert(port->link);
  if (ports.empty() || links.contains("")) return unknown();
  return yes_or_no(links.size() > 1, "NCCL would use " + names_of(ports));
}

FactValue hca_filter_empty(const HostReport& report) {
  const std::string_view filter = setting_of(report, "NCCL_IB_HCA");
  if (!report.rdma || filter.empty() || report.rdma->empty()) return unknown();
  const NameFilter names = parse_name_filter(filter);
  const bool admits_some = std::ranges::any_of(
      *report.rdma, [&](const RdmaPort& port) { return admits(names, port.device, port.port); });
  std::vector<std::string> all;
  for (const RdmaPort& port : *report.rdma) all.push_back(port_name(port));
  return yes_or_no(!admits_some,
                   fmt::format("NCCL_IB_HCA={} admits {} of {}", filter,
                               admits_some ? "some" : "none", few_of(all, kMostDevices, ", ")));
}

/// A port that is down is one that nobody connected, unless a setting names it, or all others of
/// the same model are up.
FactValue ib_port_down(const HostReport& report) {
  if (!report.rdma) return unknown();
  constexpr size_t kMajority = 4;
  const NameFilter names = parse_name_filter(setting_of(report, "NCCL_IB_HCA"));
  // The beginning of many names names none of them.
  const auto is_named = [&](const RdmaPort& port) {
    return !names.excludes && std::ranges::any_of(names.entries, [&](const FilterEntry& entry) {
      return entry.name == port.device && (entry.port < 0 || entry.port == port.port);
    });
  };
  std::map<std::string_view, std::vector<const RdmaPort*>> up;
  std::map<std::string_view, std::vector<const RdmaPort*>> down;
  std::vector<std::string> lost;
  for (const RdmaPort& port : *report.rdma) {
    if (port.state.empty()) return unknown();
    (port.state == "ACTIVE" ? up : down)[port.board].push_back(&port);
  }
  for (const auto& [board, ports] : down) {
    const bool is_odd = !board.empty() && ports.size() == 1 && up[board].size() >= kMajority;
    for (const RdmaPort* port : ports) {
      if (!is_odd && !is_named(*port)) continue;
      lost.push_back(fmt::format("{} is {}", port_name(*port), port->state));
    }
  }
  if (!lost.empty()) return yes(join(lost, ", "));
  const auto ports = taken_ports(report);
  return ports.empty() ? unknown() : no_because("active are " + names_of(ports));
}

FactValue rdma_active(const HostReport& report) {
  if (!report.rdma) return unknown();
  const auto ports = taken_ports(report);
  if (!ports.empty()) return yes("active RDMA ports are " + names_of(ports));
  return report.rdma->empty() ? no_because("it has no RDMA device")
                              : no_because("none of its RDMA ports is active and admitted");
}

FactValue no_rdma(const HostReport& report) {
  FactValue active = rdma_active(report);
  if (is_yes(active)) return no_because(active.what);
  return report.rdma && report.rdma->empty() ? yes("it has no RDMA device") : unknown();
}

FactValue rdma_hidden(const HostReport& report) {
  if (!report.rdma || report.rdma->empty() || !report.rdma_files) return unknown();
  if (*report.rdma_files) return no_because("/dev/infiniband holds the devices' files");
  return yes("the kernel shows RDMA devices, and /dev/infiniband has no file of theirs");
}

FactValue rdma_unusable(const HostReport& report) {
  const auto verbs = std::ranges::find(report.libraries, "libibverbs.so.1", &HostLibrary::name);
  const FactValue active = rdma_active(report);
  if (!is_yes(active) || verbs == report.libraries.end()) return unknown();
  if (verbs->path.empty()) return yes(active.what + ", and there is no libibverbs.so.1");
  return no_because(fmt::format("{}, and {} is there", active.what, verbs->path));
}

/// An entry that a router can forward: RoCE v2 of an address that is not of one link only.
bool is_routable(const RdmaGid& gid) {
  return gid.type == "RoCE v2" && !gid.gid.starts_with("fe80:");
}

FactValue gid_unroutable(const HostReport& report) {
  const std::string_view wanted = setting_of(report, "NCCL_IB_GID_INDEX");
  const int64_t index = parse_int(wanted).value_or(-1);
  bool any = false;
  for (const RdmaPort* port : taken_ports(report)) {
    if (port->link != "RoCE") continue;
    if (port->gids.empty()) return unknown();
    any = true;
    if (index >= 0) {
      const auto gid = std::ranges::find(port->gids, index, &RdmaGid::index);
      if (gid == port->gids.end()) {
        return yes(fmt::format("NCCL_IB_GID_INDEX={} is no entry of {}", index, port_name(*port)));
      }
      if (!is_routable(*gid)) {
        return yes(fmt::format("NCCL_IB_GID_INDEX={} of {} is {} {}", index, port_name(*port),
                               gid->type, gid->gid));
      }
    } else if (std::ranges::none_of(port->gids, is_routable)) {
      return yes(fmt::format("{} has no GID of RoCE v2 that is not link-local", port_name(*port)));
    }
  }
  // Without a setting it depends on the release which entry is taken.
  if (!any || index < 0) return unknown();
  return no_because(fmt::format("entry {} of its RoCE ports is RoCE v2 and not link-local", index));
}

// What do its settings come to on this host?

LintContext lint_context(const HostReport& report) {
  LintContext context{.complete = true};
  HostDevices devices{.host = report.host.empty() ? "this host" : report.host};
  if (report.interfaces) {
    for (const HostInterface& each : *report.interfaces) devices.interfaces.push_back(each.name);
  }
  if (report.rdma) {
    for (const RdmaPort& port : *report.rdma) {
      const bool is_new = std::ranges::find(devices.hcas, port.device) == devices.hcas.end();
      if (is_new) devices.hcas.push_back(port.device);
    }
  }
  context.hosts.push_back(std::move(devices));
  return context;
}

/// Remarks of a kind on the host's settings: "NCCL_IB_DISBALE=1 is read by no release".
template <RemarkKind kind>
FactValue remarked(const HostReport& report) {
  std::vector<Setting> settings;
  for (const HostSetting& each : report.settings) {
    settings.push_back({.name = each.name, .value = each.value});
  }
  std::vector<std::string> words;
  for (const Remark& remark : lint(settings, lint_context(report))) {
    if (remark.kind != kind) continue;
    words.push_back(fmt::format("{}={} {}", remark.variable, remark.value, remark.message));
  }
  if (!words.empty()) return yes(few_of(words, kMostNamed, "; "));
  return unknown();
}

template <bool of_interfaces>
FactValue filter_surprise(const HostReport& report) {
  constexpr const char* kVariable = of_interfaces ? "NCCL_SOCKET_IFNAME" : "NCCL_IB_HCA";
  const std::string_view value = setting_of(report, kVariable);
  const NcclVariable* variable = find_nccl_variable(kVariable);
  if (value.empty() || variable == nullptr) return unknown();
  const Setting setting{.name = kVariable, .value = std::string(value)};
  for (const Remark& remark : judge_filter(*variable, setting, lint_context(report).hosts)) {
    if (remark.kind == RemarkKind::MatchesMore) {
      return yes(fmt::format("{}={} {}", kVariable, value, remark.message));
    }
  }
  return unknown();
}

constexpr std::array kHostNetworkFacts = {
    host_fact<bootstrap_bridge>("host.bootstrap_bridge"),
    host_fact<bootstrap_link_local>("host.bootstrap_link_local"),
    host_fact<bootstrap_loopback>("host.bootstrap_loopback"),
    host_fact<bootstrap_virtual>("host.bootstrap_virtual"),
    host_fact<gid_unroutable>("host.gid_unroutable"),
    host_fact<hca_filter_empty>("host.hca_filter_empty"),
    host_fact<filter_surprise<false>>("host.hca_filter_surprise"),
    host_fact<hca_link_mix>("host.hca_link_mix"),
    host_fact<ib_port_down>("host.ib_port_down"),
    host_fact<filter_surprise<true>>("host.ifname_surprise"),
    host_fact<no_interface>("host.no_interface"),
    host_fact<no_rdma>("host.no_rdma"),
    host_fact<rdma_active>("host.rdma_active"),
    host_fact<rdma_hidden>("host.rdma_hidden"),
    host_fact<rdma_unusable>("host.rdma_unusable"),
    host_fact<remarked<RemarkKind::Contradictory>>("host.setting_contradictory"),
    host_fact<remarked<RemarkKind::Invalid>>("host.setting_invalid"),
    host_fact<remarked<RemarkKind::Misspelt>>("host.setting_misspelt"),
};

}  // namespace

std::vector<HostInterface> taken_interfaces(const HostReport& report) {
  std::vector<HostInterface> usable;
  if (!report.interfaces) return usable;
  const std::string_view family = setting_of(report, "NCCL_SOCKET_FAMILY");
  for (HostInterface interface : *report.interfaces) {
    interface.addresses = {usable_address(interface, family)};
    if (interface.is_up && !interface.addresses.front().empty()) {
      usable.push_back(std::move(interface));
    }
  }
  const auto admitted = [&](std::string_view text) {
    const NameFilter filter = parse_name_filter(text);
    std::vector<HostInterface> result;
    for (const HostInterface& each : usable) {
      if (admits(filter, each.name)) result.push_back(each);
    }
    return result;
  };
  const std::string_view own = setting_of(report, "NCCL_SOCKET_IFNAME");
  if (!own.empty()) return admitted(own);
  for (const std::string_view filter : {"ib", "^docker,lo,virbr", "docker", "lo", "virbr"}) {
    std::vector<HostInterface> result = admitted(filter);
    if (!result.empty()) return result;
  }
  return {};
}

std::vector<const RdmaPort*> taken_ports(const HostReport& report) {
  std::vector<const RdmaPort*> ports;
  if (!report.rdma) return ports;
  const NameFilter filter = parse_name_filter(setting_of(report, "NCCL_IB_HCA"));
  for (const RdmaPort& port : *report.rdma) {
    if (port.state == "ACTIVE" && admits(filter, port.device, port.port)) ports.push_back(&port);
  }
  return ports;
}

std::span<const Fact> host_network_facts() { return kHostNetworkFacts; }

}  // namespace ncclog
