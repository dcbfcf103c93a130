// Does NCCL's RAS service confirm what the lines of calls say?
//
//   AllReduce operation counts: 7 ranks 29, rank 5 28; the lines name rank 5      → confirmed
//   rank 5 launched 31, the others as many as their logs show; its log shows 28   → contradicted
//
//   Missing communicator data from 1 job process; process 6004 on node 10.4.1.3    → incomplete
//   Missing communicator data from 255 ranks, of communicators with 2              → no such ranks
//
// The answer is of the moment in which somebody asked, and counts of a healthy job differ by a few.
// So a lower count alone names nobody; a higher count than a log shows, where those of other ranks
// are what their logs show, proves that this log lacks lines.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "diagnose/calls/call_verdict.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/ras_series.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/stop_evidence.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

constexpr std::string_view kStandStill = ", the same in the last two answers";

/// Calls of a function that a rank's log shows; nullopt if the log need not show all.
std::optional<uint64_t> shown_calls(const Job& job, const Communicator& comm, const CommRank& rank,
                                    std::string_view function) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr || calls->by_signature.other > 0) return std::nullopt;
  if (call_coverage(job, comm, rank) != CallCoverage::Counted) return std::nullopt;
  uint64_t shown = 0;
  for (const auto& [call, count] : calls->by_signature.all) {
    if (call.op.view() == function) shown += count;
  }
  return shown;
}

/// Ranks of whom RAS counted more calls than their logs show, where of all others it counted no more
/// than theirs show, and of most exactly that: then its numbers run side by side with the lines.
FactValue ras_contradicts(const Job& job, const Instance&) {
  for (const CallAccount& counts : call_ledger(job, CallSource::Ras)) {
    const Communicator& comm = nth_communicator(job, counts.communicator);
    std::string first;
    size_t lacking = 0;
    size_t equal = 0;
    for (size_t r = 0; r < comm.ranks.size(); ++r) {
      const int number = comm.ranks[r].rank;
      const auto counted = std::ranges::lower_bound(counts.ranks, number, {}, &LedgerRank::rank);
      const auto shown = shown_calls(job, comm, comm.ranks[r], counts.function);
      if (counted == counts.ranks.end() || counted->rank != number || !shown) continue;
      if (counted->entered == *shown) ++equal;
      if (counted->entered <= *shown || lacking++ > 0) continue;
      first = fmt::format("RAS counted {} {} of {} on {}, whose log shows {}", counted->entered,
                          to_valid_utf8(counts.function),
                          members_words(job, counts.communicator, {static_cast<int>(r)}),
                          communicator_words(job, counts.communicator), *shown);
    }
    if (lacking == 0 || equal <= lacking) continue;
    if (lacking > 1) first += fmt::format("; and {} ranks more", lacking - 1);
    FactValue value = yes(std::move(first));
    value.communicator = comm.id;
    return value;
  }
  return no();
}

/// What the last answer says of operations that ranks launched, unless counts grow from answer to
/// answer. It accuses nobody: those with more wait as likely as those with less are late.
FactValue ras_mismatch(const Job& job, const Instance&) {
  const RasSeries& series = ras_series(job);
  if (series.last == nullptr) return unknown();
  if (series.trend == RasTrend::Grows) return no();
  std::string words = counts_words(*series.last);
  if (!words.empty()) {
    return yes(series.trend == RasTrend::Behind ? words.append(kStandStill) : words);
  }
  const auto differs = [](std::string_view errors) {
    return errors.find("MISMATCH") != errors.npos;
  };
  const auto& rows = series.last->communicators;
  const auto row = std::ranges::find_if(rows, differs, &RasCommunicators::errors);
  const bool is_told = row == rows.end() || std::ranges::any_of(series.last->statements, differs,
                                                                &RasStatement::problem);
  if (is_told) return no();
  return yes(
      fmt::format("its table says MISMATCH of {} of {} ranks, and what differs is not quoted",
                  plural(row->count, "communicator"), row->nranks));
}

