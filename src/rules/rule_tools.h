// What people who write rules need: `ncclog rules list`, `show`, `check`, `test` and `new`, and
// `ncclog explain`.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/job.h"
#include "model/process_log.h"
#include "rules/finding.h"
#include "rules/judge.h"
#include "rules/load_rules.h"

namespace ncclog {

/// The rules by id.
std::map<std::string_view, const Rule*> rules_by_id(const Rulebook& rulebook);

/// One rule as it speaks to users: what it means, a line that makes it fire, what helps; with
/// `source` also its file, when it fires and all its examples. Throws Error with the nearest id if
/// there is none of that id.
std::string show_rule(const Rulebook& rulebook, std::string_view id, bool source);

/// The rule of that id. Throws Error with the nearest id if there is none.
const Rule& required_rule(const Rulebook& rulebook, std::string_view id);

/// Checks every rule file that `paths` name on its own, then together with the built-in rules: the
/// set's problems, by place.
RuleSet check_rules(const std::vector<std::string>& paths);

struct RuleTest {
  size_t rules = 0;
  size_t examples = 0;
  /// Examples that do not do what they should: "shm-no-space must fire, but stays quiet; …",
  /// printable.
  std::vector<Error> failures;
};

/// The job that an example stands for; `matcher` is for its lines.
using ExampleReader = std::function<Job(std::string_view example, const LineMatcher& matcher)>;

/// Runs the examples of the rules, or only of those that are not built in. Each example is read by
/// `reader` and judged by the whole rulebook.
RuleTest test_rules(const Rulebook& rulebook, bool only_added, const ExampleReader& reader);

// Why did a rule fire here, or why not?
//
//   yes      rank 3 on a07
//     yes      all
//     yes        {event: peer_closed}               nccl.a07.log:812: …
//     unknown    {event: connect_failed, in: host}  lines near a tear were not used
//
// Every instance of the rule's scope is judged with all its conditions, none of them skipped.
// Instances whose answers are alike are told as one; those that came furthest stand first.

/// Instances that answer alike.
struct ExplainedInstances {
  std::vector<std::string> names;  ///< "rank 3 on a07", in the order of the scope.
  Answer answer = Answer::Unknown;
  std::vector<ExplainedStep> steps;  ///< Of the first of them.
};

enum class Standing { Found, Suppressed, NotJudged, Undecided, DoesNotHold };

/// "found", "suppressed", "not_judged", …
constexpr std::string_view enum_words(Standing) {
  return "found|suppressed|not_judged|undecided|does_not_hold";
}

struct Explanation {
  std::string id;
  std::string title;
  std::string path;  ///< The rule's file.
  Standing outcome = Standing::DoesNotHold;
  std::string sentence;               ///< The outcome in words.
  std::vector<NotJudged> open_needs;  ///< Questions that the rule needs and the log leaves open.
  std::vector<std::string> explained_by;  ///< Findings of this job that explain the rule's own.
  std::vector<OverlayEffect> overlays;    ///< On the rule's findings.
  std::vector<ExplainedInstances> instances;
};

/// Judges the job by all rules, and tells about one; of several runs, about the first in which it is
/// found, else about what belongs to none if it is found there, else about the run that comes
/// nearest to it. Throws Error with the nearest id if there is none of that id.
Explanation explain(const Rulebook& rulebook, const Job& job, std::string_view id);

// The beginning of a rule file, for somebody who has a line in hand and wants a rule.
//
//   ncclog rules new nic-down --area network --from 'n1:7:9 [0] … NCCL WARN NET/IB : Got async
//   event'
//
// The file loads as it is; its texts say what to put in their place.

/// The file's text. `line` is a log line that the rule is about, or empty; `job` is that line,
/// read. A line whose kind is known gives an event condition with its text fields, numbers as
/// comments; another one a pattern. Throws Error if the id is none.
std::string new_rule_text(std::string_view id, std::string_view line, const Job& job);

/// Writes the text to AREA/ID.yaml below the working directory, or to ID.yaml without an area; the
/// file's path. Throws Error if the file is there already, or a rule of the rulebook has the id.
std::string write_new_rule(const Rulebook& rulebook, const std::string& id, const std::string& area,
                           const std::string& text);

}  // namespace ncclog
