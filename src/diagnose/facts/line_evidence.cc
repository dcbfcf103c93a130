#include "diagnose/facts/line_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "log/event.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "log/wording/other_programs.h"

namespace ncclog {
namespace {

/// Calls of the sequence before a place.
CallBounds calls_before(const CallSequence& calls, SourceRef where) {
  const uint64_t from = calls.kept_from();
  uint64_t low = from;
  uint64_t high = calls.size();
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    (calls.call(middle)->where < where ? low : high) = middle + (calls.call(middle)->where < where);
  }
  if (from == 0 || low > from) return {low, low};
  CallBounds bounds{0, from};
  for (const CallCheckpoint& point : calls.checkpoints()) {
    if (point.index > from) break;
    if (point.where < where) {
      bounds.at_least = std::min(point.index + 1, from);
    } else {
      bounds.at_most = std::min(bounds.at_most, point.index);
      break;
    }
  }
  return bounds;
}

}  // namespace

bool are_ordered(const Job& job, SourceRef a, SourceRef b) {
  if (a.unit == b.unit) return true;
  const JobUnit* first = unit_of(job, a);
  const JobUnit* second = unit_of(job, b);
  return first != nullptr && second != nullptr && first->input == second->input;
}

std::optional<CallBounds> calls_between(const Job& job, int process, SourceRef from, SourceRef to) {
  const Process& speaker = nth_process(job, process);
  if (speaker.torn || speaker.restarted || job.losses.count(Loss::LineLeftOut) > 0) {
    return std::nullopt;
  }
  bool any = false;
  CallBounds sum;
  for (const size_t log : speaker.logs) {
    if (!job.logs[log].unplaced.empty()) return std::nullopt;
    for (const CommSegment& segment : job.logs[log].comms.all) {
      const CollectiveCalls& calls = calls_of(segment);
      if (calls.total == 0) continue;
      if (!are_ordered(job, calls.first, from) || !are_ordered(job, calls.last, from)) {
        return std::nullopt;
      }
      any = true;
      const CallBounds before = calls_before(calls.collectives, from);
      const CallBounds until = calls_before(calls.collectives, to);
      sum.at_least += until.at_least - std::min(until.at_least, before.at_most);
      sum.at_most += until.at_most - before.at_least;
    }
  }
  return any ? std::optional(sum) : std::nullopt;
}

std::optional<int64_t> nanoseconds_between(std::string_view from, std::string_view to) {
  const LineTime a = time_of_line(from);
  const LineTime b = time_of_line(to);
  if (!a.known() || !b.known() || a.has_zone != b.has_zone) return std::nullopt;
  if (a.year != b.year && a.year != 0 && b.year != 0) return std::nullopt;
  if (b.nanoseconds < a.nanoseconds) return std::nullopt;
  return b.nanoseconds - a.nanoseconds;
}

namespace {

Proof gap(const Job& job, int process, std::string_view what) {
  Instance instance{Scope::Process, {process}, {}, -1, -1};
  return {false, fmt::format("{}: {}", name_of(job, instance), what)};
}

/// What NCCL prints while it makes its first communicator, whatever the job does afterwards.
bool belongs_to_init(const Kind& kind) {
  if (kind.source != Source::Nccl) return false;
  switch (kind.subsystem) {
    case Subsystem::Init:
    case Subsystem::Env:
    case Subsystem::Net:
    case Subsystem::Bootstrap:
    case Subsystem::Graph:
    case Subsystem::Nvls:
      return true;
    default:
      return false;
  }
}

/// Every wording is a WARN, which any NCCL_DEBUG prints that prints at all.
bool is_warning(const Kind& kind) {
  return std::all_of(kind.wordings.begin(), kind.wordings.end(),
                     [&](const Wording& wording) { return warning_of(wording) != nullptr; });
}

bool speaks_for_framework(const Job& job, const Process& process) {
  return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t log) {
    return std::any_of(
        job.logs[log].records.begin(), job.logs[log].records.end(),
        [](const auto& entry) { return all_kinds()[entry.first].source == Source::Framework; });
  });
}

/// Its kind of line would be in the log.
bool would_show(const Job& job, const Process& process, const Kind& kind) {
  if (kind.source == Source::Framework) return speaks_for_framework(job, process);
  if (kind.source != Source::Nccl || !process.has_nccl) return false;
  return is_warning(kind) || process.subsystems.test(static_cast<size_t>(kind.subsystem));
}

bool finished_an_init(const Job& job, const Process& process) {
  return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t log) {
    const auto& all = job.logs[log].comms.all;
    return std::any_of(all.begin(), all.end(), [](const CommSegment& segment) {
      return segment.started.line != 0 && segment.completed.line != 0;
    });
  });
}

bool has_unknown_lines(const Job& job, const Process& process) {
  return std::any_of(process.logs.begin(), process.logs.end(),
                     [&](size_t log) { return job.logs[log].unrecognised.total > 0; });
}