/// "communicator b33c: no data from 1 rank: rank 1 (process 6004 on node 10.4.1.3, GPU 0)".
std::string lacking_words(const RasStatement& statement) {
  constexpr size_t kMost = 3;
  const bool of_job = statement.communicator.empty();
  std::string words = of_job ? "" : "communicator " + to_valid_utf8(statement.communicator) + ": ";
  words += statement.problem == "DEAD" ? "no way to reach " : "no data from ";
  words += plural(statement.count, of_job ? "process" : "rank");
  std::vector<std::string> members;
  for (const RasMember& member : statement.members) members.push_back(member_words(member));
  return members.empty() ? words : fmt::format("{}: {}", words, few_of(members, kMost, ", "));
}

/// Of whom the last answer has nothing; `gave_up`: only whom the service calls dead. It may be late
/// or wrong itself.
template <bool gave_up>
FactValue ras_lacks(const Job& job, const Instance&) {
  if (job.ras_reports.empty()) return unknown();
  constexpr size_t kMost = 3;
  const RasReport& report = job.ras_reports.back();
  int64_t most_ranks = -1;
  for (const RasCommunicators& row : report.communicators) {
    most_ranks = std::max(most_ranks, row.nranks);
  }
  // More ranks than any communicator of the answer has, or a rank that none has: in such an answer
  // the service itself is wrong.
  const auto is_impossible = [&](const RasStatement& statement) {
    const auto is_unknown = [&](const RasMember& member) { return member.rank >= most_ranks; };
    return !statement.communicator.empty() && most_ranks > 0 &&
           (statement.count > most_ranks || std::ranges::any_of(statement.members, is_unknown));
  };
  std::vector<std::string> phrases;
  std::string doubt;
  FactValue value = yes({});
  const auto accuse = [&](const RasStatement& statement) {
    for (const RasMember& member : statement.members) {
      for (const RasRankOfJob& rank : ranks_of_job(job, report, statement, member)) {
        blame(rank.process, rank.rank, value);
      }
    }
  };
  for (const RasStatement& statement : report.statements) {
    const bool lacks = statement.problem == "DEAD" ||
                       (statement.problem == "INCOMPLETE" && statement.what == "communicator data");
    if (!lacks || (gave_up && statement.problem != "DEAD")) continue;
    if (!is_impossible(statement)) {
      phrases.push_back(lacking_words(statement));
      accuse(statement);
    } else if (doubt.empty()) {
      doubt = fmt::format(
          ". It also misses {} ranks of {}, and no communicator of its table has more than {}: "
          "that part is an error of the service",
          statement.count, to_valid_utf8(statement.communicator), most_ranks);
    }
  }
  if (phrases.empty() && doubt.empty()) return no();
  if (phrases.empty()) phrases.push_back("what it lacks cannot be");
  value.what = few_of(phrases, kMost, "; ") + doubt;
  // Where the service is wrong in a part, it need not be right in the rest.
  return doubt.empty() ? value : yes(value.what);
}

/// Who is behind by answers that do not move, where neither lines nor dumps name anybody; `beside`:
/// where they name just the same.
template <bool beside>
FactValue ras_late(const Job& job, const Instance& instance) {
  const RasSeries& series = ras_series(job);
  const bool is_over = outcome_of(job).job.state == EndState::Finished;
  if (series.behind.empty() || is_over) return unknown();
  const std::string counts = counts_words(*series.last);
  FactValue value =
      yes(fmt::format("by NCCL's RAS service, {} launched fewer operations than others "
                      "({}){}",
                      member_words(series.behind), counts, kStandStill));
  for (const RasReport* answer : {series.before, series.last}) {
    value.evidence.push_back({answer->where, "NCCL's RAS: " + counts});
  }
  for (const RasRankOfJob& rank : series.behind) blame(rank.process, rank.rank, value);
  for (const std::string_view other :
       {"job.rank_missing_in_collective", "job.recorder_late", "job.recorder_holds_up"}) {
    const FactValue told = find_fact(other)->ask(job, instance);
    if (!is_yes(told)) continue;
    const bool is_same = named_ranks(job, told) == named_ranks(job, value);
    // Dumps of one moment do not go before answers that stand.
    if (!is_same && other == "job.recorder_holds_up") continue;
    return beside && is_same ? value : unknown();
  }
  return beside ? unknown() : value;
}

