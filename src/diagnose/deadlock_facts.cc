// Do all ranks wait, and nobody can be blamed for it?
//
//   ranks 0-7: each gave up on SeqNum 31, ALLREDUCE of 512 elements
//       → job.watchdog_all_alike = yes: all entered it at least the limit before, so it stalled
//   ranks 0,2 of 4: "… commId 0x51 - Init START"   ranks 1,3 of 4: "… commId 0x62 - Init START"
//       → job.inits_crossed = yes: each half waits for the other in another initialisation; the
//         second half may wait in PyTorch's store for its unique id instead
//
// Both are said only where every rank of the job speaks for itself; one that is silent makes them
// unknown.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/first_warning.h"
#include "diagnose/stop_evidence.h"
#include "diagnose/watchdog_records.h"
#include "diagnose/within_runs.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// Ranks of the job's largest communicator; nullopt where no communicator is known.
std::optional<int> world_size(const Job& job) {
  int size = 0;
  for (const Communicator& comm : job.communicators) size = std::max(size, comm.nranks);
  return size > 0 ? std::optional(size) : std::nullopt;
}

bool is_same_call(const TimedOutWork& a, const TimedOutWork& b) {
  return a.op == b.op && a.size == b.size;
}

/// Every rank gave up on `stalled`, and all mean the same call.
bool all_alike(const StalledWork& stalled, int nranks) {
  std::set<int> ranks;
  for (const TimedOutWork& work : stalled.reports) {
    if (work.rank < 0 || work.rank >= nranks || work.in_unnamed_group) return false;
    if (!is_same_call(work, stalled.reports.front())) return false;
    ranks.insert(work.rank);
  }
  return ranks.size() == static_cast<size_t>(nranks);
}

FactValue watchdog_all_alike(const Job& job, const Instance&) {
  const auto nranks = world_size(job);
  if (!nranks || *nranks < 2) return unknown();
  for (const StalledWork& stalled : stalled_work(job)) {
    if (!is_default_group(stalled.group) || stalled.seq < 0 || !all_alike(stalled, *nranks)) {
      continue;
    }
    const TimedOutWork& first = stalled.reports.front();
    FactValue value =
        yes(fmt::format("all {} ranks gave up on SeqNum {}, {}{}", *nranks, stalled.seq, first.op,
                        first.size.empty() ? "" : " with " + first.size));
    for (const TimedOutWork& work : stalled.reports) value.evidence.push_back(work.line);
    return value;
  }
  return unknown();
}

/// An initialisation that was begun and not ended.
struct OpenInit {
  const Communicator* comm = nullptr;
  std::vector<const CommRank*> waiting;  ///< Never empty.
};

/// nullopt: it ended on some rank, or the lines do not tell.
std::optional<OpenInit> open_init(const Job& job, const Communicator& comm) {
  OpenInit init{&comm, {}};
  for (const CommRank& rank : comm.ranks) {
    if (rank.state == RankState::NotSeen) continue;
    if (rank.state != RankState::Started || rank.process < 0) return std::nullopt;
    const Process& process = job.processes[static_cast<size_t>(rank.process)];
    if (process.cut || process.torn || reports_own_failure(job, process)) return std::nullopt;
    init.waiting.push_back(&rank);
  }
  return init.waiting.empty() ? std::nullopt : std::optional(init);
}

/// Each of `size` ranks, by number and by process, waits in exactly one of the two.
bool divide_ranks(const OpenInit& a, const OpenInit& b, int size) {
  std::set<int> ranks;
  std::set<int> processes;
  for (const OpenInit* init : {&a, &b}) {
    for (const CommRank* rank : init->waiting) {
      ranks.insert(rank->rank);
      processes.insert(rank->process);
    }
  }
  const auto all = static_cast<size_t>(size);
  return a.waiting.size() + b.waiting.size() == all && ranks.size() == all &&
         processes.size() == all;
}

