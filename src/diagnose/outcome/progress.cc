#include "diagnose/outcome/progress.h"

#include <map>

#include "diagnose/facts/line_places.h"

namespace ncclog {
namespace {

/// Some calls follow a program's last words: a barrier, a checkpoint that is gathered.
constexpr uint64_t kFarewellCalls = 64;

/// Adds places before which lines have work behind them.
void add_work(const Job& job, const CommSegment& segment, LinePlaces& places) {
  places.add(job, segment.started);
  const CollectiveCalls& calls = calls_of(segment);
  if (calls.total <= kFarewellCalls) return;
  places.add(job, calls.first);
  if (calls.collectives.size() < kFarewellCalls) return;
  const PlacedCall* call = calls.collectives.call(calls.collectives.size() - kFarewellCalls);
  if (call != nullptr) places.add(job, call->where);
}

}  // namespace

bool prints_steps(const Job& job) {
  return std::ranges::any_of(job.clocks, [](const InputClock& clock) { return clock.total > 0; });
}

bool shows_progress(const Job& job) {
  const auto goes_on = [](const InputClock& clock) {
    return clock.total > clock.markers.size() ||
           std::ranges::any_of(clock.markers,
                               [](const Marker& marker) { return marker.step != 0; });
  };
  return std::ranges::any_of(job.clocks, goes_on) ||
         std::ranges::any_of(job.nccl_tests,
                             [](const NcclTestsRun& run) { return !run.rows.empty(); });
}

static LinePlaces find_launcher_failures(const Job& job) { return kept_places<ChildFailed>(job); }

bool launcher_failed_between(const Job& job, SourceRef from, SourceRef to) {
  return job.answers.of<&find_launcher_failures>(job).any_between(job, from, to);
}

/// Of each input, the third to last step.
static LinePlaces find_third_last_steps(const Job& job) {
  LinePlaces places;
  for (const InputClock& clock : job.clocks) places.add(job, clock.last.front());
  places.sort();
  return places;
}

bool steps_follow(const Job& job, SourceRef where) {
  const LinePlaces& steps = job.answers.of<&find_third_last_steps>(job);
  return std::ranges::any_of(steps.all_after(job, where), [&](const auto& step) {
    return !launcher_failed_between(job, where, step.second);
  });
}

/// Behind which there is work.
static LinePlaces find_work(const Job& job) {
  LinePlaces places;
  for (const SpeakerLog& log : job.logs) {
    for (const Record& step : log.records.kept(kKindIndex<IterationLine>))
      places.add(job, step.where);
    for (const CommSegment& segment : log.comms.all) add_work(job, segment, places);
  }
  places.sort();
  return places;
}

bool work_follows(const Job& job, SourceRef where) {
  return steps_follow(job, where) || job.answers.of<&find_work>(job).after(job, where) > 0;
}

/// Where tests of nccl-tests begin, and the lines.
static std::pair<LinePlaces, std::map<SourceRef, Record>> find_test_begins(const Job& job) {
  std::pair<LinePlaces, std::map<SourceRef, Record>> begins;
  for (const SpeakerLog& log : job.logs) {
    for (const Record record : log.benchmarks->kept) {
      if (record.kind() != kKindIndex<NcclTestsConfig>) continue;
      begins.first.add(job, record.where);
      begins.second.emplace(record.where, record);
    }
  }
  begins.first.sort();
  return begins;
}

bool is_between_tests(const Job& job, SourceRef where) {
  const LinePlaces& begins = job.answers.of<&find_test_begins>(job).first;
  return begins.after(job, where) > 0 && begins.before(job, where) > 0;
}

std::optional<Evidence> test_begun_after(const Job& job, SourceRef where) {
  const auto& [places, lines] = job.answers.of<&find_test_begins>(job);
  const auto later = places.all_after(job, where);
  if (later.empty()) return std::nullopt;
  return evidence_of(lines.at(later.back().second));
}

}  // namespace ncclog
