#include "report/job_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/network/connections.h"
#include "model/job.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

constexpr size_t kMaxNames = 8;

std::string some(const std::vector<std::string>& names) { return some_of(names, kMaxNames); }

std::string ranks_words(const Job& job) {
  if (!job.nranks) return {};
  std::string out = std::to_string(*job.nranks);
  if (job.nhosts > 0) {
    out += fmt::format(" on {}", plural(static_cast<uint64_t>(job.nhosts), "host"));
  }
  if (job.communicators.empty() || job.communicators.front().nranks != *job.nranks) return out;
  std::vector<int> unseen;
  for (const CommRank& rank : job.communicators.front().ranks) {
    if (rank.state == RankState::NotSeen && rank.rank >= 0) unseen.push_back(rank.rank);
  }
  if (unseen.empty()) return out;
  return out +
         fmt::format("; no line of rank{} {}", unseen.size() == 1 ? "" : "s", ranges_text(unseen));
}

/// "8: 4 on each host"; empty unless lines say which GPUs.
std::string gpus_words(const Job& job) {
  std::map<std::string, std::set<std::string>> by_host;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0 || rank.bus_id.empty()) continue;
      by_host[job.processes[static_cast<size_t>(rank.process)].host].insert(rank.bus_id);
    }
  }
  if (by_host.empty()) return {};
  size_t all = 0;
  std::set<size_t> sizes;
  for (const auto& [host, gpus] : by_host) {
    all += gpus.size();
    sizes.insert(gpus.size());
  }
  if (by_host.size() == 1) return std::to_string(all);
  if (sizes.size() == 1) return fmt::format("{}: {} on each host", all, *sizes.begin());
  return fmt::format("{}: {} to {} on a host", all, *sizes.begin(), *sizes.rbegin());
}

/// "13.0, driver 13.0"
std::string cuda_words(const Job& job) {
  std::string out = some(job.cuda_versions);
  const std::string drivers = some(driver_versions(job));
  if (drivers.empty()) return out;
  return out + (out.empty() ? "driver " : ", driver ") + drivers;
}

std::string network_words(const Job& job) {
  const Network& network = job.network;
  if (network.name.empty() && network.plugin.empty()) return {};
  const std::string name = network.name.empty() ? "not named" : network.name;
  if (network.plugin.empty()) return name;
  return name + (network.plugin == "internal" ? ", no plugin" : ", plugin " + network.plugin);
}

/// "mlx5_0 (IB), eth0"
std::string interfaces_words(const Job& job) {
  std::set<std::string> names;
  for (const Interface& interface : job.network.interfaces) {
    names.insert(interface.link.empty() ? interface.name
                                        : fmt::format("{} ({})", interface.name, interface.link));
  }
  return some({names.begin(), names.end()});
}

/// "NET/IB/GDRDMA" for "NET/IB/3(5)/GDRDMA/Shared"; other paths as printed.
std::string path_class(const std::string& path) {
  const PathParts parts = parse_path(path);
  if (parts.transport != Transport::NET) return path;
  return fmt::format("NET/{}{}", parts.network, parts.gpudirect ? "/GDRDMA" : "");
}

/// "P2P/CUMEM 24, NET/IB/GDRDMA 8": most frequent first.
std::string connections_words(const Job& job) {
  std::set<std::tuple<std::string, int, int>> connections;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.connections.all) {
      connections.emplace(path_class(key.path), key.src_rank, key.dst_rank);
    }
  }
  std::map<std::string, size_t> counts;
  for (const auto& [path, src, dst] : connections) ++counts[path];
  std::vector<std::pair<std::string, size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (const auto& [path, n] : sorted) words.push_back(fmt::format("{} {}", path, n));
  return some(words);
}

/// "1 of 8 ranks, 4 of 2 ranks": largest first.
std::string communicators_words(const Job& job) {
  std::map<int, size_t, std::greater<>> by_size;
  for (const Communicator& comm : job.communicators) ++by_size[comm.nranks];
  std::vector<std::string> words;
  for (const auto& [nranks, n] : by_size) {
    words.push_back(
        nranks < 0 ? fmt::format("{} of unknown size", n)
                   : fmt::format("{} of {}", n, plural(static_cast<uint64_t>(nranks), "rank")));
  }
  return some(words);
}

}  // namespace

std::vector<ShapeRow> job_shape(const Job& job) {
  std::vector<ShapeRow> rows = {{"ranks", ranks_words(job)},
                                {"GPUs", gpus_words(job)},
                                {"hosts", some(job.hosts)},
                                {std::string(library_name(job)), some(job.nccl_versions)},
                                {"CUDA", cuda_words(job)},
                                {"PyTorch", some(job.pytorch_versions)},
                                {"network", network_words(job)},
                                {"interfaces", interfaces_words(job)},
                                {"connections", connections_words(job)},
                                {"communicators", communicators_words(job)}};
  std::erase_if(rows, [](const ShapeRow& row) { return row.value.empty(); });
  return rows;
}

}  // namespace ncclog
