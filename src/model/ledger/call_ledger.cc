// The ledger's front, and what lines of calls and NCCL's RAS service tell. Lines are those of
// NCCL_DEBUG_SUBSYS=COLL, and of CALL where there is no COLL. RAS says how many operations of a
// function each rank had launched when it was asked:
//
//   #0-0 (cf264af53edbe986) MISMATCH: rank 3 has launched up to operation 6649, the others 6650
//
// Only ranks that differ are told, and of groups of more than ten ranks only how many they are.

#include "model/ledger/call_ledger.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

/// What is asked of every rank of every communicator.
struct Callers {
  std::vector<bool> print_calls;  ///< By process.
  /// By communicator, the opCount with which all ranks begin whose calls are seen; nullopt: they do
  /// not, so that places in their windows are not alike.
  std::vector<std::optional<uint64_t>> first_op_counts;
  std::map<int, size_t> inferred;  ///< By size, how many communicators are.
};

Callers find_callers(const Job& job) {
  Callers callers;
  for (const Process& process : job.processes) {
    callers.print_calls.push_back(std::ranges::any_of(process.logs, [&](size_t log) {
      return std::ranges::any_of(job.logs[log].comms.all, [](const CommSegment& segment) {
        return segment.calls->total + segment.traces->total > 0;
      });
    }));
  }
  for (const Communicator& comm : job.communicators) {
    if (comm.inferred) ++callers.inferred[comm.nranks];
    std::optional<uint64_t> first;
    bool are_alike = true;
    for (const CommRank& rank : comm.ranks) {
      const CollectiveCalls* calls = calls_of(job, rank);
      if (calls == nullptr || calls->total == 0) continue;
      are_alike &= first.value_or(calls->first_op_count) == calls->first_op_count;
      first = calls->first_op_count;
    }
    callers.first_op_counts.push_back(are_alike ? first : std::nullopt);
  }
  return callers;
}

/// A log and its copy, or one that was rotated, hold a call twice or in an unknown order.
bool is_in_one_input(const Job& job, const CollectiveCalls& calls) {
  const JobUnit* first = unit_of(job, calls.first);
  const JobUnit* last = unit_of(job, calls.last);
  return first != nullptr && last != nullptr && first->input == last->input;
}

std::vector<CallAccount> line_accounts(const Job& job) {
  std::vector<CallAccount> accounts;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    CallAccount& account = accounts.emplace_back();
    account.communicator = static_cast<int>(c);
    account.is_numbered_alike = !comm.difference;
    // A communicator of which no line says how many ranks it has may have any number.
    account.unseen =
        comm.nranks < 0 ? 1 : std::max(0, comm.nranks - static_cast<int>(comm.ranks.size()));
    for (const CommRank& rank : comm.ranks) {
      const CollectiveCalls* calls = calls_of(job, rank);
      account.ranks.push_back({.rank = rank.rank,
                               .process = rank.process,
                               .coverage = call_coverage(job, comm, rank),
                               .entered = calls == nullptr ? 0 : calls->collectives.size(),
                               .completed = {},
                               .lines = calls,
                               .calls = {}});
    }
  }
  return accounts;
}

std::vector<CallAccount> ras_accounts(const Job& job) {
  std::vector<CallAccount> accounts;
  if (job.runs > 1 || job.ras_reports.empty()) return accounts;
  for (const auto& [key, statements] : operation_counts(job.ras_reports.back())) {
    CallAccount account{.source = CallSource::Ras, .function = key.second};
    const auto id = parse_hex(key.first);
    // A pointer may come back, so that several have one id.
    account.communicator = find_only(job.communicators, [&](const Communicator& comm) {
      return !comm.inferred && id && parse_hex(comm.id) == id;
    });
    if (account.communicator < 0) continue;
    const Communicator& comm = nth_communicator(job, account.communicator);
    const auto launched = launched_by_rank(statements, comm.nranks);
    account.unseen = std::max(0, comm.nranks - static_cast<int>(launched.size()));
    std::map<int, int> process_of;
    for (const CommRank& rank : comm.ranks) process_of[rank.rank] = rank.process;
    for (const auto& [number, count] : launched) {
      const auto process = process_of.find(number);
      account.ranks.push_back({.rank = number,
                               .process = process == process_of.end() ? -1 : process->second,
                               .coverage = CallCoverage::Counted,
                               .entered = count});
    }
    accounts.push_back(std::move(account));
  }
  return accounts;
}

