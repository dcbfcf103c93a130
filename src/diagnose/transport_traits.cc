// Over which transports do ranks reach each other, within a host and between hosts?
//
//   Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM     → within a host: P2P/CUMEM
//   Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/3(5)/GDRDMA
//                                                 → between hosts: NET/IB/GDRDMA (PXN)
//
// The names are those that NCCL prints, without numbers of devices and ranks. What counts is which
// names there are and which part of the connections each has: a longer run connects more pairs.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "diagnose/edges.h"
#include "diagnose/fact_answers.h"
#include "diagnose/trait_tables.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr std::string_view kP2pCheck = "within hosts: P2P for all pairs";

std::string_view name_of(EdgeReach reach) {
  switch (reach) {
    case EdgeReach::SameHost:
      return "within a host";
    case EdgeReach::OtherHost:
      return "between hosts";
    case EdgeReach::Unknown:
      return "between ranks of unknown hosts";
  }
  return {};
}

/// "NET/IB/3(5)/GDRDMA" → "NET/IB/GDRDMA (PXN)".
std::string path_name(const Edge& edge) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(edge.path_text, '/')) {
    const bool is_number = !part.empty() && is_digit(part.front());
    if (!is_number && part.find('[') == part.npos) parts.emplace_back(trim(part));
  }
  return join(parts, "/") + (edge.path.proxy_rank >= 0 ? " (PXN)" : "");
}

/// Connections of one sort of pairs.
struct Pairs {
  std::map<std::string, int64_t> counts;
  std::map<std::string, SourceRef> lines;
};

std::map<EdgeReach, Pairs> pairs_by_reach(const Job& job) {
  std::map<EdgeReach, Pairs> by_reach;
  for (const Edge& edge : edges_of(job)) {
    // Both ends announce a network; the sender's line counts where it is there.
    const bool is_other_end =
        edge.path.transport == Transport::NET && !edge.sends && edge.peer >= 0;
    if (is_other_end) continue;
    Pairs& pairs = by_reach[edge.reach];
    const std::string name = path_name(edge);
    ++pairs.counts[name];
    SourceRef& line = pairs.lines.try_emplace(name, edge.where).first->second;
    line = std::min(line, edge.where);
  }
  return by_reach;
}

Trait transport_trait(EdgeReach reach, const Pairs& pairs) {
  Trait trait{.topic = Topic::Transport, .name = std::string(name_of(reach))};
  trait.value = shares_text(pairs.counts);
  trait.shares = shares_of(pairs.counts);
  for (const auto& [name, line] : pairs.lines) {
    if (trait.evidence.size() < Trait::kMaxEvidence) trait.evidence.push_back({line, {}});
  }
  return trait;
}

/// NCCL's own answer to whether all GPUs of a host reach each other directly.
void add_p2p_check(const Job& job, Traits& traits) {
  StatedValues values;
  for_each_said<P2pCheck>(job, [&](const Said<P2pCheck>& said) {
    std::string value = said.message.direct == 1 ? "yes" : "no";
    values.add(std::move(value), evidence_of(said.record));
  });
  if (values.empty()) return;
  traits.push_back(trait_of(Topic::Transport, std::string(kP2pCheck), values));
}

}  // namespace

void add_transport_traits(const Job& job, Traits& traits) {
  for (const auto& [reach, pairs] : pairs_by_reach(job)) {
    traits.push_back(transport_trait(reach, pairs));
  }
  add_p2p_check(job, traits);
}

Absence transport_absence(const Job& job, const Trait& other) {
  if (other.name == kP2pCheck) return not_told("its logs do not tell");
  const std::vector<Edge>& edges = edges_of(job);
  if (edges.empty()) {
    return not_told(is_torn(job) ? "lines of its logs are torn"
                                 : "no line of its logs tells how ranks are connected");
  }
  // Where the hosts of some pairs are unknown, they may be of any sort.
  const bool is_unknown = std::any_of(edges.begin(), edges.end(), [](const Edge& edge) {
    return edge.reach == EdgeReach::Unknown;
  });
  if (is_unknown || other.name == name_of(EdgeReach::Unknown)) {
    return not_told("its logs do not tell on which hosts some ranks are");
  }
  return other.name == name_of(EdgeReach::OtherHost) && job.nhosts == 1 ? irrelevant() : proven();
}

}  // namespace ncclog
