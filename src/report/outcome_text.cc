#include "report/outcome_text.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/text.h"
#include "diagnose/outcome/outcome.h"

namespace ncclog {
namespace {

constexpr EndState kStates[] = {EndState::Finished, EndState::Failed, EndState::Stopped,
                                EndState::Unfinished, EndState::Unknown};

std::string outcome_words(const Job& job) {
  const EndOf& end = outcome_of(job).job;
  if (end.state == EndState::Unknown) return "unknown; these logs do not show how";
  return end.what.empty() ? std::string(to_string(end.state))
                          : fmt::format("{}; {}", to_string(end.state), end.what);
}

std::string outcome_place(const Job& job) {
  const EndOf& end = outcome_of(job).job;
  if (end.evidence.empty()) return {};
  const FileLine place = file_line(job, end.evidence.front().where);
  return place.path.empty() ? std::string() : fmt::format("{}:{}", place.path, place.line);
}

std::string processes_words(const Job& job) {
  const JobOutcome& outcome = outcome_of(job);
  std::array<size_t, std::size(kStates)> counts{};
  size_t all = 0;
  for (size_t p = 0; p < outcome.processes.size(); ++p) {
    if (!job.processes[p].has_nccl || !is_named(job.processes[p])) continue;
    ++counts[static_cast<size_t>(outcome.processes[p].state)];
    ++all;
  }
  const auto count_of = [&](EndState state) { return counts[static_cast<size_t>(state)]; };
  size_t unlike = all - count_of(EndState::Unknown);
  if (outcome.job.state != EndState::Unknown) unlike -= count_of(outcome.job.state);
  if (all < 2 || unlike == 0) return {};
  std::vector<std::string> parts;
  for (const EndState state : kStates) {
    const size_t count = count_of(state);
    if (count == 0) continue;
    parts.push_back(parts.empty()
                        ? fmt::format("{} of {} processes {}", count, all, to_string(state))
                        : fmt::format("{} {}", count, to_string(state)));
  }
  return join(parts, ", ");
}

}  // namespace

std::string outcome_text(const Job& job) {
  std::string text = "Ended: " + outcome_words(job);
  const std::string place = outcome_place(job);
  if (!place.empty()) text += fmt::format(" ({})", place);
  const std::string processes = processes_words(job);
  text += processes.empty() ? "." : fmt::format(". {}.", processes);
  if (job.stated) text += fmt::format(" You say: {}.", to_string(*job.stated));
  return text;
}

}  // namespace ncclog
