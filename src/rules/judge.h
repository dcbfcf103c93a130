// Does a rule's `when` hold for an instance? Yes, no, or unknown.
//
//   all      no if one is no, else unknown if one is unknown, else yes
//   any      yes if one is yes, else unknown if one is unknown, else no
//   none     no if one is yes, else unknown if one is unknown, else yes
//   event    no if no kept line matches; unknown if there were more lines than are kept
//   each     no if nothing is gathered (rules/judge.h)
//   sequence yes if one process certainly printed the lines in that order
//
// Whatever answers yes leaves a hit: the lines and facts by which a finding is shown.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnose/facts/fact.h"
#include "model/job.h"
#include "rules/finding.h"
#include "rules/pattern.h"
#include "rules/rule.h"

namespace ncclog {

/// The lines of the whole job that a condition lets through.
struct MatchingLines {
  const LineCondition* condition = nullptr;  ///< The first that asked so.
  std::vector<const ReadRecord*> records;    ///< By process.
  std::span<const int> open;      ///< Processes that may have printed more of them; ascending.
  std::span<const int> repeated;  ///< Processes that printed some of them again; ascending.
};

/// The job as rules ask about it: lines are looked for once, each fact is derived once.
/// Invariant: answers about a job that outlives the view, computed at most once. References that it
/// returns stay valid as long as the view does. For one thread.
class JobView {
 public:
  explicit JobView(const Job& job) : job_(job) {}
  JobView(const JobView&) = delete;
  JobView& operator=(const JobView&) = delete;

  const Job& job() const { return job_; }

  /// Many rules ask for the same lines.
  const MatchingLines& lines(const LineCondition& condition);

  const std::vector<TableRow>& rows(const JobTable& table);

  /// What the condition gathers (rules/judge.h).
  const FactValue& gathered(const EachCondition& each);

  /// Instances of a scope, as instances_of gives them.
  const std::vector<Instance>& instances(Scope scope);

  /// The instance of `scope` to which all of the processes belong; nullptr if there is none. The
  /// job is the instance around any processes.
  const Instance* instance_around(std::span<const int> processes, Scope scope);

  /// The fact for one of the instances that this view returned.
  const FactValue& fact(const Fact& fact, const Instance& instance);

  /// The fact for the instance, or for the one around it; nullptr: there is none.
  const FactValue* fact_about(const Fact& fact, const Instance& instance);

  /// The fact, of the whole job.
  const FactValue& fact(const Fact& of_job) { return fact(of_job, instances(Scope::Job).front()); }

 private:
  const std::vector<int>& instance_by_process(Scope scope);

  const Job& job_;
  std::deque<MatchingLines> lines_;
  std::map<Scope, std::vector<Instance>> instances_;
  std::map<Scope, std::vector<int>> instance_by_process_;
  std::map<std::pair<const Fact*, const Instance*>, FactValue> facts_;
  std::map<const JobTable*, std::vector<TableRow>> rows_;
  std::map<const EachCondition*, FactValue> gathered_;
};

enum class Answer { No, Unknown, Yes };

/// A condition that holds, and what shows it.
struct Hit {
  std::string_view label;  ///< Of lines, and of what was gathered; views the rule.
  std::span<const ReadRecord* const> records = {};  ///< In those of the JobView, or in `own`.
  bool inside = true;  ///< The lines were looked for in the instance, not around it.
  const FactValue* value = nullptr;
  const Finding* finding = nullptr;
  std::shared_ptr<const std::vector<const ReadRecord*>> own = {};
};

/// How one condition of a rule was answered for one instance.
struct ExplainedStep {
  int depth = 0;  ///< Of the condition in `when`, which has 0.
  std::string condition;
  Answer answer = Answer::Unknown;
  std::string reason;              ///< Why it is unknown; empty: its members say it.
  std::string value;               ///< Of a fact, if it is known.
  std::vector<Evidence> evidence;  ///< Lines that show it, the first kMostLines.
  size_t lines = 0;                ///< All lines that show it.

  static constexpr size_t kMostLines = 3;
};

/// What a rule is judged by, besides the job: findings of earlier rules, by id.
using FindingsById = std::map<std::string, Finding, std::less<>>;

/// Judges one rule.
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

  /// From now on, every condition that is judged is appended to `steps`, before its members.
  /// `steps` must outlive that.
  void record_in(std::vector<ExplainedStep>& steps) { steps_ = &steps; }

 private:
  Answer judge_what(const Condition& condition, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const GroupCondition& group, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const LineCondition& lines, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const FactCondition& fact, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const EachCondition& each, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const FindingCondition& finding, const Instance& instance, std::vector<Hit>& hits);
  Answer judge(const SequenceCondition& sequence, const Instance& instance, std::vector<Hit>& hits);

  /// Keeps why an answer is unknown, for who wants to know.
  Answer unknown_because(std::string_view why) {
    if (steps_ != nullptr) steps_->back().reason = why;
    return Answer::Unknown;
  }

  const Instance* reached(const Instance& instance, Reach reach);
  Answer judge_sequence(const SequenceCondition& sequence, int process, std::vector<Hit>& hits);

  JobView& view_;
  const FindingsById& findings_;
  bool absence_is_unknown_;
  std::vector<ExplainedStep>* steps_ = nullptr;  ///< Of one that is no group, the last is its own.
  int depth_ = 0;
};

/// An instance that answered yes, and by what.
struct Firing {
  const Instance* instance = nullptr;
  std::vector<Hit> hits;
};

/// Turns the names of tools and variables in each text into AMD's, because advice is written for
/// NVIDIA's tools: "nvidia-smi topo -m" → "rocm-smi --showtopo".
void use_amd_words(std::vector<std::string>& texts);

/// What a rule says of each of its findings; it explains nothing yet.
Finding begin_finding(const Rule& rule);

/// The finding of a rule that fired at least once: whom it names, what it says, what shows it. Its
/// `explains` still lists every id of the rule.
Finding build_finding(const Rule& rule, JobView& view, const std::vector<Firing>& firings);

// What the rows of a table, or the lines of a message kind, come to: which of them are meant, who is
// the odd one out, and what they are called.
//
//   {each: kernel_event, where: {kind: xid, code: 79}, words: "Xid {code}[ on {host}]"}
//     → yes, "Xid 79 on node-a; Xid 79 on node-b", both lines, the processes of both GPUs
//   {each: nvls_support, odd: state, words: "{state}, {alike} others {common}"}
//     → yes, "not available, 7 others available", the lines of the odd ones
//
// The answer is a fact's: it names processes, and is no where nothing is gathered, never unknown.

FactValue gather(const EachCondition& each, JobView& view);

}  // namespace ncclog
