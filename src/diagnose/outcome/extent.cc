#include "diagnose/outcome/extent.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagnose/outcome/outcome.h"

namespace ncclog {
namespace {

/// How far the communicators came, over all processes.
struct Progress {
  std::set<int> ranks;   ///< Global ranks of processes with lines.
  size_t processes = 0;  ///< With NCCL lines.
  size_t communicators = 0;
  bool begins = false;      ///< Some lines are of the kind that NCCL prints when it starts.
  bool up = false;          ///< Some communicator was complete, or called.
  uint64_t most_calls = 0;  ///< Of one process.
  uint64_t least_calls = 0;
};

void add_process(const Job& job, const Process& process, Progress& progress) {
  if (!process.has_nccl || !is_named(process)) return;
  ++progress.processes;
  for (const Subsystem early : {Subsystem::Init, Subsystem::Net, Subsystem::Bootstrap}) {
    progress.begins |= process.subsystems.test(static_cast<size_t>(early));
  }
  if (process.rank >= 0) progress.ranks.insert(process.rank);
  uint64_t calls = 0;
  for (const size_t log : process.logs) {
    for (const CommSegment& segment : job.logs[log].comms.all) {
      ++progress.communicators;
      progress.up |= segment.completed.line != 0;
      calls += calls_of(segment).total;
    }
  }
  progress.up |= calls > 0;
  progress.least_calls = progress.processes == 1 ? calls : std::min(progress.least_calls, calls);
  progress.most_calls = std::max(progress.most_calls, calls);
}

std::string counted(size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

/// "8 ranks", or processes where their ranks are not known.
std::string who(const Progress& progress) {
  if (progress.ranks.size() == progress.processes) {
    return counted(progress.ranks.size(), "rank", "ranks");
  }
  return counted(progress.processes, "process", "processes");
}

std::string calls_words(const Progress& progress) {
  if (progress.most_calls == 0) return {};
  const std::string each = progress.processes > 1 ? " each" : "";
  if (progress.least_calls == progress.most_calls) {
    return fmt::format(" ({}{})", counted(progress.most_calls, "call", "calls"), each);
  }
  return fmt::format(" ({} to {} calls{})", progress.least_calls, progress.most_calls, each);
}

bool has_steps(const Job& job) {
  return std::any_of(job.markers.begin(), job.markers.end(),
                     [](const JobMarkers& markers) { return markers.total > 0; });
}

std::string seen_words(const Job& job, const Progress& progress) {
  if (progress.processes == 0) return "none of NCCL's, but of the programs around it";
  if (progress.up) return fmt::format("{} at work{}", who(progress), calls_words(progress));
  if (progress.communicators > 0 || progress.begins) return "the start of " + who(progress);
  if (has_steps(job)) return fmt::format("steps of {}", who(progress));
  return "lines of " + who(progress);
}

/// Why a job is unfinished is told where it is more than that no line shows an end.
std::string end_words(const EndOf& end) {
  if (end.state == EndState::Stopped) return end.what;
  if (end.state == EndState::Unfinished && end.what != kNoEnd) return end.what;
  return end.state == EndState::Finished ? "finished" : "no end";
}

}  // namespace

std::string extent_words(const Job& job) {
  Progress progress;
  for (const Process& process : job.processes) add_process(job, process, progress);
  return fmt::format("{}, {}", seen_words(job, progress), end_words(outcome_of(job).job));
}

}  // namespace ncclog
