#include "report/runs_text.h"

#include <fmt/format.h>

#include <string_view>

namespace ncclog {
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

}  // namespace ncclog
