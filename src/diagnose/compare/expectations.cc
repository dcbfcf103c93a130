#include "diagnose/compare/expectations.h"

#include <fmt/format.h>

#include <iterator>
#include <set>

#include "base/text.h"
#include "diagnose/facts/coverage.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/hosts/host_reports.h"
#include "diagnose/network/connections.h"
#include "diagnose/network/interfaces.h"

namespace ncclog {
namespace {

constexpr size_t kMaxLines = 6;

/// The set of values, which `what` says for people, or why there is none.
FactValue all_of(FactValue::Set values, std::string_view missing, std::string_view what = {}) {
  std::string why(values.empty() ? missing : "");
  return {.value = std::move(values), .what = std::string(what), .why = std::move(why)};
}

/// The set of that value alone.
FactValue only(FactValue value) {
  std::string what = value.what;
  return {.value = FactValue::Set{std::move(value)}, .what = std::move(what)};
}

/// What the messages of kind T say; `value_of` makes the value of one, with its words.
template <typename T, typename ValueOf>
FactValue all_said(const Job& job, std::string_view missing, ValueOf value_of) {
  FactValue::Set values;
  for_each_said<T>(job, [&](const Said<T>& said) {
    FactValue& value = values.emplace_back(value_of(said.message));
    value.evidence = {evidence_of(said.record())};
    value.processes = {said.process};
  });
  return all_of(std::move(values), missing);
}

/// The reports of hosts where they are all there is: beside logs, these say what the job did.
std::span<const HostReport> hosts_alone(const Job& job) {
  if (job.losses.lines > 0) return {};
  return job.host_reports;
}

FactValue networks(const Job& job, const Instance&) {
  return all_said<NetworkSelected>(
      job, "no line says which network NCCL uses", [](const NetworkSelected& selected) {
        const std::string name(selected.network);
        return FactValue{.value = name, .what = "network " + printable(name)};
      });
}

FactValue nvls(const Job& job, const Instance&) {
  return all_said<NvlsSupport>(
      job, "no line says whether NVLink SHARP can be used", [](const NvlsSupport& support) {
        return FactValue{.value = support.state == "available",
                         .what = fmt::format("NVLink SHARP is {}", support.state)};
      });
}

/// Support says that NVLS may be used; buffers show that a communicator of the process does. Without
/// them, channels of none say that it does not.
FactValue nvls_used(const Job& job, const Instance&) {
  FactValue::Set values;
  std::set<int> using_it;
  const auto add = [&](bool is_used, std::string_view what, const Record& record, int process) {
    values.push_back({.value = is_used,
                      .what = std::string(what),
                      .evidence = {evidence_of(record)},
                      .processes = {process}});
  };
  for_each_said<NvlsComm>(job, [&](const auto& said) {
    if (using_it.insert(said.process).second)
      add(true, "NVLS buffers are set up", said.record(), said.process);
  });
  for_each_said<ChannelCounts>(job, [&](const auto& said) {
    if (said.message.nvls == 0 && !using_it.contains(said.process))
      add(false, "0 NVLS channels", said.record(), said.process);
  });
  return all_of(std::move(values), "no line tells of NVLS buffers or channels");
}

FactValue links(const Job& job, const Instance&) {
  FactValue::Set values;
  for (const HcaList& list : hca_lists(job)) {
    for (const NetDevice& hca : list.hcas) {
      if (hca.link != "IB" && hca.link != "RoCE") continue;  // The list is cut.
      values.push_back({.value = std::string(hca.link),
                        .what = printable(fmt::format("{}/{}", hca.name, hca.link)),
                        .evidence = {evidence_of(list.line)},
                        .processes = {list.process}});
    }
  }
  for (const HostReport& report : hosts_alone(job)) {
    for (const RdmaPort* port : taken_ports(report)) {
      values.push_back({.value = port->link,
                        .what = printable(fmt::format("{}/{}", port->device, port->link)),
                        .hosts = {report.host}});
    }
  }
  return all_of(std::move(values), "no line lists RDMA devices");
}

FactValue net_plugin(const Job& job, const Instance&) {
  const std::string& name = job.network.plugin;
  if (name.empty()) return unknown("no line says whether a plugin is loaded");
  return only({.value = name, .what = "plugin " + printable(name)});
}

/// The connections to which that applies; `value_of` makes the value of one.
template <typename Applies, typename ValueOf>
FactValue connections(const Job& job, Applies applies, ValueOf value_of) {
  const std::vector<Edge>& edges = edges_of(job);
  FactValue::Set values;
  for (const Edge& edge : edges) {
    if (!applies(edge)) continue;
    values.push_back({.what = edge_phrase(edge), .evidence = {{edge.where, {}}}});
    values.back().value = value_of(edge);
    values.back().processes = {edge.process};
  }
  return all_of(std::move(values), edges.empty() ? "no line tells how ranks are connected"
                                                 : "no such connection is announced");
}

template <EdgeReach reach>
FactValue paths(const Job& job, const Instance&) {
  return connections(
      job, [](const Edge& edge) { return edge.reach == reach; },
      [](const Edge& edge) { return std::string(edge.path->text); });
}

FactValue gpudirect(const Job& job, const Instance&) {
  return connections(
      job,
      [](const Edge& edge) {
        return edge.reach == EdgeReach::OtherHost && edge.path->transport == Transport::NET;
      },
      [](const Edge& edge) { return edge.path->gpudirect; });
}

/// A number for each host.
FactValue of_hosts(const Job& job, const std::map<std::string, int64_t>& numbers,
                   std::string_view what, std::string_view missing) {
  FactValue::Set values;
  for (const auto& [host, number] : numbers) {
    FactValue& value = values.emplace_back(
        FactValue{.value = number, .what = fmt::format("{} has {}", printable(host), number)});
    for (size_t p = 0; p < job.processes.size(); ++p) {
      if (job.processes[p].host == host) value.processes.push_back(static_cast<int>(p));
    }
  }
  return all_of(std::move(values), missing, what);
}

FactValue gpus_per_host(const Job& job, const Instance&) {
  std::map<std::string, int64_t> numbers;
  if (!job.communicators.empty()) {
    for (const CommRank& rank : job.communicators.front().ranks) {
      // A rank that is not seen may run on any host.
      if (rank.process < 0) return unknown("no line speaks for some of the ranks");
      ++numbers[nth_process(job, rank.process).host];
    }
  }
  for (const HostReport& report : hosts_alone(job)) {
    if (report.gpus) numbers[report.host] = std::ssize(*report.gpus);
  }
  return of_hosts(job, numbers, "GPUs", "no line of an initialisation");
}

FactValue nics_per_host(const Job& job, const Instance&) {
  std::map<std::string, int64_t> numbers;
  for (const HcaList& list : hca_lists(job)) {
    // NCCL cuts long lists: the last entry then has no link layer.
    if (list.host.empty() || list.hcas.back().link.empty()) continue;
    int64_t& number = numbers[std::string(list.host)];
    number = std::max(number, static_cast<int64_t>(list.hcas.size()));
  }
  for (const HostReport& report : hosts_alone(job)) {
    if (report.rdma) numbers[report.host] = std::ssize(taken_ports(report));
  }
  return of_hosts(job, numbers, "RDMA devices", "no line lists RDMA devices");
}

FactValue hosts(const Job& job, const Instance&) {
  if (job.nhosts <= 0) return unknown("no line names a host");
  return only({.value = int64_t{job.nhosts}, .what = plural(job.nhosts, "host")});
}

FactValue ranks(const Job& job, const Instance&) {
  if (!job.nranks) return unknown("no line tells how many ranks there are");
  return only({.value = int64_t{*job.nranks}, .what = plural(*job.nranks, "rank")});
}

FactValue channels(const Job& job, const Instance&) {
  const int number =
      job.communicators.empty() ? -1 : job.communicators.front().graphs.channels.coll;
  if (number < 0) return unknown("no line counts the channels of the largest communicator");
  FactValue value{.value = int64_t{number}, .what = plural(number, "channel")};
  for_each_said<ChannelCounts>(job, [&](const Said<ChannelCounts>& said) {
    if (said.message.coll == number && value.evidence.empty()) {
      value.evidence.push_back(evidence_of(said.record()));
    }
  });
  return only(std::move(value));
}

FactValue mnnvl(const Job& job, const Instance&) {
  FactValue::Set values;
  for (const Communicator& comm : job.communicators) {
    if (comm.mnnvl < 0 || comm.nnodes < 2) continue;
    values.push_back({.value = comm.mnnvl == 1,
                      .what = fmt::format("communicator {} has MNNVL {}", comm.id, comm.mnnvl)});
  }
  const std::string what = fmt::format("{} communicators of several nodes", values.size());
  return all_of(std::move(values), "no communicator of several nodes tells", what);
}

/// The path types between the GPUs of each host that a topology lists.
FactValue gpu_paths(const Job& job, const Instance&) {
  FactValue::Set values;
  for (const HostTopology& host : job.topologies) {
    for (const SystemPath& path : host.system.paths) {
      if (path.from < 0 || path.to < 0 || path.from == path.to) continue;
      const NodeName& from = host.system.nodes[path.from].name;
      const NodeName& to = host.system.nodes[path.to].name;
      if (from.kind != "GPU" || to.kind != "GPU") continue;
      values.push_back({.value = path.type,
                        .what = fmt::format("{} to {} on {} is {}", to_string(from), to_string(to),
                                            host.host, path.type)});
    }
  }
  return all_of(std::move(values), "no process prints its topology");
}

FactValue versions(std::span<const std::string> all, std::string_view product) {
  FactValue::Set values;
  for (const std::string& version : all) {
    values.push_back({.value = version, .what = fmt::format("{} {}", product, printable(version))});
  }
  return all_of(std::move(values), fmt::format("no line names the version of {}", product),
                fmt::format("{} {}", product, printable(join(all, ", "))));
}

FactValue nccl_version(const Job& job, const Instance&) {
  std::vector<std::string> all = job.nccl_versions;
  for (const HostReport& report : hosts_alone(job)) {
    // Of several copies, nobody knows which one a program loads.
    if (report.nccls.size() == 1 && !report.nccls.front().version.empty()) {
      all.push_back(report.nccls.front().version);
    }
  }
  return versions(all, "NCCL");
}

FactValue driver_version(const Job& job, const Instance&) {
  return versions(driver_versions(job), "the CUDA driver");
}

/// The names of settings; a value of 0 does not count.
FactValue settings(const Job& job, const Instance&) {
  std::map<std::string, std::vector<Evidence>, std::less<>> lines;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    std::vector<Evidence>& of_name = lines[std::string(said.message.name)];
    if (of_name.size() < kMaxLines) of_name.push_back(evidence_of(said.record()));
  });
  FactValue::Set values;
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.value == "0") continue;
    values.push_back({.value = setting.name,
                      .what = printable(setting.name + "=" + setting.value),
                      .evidence = lines[setting.name],
                      .processes = setting.processes});
  }
  for (const HostReport& report : hosts_alone(job)) {
    for (const HostSetting& setting : report.settings) {
      if (setting.value == "0") continue;
      values.push_back({.value = setting.name,
                        .what = printable(setting.name + "=" + setting.value),
                        .hosts = {report.host}});
    }
  }
  const bool are_known = has_spoken(job, Subsystem::Env) || !hosts_alone(job).empty();
  return {.value = std::move(values),
          .what = "none of them is set",
          .why = are_known ? "" : "no line names a setting"};
}

