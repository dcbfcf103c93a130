#include "report/verdict_and_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "base/text.h"
#include "diagnose/outcome/outcome.h"
#include "report/text_layout.h"

namespace ncclog {

std::string_view verdict_word(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::Problem:
      return "PROBLEM";
    case VerdictStatus::Suspicious:
      return "SUSPICIOUS";
    case VerdictStatus::Clean:
      return "CLEAN";
    case VerdictStatus::NothingFound:
      return "NOTHING FOUND";
    case VerdictStatus::CannotJudge:
      return "CANNOT JUDGE";
  }
  return "CANNOT JUDGE";
}

const Finding* find_finding(const Report& report, std::string_view id) {
  for (const Finding& finding : report.diagnosis.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

std::vector<const Finding*> consequences(const Report& report, const Finding& cause) {
  std::set<std::string> ids = {cause.id};
  std::vector<std::string> open = cause.explains;
  while (!open.empty()) {
    const std::string id = open.back();
    open.pop_back();
    const Finding* finding = find_finding(report, id);
    // A rule names all that may follow from it, most of which is not there; circles end here, too.
    if (finding == nullptr || !ids.insert(id).second) continue;
    open.insert(open.end(), finding->explains.begin(), finding->explains.end());
  }
  std::vector<const Finding*> list;
  for (const Finding& finding : report.diagnosis.findings) {
    if (finding.id != cause.id && ids.contains(finding.id)) list.push_back(&finding);
  }
  return list;
}

std::vector<const Finding*> independent_findings(const Report& report, const Finding* main) {
  std::set<std::string> explained;
  for (const Finding& finding : report.diagnosis.findings) {
    for (const Finding* follower : consequences(report, finding)) explained.insert(follower->id);
  }
  std::vector<const Finding*> list;
  for (const Finding& finding : report.diagnosis.findings) {
    if (&finding != main && !explained.contains(finding.id)) list.push_back(&finding);
  }
  return list;
}

std::string subject_words(const Finding& finding) {
  constexpr size_t kMaxHosts = 6;
  std::string out;
  if (!finding.ranks.empty()) {
    out =
        fmt::format("rank{} {}", finding.ranks.size() == 1 ? "" : "s", ranges_text(finding.ranks));
  }
  if (finding.hosts.empty()) return out;
  const std::string_view before = !out.empty()                ? " on "
                                  : finding.hosts.size() == 1 ? "host "
                                                              : "hosts ";
  return out.append(before) + some_of(finding.hosts, kMaxHosts);
}

std::string named_with_ranks(const Finding& finding) {
  if (finding.ranks.empty()) return finding.id;
  return fmt::format("{} ({} {})", finding.id, finding.ranks.size() == 1 ? "rank" : "ranks",
                     ranges_text(finding.ranks));
}

std::string_view beyond_headline(std::string_view headline, std::string_view message) {
  const auto differs =
      std::mismatch(headline.begin(), headline.end(), message.begin(), message.end());
  const auto same = static_cast<size_t>(differs.second - message.begin());
  const std::string_view rest = message.substr(same);
  // Only whole sentences are left out: what the headline breaks off has to be read from its start.
  if (same == 0 || !(rest.empty() || rest[0] == '.' || message[same - 1] == '.')) return message;
  return trim(rest.substr(rest.starts_with('.') ? 1 : 0));
}

bool is_command(std::string_view item) {
  return !item.empty() && !(item[0] >= 'A' && item[0] <= 'Z') && !item.ends_with('.');
}

namespace {

/// NCCL_P2P_DISABLE, ALLREDUCE: a name means what it says, digits and all.
bool is_name(std::string_view word) {
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z'); }) &&
         !is_digit(word.front());
}

/// What a line is like, apart from numbers, names of files and whatever else a digit is part of.
std::string shape_of(std::string_view line) {
  std::string shape;
  for (const std::string_view word : split_blanks(line)) {
    const bool varies = word.find('/') != word.npos ||
                        (std::any_of(word.begin(), word.end(), is_digit) && !is_name(word));
    shape += varies ? std::string_view("#") : word;
    shape += ' ';
  }
  return shape;
}

/// What else than the first of its like is worth showing. A dump has no line that ranks print
/// alike: what is said of it is said because it differs.
std::string likeness_of(const Evidence& evidence) {
  return evidence.where.line == 0 ? "dump: " + evidence.text : shape_of(evidence.text);
}

/// True for NCCL's lines of the one process that the finding is about.
bool is_of_subject(const Finding& finding, const Evidence& evidence) {
  if (finding.ranks.size() != 1 || finding.subject.pid < 0) return false;
  const std::string pid = fmt::format(":{}:", finding.subject.pid);
  return evidence.text.find(pid) != std::string::npos;
}

}  // namespace

std::vector<const Evidence*> telling_evidence(const Finding& finding, size_t most) {
  std::vector<const Evidence*> shown;
  std::set<std::string> shapes;
  // A place without its line says least, so lines come first.
  for (const bool has_text : {true, false}) {
    for (const Evidence& evidence : finding.evidence) {
      if (shown.size() == most || has_text == evidence.text.empty()) continue;
      const std::string whose = is_of_subject(finding, evidence) ? "its own: " : "";
      if (shapes.insert(whose + likeness_of(evidence)).second) shown.push_back(&evidence);
    }
  }
  return shown;
}

namespace {

std::string verdict_words(const Verdict& verdict) {
  const auto with_finding = [&](std::string_view word) {
    return verdict.finding.empty() ? std::string(word)
                                   : fmt::format("{} ({})", word, verdict.finding);
  };
  switch (verdict.status) {
    case VerdictStatus::Problem:
      return with_finding("problem");
    case VerdictStatus::Suspicious:
      return with_finding("suspicious");
    case VerdictStatus::Clean:
      return "healthy";
    case VerdictStatus::NothingFound:
      return "no problem seen";
    case VerdictStatus::CannotJudge:
      break;
  }
  return "cannot be judged";
}

std::string sentence(const JudgedRun& run) {
  std::string text = fmt::format("{}: {}", run.name, verdict_words(run.verdict));
  if (text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
  if (run.end.state != EndState::Unknown) text += fmt::format("; {}", to_string(run.end.state));
  if (!run.end.what.empty()) text += ": " + run.end.what;
  if (!run.place.empty()) text += fmt::format(" ({})", run.place);
  return text + ".";
}

}  // namespace

std::vector<std::string> run_sentences(const Diagnosis& diagnosis) {
  std::vector<std::string> sentences;
  for (const JudgedRun& run : diagnosis.runs) sentences.push_back(sentence(run));
  return sentences;
}

namespace {

constexpr EndState kStates[] = {EndState::Finished, EndState::Failed, EndState::Stopped,
                                EndState::Unfinished, EndState::Unknown};

std::string outcome_words(const Job& job) {
  const EndOf& end = outcome_of(job).job;
  if (end.state == EndState::Unknown) return "unknown; these logs do not show how";
  return end.what.empty() ? std::string(to_string(end.state))
                          : fmt::format("{}; {}", to_string(end.state), end.what);
}

std::string outcome_place(const Job& job) {
  const EndOf& end = outcome_of(job).job;
  if (end.evidence.empty()) return {};
  const FileLine place = file_line(job, end.evidence.front().where);
  return place.path.empty() ? std::string() : fmt::format("{}:{}", place.path, place.line);
}

std::string processes_words(const Job& job) {
  const JobOutcome& outcome = outcome_of(job);
  std::array<size_t, std::size(kStates)> counts{};
  size_t all = 0;
  for (size_t p = 0; p < outcome.processes.size(); ++p) {
    if (!job.processes[p].has_nccl || !is_named(job.processes[p])) continue;
    ++counts[static_cast<size_t>(outcome.processes[p].state)];
    ++all;
  }
  const auto count_of = [&](EndState state) { return counts[static_cast<size_t>(state)]; };
  // Processes that ended as the job did, or of which nothing is known, add nothing to its sentence.
  size_t unlike = all - count_of(EndState::Unknown);
  if (outcome.job.state != EndState::Unknown) unlike -= count_of(outcome.job.state);
  if (all < 2 || unlike == 0) return {};
  std::vector<std::string> parts;
  for (const EndState state : kStates) {
    const size_t count = count_of(state);
    if (count == 0) continue;
    parts.push_back(parts.empty()
                        ? fmt::format("{} of {} processes {}", count, all, to_string(state))
                        : fmt::format("{} {}", count, to_string(state)));
  }
  return join(parts, ", ");
}

}  // namespace

std::string outcome_text(const Job& job) {
  std::string text = "Ended: " + outcome_words(job);
  const std::string place = outcome_place(job);
  if (!place.empty()) text += fmt::format(" ({})", place);
  const std::string processes = processes_words(job);
  text += processes.empty() ? "." : fmt::format(". {}.", processes);
  if (job.stated) text += fmt::format(" You say: {}.", to_string(*job.stated));
  return text;
}

namespace {

/// "a; b (and 3 more)".
std::string first_of(const std::vector<std::string>& items, size_t most) {
  const size_t shown = std::min(items.size(), most);
  std::string out = join(std::span(items).first(shown), "; ");
  if (shown < items.size()) out += fmt::format(" (and {} more)", items.size() - shown);
  return out;
}

/// "reproduced-fault (likely)".
std::string kind_of(const ReplaySummary& replay) {
  return replay.confidence.empty() ? replay.kind
                                   : fmt::format("{} ({})", replay.kind, replay.confidence);
}

std::string unfit_sentence(const ReplaySummary& replay) {
  return fmt::format("{} is not of these logs and is not counted: {}.", replay.file, replay.unfit);
}

}  // namespace

std::string replay_sentence(const ReplaySummary& replay) {
  if (!replay.unfit.empty()) return unfit_sentence(replay);
  return fmt::format("A replay{} came out as {}.",
                     replay.machine.empty() ? "" : " on " + replay.machine, kind_of(replay));
}

std::vector<std::string> replay_paragraphs(const ReplaySummary& replay) {
  constexpr size_t kMostChanges = 1;
  if (!replay.unfit.empty()) return {unfit_sentence(replay)};
  std::vector<std::string> out = {fmt::format("{}: {}", kind_of(replay), replay.headline)};
  std::string where =
      replay.machine.empty() ? replay.file : fmt::format("{}: {}", replay.file, replay.machine);
  if (!replay.changed.empty()) {
    where += "; not as recorded: " + first_of(replay.changed, kMostChanges);
  }
  out.push_back(where + (where.ends_with('.') ? "" : "."));
  if (!replay.must_not_conclude.empty()) {
    out.push_back("Do not conclude: " + replay.must_not_conclude.front());
  }
  return out;
}

std::string expectation_words(const CheckedExpectation& expectation) {
  const std::string& what = expectation.outcome.what;
  switch (expectation.outcome.state) {
    case OutcomeState::Met:
      return fmt::format("{} ({})", expectation.text, what);
    case OutcomeState::Broken:
      return fmt::format("{}, but {}", expectation.text, what);
    case OutcomeState::Unknown:
      return fmt::format("{}; {}", expectation.text, what);
  }
  return expectation.text;
}

namespace {

/// "nic-down (ranks 0-3; hosts a, b)"
std::string named(const Finding& finding) {
  std::string whom;
  if (!finding.ranks.empty()) {
    whom =
        fmt::format("rank{} {}", finding.ranks.size() == 1 ? "" : "s", ranges_text(finding.ranks));
  }
  if (!finding.hosts.empty()) {
    whom += fmt::format("{}{} {}", whom.empty() ? "" : "; ",
                        finding.hosts.size() == 1 ? "host" : "hosts", join(finding.hosts, ", "));
  }
  return whom.empty() ? finding.id : fmt::format("{} ({})", finding.id, whom);
}

std::string effect_sentence(const OverlayEffect& effect) {
  const std::string what = effect.severity
                               ? fmt::format("{} instead of {}", to_string(*effect.severity),
                                             to_string(effect.finding.severity))
                               : fmt::format("{}, suppressed", to_string(effect.finding.severity));
  return fmt::format("{}: {} until {} by {}. {}", named(effect.finding), what, effect.until,
                     effect.where, effect.reason);
}

std::string ended_sentence(const EndedOverlay& ended) {
  return fmt::format("{}: the overlay of {} ended on {} and is not applied. {}", ended.rule,
                     ended.where, ended.until, ended.reason);
}

}  // namespace

std::vector<std::string> overlay_sentences(const Diagnosis& diagnosis) {
  std::vector<std::string> sentences;
  for (const OverlayEffect& effect : diagnosis.overlays) {
    sentences.push_back(effect_sentence(effect));
  }
  for (const EndedOverlay& ended : diagnosis.ended_overlays) {
    sentences.push_back(ended_sentence(ended));
  }
  return sentences;
}

}  // namespace ncclog
