// For whom do network operations wait that do not move from one dump of the proxy to the next?
//
//   rank 1   [0-16|131| Send 2S/0]   in both dumps     → it waits for rank 2
//   rank 0   [0-0|8| Coll 3 /0]      in both           → it waits for rank 3, rank 3 for it
//   rank 2   ACTIVE OPS, [X]         in both           → it has entered nothing: who waits, waits
//                                                        for it
//
// A line is the operation at work on one connection; those behind it are of no concern. A peer is a
// rank in the communicator, which no dump names: it is taken for the job's where every rank that is
// waited for, and waits itself, waits for the other in turn. Only connections that have a proxy
// appear, so those inside a host do not. Letters tell what a message waits for: S the network or the
// receiver, R the sender, G the GPU; a collective has none. Dumps of a healthy job show them, too:
// one dump, dumps whose operations differ, and dumps behind which steps go on accuse nobody.
//
// A rank that printed nothing, although most others did, is stopped or gone, if all that printed wait
// for it: directly, through others, or in a collective, which waits for every rank over connections
// that no dump shows. One whose list is empty does something else. Where all have operations at work
// that do not move, nobody is missing.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "diagnose/calls/call_verdict.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/known_messages.h"

namespace ncclog {
namespace {

/// The operation at work on a connection.
struct WorkingOp {
  int64_t op_count = -1;  ///< Twice the number of the call, on a communicator that is not named.
  std::string what;       ///< "Send", "Recv", "Coll".
  std::string peers;      ///< "2S/0", "3 /0", "5G/0 5S/1".

  auto operator<=>(const WorkingOp&) const = default;
};

struct ProxyDump {
  std::vector<WorkingOp> ops;  ///< Sorted.
  Evidence line;               ///< Its first operation, or its first line.
};

/// The last two dumps of a rank.
struct DumpsOfRank {
  std::optional<ProxyDump> before;
  std::optional<ProxyDump> last;
  bool is_clear = true;  ///< No dump is cut, mixed with another process's, or not kept.

