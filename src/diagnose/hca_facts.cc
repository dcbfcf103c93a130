// Do the RDMA devices in use belong together?
//
//   job.hca_link_mix    = yes, "(mlx5_bond_0/RoCE beside 8 of the other kind)"
//   job.hca_sets_differ = yes, "8 InfiniBand and 0 RoCE devices on gpu-a, 7 InfiniBand and …"
//
// Names may differ between hosts; numbers and link layers should not.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/edges.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/hca_lists.h"
#include "diagnose/minority.h"
#include "diagnose/within_runs.h"
#include "log/messages.h"

namespace ncclog {
namespace {

std::string on_host(const Job& job, int process) {
  return " on " + job.processes[static_cast<size_t>(process)].host;
}

/// Devices of a host if all its processes list the same; nullptr if each has its own.
const HcaList* common_list(const std::vector<const HcaList*>& lists) {
  for (const HcaList* list : lists) {
    if (list->hcas.size() != lists.front()->hcas.size()) return nullptr;
  }
  return lists.front();
}

FactValue hca_sets_differ(const Job& job, const Instance&) {
  const auto lists = hca_lists(job);
  std::map<std::string, std::vector<const HcaList*>> by_host;
  for (const HcaList& list : lists) by_host[list.host].push_back(&list);
  by_host.erase("");
  if (by_host.size() < 2) return unknown();
  std::map<std::string, std::vector<int>> groups;
  std::vector<Evidence> evidence;
  for (const auto& [host, members] : by_host) {
    const HcaList* list = common_list(members);
    if (list == nullptr) return unknown();
    const std::string kinds = fmt::format("{} InfiniBand and {} RoCE devices",
                                          count_link(*list, "IB"), count_link(*list, "RoCE"));
    if (groups[kinds].empty()) evidence.push_back(list->line);
    for (const HcaList* member : members) groups[kinds].push_back(member->process);
  }
  if (groups.size() < 2) return no();
  std::vector<std::string> parts;
  for (const auto& [kinds, members] : groups) {
    parts.push_back(kinds + on_host(job, members.front()));
  }
  return yes(join(parts, ", "), std::move(evidence), minority(groups));
}

/// Over which devices of their lists the connections of each process run.
std::map<int, std::set<int>> used_hcas(const Job& job) {
  std::map<int, std::set<int>> used;
  for (const Edge& edge : edges_of(job)) {
    if (edge.path.network == "IB" && edge.path.device >= 0) {
      used[edge.process].insert(edge.path.device);
    }
  }
  return used;
}

/// All communicators whose size in hosts is printed stay within one: no NIC carries their data.
bool stays_on_one_host(const Job& job) {
  bool any = false;
  for (const Communicator& comm : job.communicators) {
    if (comm.nnodes > 1 || (comm.nnodes < 1 && comm.nranks != 1)) return false;
    any = true;
  }
  return any;
}

/// A device over which connections run, and who announces the first of them.
struct UsedHca {
  const Hca* hca = nullptr;
  const HcaList* list = nullptr;
};

/// Used devices of that link layer, each name once.
std::vector<UsedHca> used_of_link(const std::vector<HcaList>& lists,
                                  const std::map<int, std::set<int>>& used, std::string_view link) {
  std::vector<UsedHca> found;
  for (const HcaList& list : lists) {
    const auto devices = used.find(list.process);
    if (devices == used.end()) continue;
    for (const int device : devices->second) {
      // Numbers behind the list are fused devices, of which nothing is known here.
      if (device >= static_cast<int>(list.hcas.size())) continue;
      const Hca& hca = list.hcas[static_cast<size_t>(device)];
      const bool known = std::any_of(found.begin(), found.end(), [&](const UsedHca& each) {
        return each.hca->name == hca.name;
      });
      if (hca.link == link && !known) found.push_back({&hca, &list});
    }
  }
  return found;
}

/// Where lines of connections show which devices carry data: whether both kinds do.
FactValue used_link_mix(const Job& job, const std::map<int, std::set<int>>& used) {
  const std::vector<HcaList>& lists = hca_lists(job);
  const std::vector<UsedHca> ib = used_of_link(lists, used, "IB");
  const std::vector<UsedHca> roce = used_of_link(lists, used, "RoCE");
  if (ib.empty() || roce.empty()) return no();
  const bool roce_is_odd = roce.size() <= ib.size();
  const std::vector<UsedHca>& odd = roce_is_odd ? roce : ib;
  std::vector<std::string> names;
  FactValue value = yes({});
  for (const UsedHca& each : odd) {
    names.push_back(each.hca->name + (roce_is_odd ? "/RoCE" : "/IB"));
    value.evidence.push_back(each.list->line);
  }
  value.what = fmt::format("(connections run over {} beside {} of the other kind)",
                           join(names, ", "), std::max(ib.size(), roce.size()));
  return value;
}

FactValue hca_link_mix(const Job& job, const Instance&) {
  FactValue answer = no();
  for_each_said<IbDevicesIncompatible>(job, [&](const Said<IbDevicesIncompatible>& said) {
    answer = yes("(NCCL refuses to connect them)", {evidence_of(said.record)});
  });
  if (std::get_if<bool>(&answer.value) != nullptr && std::get<bool>(answer.value)) return answer;
  const auto used = used_hcas(job);
  if (!used.empty()) return used_link_mix(job, used);
  if (stays_on_one_host(job)) return no();
  for (const HcaList& list : hca_lists(job)) {
    const int ib = count_link(list, "IB");
    const int roce = count_link(list, "RoCE");
    if (ib == 0 || roce == 0) continue;
    const std::string_view odd = roce <= ib ? "RoCE" : "IB";
    const auto hca = std::find_if(list.hcas.begin(), list.hcas.end(),
                                  [&](const Hca& each) { return each.link == odd; });
    return yes(
        fmt::format("({}/{} beside {} of the other kind)", hca->name, odd, std::max(ib, roce)),
        {list.line});
  }
  return answer;
}

/// Which devices the ranks use whose transfers got no answer: "rank 10 sends and receives over
/// mlx5_3 (RoCE)".
FactValue unanswered_hca(const Job& job, const Instance&) {
  constexpr int kRetriesExceeded = 12;
  constexpr size_t kMost = 4;
  const auto used = used_hcas(job);
  std::set<int> failed;
  for_each_said<IbCompletion>(job, [&](const Said<IbCompletion>& said) {
    if (said.message.status == kRetriesExceeded) failed.insert(said.process);
  });
  std::vector<std::string> parts;
  FactValue value = yes({});
  for (const HcaList& list : hca_lists(job)) {
    const auto devices = used.find(list.process);
    if (devices == used.end() || failed.erase(list.process) == 0) continue;
    std::vector<std::string> names;
    for (const int device : devices->second) {
      if (device >= static_cast<int>(list.hcas.size())) continue;
      const Hca& hca = list.hcas[static_cast<size_t>(device)];
      names.push_back(hca.link.empty() ? hca.name : fmt::format("{} ({})", hca.name, hca.link));
    }
    if (names.empty() || parts.size() == kMost) continue;
    const Process& process = job.processes[static_cast<size_t>(list.process)];
    parts.push_back(fmt::format(
        "{} uses {}", process.rank >= 0 ? fmt::format("rank {}", process.rank) : process.host,
        join(names, ", ")));
    value.evidence.push_back(list.line);
  }
  if (parts.empty()) return unknown();
  value.what = " Of its devices, " + join(parts, "; ") + ".";
  return value;
}

template <typename Test>
FactValue every_hca(const Job& job, Test test) {
  const auto lists = hca_lists(job);
  if (lists.empty()) return unknown();
  const bool all = std::all_of(lists.begin(), lists.end(), [&](const HcaList& list) {
    return std::all_of(list.hcas.begin(), list.hcas.end(), test);
  });
  return all ? yes({}, {lists.front().line}) : no();
}

FactValue all_roce(const Job& job, const Instance&) {
  return every_hca(job, [](const Hca& hca) { return hca.link == "RoCE"; });
}

FactValue hca_bonds_only(const Job& job, const Instance&) {
  return every_hca(job, [](const Hca& hca) {
    return hca.link == "RoCE" && hca.name.find("bond") != std::string::npos;
  });
}

FactValue slow_hca(const Job& job, const Instance&) {
  std::map<int, std::pair<std::string, Evidence>> by_speed;
  for_each_said<IbDevice>(job, [&](const Said<IbDevice>& said) {
    if (said.message.speed <= 0) return;
    by_speed.try_emplace(said.message.speed, said.message.name, evidence_of(said.record));
  });
  if (by_speed.empty()) return unknown();
  const auto& [slowest, device] = *by_speed.begin();
  const int fastest = by_speed.rbegin()->first;
  // Two generations of cards differ by a factor of two; a management NIC by more.
  if (slowest * 4 > fastest) return no();
  return yes(fmt::format("{} has {} Gbit/s beside {} Gbit/s", device.first, slowest / 1000,
                         fastest / 1000),
             {device.second});
}

constexpr std::array kFacts = {
    Fact{"job.unanswered_hca", Scope::Job, FactType::Bool,
         "Lines of connections show the RDMA devices of a rank whose transfers got no answer.",
         unanswered_hca},
    Fact{"job.all_roce", Scope::Job, FactType::Bool, "Every listed RDMA device is RoCE.", all_roce},
    Fact{"job.hca_bonds_only", Scope::Job, FactType::Bool,
         "Every listed RDMA device is a RoCE bond.", hca_bonds_only},
    Fact{"job.hca_link_mix", Scope::Job, FactType::Bool,
         "Connections run over InfiniBand and RoCE devices; or one list holds both, and nothing "
         "shows which carry data; or NCCL refuses to connect two.",
         hca_link_mix},
    Fact{"job.hca_sets_differ", Scope::Job, FactType::Bool,
         "Hosts list different numbers of InfiniBand or RoCE devices.",
         within_runs<hca_sets_differ>},
    Fact{"job.slow_hca", Scope::Job, FactType::Bool,
         "One RDMA device has at most a quarter of another's speed.", slow_hca},
};

}  // namespace

std::span<const Fact> hca_facts() { return kFacts; }

}  // namespace ncclog
