#include "diagnose/first_warning.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr size_t kMostBytes = 160;

/// Lower is nearer to a cause.
int distance(const Warning& warning) {
  const bool symptom = warning.origin == WarnOrigin::Symptom;
  switch (warning.severity) {
    case WarnSeverity::Fatal:
      return symptom ? 1 : 0;
    case WarnSeverity::Degraded:
      return 2;
    default:
      return 3;
  }
}

std::string shortened(std::string_view message) {
  message = trim(message);
  if (message.size() <= kMostBytes) return printable(message);
  return printable(to_valid_utf8(message.substr(0, kMostBytes))) + "…";
}

/// Takes the place of `best` if the record is a WARN that is nearer to a cause.
void consider(const SpeakerLog& log, const Record& record, std::optional<ExplainedWarning>& best) {
  const Event event = parse_record(record);
  const Warning* stated = warning_of(event);
  if (stated == nullptr) return;
  Warning warning = *stated;
  if (warning.severity == WarnSeverity::Fatal && is_outlived_in_init(log, record)) {
    warning.severity = WarnSeverity::Degraded;
  }
  const bool nearer = !best || std::tuple(distance(warning), record.where) <
                                   std::tuple(distance(best->warning), best->line.where);
  if (nearer) best = {evidence_of(record), shortened(event.header.message), warning};
}

/// The first line of that kind which the thread printed after `since` and `wanted` accepts.
template <typename Wanted>
std::optional<SourceRef> next_of(const SpeakerLog& log, uint16_t kind, int64_t tid, SourceRef since,
                                 Wanted wanted) {
  const RecordList* list = log.records.find(kind);
  if (list == nullptr) return std::nullopt;
  for (const Record& record : list->kept) {
    if (record.where.unit != since.unit || record.where <= since) continue;
    const Event event = parse_record(record);
    if (event.header.tid == tid && wanted(event)) return record.where;
  }
  return std::nullopt;
}

}  // namespace

bool has_warnings(const Kind& kind) {
  return std::any_of(kind.wordings.begin(), kind.wordings.end(),
                     [&](const Wording& wording) { return warning_of(wording) != nullptr; });
}

bool is_outlived_in_init(const SpeakerLog& log, const Record& warning) {
  const int64_t tid = parse_record(warning).header.tid;
  if (tid < 0) return false;
  const auto any = [](const Event&) { return true; };
  const auto completes = [](const Event& event) {
    return read_message<CommInit>(event.message).phase == "COMPLETE";
  };
  std::optional<SourceRef> progress;
  const auto note = [&](std::optional<SourceRef> where) {
    if (where && (!progress || *where < *progress)) progress = where;
  };
  for (const uint16_t kind : {kKindIndex<RingMembers>, kKindIndex<RingNeighbours>,
                              kKindIndex<Trees>, kKindIndex<TreeNeighbours>}) {
    note(next_of(log, kind, tid, warning.where, any));
  }
  note(next_of(log, kKindIndex<CommInit>, tid, warning.where, completes));
  if (!progress) return false;
  const auto error = next_of(log, kKindIndex<ErrorTrace>, tid, warning.where, any);
  return !error || *progress < *error;
}

std::optional<ExplainedWarning> first_warning(const Job& job) {
  std::optional<ExplainedWarning> best;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      if (!has_warnings(all_kinds()[kind])) continue;
      for (const Record& record : list.kept) consider(log, record, best);
    }
  }
  return best;
}

bool reports_own_failure(const Job& job, const Process& process) {
  return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t index) {
    const SpeakerLog& log = job.logs[index];
    const auto is_own_failure = [&](const Record& record) {
      const Warning* warning = warning_of(parse_record(record));
      return warning != nullptr && warning->severity == WarnSeverity::Fatal &&
             warning->origin != WarnOrigin::Symptom && !is_outlived_in_init(log, record);
    };
    return std::any_of(log.records.begin(), log.records.end(), [&](const auto& entry) {
      const auto& [kind, list] = entry;
      return has_warnings(all_kinds()[kind]) &&
             std::any_of(list.kept.begin(), list.kept.end(), is_own_failure);
    });
  });
}

}  // namespace ncclog
