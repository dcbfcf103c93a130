#include "rules/causal_order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace ncclog {
namespace {

/// Findings as a graph: who explains whom, by position in the list.
struct Graph {
  std::vector<std::vector<size_t>> explains;
  std::vector<Severity> weight;  ///< The worst severity of a finding and all that follows from it.
};

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

Severity worst_below(const Graph& graph, const std::vector<Finding>& findings, size_t from) {
  std::set<size_t> seen = {from};
  std::vector<size_t> open = {from};
  Severity worst = findings[from].severity;
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    worst = std::min(worst, findings[at].severity);
    for (const size_t next : graph.explains[at]) {
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return worst;
}

Graph build_graph(const std::vector<Finding>& findings) {
  std::map<std::string, size_t> position;
  for (size_t i = 0; i < findings.size(); ++i) position[findings[i].id] = i;
  Graph graph;
  for (const Finding& finding : findings) {
    auto& below = graph.explains.emplace_back();
    for (const std::string& id : finding.explains) below.push_back(position.at(id));
  }
  for (size_t i = 0; i < findings.size(); ++i) {
    graph.weight.push_back(worst_below(graph, findings, i));
  }
  return graph;
}

int rank_of(Role role) {
  switch (role) {
    case Role::Cause:
      return 0;
    case Role::Advice:
      return 1;
    case Role::Symptom:
      return 2;
  }
  return 3;
}

/// True if some finding that is not placed yet explains finding `i`.
bool is_explained(const Graph& graph, const std::vector<bool>& placed, size_t i) {
  for (size_t other = 0; other < graph.explains.size(); ++other) {
    const auto& below = graph.explains[other];
    if (!placed[other] && std::find(below.begin(), below.end(), i) != below.end()) return true;
  }
  return false;
}

}  // namespace

std::vector<Finding> order_by_cause(std::vector<Finding> findings) {
  explain_same_ranks(findings);
  keep_present_ids(findings);
  const Graph graph = build_graph(findings);
  const auto key = [&](size_t i) {
    const Finding& finding = findings[i];
    return std::make_tuple(graph.weight[i], finding.severity, rank_of(finding.role),
                           finding.confidence, std::string_view(finding.id));
  };
  std::vector<bool> placed(findings.size(), false);
  std::vector<size_t> order;
  while (order.size() < findings.size()) {
    // Findings that explain each other in a circle are placed as if nothing explained them.
    size_t best = findings.size();
    bool best_is_free = false;
    for (size_t i = 0; i < findings.size(); ++i) {
      if (placed[i]) continue;
      const bool is_free = !is_explained(graph, placed, i);
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
