#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagnose/hosts/host_reports.h"
#include "rules/evaluate.h"
#include "rules/judge.h"

namespace ncclog {
namespace {

/// What the reports of some hosts answer: hosts and words, each once.
struct HostAnswers {
  std::set<std::string> hosts;
  std::vector<std::string> words;

  void add(const std::string& host, const std::string& what) {
    hosts.insert(host);
    if (std::ranges::find(words, what) == words.end()) words.push_back(what);
  }

  /// "report of a", "reports of a and 3 more"
  std::string whose() const {
    constexpr size_t kMost = 4;
    return fmt::format("{} of {}", hosts.size() == 1 ? "report" : "reports",
                       few_of({hosts.begin(), hosts.end()}, kMost, ", "));
  }

  std::string what() const {
    constexpr size_t kMost = 2;
    return few_of(words, kMost, "; ");
  }
};

FactValue ask(const Fact& fact, const Job& job, const std::string& host) {
  return fact.ask(job, Instance{.scope = Scope::Host, .host = host});
}

/// The hosts whose reports count for a finding.
std::vector<std::string> hosts_to_ask(const Job& job, const Finding& finding) {
  if (!finding.hosts.empty()) return finding.hosts;
  std::vector<std::string> hosts = job.hosts;
  if (hosts.empty()) {
    for (const HostReport& report : job.host_reports) hosts.push_back(report.host);
  }
  return hosts;
}

}  // namespace

void check_by_reports(const Rule& rule, const Job& job, Finding& finding) {
  if (rule.host.fact == nullptr || job.host_reports.empty()) return;
  HostAnswers confirm;
  HostAnswers refute;
  bool is_open = false;
  for (const std::string& host : hosts_to_ask(job, finding)) {
    const FactValue value = ask(*rule.host.fact, job, host);
    is_open |= !value.known();
    if (value.known()) (is_yes(value) ? confirm : refute).add(host, value.what);
  }
  HostCheck& check = finding.host_check;
  const bool is_confirmed = !confirm.hosts.empty();
  const bool is_refuted = !is_confirmed && !refute.hosts.empty() && !is_open &&
                          rule.host.refutes != HostClause::Refutes::Nothing;
  if (!is_confirmed && !is_refuted) return;
  const HostAnswers& answers = is_confirmed ? confirm : refute;
  check.answer = is_confirmed ? HostCheck::Answer::Confirmed : HostCheck::Answer::Refuted;
  check.hosts.assign(answers.hosts.begin(), answers.hosts.end());
  check.what = answers.what();
  if (is_confirmed) {
    finding.confidence = Confidence::Certain;
    finding.message += fmt::format(" Confirmed by the {}: {}.", answers.whose(), check.what);
    return;
  }
  finding.confidence = Confidence::Possible;
  if (rule.host.refutes == HostClause::Refutes::Reason) {
    finding.message +=
        fmt::format(" The usual reason is refuted by the {}: {}.", answers.whose(), check.what);
    return;
  }
  check.is_against_finding = true;
  finding.headline.clear();
  finding.told_by_headline = 0;
  finding.message = fmt::format("Refuted by the {}: {}. The logs alone suggest: {}",
                                answers.whose(), check.what, finding.message);
  finding.explains.clear();
  finding.explains_same_ranks.clear();
  finding.witness.clear();
}

std::optional<Finding> finding_of_reports(const Rule& rule, const Job& job) {
  if (rule.host.fact == nullptr || !rule.host.alone) return std::nullopt;
  HostAnswers shown;
  for (const HostReport* report : reports_of_job(job)) {
    const FactValue value = ask(*rule.host.fact, job, report->host);
    if (is_yes(value)) shown.add(report->host, value.what);
  }
  if (shown.hosts.empty()) return std::nullopt;
  Finding finding = begin_finding(rule);
  finding.confidence = rule.host.confidence;
  const bool has_logs = job.losses.lines > 0;
  if (has_logs || rule.role == Role::Symptom) finding.role = Role::Advice;
  finding.hosts.assign(shown.hosts.begin(), shown.hosts.end());
  if (finding.hosts.size() == 1) finding.subject.host = finding.hosts.front();
  finding.message = fmt::format("{}: {}.{}", few_of(finding.hosts, 4, ", "), shown.what(),
                                has_logs ? " No line of the logs shows it." : "");
  finding.host_check = {HostCheck::Answer::Shown, finding.hosts, shown.what(), false};
  return finding;
}

}  // namespace ncclog
