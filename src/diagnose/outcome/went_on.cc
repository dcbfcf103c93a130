// Did the job go on after a line?

#include <map>
#include <set>

#include "diagnose/facts/job_facts.h"
#include "diagnose/facts/line_places.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/progress.h"
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

/// Initialisations that complete after a line and were begun after it. A launcher may hold back what
/// its tasks print, and then others had begun the same communicator before.
class NewInits {
 public:
  explicit NewInits(const Job& job) {
    const CommBegins begins = first_begins(job);
    for (const SpeakerLog& log : job.logs) {
      std::set<int64_t> inputs;
      for (const CommSegment& segment : log.comms.all) {
        if (segment.completed.line != 0) inputs.insert(input_of(job, segment.completed));
      }
      for (const int64_t input : inputs) add(job, log.comms.all, input, begins);
    }
    counts_until_.sort();
    counts_from_.sort();
  }

  size_t after(const Job& job, SourceRef where) const {
    return counts_until_.after(job, where) - counts_from_.after(job, where);
  }

 private:
  static SourceRef next(SourceRef where) { return {where.unit, where.line + 1}; }

  /// Those of a process that complete in that input.
  void add(const Job& job, const std::vector<CommSegment>& all, int64_t input,
           const CommBegins& begins) {
    constexpr SourceRef kNever{UINT64_MAX, UINT64_MAX};
    const auto place = [&](SourceRef where) {
      return where.line != 0 && input_of(job, where) == input ? where : kNever;
    };
    const auto begun = [&](const CommSegment& each) {
      const auto begin = begins.find({input, each.comm_id});
      return begin == begins.end() ? kNever : begin->second;
    };
    SourceRef own = kNever;    // The first line of the process about any,
    SourceRef other = kNever;  // and of anybody about one of its own.
    for (const CommSegment& each : all) {
      own = std::min({own, place(each.started), place(each.completed)});
      other = std::min(other, begun(each));
    }
    for (const CommSegment& each : all) {
      const SourceRef completed = place(each.completed);
      if (completed == kNever) continue;
      const SourceRef first = std::min(place(each.started), begun(each));
      // Before any of that, or behind what the process did itself.
      const SourceRef until = first < completed ? next(first) : completed;
      const SourceRef held_back = std::min(until, next(other));
      if (other == kNever || own < held_back) {
        counts_until_.add(job, until);
      } else {
        counts_until_.add(job, held_back);
        if (own < until && next(own) < until) {
          counts_from_.add(job, next(own));
          counts_until_.add(job, until);
        }
      }
    }
  }

  LinePlaces counts_until_;  ///< Before which line each counts,
  LinePlaces counts_from_;   ///< and not before these.
};

LinePlaces find_steps(const Job& job) { return kept_places<IterationLine, ProgressBar>(job); }

LinePlaces find_inits(const Job& job) { return kept_places<CommInit>(job); }

NewInits find_new_inits(const Job& job) { return NewInits(job); }

bool steps_go_on(const Job& job, SourceRef where) {
  if (steps_follow(job, where)) return true;
  constexpr size_t kSteps = 3;
  const size_t steps = job.answers.of<&find_steps>(job).after(job, where);
  if (steps >= kSteps) return true;
  if (steps + job.answers.of<&find_inits>(job).after(job, where) < kSteps) return false;
  return steps + job.answers.of<&find_new_inits>(job).after(job, where) >= kSteps;
}

/// Behind which lines some ranks of the largest communicator do not go on calling; none where that
/// holds behind any. Some calls prove nothing: the host runs ahead of a peer that is gone.
std::vector<SourceRef> find_last_calls(const Job& job) {
  constexpr uint64_t kCalls = 64;
  const auto largest = std::ranges::max_element(
      job.communicators, {}, [](const Communicator& comm) { return comm.ranks.size(); });
  if (largest == job.communicators.end()) return {};
  std::vector<SourceRef> last;
  for (const CommRank& rank : largest->ranks) {
    const CollectiveCalls* calls = calls_of(job, rank);
    if (calls == nullptr || calls->collectives.size() < kCalls) return {};
    const PlacedCall* call = calls->collectives.call(calls->collectives.size() - kCalls);
    if (call == nullptr) return {};
    last.push_back(call->where);
  }
  // Lines of several inputs have no order.
  const auto [first, latest] = std::ranges::minmax(last);
  return are_ordered(job, first, latest) ? std::vector{first} : std::vector<SourceRef>();
}

bool calls_go_on(const Job& job, SourceRef where) {
  const std::vector<SourceRef>& last = job.answers.of<&find_last_calls>(job);
  return !last.empty() && is_before(job, where, last.front());
}

/// Of each run of nccl-tests, by input, the row behind which fewer than three are left, and that one.
LinePlaces find_rows(const Job& job) {
  constexpr size_t kRows = 3;
  LinePlaces places;
  for (const NcclTestsRun& run : job.nccl_tests) {
    std::map<int64_t, std::vector<SourceRef>> by_input;
    for (const NcclTestsRow& row : run.rows)
      by_input[input_of(job, row.where)].push_back(row.where);
    for (auto& [input, rows] : by_input) {
      if (rows.size() < kRows) continue;
      std::ranges::sort(rows);
      places.add(job, rows[rows.size() - kRows]);
    }
  }
  places.sort();
  return places;
}

}  // namespace

bool went_on(const Job& job, SourceRef where) {
  if (steps_go_on(job, where) || calls_go_on(job, where)) return true;
  // Some rows of a table of nccl-tests were measured, by the test that the line may be about.
  return job.answers.of<&find_rows>(job).after(job, where) > 0 && !is_between_tests(job, where);
}

}  // namespace ncclog
