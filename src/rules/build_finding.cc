#include "rules/build_finding.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "model/job.h"
#include "rules/amd_words.h"

namespace ncclog {
namespace {

/// What shows the finding, one list per condition, each in input order.
std::vector<std::vector<Evidence>> evidence_by_condition(const std::vector<Firing>& firings) {
  std::vector<std::vector<Evidence>> lists;
  for (const Firing& firing : firings) {
    for (size_t i = 0; i < firing.hits.size(); ++i) {
      if (lists.size() <= i) lists.resize(i + 1);
      const Hit& hit = firing.hits[i];
      for (const ReadRecord* read : hit.records) {
        lists[i].push_back({read->record->where, read->record->text});
      }
      if (hit.value != nullptr) {
        lists[i].insert(lists[i].end(), hit.value->evidence.begin(), hit.value->evidence.end());
      }
    }
  }
  for (std::vector<Evidence>& list : lists) {
    std::stable_sort(list.begin(), list.end(),
                     [](const Evidence& a, const Evidence& b) { return a.where < b.where; });
  }
  return lists;
}

/// Takes lines from the conditions in turn, so that each of them is shown before one is shown
/// whole.
void add_evidence(const std::vector<Firing>& firings, Finding& finding) {
  const auto lists = evidence_by_condition(firings);
  std::set<SourceRef> all;
  size_t longest = 0;
  for (const auto& list : lists) {
    longest = std::max(longest, list.size());
    for (const Evidence& evidence : list) all.insert(evidence.where);
  }
  std::set<SourceRef> taken;
  for (size_t i = 0; i < longest && taken.size() < Finding::kMaxEvidence; ++i) {
    for (const auto& list : lists) {
      if (i >= list.size() || taken.size() == Finding::kMaxEvidence) continue;
      if (taken.insert(list[i].where).second) finding.evidence.push_back(list[i]);
    }
  }
  std::sort(finding.evidence.begin(), finding.evidence.end(),
            [](const Evidence& a, const Evidence& b) { return a.where < b.where; });
  finding.evidence_omitted = all.size() - finding.evidence.size();
}

/// A finding that rests on other findings alone is shown by what shows those.
void inherit_evidence(const std::vector<Firing>& firings, Finding& finding) {
  for (const Firing& firing : firings) {
    for (const Hit& hit : firing.hits) {
      if (hit.finding == nullptr || !finding.evidence.empty()) continue;
      finding.evidence = hit.finding->evidence;
      finding.evidence_omitted = hit.finding->evidence_omitted;
    }
  }
}

void add_parties(const std::vector<Party>& parties, Finding& finding) {
  std::set<std::string> hosts;
  std::set<int> ranks;
  for (const Party& party : parties) {
    if (!party.host.empty()) hosts.insert(party.host);
    if (party.rank >= 0) ranks.insert(party.rank);
  }
  finding.hosts.assign(hosts.begin(), hosts.end());
  finding.ranks.assign(ranks.begin(), ranks.end());
  if (parties.empty()) return;
  const Party& first = parties.front();
  finding.subject.rank = first.rank;
  finding.subject.host = first.host;
  finding.subject.pid = first.pid;
}

/// Id of the instance's communicator, else of the one that a fact names; empty: none.
std::string communicator_of(const Job& job, const std::vector<Firing>& firings) {
  const int communicator = firings.front().instance->communicator;
  if (communicator >= 0) return job.communicators[static_cast<size_t>(communicator)].id;
  for (const Firing& firing : firings) {
    for (const Hit& hit : firing.hits) {
      if (hit.value != nullptr && !hit.value->communicator.empty()) return hit.value->communicator;
    }
  }
  return {};
}

/// True if a fact rests on what no line says.
bool is_inferred(const std::vector<Firing>& firings) {
  return std::any_of(firings.begin(), firings.end(), [](const Firing& firing) {
    return std::any_of(firing.hits.begin(), firing.hits.end(),
                       [](const Hit& hit) { return hit.value != nullptr && hit.value->inferred; });
  });
}

Confidence a_grade_less(Confidence confidence) {
  return confidence == Confidence::Certain ? Confidence::Likely : Confidence::Possible;
}

Finding texts_of(const Rule& rule) {
  Finding finding;
  finding.id = rule.id;
  finding.severity = rule.severity;
  finding.confidence = rule.confidence;
  finding.role = rule.role;
  finding.title = rule.title;
  finding.why = rule.why;
  finding.check = rule.check;
  finding.fix = rule.fix;
  finding.do_not = rule.do_not;
  finding.references = rule.references;
  finding.explains = rule.explains;
  finding.explains_same_ranks = rule.explains_same_ranks;
  return finding;
}

}  // namespace

Finding build_finding(const Rule& rule, JobView& view, const std::vector<Firing>& firings) {
  Finding finding = texts_of(rule);
  if (is_rccl(view.job())) {
    for (std::vector<std::string>* texts : {&finding.check, &finding.fix, &finding.do_not})
      use_amd_words(*texts);
  }
  const std::vector<Party> parties = blamed_parties(rule, view.job(), firings);
  add_parties(parties, finding);
  finding.subject.communicator = communicator_of(view.job(), firings);
  if (is_inferred(firings)) finding.confidence = a_grade_less(finding.confidence);
  add_evidence(firings, finding);
  inherit_evidence(firings, finding);
  finding.message = fill_message(rule, view, firings, finding, parties);
  return finding;
}

}  // namespace ncclog
