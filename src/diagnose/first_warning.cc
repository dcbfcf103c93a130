#include "diagnose/first_warning.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "diagnose/fact_answers.h"

namespace ncclog {
namespace {

constexpr size_t kMostBytes = 160;

bool has_warnings(const Kind& kind) {
  return std::any_of(kind.wordings.begin(), kind.wordings.end(),
                     [&](const Wording& wording) { return warning_of(kind, wording) != nullptr; });
}

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
void consider(const Record& record, std::optional<ExplainedWarning>& best) {
  const Event event = parse_record(record);
  const Warning* warning = warning_of(event);
  if (warning == nullptr) return;
  const bool nearer = !best || std::tuple(distance(*warning), record.where) <
                                   std::tuple(distance(best->warning), best->line.where);
  if (nearer) best = {evidence_of(record), shortened(event.header.message), *warning};
}

}  // namespace

std::optional<ExplainedWarning> first_warning(const Job& job) {
  std::optional<ExplainedWarning> best;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      if (!has_warnings(all_kinds()[kind])) continue;
      for (const Record& record : list.kept) consider(record, best);
    }
  }
  return best;
}

bool reports_own_failure(const Job& job, const Process& process) {
  const auto is_own_failure = [](const Record& record) {
    const Warning* warning = warning_of(parse_record(record));
    return warning != nullptr && warning->severity == WarnSeverity::Fatal &&
           warning->origin != WarnOrigin::Symptom;
  };
  return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t log) {
    const auto& records = job.logs[log].records;
    return std::any_of(records.begin(), records.end(), [&](const auto& entry) {
      const auto& [kind, list] = entry;
      return has_warnings(all_kinds()[kind]) &&
             std::any_of(list.kept.begin(), list.kept.end(), is_own_failure);
    });
  });
}

}  // namespace ncclog
