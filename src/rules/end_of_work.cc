#include "rules/end_of_work.h"

#include <algorithm>

#include "diagnose/outcome/outcome.h"

namespace ncclog {
namespace {

/// Everything that shows the finding was printed by NCCL after the end of the work.
bool is_noise(const Job& job, const Finding& finding) {
  return !finding.evidence.empty() &&
         std::all_of(finding.evidence.begin(), finding.evidence.end(), [&](const Evidence& line) {
           const Level level = parse_event(line.text, all_wordings()).header.level;
           const bool is_nccl = level != Level::None && level != Level::Framework;
           return is_nccl && is_after_end(job, line);
         });
}

/// Advice that costs little, or a failed call that nobody explains and that the job outlived.
bool matters_little(const Rulebook& rulebook, const Finding& finding) {
  if (finding.severity == Severity::Info) return false;
  const Rule* rule = find_rule(rulebook, finding.id);
  if (rule == nullptr) return false;
  const bool is_advice = finding.role == Role::Advice && finding.severity == Severity::Warning;
  return rule->last_resort || (is_advice && !rule->halves_bandwidth);
}

}  // namespace

void weigh_by_end(const Rulebook& rulebook, const Job& job, Found& found) {
  const bool finished = outcome_of(job).job.state == EndState::Finished;
  if (finished) {
    std::erase_if(found.findings, [&](const auto& entry) {
      return entry.second.role != Role::Advice && is_noise(job, entry.second);
    });
  }
  // Who says that it was slow asks for just this advice.
  if (job.stated ? job.stated != StatedOutcome::Finished : !finished) return;
  for (auto& [id, finding] : found.findings) {
    if (matters_little(rulebook, finding)) finding.severity = Severity::Info;
  }
}

}  // namespace ncclog
