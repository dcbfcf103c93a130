#include "diagnose/life_phase.h"

#include <algorithm>
#include <vector>

#include "diagnose/phase.h"

namespace ncclog {
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
  const auto of_process = lives(job, job.processes[static_cast<size_t>(process)], line.where);
  if (!of_process) return std::nullopt;
  const bool over = std::all_of(of_process->begin(), of_process->end(),
                                [&](const auto* life) { return is_over(*life, line.where); });
  if (phase == LifePhase::End) return over;
  const auto init = is_init(*of_process, line.where);
  if (phase == LifePhase::Init || !init) return init;
  return !*init && !over;
}

}  // namespace ncclog
