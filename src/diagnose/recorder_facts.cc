// What the Flight Recorder's dumps add to what the call lines say.
//
//   no call lines                                 → the dumps name the late rank themselves
//   both name rank 5 at the same place            → "the Flight Recorder's dumps say the same: …"
//   the lines name rank 5, the dumps name rank 2  → a contradiction: both versions, nobody is
//   blamed

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "diagnose/call_words.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/recorder_verdict.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

bool is_yes(const FactValue& value) {
  const bool* yes = std::get_if<bool>(&value.value);
  return yes != nullptr && *yes;
}

/// What the lines of calls say; Late and Mismatch as the recorder's verdict has them.
struct LinesVerdict {
  RecordedKind kind = RecordedKind::Nothing;
  FactValue fact;
  bool says_something = false;  ///< Also of something that dumps are not asked about.
};

LinesVerdict lines_verdict(const Job& job, const Instance& instance) {
  struct Row {
    std::string_view fact;
    RecordedKind kind;
  };
  constexpr Row kRows[] = {
      {"job.collectives_mismatched", RecordedKind::Mismatch},
      {"job.rank_missing_in_collective", RecordedKind::Late},
      {"job.collective_order_inverted", RecordedKind::Nothing},
      {"job.messages_unmatched", RecordedKind::Nothing},
      {"job.collectives_all_entered", RecordedKind::Entered},
  };
  for (const Row& row : kRows) {
    FactValue value = find_fact(row.fact)->derive(job, instance);
    if (is_yes(value)) return {row.kind, std::move(value), true};
  }
  return {};
}

std::set<int> named_ranks(const Job& job, const FactValue& value) {
  std::set<int> ranks(value.ranks.begin(), value.ranks.end());
  for (const int process : value.processes) {
    ranks.insert(job.processes[static_cast<size_t>(process)].rank);
  }
  return ranks;
}

FactValue as_fact(const Job& job, const RecorderVerdict& verdict) {
  FactValue value = yes("by the Flight Recorder's dumps, " + verdict.what, verdict.dumps);
  for (const int rank : verdict.named) {
    const int process = process_of_rank(job, rank);
    // A dump's ranks are PyTorch's; they are the job's only where a dump was tied to a process.
    const bool is_the_jobs =
        std::any_of(job.flight_recorders.begin(), job.flight_recorders.end(),
                    [&](const auto& dump) { return dump.process >= 0 && dump.rank == rank; });
    if (process >= 0 && is_the_jobs) {
      value.processes.push_back(process);
    } else {
      value.ranks.push_back(rank);
    }
  }
  if (verdict.communicator >= 0) {
    value.communicator = job.communicators[static_cast<size_t>(verdict.communicator)].id;
  }
  return value;
}

/// The dumps' own answer, where the lines leave it open. That all made the same calls is open, too:
/// a line does not say when it was written, and the dumps may be older.
FactValue dumps_alone(const Job& job, const Instance& instance, RecordedKind kind) {
  if (job.flight_recorders.empty()) return unknown();
  const RecorderVerdict verdict = recorder_verdict(job);
  if (verdict.kind != kind) return unknown();
  const LinesVerdict lines = lines_verdict(job, instance);
  const bool open = !lines.says_something ||
                    (lines.kind == RecordedKind::Entered && verdict.kind == RecordedKind::Late);
  return open ? as_fact(job, verdict) : unknown();
}

FactValue recorder_late(const Job& job, const Instance& instance) {
  return dumps_alone(job, instance, RecordedKind::Late);
}

FactValue recorder_mismatch(const Job& job, const Instance& instance) {
  return dumps_alone(job, instance, RecordedKind::Mismatch);
}

/// Behind what the lines say, in the same sentence.
FactValue recorder_behind(const Job& job, const Instance& instance) {
  const std::string words = recorded_behind_words(job);
  if (words.empty()) return unknown();
  const bool lines_tell = is_yes(find_fact("job.rank_behind")->derive(job, instance));
  return yes(fmt::format("{}by the Flight Recorder's dumps, {}", lines_tell ? "; " : "", words));
}

