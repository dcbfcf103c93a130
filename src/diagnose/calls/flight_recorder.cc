#include "diagnose/calls/flight_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/calls/diverged.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/watchdog.h"
#include "diagnose/outcome/stop_evidence.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

std::string_view function_of(const FlightRecorderEntry& entry) {
  const std::string_view name = name_of(recorded_operation(entry.profiling_name));
  return name.empty() ? entry.profiling_name : name;
}

std::string_view dtype_of(const FlightRecorderEntry& entry) {
  for (const auto* list : {&entry.input_dtypes, &entry.output_dtypes}) {
    if (!list->empty()) return list->front();
  }
  return {};
}

/// What all ranks have to agree on. -1: they need not, or the dump does not say. Views the entry.
struct AgreedCall {
  std::string_view function;
  int64_t in = -1;
  int64_t out = -1;
  std::string_view dtype;

  auto operator<=>(const AgreedCall&) const = default;
};

AgreedCall agreed_call(const FlightRecorderEntry& entry) {
  AgreedCall call{function_of(entry), -1, -1, dtype_of(entry)};
  constexpr std::string_view kMayDiffer[] = {"_oop", "sparse"};
  if (holds_one_of(entry.profiling_name, kMayDiffer)) return call;
  const AgreedSizes agreed = agreed_sizes(find_recorded_alias(entry.profiling_name));
  if (agreed.in) call.in = element_count(entry.input_sizes);
  if (agreed.out) call.out = element_count(entry.output_sizes);
  return call;
}

/// A rank that is known, with its call of one number.
struct Caller {
  int rank = -1;
  const FlightRecorderEntry* call = nullptr;
  AgreedCall agreed;
};

/// What a dump does not say of one rank is compared on none.
void drop_unsaid(std::vector<Caller>& callers) {
  const auto drop_where_any = [&](auto member, const auto& nothing) {
    const auto unsaid = [&](const Caller& caller) { return caller.agreed.*member == nothing; };
    if (std::ranges::none_of(callers, unsaid)) return;
    for (Caller& caller : callers) caller.agreed.*member = nothing;
  };
  drop_where_any(&AgreedCall::in, -1);
  drop_where_any(&AgreedCall::out, -1);
  drop_where_any(&AgreedCall::dtype, std::string_view());
}

/// All made the same call.
bool made_the_same(const std::vector<Caller>& callers) {
  return std::ranges::all_of(
      callers, [&](const Caller& caller) { return caller.agreed == callers.front().agreed; });
}

/// The ranks that made call `number`. Empty, if one of `ranks` must have and its dump lacks it.
std::vector<Caller> callers_of(const RecordedGroup& group, int64_t number) {
  std::vector<Caller> callers;
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump == nullptr || rank.enqueued < number) continue;
    const FlightRecorderEntry* call = rank.call(number);
    if (call == nullptr) return {};
    callers.push_back({rank.rank, call, agreed_call(*call)});
  }
  drop_unsaid(callers);
  return callers;
}

/// The numbers mean the same calls on all ranks there: it is the beginning, or the call before is
/// the same on all, after as many operations.
bool is_anchored(const RecordedGroup& group, int64_t number) {
  if (number == 1) return true;
  const std::vector<Caller> before = callers_of(group, number - 1);
  return !before.empty() && made_the_same(before) &&
         std::ranges::all_of(before, [&](const Caller& caller) {
           return caller.call->op_id == before.front().call->op_id;
         });
}

RecordedDifference make_difference(int64_t number, const std::vector<Caller>& callers) {
  std::map<AgreedCall, std::map<int, const FlightRecorderEntry*>> by_call;
  for (const Caller& caller : callers) by_call[caller.agreed][caller.rank] = caller.call;
  RecordedDifference difference{number, camps_of(by_call), {}};
  std::vector<Caller> first_two;
  for (const size_t c : {0, 1}) {
    const FlightRecorderEntry* call = difference.camps[c].call;
    first_two.push_back({-1, call, agreed_call(*call)});
  }
  drop_unsaid(first_two);
  const AgreedCall& a = first_two[0].agreed;
  const AgreedCall& b = first_two[1].agreed;
  std::vector<std::string> fields;
  if (a.function != b.function) fields.emplace_back("function");
  if (a.in != b.in || a.out != b.out) fields.emplace_back("size");
  if (a.dtype != b.dtype) fields.emplace_back("dtype");
  difference.fields = join(fields, ", ");
  return difference;
}

