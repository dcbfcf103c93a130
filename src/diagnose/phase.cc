#include "diagnose/phase.h"

#include <algorithm>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "log/foreign_lines.h"
#include "log/messages.h"

namespace ncclog {
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

}  // namespace ncclog