/// True if both are about the ranks of one communicator.
bool about_the_same(const Job& job, const LinesVerdict& lines, const RecorderVerdict& dumps) {
  return dumps.communicator >= 0 &&
         lines.fact.communicator == job.communicators[static_cast<size_t>(dumps.communicator)].id;
}

enum class Agreement { Unclear, Agree, Contradict };

Agreement agreement(const Job& job, const LinesVerdict& lines, const RecorderVerdict& dumps) {
  if (dumps.kind == RecordedKind::Nothing || lines.kind == RecordedKind::Nothing ||
      !about_the_same(job, lines, dumps)) {
    return Agreement::Unclear;
  }
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

std::string listed(const std::set<int>& ranks) {
  return ranks.empty() ? "nobody" : ranks_phrase({ranks.begin(), ranks.end()});
}

FactValue recorder_agrees(const Job& job, const Instance& instance) {
  if (job.flight_recorders.empty()) return unknown();
  const RecorderVerdict dumps = recorder_verdict(job);
  if (dumps.kind == RecordedKind::Nothing) return unknown();
  const LinesVerdict lines = lines_verdict(job, instance);
  if (agreement(job, lines, dumps) != Agreement::Agree) return unknown();
  const bool was_late = lines.kind == RecordedKind::Mismatch && dumps.kind == RecordedKind::Late;
  if (was_late) {
    return yes(
        fmt::format(". When the Flight Recorder's dumps were written, {} had not made {} yet",
                    ranks_phrase(dumps.named), dumps.place));
  }
  return yes(fmt::format(". The Flight Recorder's dumps say the same of {}", dumps.place));
}

FactValue recorder_contradicts(const Job& job, const Instance& instance) {
  if (job.flight_recorders.empty()) return no();
  const RecorderVerdict dumps = recorder_verdict(job);
  if (dumps.kind == RecordedKind::Nothing) return no();
  const LinesVerdict lines = lines_verdict(job, instance);
  if (agreement(job, lines, dumps) != Agreement::Contradict) return no();
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
  constexpr size_t kMostTold = 4;
  std::vector<ShortLog> logs = short_logs(job);
  // A log that shows none at all need not have had COLL among its subsystems.
  std::erase_if(logs, [](const ShortLog& log) { return log.shown == 0; });
  if (logs.empty()) return no();
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (const ShortLog& log : logs) {
    if (phrases.size() == kMostTold) break;
    phrases.push_back(short_log_words(job, log));
    const Process& process = job.processes[static_cast<size_t>(log.process)];
    value.evidence.push_back({process.last, process.last_text});
  }
  value.what = join(phrases, "; ");
  if (logs.size() > kMostTold)
    value.what += fmt::format("; and {} more logs", logs.size() - kMostTold);
  return value;
}

constexpr std::array kFacts = {
    Fact{"job.log_lacks_calls", Scope::Job, FactType::Bool,
         "A dump of the Flight Recorder, or what watchdogs saw completed, proves more calls of a "
         "rank than its log shows.",
         log_lacks_calls},
    Fact{"job.recorder_agrees", Scope::Job, FactType::Bool,
         "Dumps of the Flight Recorder say the same as the lines of calls; `what` is a sentence to "
         "put behind another.",
         recorder_agrees},
    Fact{"job.recorder_behind", Scope::Job, FactType::Bool,
         "By dumps of the Flight Recorder, some ranks had not made a call that others had.",
         recorder_behind},
    Fact{"job.recorder_contradicts", Scope::Job, FactType::Bool,
         "Dumps of the Flight Recorder name other ranks than the lines of calls do.",
         recorder_contradicts},
    Fact{"job.recorder_late", Scope::Job, FactType::Bool,
         "Somebody waited until a limit, and by dumps of the Flight Recorder a rank that waits for "
         "nobody did not make a call that the others made; lines of calls leave it open.",
         recorder_late},
    Fact{"job.recorder_mismatch", Scope::Job, FactType::Bool,
         "By dumps of the Flight Recorder, ranks made different calls at one place; lines of calls "
         "leave it open.",
         recorder_mismatch},
};

}  // namespace

std::span<const Fact> recorder_facts() { return kFacts; }

}  // namespace ncclog
