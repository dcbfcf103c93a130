// What a rule found, and the verdict over all findings.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts/coverage.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/outcome.h"

namespace ncclog {

enum class Severity { Error, Warning, Info };
enum class Confidence { Certain, Likely, Possible };
/// A cause explains, a symptom is explained, advice stands beside both.
enum class Role { Cause, Symptom, Advice };

constexpr std::string_view enum_words(Severity) { return "error|warning|info"; }
constexpr std::string_view enum_words(Confidence) { return "certain|likely|possible"; }
constexpr std::string_view enum_words(Role) { return "cause|symptom|advice"; }

/// Whom a finding is about; what is unknown stays empty or -1.
struct Subject {
  std::string host;
  int rank = -1;
  int64_t pid = -1;
  std::string communicator;

  bool operator==(const Subject&) const = default;
};

/// What reports of hosts (model/companions/host_report.h) say about a finding.
struct HostCheck {
  enum class Answer {
    None,       ///< Nothing.
    Confirmed,  ///< A report shows what the logs suggest.
    Refuted,    ///< The reports of all its hosts show something else.
    Shown,      ///< Only a report shows it; no log does.
  };
  Answer answer = Answer::None;
  std::vector<std::string> hosts;  ///< Whose reports say so, sorted.
  std::string what;                ///< What they show.
  /// Refuted is what the finding says, not only the reason that it names.
  bool is_against_finding = false;
};

constexpr std::string_view enum_words(HostCheck::Answer) { return "none|confirmed|refuted|shown"; }

/// One finding. Instances of one rule are merged into one finding: hosts, ranks and evidence are
/// unions, the subject is the first instance.
struct Finding {
  std::string id;
  Severity severity = Severity::Info;
  Confidence confidence = Confidence::Possible;
  Role role = Role::Advice;
  std::string title;
  /// The finding in one sentence (rules/headline.h); empty: the message's first one.
  std::string headline;
  std::string message;
  size_t told_by_headline = 0;  ///< Bytes at the front of the message that the headline says too.
  bool is_harmless = false;     ///< It says that something is as it may be.
  bool tells_end = false;       ///< It says where the job stopped.
  std::string why;
  Subject subject;
  std::vector<std::string> hosts;  ///< Sorted: the guilty, else those whose own lines report it.
  std::vector<int> ranks;          ///< Sorted, likewise; never mere victims.
  /// In input order, then one of each witness that says the same; at most kMaxEvidence.
  std::vector<Evidence> evidence;
  uint64_t evidence_omitted = 0;  ///< Further lines that show it.
  std::vector<std::string> check;
  std::vector<std::string> fix;
  std::vector<std::string> do_not;
  std::vector<std::string> references;
  std::vector<std::string> explains;  ///< Ids of other findings present that follow from this one.
  /// Ids of findings that follow too if all ranks that they name are among `ranks`; empty once
  /// `order_by_cause` has moved those to `explains`.
  std::vector<std::string> explains_same_ranks;
  /// "NCCL's RAS service": who tells it; empty: it joins no others, or `order_by_cause` has joined them.
  std::string witness;
  HostCheck host_check;

  static constexpr size_t kMaxEvidence = 8;
};

/// A question that the log cannot answer, and how to make the next log answer it.
struct NotJudged {
  std::string question;
  std::string reason;
  std::string how_to_capture;

  bool operator==(const NotJudged&) const = default;
};

/// What an overlay did: it withheld a finding, or gave it another severity.
struct OverlayEffect {
  Finding finding;  ///< As the rule makes it; of several instances, those that the overlay means.
  std::optional<Severity> severity;  ///< The one it has now; nothing: it is suppressed.
  std::string reason;
  std::string until;  ///< "2027-01-31".
  std::string where;  ///< "site.yaml:3:5".
};

/// An overlay whose last day has passed.
struct EndedOverlay {
  std::string rule;
  std::string reason;
  std::string until;
  std::string where;
};

/// Clean needs proof: nothing was found, and the job evidently finished. NothingFound is every
/// other log without a finding that matters.
enum class VerdictStatus { Problem, Suspicious, Clean, NothingFound, CannotJudge };
constexpr std::string_view enum_words(VerdictStatus) {
  return "problem|suspicious|clean|nothing_found|cannot_judge";
}

struct Verdict {
  VerdictStatus status = VerdictStatus::CannotJudge;
  std::string headline;  ///< One sentence, as short as that of a finding.
  std::string finding;   ///< Id of the finding that the headline names; empty if none.
};

/// What the rulebook makes of one run, where the logs hold several.
struct JudgedRun {
  std::string name;                   ///< "run 2", "attempt 0".
  Verdict verdict;                    ///< As if nothing else had been read.
  EndOf end;                          ///< Likewise.
  std::string place;                  ///< "train.log lines 278-571".
  std::vector<int64_t> pids;          ///< Sorted.
  std::vector<std::string> findings;  ///< Ids, in causal order; all are among the diagnosis' own.
};

/// What the rulebook makes of a job.
struct Diagnosis {
  Verdict verdict;
  std::vector<Finding> findings;  ///< Causes before what they explain.
  std::vector<NotJudged> not_judged;
  CaptureAdvice capture;  ///< How the next log answers those; empty if nothing is left open.
  std::vector<OverlayEffect> overlays;
  std::vector<EndedOverlay> ended_overlays;
  std::vector<JudgedRun> runs;  ///< In the order in which they began; empty: one run.
  size_t leading_run = 0;       ///< Into `runs`: the one that the verdict is about.
};

}  // namespace ncclog
