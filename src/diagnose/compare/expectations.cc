#include "diagnose/compare/expectations.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/network/connections.h"
#include "diagnose/network/interfaces.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr size_t kMaxLines = 6;

const std::string& host_of(const Job& job, int process) { return nth_process(job, process).host; }

Outcome met(std::string what) { return {OutcomeState::Met, std::move(what), {}, {}}; }
Outcome cannot_tell(std::string what) { return {OutcomeState::Unknown, std::move(what), {}, {}}; }
Outcome broken(std::string what, std::vector<Evidence> evidence = {},
               std::vector<int> processes = {}) {
  return {OutcomeState::Broken, std::move(what), std::move(evidence), std::move(processes)};
}

bool is_one_of(std::string_view text, const std::vector<std::string>& texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

bool begins_with_one(std::string_view text, const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& begin) { return text.starts_with(begin); });
}

/// "1 host", "2 hosts".
std::string counted(int64_t n, std::string_view thing) {
  return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

/// Collects who says what, and who says something else than expected.
struct Tally {
  size_t all = 0;
  size_t wrong = 0;
  std::string first_wrong;
  std::vector<Evidence> evidence;
  std::set<int> processes;

  void add(bool right, const std::string& what, const Evidence& line, int process) {
    ++all;
    if (right) return;
    if (++wrong == 1) first_wrong = what;
    if (evidence.size() < kMaxLines) evidence.push_back(line);
    if (process >= 0) processes.insert(process);
  }

  /// "16 connections", "rank 1 -> rank 2 via SHM/direct (1 of 16 connections)".
  Outcome outcome(std::string_view thing, std::string_view missing) const {
    if (all == 0) return cannot_tell(std::string(missing));
    const std::string things = counted(static_cast<int64_t>(all), thing);
    if (wrong == 0) return met(things);
    return broken(fmt::format("{} ({} of {})", first_wrong, wrong, things), evidence,
                  {processes.begin(), processes.end()});
  }
};

constexpr std::string_view kNoChannels = "no line tells how ranks are connected";

Outcome check_edges(const Job& job, const std::function<bool(const Edge&)>& concerned,
                    const std::function<bool(const Edge&)>& right) {
  Tally tally;
  const std::vector<Edge>& edges = edges_of(job);
  for (const Edge& edge : edges) {
    if (concerned(edge)) tally.add(right(edge), edge_phrase(edge), {edge.where, {}}, edge.process);
  }
  return tally.outcome("connection",
                       edges.empty() ? kNoChannels : "no such connection is announced");
}

Outcome between_hosts(const Job& job, const Expected& expected) {
  return check_edges(
      job, [](const Edge& edge) { return edge.reach == EdgeReach::OtherHost; },
      [&](const Edge& edge) { return begins_with_one(edge.path_text, expected.texts); });
}

Outcome within_host(const Job& job, const Expected& expected) {
  return check_edges(
      job, [](const Edge& edge) { return edge.reach == EdgeReach::SameHost; },
      [&](const Edge& edge) { return begins_with_one(edge.path_text, expected.texts); });
}

Outcome gpudirect(const Job& job, const Expected& expected) {
  return check_edges(
      job,
      [](const Edge& edge) {
        return edge.reach == EdgeReach::OtherHost && edge.path.transport == Transport::NET;
      },
      [&](const Edge& edge) { return edge.path.gpudirect == expected.yes; });
}

Outcome network(const Job& job, const Expected& expected) {
  Tally tally;
  for_each_said<NetworkSelected>(job, [&](const Said<NetworkSelected>& said) {
    tally.add(is_one_of(said.message.network, expected.texts),
              "network " + printable(said.message.network), evidence_of(said.record), said.process);
  });
  return tally.outcome("selection", "no line says which network NCCL uses");
}

Outcome link(const Job& job, const Expected& expected) {
  Tally tally;
  for (const HcaList& list : hca_lists(job)) {
    for (const Hca& hca : list.hcas) {
      if (hca.link != "IB" && hca.link != "RoCE") continue;  // The list is cut.
      tally.add(is_one_of(hca.link, expected.texts), printable(hca.name + "/" + hca.link),
                list.line, list.process);
    }
  }
  return tally.outcome("device", "no line lists RDMA devices");
}

Outcome net_plugin(const Job& job, const Expected& expected) {
  if (job.network.plugin.empty()) return cannot_tell("no line says whether a plugin is loaded");
  const bool right = std::any_of(
      expected.texts.begin(), expected.texts.end(),
      [&](const std::string& name) { return job.network.plugin.find(name) != std::string::npos; });
  const std::string what = "plugin " + printable(job.network.plugin);
  return right ? met(what) : broken(what);
}

/// "8", "at least 8": for messages.
std::string limits_text(const Expected& expected) {
  if (expected.at_least && expected.at_most && *expected.at_least == *expected.at_most) {
    return std::to_string(*expected.at_least);
  }
  std::vector<std::string> parts;
  if (expected.at_least) parts.push_back(fmt::format("at least {}", *expected.at_least));
  if (expected.at_most) parts.push_back(fmt::format("at most {}", *expected.at_most));
  return join(parts, " and ");
}

bool within(int64_t value, const Expected& expected) {
  return (!expected.at_least || value >= *expected.at_least) &&
         (!expected.at_most || value <= *expected.at_most);
}

/// Compares one number for each host.
Outcome check_hosts(const Job& job, const std::map<std::string, int64_t>& numbers,
                    const Expected& expected, std::string_view what, std::string_view missing) {
  if (numbers.empty()) return cannot_tell(std::string(missing));
  std::vector<std::string> wrong;
  std::set<int> processes;
  for (const auto& [host, number] : numbers) {
    if (within(number, expected)) continue;
    wrong.push_back(fmt::format("{} has {}", printable(host), number));
    for (size_t p = 0; p < job.processes.size(); ++p) {
      if (job.processes[p].host == host) processes.insert(static_cast<int>(p));
    }
  }
  if (wrong.empty()) return met(fmt::format("{} {} on every host", limits_text(expected), what));
  constexpr size_t kMaxHosts = 4;
  std::string text = join({wrong.data(), std::min(wrong.size(), kMaxHosts)}, ", ");
  if (wrong.size() > kMaxHosts) text += fmt::format(" and {} more", wrong.size() - kMaxHosts);
  return broken(fmt::format("{} of {} {}", text, limits_text(expected), what), {},
                {processes.begin(), processes.end()});
}

Outcome gpus_per_host(const Job& job, const Expected& expected) {
  std::map<std::string, int64_t> numbers;
  if (!job.communicators.empty()) {
    for (const CommRank& rank : job.communicators.front().ranks) {
      // A rank that is not seen may run on any host.
      if (rank.process < 0) return cannot_tell("no line speaks for some of the ranks");
      ++numbers[host_of(job, rank.process)];
    }
  }
  return check_hosts(job, numbers, expected, "GPUs", "no line of an initialisation");
}

Outcome nics_per_host(const Job& job, const Expected& expected) {
  std::map<std::string, int64_t> numbers;
  for (const HcaList& list : hca_lists(job)) {
    // NCCL cuts long lists: the last entry then has no link layer.
    if (list.host.empty() || list.hcas.back().link.empty()) continue;
    int64_t& number = numbers[list.host];
    number = std::max(number, static_cast<int64_t>(list.hcas.size()));
  }
  return check_hosts(job, numbers, expected, "RDMA devices", "no line lists RDMA devices");
}

Outcome check_number(int64_t number, const Expected& expected, std::string_view thing) {
  const std::string text = counted(number, thing);
  return within(number, expected) ? met(text)
                                  : broken(fmt::format("{} of {}", text, limits_text(expected)));
}

Outcome hosts(const Job& job, const Expected& expected) {
  if (job.nhosts <= 0) return cannot_tell("no line names a host");
  return check_number(job.nhosts, expected, "host");
}

Outcome ranks(const Job& job, const Expected& expected) {
  if (!job.nranks) return cannot_tell("no line tells how many ranks there are");
  return check_number(*job.nranks, expected, "rank");
}

Outcome channels(const Job& job, const Expected& expected) {
  const int number =
      job.communicators.empty() ? -1 : job.communicators.front().graphs.channels.coll;
  if (number < 0) return cannot_tell("no line counts the channels of the largest communicator");
  Outcome outcome = check_number(number, expected, "channel");
  if (outcome.state != OutcomeState::Broken) return outcome;
  for_each_said<ChannelCounts>(job, [&](const Said<ChannelCounts>& said) {
    if (said.message.coll == number && outcome.evidence.empty()) {
      outcome.evidence.push_back(evidence_of(said.record));
    }
  });
  return outcome;
}

Outcome nvls(const Job& job, const Expected& expected) {
  Tally tally;
  for_each_said<NvlsSupport>(job, [&](const Said<NvlsSupport>& said) {
    const std::string name = "NVLink SHARP is " + std::string(said.message.state);
    tally.add((said.message.state == "available") == expected.yes, name, evidence_of(said.record),
              said.process);
  });
  return tally.outcome("GPU", "no line says whether NVLink SHARP can be used");
}

Outcome mnnvl(const Job& job, const Expected& expected) {
  size_t known = 0;
  for (const Communicator& comm : job.communicators) {
    if (comm.mnnvl < 0 || comm.nnodes < 2) continue;
    ++known;
    if ((comm.mnnvl == 1) == expected.yes) continue;
    return broken(fmt::format("communicator {} has MNNVL {}", comm.id, comm.mnnvl));
  }
  if (known == 0) return cannot_tell("no communicator of several nodes tells");
  return met(fmt::format("{} communicators of several nodes", known));
}

/// The path types between the GPUs of each host that a topology lists.
Outcome gpu_paths(const Job& job, const Expected& expected) {
  Tally tally;
  for (const HostTopology& host : job.topologies) {
    for (const SystemPath& path : host.system.paths) {
      if (path.from < 0 || path.to < 0 || path.from == path.to) continue;
      const SystemNode& from = host.system.nodes[static_cast<size_t>(path.from)];
      const SystemNode& to = host.system.nodes[static_cast<size_t>(path.to)];
      if (from.name.kind != "GPU" || to.name.kind != "GPU") continue;
      ++tally.all;
      if (is_one_of(path.type, expected.texts)) continue;
      if (++tally.wrong == 1) {
        tally.first_wrong = fmt::format("{} to {} on {} is {}", to_string(from.name),
                                        to_string(to.name), host.host, path.type);
      }
    }
  }
  return tally.outcome("path", "no process prints its topology");
}

/// Parts that a limit does not name do not count: "2.18" allows 2.18.5 as the most.
bool version_within(std::string_view version, const Expected& expected) {
  const std::vector<int> parts = version_parts(version);
  const auto limited = [&](const std::string& limit) {
    const size_t n = std::min(parts.size(), version_parts(limit).size());
    return std::vector<int>(parts.begin(), parts.begin() + static_cast<long>(n));
  };
  const std::string& least = expected.version_at_least;
  const std::string& most = expected.version_at_most;
  return (least.empty() || parts >= version_parts(least)) &&
         (most.empty() || limited(most) <= version_parts(most));
}

Outcome check_versions(const std::vector<std::string>& versions, const Expected& expected,
                       std::string_view name) {
  if (versions.empty()) return cannot_tell(fmt::format("no line names the version of {}", name));
  for (const std::string& version : versions) {
    if (!version_within(version, expected)) {
      return broken(fmt::format("{} {}", name, printable(version)));
    }
  }
  return met(fmt::format("{} {}", name, printable(join(versions, ", "))));
}

Outcome nccl_version(const Job& job, const Expected& expected) {
  return check_versions(job.nccl_versions, expected, "NCCL");
}

Outcome driver_version(const Job& job, const Expected& expected) {
  std::set<std::string> versions;
  for_each_said<CudaDriverVersion>(job, [&](const Said<CudaDriverVersion>& said) {
    const int version = said.message.version;
    versions.insert(fmt::format("{}.{}", version / 1000, version % 1000 / 10));
  });
  return check_versions({versions.begin(), versions.end()}, expected, "the CUDA driver");
}

/// Settings that must not be seen; a value of 0 does not count.
Outcome unset(const Job& job, const Expected& expected) {
  for (const EnvironmentSetting& setting : job.environment) {
    if (!is_one_of(setting.name, expected.texts) || setting.value == "0") continue;
    Outcome outcome = broken(printable(setting.name + "=" + setting.value));
    outcome.processes = setting.processes;
    for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
      if (said.message.name == setting.name && outcome.evidence.size() < kMaxLines) {
        outcome.evidence.push_back(evidence_of(said.record));
      }
    });
    return outcome;
  }
  const bool speaks =
      std::any_of(job.processes.begin(), job.processes.end(), [](const Process& process) {
        return process.subsystems.test(static_cast<size_t>(Subsystem::Env));
      });
  return speaks ? met("none of them is set") : cannot_tell("no line names a setting");
}

