// How large is the job, how far did it come, and does one NCCL run in it?
//
//   job.nranks = 8   communicator.host_count = 2   job.mixed_nccl_versions = yes, "…"
//
// Sizes come from what NCCL prints about its communicators; where nothing is printed the answer is
// unknown, never zero.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/within_runs.h"

namespace ncclog {
namespace {

FactValue host_count(const Job& job, const Instance&) {
  return job.nhosts > 0 ? number(job.nhosts) : unknown();
}

FactValue rank_count(const Job& job, const Instance&) {
  return job.nranks ? number(*job.nranks) : unknown();
}

/// NCCL_HOSTID and containers make NCCL count nodes that share one host name.
FactValue pseudo_hosts(const Job& job, const Instance&) {
  for (const Communicator& comm : job.communicators) {
    if (comm.nnodes < 0 || comm.hosts.empty()) continue;
    const auto hosts = static_cast<int>(comm.hosts.size());
    const bool all_seen = std::none_of(comm.ranks.begin(), comm.ranks.end(),
                                       [](const CommRank& rank) { return rank.process < 0; });
    if (all_seen && comm.nnodes > hosts) {
      return yes(fmt::format("NCCL counts {} nodes where the log names {} host{}", comm.nnodes,
                             hosts, hosts == 1 ? "" : "s"));
    }
  }
  return no();
}

/// A line with an NCCL header was kept; text quoted by a framework is not one.
bool prints_nccl(const SpeakerLog& log) {
  if (log.unrecognised.total > 0 || !log.comms.all.empty()) return true;
  for (const auto& [kind, list] : log.records) {
    if (all_kinds()[kind].source != Source::Nccl || list.kept.empty()) continue;
    const Level level = parse_record(list.kept.front()).header.level;
    if (level == Level::Info || level == Level::Warn || level == Level::Trace) return true;
  }
  return false;
}

FactValue has_nccl_lines(const Job& job, const Instance&) {
  return std::any_of(job.logs.begin(), job.logs.end(), prints_nccl) ? yes({})
         : is_torn(job)                                             ? unknown()
                                                                    : no();
}

bool is_complete(const CommRank& rank) {
  return rank.state == RankState::Complete || rank.state == RankState::Destroyed ||
         rank.state == RankState::Aborted;
}

FactValue any_init_complete(const Job& job, const Instance&) {
  if (job.communicators.empty()) return unknown();
  for (const Communicator& comm : job.communicators) {
    if (std::any_of(comm.ranks.begin(), comm.ranks.end(), is_complete)) return yes({});
  }
  return no();
}

FactValue all_ranks_seen(const Job& job, const Instance&) {
  if (job.communicators.empty() || job.communicators.front().nranks <= 0) return unknown();
  const auto& ranks = job.communicators.front().ranks;
  const bool all = std::all_of(ranks.begin(), ranks.end(),
                               [](const CommRank& rank) { return rank.process >= 0; });
  return all ? yes({}) : no();
}

/// Known to be so: whoever is not seen may share a host.
FactValue one_rank_per_host(const Job& job, const Instance&) {
  if (job.communicators.empty()) return no();
  const Communicator& largest = job.communicators.front();
  const bool all_seen = std::all_of(largest.ranks.begin(), largest.ranks.end(),
                                    [](const CommRank& rank) { return rank.process >= 0; });
  return all_seen && largest.ranks.size() > 1 && largest.hosts.size() == largest.ranks.size()
             ? yes({})
             : no();
}

/// Ranks that began an initialisation and show neither its end nor an error.
FactValue init_unfinished(const Job& job, const Instance&) {
  std::vector<std::string> parts;
  std::vector<int> processes;
  std::vector<Evidence> evidence;
  for (const Communicator& comm : job.communicators) {
    std::vector<int> ranks;
    for (const CommRank& rank : comm.ranks) {
      if (rank.state != RankState::Started || rank.process < 0) continue;
      const Process& process = job.processes[static_cast<size_t>(rank.process)];
      // NCCL takes no call before the initialisation ends: then only the line is lost.
      if (process.cut || process.torn || rank.calls > 0) continue;
      ranks.push_back(rank.rank);
      processes.push_back(rank.process);
      evidence.push_back({process.last, process.last_text});
    }
    if (ranks.empty()) continue;
    parts.push_back(
        fmt::format("{} of {} in communicator {}", ranks_phrase(ranks), comm.nranks, comm.id));
  }
  if (parts.empty()) return no();
  return yes(join(parts, "; "), std::move(evidence), std::move(processes));
}

/// What each process's banner says: version → processes, and one line for each version.
struct Banners {
  std::map<std::string, std::vector<int>> processes;
  std::map<std::string, Evidence> lines;
};

Banners read_banners(const Job& job) {
  Banners banners;
  for_each_said<NcclVersion>(job, [&](const Said<NcclVersion>& said) {
    const std::string version(said.message.version);
    banners.processes[version].push_back(said.process);
    banners.lines.try_emplace(version, evidence_of(said.record));
  });
  return banners;
}

/// The versions that the ranks of one communicator print.
std::set<std::string> versions_in(const Communicator& comm, const Banners& banners) {
  std::set<std::string> versions;
  for (const auto& [version, processes] : banners.processes) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0) continue;
      if (std::count(processes.begin(), processes.end(), rank.process) > 0) {
        versions.insert(version);
      }
    }
  }
  return versions;
}

