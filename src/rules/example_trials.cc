#include "rules/example_trials.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "rules/evaluate.h"

namespace ncclog {
namespace {

bool contains(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool asks_for(const Condition& condition, const std::string& id) {
  if (const auto* asked = std::get_if<FindingCondition>(&condition.what)) return asked->rule == id;
  bool any = false;
  for_each_member(condition, [&](const Condition& inner) { any |= asks_for(inner, id); });
  return any;
}

bool names(const Rule& rule, const std::string& id) {
  return contains(rule.explains, id) || contains(rule.explains_same_ranks, id) ||
         contains(rule.related, id) || asks_for(rule.when, id);
}

const Finding* finding_of(const Diagnosis& diagnosis, std::string_view id) {
  const auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                  [&](const Finding& finding) { return finding.id == id; });
  return found == diagnosis.findings.end() ? nullptr : &*found;
}

std::string without(const std::vector<std::string_view>& lines, const std::set<size_t>& dropped) {
  std::string log;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (dropped.contains(i)) continue;
    log += lines[i];
    log += '\n';
  }
  return log;
}

std::set<size_t> quoted_lines(const Finding& finding, size_t lines) {
  std::set<size_t> quoted;
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.where.line >= 1 && evidence.where.line <= lines) {
      quoted.insert(evidence.where.line - 1);
    }
  }
  return quoted;
}

}  // namespace

std::vector<std::string> unrelated_findings(const Rulebook& rulebook, const Rule& rule,
                                            const Diagnosis& found) {
  std::vector<std::string> ids;
  for (const Finding& finding : found.findings) {
    if (finding.severity == Severity::Info || finding.id == rule.id) continue;
    const Rule* other = find_rule(rulebook, finding.id);
    const bool sharpens = other->builtin && !rule.builtin;
    if (sharpens || names(rule, finding.id) || names(*other, rule.id)) continue;
    ids.push_back(finding.id);
  }
  return ids;
}

bool fires_without_evidence(const Rulebook& rulebook, const Rule& rule, std::string_view log,
                            const Diagnosis& found, const ExampleReader& reader,
                            const LineMatcher& matcher) {
  const std::vector<std::string_view> lines = split(log, '\n');
  const auto fires = [&](const std::set<size_t>& dropped) {
    const Diagnosis rest = evaluate(rulebook, reader(without(lines, dropped), matcher));
    return finding_of(rest, rule.id) != nullptr;
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!fires({i})) return false;
  }
  const Finding* finding = finding_of(found, rule.id);
  return finding != nullptr && fires(quoted_lines(*finding, lines.size()));
}

}  // namespace ncclog