constexpr std::string_view kInit = "NCCL_DEBUG=INFO with INIT,ENV,NET in NCCL_DEBUG_SUBSYS";
constexpr std::string_view kChannels =
    "NCCL_DEBUG=INFO with INIT,P2P,NET in NCCL_DEBUG_SUBSYS, the files of all ranks, and one "
    "collective at least";
constexpr std::string_view kGraph = "NCCL_DEBUG=INFO with INIT,GRAPH in NCCL_DEBUG_SUBSYS";
constexpr std::string_view kNvls = "NCCL_DEBUG=INFO with INIT,NVLS in NCCL_DEBUG_SUBSYS";

template <const std::string_view& words>
std::string capture(const Job&) {
  return std::string(words);
}

using enum Fit;

constexpr ExpectedFact expected(std::string_view name, Fit fit, std::string_view meaning,
                                FactValue (*derive)(const Job& job, const Instance& the_job),
                                std::string (*how_to)(const Job& job) = capture<kInit>,
                                std::string_view thing = {}, Scope scope = Scope::Job) {
  return {{name, scope, FactType::Set, meaning, derive, how_to}, fit, thing};
}

constexpr ExpectedFact kExpectedFacts[] = {
    expected("network", IsOne, "the network as NCCL calls it: IB, Socket, AWS Libfabric", networks,
             capture<kInit>, "selection"),
    expected("net_plugin", HoldsOne,
             "part of the network plugin's name; 'internal' if none is loaded", net_plugin),
    expected("link", IsOne, "link layer of all RDMA devices: IB, RoCE", links, capture<kInit>,
             "device"),
    expected("nics_per_host", Limits, "RDMA devices that NCCL lists on a host", nics_per_host,
             capture<kInit>, {}, Scope::Host),
    expected("between_hosts", BeginsAsOne,
             "beginnings of the paths between hosts: NET/IB, P2P/MNNVL",
             paths<EdgeReach::OtherHost>, capture<kChannels>, "connection"),
    expected("gpudirect", YesOrNo, "network paths between hosts use GPU Direct RDMA", gpudirect,
             capture<kChannels>, "connection"),
    expected("within_host", BeginsAsOne, "beginnings of the paths inside a host: P2P, SHM",
             paths<EdgeReach::SameHost>, capture<kChannels>, "connection"),
    expected("gpu_paths", IsOne, "path types between the GPUs of a host: NVL, PIX, PHB", gpu_paths,
             capture<kGraph>, "path"),
    expected("nvls", YesOrNo, "NVLink SHARP can be used", nvls, capture<kNvls>, "GPU"),
    expected("nvls_used", YesOrNo, "communicators have set up NVLink SHARP", nvls_used,
             capture<kNvls>, "process"),
    expected("mnnvl", YesOrNo, "NVLink joins the nodes of a communicator", mnnvl),
    expected("channels", Limits, "channels for collectives of the largest communicator", channels),
    expected("gpus_per_host", Limits, "ranks of the largest communicator on a host", gpus_per_host,
             capture<kInit>, {}, Scope::Host),
    expected("hosts", Limits, "hosts of the job", hosts),
    expected("ranks", Limits, "ranks of the job", ranks),
    expected("nccl_version", Version, "release of NCCL", nccl_version),
    expected("driver_version", Version, "CUDA version of the driver", driver_version),
    expected("unset", IsNone, "settings that must not be there, unless they are 0", settings),
};