/// The list of `front` that a rank belongs to; nullptr: it waits in another call than the one behind
/// the front, so that nothing follows from who lacks that. `stalled` is the first call on which a
/// rank gave up by itself: who had come as far may be held up there, or behind it.
std::vector<int>* list_of(const LedgerRank& rank, CallSource source, uint64_t stalled,
                          CallFront& front) {
  const bool waits = rank.waits_in(front.front + 1);
  const bool follows_calls = source == CallSource::Recorder;
  if (rank.coverage != CallCoverage::Counted) return waits ? &front.ahead : &front.unknown;
  if (rank.entered <= front.front) {
    const bool is_stuck_before = follows_calls && rank.completed < rank.entered;
    if (is_stuck_before) return nullptr;
    return rank.entered >= stalled ? &front.unknown : &front.behind;
  }
  if (waits) return &front.ahead;
  if (follows_calls) return nullptr;
  // A watchdog that says nothing of the call need not have waited in it.
  return source == CallSource::Watchdog ? &front.unknown : &front.ahead;
}

}  // namespace

CallDoubt call_doubt(const Job& job, const Communicator& comm, const CommRank& rank) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr || rank.process < 0) return CallDoubt::NoLines;
  const Process& process = nth_process(job, rank.process);
  // Calls may be missing in the middle: then the numbers of later ones mean nothing.
  if (process.torn) return CallDoubt::Torn;
  if (process.restarted) return CallDoubt::Restarted;
  if (job.losses.count(Loss::LineLeftOut) > 0) return CallDoubt::LeftOut;
  const Callers& callers = job.answers.of<&find_callers>(job);
  if (!callers.print_calls[rank.process]) return CallDoubt::NoLines;
  if (calls->total > 0 && !is_in_one_input(job, *calls)) return CallDoubt::Scattered;
  const CommSegment& segment = segment_of(job, rank);
  // Where the rank is known from the communicator's end only, what came before it is missing.
  const bool has_its_beginning = segment.rank < 0 || segment.started.line != 0 ||
                                 segment.completed.line != 0 || segment.announced.line != 0;
  if (!has_its_beginning) return CallDoubt::Headless;
  // Without initialisation lines processes are joined by the communicator's size alone. Several
  // communicators of one size cannot be told apart.
  if (rank.rank < 0 && comm.inferred && callers.inferred.at(comm.nranks) > 1)
    return CallDoubt::Guessed;
  // All that are seen must begin with that one, or places in their windows are not alike.
  const auto number = static_cast<size_t>(&comm - job.communicators.data());
  const bool begins_late = calls->first_op_count > 0;
  if (begins_late && callers.first_op_counts[number] != calls->first_op_count)
    return CallDoubt::Headless;
  const int member = static_cast<int>(&rank - comm.ranks.data());
  if (std::ranges::binary_search(comm.gaps, member, {}, &CallGap::member)) return CallDoubt::Gap;
  // Behind a communicator's end nothing is called on it.
  return process.cut && segment.end == CommFate::None ? CallDoubt::Cut : CallDoubt::None;
}

CallCoverage call_coverage(const Job& job, const Communicator& comm, const CommRank& rank) {
  const CallDoubt doubt = call_doubt(job, comm, rank);
  if (doubt == CallDoubt::None) return CallCoverage::Counted;
  const bool is_beginning = doubt == CallDoubt::Cut || doubt == CallDoubt::Gap;
  return is_beginning ? CallCoverage::AtLeast : CallCoverage::Unknown;
}

OperationCounts operation_counts(const RasReport& report) {
  constexpr std::string_view kCounts = " operation counts";
  OperationCounts result;
  for (const RasStatement& statement : report.statements) {
    if (statement.problem != "MISMATCH" || !statement.what.ends_with(kCounts)) continue;
    const std::string function = statement.what.substr(0, statement.what.size() - kCounts.size());
    result[{statement.communicator, function}].push_back(&statement);
  }
  return result;
}

