// Which network carries the data, and is it the one that the hardware offers?
//
//   job.rdma_evidence = yes, "gpu-a lists mlx5_0 (NET/IB)"
//   job.networks_differ = yes, "(IB in 8 processes on gpu-a, Socket in 8 processes on gpu-b)"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/edges.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/first_transfer.h"
#include "diagnose/hca_lists.h"
#include "diagnose/host_addresses.h"
#include "diagnose/interface_classes.h"
#include "diagnose/minority.h"
#include "diagnose/within_runs.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// Collects signs of one thing; the first few make the answer.
struct Signs {
  std::vector<std::string> words;
  std::vector<Evidence> evidence;

  void add(const std::string& word, Evidence line) {
    if (std::find(words.begin(), words.end(), word) != words.end() || words.size() == 2) return;
    words.push_back(word);
    evidence.push_back(std::move(line));
  }
  FactValue answer() const { return words.empty() ? no() : yes(join(words, " and "), evidence); }
};

std::string on_host(const Job& job, int process) {
  const std::string& host = job.processes[static_cast<size_t>(process)].host;
  return host.empty() ? std::string() : " on " + host;
}

void add_pasted_ports(const Job& job, Signs& signs) {
  for_each_said<IbPort>(job, [&](const Said<IbPort>& said) {
    if (said.message.state != "Up") return;
    signs.add("ibdev2netdev shows RDMA ports that are up", evidence_of(said.record));
  });
  for_each_said<IbstatCa>(job, [&](const Said<IbstatCa>& said) {
    signs.add(fmt::format("ibstat shows {}", said.message.device), evidence_of(said.record));
  });
  for_each_said<GidRow>(job, [&](const Said<GidRow>& said) {
    signs.add(fmt::format("show_gids lists {}", said.message.device), evidence_of(said.record));
  });
}

void add_named_hcas(const Job& job, Signs& signs) {
  for (const HcaList& list : hca_lists(job)) {
    signs.add(fmt::format("NET/IB lists {}{}", list.hcas.front().name, on_host(job, list.process)),
              list.line);
  }
  for_each_said<IbDevice>(job, [&](const Said<IbDevice>& said) {
    signs.add(fmt::format("NET/IB found {}{}", said.message.name, on_host(job, said.process)),
              evidence_of(said.record));
  });
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    if (said.message.name != "NCCL_IB_HCA" || said.message.value.starts_with('^')) return;
    signs.add(fmt::format("NCCL_IB_HCA names {}", said.message.value), evidence_of(said.record));
  });
}

FactValue rdma_evidence(const Job& job, const Instance&) {
  Signs signs;
  add_pasted_ports(job, signs);
  add_named_hcas(job, signs);
  for (const HostAddress& address : all_addresses(job)) {
    if (!is_infiniband_interface(address.name)) continue;
    signs.add(fmt::format("{} is an InfiniBand interface by its name", address.name), address.line);
    break;
  }
  return signs.answer();
}

/// The networks that a process selected for its communicators, and one line for each process.
struct Selection {
  std::set<std::string> networks;
  Evidence line;
};

std::map<int, Selection> selections(const Job& job) {
  std::map<int, Selection> result;
  for_each_said<NetworkSelected>(job, [&](const Said<NetworkSelected>& said) {
    Selection& selection = result[said.process];
    selection.networks.emplace(said.message.network);
    selection.line = evidence_of(said.record);
  });
  return result;
}

std::string networks_text(const std::set<std::string>& networks) {
  return join(std::vector<std::string>(networks.begin(), networks.end()), "+");
}

/// NCCL's own complaint, which exists since 2.30.3.
FactValue device_counts_differ(const Job& job) {
  FactValue answer = no();
  for_each_said<DeviceCountsMixed>(job, [&](const Said<DeviceCountsMixed>& said) {
    if (said.header.level != Level::Warn) return;
    answer =
        yes(fmt::format("({} to {} devices for each rank)", said.message.min, said.message.max),
            {evidence_of(said.record)});
  });
  return answer;
}

