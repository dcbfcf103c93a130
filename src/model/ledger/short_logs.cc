// Do the numbers of a witness run side by side with the calls of the lines, and whose log then
// shows fewer calls than the witness knows of?

#include <algorithm>
#include <map>
#include <set>

#include "base/collectives.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

bool is_the_same(const CallSignature& call, const LedgerCall& witness) {
  if (witness.entry != nullptr) return is_call_of_entry(call, *witness.entry);
  const TimedOutWork& work = *witness.work;
  return is_call_of_work(call, work.op, work.numel_in, work.numel_out);
}

/// The call of that number is one that ends on no rank before all have entered it, in the logs of
/// most ranks that show it.
bool was_entered_by_all(const CallAccount& lines, uint64_t number) {
  size_t such = 0;
  size_t others = 0;
  for (const LedgerRank& rank : lines.ranks) {
    if (rank.lines == nullptr || rank.entered < number) continue;
    const PlacedCall* call = rank.lines->collectives.call(number - 1);
    const bool needs_all = call != nullptr && traits_of(call->call.op.operation()).joins();
    ++(needs_all ? such : others);
  }
  return such > others;
}

/// How many calls all ranks made, because somebody saw the last of them completed; 0: not known.
uint64_t completed_by_all(const CallAccount& lines, const CallAccount& witness) {
  uint64_t completed = 0;
  for (const LedgerRank& rank : witness.ranks) {
    completed = std::max(completed, rank.completed.value_or(0));
  }
  return completed > 0 && was_entered_by_all(lines, completed) ? completed : 0;
}

/// How many calls of a witness the log shows by their numbers; nullopt: it shows another one there.
std::optional<size_t> agreeing_calls(const LedgerRank& lines, const LedgerRank& witness) {
  size_t agree = 0;
  for (const LedgerCall& call : witness.calls) {
    const PlacedCall* shown =
        call.number == 0 ? nullptr : lines.lines->collectives.call(call.number - 1);
    const bool is_told = call.entry != nullptr || call.work != nullptr;
    if (shown == nullptr || !is_told || (call.work != nullptr && !is_one_call(call.work->op))) {
      continue;
    }
    if (!is_the_same(shown->call, call)) return std::nullopt;
    ++agree;
  }
  return agree;
}

bool has_messages(const CallAccount& lines) {
  return std::ranges::any_of(lines.ranks, [](const LedgerRank& rank) {
    return rank.lines != nullptr && (!rank.lines->peers.all.empty() || rank.lines->peers.other > 0);
  });
}

/// Whether logs have the same first calls as one that goes on.
class FirstCalls {
 public:
  explicit FirstCalls(const CallAccount& lines) : lines_(lines) {}

  bool has(const CallSequence& shown) {
    const auto [known, is_new] = by_length_.try_emplace(shown.size());
    for (const LedgerRank& rank : lines_.ranks) {
      if (!is_new || rank.lines == nullptr || rank.entered <= shown.size()) continue;
      const auto hash = rank.lines->collectives.prefix_hash(shown.size());
      if (hash) known->second.insert(*hash);
    }
    return known->second.contains(shown.hash());
  }

 private:
  const CallAccount& lines_;
  std::map<uint64_t, std::set<uint64_t>> by_length_;  ///< Hashes of the first calls.
};

void add_short_logs(const CallAccount& lines, const CallAccount& witness,
                    std::vector<ShortLog>& result) {
  const bool is_watchdog = witness.source == CallSource::Watchdog;
  // c10d numbers messages of a group, too.
  if (!witness.is_numbered_alike || (is_watchdog && has_messages(lines))) return;
  const uint64_t by_all = is_watchdog ? completed_by_all(lines, witness) : 0;
  std::map<int, const LedgerRank*> by_process;
  for (const LedgerRank& rank : witness.ranks) {
    const bool is_known = rank.process >= 0 && rank.coverage != CallCoverage::Unknown;
    if (is_known) by_process[rank.process] = &rank;
  }
  size_t agree = 0;
  FirstCalls beginnings(lines);
  std::vector<ShortLog> found;
  for (const LedgerRank& rank : lines.ranks) {
    const auto own = by_process.find(rank.process);
    const bool is_witnessed = own != by_process.end();
    if (rank.lines == nullptr || rank.process < 0 || (!is_witnessed && !is_watchdog)) continue;
    // What a watchdog says to be enqueued may be enqueued behind the end of the log.
    const uint64_t made = is_watchdog ? by_all : own->second->entered;
    const bool is_short = made > rank.entered + 1;
    const auto same = is_witnessed ? agreeing_calls(rank, *own->second) : std::optional<size_t>(0);
    // A log that lacks calls in its middle differs behind them; of a watchdog's few works none may.
    if (!same && (is_watchdog || !is_short)) return;
    if (is_watchdog || !is_short) agree += *same;
    if (!is_short) continue;
    const bool ends_early =
        is_watchdog ? beginnings.has(rank.lines->collectives) : same.has_value();
    found.push_back(
        {rank.process, lines.communicator, rank.entered, made, ends_early, witness.source});
  }
  // A watchdog shows one work, and one match may be chance; of two ranks no second is to be had.
  const size_t wanted = is_watchdog && lines.ranks.size() > 2 ? 2 : 1;
  if (agree >= wanted) result.insert(result.end(), found.begin(), found.end());
}

}  // namespace

std::vector<ShortLog> short_logs(const Job& job) {
  std::vector<ShortLog> result;
  for (const CallSource source : {CallSource::Recorder, CallSource::Watchdog}) {
    for (const CallAccount& witness : call_ledger(job, source)) {
      if (witness.communicator < 0) continue;
      const auto& lines = call_ledger(job, CallSource::Lines);
      add_short_logs(lines[witness.communicator], witness, result);
    }
    if (!result.empty()) break;
  }
  std::ranges::stable_sort(result, {}, &ShortLog::communicator);
  return result;
}

void mark_short_logs(Job& job) {
  for (const ShortLog& log : short_logs(job)) {
    Process& process = job.processes[log.process];
    (log.ends_early ? process.cut : process.torn) = true;
  }
  job.answers = {};  // The job is not built yet.
}

}  // namespace ncclog