/// The numbers that two ranks or more hold: from, to.
std::pair<int64_t, int64_t> compared_numbers(const RecordedGroup& group) {
  int64_t from = 1;
  std::vector<int64_t> ends;
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump == nullptr || rank.calls.empty()) continue;
    from = std::max(from, rank.calls.front()->collective_seq_id);
    ends.push_back(rank.enqueued);
  }
  std::sort(ends.rbegin(), ends.rend());
  return {from, ends.size() < 2 ? 0 : std::min(ends[1], from + (int64_t{1} << 20))};
}

/// The first collective of a group that some ranks called and others did not.
struct RecordedFront {
  int64_t number = 0;                         ///< c10d's, 1 is the group's first collective.
  std::vector<int> ahead;                     ///< Global ranks that called it; sorted.
  std::vector<int> behind;                    ///< Those whose dumps end before it.
  std::vector<int> unknown;                   ///< Those without a dump that can be compared.
  const FlightRecorderEntry* call = nullptr;  ///< That of the first rank ahead.
  std::vector<int> idle;  ///< Those behind that have no call open, on any group.
};

/// nullopt if nobody is behind, or if it cannot be told.
std::optional<RecordedFront> recorded_front(const RecordedGroup& group) {
  if (!group.is_numbered_alike) return std::nullopt;
  int64_t least = INT64_MAX;
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump != nullptr) least = std::min(least, rank.enqueued);
  }
  if (least == INT64_MAX) return std::nullopt;
  RecordedFront front{.number = least + 1};
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump == nullptr) {
      front.unknown.push_back(rank.rank);
    } else if (rank.enqueued > least) {
      const FlightRecorderEntry* call = rank.call(front.number);
      // It does not wait in that call, whoever lacks it.
      if (call == nullptr || !is_open(*call)) return std::nullopt;
      if (front.call == nullptr) front.call = call;
      front.ahead.push_back(rank.rank);
    } else {
      // It waits in an earlier call itself.
      if (rank.completed < rank.enqueued) return std::nullopt;
      front.behind.push_back(rank.rank);
      if (rank.is_idle) front.idle.push_back(rank.rank);
    }
  }
  if (front.ahead.empty() || !is_anchored(group, front.number)) return std::nullopt;
  return front;
}

/// "train.py:54"; empty: the dump has no stacks.
std::string frame_words(const FlightRecorderEntry& call) {
  if (call.frame.file.empty() || call.frame.line < 0) return {};
  return fmt::format("{}:{}", printable(call.frame.file), call.frame.line);
}

/// "AllReduce of 1048576 Float": valid UTF-8.
std::string recorded_words(const FlightRecorderEntry& call) {
  int64_t elements = element_count(call.input_sizes);
  if (elements < 0) elements = element_count(call.output_sizes);
  std::string words = to_valid_utf8(function_of(call));
  if (elements >= 0) words += fmt::format(" of {} {}", elements, to_valid_utf8(dtype_of(call)));
  return words;
}

/// "AllReduce of 1048576 Float, at train.py:54".
std::string placed_words(const FlightRecorderEntry& call) {
  const std::string place = frame_words(call);
  return recorded_words(call) + (place.empty() ? place : ", at " + place);
}

/// "process group default_pg (8 ranks)".
std::string group_words(const RecordedGroup& group) {
  const std::string& name = group.description.empty() ? group.name : group.description;
  return fmt::format("process group {} ({} ranks)", to_valid_utf8(name), group.ranks.size());
}

}  // namespace

