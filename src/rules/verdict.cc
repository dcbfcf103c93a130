#include "rules/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diagnose/outcome/outcome.h"
#include "log/known_messages.h"

namespace ncclog {
namespace {

bool has_severity(const std::vector<Finding>& findings, Severity severity) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return finding.severity == severity; });
}

/// A line that tells how NCCL or the framework fares; a progress bar does not.
bool is_usable(const SpeakerLog& log) {
  if (!log.comms.all.empty() || !log.connections.all.empty()) return true;
  return std::any_of(log.records.begin(), log.records.end(), [](const auto& entry) {
    return all_kinds()[entry.first].source == Source::Nccl;
  });
}

bool explains(const Finding& cause, const Finding& effect) {
  return std::find(cause.explains.begin(), cause.explains.end(), effect.id) != cause.explains.end();
}

/// All that follows from a finding, directly or not.
std::vector<const Finding*> consequences_of(const std::vector<Finding>& findings,
                                            const Finding& cause) {
  std::set<std::string_view> known = {cause.id};
  std::vector<const Finding*> open = {&cause};
  std::vector<const Finding*> result;
  while (!open.empty()) {
    const Finding& from = *open.back();
    open.pop_back();
    for (const Finding& next : findings) {
      if (!explains(from, next) || !known.insert(next.id).second) continue;
      open.push_back(&next);
      result.push_back(&next);
    }
  }
  return result;
}

std::string headline_of(const std::vector<Finding>& findings, const Finding& first) {
  std::string sentence = first_sentence(first.message);
  const std::vector<const Finding*> others = consequences_of(findings, first);
  if (others.empty()) return sentence;
  uint64_t shown = 0;
  for (const Finding* other : others) shown += other->evidence.size() + other->evidence_omitted;
  if (sentence.ends_with('.')) sentence.pop_back();
  const std::string lines = shown > others.size() ? fmt::format(" ({} lines)", shown) : "";
  return others.size() == 1 ? fmt::format("{}; another finding{} follows from it.", sentence, lines)
                            : fmt::format("{}; {} other findings{} follow from it.", sentence,
                                          others.size(), lines);
}

std::string why_unusable(const LossTable& losses, bool has_dumps) {
  if (losses.lines == 0 && has_dumps) {
    return "There are only dumps of the Flight Recorder, and nothing in them shows that the job "
           "stopped: what the program printed says that.";
  }
  if (losses.lines == 0) return "There is no line to judge.";
  if (losses.count(Loss::LineInDoubt) + losses.count(Loss::LineTorn) > 0) {
    return "Processes tore each other's lines, so that none of them is sure: nothing to judge.";
  }
  return "No line of NCCL was found: nothing to judge.";
}

std::string lines_words(const Job& job) {
  return job.losses.lines == 1 ? "this line" : fmt::format("these {} lines", job.losses.lines);
}

/// The user saw that something was wrong, and the logs show nothing of it.
Verdict against_stated(const Job& job) {
  constexpr std::string_view kSeen[] = {"hung", "crashed", "was slow"};
  return {VerdictStatus::NothingFound,
          fmt::format("You say that the job {}, and nothing in {} shows why: {}.",
                      kSeen[static_cast<size_t>(*job.stated)], lines_words(job), extent_words(job)),
          {}};
}

Verdict without_fault(const std::vector<Finding>& findings, const Job& job) {
  const EndOf& end = outcome_of(job).job;
  const bool says_otherwise = job.stated && *job.stated != StatedOutcome::Finished;
  // Whoever reports the failure need not be NCCL: it is told all the same.
  if (end.state == EndState::Failed && !says_otherwise) {
    return {VerdictStatus::Suspicious,
            fmt::format("The job failed, and these logs do not say why: {}.", end.what),
            {}};
  }
  const bool only_dumps = job.losses.lines == 0 && !job.flight_recorders.empty();
  const bool usable = !only_dumps && (!findings.empty() ||
                                      std::any_of(job.logs.begin(), job.logs.end(), is_usable));
  if (!usable) return {VerdictStatus::CannotJudge, why_unusable(job.losses, only_dumps), {}};
  if (says_otherwise) return against_stated(job);
  if (end.state == EndState::Finished) {
    return {
        VerdictStatus::Clean, "The job finished, and nothing is wrong in what its logs show.", {}};
  }
  return {VerdictStatus::NothingFound,
          fmt::format("No problem in {}: {}.", lines_words(job), extent_words(job)),
          {}};
}

}  // namespace

