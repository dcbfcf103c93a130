#include "diagnose/instance.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ncclog {
namespace {

constexpr std::string_view kScopeNames[] = {"job", "host", "process", "rank", "communicator"};

/// Groups processes by a name; those without one (`unknown`) form a group each.
template <typename Key, typename KeyOf>
std::vector<std::pair<Key, std::vector<int>>> group(const Job& job, const Key& unknown,
                                                    KeyOf key_of) {
  std::map<Key, std::vector<int>> named;
  std::vector<std::pair<Key, std::vector<int>>> groups;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Key key = key_of(job.processes[p]);
    if (key == unknown) {
      groups.push_back({unknown, {static_cast<int>(p)}});
    } else {
      named[key].push_back(static_cast<int>(p));
    }
  }
  groups.insert(groups.begin(), named.begin(), named.end());
  return groups;
}

std::vector<Instance> hosts(const Job& job) {
  std::vector<Instance> result;
  for (auto& [host, processes] :
       group<std::string>(job, "", [](const Process& process) { return process.host; })) {
    result.push_back({Scope::Host, processes, host, -1, -1});
  }
  return result;
}

std::vector<Instance> ranks(const Job& job) {
  std::vector<Instance> result;
  for (auto& [rank, processes] :
       group<int>(job, -1, [](const Process& process) { return process.rank; })) {
    result.push_back({Scope::Rank, processes, {}, rank, -1});
  }
  return result;
}

std::vector<Instance> processes(const Job& job) {
  std::vector<Instance> result;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    result.push_back({Scope::Process, {static_cast<int>(p)}, {}, -1, -1});
  }
  return result;
}

std::vector<Instance> communicators(const Job& job) {
  std::vector<Instance> result;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    Instance instance{Scope::Communicator, {}, {}, -1, static_cast<int>(c)};
    for (const CommRank& rank : job.communicators[c].ranks) {
      if (rank.process >= 0) instance.processes.push_back(rank.process);
    }
    std::sort(instance.processes.begin(), instance.processes.end());
    result.push_back(std::move(instance));
  }
  return result;
}

}  // namespace

std::string_view to_string(Scope scope) { return kScopeNames[static_cast<size_t>(scope)]; }

std::optional<Scope> parse_scope(std::string_view name) {
  for (size_t i = 0; i < std::size(kScopeNames); ++i) {
    if (kScopeNames[i] == name) return static_cast<Scope>(i);
  }
  return std::nullopt;
}

std::vector<Instance> instances_of(const Job& job, Scope scope) {
  switch (scope) {
    case Scope::Job:
      return {job_instance(job)};
    case Scope::Host:
      return hosts(job);
    case Scope::Process:
      return processes(job);
    case Scope::Rank:
      return ranks(job);
    case Scope::Communicator:
      return communicators(job);
  }
  return {};
}

Instance job_instance(const Job& job) {
  Instance instance;
  instance.processes.resize(job.processes.size());
  std::iota(instance.processes.begin(), instance.processes.end(), 0);
  return instance;
}

Instance instance_around(const Job& job, int process, Scope scope) {
  if (scope == Scope::Job || scope == Scope::Communicator) return job_instance(job);
  for (Instance& instance : instances_of(job, scope)) {
    for (const int member : instance.processes) {
      if (member == process) return std::move(instance);
    }
  }
  return job_instance(job);
}

}  // namespace ncclog
