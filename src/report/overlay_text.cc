#include "report/overlay_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_parts.h"

namespace ncclog {
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

std::string overlay_text(const Diagnosis& diagnosis, const TextStyle& style) {
  const std::vector<std::string> sentences = overlay_sentences(diagnosis);
  if (sentences.empty()) return {};
  std::string out = "\n" + paint("Overlays", Tone::Strong, style) + "\n";
  for (const std::string& sentence : sentences) out += hang("  - ", printable(sentence), style);
  return out;
}

}  // namespace ncclog
