// Every rule carries logs on which it must fire and near misses on which it must not. Here they are
// judged like any other log.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "log/known_messages.h"
#include "rules/evaluate.h"
#include "rules/example_trials.h"
#include "rules/rule_tools.h"

namespace ncclog {
namespace {

std::string where_of(const Rule& rule, const Example& example) {
  return fmt::format("{}:{}:{}", rule.path, example.place.line, example.place.column);
}

std::string ids_of(const Diagnosis& diagnosis) {
  std::vector<std::string> ids;
  for (const Finding& finding : diagnosis.findings) ids.push_back(finding.id);
  return ids.empty() ? "nothing" : join(ids, ", ");
}

/// How the lines of the example were understood, for whoever has to find out why.
std::string kinds_of(const Job& job) {
  std::vector<std::string> kinds;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) kinds.emplace_back(all_kinds()[kind].name);
  }
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return kinds.empty() ? "no line recognised" : "events: " + join(kinds, ", ");
}

/// What is wrong with an example on which the rule fires as it must.
void try_example(const Rulebook& rulebook, const Rule& rule, const Example& example,
                 const Diagnosis& found, const ExampleReader& reader, const LineMatcher& matcher,
                 const std::function<void(std::string)>& fail) {
  const std::vector<std::string> others = unrelated_findings(rulebook, rule, found);
  if (!others.empty()) {
    fail(fmt::format("fires here, but not alone: {}; name them in 'related' if they belong to it",
                     join(others, ", ")));
  }
  if (fires_without_evidence(rulebook, rule, example.log, found, reader, matcher)) {
    fail("fires here even without the lines that it quotes");
  }
}

}  // namespace

RuleTest test_rules(const Rulebook& rulebook, bool only_added, const ExampleReader& reader) {
  const LineMatcher matcher = make_line_matcher(rulebook);
  RuleTest result;
  const auto run = [&](const Rule& rule, const Example& example, bool must_fire) {
    ++result.examples;
    const Job job = reader(example.log, matcher);
    const Diagnosis diagnosis = evaluate(rulebook, job);
    const bool fires = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                                   [&](const Finding& finding) { return finding.id == rule.id; });
    const auto fail = [&](std::string what) {
      result.failures.push_back({where_of(rule, example), fmt::format("{} {}", rule.id, what)});
    };
    if (fires != must_fire) {
      fail(fmt::format("{}; found: {}; {}",
                       must_fire ? "must fire here, but stays quiet" : "must stay quiet, but fires",
                       ids_of(diagnosis), kinds_of(job)));
    } else if (must_fire) {
      try_example(rulebook, rule, example, diagnosis, reader, matcher, fail);
    }
  };
  for (const Rule& rule : rulebook.rules) {
    if (only_added && rule.builtin) continue;
    ++result.rules;
    for (const Example& example : rule.fires) run(rule, example, true);
    for (const Example& example : rule.quiet) run(rule, example, false);
  }
  return result;
}

}  // namespace ncclog