std::map<int, uint64_t> launched_by_rank(const std::vector<const RasStatement*>& statements,
                                         int64_t nranks) {
  std::map<int, uint64_t> launched;
  std::vector<const RasStatement*> unlisted;
  const auto count_in = [](const RasStatement& statement) -> std::optional<uint64_t> {
    const auto value = parse_int(statement.value);
    return value && *value >= 0 ? std::optional(static_cast<uint64_t>(*value)) : std::nullopt;
  };
  for (const RasStatement* statement : statements) {
    if (statement->members.empty()) unlisted.push_back(statement);
    const auto count = count_in(*statement);
    for (const RasMember& member : statement->members) {
      if (count && member.rank >= 0) launched[member.rank] = *count;
    }
  }
  // Ranks that RAS does not list are of the one group that is too large to be listed.
  constexpr int64_t kMostRanks = 262144;
  if (unlisted.size() != 1 || nranks <= 0 || nranks > kMostRanks) return launched;
  const auto count = count_in(*unlisted.front());
  const auto lacking = nranks - static_cast<int64_t>(launched.size());
  if (!count || unlisted.front()->count != lacking) return launched;
  for (int rank = 0; rank < nranks; ++rank) launched.try_emplace(rank, *count);
  return launched;
}

const LedgerCall* LedgerRank::call(uint64_t number) const {
  const auto found = std::ranges::lower_bound(calls, number, {}, &LedgerCall::number);
  return found == calls.end() || found->number != number ? nullptr : &*found;
}

const std::vector<CallAccount>& call_ledger(const Job& job, CallSource source) {
  switch (source) {
    case CallSource::Lines:
      return job.answers.of<&line_accounts>(job);
    case CallSource::Recorder:
      return job.answers.of<&recorder_accounts>(job);
    case CallSource::Watchdog:
      return job.answers.of<&watchdog_accounts>(job);
    case CallSource::Desync:
      return job.answers.of<&desync_accounts>(job);
    case CallSource::Ras:
      break;
  }
  return job.answers.of<&ras_accounts>(job);
}

std::optional<uint64_t> given_up(const CallAccount& account) {
  if (account.source != CallSource::Watchdog) return std::nullopt;
  std::map<uint64_t, size_t> reports;
  for (const LedgerRank& rank : account.ranks) {
    for (const LedgerCall& call : rank.calls) ++reports[call.number];
  }
  const auto most =
      std::ranges::max_element(reports, {}, [](const auto& entry) { return entry.second; });
  return most == reports.end() ? std::nullopt : std::optional(most->first);
}

std::map<uint64_t, std::vector<int>> stops_of(const CallAccount& account) {
  std::map<uint64_t, std::vector<int>> stops;
  for (size_t r = 0; r < account.ranks.size(); ++r) {
    const std::vector<LedgerCall>& calls = account.ranks[r].calls;
    const auto first = std::ranges::find(calls, CallState::TimedOut, &LedgerCall::state);
    if (first != calls.end()) stops[first->number].push_back(static_cast<int>(r));
  }
  return stops;
}

bool LedgerRank::waits_in(uint64_t number) const {
  const LedgerCall* one = call(number);
  return one != nullptr && (one->state == CallState::Open || one->state == CallState::TimedOut);
}

CallFront front_of(const CallAccount& account) {
  CallFront front{.communicator = account.communicator, .unseen = account.unseen};
  uint64_t least = UINT64_MAX;
  for (const LedgerRank& rank : account.ranks) {
    front.furthest = std::max(front.furthest, rank.entered);
    if (rank.coverage == CallCoverage::Counted) least = std::min(least, rank.entered);
  }
  const std::optional<uint64_t> number = given_up(account);
  if (number == 0) return front;  // Nobody can have entered less.
  // Where most gave up on a call: hosts go on to enqueue calls behind that.
  front.front = number ? *number - 1 : std::min(least, front.furthest);
  const uint64_t stalled = number ? stops_of(account).begin()->first : UINT64_MAX;
  bool is_elsewhere = false;
  for (size_t r = 0; r < account.ranks.size(); ++r) {
    std::vector<int>* list = list_of(account.ranks[r], account.source, stalled, front);
    if (list != nullptr) list->push_back(static_cast<int>(r));
    is_elsewhere |= list == nullptr;
  }
  const bool is_told = !is_elsewhere && account.is_numbered_alike && !front.ahead.empty();
  if (!is_told || !is_anchored(account, front.front + 1)) {
    front.behind.clear();
    front.ahead.clear();
  }
  return front;
}

}  // namespace ncclog