// Is it as expected?

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

bool fits(const FactValue& value, Fit fit, const Expected& expected) {
  const auto any = [&](auto fits_text) {
    const std::string& text = std::get<std::string>(value.value);
    return std::ranges::any_of(expected.texts,
                               [&](const std::string& wanted) { return fits_text(text, wanted); });
  };
  switch (fit) {
    case IsOne:
      return any(std::equal_to<>());
    case IsNone:
      return !any(std::equal_to<>());
    case BeginsAsOne:
      return any([](const auto& text, const auto& begin) { return text.starts_with(begin); });
    case HoldsOne:
      return any([](const auto& text, const auto& part) { return text.find(part) != text.npos; });
    case Limits:
      return within(std::get<int64_t>(value.value), expected);
    case YesOrNo:
      return std::get<bool>(value.value) == expected.yes;
    case Version:
      return version_within(std::get<std::string>(value.value), expected);
  }
  return false;
}

/// What those values are that are not as expected.
std::string broken_text(const ExpectedFact& kind, const FactValue& found, const std::string& all,
                        const std::vector<const FactValue*>& wrong, const Expected& expected) {
  const std::string& first = wrong.front()->what;
  if (!kind.thing.empty()) return fmt::format("{} ({} of {})", first, wrong.size(), all);
  if (kind.fit != Limits) return first;
  if (kind.fact.scope != Scope::Host) return fmt::format("{} of {}", first, limits_text(expected));
  constexpr size_t kMaxHosts = 4;
  std::vector<std::string> hosts;
  for (const FactValue* host : wrong) hosts.push_back(host->what);
  return fmt::format("{} of {} {}", few_of(hosts, kMaxHosts, ", "), limits_text(expected),
                     found.what);
}

}  // namespace

