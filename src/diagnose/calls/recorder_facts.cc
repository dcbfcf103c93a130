// What the Flight Recorder's dumps add to what the lines of calls say.
//
//   no call lines                                 → the dumps name the late rank themselves
//   both name rank 5 at the same place            → "the Flight Recorder's dumps say the same: …"
//   the lines name rank 5, the dumps name rank 2  → a contradiction: both versions, nobody is
//                                                   blamed

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/calls/call_verdict.h"
#include "diagnose/calls/diverged.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/recorder_messages.h"
#include "diagnose/calls/recorder_moment.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/line/prefix.h"
#include "log/stack_lines.h"

namespace ncclog {
namespace {

/// The call of the first rank that stands ahead.
const FlightRecorderEntry& front_call(const CallAccount& account, const CallFront& front) {
  return *member(account, front.ahead.front()).call(front.front + 1)->entry;
}

/// "ranks 0-4 called collective 29 of process group …, AllReduce of 8 Float, and wait".
std::string ahead_words(const CallAccount& account, const CallFront& front) {
  return fmt::format("{} called collective {} of {}, {}", members_phrase(account, front.ahead),
                     front.front + 1, group_words(account),
                     placed_words(front_call(account, front)));
}

std::string late_words(const Job& job, const CallVerdict& verdict) {
  std::vector<std::string> names;
  for (const int m : verdict.named) {
    const LedgerRank& rank = member(*verdict.account, m);
    const int cuda_dev = rank.process < 0 ? -1 : nth_process(job, rank.process).cuda_dev;
    names.push_back(name_and_place(job, rank.process, rank.process < 0 ? rank.rank : -1, cuda_dev));
  }
  return fmt::format(
      "{}; {} had completed the one before and called no more when its dump was written",
      ahead_words(*verdict.account, verdict.front), few_of(names, kMostNamed, ", "));
}

/// What the dumps say, in words without a full stop.
std::string verdict_words(const Job& job, const CallVerdict& verdict) {
  if (verdict.kind == VerdictKind::Late) return late_words(job, verdict);
  const CallAccount& account = *verdict.account;
  if (verdict.kind == VerdictKind::Mismatch) {
    const std::string words = camps_words(
        verdict.difference->camps, verdict.difference->fields,
        [&](const LedgerCamp& camp) { return members_phrase(account, camp.members); },
        [](const LedgerCall* call) { return placed_words(*call->entry); });
    return fmt::format("ranks diverge at collective {} of {}: {}", verdict.number,
                       group_words(account), words);
  }
  const FlightRecorderEntry& call = *account.ranks.front().call(verdict.number)->entry;
  return fmt::format("all {} ranks called collective {} of {}, {}", account.ranks.size(),
                     verdict.number, group_words(account), recorded_words(call));
}

/// The verdict's calls: of each camp, of the first rank ahead, or of the first rank of all.
std::vector<const FlightRecorderEntry*> verdict_calls(const CallVerdict& verdict) {
  if (verdict.kind == VerdictKind::Late) return {&front_call(*verdict.account, verdict.front)};
  if (verdict.kind == VerdictKind::Entered) {
    return {verdict.account->ranks.front().call(verdict.number)->entry};
  }
  std::vector<const FlightRecorderEntry*> calls;
  for (const LedgerCamp& camp : verdict.difference->camps) calls.push_back(camp.call->entry);
  return calls;
}

/// "collective 20 of process group default_pg (4 ranks), at train.py:54 and train.py:50".
std::string place_words(const CallVerdict& verdict) {
  constexpr size_t kMostPlaces = 3;
  std::vector<std::string> places;
  for (const FlightRecorderEntry* call : verdict_calls(verdict)) {
    const std::string place = frame_words(*call);
    const bool known = std::ranges::find(places, place) != places.end();
    if (!place.empty() && !known && places.size() < kMostPlaces) places.push_back(place);
  }
  return fmt::format("collective {} of {}{}{}", verdict.number, group_words(*verdict.account),
                     places.empty() ? "" : ", at ", join(places, " and "));
}

/// Dumps of ranks on either side, with the call in words.
std::vector<Evidence> verdict_dumps(const CallVerdict& verdict) {
  const CallAccount& account = *verdict.account;
  std::vector<Evidence> dumps;
  if (verdict.kind == VerdictKind::Late) {
    dumps = {{member(account, verdict.front.ahead.front()).dump->where,
              fmt::format("collective {}: {}, not completed", verdict.number,
                          recorded_words(front_call(account, verdict.front)))},
             {member(account, verdict.named.front()).dump->where,
              fmt::format("last collective {}, completed", verdict.number - 1)}};
  } else if (verdict.kind == VerdictKind::Mismatch) {
    for (const LedgerCamp& camp : verdict.difference->camps) {
      dumps.push_back(
          {member(account, camp.members.front()).dump->where,
           fmt::format("collective {}: {}", verdict.number, recorded_words(*camp.call->entry))});
    }
  }
  return dumps;
}

/// Who is behind in the group in which most wait, whether or not the job stopped; empty: nobody.
std::string behind_words(const Job& job) {
  for (const CallAccount* account : largest_first(call_ledger(job, CallSource::Recorder))) {
    const CallFront front = front_of(*account);
    if (!front.is_open()) continue;
    std::string words =
        fmt::format("{}, and {} had not when the dumps were written", ahead_words(*account, front),
                    members_phrase(*account, front.behind));
    if (front.unknown.empty()) return words;
    return words + fmt::format("; of {} there is no dump to compare",
                               members_phrase(*account, front.unknown));
  }
  return {};
}

/// "ranks 0, 2 and 3 wait in collective 43 of process group default_pg (4 ranks), AllReduce of 8
/// Float, which rank 1 had not entered when its dump was written".
std::string hold_up_words(const HoldUp& first, const std::vector<int>& ranks) {
  const CallAccount& account = *first.account;
  const LedgerCall* call = nullptr;
  for (const LedgerRank& rank : account.ranks) {
    if (call == nullptr || call->entry == nullptr) call = rank.call(first.number);
  }
  const bool is_shown = call != nullptr && call->entry != nullptr;
  const std::string what = fmt::format("collective {} of {}{}", first.number, group_words(account),
                                       is_shown ? ", " + placed_words(*call->entry) : "");
  const std::string who = ranks_phrase(ranks);
  const std::string others = members_phrase(account, first.others);
  switch (first.by) {
    case HeldBy::NotEntered:
      return fmt::format("{} had not entered {}, in which {} waited", who, what, others);
    case HeldBy::BehindOnGpu:
      return fmt::format("on the GPU of {} {} was still open, which {} had completed", who, what,
                         others);
    case HeldBy::NoDump:
      break;
  }
  return fmt::format("{} left no dump, and {} waited in {}", who, others, what);
}

/// By dumps alone, who holds the others up.
FactValue recorder_holds_up(const Job& job, const Instance&) {
  const RecorderMoment& moment = recorder_moment(job);
  // Those of one group, call and reason in one sentence.
  std::map<std::tuple<HeldBy, std::string, uint64_t>, std::vector<const HoldUp*>> reasons;
  for (const HoldUp& held : moment.hold_ups) {
    reasons[{held.by, held.account->group, held.number}].push_back(&held);
  }
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (const auto& [key, all] : reasons) {
    std::vector<int> ranks;
    for (const HoldUp* held : all) ranks.push_back(held->rank);
    phrases.push_back(hold_up_words(*all.front(), ranks));
    const CallAccount& account = *all.front()->account;
    const LedgerRank& other = member(account, all.front()->others.front());
    value.evidence.push_back(
        {other.dump->where,
         fmt::format("rank {}: collective {} {}", other.rank, all.front()->number,
                     all.front()->by == HeldBy::BehindOnGpu ? "completed" : "not completed")});
    for (const LedgerRank& rank : account.ranks) {
      const bool is_named = std::ranges::find(ranks, rank.rank) != ranks.end();
      if (!is_named || rank.dump == nullptr) continue;
      value.evidence.push_back(
          {rank.dump->where,
           rank.calls.empty()
               ? fmt::format("rank {}: no call", rank.rank)
               : fmt::format("rank {}: last collective {}, {}", rank.rank, rank.calls.back().number,
                             rank.is_idle ? "completed" : "not completed")});
    }
    for (const int rank : ranks) blame(process_of_rank(job, rank), rank, value);
  }
  if (phrases.empty()) return unknown();
  value.what = few_of(phrases, kMostNamed, "; ");
  const bool says_absent = moment.hold_ups.front().by != HeldBy::NoDump && !moment.absent.empty();
  if (says_absent) {
    value.what += fmt::format("; {} left no dump to compare", ranks_phrase(moment.absent));
  }
  return value;
}

/// Ranks left several dumps, and their counts grew.
FactValue recorder_moves(const Job& job, const Instance&) {
  const std::vector<int>& moved = recorder_moment(job).moved;
  if (moved.empty()) return unknown();
  return yes(fmt::format("{} made more calls from one dump to the next", ranks_phrase(moved)));
}

FactValue as_fact(const Job& job, const CallVerdict& verdict) {
  FactValue value =
      yes("by the Flight Recorder's dumps, " + verdict_words(job, verdict), verdict_dumps(verdict));
  // A dump's ranks are PyTorch's; they are the job's only where a dump was tied to a process.
  std::set<int> tied;
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    if (dump.process >= 0) tied.insert(dump.rank);
  }
  for (const int rank : ranks_of(*verdict.account, verdict.named)) {
    blame(tied.contains(rank) ? process_of_rank(job, rank) : -1, rank, value);
  }
  // Watchdogs that gave up on that call say so in the logs.
  const bool is_of_all = is_default_group(verdict.account->group);
  for (const TimedOutWork& work : timed_out_work(job)) {
    const bool is_it = is_of_all && is_default_group(work.group) && verdict.number > 0;
    if (is_it && std::cmp_equal(work.seq, verdict.number)) value.evidence.push_back(work.line);
  }
  if (verdict.account->communicator >= 0) {
    value.communicator = nth_communicator(job, verdict.account->communicator).id;
  }
  return value;
}

/// What lines and dumps say, and how that goes together.
struct Verdicts {
  const CallVerdict& dumps;
  /// Of lines: Nothing also where they say something that dumps are not asked about.
  VerdictKind kind = VerdictKind::Nothing;
  FactValue lines = {};            ///< unknown: they say nothing, or the dumps do not.
  std::optional<bool> agree = {};  ///< nullopt: unclear.
};

std::optional<bool> agreement(const Job& job, const Verdicts& both) {
  const CallVerdict& dumps = both.dumps;
  // About the ranks of one communicator.
  const bool are_about_the_same =
      dumps.account->communicator >= 0 &&
      both.lines.communicator == nth_communicator(job, dumps.account->communicator).id;
  if (both.kind == VerdictKind::Nothing || !are_about_the_same) return std::nullopt;
  const std::set<int> by_lines = named_ranks(job, both.lines);
  const std::vector<int> named = ranks_of(*dumps.account, dumps.named);
  const std::set<int> by_dumps(named.begin(), named.end());
  if (by_lines == by_dumps) {
    // A rank that calls something else later was late when the dumps were written.
    const bool compatible = both.kind == dumps.kind ||
                            (both.kind == VerdictKind::Mismatch && dumps.kind == VerdictKind::Late);
    return compatible ? std::optional(true) : std::nullopt;
  }
  if (!by_lines.empty() && !by_dumps.empty()) return false;
  const bool entered_after_all =
      both.kind == VerdictKind::Late && dumps.kind == VerdictKind::Entered;
  return entered_after_all ? std::optional(false) : std::nullopt;
}

CallVerdict verdict_of_dumps(const Job& job) { return verdict_of(job, CallSource::Recorder); }

Verdicts verdicts(const Job& job, const Instance& instance) {
  constexpr std::pair<std::string_view, VerdictKind> kLines[] = {
      {"job.collectives_mismatched", VerdictKind::Mismatch},
      {"job.rank_missing_in_collective", VerdictKind::Late},
      {"job.collective_order_inverted", VerdictKind::Nothing},
      {"job.messages_unmatched", VerdictKind::Nothing},
      {"job.collectives_all_entered", VerdictKind::Entered},
  };
  Verdicts both{.dumps = job.answers.of<&verdict_of_dumps>(job)};
  if (both.dumps.kind == VerdictKind::Nothing) return both;
  for (const auto& [fact, kind] : kLines) {
    FactValue value = find_fact(fact)->ask(job, instance);
    if (!is_yes(value)) continue;
    both.kind = kind;
    both.lines = std::move(value);
    break;
  }
  both.agree = agreement(job, both);
  return both;
}

/// The dumps' own answer, where the lines leave it open. That all made the same calls is open, too:
/// a line does not say when it was written, and the dumps may be older.
template <VerdictKind kind>
FactValue dumps_alone(const Job& job, const Instance& instance) {
  const Verdicts both = verdicts(job, instance);
  const bool is_open =
      !is_yes(both.lines) || (both.kind == VerdictKind::Entered && kind == VerdictKind::Late);
  return both.dumps.kind == kind && is_open ? as_fact(job, both.dumps) : unknown();
}

/// Behind what the lines say, in the same sentence.
FactValue recorder_behind(const Job& job, const Instance& instance) {
  const std::string words = behind_words(job);
  if (words.empty()) return unknown();
  const bool lines_tell = is_yes(find_fact("job.rank_behind")->ask(job, instance));
  return yes(fmt::format("{}by the Flight Recorder's dumps, {}", lines_tell ? "; " : "", words));
}

std::string listed(const std::set<int>& ranks) {
  return ranks.empty() ? "nobody" : ranks_phrase({ranks.begin(), ranks.end()});
}

FactValue recorder_agrees(const Job& job, const Instance& instance) {
  const auto [dumps, kind, lines, agree] = verdicts(job, instance);
  if (agree != true) return unknown();
  if (kind == dumps.kind) {
    return yes(fmt::format(". The Flight Recorder's dumps say the same of {}", place_words(dumps)));
  }
  return yes(fmt::format(". When the Flight Recorder's dumps were written, {} had not made {} yet",
                         members_phrase(*dumps.account, dumps.named), place_words(dumps)));
}

FactValue recorder_contradicts(const Job& job, const Instance& instance) {
  const auto [dumps, kind, lines, agree] = verdicts(job, instance);
  if (agree != false) return no();
  const std::vector<int> named = ranks_of(*dumps.account, dumps.named);
  return yes(fmt::format("the lines of calls point at {} ({}), the Flight Recorder's dumps at {} "
                         "({})",
                         listed(named_ranks(job, lines)), lines.what,
                         listed({named.begin(), named.end()}), verdict_words(job, dumps)),
             verdict_dumps(dumps));
}

/// "the log of rank 3 shows 17 collectives of communicator 0x9c…, its dump 29".
FactValue log_lacks_calls(const Job& job, const Instance&) {
  AnswerParts parts;
  for (const ShortLog& log : short_logs(job)) {
    // A log that shows none at all need not have had COLL among its subsystems.
    if (log.shown == 0) continue;
    const std::string witness =
        log.by == CallSource::Recorder
            ? fmt::format("its dump {}", log.made)
            : fmt::format("and a watchdog saw number {} completed", log.made);
    parts.words.push_back(fmt::format("the log of {} shows {} collectives of {}, {}",
                                      waiter_words(job, {log.process, -1}), log.shown,
                                      communicator_words(job, log.communicator), witness));
    parts.evidence.push_back(last_line(job, log.process));
  }
  return parts.answer(no(), "; ", kMostNamed);
}

// What does PyTorch's own analysis of Flight Recorder dumps say, where people have kept that alone?
//
//   Not all ranks joining collective, sequence number: 41
//   group info: 0:default_pg
//   collective: nccl:all_reduce
//   missing ranks: {3}
//   expected ranks: {0, 1, 2, 3}
//   collective state: scheduled
//   collective stack trace:
//    evaluate at /srv/sft/sft.py:30
//       → lacking: "rank 3 has no record of collective 41 of default_pg, all_reduce, in which ranks
//         0-2 waited (evaluate, sft.py:30)", names rank 3
//   Collective sequence number: 41 has errors
//   error msg: Culprit rank 1; Error type: COLLECTIVE_TYPE_MISMATCH, Expected collective type: …
//       → mismatch
//
// From torch/distributed/flight_recorder. It takes the first rank's call for the right one, so of two
// ranks either may be odd, and a missing record may be a dump that was written early or lost its
// oldest calls. So few are named where many differ from them, and nobody who waits in another group.

constexpr std::string_view kDigits = "0123456789";

/// A collective as the analysis describes it.
struct AnalysedCall {
  bool lacks = false;  ///< Not all ranks joined it; else they differ in it.
  int64_t number = -1;
  std::string group;  ///< "0:default_pg"; empty: not printed.
  std::string op;     ///< "all_reduce"
  std::string state;  ///< On the ranks that have it: "scheduled", "started", "completed".
  std::string error;
  std::string caller;  ///< "evaluate, sft.py:30": the innermost frame that is not PyTorch's.
  std::set<int> missing;
  std::set<int> expected;  ///< Empty: only counted.
  std::vector<Evidence> lines;

