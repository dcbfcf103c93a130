#include "diagnose/facts/fact.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>
#include <type_traits>

#include "base/text.h"

namespace ncclog {

std::vector<std::vector<RankIn>> ranks_in_communicators(const Job& job) {
  std::vector<std::vector<RankIn>> result(job.processes.size());
  for (const Communicator& communicator : job.communicators) {
    for (const CommRank& rank : communicator.ranks) {
      if (rank.process < 0 || rank.rank < 0) continue;
      result[static_cast<size_t>(rank.process)].push_back({&communicator, rank.rank});
    }
  }
  return result;
}

namespace {

// The instances that are no group of processes: pairs of ranks, GPUs, network interfaces.

/// The process that has `other` where the speaker has `own`; -1: none, or several have.
int peer_of(const std::vector<RankIn>& of_speaker, int own, int other) {
  int peer = -1;
  for (const RankIn& membership : of_speaker) {
    const auto& ranks = membership.communicator->ranks;
    if (membership.rank != own || static_cast<size_t>(other) >= ranks.size()) continue;
    const CommRank& rank = ranks[static_cast<size_t>(other)];
    if (rank.rank != other || rank.process < 0) return -1;
    if (peer >= 0 && peer != rank.process) return -1;
    peer = rank.process;
  }
  return peer;
}

/// By both ends' processes, the paths between them.
using Pairs = std::map<std::pair<int, int>, std::set<std::string>>;

/// The speaker is one end: both print a network path, the sender prints any other.
void add_connection(const std::vector<RankIn>& of_speaker, int speaker, const ConnectionKey& key,
                    Pairs& pairs) {
  if (key.src_rank < 0 || key.dst_rank < 0) return;
  const int as_sender = peer_of(of_speaker, key.src_rank, key.dst_rank);
  const int as_receiver = peer_of(of_speaker, key.dst_rank, key.src_rank);
  if (as_sender >= 0 && as_receiver >= 0 && as_sender != as_receiver) return;
  const int peer = std::max(as_sender, as_receiver);
  if (peer < 0 || peer == speaker) return;
  pairs[std::minmax(speaker, peer)].insert(key.path);
}

/// Lower ranks first; those whose rank is unknown last.
bool is_before(const Job& job, const Instance& a, const Instance& b) {
  const auto key = [&](const Instance& instance) {
    const int first = job.processes[static_cast<size_t>(instance.processes[0])].rank;
    const int second = job.processes[static_cast<size_t>(instance.processes[1])].rank;
    const auto low = static_cast<unsigned>(std::min(first, second));
    const auto high = static_cast<unsigned>(std::max(first, second));
    return std::make_tuple(low, high, instance.processes[0], instance.processes[1]);
  };
  return key(a) < key(b);
}

/// Two processes between which a line announces a connection. Lines about connections number ranks
/// within a communicator that they do not name; a pair is left out where several communicators of
/// the process make it another process each.
std::vector<Instance> rank_pairs(const Job& job) {
  const auto of_process = ranks_in_communicators(job);
  Pairs pairs;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      for (const auto& [key, use] : job.logs[log].connections.all) {
        add_connection(of_process[p], static_cast<int>(p), key, pairs);
      }
    }
  }
  std::vector<Instance> result;
  for (const auto& [ends, paths] : pairs) {
    Instance instance{Scope::RankPair, {ends.first, ends.second}, {}, -1, -1};
    instance.paths.assign(paths.begin(), paths.end());
    result.push_back(std::move(instance));
  }
  std::sort(result.begin(), result.end(),
            [&](const Instance& a, const Instance& b) { return is_before(job, a, b); });
  return result;
}

constexpr std::string_view kScopeNames[] = {"job",  "host",         "process",
                                            "rank", "communicator", "rank_pair"};

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

/// "rank 3", "pid 4711 on node-a", "a process".
std::string process_name(const Job& job, int process) {
  const Process& known = job.processes[static_cast<size_t>(process)];
  if (known.rank >= 0) return fmt::format("rank {}", known.rank);
  if (known.pid < 0) return known.host.empty() ? "a process" : "a process on " + known.host;
  return fmt::format("pid {}{}{}", known.pid, known.host.empty() ? "" : " on ", known.host);
}

std::string pair_name(const Job& job, const Instance& pair) {
  const int a = job.processes[static_cast<size_t>(pair.processes[0])].rank;
  const int b = job.processes[static_cast<size_t>(pair.processes[1])].rank;
  if (a >= 0 && b >= 0) return fmt::format("ranks {} and {}", std::min(a, b), std::max(a, b));
  return process_name(job, pair.processes[0]) + " and " + process_name(job, pair.processes[1]);
}

}  // namespace