/// The processes with a version that fewer than half of all have; none if there is no majority.
std::vector<int> outvoted(const std::map<std::string, std::vector<int>>& processes) {
  size_t all = 0;
  size_t most = 0;
  for (const auto& [version, members] : processes) {
    all += members.size();
    most = std::max(most, members.size());
  }
  std::vector<int> result;
  if (most * 2 <= all) return result;
  for (const auto& [version, members] : processes) {
    if (members.size() != most) result.insert(result.end(), members.begin(), members.end());
  }
  return result;
}

/// Errors of processes that do not speak the same wire format.
bool misunderstand_each_other(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(), [](const SpeakerLog& log) {
    return log.records.contains(kKindIndex<BadAddressFamily>) ||
           log.records.contains(kKindIndex<BootstrapMessageTruncated>) ||
           log.records.contains(kKindIndex<SocketHandshakeMismatch>) ||
           log.records.contains(kKindIndex<SocketMessageTruncated>);
  });
}

/// The versions that the ranks of one communicator print. Without any communicator, those of the
/// whole log, if its processes misunderstand each other: else they may be two runs.
std::set<std::string> mixed_versions(const Job& job, const Banners& banners) {
  std::set<std::string> mixed;
  for (const Communicator& comm : job.communicators) {
    const auto versions = versions_in(comm, banners);
    if (versions.size() > 1) mixed.insert(versions.begin(), versions.end());
  }
  if (job.communicators.empty() && banners.processes.size() > 1 && misunderstand_each_other(job)) {
    for (const auto& [version, processes] : banners.processes) mixed.insert(version);
  }
  return mixed;
}

FactValue mixed_nccl_versions(const Job& job, const Instance&) {
  const Banners banners = read_banners(job);
  if (banners.processes.empty()) return unknown();
  const std::set<std::string> mixed = mixed_versions(job, banners);
  if (mixed.empty()) return no();
  std::vector<Evidence> evidence;
  for (const std::string& version : mixed) evidence.push_back(banners.lines.at(version));
  const std::vector<std::string> names(mixed.begin(), mixed.end());
  return yes("the ranks print NCCL " + join(names, " and "), std::move(evidence),
             outvoted(banners.processes));
}

const Communicator& communicator_of(const Job& job, const Instance& instance) {
  return job.communicators[static_cast<size_t>(instance.communicator)];
}

FactValue communicator_host_count(const Job& job, const Instance& instance) {
  const auto hosts = communicator_of(job, instance).hosts.size();
  return hosts > 0 ? number(static_cast<int64_t>(hosts)) : unknown();
}

FactValue communicator_nranks(const Job& job, const Instance& instance) {
  const int nranks = communicator_of(job, instance).nranks;
  return nranks > 0 ? number(nranks) : unknown();
}

FactValue communicator_nnodes(const Job& job, const Instance& instance) {
  const int nnodes = communicator_of(job, instance).nnodes;
  return nnodes > 0 ? number(nnodes) : unknown();
}

constexpr std::array kFacts = {
    Fact{"job.init_unfinished", Scope::Job, FactType::Bool,
         "Ranks print Init START of a communicator and neither COMPLETE nor an error.",
         init_unfinished},
    Fact{"job.has_nccl_lines", Scope::Job, FactType::Bool,
         "The log holds lines that NCCL itself printed at INFO, WARN or TRACE.", has_nccl_lines},
    Fact{"job.host_count", Scope::Job, FactType::Integer, "Distinct host names in the log.",
         host_count},
    Fact{"job.mixed_nccl_versions", Scope::Job, FactType::Bool,
         "Ranks of one job print different NCCL versions.", within_runs<mixed_nccl_versions>},
    Fact{"job.one_rank_per_host", Scope::Job, FactType::Bool,
         "Every rank is known to run on a host of its own.", one_rank_per_host},
};

}  // namespace

std::span<const Fact> job_facts() { return kFacts; }

}  // namespace ncclog