/// Drops names that only the beginning of another one stands for: "Socke" is a cut line, no
/// network.
void drop_cut_names(std::map<std::string, std::vector<int>>& groups) {
  std::erase_if(groups, [&](const auto& cut) {
    return std::any_of(groups.begin(), groups.end(), [&](const auto& whole) {
      return whole.first.size() > cut.first.size() && whole.first.starts_with(cut.first);
    });
  });
}

FactValue networks_differ(const Job& job, const Instance&) {
  if (FactValue counts = device_counts_differ(job); !counts.evidence.empty()) return counts;
  std::map<std::string, std::vector<int>> groups;
  std::map<std::string, Evidence> lines;
  for (const auto& [process, selection] : selections(job)) {
    // A process that uses several networks is a program that asks for them.
    if (selection.networks.size() > 1) return no();
    const std::string name = networks_text(selection.networks);
    groups[name].push_back(process);
    lines.try_emplace(name, selection.line);
  }
  drop_cut_names(groups);
  if (groups.size() < 2) return groups.empty() ? unknown() : no();
  std::vector<std::string> parts;
  std::vector<Evidence> evidence;
  for (const auto& [name, members] : groups) {
    parts.push_back(fmt::format("{} in {} process{}{}", name, members.size(),
                                members.size() == 1 ? "" : "es", on_host(job, members.front())));
    evidence.push_back(lines[name]);
  }
  return yes("(" + join(parts, ", ") + ")", std::move(evidence), minority(groups));
}

FactValue gpudirect(const Job& job, const Instance&) {
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.connections.all) {
      if (key.path.find("GDRDMA") != std::string::npos) {
        return yes("channels use " + key.path, {{use.first, {}}});
      }
    }
  }
  Signs signs;
  for_each_said<RingsConnected>(job, [&](const Said<RingsConnected>& said) {
    if (!said.message.text.ends_with("GDR 1")) return;
    signs.add("the rings use GPU Direct RDMA", evidence_of(said.record));
  });
  for_each_said<GpuDirect>(job, [&](const Said<GpuDirect>& said) {
    if (said.message.state != "Enabled" || said.message.device.empty()) return;
    signs.add(fmt::format("GPU Direct RDMA is enabled for {}", said.message.device),
              evidence_of(said.record));
  });
  return signs.answer();
}

FactValue socket_between_hosts(const Job& job, const Instance&) {
  const std::vector<Edge>& edges = edges_of(job);
  for (const Edge& edge : edges) {
    if (edge.path.network != "Socket" || edge.reach != EdgeReach::OtherHost) continue;
    return yes(edge_phrase(edge), {{edge.where, {}}});
  }
  return edges.empty() ? unknown() : no();
}

constexpr std::array kFacts = {
    Fact{"job.gpudirect", Scope::Job, FactType::Bool,
         "NICs read or write GPU memory: GDRDMA paths, or GPU Direct RDMA enabled.", gpudirect},
    Fact{"job.networks_differ", Scope::Job, FactType::Bool,
         "Processes selected different networks, one each, or see different numbers of devices.",
         within_runs<networks_differ>},
    Fact{"job.p2p_over_pcie", Scope::Job, FactType::Bool,
         "GPUs of a host are connected by P2P, and no NVLink is between them.", p2p_over_pcie},
    Fact{"job.rdma_evidence", Scope::Job, FactType::Bool,
         "Something in the log shows InfiniBand or RoCE hardware; no means nothing does.",
         rdma_evidence},
    Fact{"job.socket_between_hosts", Scope::Job, FactType::Bool,
         "Ranks of different hosts are connected via NET/Socket.", socket_between_hosts},
};

}  // namespace

std::span<const Fact> network_facts() { return kFacts; }

}  // namespace ncclog