/// Kinds of the initialisation of which the process printed no line before `where` and one behind
/// it. Only there all processes take the same steps in the same order.
std::set<uint16_t> kinds_begun_after(const Job& job, const PrintedBy& line) {
  std::set<uint16_t> kinds;
  for (const size_t log : nth_process(job, line.process).logs) {
    for (const auto& [kind, list] : job.logs[log].records) {
      if (list.kept.empty() || !belongs_to_init(all_kinds()[kind])) continue;
      const SourceRef first = list.kept.front().where;
      if (line.where < first && are_ordered(job, line.where, first)) kinds.insert(kind);
    }
  }
  return kinds;
}

/// The process printed a line of a kind that everybody else begins behind the line in question.
bool came_past(const Job& job, const Process& process, const std::vector<PrintedBy>& others) {
  if (others.empty()) return false;
  std::set<uint16_t> later = kinds_begun_after(job, others.front());
  for (const PrintedBy& other : others) {
    const std::set<uint16_t> of_next = kinds_begun_after(job, other);
    std::erase_if(later, [&](uint16_t kind) { return !of_next.contains(kind); });
  }
  return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t log) {
    const auto& records = job.logs[log].records;
    return std::any_of(later.begin(), later.end(),
                       [&](uint16_t kind) { return records.contains(kind); });
  });
}

/// Ranks that the layout line of a communicator counts on the host; nullopt: none is printed.
std::optional<int> ranks_of_host(const Job& job, const Instance& host) {
  std::optional<int> most;
  for (const int process : host.processes) {
    for (const size_t log : nth_process(job, process).logs) {
      for (const CommSegment& segment : job.logs[log].comms.all) {
        if (segment.local_ranks > 0) most = std::max(most.value_or(0), segment.local_ranks);
      }
    }
  }
  return most;
}

size_t processes_with_nccl(const Job& job, const Instance& instance) {
  return static_cast<size_t>(
      std::count_if(instance.processes.begin(), instance.processes.end(),
                    [&](int process) { return nth_process(job, process).has_nccl; }));
}

Proof all_ranks_of(const Communicator& communicator) {
  if (communicator.nranks <= 0) return {false, "how many ranks there are is not printed"};
  std::vector<int> unseen;
  for (const CommRank& rank : communicator.ranks) {
    if (rank.process < 0) unseen.push_back(rank.rank);
  }
  const bool listed = communicator.ranks.size() == static_cast<size_t>(communicator.nranks);
  if (unseen.empty() && listed) return {true, {}};
  if (unseen.empty()) return {false, "not all ranks are known"};
  return {false, fmt::format("no line of rank{} {} is there", unseen.size() == 1 ? "" : "s",
                             ranges_text(unseen))};
}

Proof all_of_job(const Job& job) {
  if (job.communicators.empty()) return {false, "how many ranks there are is not printed"};
  return all_ranks_of(job.communicators.front());
}

}  // namespace

Proof silence_proves(const Job& job, int process, const Kind* kind,
                     const std::vector<PrintedBy>& others) {
  const Process& speaker = nth_process(job, process);
  if (speaker.torn) {
    return gap(job, process, speaker.cut ? "its log is cut" : "its lines are torn or in doubt");
  }
  if (speaker.restarted) return gap(job, process, "its pid may have had two lives");
  if (job.losses.count(Loss::LineLeftOut) > 0) return {false, "Ray left lines out"};
  if (kind != nullptr && !would_show(job, speaker, *kind)) {
    return gap(job, process, "nothing shows that such lines were logged");
  }
  const bool may_be_placed = kind == nullptr ? !speaker.cut : belongs_to_init(*kind);
  if (may_be_placed && came_past(job, speaker, others)) return {true, {}};
  if (kind == nullptr) return gap(job, process, "where such a line would stand is not known");
  if (others.empty() && has_unknown_lines(job, speaker)) {
    return gap(job, process, "it printed lines that ncclog does not know");
  }
  if (speaker.cut) return gap(job, process, "its log is cut");
  if (!belongs_to_init(*kind) || finished_an_init(job, speaker)) return {true, {}};
  return gap(job, process, "it shows no whole initialisation");
}

Proof all_are_there(const Job& job, const Instance& instance) {
  switch (instance.scope) {
    case Scope::Job:
      return all_of_job(job);
    case Scope::Communicator:
      return all_ranks_of(nth_communicator(job, instance.communicator));
    case Scope::Host: {
      const auto ranks = ranks_of_host(job, instance);
      if (ranks && processes_with_nccl(job, instance) >= static_cast<size_t>(*ranks)) {
        return {true, {}};
      }
      return all_of_job(job);
    }
    default:
      return {true, {}};
  }
}