/// All ranks launched the same, and nothing grows.
FactValue ras_level(const Job& job, const Instance&) {
  const RasSeries& series = ras_series(job);
  if (series.last == nullptr) return unknown();
  if (series.trend != RasTrend::Level) return no();
  return yes(
      fmt::format("{} ranks had launched the same on every communicator, some {} operations each",
                  series.last->nranks, series.operations));
}

/// A sentence to put behind one of a time-out: RAS lacks nobody and no count differs.
FactValue ras_all_ok(const Job& job, const Instance&) {
  const RasSeries& series = ras_series(job);
  const bool is_ok =
      series.last != nullptr && !series.last->communicators.empty() &&
      std::ranges::all_of(series.last->communicators,
                          [](const RasCommunicators& row) { return row.errors == "OK"; });
  if (!is_ok || series.trend == RasTrend::Grows) return unknown();
  return yes(
      " NCCL's RAS service lacked no rank and counted the same operations of all: if it was asked "
      "while the job stood, nobody is behind, and a link, a NIC or a GPU stalled.");
}

FactValue ras_agrees(const Job& job, const Instance& instance) {
  const auto& accounts = call_ledger(job, CallSource::Ras);
  if (accounts.empty()) return no();
  const FactValue missing = find_fact("job.rank_missing_in_collective")->ask(job, instance);
  if (!missing.known()) return no();
  const std::set<int> named(missing.processes.begin(), missing.processes.end());
  for (const CallAccount& counts : accounts) {
    const CallFront front = front_of(counts);
    if (nth_communicator(job, counts.communicator).id != missing.communicator) continue;
    const bool all_alike = std::ranges::all_of(
        front.ahead, [&](int m) { return member(counts, m).entered == front.furthest; });
    const bool are_named = std::ranges::all_of(
        front.behind, [&](int m) { return named.contains(member(counts, m).process); });
    const bool are_all = front.behind.size() == missing.processes.size() && front.counts_all();
    if (!front.is_open() || !all_alike || !are_named || !are_all) continue;
    return yes(
        fmt::format(". NCCL's RAS service counted the same: {} {} of the ranks named, {} of "
                    "the others",
                    front.front, to_valid_utf8(counts.function), front.furthest));
  }
  return no();
}

constexpr std::array kRasFacts = {
    // NCCL's RAS service counted fewer operations of exactly the ranks that the lines of
    // calls name; `what` is a sentence to put behind another.
    job_fact("job.ras_agrees", ras_agrees),
    // NCCL's RAS service counted more operations of a rank than its log shows, and as
    // many as the logs show of others.
    job_fact("job.ras_contradicts", ras_contradicts),
    // NCCL's RAS service lacks no rank and finds no difference; `what` is a sentence.
    job_fact("job.ras_all_ok", ras_all_ok),
    // NCCL's RAS service gave up processes that it could not reach for a minute or more.
    job_fact("job.ras_dead", ras_lacks<true>),
    // NCCL's RAS service had no data of processes or ranks when it was asked.
    job_fact("job.ras_incomplete", ras_lacks<false>),
    // In two answers of NCCL's RAS service the same ranks had launched fewer operations, and
    // nothing grew; lines of calls and dumps leave open who is late.
    job_fact("job.ras_late", ras_late<false>),
    // The same, where lines of calls or dumps name just those ranks.
    job_fact("job.ras_late_too", ras_late<true>),
    // In two answers of NCCL's RAS service all ranks had launched the same, and no more.
    job_fact("job.ras_level", ras_level),
    // NCCL's RAS service found ranks of a communicator that launched different numbers
    // of an operation.
    job_fact("job.ras_mismatch", ras_mismatch),
};

}  // namespace

std::span<const Fact> ras_facts() { return kRasFacts; }

}  // namespace ncclog
