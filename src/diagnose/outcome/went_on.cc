// Did the job go on after a line?

#include <map>

#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/first_failure.h"
#include "model/derive/steps.h"

namespace ncclog {
namespace {

/// By input and id, where somebody first began each communicator there.
using CommBegins = std::map<std::pair<int64_t, uint64_t>, SourceRef>;

CommBegins first_begins(const Job& job) {
  CommBegins begins;
  for (const SpeakerLog& log : job.logs) {
    for (const CommSegment& segment : log.comms.all) {
      for (const SourceRef where : {segment.started, segment.completed}) {
        if (segment.comm_id == 0 || where.line == 0) continue;
        const std::pair key(input_of(job, where), segment.comm_id);
        const auto [known, is_new] = begins.emplace(key, where);
        if (!is_new) known->second = std::min(known->second, where);
      }
    }
  }
  return begins;
}

/// Initialisations that complete after `where` and were begun after it. A launcher may hold back
/// what its tasks print, and then others had begun the same communicator before.
size_t count_new_inits(const Job& job, SourceRef where) {
  const CommBegins& begins = job.answers.of<&first_begins>(job);
  const int64_t input = input_of(job, where);
  const auto is_early = [&](const CommSegment& each) {
    return is_before(job, each.started, where) || is_before(job, each.completed, where);
  };
  const auto is_older = [&](const CommSegment& each) {
    const auto begin = begins.find({input, each.comm_id});
    return begin != begins.end() && begin->second < where;
  };
  size_t lines = 0;
  for (const SpeakerLog& log : job.logs) {
    const auto& all = log.comms.all;
    const bool is_held_back =
        std::ranges::none_of(all, is_early) && std::ranges::any_of(all, is_older);
    for (const CommSegment& segment : all) {
      if (is_held_back || is_older(segment) || is_early(segment)) continue;
      // Who only begins one may wait in it for who failed.
      lines += is_before(job, where, segment.completed);
    }
  }
  return lines;
}

bool steps_go_on(const Job& job, SourceRef where) {
  if (steps_follow(job, where)) return true;
  constexpr size_t kSteps = 3;
  size_t steps = 0;
  size_t inits = 0;
  for (const SpeakerLog& log : job.logs) {
    for (const uint16_t kind :
         {kKindIndex<IterationLine>, kKindIndex<ProgressBar>, kKindIndex<CommInit>}) {
      size_t& lines = kind == kKindIndex<CommInit> ? inits : steps;
      for (const Record& record : log.records.kept(kind)) {
        lines += is_before(job, where, record.where);
        if (steps >= kSteps) return true;
      }
    }
  }
  // Asked about many lines, behind most of which there are none at all.
  return steps + inits >= kSteps && steps + count_new_inits(job, where) >= kSteps;
}

/// Every rank of the largest communicator goes on calling. Some calls prove nothing: the host runs
/// ahead of a peer that is gone.
bool calls_go_on(const Job& job, SourceRef where) {
  constexpr uint64_t kCalls = 64;
  const auto largest = std::ranges::max_element(
      job.communicators, {}, [](const Communicator& comm) { return comm.ranks.size(); });
  if (largest == job.communicators.end() || largest->ranks.empty()) return false;
  return std::ranges::all_of(largest->ranks, [&](const CommRank& rank) {
    const CollectiveCalls* calls = calls_of(job, rank);
    if (calls == nullptr || calls->collectives.size() < kCalls) return false;
    const PlacedCall* call = calls->collectives.call(calls->collectives.size() - kCalls);
    return call != nullptr && is_before(job, where, call->where);
  });
}

/// Some rows of a table of nccl-tests were measured, by the test that the line may be about.
bool rows_go_on(const Job& job, SourceRef where) {
  constexpr std::ptrdiff_t kRows = 3;
  return !is_between_tests(job, where) &&
         std::ranges::any_of(job.nccl_tests, [&](const NcclTestsRun& run) {
           return std::ranges::count_if(run.rows, [&](const NcclTestsRow& row) {
                    return is_before(job, where, row.where);
                  }) >= kRows;
         });
}

}  // namespace

bool went_on(const Job& job, SourceRef where) {
  return steps_go_on(job, where) || calls_go_on(job, where) || rows_go_on(job, where);
}

}  // namespace ncclog
