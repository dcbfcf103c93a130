// Communicators, settings and the network of a job as tables.
//
//   id       nranks  nhosts  calls  states                  not_seen  odd_calls
//   0x9c1b…       8       2     29  7 complete, 1 not_seen  3         5
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/call_fronts.h"
#include "report/tables.h"

namespace ncclog {
namespace {

/// "6 complete, 2 started": how far the ranks came, furthest first.
std::string states_text(const Communicator& comm) {
  std::map<RankState, int> counts;
  for (const CommRank& rank : comm.ranks) ++counts[rank.state];
  constexpr RankState kOrder[] = {RankState::Complete, RankState::Destroyed, RankState::Aborted,
                                  RankState::Started,  RankState::Failed,    RankState::Unknown,
                                  RankState::NotSeen};
  std::vector<std::string> parts;
  for (const RankState state : kOrder) {
    if (counts.contains(state)) {
      parts.push_back(fmt::format("{} {}", counts[state], to_string(state)));
    }
  }
  return join(parts, ", ");
}

/// Ranks in the states that a person looks for.
std::string ranks_in(const Communicator& comm, RankState state) {
  std::vector<int> ranks;
  for (const CommRank& rank : comm.ranks) {
    if (rank.state == state && rank.rank >= 0) ranks.push_back(rank.rank);
  }
  return ranges_text(std::move(ranks));
}

/// Ranks that made more or fewer collectives than most, as far as calls were logged: by their
/// number in the job, where that is known.
std::string ranks_apart(const Job& job, const Communicator& comm) {
  std::vector<int> ranks;
  const uint64_t usual = usual_collectives(job, comm);
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0 || rank.rank < 0 || collectives_of(job, rank) == usual) continue;
    const int in_job = job.processes[static_cast<size_t>(rank.process)].rank;
    ranks.push_back(in_job >= 0 ? in_job : rank.rank);
  }
  return ranges_text(std::move(ranks));
}

std::vector<Cell> communicator_row(const Job& job, const Communicator& comm) {
  const auto* parent =
      comm.parent < 0 ? nullptr : &job.communicators[static_cast<size_t>(comm.parent)];
  return {text_cell(comm.id),
          text_cell(parent == nullptr ? std::string() : parent->id),
          number_cell(comm.nranks),
          number_cell(static_cast<int64_t>(comm.hosts.size())),
          comm.calls ? number_cell(static_cast<int64_t>(*comm.calls)) : Cell(),
          text_cell(states_text(comm)),
          text_cell(ranks_in(comm, RankState::NotSeen)),
          text_cell(ranks_apart(job, comm)),
          text_cell(join(comm.hosts, " "))};
}

std::string ranks_of(const Job& job, const EnvironmentSetting& setting) {
  std::vector<int> ranks;
  for (const int process : setting.processes) {
    const int rank = job.processes[static_cast<size_t>(process)].rank;
    if (rank >= 0) ranks.push_back(rank);
  }
  return ranges_text(std::move(ranks));
}

}  // namespace

uint64_t usual_collectives(const Job& job, const Communicator& comm) {
  std::map<uint64_t, size_t> ranks_by_calls;
  size_t seen = 0;
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0) continue;
    ++ranks_by_calls[collectives_of(job, rank)];
    ++seen;
  }
  for (const auto& [calls, ranks] : ranks_by_calls) {
    if (ranks * 2 > seen) return calls;
  }
  return ranks_by_calls.empty() ? 0 : ranks_by_calls.rbegin()->first;
}

Table communicators_table(const Job& job) {
  Table table{.name = "comms",
              .columns = {"id", "parent", "nranks", "nhosts", "calls", "states", "not_seen",
                          "odd_calls", "hosts"}};
  for (const Communicator& comm : job.communicators) {
    table.rows.push_back(communicator_row(job, comm));
  }
  if (table.rows.empty()) {
    table.notes.push_back(
        "No line names a communicator. Set NCCL_DEBUG=INFO with INIT among NCCL_DEBUG_SUBSYS.");
  }
  return table;
}

Table environment_table(const Job& job) {
  Table table{.name = "env", .columns = {"name", "value", "ranks", "processes"}};
  for (const EnvironmentSetting& setting : job.environment) {
    table.rows.push_back({text_cell(setting.name), text_cell(setting.value),
                          text_cell(ranks_of(job, setting)),
                          number_cell(static_cast<int64_t>(setting.processes.size()))});
  }
  if (table.rows.empty()) {
    table.notes.push_back(
        "NCCL reports no setting. Set NCCL_DEBUG=INFO with ENV among NCCL_DEBUG_SUBSYS.");
  }
  return table;
}

Table network_table(const Job& job) {
  Table table{.name = "net", .columns = {"host", "interface", "address", "port", "link"}};
  for (const Interface& interface : job.network.interfaces) {
    table.rows.push_back({text_cell(interface.host), text_cell(interface.name),
                          text_cell(interface.address), number_cell(interface.port),
                          text_cell(interface.link)});
  }
  const auto named = [](const std::string& name) { return name.empty() ? "unknown" : name; };
  table.notes.push_back(
      fmt::format("Network: {}; plugin: {}.", named(job.network.name), named(job.network.plugin)));
  return table;
}

}  // namespace ncclog