std::optional<RecordedDifference> recorded_difference(const RecordedGroup& group) {
  if (!group.is_numbered_alike) return std::nullopt;
  const auto [from, to] = compared_numbers(group);
  for (int64_t number = from; number <= to; ++number) {
    const std::vector<Caller> callers = callers_of(group, number);
    if (callers.empty()) return std::nullopt;
    if (made_the_same(callers)) continue;
    // What differs and yet completed on all ranks is not what they wait in.
    const bool all_completed = std::ranges::all_of(callers, [](const Caller& caller) {
      return caller.call->state == RecordedState::Completed;
    });
    if (all_completed || !is_anchored(group, number)) return std::nullopt;
    return make_difference(number, callers);
  }
  return std::nullopt;
}

namespace {

/// A work without a group is of the group of all ranks.
bool is_of(const TimedOutWork& work, const RecordedGroup& group) {
  if (work.in_unnamed_group) return false;
  if (!is_default_group(work.group)) return work.group == group.name;
  return is_default_group(group.name) || group.description == "default_pg";
}

/// Somebody waited in that call until a limit: a line says so, or a watchdog is done with the call
/// although it is open. Limits elsewhere prove nothing: the dumps may have been asked for long
/// before. `ncclog run` asks for them once it has seen that nothing moves.
bool somebody_gave_up(const Job& job, const RecordedGroup& group, int64_t number) {
  const auto& stop = stop_evidence(job);
  return (stop && stop->by == StopBy::Watched) ||
         std::ranges::any_of(
             timed_out_work(job),
             [&](const TimedOutWork& work) { return work.seq == number && is_of(work, group); }) ||
         std::ranges::any_of(group.ranks, [&](const RecordedRank& rank) {
           const FlightRecorderEntry* call = rank.call(number);
           return call != nullptr && is_open(*call) && call->retired.value_or(false);
         });
}

/// Of a rank that has one.
const FlightRecorderDump& dump_of(const RecordedGroup& group, int rank) {
  return *std::ranges::find(group.ranks, rank, &RecordedRank::rank)->dump;
}

/// "ranks 0-4 called collective 29 of process group …, AllReduce of 8 Float, and wait".
std::string ahead_words(const RecordedGroup& group, const RecordedFront& front) {
  return fmt::format("{} called collective {} of {}, {}", ranks_phrase(front.ahead), front.number,
                     group_words(group), placed_words(*front.call));
}

std::string late_words(const Job& job, const RecordedGroup& group, const RecordedFront& front) {
  std::vector<std::string> names;
  for (const int rank : front.idle) {
    const int process = dump_of(group, rank).process;
    const int cuda_dev = process < 0 ? -1 : nth_process(job, process).cuda_dev;
    names.push_back(name_and_place(job, process, process < 0 ? rank : -1, cuda_dev));
  }
  return fmt::format(
      "{}; {} had completed the one before and called no more when its dump was written",
      ahead_words(group, front), few_of(names, kMostNamed, ", "), front.number - 1);
}

/// "collective 20 of process group default_pg (4 ranks), at train.py:54 and train.py:50".
std::string place_of(const RecordedGroup& group, int64_t number,
                     const std::vector<const FlightRecorderEntry*>& calls) {
  constexpr size_t kMostPlaces = 3;
  std::vector<std::string> places;
  for (const FlightRecorderEntry* call : calls) {
    const std::string place = frame_words(*call);
    const bool known = std::ranges::find(places, place) != places.end();
    if (!place.empty() && !known && places.size() < kMostPlaces) places.push_back(place);
  }
  return fmt::format("collective {} of {}{}{}", number, group_words(group),
                     places.empty() ? "" : ", at ", join(places, " and "));
}

/// What the dumps say of one collective of a group, which is `calls`.
RecorderVerdict verdict_of(RecordedKind kind, std::string what, const RecordedGroup& group,
                           int64_t number, const std::vector<const FlightRecorderEntry*>& calls) {
  return {.kind = kind,
          .what = std::move(what),
          .place = place_of(group, number, calls),
          .communicator = group.communicator,
          .number = number,
          .group = group.name};
}

RecorderVerdict late_verdict(const Job& job, const RecordedGroup& group,
                             const RecordedFront& front) {
  RecorderVerdict verdict = verdict_of(RecordedKind::Late, late_words(job, group, front), group,
                                       front.number, {front.call});
  verdict.named = front.idle;
  verdict.dumps = {
      {dump_of(group, front.ahead.front()).where,
       fmt::format("collective {}: {}, not completed", front.number, recorded_words(*front.call))},
      {dump_of(group, front.idle.front()).where,
       fmt::format("last collective {}, completed", front.number - 1)}};
  return verdict;
}

RecorderVerdict mismatch_verdict(const RecordedGroup& group, const RecordedDifference& difference) {
  const std::string words = camps_words(
      difference.camps, difference.fields,
      [](const RecordedCamp& camp) { return ranks_phrase(camp.members); },
      [](const FlightRecorderEntry* call) { return placed_words(*call); });
  std::vector<const FlightRecorderEntry*> calls;
  std::vector<Evidence> dumps;
  for (const RecordedCamp& camp : difference.camps) {
    calls.push_back(camp.call);
    dumps.push_back(
        {dump_of(group, camp.members.front()).where,
         fmt::format("collective {}: {}", difference.number, recorded_words(*camp.call))});
  }
  RecorderVerdict verdict = verdict_of(
      RecordedKind::Mismatch,
      fmt::format("collective {} of {}: {}", difference.number, group_words(group), words), group,
      difference.number, calls);
  verdict.named = outvoted(CallSource::Recorder, difference.camps, group.ranks.size());
  std::ranges::sort(verdict.named);
  verdict.dumps = std::move(dumps);
  return verdict;
}

std::vector<RecordedGroup> largest_first(std::vector<RecordedGroup> groups) {
  std::ranges::stable_sort(groups, std::greater{},
                           [](const RecordedGroup& group) { return group.ranks.size(); });
  return groups;
}

/// The call of the first rank if all have called as many, and the last of them is open on all;
/// nullptr if not.
const FlightRecorderEntry* call_of_all(const RecordedGroup& group) {
  if (!group.is_numbered_alike || group.ranks.empty()) return nullptr;
  const RecordedRank& first = group.ranks.front();
  const bool all_wait = std::ranges::all_of(group.ranks, [&](const RecordedRank& rank) {
    const FlightRecorderEntry* call = rank.call(first.enqueued);
    return rank.enqueued == first.enqueued && call != nullptr && is_open(*call);
  });
  return all_wait ? first.call(first.enqueued) : nullptr;
}

}  // namespace

