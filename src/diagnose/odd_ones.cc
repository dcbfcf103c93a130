#include "diagnose/odd_ones.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr size_t kMinAlike = 3;
constexpr size_t kOddShare = 4;  ///< One in so many may be odd.

std::map<std::string, std::vector<int>> processes_by_host(const Job& job) {
  std::map<std::string, std::vector<int>> hosts;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (!process.has_nccl || process.host.empty()) continue;
    hosts[process.host].push_back(static_cast<int>(p));
  }
  return hosts;
}

/// The number of processes that most hosts run; the larger one of equals.
size_t usual_size(const std::map<std::string, std::vector<int>>& hosts) {
  std::map<size_t, size_t> sizes;
  for (const auto& [host, processes] : hosts) ++sizes[processes.size()];
  size_t usual = 0;
  size_t votes = 0;
  for (const auto& [size, hosts_with_it] : sizes) {
    if (hosts_with_it >= votes) std::tie(usual, votes) = std::tuple(size, hosts_with_it);
  }
  return usual;
}

}  // namespace

OddOnes odd_ones(const PeerValues& values) {
  std::map<std::string, size_t> votes;
  for (const auto& [peer, value] : values) ++votes[value];
  const auto common = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  OddOnes result;
  if (common == votes.end()) return result;
  const size_t others = values.size() - common->second;
  if (common->second < kMinAlike || others * kOddShare > values.size()) return result;
  result.common = common->first;
  result.alike = common->second;
  for (const auto& [peer, value] : values) {
    if (value != result.common) result.odd.push_back(peer);
  }
  return result;
}

std::vector<int> places_in_host(const Job& job) {
  std::vector<int> places(job.processes.size(), -1);
  const auto hosts = processes_by_host(job);
  const size_t usual = usual_size(hosts);
  for (auto [host, processes] : hosts) {
    if (processes.size() != usual) continue;
    std::sort(processes.begin(), processes.end(), [&](int a, int b) {
      const Process& first = job.processes[static_cast<size_t>(a)];
      const Process& second = job.processes[static_cast<size_t>(b)];
      return std::tuple(parse_hex(first.bus_id).value_or(0), first.rank, a) <
             std::tuple(parse_hex(second.bus_id).value_or(0), second.rank, b);
    });
    for (size_t i = 0; i < processes.size(); ++i) {
      places[static_cast<size_t>(processes[i])] = static_cast<int>(i);
    }
  }
  return places;
}

void excuse_places(const Job& job, const PeerValues& values, OddOnes& odd) {
  const std::vector<int> places = places_in_host(job);
  std::erase_if(odd.odd, [&](int suspect) {
    const int place = places[static_cast<size_t>(suspect)];
    const std::string& host = job.processes[static_cast<size_t>(suspect)].host;
    return place < 0 || std::none_of(values.begin(), values.end(), [&](const auto& peer) {
             return peer.second == odd.common && places[static_cast<size_t>(peer.first)] == place &&
                    job.processes[static_cast<size_t>(peer.first)].host != host;
           });
  });
}

OddOnes odd_at_place(const Job& job, const PeerValues& values) {
  const std::vector<int> places = places_in_host(job);
  std::map<int, PeerValues> by_place;
  for (const auto& [process, value] : values) {
    const int place = places[static_cast<size_t>(process)];
    if (place >= 0) by_place[place][process] = value;
  }
  OddOnes result;
  for (const auto& [place, peers] : by_place) {
    const OddOnes here = odd_ones(peers);
    if (here.odd.empty()) continue;
    if (result.odd.empty()) result = {{}, here.common, here.alike};
    result.odd.insert(result.odd.end(), here.odd.begin(), here.odd.end());
  }
  std::sort(result.odd.begin(), result.odd.end());
  return result;
}

}  // namespace ncclog
