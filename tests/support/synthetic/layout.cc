#include "support/synthetic/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ncclog::testing {
namespace {

/// A divisor of `of`, at most `most`; small ones are as likely as large ones.
int divisor(int of, int most, Seeded& seeded) {
  std::vector<int> divisors;
  for (int d = 1; d <= std::min(of, most); ++d) {
    if (of % d == 0) divisors.push_back(d);
  }
  return seeded.pick<int>(divisors);
}

/// Ranks for which `part` gives the same number form a group; parts of one rank are left out.
template <typename Part>
void add_groups(Layout& layout, GroupKind kind, bool is_split, Part part) {
  std::map<int, std::vector<int>> parts;
  for (int rank = 0; rank < layout.world; ++rank) parts[part(rank)].push_back(rank);
  int color = 0;
  for (auto& [number, ranks] : parts) {
    if (ranks.size() < 2) continue;
    layout.groups.push_back({kind, std::move(ranks), color++, is_split});
  }
}

void add_pairs(Layout& layout) {
  const int stage = layout.tensor * layout.data;
  for (int rank = 0; rank + stage < layout.world; ++rank) {
    layout.groups.push_back({GroupKind::Pair, {rank, rank + stage}, rank, false});
  }
}

void index_groups(Layout& layout) {
  layout.group_by_rank.assign(static_cast<size_t>(layout.world), std::vector<int>(kGroupKinds, -1));
  for (size_t g = 0; g < layout.groups.size(); ++g) {
    const Group& group = layout.groups[g];
    for (const int rank : group.ranks) {
      if (group.kind == GroupKind::Pair && rank != group.ranks.front()) continue;
      layout.group_by_rank[static_cast<size_t>(rank)][static_cast<size_t>(group.kind)] =
          static_cast<int>(g);
    }
  }
}

void make_groups(Layout& layout, bool is_split) {
  const int tensor = layout.tensor;
  const int stage = tensor * layout.data;
  add_groups(layout, GroupKind::World, false, [](int) { return 0; });
  add_groups(layout, GroupKind::Tensor, is_split, [&](int rank) { return rank / tensor; });
  if (layout.tensor * layout.pipeline > 1) {
    add_groups(layout, GroupKind::Data, is_split,
               [&](int rank) { return rank / stage * tensor + rank % tensor; });
  }
  if (layout.has_pairs) {
    add_pairs(layout);
  } else {
    add_groups(layout, GroupKind::Pipeline, is_split, [&](int rank) { return rank % stage; });
  }
  if (layout.expert > 1) {
    add_groups(layout, GroupKind::Expert, is_split, [&](int rank) {
      const int place = rank % stage / tensor / layout.expert;
      return (rank / stage * layout.data + place) * tensor + rank % tensor;
    });
  }
}

}  // namespace

int Group::rank_of(int global_rank) const {
  return static_cast<int>(std::lower_bound(ranks.begin(), ranks.end(), global_rank) -
                          ranks.begin());
}

bool Group::has(int global_rank) const {
  return std::binary_search(ranks.begin(), ranks.end(), global_rank);
}

int Layout::group_of(GroupKind kind, int rank) const {
  return group_by_rank[static_cast<size_t>(rank)][static_cast<size_t>(kind)];
}

std::string_view name_of(GroupKind kind) {
  constexpr std::string_view kNames[kGroupKinds] = {"world", "tp", "dp", "pp", "ep", "pair"};
  return kNames[static_cast<size_t>(kind)];
}

Layout make_layout(int world, Seeded& seeded) {
  constexpr int kRanksPerHost[] = {8, 8, 8, 4, 2};
  Layout layout;
  layout.world = world;
  layout.ranks_per_host = seeded.pick<int>(kRanksPerHost);
  layout.tensor = divisor(world, 8, seeded);
  layout.pipeline = divisor(world / layout.tensor, 4, seeded);
  layout.data = world / layout.tensor / layout.pipeline;
  layout.expert = seeded.chance(30) ? divisor(layout.data, 8, seeded) : 1;
  layout.has_pairs = seeded.chance(40);
  make_groups(layout, seeded.chance(35));
  index_groups(layout);
  return layout;
}

bool is_on_one_host(const Layout& layout, const Group& group) {
  return layout.host_of(group.ranks.front()) == layout.host_of(group.ranks.back());
}

std::string host_name(const Layout& layout, int rank) {
  const int host = layout.host_of(rank);
  if (layout.hosts() <= 26) return fmt::format("node-{}", static_cast<char>('a' + host));
  return fmt::format("gpu{:03}", host);
}

}  // namespace ncclog::testing
