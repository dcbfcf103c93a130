#include "rules/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

/// What follows from a finding, directly or not.
struct Consequences {
  size_t findings = 0;
  uint64_t lines = 0;  ///< Of the log, that show them.
};

Consequences consequences_of(const std::vector<Finding>& findings, const Finding& cause) {
  std::set<std::string_view> known = {cause.id};
  std::vector<const Finding*> open = {&cause};
  Consequences result;
  while (!open.empty()) {
    const Finding& from = *open.back();
    open.pop_back();
    for (const Finding& next : findings) {
      const bool follows = std::count(from.explains.begin(), from.explains.end(), next.id) > 0;
      if (!follows || !known.insert(next.id).second) continue;
      open.push_back(&next);
      ++result.findings;
      result.lines += next.evidence.size() + next.evidence_omitted;
    }
  }
  return result;
}

std::string headline_of(const std::vector<Finding>& findings, const Finding& first) {
  std::string sentence = first_sentence(first.message);
  const Consequences others = consequences_of(findings, first);
  if (others.findings == 0) return sentence;
  if (sentence.ends_with('.')) sentence.pop_back();
  const std::string lines =
      others.lines > others.findings ? fmt::format(" ({} lines)", others.lines) : "";
  return others.findings == 1
             ? fmt::format("{}; another finding{} follows from it.", sentence, lines)
             : fmt::format("{}; {} other findings{} follow from it.", sentence, others.findings,
                           lines);
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

}  // namespace ncclog
