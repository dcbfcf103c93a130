// Did the processes of a job find each other, and take it for the same job?
//
//   job.store_name_unresolvable = yes, "node-a" was looked up 12 times in 84 s
//   job.sizes_differ            = yes, rank 2, ": rank 2 announced 3 ranks, ranks 0,1,3 4"
//
// Processes meet at PyTorch's store first, and then at NCCL's bootstrap. Whoever does not come, or
// comes as somebody else, leaves the others waiting or is refused.

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <string>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/stop_evidence.h"

namespace ncclog {
namespace {

// Does the name of the rendezvous resolve?
//
//   [W1122 08:25:41.18 socket.cpp:764] [c10d] The IPv6 network addresses of (node-a, 37395) cannot
//   be retrieved (gai error: -3 - Temporary failure in name resolution).
//       twelve times until 08:27:05, and no line of NCCL or of the training after them
//       → job.store_name_unresolvable = yes, "node-a, asked for 12 times in 84 s"
//
// Once or twice before the job goes on it is noise: a name without an IPv6 address.

constexpr uint64_t kLeastTries = 3;
constexpr uint64_t kTriesWithoutTimes = 6;
constexpr int64_t kLeastSeconds =
    30;  // PyTorch waits for up to a second and then longer each time.

/// Whoever looked the name up waited for the store there until its time was up.
bool gave_up(const SpeakerLog& log, std::string_view host) {
  return std::ranges::any_of(
      log.records.kept(kKindIndex<StoreConnectTimeout>), [&](const Record& record) {
        return read_message<StoreConnectTimeout>(parse_message(record)).host == host;
      });
}

FactValue name_in(const SpeakerLog& log) {
  const RecordList list = log.records.find(kKindIndex<StoreConnectRetry>);
  for (const Record& record : list.kept) {
    const Event event = parse_record(record);
    const auto retry = read_message<StoreConnectRetry>(event.message);
    if (retry.error.find("gai error") == retry.error.npos) return unknown();
    const auto lasted = nanoseconds_between(record.text(), log.last_text);
    const int64_t seconds = lasted.value_or(0) / 1'000'000'000;
    const bool is_long = lasted ? list.total >= kLeastTries && seconds >= kLeastSeconds
                                : list.total >= kTriesWithoutTimes;
    if (!is_long && !gave_up(log, retry.host)) continue;
    const std::string time = !lasted ? "" : fmt::format(" in {} s", seconds);
    return yes(fmt::format("\"{}\" was looked up {} time{}{}, and the answer was: {}",
                           to_valid_utf8(retry.host), list.total, list.total == 1 ? "" : "s", time,
                           to_valid_utf8(retry.error)),
               {evidence_of(record)});
  }
  return unknown();
}

/// job.store_name_unresolvable.
FactValue store_name_unresolvable(const Job& job, const Instance&) {
  // NCCL or the training began.
  const bool came_further =
      any_said<BootstrapInterface, IterationLine, ProgressBar, NcclVersion, RendezvousComplete>(
          job);
  if (came_further || !job.communicators.empty()) return no();
  for (const SpeakerLog& log : job.logs) {
    FactValue value = name_in(log);
    if (value.known()) return value;
  }
  return unknown();
}

// Who never came to the creation of a process group?
//
//   INFO:root:Waiting in store based barrier to initialize process group for rank: 0, key:
//   store_based_barrier_key:1 (world_size=4, worker_count=3, timeout=0:30:00)
//       the same of ranks 1 and 3, and nothing after it
//       → job.store_barrier_absent = yes, "ranks 0,1,3 waited …, 1 of 4 ranks never came …"
//
// A rank prints the line after it has waited for ten seconds, and each ten seconds from then on.

/// What the ranks say of the creation of one group.
struct Barrier {
  int world_size = -1;
  int joined = -1;  ///< As the last that counted them says.
  std::set<int> came;
  std::set<int> waited;
  bool timed_out = false;
  std::vector<Evidence> lines;
};

template <typename T>
void add_waits(const Job& job, bool timed_out, std::map<std::string, Barrier>& barriers) {
  for_each_said<T>(job, [&](const Said<T>& said) {
    Barrier& barrier = barriers[std::string(said.message.key)];
    barrier.world_size = std::max(barrier.world_size, said.message.world_size);
    barrier.joined = std::max(barrier.joined, said.message.joined);
    barrier.came.insert(said.message.rank);
    barrier.waited.insert(said.message.rank);
    barrier.timed_out |= timed_out;
    barrier.lines.push_back(evidence_of(said.record()));
  });
}

/// By their keys; without those that somebody was let through.
std::map<std::string, Barrier> barriers_of(const Job& job) {
  std::map<std::string, Barrier> barriers;
  add_waits<StoreBarrierTimeout>(job, true, barriers);
  add_waits<StoreBarrierWait>(job, false, barriers);
  for_each_said<StoreBarrierJoined>(job, [&](const Said<StoreBarrierJoined>& said) {
    const auto known = barriers.find(std::string(said.message.key));
    if (known != barriers.end()) known->second.came.insert(said.message.rank);
  });
  for_each_said<StoreBarrierPassed>(job, [&](const Said<StoreBarrierPassed>& said) {
    barriers.erase(std::string(said.message.key));
  });
  return barriers;
}

/// Ranks lack, and nothing of the job follows the last wait. Where more ranks are
/// counted than there are, the store still holds a count of an earlier start.
bool is_stuck(const Job& job, const Barrier& barrier) {
  if (barrier.joined < 0 || barrier.joined >= barrier.world_size) return false;
  if (barrier.timed_out) return true;
  const auto last = std::ranges::max_element(barrier.lines, {}, &Evidence::where);
  return job.communicators.empty() && !went_on(job, last->where);
}

/// The ranks that are not in `came`, where these are just as many as lack: else lines are missing.
std::vector<int> absent_ranks(int world_size, int joined, const std::set<int>& came) {
  std::vector<int> absent;
  const auto lacking = static_cast<size_t>(std::max(world_size - joined, 0));
  for (int rank = 0; rank < world_size && absent.size() <= lacking; ++rank) {
    if (!came.contains(rank)) absent.push_back(rank);
  }
  return absent.size() == lacking ? absent : std::vector<int>{};
}

std::string absent_words(const Barrier& barrier) {
  const std::vector<int> absent = absent_ranks(barrier.world_size, barrier.joined, barrier.came);
  if (absent.empty()) return "which, these logs do not show";
  return fmt::format("{} {} no line of it here", ranks_phrase(absent),
                     absent.size() == 1 ? "has" : "have");
}

/// job.store_barrier_absent.
FactValue store_barrier_absent(const Job& job, const Instance&) {
  for (const auto& [key, barrier] : barriers_of(job)) {
    if (!is_stuck(job, barrier)) continue;
    const int lacking = barrier.world_size - barrier.joined;
    return yes(fmt::format("{} of {} ranks {}, while {} waited; {}", lacking, barrier.world_size,
                           barrier.timed_out ? "never came" : "had not come when these logs end",
                           ranks_phrase({barrier.waited.begin(), barrier.waited.end()}),
                           absent_words(barrier)),
               barrier.lines);
  }
  return unknown();
}

/// job.store_barrier_overfull: more came than there are ranks, "16 where 8 ranks are".
FactValue store_barrier_overfull(const Job& job, const Instance&) {
  for (const auto& [key, barrier] : barriers_of(job)) {
    if (!barrier.timed_out || barrier.joined <= barrier.world_size) continue;
    return yes(fmt::format("{} where {} ranks are", barrier.joined, barrier.world_size),
               barrier.lines);
  }
  return unknown();
}

// Who did not connect to PyTorch's store, or looked for it elsewhere?
//
//   DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined.
//       lines of ranks 0, 1 and 3, and none of rank 2
//       → job.store_clients_absent = yes, " No line here is of rank 2."
//   The client socket has timed out after 600000ms while trying to connect to (node-a, 29501).
//   [rank1]: … recvValue failed on SocketImpl(fd=8, addr=[…]:43792, remote=[node-a]:29500): …
//       → job.store_ports_differ = yes, port 29501 in vain, port 29500 by rank 1

/// The end of a sentence about how many came.
FactValue store_clients_absent(const Job& job, const Instance&) {
  std::set<int> seen;
  for (const Process& process : job.processes) {
    if (process.rank >= 0 && !has_said<StoreConnectTimeout>(job, process))
      seen.insert(process.rank);
  }
  if (seen.empty()) return unknown();
  seen.insert(0);  // Who says it: the store is rank 0's.
  const std::vector<int> ranks(seen.begin(), seen.end());
  Record last;
  StoreClientsMissing told;
  for_each_said<StoreClientsMissing>(job, [&](const auto& said) {
    const auto [joined, expected] = std::pair(said.message.joined, said.message.expected);
    const auto came = std::ranges::lower_bound(ranks, expected) - ranks.begin();
    // Where not just as many lack, lines are missing.
    if (joined < 1 || joined >= expected || !std::cmp_equal(came, joined)) return;
    last = said.record();
    told = said.message;
  });
  if (!last) return unknown();
  const std::vector<int> absent = absent_ranks(told.expected, told.joined, seen);
  FactValue value =
      yes(fmt::format(" No line here is of {}.", ranks_phrase(absent)), {evidence_of(last)});
  for (const int rank : absent) blame(process_of_rank(job, rank), rank, value);
  return value;
}

/// Torchrun's agents have a store besides that of the workers, so there two ports are right.
FactValue store_ports_differ(const Job& job, const Instance&) {
  if (any_said<RendezvousComplete, WorkerGroupRestart, AgentSignalled>(job)) return unknown();
  std::map<int, FactValue> in_vain;
  std::map<int, FactValue> connected;
  const auto add = [](std::map<int, FactValue>& ports, const auto& said) {
    if (said.message.port <= 0) return;
    FactValue& value = ports[said.message.port];
    if (value.evidence.empty()) value.evidence = {evidence_of(said.record())};
    value.processes.push_back(said.process);
  };
  for_each_said<StoreConnectTimeout>(job, [&](const auto& said) { add(in_vain, said); });
  for_each_said<StoreConnectionLost, StorePollTimeout>(
      job, [&](const auto& said) { add(connected, said); });
  if (in_vain.size() != 1 || connected.size() != 1) return unknown();
  const auto& [wrong, askers] = *in_vain.begin();
  const auto& [right, others] = *connected.begin();
  if (wrong == right) return no();
  std::set<int> ranks;
  for (const int process : others.processes) {
    if (nth_process(job, process).rank >= 0) ranks.insert(nth_process(job, process).rank);
  }
  FactValue value = yes(
      fmt::format("at port {}, where nobody answered, and {} connected to it at port {}", wrong,
                  ranks.empty() ? "others were"
                                : fmt::format("{} {}", ranks_phrase({ranks.begin(), ranks.end()}),
                                              ranks.size() == 1 ? "was" : "were"),
                  right),
      {askers.evidence.front(), others.evidence.front()});
  value.processes = askers.processes;
  return value;
}

// By which number did a process introduce itself otherwise than the others, with the same ranks?
//
//   … mismatch in info from procs, nranks 16 vs 16, nroots 1 vs 1, iroot 0 vs 0, offset -77120 vs 0
//       → job.bootstrap_info_differs = yes, "offset -77120 vs 0"

FactValue bootstrap_info_differs(const Job& job, const Instance&) {
  AnswerParts parts;
  for_each_said<BootstrapRankCountMismatch>(job, [&](const auto& said) {
    if (said.message.local != said.message.remote) return;
    for (const std::string_view part : split(said.message.rest, ',')) {
      const std::vector<std::string_view> words = split_blanks(part);  // Name, own, "vs", other.
      if (words.size() != 4 || words[1] == words[3]) continue;
      parts.add_new(to_valid_utf8(trim(part)), evidence_of(said.record()));
    }
  });
  return parts.answer(unknown(), ", ", kMostNamed);
}

// Who takes the communicator for one of another size than the others do?
//
//   rank 2: ncclCommInitRank comm 0x55a2 rank 2 nranks 3 … commId 0x77 - Init START
//   ranks 0, 1, 3: … nranks 4 … commId 0x77 - Init START
//       → job.sizes_differ = yes, rank 2, ": rank 2 announced 3 ranks, ranks 0,1,3 4"

FactValue sizes_differ(const Job& job, const Instance&) {
  for (const Communicator& comm : job.communicators) {
    std::map<int, std::vector<int>> by_size;  // Processes, by what they take for its size.
    std::set<std::pair<int, int>> known;
    FactValue value = yes({});
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0 || rank.segment < 0 || segment_of(job, rank).nranks <= 0) continue;
      const int size = segment_of(job, rank).nranks;
      std::vector<int>& processes = by_size[size];
      if (!known.emplace(size, rank.process).second) continue;
      if (processes.empty()) {
        const SourceRef begin = segment_of(job, rank).started;
        for_each_record(job, nth_process(job, rank.process), kKindIndex<CommInit>,
                        [&](const Record& record) {
                          if (record.where == begin) value.evidence.push_back(evidence_of(record));
                        });
      }
      processes.push_back(rank.process);
    }
    if (comm.inferred || by_size.size() != 2) continue;
    const auto few =
        std::ranges::min_element(by_size, {}, [](const auto& side) { return side.second.size(); });
    const auto many = few == by_size.begin() ? std::next(few) : by_size.begin();
    value.what =
        fmt::format(": {} announced {}, {} {}", processes_phrase(job, few->second),
                    plural(few->first, "rank"), processes_phrase(job, many->second), many->first);
    if (few->second.size() < many->second.size()) value.processes = few->second;
    return value;
  }
  return no();
}

constexpr std::array kRendezvousFacts = {
    // A process introduced itself at the rendezvous with another number than that of its ranks.
    job_fact("job.bootstrap_info_differs", bootstrap_info_differs),
    // Processes take a communicator for one of different sizes, and their lines say so.
    job_fact("job.sizes_differ", sizes_differ),
    // Ranks wait at the creation of a process group for ranks that never came to it.
    comparing_fact("job.store_barrier_absent", store_barrier_absent),
    // More came than there are: the store keeps the count of an earlier start.
    comparing_fact("job.store_barrier_overfull", store_barrier_overfull),
    // PyTorch looked the store's host up in vain for half a minute, and nothing else began.
    job_fact("job.store_name_unresolvable", store_name_unresolvable),
    // Fewer processes connected to the store than belong to the job: which ranks have no line.
    comparing_fact("job.store_clients_absent", store_clients_absent),
    // Some processes look for the store at a port where nobody answers, others are connected at
    // another one.
    comparing_fact("job.store_ports_differ", store_ports_differ),
};

}  // namespace

std::span<const Fact> rendezvous_facts() { return kRendezvousFacts; }

}  // namespace ncclog
