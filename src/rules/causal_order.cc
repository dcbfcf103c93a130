#include "rules/causal_order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace ncclog {
namespace {

bool explains(const Finding& cause, const Finding& effect) {
  return std::ranges::find(cause.explains, effect.id) != cause.explains.end();
}

void explain_same_ranks(std::vector<Finding>& findings) {
  for (Finding& cause : findings) {
    for (const Finding& effect : findings) {
      const auto& wanted = cause.explains_same_ranks;
      const bool meant = std::ranges::find(wanted, effect.id) != wanted.end();
      // It names ranks, and all of them are among those of the cause.
      if (meant && !effect.ranks.empty() && std::ranges::includes(cause.ranks, effect.ranks)) {
        cause.explains.push_back(effect.id);
      }
    }
    cause.explains_same_ranks.clear();
  }
}

}  // namespace

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

std::vector<Finding> order_by_cause(std::vector<Finding> findings) {
  explain_same_ranks(findings);
  for (Finding& finding : findings) {
    std::erase_if(finding.explains, [&](const std::string& id) {
      return id == finding.id || std::ranges::find(findings, id, &Finding::id) == findings.end();
    });
  }
  // The worst severity of a finding and all that follows from it.
  std::map<std::string, Severity> weights;
  for (const Finding& finding : findings) {
    Severity& worst = weights.emplace(finding.id, finding.severity).first->second;
    for (const Finding* effect : consequences_of(findings, finding)) {
      worst = std::min(worst, effect->severity);
    }
  }
  const auto key = [&](const Finding& finding) {
    const bool is_explained = std::ranges::any_of(
        findings, [&](const Finding& other) { return explains(other, finding); });
    // Causes, then advice, then symptoms.
    return std::make_tuple(is_explained, weights.at(finding.id), finding.severity,
                           finding.role != Role::Cause, finding.role != Role::Advice,
                           finding.confidence, std::string_view(finding.id));
  };
  std::vector<Finding> result;
  // Findings that explain each other in a circle are placed as if nothing explained them.
  while (!findings.empty()) {
    const auto next = std::ranges::min_element(findings, {}, key);
    result.push_back(std::move(*next));
    findings.erase(next);
  }
  return result;
}

}  // namespace ncclog