constexpr std::string_view kInit = "NCCL_DEBUG=INFO with INIT,ENV,NET in NCCL_DEBUG_SUBSYS";
constexpr std::string_view kChannels =
    "NCCL_DEBUG=INFO with INIT,P2P,NET in NCCL_DEBUG_SUBSYS, the files of all ranks, and one "
    "collective at least";
constexpr std::string_view kGraph = "NCCL_DEBUG=INFO with INIT,GRAPH in NCCL_DEBUG_SUBSYS";
constexpr std::string_view kNvls = "NCCL_DEBUG=INFO with INIT,NVLS in NCCL_DEBUG_SUBSYS";

constexpr ExpectationKind kKinds[] = {
    {"network", ExpectedType::Texts, "the network as NCCL calls it: IB, Socket, AWS Libfabric",
     kInit, network},
    {"net_plugin", ExpectedType::Texts,
     "part of the network plugin's name; 'internal' if none is loaded", kInit, net_plugin},
    {"link", ExpectedType::Texts, "link layer of all RDMA devices: IB, RoCE", kInit, link},
    {"nics_per_host", ExpectedType::Number, "RDMA devices that NCCL lists on a host", kInit,
     nics_per_host},
    {"between_hosts", ExpectedType::Texts,
     "beginnings of the paths between hosts: NET/IB, P2P/MNNVL", kChannels, between_hosts},
    {"gpudirect", ExpectedType::YesOrNo, "network paths between hosts use GPU Direct RDMA",
     kChannels, gpudirect},
    {"within_host", ExpectedType::Texts, "beginnings of the paths inside a host: P2P, SHM",
     kChannels, within_host},
    {"gpu_paths", ExpectedType::Texts, "path types between the GPUs of a host: NVL, PIX, PHB",
     kGraph, gpu_paths},
    {"nvls", ExpectedType::YesOrNo, "NVLink SHARP can be used", kNvls, nvls},
    {"mnnvl", ExpectedType::YesOrNo, "NVLink joins the nodes of a communicator", kInit, mnnvl},
    {"channels", ExpectedType::Number, "channels for collectives of the largest communicator",
     kInit, channels},
    {"gpus_per_host", ExpectedType::Number, "ranks of the largest communicator on a host", kInit,
     gpus_per_host},
    {"hosts", ExpectedType::Number, "hosts of the job", kInit, hosts},
    {"ranks", ExpectedType::Number, "ranks of the job", kInit, ranks},
    {"nccl_version", ExpectedType::Version, "release of NCCL", kInit, nccl_version},
    {"driver_version", ExpectedType::Version, "CUDA version of the driver", kInit, driver_version},
    {"unset", ExpectedType::Texts, "settings that must not be there, unless they are 0", kInit,
     unset},
};

}  // namespace

std::string_view to_string(OutcomeState state) {
  switch (state) {
    case OutcomeState::Met:
      return "met";
    case OutcomeState::Broken:
      return "broken";
    case OutcomeState::Unknown:
      return "unknown";
  }
  return "unknown";
}

std::span<const ExpectationKind> expectation_kinds() { return kKinds; }

const ExpectationKind* find_expectation(std::string_view name) {
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const ExpectationKind& kind) { return kind.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace ncclog
