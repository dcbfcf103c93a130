// Which of NCCL's WARNs should be read first, and what does it mean?

#include <unordered_map>

#include "diagnose/outcome/first_failure.h"

namespace ncclog {
namespace {

/// Lower is nearer to a cause.
int distance(const Warning& warning) {
  if (warning.severity == WarnSeverity::Fatal) return warning.origin == WarnOrigin::Symptom ? 1 : 0;
  return warning.severity == WarnSeverity::Degraded ? 2 : 3;
}

/// The first line of that kind which the thread printed after `since` and `wanted` accepts.
template <typename Wanted>
std::optional<SourceRef> next_of(const SpeakerLog& log, uint16_t kind, int64_t tid, SourceRef since,
                                 Wanted wanted) {
  for (const Record& record : log.records.kept(kind)) {
    if (record.where.unit != since.unit || record.where <= since) continue;
    const Event event = parse_record(record);
    if (event.header.tid == tid && wanted(event)) return record.where;
  }
  return std::nullopt;
}

/// See ReportedWarning::outlived.
bool is_outlived_in_init(const SpeakerLog& log, const Record& warning) {
  const int64_t tid = parse_record(warning).header.tid;
  if (tid < 0) return false;
  const auto any = [](const Event&) { return true; };
  const auto completes = [](const Event& event) {
    return read_message<CommInit>(event.message).phase == "COMPLETE";
  };
  auto progress = next_of(log, kKindIndex<CommInit>, tid, warning.where, completes);
  for (const uint16_t kind : {kKindIndex<RingMembers>, kKindIndex<RingNeighbours>,
                              kKindIndex<Trees>, kKindIndex<TreeNeighbours>}) {
    const auto graph = next_of(log, kind, tid, warning.where, any);
    if (graph && (!progress || *graph < *progress)) progress = graph;
  }
  if (!progress) return false;
  const auto error = next_of(log, kKindIndex<ErrorTrace>, tid, warning.where, any);
  return !error || *progress < *error;
}

std::vector<ReportedWarning> find_warnings(const Job& job) {
  std::vector<ReportedWarning> warnings;
  const auto add = [&](size_t process, const SpeakerLog& log, const SettledRecords& all,
                       size_t place) {
    // Most lines of such kinds are no WARNs; only NCCL's have a level.
    if (all.is_below_warn(place)) return;
    const Record record = all[place];
    const Event event = parse_record(record);
    const Warning* stated = warning_of(event);
    if (stated == nullptr) return;
    ReportedWarning found{static_cast<int>(process), record, false, *stated};
    // RAS answers questions beside the job: no call waits for it.
    const bool is_beside = event.header.file.starts_with("ras/");
    found.outlived =
        stated->severity == WarnSeverity::Fatal && (is_beside || is_outlived_in_init(log, record));
    if (found.outlived) found.warning.severity = WarnSeverity::Degraded;
    warnings.push_back(found);
  };
  const std::vector<bool> warns = kinds_with_warnings();
  const std::vector<bool>& may_warn = logs_that_may_warn(job);
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      if (!may_warn[log]) continue;
      for (const auto& [kind, list] : job.logs[log].records) {
        if (!warns[kind]) continue;
        for (size_t place = list.kept.first_place(); place < list.kept.end_place(); ++place) {
          add(p, job.logs[log], *list.kept.all(), place);
        }
      }
    }
  }
  return warnings;
}

}  // namespace

const std::vector<ReportedWarning>& reported_warnings(const Job& job) {
  return job.answers.of<&find_warnings>(job);
}

std::vector<bool> kinds_with_warnings() {
  std::vector<bool> warns;
  for (const Kind& kind : all_kinds()) {
    warns.push_back(std::ranges::any_of(
        kind.wordings, [](const Wording& wording) { return warning_of(wording) != nullptr; }));
  }
  return warns;
}

static std::vector<bool> find_logs_that_may_warn(const Job& job) {
  const std::vector<bool> warns = kinds_with_warnings();
  std::unordered_map<const RecordLayout*, bool> known;  // Ranks that print alike share it.
  const auto may_warn = [&](const SettledRecords& records) {
    return std::ranges::any_of(records.layout().entries, [&](const RecordLayout::Entry& entry) {
      const auto place = [&](uint32_t i) { return entry.end - entry.kept + i; };
      uint32_t i = 0;
      while (warns[entry.key] && i < entry.kept && records.is_below_warn(place(i))) ++i;
      return warns[entry.key] && i < entry.kept;
    });
  };
  std::vector<bool> logs;
  for (const SpeakerLog& log : job.logs) {
    const SettledRecords* const all = log.records.all();
    if (all == nullptr) {
      logs.push_back(false);
      continue;
    }
    const auto [row, is_new] = known.try_emplace(&all->layout());
    if (is_new) row->second = may_warn(*all);
    logs.push_back(row->second);
  }
  return logs;
}

const std::vector<bool>& logs_that_may_warn(const Job& job) {
  return job.answers.of<&find_logs_that_may_warn>(job);
}

const ReportedWarning* first_warning(const Job& job) {
  const auto& all = reported_warnings(job);
  const auto first = std::ranges::min_element(all, {}, [](const ReportedWarning& each) {
    return std::pair(distance(each.warning), each.record.where);
  });
  return first == all.end() ? nullptr : &*first;
}

static std::vector<bool> find_own_failures(const Job& job) {
  std::vector<bool> fails(job.processes.size());
  for (const ReportedWarning& each : reported_warnings(job)) {
    if (each.is_own_failure()) fails[each.process] = true;
  }
  return fails;
}

bool reports_own_failure(const Job& job, const Process& process) {
  return job.answers.of<&find_own_failures>(job)[&process - job.processes.data()];
}

}  // namespace ncclog