RecorderVerdict recorder_verdict(const Job& job) {
  const std::vector<RecordedGroup> groups = largest_first(recorded_groups(job));
  for (const RecordedGroup& group : groups) {
    if (const auto difference = recorded_difference(group)) {
      return mismatch_verdict(group, *difference);
    }
  }
  if (groups.empty()) return {};
  for (const RecordedGroup& group : groups) {
    const auto front = recorded_front(group);
    if (!front || front->idle.empty() || !front->unknown.empty()) continue;
    // Where most ranks are behind, one has run ahead.
    if (!are_few(front->behind.size(), front->ahead.size())) continue;
    if (!somebody_gave_up(job, group, front->number)) continue;
    return late_verdict(job, group, *front);
  }
  const RecordedGroup& largest = groups.front();
  const FlightRecorderEntry* last = call_of_all(largest);
  if (last == nullptr) return {};
  const int64_t number = last->collective_seq_id;
  if (!somebody_gave_up(job, largest, number)) return {};
  return verdict_of(RecordedKind::Entered,
                    fmt::format("all {} ranks called collective {} of {}, {}", largest.ranks.size(),
                                number, group_words(largest), recorded_words(*last)),
                    largest, number, {last});
}

std::string recorded_behind_words(const Job& job) {
  for (const RecordedGroup& group : largest_first(recorded_groups(job))) {
    const auto front = recorded_front(group);
    if (!front) continue;
    std::string words = fmt::format("{}, and {} had not when the dumps were written",
                                    ahead_words(group, *front), ranks_phrase(front->behind));
    if (front->unknown.empty()) return words;
    return words + fmt::format("; of {} there is no dump to compare", ranks_phrase(front->unknown));
  }
  return {};
}

