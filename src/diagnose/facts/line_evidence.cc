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
bool are_ordered(const Job& job, SourceRef a, SourceRef b) {
  if (a.unit == b.unit) return true;
  const JobUnit* first = unit_of(job, a);
  const JobUnit* second = unit_of(job, b);
  return first != nullptr && second != nullptr && first->input == second->input;
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
  const bool any_up = std::ranges::any_of(lives, [&](const CommSegment* life) {
    return is_known(life->completed) && life->completed < where;
  });
  std::optional<bool> answer = false;
  for (const CommSegment* life : lives) {
    const auto made = is_being_made(*life, where);
    if (made == true) return true;
    if (!made) answer = std::nullopt;
  }
  // Where no communicator is up yet, the process is on its way to the first.
  const bool waits = std::ranges::all_of(lives, [&](const CommSegment* life) {
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