  std::vector<int> present() const {
    std::vector<int> ranks;
    std::ranges::set_difference(expected, missing, std::back_inserter(ranks));
    return ranks;
  }
  /// "collective 41 of default_pg, all_reduce".
  std::string words() const {
    const size_t colon = group.find(':');
    std::string name = colon == group.npos ? group : group.substr(colon + 1);
    if (!name.empty() && name != "default_pg" && colon != group.npos) {
      name += fmt::format(" (group {})", group.substr(0, colon));
    }
    return fmt::format("collective {}{}{}", number, name.empty() ? "" : " of " + name,
                       op.empty() ? "" : ", " + op);
  }
};

/// "{0, 1, 2}"; a count alone names nobody.
std::set<int> ranks_of_set(std::string_view list) {
  std::set<int> ranks;
  if (!list.starts_with('{')) return ranks;
  for (const std::string_view word : split(list.substr(1), ',')) {
    const auto rank = parse_int(trim(word.substr(0, word.find('}'))));
    if (rank && *rank >= 0 && *rank <= INT32_MAX) ranks.insert(static_cast<int>(*rank));
  }
  return ranks;
}

/// What stands behind "missing ranks: "; nullopt: another property.
std::optional<std::string_view> value_behind(std::string_view text, std::string_view key) {
  const bool is_it = text.starts_with(key) && text.substr(key.size()).starts_with(": ");
  return is_it ? std::optional(trim(text.substr(key.size() + 2))) : std::nullopt;
}

void add_detail(std::string_view text, const Record& record, AnalysedCall& call) {
  if (const auto group = value_behind(text, "group info")) call.group = printable(*group);
  if (const auto op = value_behind(text, "collective"))
    call.op = printable(op->substr(op->find(':') + 1));
  if (const auto state = value_behind(text, "collective state")) call.state = printable(*state);
  if (const auto all = value_behind(text, "expected ranks")) call.expected = ranks_of_set(*all);
  const auto missing = value_behind(text, "missing ranks");
  const auto error = value_behind(text, "error msg");
  if (missing) call.missing = ranks_of_set(*missing);
  if (error) call.error = printable(*error);
  if (missing || error) call.lines.push_back(evidence_of(record));
  // "evaluate at /srv/sft.py:30"
  const size_t at = text.find(" at ");
  const bool is_own = at != text.npos && text.find(": ") == text.npos &&
                      text.find("torch/") == text.npos && call.caller.empty();
  if (is_own) {
    const std::string_view file = text.substr(at + 4);
    call.caller =
        printable(fmt::format("{}, {}", text.substr(0, at), file.substr(file.rfind('/') + 1)));
  }
}

/// Of all processes that printed one, as the lines came.
std::vector<AnalysedCall> find_analysed_calls(const Job& job) {
  std::vector<AnalysedCall> calls;
  for (const SpeakerLog& log : job.logs) {
    if (!log.stack_lines) continue;
    bool is_open = false;
    for (const Record record : *log.stack_lines) {
      const std::string line = record.text();
      const StackLine read = parse_stack_line(line, parse_prefix(line).length);
      if (read.kind != StackLine::Kind::Analysis) continue;
      const bool lacks = read.text.starts_with("Not all ranks joining");
      if (!lacks && !read.text.starts_with("Collective ") &&
          !read.text.starts_with("Input/output mismatch")) {
        if (is_open) add_detail(read.text, record, calls.back());
        continue;
      }
      const std::string_view number =
          read.text.substr(std::min(read.text.find_first_of(kDigits), read.text.size()));
      calls.push_back({.lacks = lacks});
      calls.back().number =
          parse_int(number.substr(0, number.find_first_not_of(kDigits))).value_or(-1);
      calls.back().lines.push_back(evidence_of(record));
      is_open = true;
    }
  }
  return calls;
}

/// The first call of each group that `counts`: what follows it differs because of that.
template <typename Counts>
std::vector<const AnalysedCall*> first_of_groups(const Job& job, Counts counts) {
  std::map<std::string_view, const AnalysedCall*> first;
  for (const AnalysedCall& call : job.answers.of<&find_analysed_calls>(job)) {
    if (!counts(call)) continue;
    const AnalysedCall*& known = first[call.group];
    if (known == nullptr || call.number < known->number) known = &call;
  }
  std::vector<const AnalysedCall*> calls;
  for (const auto& [group, call] : first) calls.push_back(call);
  std::ranges::sort(calls, {}, [](const auto* call) { return call->lines.front().where; });
  return calls;
}

std::string lacking_words(const AnalysedCall& call) {
  const std::vector<int> missing(call.missing.begin(), call.missing.end());
  const std::vector<int> present = call.present();
  const std::string others = present.empty() ? "the others" : ranks_phrase(present);
  const std::string caller = call.caller.empty() ? "" : fmt::format(" ({})", call.caller);
  return fmt::format("{} {} no record of {}, {} {}{}", ranks_phrase(missing),
                     missing.size() == 1 ? "has" : "have", call.words(),
                     call.state == "completed" ? "which" : "in which",
                     others + (call.state == "completed" ? " completed" : " waited"), caller);
}

/// Which ranks an error's text calls the odd ones.
std::set<int> culprits_in(std::string_view error) {
  constexpr std::string_view kCulprit = "Culprit rank ";
  std::set<int> ranks;
  for (size_t at = error.find(kCulprit); at != error.npos; at = error.find(kCulprit, at + 1)) {
    const std::string_view rest = error.substr(at + kCulprit.size());
    const auto rank = parse_int(rest.substr(0, rest.find_first_not_of(kDigits)));
    if (rank && *rank <= INT32_MAX) ranks.insert(static_cast<int>(*rank));
  }
  return ranks;
}

/// "input sizes '[[4]]' instead of '[[8]]'" of the first error, "Expected input sizes: '[[8]]' does
/// not match found input sizes: '[[4]]'".
std::string first_error(std::string_view error) {
  constexpr std::string_view kExpected = "Expected ";
  constexpr std::string_view kFound = " does not match found ";
  const size_t begin = error.find(kExpected);
  const size_t found = error.find(kFound);
  if (begin == error.npos || found == error.npos || found < begin) return std::string(error);
  const auto parts = [](std::string_view text) {
    const size_t colon = std::min(text.find(": "), text.size());
    return std::pair(text.substr(0, colon), text.substr(std::min(colon + 2, text.size())));
  };
  const auto [what, expected] =
      parts(error.substr(begin + kExpected.size(), found - begin - kExpected.size()));
  std::string_view rest = error.substr(found + kFound.size());
  rest = rest.substr(0, rest.find(", Culprit rank "));
  const std::string of = what == "collective type" ? "" : std::string(what) + " ";
  return fmt::format("{}{} instead of {}", of, parts(rest).second, expected);
}

/// Ranks lack a record of a collective in which others are; unknown: nothing says so.
FactValue analysis_lacking(const Job& job, const Instance&) {
  const auto calls = first_of_groups(job, [](const auto& call) { return !call.missing.empty(); });
  if (calls.empty()) return unknown();
  FactValue value = yes({});
  std::vector<std::string> phrases;
  std::set<int> named;
  std::set<int> waiting;
  for (const AnalysedCall* call : calls) {
    phrases.push_back(lacking_words(*call));
    value.evidence.insert(value.evidence.end(), call->lines.begin(), call->lines.end());
    const std::vector<int> present = call->present();
    waiting.insert(present.begin(), present.end());
    if (are_few(call->missing.size(), present.size())) {
      named.insert(call->missing.begin(), call->missing.end());
    }
  }
  for (const int rank : named) {
    if (!waiting.contains(rank)) blame(process_of_rank(job, rank), rank, value);
  }
  value.what = few_of(phrases, kMostNamed, "; ");
  return value;
}

/// Ranks called different things by one number; unknown: nothing says so. States that differ, as
/// between dumps of different moments, are none.
FactValue analysis_mismatch(const Job& job, const Instance&) {
  const auto calls = first_of_groups(job, [](const AnalysedCall& call) {
    const bool is_state = call.error.find("_MISMATCH") != std::string::npos &&
                          call.error.find("COLLECTIVE_TYPE_") == std::string::npos &&
                          call.error.find("SIZE_OR_") == std::string::npos &&
                          call.error.find("_DTYPE_") == std::string::npos;
    return !call.lacks && !is_state;
  });
  if (calls.empty()) return unknown();
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (const AnalysedCall* call : calls) {
    const std::set<int> odd = culprits_in(call->error);
    const std::string who = ranks_phrase({odd.begin(), odd.end()});
    phrases.push_back(fmt::format(
        "ranks differ in {}{}", call->words(),
        call->error.empty()
            ? ", in the sums of its input and output sizes"
            : fmt::format(": {}{}", who.empty() ? "" : who + " ", first_error(call->error))));
    value.evidence.insert(value.evidence.end(), call->lines.begin(), call->lines.end());
    const size_t others = call->expected.size() - std::min(odd.size(), call->expected.size());
    if (others < 2 || !are_few(odd.size(), others)) continue;
    for (const int rank : odd) blame(process_of_rank(job, rank), rank, value);
  }
  value.what = few_of(phrases, kMostNamed, "; ");
  return value;
}

constexpr std::array kRecorderFacts = {
    // PyTorch's own analysis of dumps says that ranks lack a collective in which others are.
    comparing_fact("job.analysis_lacking", analysis_lacking),
    // It says that ranks called different things by one number.
    comparing_fact("job.analysis_mismatch", analysis_mismatch),
    // By dumps of the Flight Recorder, two ranks wait in messages for each other.
    comparing_fact("job.recorder_circle", recorder_circle),
    // All ranks wait in one collective, and by dumps of the Flight Recorder one of them sent and
    // received less before it than the others did with it.
    comparing_fact("job.recorder_messages_short", recorder_messages_short),
    // A dump of the Flight Recorder, or what watchdogs saw completed, proves more calls
    // of a rank than its log shows.
    job_fact("job.log_lacks_calls", log_lacks_calls),
    // Dumps of the Flight Recorder say the same as the lines of calls; `what` is a
    // sentence to put behind another.
    job_fact("job.recorder_agrees", recorder_agrees),
    // By dumps of the Flight Recorder, some ranks had not made a call that others had.
    job_fact("job.recorder_behind", recorder_behind),
    // Dumps of the Flight Recorder name other ranks than the lines of calls do.
    job_fact("job.recorder_contradicts", recorder_contradicts),
    // By dumps of the Flight Recorder alone, all ranks waited for those that are named.
    comparing_fact("job.recorder_holds_up", recorder_holds_up),
    // Somebody waited until a limit, or `ncclog run` saw that nothing moved, and by dumps
    // of the Flight Recorder a rank that waits for nobody did not make a call that the
    // others made; lines of calls leave it open.
    job_fact("job.recorder_late", dumps_alone<VerdictKind::Late>),
    // By dumps of the Flight Recorder, ranks made different calls at one place; lines of
    // calls leave it open.
    job_fact("job.recorder_mismatch", dumps_alone<VerdictKind::Mismatch>),
    // Ranks left several dumps of the Flight Recorder, and made calls between them.
    job_fact("job.recorder_moves", recorder_moves),
};

}  // namespace

std::span<const Fact> recorder_facts() { return kRecorderFacts; }

}  // namespace ncclog
