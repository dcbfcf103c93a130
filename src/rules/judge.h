// Does a rule's `when` hold for an instance? Yes, no, or unknown.
//
//   all      no if one is no, else unknown if one is unknown, else yes
//   any      yes if one is yes, else unknown if one is unknown, else no
//   none     no if one is yes, else unknown if one is unknown, else yes
//   event    no if no kept line matches; unknown if there were more lines than are kept
//   sequence yes if one process certainly printed the lines in that order
//
// Whatever answers yes leaves a hit: the lines and facts by which a finding is shown.

#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/finding.h"
#include "rules/job_view.h"
#include "rules/rule.h"

namespace ncclog {

enum class Answer { No, Unknown, Yes };

/// A condition that holds, and what shows it.
struct Hit {
  std::string_view label;  ///< Of events and lines; views the rule.
  std::vector<const ReadRecord*> records;
  bool inside = true;  ///< The lines were looked for in the instance, not around it.
  const Fact* fact = nullptr;
  const FactValue* value = nullptr;
  const Finding* finding = nullptr;
};

/// How one condition was answered for one instance.
struct JudgedCondition {
  const Condition* condition = nullptr;
  int depth = 0;  ///< Of the condition in its rule's `when`, which has 0.
  Answer answer = Answer::Unknown;
  std::string reason;     ///< Why the answer is unknown; empty: the members of the group say it.
  std::vector<Hit> hits;  ///< If yes, and it is no group: what shows it.
};

/// The answers to all conditions of a rule for one instance, each before its members.
using JudgedConditions = std::vector<JudgedCondition>;

/// What a rule is judged by, besides the job: findings of earlier rules, by id.
using FindingsById = std::map<std::string, Finding, std::less<>>;

/// Judges one rule. Keeps the matching lines of each condition while it goes over the instances.
class RuleJudge {
 public:
  /// With `absence_is_unknown`, lines that are not there may have been: what remains a no, is one
  /// for other reasons.
  RuleJudge(JobView& view, const FindingsById& findings, bool absence_is_unknown = false)
      : view_(view), findings_(findings), absence_is_unknown_(absence_is_unknown) {}

  /// False if no instance at all can answer yes: a line that every instance needs is nowhere.
  bool is_possible(const Condition& condition);

  /// Judges an instance of the view; appends a hit for everything that made the answer yes.
  Answer judge(const Condition& condition, const Instance& instance, std::vector<Hit>& hits);

  /// From now on, every condition that is judged is appended to `steps` with its answer; nullptr:
  /// no more. `steps` must outlive that.
  void record_in(JudgedConditions* steps) { steps_ = steps; }

 private:
  /// The lines of the whole job that a condition lets through.
  struct Matches {
    std::vector<const ReadRecord*> records;  ///< By process.
    std::vector<int> open;      ///< Processes that may have printed more of them; ascending.
    std::vector<int> repeated;  ///< Processes that printed some of them again; ascending.
  };

  Answer judge_what(const Condition& condition, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const GroupCondition& group, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const EventCondition& event, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const LineCondition& line, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const FactCondition& fact, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const FindingCondition& finding, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const SequenceCondition& sequence, const Instance& instance, std::vector<Hit>& hits);

  /// Keeps why an answer is unknown, for who wants to know.
  template <typename Words>
  Answer unknown_because(Words words) {
    if (steps_ != nullptr) reason_ = words();
    return Answer::Unknown;
  }
  /// Why lines that are not there may have been.
  std::string doubt_phrase(const Matches& matches, const Instance& where) const;

  const Matches& matches(const EventCondition& event);
  const Matches& matches(const LineCondition& line);
  const Matches& matches(const Condition& line);
  Matches matching(const RecordsOf& all, const std::vector<FieldTest>& where,
                   std::optional<LifePhase> phase);
  const Instance* reached(const Instance& instance, Reach reach);
  Answer judge_lines(const Matches& matches, const CountTest& count, Reach reach,
                     std::string_view label, const Instance& instance, std::vector<Hit>& hits);
  Answer judge_sequence(const SequenceCondition& sequence, int process, std::vector<Hit>& hits);

  JobView& view_;
  const FindingsById& findings_;
  bool absence_is_unknown_;
  std::map<const void*, Matches> matches_;  ///< By condition.
  JudgedConditions* steps_ = nullptr;
  int depth_ = 0;
  std::string reason_;  ///< Of the last answer that is unknown, if steps_.
};

/// Those of one process; `records` is sorted by process.
std::span<const ReadRecord* const> of_process(const std::vector<const ReadRecord*>& records,
                                              int process);

/// True if the sorted list has the process.
inline bool holds(const std::vector<int>& sorted, int process) {
  return std::binary_search(sorted.begin(), sorted.end(), process);
}

}  // namespace ncclog
