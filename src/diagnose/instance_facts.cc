// What is known of a connection between two ranks, of a GPU, of a network interface?
//
//   Channel 00/0 : 1[1] -> 2[2] [send] via NET/IB/0/GDRDMA   rank_pair.transport = NET/IB
//   NET/IB: [0] mlx5_0:uverbs0:1/IB provider=Mlx5 speed=400000 …     nic.speed = 400000
//   NVRM: Xid (PCI:0000:1b:00): 79, …                                 gpu.xid = 79
//
// Printed by some settings and releases only, so most of it is often unknown.

#include <algorithm>
#include <array>
#include <bitset>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/interface_classes.h"
#include "log/address.h"
#include "model/connections.h"

namespace ncclog {
namespace {

FactValue text(std::string value) { return {std::move(value), {}, {}, {}, {}}; }

FactValue yes_or_no(bool value) { return value ? yes({}) : no(); }

/// "NET/IB" for "NET/IB/0/GDRDMA", "P2P" for "P2P/CUMEM".
std::string transport_text(const std::string& path) {
  const Transport transport = transport_of(path);
  if (transport != Transport::NET) return std::string(to_string(transport));
  const auto parts = split(path, '/');
  if (parts.size() < 2) return "NET";
  return "NET/" + std::string(parts[1].substr(0, parts[1].find_first_of("( ")));
}

FactValue pair_transport(const Job&, const Instance& pair) {
  std::set<std::string> transports;
  for (const std::string& path : pair.paths) transports.insert(transport_text(path));
  return text(join(std::vector<std::string>(transports.begin(), transports.end()), "+"));
}

FactValue pair_path(const Job&, const Instance& pair) { return text(join(pair.paths, ", ")); }

FactValue pair_channels(const Job&, const Instance& pair) {
  return number(static_cast<int64_t>(std::bitset<64>(pair.channels).count()));
}

FactValue pair_gdr(const Job&, const Instance& pair) {
  bool over_network = false;
  bool all = true;
  for (const std::string& path : pair.paths) {
    if (transport_of(path) != Transport::NET) continue;
    over_network = true;
    all &= path.find("GDRDMA") != path.npos;
  }
  return over_network ? yes_or_no(all) : unknown();
}

FactValue pair_same_host(const Job& job, const Instance& pair) {
  const std::string& a = job.processes[static_cast<size_t>(pair.processes[0])].host;
  const std::string& b = job.processes[static_cast<size_t>(pair.processes[1])].host;
  return a.empty() || b.empty() ? unknown() : yes_or_no(a == b);
}

FactValue gpu_process_count(const Job&, const Instance& gpu) {
  return number(static_cast<int64_t>(gpu.processes.size()));
}

/// Of several, the last one.
FactValue gpu_xid(const Job& job, const Instance& gpu) {
  FactValue value;
  const auto bus = bus_number(gpu.device);
  for (const KernelEvent& event : job.kernel_events) {
    if (event.kind != kKindIndex<Xid> || event.host != gpu.host) continue;
    if (!bus || bus_number(event.bus_id) != bus) continue;
    value = number(event.code);
    value.evidence = {{event.where, event.text}};
  }
  return value;
}

/// Calls `use(interface)` for every entry of the job about that port.
template <typename Use>
void for_each_entry(const Job& job, const Instance& nic, Use&& use) {
  for (const Interface& entry : job.network.interfaces) {
    const bool same = entry.host == nic.host && entry.name == nic.device && entry.port == nic.port;
    if (same) use(entry);
  }
}

FactValue nic_link(const Job& job, const Instance& nic) {
  FactValue value;
  for_each_entry(job, nic, [&](const Interface& entry) {
    if (!entry.link.empty()) value = text(entry.link);
  });
  return value;
}

FactValue nic_address(const Job& job, const Instance& nic) {
  FactValue value;
  for_each_entry(job, nic, [&](const Interface& entry) {
    if (!entry.address.empty()) value = text(entry.address);
  });
  return value;
}

FactValue nic_is_hca(const Job&, const Instance& nic) { return yes_or_no(nic.port >= 0); }

FactValue nic_is_virtual(const Job&, const Instance& nic) {
  return yes_or_no(is_virtual_interface(nic.device));
}

/// The line's process runs on the host, or there is only one.
bool is_about_host(const Job& job, int process, const std::string& host) {
  const std::string& known = job.processes[static_cast<size_t>(process)].host;
  return known.empty() ? job.hosts.size() == 1 && job.hosts.front() == host : known == host;
}

FactValue nic_speed(const Job& job, const Instance& nic) {
  FactValue value;
  for_each_said<IbDevice>(job, [&](const Said<IbDevice>& said) {
    if (said.message.name != nic.device || said.message.port != nic.port) return;
    if (said.message.speed <= 0 || !is_about_host(job, said.process, nic.host)) return;
    value = number(said.message.speed);
    value.evidence = {evidence_of(said.record)};
  });
  return value;
}

FactValue nic_state(const Job& job, const Instance& nic) {
  FactValue value;
  for_each_said<IbPort>(job, [&](const Said<IbPort>& said) {
    const bool same = said.message.device == nic.device && said.message.port == nic.port;
    if (!same || !is_about_host(job, said.process, nic.host)) return;
    value = text(std::string(said.message.state));
    value.evidence = {evidence_of(said.record)};
  });
  return value;
}

constexpr std::array kFacts = {
    Fact{"rank_pair.path", Scope::RankPair, FactType::Text,
         "The paths between the two as printed, joined by commas.", pair_path},
    Fact{"rank_pair.same_host", Scope::RankPair, FactType::Bool, "Both run on one host.",
         pair_same_host},
    Fact{"rank_pair.transport", Scope::RankPair, FactType::Text,
         "P2P, SHM, NET/IB, NET/Socket, …; several are joined by +.", pair_transport},
};

}  // namespace

std::span<const Fact> instance_facts() { return kFacts; }

}  // namespace ncclog