// What the Flight Recorder's dumps add to what the call lines say.
//
//   no call lines                                 → the dumps name the late rank themselves
//   both name rank 5 at the same place            → "the Flight Recorder's dumps say the same: …"
//   the lines name rank 5, the dumps name rank 2  → a contradiction: both versions, nobody is
//   blamed

namespace {

/// What the lines of calls say; Late and Mismatch as the recorder's verdict has them.
struct LinesVerdict {
  RecordedKind kind = RecordedKind::Nothing;
  FactValue fact;  ///< Also of something that dumps are not asked about; unknown: they say nothing.
};

LinesVerdict lines_verdict(const Job& job, const Instance& instance) {
  constexpr std::pair<std::string_view, RecordedKind> kRows[] = {
      {"job.collectives_mismatched", RecordedKind::Mismatch},
      {"job.rank_missing_in_collective", RecordedKind::Late},
      {"job.collective_order_inverted", RecordedKind::Nothing},
      {"job.messages_unmatched", RecordedKind::Nothing},
      {"job.collectives_all_entered", RecordedKind::Entered},
  };
  for (const auto& [fact, kind] : kRows) {
    FactValue value = find_fact(fact)->ask(job, instance);
    if (is_yes(value)) return {kind, std::move(value)};
  }
  return {};
}

std::set<int> named_ranks(const Job& job, const FactValue& value) {
  std::set<int> ranks(value.ranks.begin(), value.ranks.end());
  for (const int process : value.processes) {
    ranks.insert(nth_process(job, process).rank);
  }
  return ranks;
}

FactValue as_fact(const Job& job, const RecorderVerdict& verdict) {
  FactValue value = yes("by the Flight Recorder's dumps, " + verdict.what, verdict.dumps);
  for (const int rank : verdict.named) {
    // A dump's ranks are PyTorch's; they are the job's only where a dump was tied to a process.
    const bool is_the_jobs = std::ranges::any_of(job.flight_recorders, [&](const auto& dump) {
      return dump.process >= 0 && dump.rank == rank;
    });
    blame(is_the_jobs ? process_of_rank(job, rank) : -1, rank, value);
  }
  if (verdict.communicator >= 0) {
    value.communicator = nth_communicator(job, verdict.communicator).id;
  }
  return value;
}

enum class Agreement { Unclear, Agree, Contradict };

Agreement agreement(const Job& job, const LinesVerdict& lines, const RecorderVerdict& dumps) {
  // About the ranks of one communicator.
  const bool are_about_the_same =
      dumps.communicator >= 0 &&
      lines.fact.communicator == nth_communicator(job, dumps.communicator).id;
  if (lines.kind == RecordedKind::Nothing || !are_about_the_same) return Agreement::Unclear;
  const std::set<int> by_lines = named_ranks(job, lines.fact);
  const std::set<int> by_dumps(dumps.named.begin(), dumps.named.end());
  if (by_lines == by_dumps) {
    // A rank that calls something else later was late when the dumps were written.
    const bool compatible = lines.kind == dumps.kind || (lines.kind == RecordedKind::Mismatch &&
                                                         dumps.kind == RecordedKind::Late);
    return compatible ? Agreement::Agree : Agreement::Unclear;
  }
  if (!by_lines.empty() && !by_dumps.empty()) return Agreement::Contradict;
  const bool entered_after_all =
      lines.kind == RecordedKind::Late && dumps.kind == RecordedKind::Entered;
  return entered_after_all ? Agreement::Contradict : Agreement::Unclear;
}

/// What lines and dumps say, and how that goes together.
struct Verdicts {
  LinesVerdict lines;  ///< Only where the dumps say something.
  RecorderVerdict dumps;
  Agreement agreement = Agreement::Unclear;
};

Verdicts verdicts(const Job& job, const Instance& instance) {
  Verdicts both{.lines = {}, .dumps = recorder_verdict(job)};
  if (both.dumps.kind == RecordedKind::Nothing) return both;
  both.lines = lines_verdict(job, instance);
  both.agreement = agreement(job, both.lines, both.dumps);
  return both;
}

/// The dumps' own answer, where the lines leave it open. That all made the same calls is open, too:
/// a line does not say when it was written, and the dumps may be older.
template <RecordedKind kind>
FactValue dumps_alone(const Job& job, const Instance& instance) {
  const auto [lines, dumps, how] = verdicts(job, instance);
  const bool is_open =
      !is_yes(lines.fact) || (lines.kind == RecordedKind::Entered && kind == RecordedKind::Late);
  return dumps.kind == kind && is_open ? as_fact(job, dumps) : unknown();
}

/// Behind what the lines say, in the same sentence.
FactValue recorder_behind(const Job& job, const Instance& instance) {
  const std::string words = recorded_behind_words(job);
  if (words.empty()) return unknown();
  const bool lines_tell = is_yes(find_fact("job.rank_behind")->ask(job, instance));
  return yes(fmt::format("{}by the Flight Recorder's dumps, {}", lines_tell ? "; " : "", words));
}

std::string listed(const std::set<int>& ranks) {
  return ranks.empty() ? "nobody" : ranks_phrase({ranks.begin(), ranks.end()});
}

FactValue recorder_agrees(const Job& job, const Instance& instance) {
  const auto [lines, dumps, how] = verdicts(job, instance);
  if (how != Agreement::Agree) return unknown();
  if (lines.kind == dumps.kind) {
    return yes(fmt::format(". The Flight Recorder's dumps say the same of {}", dumps.place));
  }
  return yes(fmt::format(". When the Flight Recorder's dumps were written, {} had not made {} yet",
                         ranks_phrase(dumps.named), dumps.place));
}

FactValue recorder_contradicts(const Job& job, const Instance& instance) {
  const auto [lines, dumps, how] = verdicts(job, instance);
  if (how != Agreement::Contradict) return no();
  return yes(fmt::format("the lines of calls point at {} ({}), the Flight Recorder's dumps at {} "
                         "({})",
                         listed(named_ranks(job, lines.fact)), lines.fact.what,
                         listed({dumps.named.begin(), dumps.named.end()}), dumps.what),
             dumps.dumps);
}

/// "the log of rank 3 shows 17 collectives of communicator 0x9c…, its dump 29".
std::string short_log_words(const Job& job, const ShortLog& log) {
  const std::string witness = log.by == ShortBy::Dump
                                  ? fmt::format("its dump {}", log.made)
                                  : fmt::format("and a watchdog saw number {} completed", log.made);
  return fmt::format("the log of {} shows {} collectives of {}, {}",
                     waiter_words(job, {log.process, -1}), log.shown,
                     communicator_words(job, log.communicator), witness);
}

FactValue log_lacks_calls(const Job& job, const Instance&) {
  AnswerParts parts;
  for (const ShortLog& log : short_logs(job)) {
    // A log that shows none at all need not have had COLL among its subsystems.
    if (log.shown == 0) continue;
    parts.words.push_back(short_log_words(job, log));
    parts.evidence.push_back(last_line(job, log.process));
  }
  return parts.answer(no(), "; ", kMostNamed);
}

constexpr std::array kRecorderFacts = {
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
    // Somebody waited until a limit, or `ncclog run` saw that nothing moved, and by dumps
    // of the Flight Recorder a rank that waits for nobody did not make a call that the
    // others made; lines of calls leave it open.
    job_fact("job.recorder_late", dumps_alone<RecordedKind::Late>),
    // By dumps of the Flight Recorder, ranks made different calls at one place; lines of
    // calls leave it open.
    job_fact("job.recorder_mismatch", dumps_alone<RecordedKind::Mismatch>),
};

}  // namespace

std::span<const Fact> recorder_facts() { return kRecorderFacts; }

}  // namespace ncclog
