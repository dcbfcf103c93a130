#include "rules/evaluate.h"

#include <algorithm>
#include <utility>

#include "rules/causal_order.h"
#include "rules/find_all.h"
#include "rules/judge_runs.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

/// What the log leaves open: for rules that might apply, or for everybody.
std::vector<const CoverageQuestion*> open_questions(Coverage& coverage, const Found& found) {
  std::vector<const CoverageQuestion*> open;
  for (const CoverageQuestion& question : coverage_questions()) {
    const CoverageAnswer& answer = coverage.answer(question);
    if (answer.covered || (!answer.worth_telling && !found.open_needs.contains(&question)))
      continue;
    open.push_back(&question);
  }
  return open;
}

void add_open_questions(const Job& job, Coverage& coverage, const Found& found,
                        Diagnosis& diagnosis) {
  const auto open = open_questions(coverage, found);
  for (const CoverageQuestion* question : open) {
    diagnosis.not_judged.push_back({std::string(question->question),
                                    coverage.answer(*question).reason,
                                    question->how_to_capture(job)});
  }
  diagnosis.capture = capture_advice(job, open);
}

std::vector<Finding> told_findings(Found& found) {
  std::vector<Finding> findings;
  for (auto& [id, finding] : found.findings) {
    if (!found.suppressed.contains(id)) findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<EndedOverlay> ended_overlays(const Rulebook& rulebook) {
  std::vector<EndedOverlay> ended;
  for (const Overlay& overlay : rulebook.ended) {
    ended.push_back({overlay.rule, overlay.reason, to_string(overlay.until), overlay.where});
  }
  return ended;
}

bool hides_a_fault(const OverlayEffect& effect) {
  return !effect.severity && effect.finding.severity != Severity::Info;
}

Verdict verdict_of(const Diagnosis& diagnosis, const Job& job) {
  Verdict verdict = make_verdict(diagnosis.findings, job);
  const bool hidden =
      std::any_of(diagnosis.overlays.begin(), diagnosis.overlays.end(), hides_a_fault);
  const bool silent =
      verdict.status == VerdictStatus::Clean || verdict.status == VerdictStatus::NothingFound;
  if (silent && hidden) {
    verdict.headline = "No problem found but what overlays suppress; see there.";
  }
  return verdict;
}

}  // namespace

Diagnosis evaluate(const Rulebook& rulebook, const Job& job, std::vector<Finding> further) {
  const RunParts parts = run_parts(job);
  Diagnosis whole = evaluate_as_one(rulebook, job, std::move(further));
  return parts.runs.empty() ? whole : judge_runs(rulebook, job, parts, std::move(whole));
}

Diagnosis evaluate_as_one(const Rulebook& rulebook, const Job& job, std::vector<Finding> further) {
  JobView view(job);
  Coverage coverage(job);
  Found found = find_all(rulebook, view, coverage);
  Diagnosis diagnosis;
  std::vector<Finding> findings = told_findings(found);
  std::move(further.begin(), further.end(), std::back_inserter(findings));
  diagnosis.findings = order_by_cause(std::move(findings));
  diagnosis.overlays = std::move(found.overlays);
  diagnosis.ended_overlays = ended_overlays(rulebook);
  diagnosis.verdict = verdict_of(diagnosis, job);
  add_open_questions(job, coverage, found, diagnosis);
  return diagnosis;
}

}  // namespace ncclog
