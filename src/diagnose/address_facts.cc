// Can the hosts of the job reach the addresses that NCCL advertises?
//
//   node-a: Bootstrap : Using docker0:172.17.0.1<0>
//   node-b: Bootstrap : Using docker0:172.17.0.1<0>      the same bridge on each host
//
// A job whose communicators are all complete and in which no connection failed has proved that its
// addresses are good; then none of these facts accuses them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/edges.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/host_addresses.h"
#include "diagnose/interface_classes.h"
#include "diagnose/within_runs.h"
#include "log/address.h"
#include "log/messages.h"

namespace ncclog {
namespace {

bool all_complete(const Communicator& comm) {
  return std::all_of(comm.ranks.begin(), comm.ranks.end(), [](const CommRank& rank) {
    return rank.state == RankState::Complete || rank.state == RankState::Destroyed;
  });
}

bool connections_work(const Job& job) {
  bool failed = false;
  for_each_said<ConnectFailed>(job, [&](const Said<ConnectFailed>&) { failed = true; });
  return !failed && !job.communicators.empty() &&
         std::all_of(job.communicators.begin(), job.communicators.end(), all_complete);
}

size_t count_hosts(const std::vector<HostAddress>& addresses) {
  std::set<std::string> hosts;
  for (const HostAddress& address : addresses) {
    if (!address.host.empty()) hosts.insert(address.host);
  }
  return hosts.size();
}

/// Where somebody tried to connect to, and could not.
struct FailedTarget {
  std::string host;  ///< Of the process that tried.
  std::string ip;
};

std::vector<FailedTarget> failed_targets(const Job& job) {
  std::vector<FailedTarget> targets;
  for_each_said<ConnectFailed>(job, [&](const Said<ConnectFailed>& said) {
    const std::string_view ip = parse_address(said.message.address).ip;
    if (ip.empty()) return;
    targets.push_back({job.processes[static_cast<size_t>(said.process)].host, std::string(ip)});
  });
  return targets;
}

/// Hosts that speak; where some say much, without those of which a line or two names one: in a torn
/// stream those are pieces of names.
size_t speaking_hosts(const Job& job) {
  constexpr uint64_t kFew = 2;
  std::map<std::string, uint64_t> lines;
  uint64_t most = 0;
  for (const Process& process : job.processes) {
    if (process.host.empty()) continue;
    for (const size_t log : process.logs) lines[process.host] += job.logs[log].lines;
    most = std::max(most, lines[process.host]);
  }
  return static_cast<size_t>(std::count_if(lines.begin(), lines.end(), [&](const auto& host) {
    return host.second > kFew || most <= 8 * kFew;
  }));
}

FactValue loopback_between_hosts(const Job& job, const Instance&) {
  if (job.nhosts == 0) return unknown();
  if (job.nhosts < 2 || speaking_hosts(job) == 1 || connections_work(job)) return no();
  std::vector<HostAddress> loopback;
  for (const HostAddress& address : all_addresses(job)) {
    if (is_loopback(address.ip)) loopback.push_back(address);
  }
  return loopback.empty() ? no() : yes_about(addresses_text(loopback), loopback);
}

/// What makes two addresses parts of the same private bridge; empty if the address is in none.
std::string bridge_of(const HostAddress& address) {
  if (is_host_bridge(address.name)) return address.name;
  return bridge_range(address.ip, is_container_host(address.host));
}

/// Somebody on the address's host was refused by another address of the same range.
bool target_is_bridged(const HostAddress& address, const std::vector<FailedTarget>& targets) {
  const bool in_container = is_container_host(address.host);
  const std::string range = bridge_range(address.ip, in_container);
  return !range.empty() &&
         std::any_of(targets.begin(), targets.end(), [&](const FailedTarget& target) {
           return target.host == address.host && target.ip != address.ip &&
                  bridge_range(target.ip, in_container) == range;
         });
}

FactValue bridge_between_hosts(const Job& job, const Instance&) {
  if (job.nhosts == 0) return unknown();
  if (connections_work(job)) return no();
  const auto targets = failed_targets(job);
  std::map<std::string, std::vector<HostAddress>> bridges;
  std::vector<HostAddress> reaching_out;
  for (const HostAddress& address : all_addresses(job)) {
    const std::string bridge = bridge_of(address);
    if (!bridge.empty()) bridges[bridge].push_back(address);
    if (target_is_bridged(address, targets)) reaching_out.push_back(address);
  }
  for (const auto& [bridge, addresses] : bridges) {
    if (count_hosts(addresses) >= 2) return yes_about(addresses_text(addresses), addresses);
  }
  if (reaching_out.empty()) return no();
  return yes_about(addresses_text(reaching_out) + ", and the peer's address is in the same range",
                   reaching_out);
}

FactValue same_address_on_hosts(const Job& job, const Instance&) {
  std::map<std::string, std::vector<HostAddress>> by_ip;
  for (const HostAddress& address : bootstrap_addresses(job)) {
    if (!is_loopback(address.ip)) by_ip[address.ip].push_back(address);
  }
  for (const auto& [ip, addresses] : by_ip) {
    if (count_hosts(addresses) >= 2) return yes_about(addresses_text(addresses), addresses);
  }
  return no();
}

FactValue address_families_differ(const Job& job, const Instance&) {
  std::map<bool, std::vector<HostAddress>> by_family;
  for (const HostAddress& address : bootstrap_addresses(job)) {
    by_family[is_ipv6(address.ip)].push_back(address);
  }
  if (by_family.empty()) return unknown();
  if (by_family.size() < 2) return no();
  return yes(
      fmt::format("{}; {}", addresses_text(by_family[true]), addresses_text(by_family[false])),
      {by_family[true].front().line, by_family[false].front().line});
}

FactValue interfaces_share_subnet(const Job& job, const Instance&) {
  std::map<std::pair<int, std::string>, HostAddress> seen;
  for (const HostAddress& address : socket_addresses(job)) {
    const std::string subnet(subnet_of(address.ip));
    if (subnet.empty()) continue;
    const auto [first, added] = seen.try_emplace({address.process, subnet}, address);
    if (added || first->second.name == address.name) continue;
    return yes(fmt::format("{}:{} and {}:{}", first->second.name, first->second.ip, address.name,
                           address.ip),
               {address.line});
  }
  return no();
}

FactValue virtual_interface(const Job& job, const Instance&) {
  std::vector<HostAddress> found;
  for (const HostAddress& address : all_addresses(job)) {
    const bool linklocal4 = is_link_local(address.ip) && !is_ipv6(address.ip);
    if (is_virtual_interface(address.name) || linklocal4) found.push_back(address);
  }
  return found.empty() ? no() : yes_about(addresses_text(found), found);
}

/// Of each process the interfaces of its socket network, in NCCL's order.
std::map<int, std::vector<HostAddress>> socket_lists(const Job& job) {
  std::map<int, std::vector<HostAddress>> lists;
  for (const HostAddress& address : socket_addresses(job)) {
    std::vector<HostAddress>& list = lists[address.process];
    if (list.empty() || list.front().line.where == address.line.where) list.push_back(address);
  }
  return lists;
}

/// "NET/Socket/1": the second interface of the process's list.
FactValue virtual_interface_carries(const Job& job, const Instance&) {
  const auto lists = socket_lists(job);
  std::vector<HostAddress> found;
  std::vector<Evidence> lines;
  for (const Edge& edge : edges_of(job)) {
    const auto list = lists.find(edge.process);
    if (edge.path.network != "Socket" || list == lists.end() || edge.path.device < 0) continue;
    if (edge.path.device >= static_cast<int>(list->second.size())) continue;
    const HostAddress& address = list->second[static_cast<size_t>(edge.path.device)];
    if (is_virtual_interface(address.name))
      found.push_back(address), lines.push_back({edge.where, {}});
  }
  if (found.empty()) return no();
  FactValue value = yes_about("; connections run over " + addresses_text(found), found);
  value.evidence.push_back(lines.front());
  return value;
}

FactValue ipoib_interfaces(const Job& job, const Instance&) {
  std::vector<HostAddress> found;
  for (const HostAddress& address : socket_addresses(job)) {
    if (is_infiniband_interface(address.name)) found.push_back(address);
  }
  if (found.empty()) return no();
  FactValue answer = yes_about(addresses_text(found), found);
  answer.processes.clear();
  return answer;
}

/// Whether NCCL_SOCKET_IFNAME admits the interface; an exclude list says nothing about the rest.
bool ifname_admits(std::string_view setting, std::string_view name) {
  if (setting.empty() || setting.front() == '^') return true;
  const bool exact = setting.front() == '=';
  if (exact) setting.remove_prefix(1);
  for (std::string_view wanted : split(setting, ',')) {
    wanted = trim(wanted.substr(0, wanted.find(':')));
    if (wanted.empty() || (exact ? name == wanted : name.starts_with(wanted))) return true;
  }
  return false;
}

/// The values of NCCL_SOCKET_IFNAME that commands in the log give to all ranks.
std::vector<std::string> commanded_ifnames(const Job& job) {
  static constexpr std::string_view kName = "NCCL_SOCKET_IFNAME=";
  std::vector<std::string> values;
  for_each_said<ShellCommand>(job, [&](const Said<ShellCommand>& said) {
    const std::string_view command = said.message.command;
    const size_t at = command.find(kName);
    if (at == std::string_view::npos) return;
    const std::string_view rest = command.substr(at + kName.size());
    values.emplace_back(rest.substr(0, rest.find_first_of(" \t\"'")));
  });
  return values;
}

/// The setting that counts for a process: its own line, else a command's if there is just one.
std::map<int, std::string> ifname_settings(const Job& job) {
  std::map<int, std::string> settings;
  const auto commanded = commanded_ifnames(job);
  const std::set<std::string> distinct(commanded.begin(), commanded.end());
  for (size_t p = 0; distinct.size() == 1 && p < job.processes.size(); ++p) {
    settings[static_cast<int>(p)] = *distinct.begin();
  }
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name != "NCCL_SOCKET_IFNAME") continue;
    for (const int process : setting.processes) settings[process] = setting.value;
  }
  return settings;
}

