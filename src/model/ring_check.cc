#include "model/ring_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace ncclog {
namespace {

bool is_rank(int rank, size_t nranks) { return rank >= 0 && static_cast<size_t>(rank) < nranks; }

/// What is wrong with a whole list of ranks; empty if every rank stands in it once.
std::string fault_of_list(const std::vector<int>& listed, size_t nranks) {
  std::vector<bool> seen(nranks);
  for (const int rank : listed) {
    if (!is_rank(rank, nranks)) return fmt::format("rank {} of {} is listed", rank, nranks);
    if (seen[static_cast<size_t>(rank)]) return fmt::format("rank {} is listed twice", rank);
    seen[static_cast<size_t>(rank)] = true;
  }
  return {};
}

/// Neighbours that do not name each other; empty if there are none.
std::string fault_of_neighbours(const RingSayings& says) {
  const size_t nranks = says.next.size();
  for (size_t r = 0; r < nranks; ++r) {
    const int next = says.next[r];
    if (next < 0) continue;
    if (!is_rank(next, nranks)) return fmt::format("rank {} passes on to rank {}", r, next);
    const int back = says.prev[static_cast<size_t>(next)];
    if (back >= 0 && static_cast<size_t>(back) != r) {
      return fmt::format("rank {} passes on to rank {}, which receives from rank {}", r, next,
                         back);
    }
  }
  return {};
}

/// A rank whose neighbour is not the one that the list has; empty if there is none.
std::string fault_between(const RingSayings& says) {
  for (size_t i = 0; i < says.listed.size(); ++i) {
    const int rank = says.listed[i];
    const int next = says.listed[(i + 1) % says.listed.size()];
    const int said = says.next[static_cast<size_t>(rank)];
    if (said >= 0 && said != next) {
      return fmt::format("rank {} passes on to rank {}, rank 0 lists rank {}", rank, said, next);
    }
  }
  return {};
}

/// Ranks from rank 0 on, until the ring closes or a rank's next one is not known.
std::vector<int> follow(const std::vector<int>& next) {
  std::vector<int> order;
  std::vector<bool> seen(next.size());
  int rank = 0;
  while (is_rank(rank, next.size()) && !seen[static_cast<size_t>(rank)]) {
    seen[static_cast<size_t>(rank)] = true;
    order.push_back(rank);
    rank = next[static_cast<size_t>(rank)];
  }
  return order;
}

Ring broken(Ring ring, std::string remark) {
  ring.check = GraphCheck::Broken;
  ring.remark = std::move(remark);
  return ring;
}

}  // namespace

Ring check_ring(const RingSayings& says) {
  Ring ring;
  const size_t nranks = says.next.size();
  const auto seen = static_cast<size_t>(
      std::count_if(says.next.begin(), says.next.end(), [](int next) { return next >= 0; }));
  ring.order = says.listed.empty() ? follow(says.next) : says.listed;
  if (says.contradictory) {
    ring.remark = "its lines contradict each other";
    return ring;
  }
  if (says.listed_whole) {
    std::string fault = fault_of_list(says.listed, nranks);
    if (!fault.empty()) return broken(std::move(ring), std::move(fault));
    fault = fault_between(says);
    if (!fault.empty()) return broken(std::move(ring), std::move(fault));
  }
  std::string fault = fault_of_neighbours(says);
  if (!fault.empty()) return broken(std::move(ring), std::move(fault));
  if (says.listed_whole) {
    ring.check = GraphCheck::Sound;
  } else if (seen == nranks && nranks > 0) {
    ring.order = follow(says.next);
    if (ring.order.size() < nranks) {
      return broken(std::move(ring), fmt::format("it closes after {} of {} ranks",
                                                 follow(says.next).size(), nranks));
    }
    ring.check = GraphCheck::Sound;
  } else if (!says.listed.empty()) {
    ring.remark = fmt::format("the list is cut after {} ranks", says.listed.size());
  } else {
    ring.remark = fmt::format("{} of {} ranks tell their neighbours", seen, nranks);
  }
  return ring;
}

namespace {

bool names(const TreePlace& place, int child) {
  return std::find(place.down.begin(), place.down.end(), child) != place.down.end();
}

/// An edge whose ends do not name each other; empty if there is none.
std::string fault_of_edges(const std::vector<TreePlace>& places) {
  const auto at = [&](int rank) -> const TreePlace& { return places[static_cast<size_t>(rank)]; };
  for (const TreePlace& place : places) {
    if (place.rank < 0) continue;
    if (place.up >= 0) {
      if (!is_rank(place.up, places.size())) {
        return fmt::format("the parent of rank {} is rank {}", place.rank, place.up);
      }
      if (at(place.up).rank >= 0 && !names(at(place.up), place.rank)) {
        return fmt::format("rank {} has parent {}, which does not have it as a child", place.rank,
                           place.up);
      }
    }
    for (const int child : place.down) {
      if (!is_rank(child, places.size())) {
        return fmt::format("a child of rank {} is rank {}", place.rank, child);
      }
      if (at(child).rank >= 0 && at(child).up != place.rank) {
        return fmt::format("rank {} has child {}, whose parent is {}", place.rank, child,
                           at(child).up);
      }
    }
  }
  return {};
}

/// Edges from `rank` to the root; -1 if it is not reached.
int depth_of(const std::vector<TreePlace>& places, int rank) {
  int depth = 0;
  while (static_cast<size_t>(depth) <= places.size()) {
    const TreePlace& place = places[static_cast<size_t>(rank)];
    if (place.rank < 0) return -1;
    if (place.up < 0) return depth;
    rank = place.up;
    ++depth;
  }
  return -1;
}

}  // namespace

Tree check_tree(const std::vector<TreePlace>& places) {
  Tree tree;
  size_t seen = 0;
  std::vector<int> roots;
  for (const TreePlace& place : places) {
    tree.parents.push_back(place.rank < 0 ? Tree::kUnseen : place.up);
    seen += place.rank >= 0 ? 1 : 0;
    if (place.rank >= 0 && place.up < 0) roots.push_back(place.rank);
  }
  if (roots.size() == 1) tree.root = roots.front();
  const auto give = [&](GraphCheck check, std::string remark) {
    tree.check = check;
    tree.remark = std::move(remark);
    return tree;
  };
  std::string fault = fault_of_edges(places);
  if (!fault.empty()) return give(GraphCheck::Broken, std::move(fault));
  if (roots.size() > 1) {
    return give(GraphCheck::Broken,
                fmt::format("ranks {} and {} are both roots", roots[0], roots[1]));
  }
  if (seen < places.size()) {
    return give(GraphCheck::Unknown,
                fmt::format("{} of {} ranks tell their place", seen, places.size()));
  }
  int deepest = 0;
  for (size_t r = 0; r < places.size(); ++r) {
    const int depth = depth_of(places, static_cast<int>(r));
    if (depth < 0) {
      return give(GraphCheck::Broken, fmt::format("rank {} does not reach a root", r));
    }
    deepest = std::max(deepest, depth);
  }
  tree.depth = deepest;
  return give(GraphCheck::Sound, "");
}

}  // namespace ncclog
