#include "rules/final_severity.h"

#include <algorithm>

#include "diagnose/outcome/outcome.h"

namespace ncclog {

Severity final_severity(const Finding& finding, const Rule& rule, const Job& job,
                        const Overlay* overlay) {
  if (overlay != nullptr && overlay->severity) return *overlay->severity;
  const HostCheck& check = finding.host_check;
  if (check.is_against_finding) return Severity::Info;
  const bool finished = outcome_of(job).job.state == EndState::Finished;
  if (check.answer == HostCheck::Answer::Shown) {
    const bool has_logs = job.losses.lines > 0;
    if (has_logs && finished) return Severity::Info;
    return has_logs ? std::max(*rule.host.alone, Severity::Warning) : *rule.host.alone;
  }
  // Who says that it was slow asks for just this advice.
  const bool did_its_work = job.stated ? job.stated == StatedOutcome::Finished : finished;
  const bool is_cheap_advice =
      rule.role == Role::Advice && rule.severity == Severity::Warning && !rule.halves_bandwidth;
  return did_its_work && (rule.last_resort || is_cheap_advice) ? Severity::Info : rule.severity;
}

bool is_meant(const Overlay& overlay, const Finding& finding) {
  const auto means_all = [](const auto& names, const std::vector<ValueTest>& tests) {
    const auto passes_all = [&](const auto& name) { return passes(FactValue{name}, tests); };
    return tests.empty() || (!names.empty() && std::ranges::all_of(names, passes_all));
  };
  return overlay.rule == finding.id && means_all(finding.hosts, overlay.host) &&
         means_all(finding.ranks, overlay.rank);
}

}  // namespace ncclog