namespace {

constexpr uint64_t kFarthest = 400;  ///< Lines between the phase's output and what came of it.
/// The same where training lines were too many to keep, so that some may stand between unseen.
constexpr uint64_t kFarthestUnseen = 40;

/// The last kept line of one kind before a place in the same stretch of input.
struct LastBefore {
  const Record* record = nullptr;
  bool full = false;  ///< Later lines of the kind may exist that were not kept.
};

template <typename T>
LastBefore last_before(const Job& job, SourceRef where) {
  LastBefore last;
  for (const SpeakerLog& log : job.logs) {
    const RecordList* list = log.records.find(kKindIndex<T>);
    if (list == nullptr) continue;
    last.full |= list->full;
    for (const Record& record : list->kept) {
      if (record.where.unit != where.unit || !(record.where < where)) continue;
      if (last.record == nullptr || last.record->where < record.where) last.record = &record;
    }
  }
  return last;
}

/// A bar's title, or the line itself.
std::string title_of(const Record& record) {
  const Event event = parse_record(record);
  const std::string_view text = trim(event.header.message);
  const TqdmBar bar = parse_progress_bar(text);
  return to_valid_utf8(bar.length > 0 ? bar.title : text.substr(0, 80));
}

}  // namespace

std::optional<Phase> rare_phase_before(const Job& job, const Evidence& line) {
  const std::string_view title = parse_header(line.text).prefix.progress_title;
  if (is_eval_title(title)) return Phase{std::string(title), line};

  const LastBefore rare = last_before<EvalProgress>(job, line.where);
  if (rare.record == nullptr) return std::nullopt;
  const LastBefore bar = last_before<ProgressBar>(job, line.where);
  const LastBefore step = last_before<IterationLine>(job, line.where);
  for (const LastBefore& training : {bar, step}) {
    if (training.record != nullptr && rare.record->where < training.record->where) {
      return std::nullopt;
    }
  }
  const uint64_t distance = line.where.line - rare.record->where.line;
  const uint64_t farthest = bar.full || step.full ? kFarthestUnseen : kFarthest;
  if (distance > farthest && !rare.full) return std::nullopt;
  return Phase{title_of(*rare.record), evidence_of(*rare.record)};
}

namespace {

constexpr std::string_view kNames[] = {"init", "run", "end", "evaluation"};

bool is_known(SourceRef where) { return where.line != 0; }

/// The lives of the process's communicators, if all of them can be ordered against `where`.
std::optional<std::vector<const CommSegment*>> lives(const Job& job, const Process& process,
                                                     SourceRef where) {
  const JobUnit* unit = unit_of(job, where);
  if (unit == nullptr || process.torn) return std::nullopt;
  std::vector<const CommSegment*> result;
  for (const size_t log : process.logs) {
    for (const CommSegment& segment : job.logs[log].comms.all) {
      const SourceRef at = is_known(segment.started) ? segment.started : segment.completed;
      const JobUnit* own = is_known(at) ? unit_of(job, at) : nullptr;
      if (own == nullptr || own->input != unit->input) return std::nullopt;
      result.push_back(&segment);
    }
  }
  if (result.empty()) return std::nullopt;
  return result;
}

/// Whether that communicator was being made; up to 2.18.1 no line tells when that began.
std::optional<bool> is_being_made(const CommSegment& life, SourceRef where) {
  if (is_known(life.completed) && life.completed < where) return false;
  if (is_known(life.ended) && life.ended < where) return false;
  if (!is_known(life.completed) && is_known(life.calls.first) && life.calls.first < where) {
    return std::nullopt;
  }
  if (is_known(life.started)) return life.started < where || life.started == where;
  return std::nullopt;
}

std::optional<bool> is_init(const std::vector<const CommSegment*>& lives, SourceRef where) {
  const bool any_up = std::any_of(lives.begin(), lives.end(), [&](const CommSegment* life) {
    return is_known(life->completed) && life->completed < where;
  });
  std::optional<bool> answer = false;
  for (const CommSegment* life : lives) {
    const auto made = is_being_made(*life, where);
    if (made == true) return true;
    if (!made) answer = std::nullopt;
  }
  // Where no communicator is up yet, the process is on its way to the first.
  const bool waits = std::all_of(lives.begin(), lives.end(), [&](const CommSegment* life) {
    return !is_known(life->calls.first) || where < life->calls.first;
  });
  return !any_up && waits ? true : answer;
}

bool is_over(const CommSegment& life, SourceRef where) {
  return is_known(life.ended) && (life.ended < where || life.ended == where);
}

}  // namespace

std::span<const std::string_view> life_phase_names() { return kNames; }

std::optional<bool> is_in_phase(const Job& job, int process, const Evidence& line,
                                LifePhase phase) {
  if (phase == LifePhase::Evaluation) {
    return rare_phase_before(job, line) ? std::optional(true) : std::nullopt;
  }
  const auto of_process = lives(job, nth_process(job, process), line.where);
  if (!of_process) return std::nullopt;
  const bool over = std::all_of(of_process->begin(), of_process->end(),
                                [&](const auto* life) { return is_over(*life, line.where); });
  if (phase == LifePhase::End) return over;
  const auto init = is_init(*of_process, line.where);
  if (phase == LifePhase::Init || !init) return init;
  return !*init && !over;
}

}  // namespace ncclog