FactValue test_fact(const ExpectedFact& kind, const Expected& expected, const Job& job) {
  const FactValue found = kind.fact.ask(job, job_instance(job));
  if (!found.known()) return {.what = found.why};
  const auto& all = std::get<FactValue::Set>(found.value);
  // Where values are neither counted nor of hosts, the first that is wrong says it all.
  const bool all_count = !kind.thing.empty() || kind.fact.scope == Scope::Host;
  std::vector<const FactValue*> wrong;
  for (const FactValue& value : all) {
    if (!wrong.empty() && !all_count) break;
    if (!fits(value, kind.fit, expected)) wrong.push_back(&value);
  }
  // Nothing shown is wrong, but the logs need not show all: silence meets no expectation.
  if (wrong.empty() && !found.why.empty()) return {.what = found.why};
  const std::string counted = plural(std::ssize(all), kind.thing);
  if (wrong.empty() && !kind.thing.empty()) return yes(counted);
  if (wrong.empty() && kind.fact.scope == Scope::Host) {
    return yes(fmt::format("{} {} on every host", limits_text(expected), found.what));
  }
  if (wrong.empty()) return yes(found.what);
  FactValue broken{.value = false, .what = broken_text(kind, found, counted, wrong, expected)};
  std::set<int> processes;
  for (const FactValue* value : wrong) {
    processes.insert(value->processes.begin(), value->processes.end());
    for (const Evidence& line : value->evidence) {
      if (broken.evidence.size() < kMaxLines) broken.evidence.push_back(line);
    }
  }
  broken.processes.assign(processes.begin(), processes.end());
  return broken;
}

std::string_view outcome_word(const FactValue& tested) {
  return !tested.known() ? "unknown" : is_yes(tested) ? "met" : "broken";
}

std::span<const ExpectedFact> expected_facts() { return kExpectedFacts; }

const ExpectedFact* find_expected(std::string_view name) {
  const auto found = std::ranges::find_if(
      kExpectedFacts, [&](const ExpectedFact& each) { return each.fact.name == name; });
  return found == std::end(kExpectedFacts) ? nullptr : found;
}

}  // namespace ncclog