std::string_view to_string(Scope scope) { return kScopeNames[static_cast<size_t>(scope)]; }

std::span<const std::string_view> scope_names() { return kScopeNames; }

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
    case Scope::RankPair:
      return rank_pairs(job);
  }
  return {};
}

Instance job_instance(const Job& job) {
  Instance instance;
  instance.processes.resize(job.processes.size());
  std::iota(instance.processes.begin(), instance.processes.end(), 0);
  return instance;
}

std::string name_of(const Job& job, const Instance& instance) {
  switch (instance.scope) {
    case Scope::Job:
      return "the job";
    case Scope::Host:
      return instance.host.empty() ? "a host" : instance.host;
    case Scope::Process:
      return process_name(job, instance.processes.front());
    case Scope::Rank:
      return instance.rank >= 0 ? fmt::format("rank {}", instance.rank)
                                : process_name(job, instance.processes.front());
    case Scope::Communicator:
      return "communicator " + job.communicators[static_cast<size_t>(instance.communicator)].id;
    case Scope::RankPair:
      return pair_name(job, instance);
  }
  return {};
}

namespace {

std::vector<Fact> collect_facts() {
  std::vector<Fact> facts;
  for (const std::span<const Fact> table :
       {job_facts(), stop_facts(), outcome_facts(), error_facts(), interface_facts(),
        connection_facts(), network_facts(), setting_facts(), host_facts(), gpu_facts(),
        odd_facts(), hang_facts(), mismatch_facts(), early_end_facts(), init_facts(),
        recorder_facts(), watchdog_facts(), ras_facts()}) {
    facts.insert(facts.end(), table.begin(), table.end());
  }
  std::sort(facts.begin(), facts.end(),
            [](const Fact& a, const Fact& b) { return a.name < b.name; });
  return facts;
}

}  // namespace

std::string few_of(const std::vector<std::string>& parts, size_t most, std::string_view separator) {
  if (parts.size() <= most) return join(parts, separator);
  return fmt::format("{} and {} more", join(std::span(parts).first(most), separator),
                     parts.size() - most);
}

std::span<const Fact> all_facts() {
  static const std::vector<Fact> facts = collect_facts();
  return facts;
}

const Fact* find_fact(std::string_view name) {
  for (const Fact& fact : all_facts()) {
    if (fact.name == name) return &fact;
  }
  return nullptr;
}

std::string fact_text(const FactValue& value) {
  if (const bool* yes = std::get_if<bool>(&value.value)) return *yes ? "yes" : "no";
  if (const int64_t* number = std::get_if<int64_t>(&value.value)) return std::to_string(*number);
  if (const std::string* text = std::get_if<std::string>(&value.value)) return *text;
  return "unknown";
}

namespace {

constexpr double kShareThatCounts = 0.1;

/// Two runs never take equally long. Only what is several times as much counts, and by so much.
struct Unit {
  std::string_view name;
  double ratio;
  double least;
};

constexpr Unit kUnits[] = {
    {"s", 3, 3}, {"GB/s", 1.25, 0.2},  // What is lost beyond the noise between runs.
};

bool are_alike(const Quantity& a, const Quantity& b) {
  const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                 [&](const Unit& known) { return known.name == a.unit; });
  const auto [less, more] = std::minmax(a.value, b.value);
  return more - less < unit->least || more < less * unit->ratio;
}

bool are_alike(const Shares& a, const Shares& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    const double apart = share_of(x.second, a) - share_of(y.second, b);
    return x.first == y.first && std::abs(apart) <= kShareThatCounts;
  });
}

bool are_alike(const FactValue::Set& a, const FactValue::Set& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return ncclog::are_alike(x, y); });
}

template <typename T>
bool are_alike(const T& a, const T& b) {
  return a == b;
}

}  // namespace

bool are_alike(const FactValue& a, const FactValue& b) {
  return std::visit(
      [](const auto& x, const auto& y) {
        if constexpr (std::is_same_v<decltype(x), decltype(y)>) return are_alike(x, y);
        return false;
      },
      a.value, b.value);
}

double share_of(int64_t count, const Shares& all) {
  double whole = 0;
  for (const auto& [what, n] : all) whole += static_cast<double>(n);
  return static_cast<double>(count) / whole;
}

std::string ranks_phrase(const std::vector<int>& ranks) {
  if (ranks.empty()) return {};
  const std::string text = ranges_text(ranks);
  const bool one = text.find_first_of(",-") == std::string::npos;
  return (one ? "rank " : "ranks ") + text;
}

}  // namespace ncclog