  bool is_stuck() const { return before && !last->ops.empty() && before->ops == last->ops; }
  bool is_idle() const { return last->ops.empty() && (!before || before->ops.empty()); }
  bool moves() const { return before && before->ops != last->ops; }
};

/// Adds the dumps of a log, if there are any.
void add_dumps(const SpeakerLog& log, DumpsOfRank& dumps) {
  bool is_open = false;
  ProxyDump open;
  for (const Record record : log.proxy_dumps->kept) {
    const Message message = parse_record(record).message;
    if (message.kind == nullptr) continue;
    const bool is_op = message.kind->index == kKindIndex<ProxyOp>;
    const bool begins = !is_op && read_message<ProxyDumpMark>(message).mark != "[X]";
    // Processes that write into one file without a label are not told apart.
    if (begins == is_open) dumps.is_clear = false;
    if (begins) {
      open = {.line = evidence_of(record)};
      is_open = true;
    } else if (is_op) {
      const auto op = read_message<ProxyOp>(message);
      if (!op.queued.empty()) continue;
      if (open.ops.empty()) open.line = evidence_of(record);
      open.ops.push_back({op.op_count, std::string(op.what), std::string(op.peers)});
    } else if (is_open) {
      std::ranges::sort(open.ops);
      dumps.before = std::exchange(dumps.last, std::exchange(open, {}));
      is_open = false;
    }
  }
  if (is_open || log.proxy_dumps->total > log.proxy_dumps->kept.size()) dumps.is_clear = false;
}

/// What the dumps of a job say, by rank.
using JobDumps = std::map<int, DumpsOfRank>;

JobDumps read_dumps(const Job& job) {
  JobDumps all;
  for (const Process& process : job.processes) {
    DumpsOfRank dumps;
    for (const size_t log : process.logs) add_dumps(job.logs[log], dumps);
    if (!dumps.last && dumps.is_clear) continue;
    const bool is_second = all.contains(process.rank);
    dumps.is_clear &= !is_second && !process.torn && dumps.last.has_value();
    all[process.rank] = std::move(dumps);
  }
  return all;
}

/// The ranks that an operation waits for over the network; one that waits for its own GPU does not.
std::set<int> peers_of(const WorkingOp& op) {
  std::set<int> peers;
  for (const std::string_view one : split_blanks(op.peers)) {
    const size_t digits = std::min(one.find_first_not_of("0123456789"), one.size());
    const auto peer = parse_int(one.substr(0, digits));  // "/0" behind a blank is a channel.
    const char state = digits < one.size() ? one[digits] : ' ';
    const bool is_own_gpu = state == 'G' || state == 'F' || state == 'D';
    if (peer && *peer <= INT32_MAX && !is_own_gpu) peers.insert(static_cast<int>(*peer));
  }
  return peers;
}

/// Something went on after a dump: its process's file shows a step behind it.
bool goes_on_after(const Job& job, SourceRef dump) {
  const JobUnit* unit = unit_of(job, dump);
  return unit != nullptr && std::ranges::any_of(job.clocks, [&](const InputClock& clock) {
           return clock.input == unit->input && dump < clock.last.back();
         });
}

/// The ranks of which a line or a file is there.
std::set<int> ranks_with_output(const Job& job) {
  std::set<int> ranks;
  for (const Process& process : job.processes) ranks.insert(process.rank);
  for (const JobInput& input : job.inputs) ranks.insert(input.rank);
  ranks.erase(-1);
  return ranks;
}

/// Ranks, and the stuck ones that wait for one of them, directly or through others.
struct WaitedFor {
  std::vector<int> ranks;
  std::set<int> waiters;
};

/// What does not move, and who is waited for.
struct ProxyStall {
  std::vector<int> stuck;   ///< Ranks; empty: nothing stands, or it cannot be told.
  WaitedFor idle;           ///< Their lists are empty.
  WaitedFor silent;         ///< They printed no dump, and all that did wait for each of them.
  std::vector<int> on_gpu;  ///< Stuck, and each operation of theirs waits for their own GPU.
  std::string first;        ///< " (Coll 102 of rank 0 with rank 3)"; may be empty.
  std::vector<Evidence> evidence;
};

/// For whom ranks wait, or by whom they are waited for.
using RankGraph = std::map<int, std::set<int>>;

/// The ranks that wait for `goal`, directly or through others.
std::set<int> waiters_for(int goal, const RankGraph& waited_by) {
  std::set<int> found;
  std::vector<int> open{goal};
  while (!open.empty()) {
    const auto waiters = waited_by.find(open.back());
    open.pop_back();
    if (waiters == waited_by.end()) continue;
    for (const int rank : waiters->second) {
      if (found.insert(rank).second) open.push_back(rank);
    }
  }
  return found;
}

/// Every rank that printed is one of `waiters`, or stands in a collective.
bool all_wait(const JobDumps& all, const std::set<int>& waiters) {
  return std::ranges::all_of(all, [&](const auto& of_rank) {
    const auto& [rank, dumps] = of_rank;
    return waiters.contains(rank) ||
           (dumps.is_stuck() &&
            std::ranges::any_of(dumps.last->ops, [](const auto& op) { return op.what == "Coll"; }));
  });
}

/// "Coll 102 of rank 0 with rank 3": the first operation that waits for one of them; empty: none does.
std::string wait_words(const JobDumps& all, const std::vector<int>& stuck,
                       const std::set<int>& peers) {
  for (const int rank : stuck) {
    for (const WorkingOp& op : all.at(rank).last->ops) {
      for (const int peer : peers_of(op)) {
        if (!peers.contains(peer)) continue;
        return fmt::format(" ({} {} of rank {} with rank {})", op.what, op.op_count, rank, peer);
      }
    }
  }
  return {};
}

ProxyStall find_proxy_stall(const Job& job) {
  const JobDumps& all = job.answers.of<&read_dumps>(job);
  ProxyStall stall;
  RankGraph waits;
  for (const auto& [rank, dumps] : all) {
    if (rank < 0 || !dumps.is_clear || dumps.moves()) return {};
    if (goes_on_after(job, dumps.last->line.where)) return {};
    if (!dumps.is_stuck()) continue;
    stall.stuck.push_back(rank);
    for (const WorkingOp& op : dumps.last->ops) waits[rank].merge(peers_of(op));
    if (waits[rank].empty()) stall.on_gpu.push_back(rank);
    stall.evidence.push_back(dumps.last->line);
  }
  if (stall.stuck.empty()) return {};
  const std::set<int> known = ranks_with_output(job);
  const auto silent = static_cast<size_t>(
      std::ranges::count_if(known, [&](int rank) { return !all.contains(rank); }));
  RankGraph waited_by;
  std::set<int> missing;
  bool are_of_job = !has_sub_communicators(job);
  for (const auto& [rank, peers] : waits) {
    for (const int peer : peers) {
      const auto back = waits.find(peer);
      const bool waits_back = back != waits.end() && back->second.contains(rank);
      are_of_job &= peer != rank && known.contains(peer) && (back == waits.end() || waits_back);
      if (back == waits.end()) missing.insert(peer);
      waited_by[peer].insert(rank);
    }
  }
  // Where most printed nothing, they need not have been asked.
  const bool is_telling = all.size() >= 2 && silent * 2 <= all.size();
  if (!are_of_job || missing.size() > stall.stuck.size()) missing.clear();
  for (const int rank : missing) {
    const auto dumps = all.find(rank);
    std::set<int> waiters = waiters_for(rank, waited_by);
    const bool is_silent = dumps == all.end() && is_telling && all_wait(all, waiters);
    const bool is_idle = dumps != all.end() && dumps->second.is_idle();
    if (!is_silent && !is_idle) continue;
    WaitedFor& kind = is_silent ? stall.silent : stall.idle;
    kind.ranks.push_back(rank);
    kind.waiters.merge(waiters);
  }
  stall.first = wait_words(all, stall.stuck, missing.empty() ? known : missing);
  return stall;
}

/// What tells who is late before dumps of the proxy do.
constexpr std::string_view kLateBefore[] = {"job.rank_missing_in_collective", "job.recorder_late",
                                            "job.ras_late"};

/// Who is waited for, and is named, unless something better names others.
FactValue proxy_waits(const Job& job, const Instance& instance) {
  const ProxyStall& stall = job.answers.of<&find_proxy_stall>(job);
  if (stall.silent.ranks.empty() && stall.idle.ranks.empty()) return unknown();
  std::vector<std::string> words;
  FactValue value = yes({}, stall.evidence);
  for (const auto& [kind, why] :
       {std::pair(&stall.silent, "which printed no dump"),
        std::pair(&stall.idle, "in whose dumps no operation is at work")}) {
    if (kind->ranks.empty()) continue;
    words.push_back(
        fmt::format("{} {} for {}, {}", ranks_phrase({kind->waiters.begin(), kind->waiters.end()}),
                    kind->waiters.size() == 1 ? "waits" : "wait", ranks_phrase(kind->ranks), why));
    for (const int rank : kind->ranks) blame(process_of_rank(job, rank), rank, value);
  }
  for (const std::string_view other : kLateBefore) {
    const FactValue told = find_fact(other)->ask(job, instance);
    if (is_yes(told) && named_ranks(job, told) != named_ranks(job, value)) return unknown();
  }
  value.what = fmt::format("{}: the operations at work of {} are the same in the last two dumps{}",
                           join(words, ", and "), ranks_phrase(stall.stuck), stall.first);
  return value;
}

/// The same of a job that is seen to stand, where nothing else tells who is late.
FactValue proxy_late(const Job& job, const Instance& instance) {
  if (!stood_still(job)) return unknown();
  for (const std::string_view other : kLateBefore) {
    if (is_yes(find_fact(other)->ask(job, instance))) return no();
  }
  FactValue value = proxy_waits(job, instance);
  const FactValue held = find_fact("job.recorder_holds_up")->ask(job, instance);
  if (is_yes(held) && named_ranks(job, held) == named_ranks(job, value)) return no();
  if (is_yes(value)) value.what = "by dumps of the network proxy, " + value.what;
  return value;
}

/// Operations stand, and nobody is named.
FactValue proxy_stuck(const Job& job, const Instance&) {
  const ProxyStall& stall = job.answers.of<&find_proxy_stall>(job);
  if (stall.stuck.empty() || !stall.silent.ranks.empty() || !stall.idle.ranks.empty()) {
    return unknown();
  }
  std::string words =
      fmt::format("the operations at work of {} are the same in the last two dumps{}",
                  ranks_phrase(stall.stuck), stall.first);
  if (!stall.on_gpu.empty()) words += "; its own GPU holds up " + ranks_phrase(stall.on_gpu);
  return yes(words, stall.evidence);
}

constexpr std::array kProxyFacts = {
    // Of a job that stood still, dumps of the network proxy tell for whom the others wait.
    comparing_fact("job.proxy_late", proxy_late),
    // In the last two dumps of the network proxy the same operations are at work on all ranks.
    comparing_fact("job.proxy_stuck", proxy_stuck),
    // The same, and a rank that is waited for printed no dump or has no operation at work.
    comparing_fact("job.proxy_waits", proxy_waits),
};

}  // namespace

std::span<const Fact> proxy_facts() { return kProxyFacts; }

}  // namespace ncclog