/// Initialisations of the whole job that were begun and not ended.
std::vector<OpenInit> open_inits(const Job& job, int size) {
  std::vector<OpenInit> open;
  for (const Communicator& comm : job.communicators) {
    if (comm.nranks != size || comm.is_child || comm.inferred) continue;
    if (auto init = open_init(job, comm)) open.push_back(std::move(*init));
  }
  return open;
}

/// "ranks 0,2 in 0x62".
std::string half(const OpenInit& init) {
  std::vector<int> ranks;
  for (const CommRank* rank : init.waiting) ranks.push_back(rank->rank);
  return fmt::format("{} in {}", ranks_phrase(ranks), init.comm->id);
}

Evidence start_line(const Job& job, const CommRank& rank) {
  const Process& process = job.processes[static_cast<size_t>(rank.process)];
  Evidence line{process.last, process.last_text};
  const SourceRef started =
      job.logs[static_cast<size_t>(rank.log)].comms.all[static_cast<size_t>(rank.segment)].started;
  for_each_record(job, process, kKindIndex<CommInit>, [&](const Record& record) {
    if (record.where == started) line = evidence_of(record);
  });
  return line;
}

/// Ranks that waited in PyTorch's store, in vain, for the unique id of a communicator.
std::map<int, Evidence> store_waits(const Job& job) {
  std::map<int, Evidence> waits;
  for (const Process& process : job.processes) {
    for_each_record(job, process, kKindIndex<StoreWaitFailed>, [&](const Record& record) {
      if (process.rank >= 0) waits.try_emplace(process.rank, evidence_of(record));
    });
  }
  return waits;
}

/// All ranks but those in `init` waited in the store: for another communicator, because whoever
/// begins an initialisation has published its id before. Times would tell it from a rank that came
/// too late, so it is a grade less sure.
FactValue crossed_with_store(const Job& job, const OpenInit& init, int size) {
  const std::map<int, Evidence> waits = store_waits(job);
  if (waits.empty() || waits.size() + init.waiting.size() != static_cast<size_t>(size)) {
    return unknown();
  }
  std::vector<int> elsewhere;
  for (const auto& [rank, line] : waits) elsewhere.push_back(rank);
  if (std::any_of(init.waiting.begin(), init.waiting.end(),
                  [&](const CommRank* rank) { return waits.contains(rank->rank); })) {
    return unknown();
  }
  FactValue value = yes(fmt::format("{}, and {} in the store for the unique id of another one",
                                    half(init), ranks_phrase(elsewhere)),
                        {start_line(job, *init.waiting.front()), waits.begin()->second});
  for (const CommRank* rank : init.waiting) value.processes.push_back(rank->process);
  value.ranks = std::move(elsewhere);
  value.inferred = true;
  return value;
}

/// A job that starts looks the same for a moment, so something has to show that it stopped.
FactValue inits_crossed(const Job& job, const Instance&) {
  const auto size = world_size(job);
  if (!size || *size < 2) return unknown();
  const std::vector<OpenInit> open = open_inits(job, *size);
  if (open.size() == 1) return crossed_with_store(job, open.front(), *size);
  if (open.size() != 2 || !divide_ranks(open[0], open[1], *size)) return unknown();
  const auto stop = stop_evidence(job);
  if (!stop) return unknown();
  FactValue value = yes(fmt::format("{} and {}", half(open[0]), half(open[1])));
  for (const OpenInit& init : open) {
    value.evidence.push_back(start_line(job, *init.waiting.front()));
    for (const CommRank* rank : init.waiting) value.processes.push_back(rank->process);
  }
  value.evidence.push_back(stop->line);
  return value;
}

constexpr std::array kFacts = {
    Fact{"job.inits_crossed", Scope::Job, FactType::Bool,
         "Every rank waits in one of two initialisations of all ranks, and the job stopped.",
         within_runs<inits_crossed>},
    Fact{"job.watchdog_all_alike", Scope::Job, FactType::Bool,
         "Every rank of the job gave up on the same collective, so all had entered it.",
         within_runs<watchdog_all_alike>},
};

}  // namespace

std::span<const Fact> deadlock_facts() { return kFacts; }

}  // namespace ncclog
