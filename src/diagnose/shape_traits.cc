// How large is a run, how is it spread, and how far did it come?
//
//   8 ranks on 2 hosts, 4 on each; communicators: 1 of 8 ranks, 4 of 2 ranks; all of them complete
//
// Ranks that the logs do not show belong to no number: what is not known of all is not compared.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/trait_tables.h"

namespace ncclog {
namespace {

void add(std::string name, std::string value, Traits& traits, std::vector<Evidence> lines = {}) {
  traits.push_back({.topic = Topic::Shape,
                    .name = std::move(name),
                    .value = std::move(value),
                    .evidence = std::move(lines)});
}

bool is_all_seen(const Communicator& comm) {
  return comm.nranks > 0 && comm.ranks.size() == static_cast<size_t>(comm.nranks) &&
         std::all_of(comm.ranks.begin(), comm.ranks.end(),
                     [](const CommRank& rank) { return rank.process >= 0; });
}

/// "4", or "8, 8, 4" where they differ; empty if some are not seen.
template <typename KeyOf>
std::string ranks_by(const Communicator& comm, KeyOf key_of) {
  std::map<decltype(key_of(comm.ranks.front())), int> counts;
  for (const CommRank& rank : comm.ranks) ++counts[key_of(rank)];
  std::vector<int> sizes;
  for (const auto& [key, count] : counts) sizes.push_back(count);
  std::sort(sizes.rbegin(), sizes.rend());
  if (sizes.front() == sizes.back()) return std::to_string(sizes.front());
  std::vector<std::string> parts;
  for (const int size : sizes) parts.push_back(std::to_string(size));
  return join(parts, ", ");
}

void add_spread(const Job& job, Traits& traits) {
  if (job.communicators.empty() || !is_all_seen(job.communicators.front())) return;
  const Communicator& largest = job.communicators.front();
  const auto host_of = [&](const CommRank& rank) -> std::string {
    return job.processes[static_cast<size_t>(rank.process)].host;
  };
  add("ranks on a host", ranks_by(largest, host_of), traits);
  add("ranks in a process", ranks_by(largest, [](const CommRank& rank) { return rank.process; }),
      traits);
}

bool is_any_inferred(const Job& job) {
  return std::any_of(job.communicators.begin(), job.communicators.end(),
                     [](const Communicator& comm) { return comm.inferred && !comm.is_child; });
}

/// "1 of 8 ranks, 4 of 2 ranks".
void add_communicators(const Job& job, Traits& traits) {
  if (job.communicators.empty() || is_any_inferred(job)) return;
  std::map<int, int> counts;
  for (const Communicator& comm : job.communicators) ++counts[comm.nranks];
  std::vector<std::string> parts;
  for (auto size = counts.rbegin(); size != counts.rend(); ++size) {
    parts.push_back(fmt::format("{} of {} ranks", size->second, size->first));
  }
  add("communicators", join(parts, ", "), traits);
}

bool is_complete(const Job& job, const CommRank& rank) {
  if (rank.state == RankState::Complete || rank.state == RankState::Destroyed) return true;
  if (rank.log < 0 || rank.segment < 0) return false;
  const auto& segments = job.logs[static_cast<size_t>(rank.log)].comms.all;
  return segments[static_cast<size_t>(rank.segment)].completed.line != 0;
}

/// "complete", or "6 of 8 ranks complete" over all communicators, with a line of one that is not.
void add_progress(const Job& job, Traits& traits) {
  size_t all = 0;
  size_t complete = 0;
  std::vector<Evidence> lines;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      const InitSection* section = init_section(job, rank);
      const bool begins = rank.process >= 0 && section != nullptr && section->started.line != 0;
      if (!begins && !is_complete(job, rank)) continue;
      ++all;
      complete += is_complete(job, rank) ? 1 : 0;
      if (!is_complete(job, rank) && lines.empty()) lines.push_back({section->started, {}});
    }
  }
  if (all == 0) return;
  const bool whole = complete == all;
  add("initialisation", whole ? "complete" : fmt::format("{} of {} ranks complete", complete, all),
      traits, std::move(lines));
}

}  // namespace

void add_shape_traits(const Job& job, Traits& traits) {
  if (job.nranks) add("number of ranks", std::to_string(*job.nranks), traits);
  if (job.nhosts > 0) add("number of hosts", std::to_string(job.nhosts), traits);
  add_spread(job, traits);
  add_communicators(job, traits);
  add_progress(job, traits);
}

Absence shape_absence(const Job&, const Trait& other) {
  if (other.name == "initialisation" || other.name == "communicators") {
    return not_told("its logs do not tell how communicators were initialised");
  }
  if (other.name.starts_with("number of ")) return not_told("no line of its logs tells");
  return not_told("its logs do not show all ranks");
}

}  // namespace ncclog