FactValue ifname_not_used(const Job& job, const Instance&) {
  const auto settings = ifname_settings(job);
  if (settings.empty()) return unknown();
  std::vector<HostAddress> odd;
  std::string value;
  for (const HostAddress& address : bootstrap_addresses(job)) {
    const auto setting = settings.find(address.process);
    if (setting == settings.end() || ifname_admits(setting->second, address.name)) continue;
    odd.push_back(address);
    value = setting->second;
  }
  if (odd.empty()) return no();
  return yes_about(fmt::format("the setting is {}, in use is {}", value, addresses_text(odd)), odd);
}

constexpr std::array kFacts = {
    Fact{"job.address_families_differ", Scope::Job, FactType::Bool,
         "Some ranks use IPv4 and others IPv6 for the bootstrap.",
         within_runs<address_families_differ>},
    Fact{"job.bridge_between_hosts", Scope::Job, FactType::Bool,
         "Hosts advertise addresses of the same private bridge, which each has for itself.",
         within_runs<bridge_between_hosts>},
    Fact{"job.ifname_not_used", Scope::Job, FactType::Bool,
         "The bootstrap uses an interface that NCCL_SOCKET_IFNAME does not name.", ifname_not_used},
    Fact{"job.interfaces_share_subnet", Scope::Job, FactType::Bool,
         "Two socket interfaces of a process are in one subnet, if its mask has 24 bits.",
         interfaces_share_subnet},
    Fact{"job.ipoib_interfaces", Scope::Job, FactType::Bool,
         "A socket network lists interfaces with names of InfiniBand ports.", ipoib_interfaces},
    Fact{"job.loopback_between_hosts", Scope::Job, FactType::Bool,
         "The log names several hosts, and some process uses a loopback address.",
         within_runs<loopback_between_hosts>},
    Fact{"job.same_address_on_hosts", Scope::Job, FactType::Bool,
         "Two hosts advertise the same address for the bootstrap.",
         within_runs<same_address_on_hosts>},
    Fact{"job.virtual_interface", Scope::Job, FactType::Bool,
         "Some process uses or lists a bridge, tunnel or link-local IPv4 interface.",
         virtual_interface},
    Fact{"job.virtual_interface_carries", Scope::Job, FactType::Bool,
         "Lines of connections show that data pass through a bridge or tunnel.",
         virtual_interface_carries},
};

}  // namespace

std::span<const Fact> address_facts() { return kFacts; }

}  // namespace ncclog
