// A rule as a value: when it holds, whom it names, what it says.
//
//   when: {event: shm_attach_failed, where: {size: 0}, as: attach}
//   blame: facts
//   message: "{subject} attached to {attach.name} of size 0; {job.container.what}"
//
// Made from a rule file by rules/load_rules.h, which has checked every name in it; rules/README.md
// explains the language with an example of each feature.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "diagnose/facts/fact.h"
#include "log/wording/message_kind.h"
#include "rules/finding.h"
#include "rules/pattern.h"
#include "rules/rule_yaml.h"

namespace ncclog {

/// A stretch of a message: literal text, or what the evidence puts in its place. In the text of a
/// rule {{ and }} stand for braces; every other pair of braces names something that the rule can
/// know.
struct MessagePart {
  enum class Type {
    Text,
    Subject,
    Ranks,
    Hosts,
    Communicator,
    Field,
    Common,  ///< Of odd ones: what the others show.
    Alike,   ///< Of odd ones: how many the others are.
    EachWhat,
    Fact,
    FactWhat,
    Plural,  ///< {LABEL|one line|# lines}.
  };
  Type type = Type::Text;
  std::string text;            ///< Of Text: the text. Of Field, EachWhat, Plural: the label.
  FieldRef field;              ///< Of Field.
  const Fact* fact = nullptr;  ///< Of Fact and FactWhat: the fact.
  std::string one;             ///< Of Plural: what is said for 1; # stands for the number.
  std::string many;            ///< The same for every other number.

  bool operator==(const MessagePart&) const = default;
};

/// Where a condition looks, seen from the instance that is judged.
enum class Reach { Job, Host, Instance };

/// Lines of a kind, or that a pattern finds where no kind covers them yet:
/// {event: shm_attach_failed, where: {size: 0}, in: job, count: {at_least: 2}, as: attach}
/// {line: 'NCCL WARN .*Cannot get incoming CPU'}
struct LineCondition {
  const Kind* kind = nullptr;    ///< nullptr: the pattern finds them.
  std::vector<FieldTest> where;  ///< Of a kind.
  Pattern pattern;
  int number = -1;  ///< Of the pattern, into Rulebook::line_patterns.
  Reach reach = Reach::Instance;
  int64_t least = 1;  ///< Different lines that must match.
  int64_t most = kAny;
  std::string label;  ///< By which messages and `blame` name the lines; the kind's name by default.

