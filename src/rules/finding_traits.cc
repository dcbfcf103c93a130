#include "rules/finding_traits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "rules/verdict.h"

namespace ncclog {
namespace {

/// "all ranks", "ranks 1,3"; empty if it names none.
std::string ranks_of(const Finding& finding, const Job& job) {
  if (finding.ranks.empty()) return {};
  const bool all = job.nranks && finding.ranks.size() == static_cast<size_t>(*job.nranks);
  if (all) return "all ranks";
  return fmt::format("{} {}", finding.ranks.size() == 1 ? "rank" : "ranks",
                     ranges_text(finding.ranks));
}

Trait trait_of(const Finding& finding, const Job& job) {
  Trait trait{.topic = Topic::Finding, .name = finding.id};
  const std::string ranks = ranks_of(finding, job);
  trait.value = fmt::format("{}: {}", to_string(finding.severity), first_sentence(finding.message));
  trait.alike = fmt::format("{} {}", to_string(finding.severity), ranks);
  trait.explains = finding.explains;
  trait.is_note = finding.severity == Severity::Info;
  for (const Evidence& line : finding.evidence) {
    if (trait.evidence.size() < Trait::kMaxEvidence) trait.evidence.push_back(line);
  }
  return trait;
}

}  // namespace

std::vector<Trait> finding_traits(const Diagnosis& diagnosis, const Job& job) {
  std::vector<Trait> traits;
  for (const Finding& finding : diagnosis.findings) traits.push_back(trait_of(finding, job));
  std::sort(traits.begin(), traits.end(),
            [](const Trait& a, const Trait& b) { return a.name < b.name; });
  return traits;
}

}  // namespace ncclog
