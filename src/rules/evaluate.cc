#include "rules/evaluate.h"

#include <algorithm>
#include <set>
#include <utility>

#include "rules/build_finding.h"
#include "rules/causal_order.h"
#include "rules/judge.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

using OpenNeeds = std::set<const CoverageQuestion*>;

/// Answers to the coverage questions, each asked once.
class Coverage {
 public:
  explicit Coverage(const Job& job) : job_(job) {}

  const CoverageAnswer& answer(const CoverageQuestion& question) {
    const auto known = answers_.find(&question);
    if (known != answers_.end()) return known->second;
    return answers_.emplace(&question, question.ask(job_)).first->second;
  }

  std::vector<const CoverageQuestion*> open_needs(const Rule& rule) {
    std::vector<const CoverageQuestion*> open;
    std::copy_if(rule.needs.begin(), rule.needs.end(), std::back_inserter(open),
                 [&](const CoverageQuestion* need) { return !answer(*need).covered; });
    return open;
  }

 private:
  const Job& job_;
  std::map<const CoverageQuestion*, CoverageAnswer> answers_;
};

std::vector<Firing> firings_of(const Rule& rule, JobView& view, RuleJudge& judge) {
  std::vector<Firing> firings;
  if (!judge.is_possible(rule.when)) return firings;
  for (const Instance& instance : view.instances(rule.per)) {
    std::vector<Hit> hits;
    if (judge.judge(rule.when, instance, hits) == Answer::Yes) {
      firings.push_back({&instance, std::move(hits)});
    }
  }
  return firings;
}

/// True if only missing lines keep the rule from an answer: nothing that the log shows excludes it.
bool might_apply(const Rule& rule, JobView& view, const FindingsById& findings) {
  RuleJudge judge(view, findings, true);
  if (!judge.is_possible(rule.when)) return false;
  const std::vector<Instance>& instances = view.instances(rule.per);
  return std::any_of(instances.begin(), instances.end(), [&](const Instance& instance) {
    std::vector<Hit> hits;
    return judge.judge(rule.when, instance, hits) != Answer::No;
  });
}

bool is_loud(const Finding& finding) { return finding.severity != Severity::Info; }

/// Adds what the rules find that are, or are not, a last resort.
void find_with(const Rulebook& rulebook, bool last_resort, JobView& view, Coverage& coverage,
               OpenNeeds& open_needs, FindingsById& findings) {
  for (const Rule& rule : rulebook.rules) {
    if (rule.last_resort != last_resort) continue;
    const auto open = coverage.open_needs(rule);
    if (open.empty()) {
      RuleJudge judge(view, findings);
      const std::vector<Firing> firings = firings_of(rule, view, judge);
      if (!firings.empty()) findings.emplace(rule.id, build_finding(rule, view, firings));
    } else if (rule.severity != Severity::Info && might_apply(rule, view, findings)) {
      open_needs.insert(open.begin(), open.end());
    }
  }
}

bool any_loud(const FindingsById& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const auto& entry) { return is_loud(entry.second); });
}

/// What the rules find. `withheld`: last resorts find more, which a torn log does not prove.
FindingsById find_all(const Rulebook& rulebook, JobView& view, Coverage& coverage,
                      OpenNeeds& open_needs, bool& withheld) {
  FindingsById findings;
  find_with(rulebook, false, view, coverage, open_needs, findings);
  if (any_loud(findings)) return findings;
  FindingsById all = findings;
  find_with(rulebook, true, view, coverage, open_needs, all);
  // In a torn log the line that explains a failure may be the lost one.
  withheld = is_torn(view.job()) && any_loud(all);
  return withheld ? findings : all;
}

std::vector<NotJudged> not_judged(const Job& job, Coverage& coverage, const OpenNeeds& open_needs) {
  std::vector<NotJudged> result;
  for (const CoverageQuestion& question : coverage_questions()) {
    const CoverageAnswer& answer = coverage.answer(question);
    if (answer.covered || (!answer.worth_telling && !open_needs.contains(&question))) continue;
    result.push_back({std::string(question.question), answer.reason, question.how_to_capture(job)});
  }
  return result;
}

}  // namespace

Diagnosis evaluate(const Rulebook& rulebook, const Job& job, std::vector<Finding> further) {
  JobView view(job);
  Coverage coverage(job);
  OpenNeeds open_needs;
  bool withheld = false;
  FindingsById found = find_all(rulebook, view, coverage, open_needs, withheld);
  std::vector<Finding> findings = std::move(further);
  for (auto& [id, finding] : found) findings.push_back(std::move(finding));
  Diagnosis diagnosis;
  diagnosis.findings = order_by_cause(std::move(findings));
  diagnosis.verdict = withheld ? torn_verdict() : make_verdict(diagnosis.findings, job);
  diagnosis.not_judged = not_judged(job, coverage, open_needs);
  return diagnosis;
}

}  // namespace ncclog