  static constexpr int64_t kAny = INT64_MAX;
};

/// {fact: job.rdma_evidence, is: true}
struct FactCondition {
  const Fact* fact = nullptr;
  std::vector<ValueTest> tests;
};

/// A stretch of words; an optional one, "[ on {host}]", is left out where a field of it is empty.
struct WordsClause {
  std::vector<MessagePart> parts;
  bool is_optional = false;
};

/// Rows of a table, or lines of a kind: which are meant, and what they are called (rules/judge.h).
/// {each: kernel_event, where: {kind: xid, code: 79}, words: "Xid {code}[ on {host}]", as: xid}
/// {each: nvls_support, odd: state, usual: available, words: "{state}, {alike} others {common}"}
struct EachCondition {
  const JobTable* table = nullptr;  ///< nullptr: lines of a kind.
  LineCondition lines;              ///< `where` of either, and the label.
  std::optional<FieldRef> by;       ///< Those alike in it are one thing.
  std::optional<FieldRef> odd;      ///< Only the few that differ in it from nearly all others.
  bool at_place = false;            ///< From those at the same place of other hosts.
  std::vector<std::string> usual;   ///< What the others must show; empty: anything.
  std::optional<FieldRef> differ;   ///< Only where they are not all alike in it.
  std::vector<WordsClause> words;
  std::string between = "; ";  ///< Of the words of several.
  size_t most_lines = SIZE_MAX;
};

/// {finding: shm-no-space}: that rule found something, anywhere in the job.
struct FindingCondition {
  std::string rule;
  Place place;
};

struct Condition;

/// all: every one holds; any: one holds at least; none: not one holds.
struct GroupCondition {
  enum class Type { All, Any, None };
  Type type = Type::All;
  std::vector<Condition> of;
};

/// {sequence: [{event: system_call_retry}, {event: connect_failed}], unless: {event: comm_end}}:
/// lines of one process in this order.
struct SequenceCondition {
  std::vector<Condition> of;      ///< About lines; two at least.
  std::vector<Condition> unless;  ///< No such line between the first and the last; one at most.
  Reach reach = Reach::Instance;
};

struct Condition {
  std::variant<GroupCondition, LineCondition, FactCondition, EachCondition, FindingCondition,
               SequenceCondition>
      what;
  const RuleNode* node = nullptr;  ///< Where it was read: below Rule::source.
};

/// A condition in one line, for people; of a group only its word: "any".
std::string text_of(const Condition& condition);

/// Calls `use` for each condition that this one is made of; `of` is a Condition, const or not.
template <typename Node, typename Use>
void for_each_member(Node& of, Use&& use) {
  const auto each = [&](auto& members) {
    for (auto& member : members) use(member);
  };
  if (auto* group = std::get_if<GroupCondition>(&of.what)) each(group->of);
  if (auto* sequence = std::get_if<SequenceCondition>(&of.what)) {
    each(sequence->of);
    each(sequence->unless);
  }
}

/// Whom the finding names.
struct Blame {
  enum class Type {
    Reporters,  ///< The processes whose own lines matched.
    Speakers,   ///< The processes whose lines matched under `label`.
    Facts,      ///< Whom facts identify, and nobody else.
    Nobody,
    Pid,    ///< The process that the field holds.
    Host,   ///< The host that the field holds.
    Ranks,  ///< The ranks that the field lists, "1, 3".
  };
  Type type = Type::Reporters;
  std::string label;
  FieldRef field;
};

/// What a report of a host says about a finding: {fact: host.shm_small, alone: warning}
struct HostClause {
  /// What a "no" of the fact speaks against.
  enum class Refutes {
    Finding,  ///< What the rule says: it is an info from then on.
    Reason,   ///< The reason that it names. The logs show the failure itself.
    Nothing,  ///< The host may have changed since.
  };
  const Fact* fact = nullptr;     ///< Of a host; nullptr: reports say nothing about it.
  std::optional<Severity> alone;  ///< Where only reports show it; nullopt: they do not do.
  Confidence confidence = Confidence::Possible;  ///< Likewise.
  Refutes refutes = Refutes::Finding;
};

/// A log on which the rule must fire, or must not:
///   {name: who did not enter is named, log: …, ranks: 1, says: rank 1 (n3) did not}
/// Its texts are parts of Rule::source.
struct Example {
  std::string_view log;
  Place place;
  std::string_view name = {};   ///< What it shows; empty: the log speaks for itself.
  std::string_view ranks = {};  ///< Whom the finding must name: "0,2-3", "none"; empty: anybody.
  std::string_view says = {};   ///< What its message must hold.
};

struct Rule {
  std::string id;
  std::string title;
  Severity severity = Severity::Info;
  Confidence confidence = Confidence::Possible;
  Role role = Role::Advice;
  Scope per = Scope::Job;
  bool last_resort = false;  ///< Judged after the others, where they show no fault.
  /// As advice, it stays a warning on a job that finished (rules/verdict.h).
  bool halves_bandwidth = false;
  bool is_harmless = false;  ///< It says that something is as it may be: nothing for a screen.
  bool tells_end = false;    ///< It says where the job stopped: before what else may be wrong.
  /// It is about the runs that the logs hold, so it is judged over all of them together, and not
  /// within each (rules/evaluate.h).
  bool of_all_runs = false;
  std::vector<const Fact*> needs;  ///< Of coverage_facts().
  Condition when;
  std::vector<Blame> blame;  ///< Empty: whom facts identify, else the reporters.
  HostClause host;
  std::vector<MessagePart> message;
  /// What is said in one sentence; empty: the message's first one.
  std::vector<MessagePart> headline;
  std::string why;
  std::vector<std::string> check;
  std::vector<std::string> fix;
  std::vector<std::string> do_not;
  std::vector<std::string> references;
  std::vector<std::string> explains;
  std::vector<std::string> explains_same_ranks;  ///< Likewise, where they name none but its ranks.
  std::string witness;               ///< "NCCL's RAS service": who tells it; may be empty.
  std::vector<std::string> related;  ///< Ids of findings that may well stand beside this one.
  std::vector<Example> fires;
  std::vector<Example> quiet;

  std::string path;      ///< File it came from: "rules/shm/shm-no-space.yaml".
  bool builtin = false;  ///< Part of the executable, not of a file that the user named.
  std::shared_ptr<const RuleNode> source;  ///< The file as a tree; never nullptr once loaded.
  uint64_t hash = 0;                       ///< Of everything but the examples.
};

// What a site changes about findings that it knows: another severity, or not to be told.
//
//   overlay:
//     - {rule: socket-instead-of-ib, suppress: true, where: {host: [lab1, lab2]},
//        reason: The lab has no RDMA., until: 2027-01-31}
//     - {rule: nic-down, severity: info, reason: Ticket 4711., until: 2026-12-24}
//
// An entry has a reason and a last day. After that day it is not applied, and the report says so. A
// suppressed finding is never dropped in silence: the report lists it with the reason.

/// One entry of an overlay file.
struct Overlay {
  std::string rule;
  std::optional<Severity> severity;  ///< Nothing: the finding is suppressed.
  std::vector<ValueTest> host;       ///< Empty: any host.
  std::vector<ValueTest> rank;       ///< Empty: any rank.
  std::string reason;
  std::string until;  ///< The last day on which it is applied.
  std::string where;  ///< "site.yaml:3:5": the entry's place.
  Place place;        ///< Of the rule's id.
  std::string path;
  std::string text;  ///< The entry in one line of YAML.
};

/// Rules that belong together.
///
/// Invariant: ids are unique; every id that a rule names exists; a rule stands behind the rules
/// whose findings it asks for.
struct Rulebook {
  std::vector<Rule> rules;
  std::vector<std::string> line_patterns;  ///< Of all line conditions, by LineCondition::number.
  std::vector<Overlay> overlays;           ///< In file order; the first that matches counts.
  std::vector<EndedOverlay> ended;         ///< Those whose last day has passed: not applied.
  /// Same rules and overlays, same hash: "5f1d2c…", 16 hex digits.
  std::string hash;
};

/// The rule with that id; nullptr if there is none.
const Rule* find_rule(const Rulebook& rulebook, std::string_view id);

}  // namespace ncclog