/// A quotation is open at that place, and closed after it.
static bool is_quoted(std::string_view message, size_t at) {
  return std::count(message.begin(), message.begin() + static_cast<ptrdiff_t>(at), '"') % 2 == 1 &&
         message.find('"', at) != message.npos;
}

std::string first_sentence(std::string_view message) {
  for (size_t dot = message.find(". "); dot != message.npos; dot = message.find(". ", dot + 1)) {
    const size_t next = dot + 2;
    const bool begins = next < message.size() && message[next] >= 'A' && message[next] <= 'Z';
    if (begins && !is_quoted(message, dot)) {
      return std::string(message.substr(0, dot + 1));
    }
  }
  return std::string(message);
}

Verdict make_verdict(const std::vector<Finding>& findings, const Job& job) {
  const bool error = has_severity(findings, Severity::Error);
  if (!error && !has_severity(findings, Severity::Warning)) return without_fault(findings, job);
  const Finding& first = findings.front();
  std::string headline = headline_of(findings, first);
  if (outcome_of(job).job.state == EndState::Finished) {
    if (headline.ends_with('.')) headline.pop_back();
    headline += "; the job finished.";
  }
  return {error ? VerdictStatus::Problem : VerdictStatus::Suspicious, std::move(headline),
          first.id};
}

// Findings by cause.

namespace {

/// True if `effect` names ranks, and all of them are among those of `cause`.
bool names_no_other_ranks(const Finding& effect, const Finding& cause) {
  return !effect.ranks.empty() && std::includes(cause.ranks.begin(), cause.ranks.end(),
                                                effect.ranks.begin(), effect.ranks.end());
}

void explain_same_ranks(std::vector<Finding>& findings) {
  for (Finding& cause : findings) {
    for (const Finding& effect : findings) {
      const auto& wanted = cause.explains_same_ranks;
      const bool meant = std::find(wanted.begin(), wanted.end(), effect.id) != wanted.end();
      if (meant && names_no_other_ranks(effect, cause)) cause.explains.push_back(effect.id);
    }
    cause.explains_same_ranks.clear();
  }
}

void keep_present_ids(std::vector<Finding>& findings) {
  std::set<std::string> present;
  for (const Finding& finding : findings) present.insert(finding.id);
  for (Finding& finding : findings) {
    std::erase_if(finding.explains,
                  [&](const std::string& id) { return id == finding.id || !present.contains(id); });
  }
}

/// The worst severity of a finding and all that follows from it.
Severity weight_of(const std::vector<Finding>& findings, const Finding& cause) {
  Severity worst = cause.severity;
  for (const Finding* effect : consequences_of(findings, cause)) {
    worst = std::min(worst, effect->severity);
  }
  return worst;
}

int rank_of(Role role) {
  if (role == Role::Cause) return 0;
  return role == Role::Advice ? 1 : 2;
}

/// True if some finding that is not placed yet explains finding `i`.
bool is_explained(const std::vector<Finding>& findings, const std::vector<bool>& placed, size_t i) {
  for (size_t other = 0; other < findings.size(); ++other) {
    if (!placed[other] && explains(findings[other], findings[i])) return true;
  }
  return false;
}

}  // namespace

std::vector<Finding> order_by_cause(std::vector<Finding> findings) {
  explain_same_ranks(findings);
  keep_present_ids(findings);
  std::vector<Severity> weights;
  for (const Finding& finding : findings) weights.push_back(weight_of(findings, finding));
  const auto key = [&](size_t i) {
    const Finding& finding = findings[i];
    return std::make_tuple(weights[i], finding.severity, rank_of(finding.role), finding.confidence,
                           std::string_view(finding.id));
  };
  std::vector<bool> placed(findings.size(), false);
  std::vector<size_t> order;
  while (order.size() < findings.size()) {
    // Findings that explain each other in a circle are placed as if nothing explained them.
    size_t best = findings.size();
    bool best_is_free = false;
    for (size_t i = 0; i < findings.size(); ++i) {
      if (placed[i]) continue;
      const bool is_free = !is_explained(findings, placed, i);
      const bool better = best == findings.size() || (is_free && !best_is_free) ||
                          (is_free == best_is_free && key(i) < key(best));
      if (better) best = i, best_is_free = is_free;
    }
    placed[best] = true;
    order.push_back(best);
  }
  std::vector<Finding> result;
  result.reserve(order.size());
  for (const size_t i : order) result.push_back(std::move(findings[i]));
  return result;
}

}  // namespace ncclog
