// Which ranks form which groups, and where each rank runs.
//
//   world 8, tensor 2, pipeline 2, data 2:  tensor {0 1} {2 3} {4 5} {6 7}
//                                           data   {0 2} {1 3} {4 6} {5 7}
//                                           pipeline {0 4} {1 5} {2 6} {3 7}
//
// Ranks are numbered as Megatron-LM numbers them: neighbours share a tensor group, then a data
// group; pipeline stages are farthest apart. Experts divide a data group into equal parts.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/synthetic/seeded.h"

namespace ncclog::testing {

/// What a group of ranks is for.
enum class GroupKind { World, Tensor, Data, Pipeline, Expert, Pair };
inline constexpr int kGroupKinds = 6;

/// Ranks that share a communicator.
struct Group {
  GroupKind kind = GroupKind::World;
  std::vector<int> ranks;  ///< Global ranks, ascending; the place is the rank in the group.
  int color = 0;           ///< Number among the groups of its kind.
  bool is_split = false;   ///< Made from the world's communicator, not by an id of its own.

  int size() const { return static_cast<int>(ranks.size()); }
  /// Rank in the group of a global rank that is in it.
  int rank_of(int global_rank) const;
  bool has(int global_rank) const;
};

/// The shape of a job. Invariant: tensor * data * pipeline == world, and expert divides data.
struct Layout {
  int world = 2;
  int tensor = 1;
  int data = 2;
  int pipeline = 1;
  int expert = 1;             ///< 1: no experts.
  int ranks_per_host = 8;     ///< The last host may have fewer.
  bool has_pairs = false;     ///< Neighbouring stages share a communicator of two.
  std::vector<Group> groups;  ///< The world first; kinds of one rank each are left out.

  int hosts() const { return (world + ranks_per_host - 1) / ranks_per_host; }
  int host_of(int rank) const { return rank / ranks_per_host; }
  int local_rank(int rank) const { return rank % ranks_per_host; }
  int stage_of(int rank) const { return rank / (tensor * data); }

  /// Into `groups`: the group of that kind that the rank is in; -1: none. Of a pair, the one with
  /// the next stage.
  int group_of(GroupKind kind, int rank) const;

  /// By rank, then by kind; what group_of returns.
  std::vector<std::vector<int>> group_by_rank;
};

/// "world", "tp", "dp", "pp", "ep", "pair".
std::string_view name_of(GroupKind kind);

/// A layout of about `world` ranks, at least 2 and at most 1024.
Layout make_layout(int world, Seeded& seeded);

/// True if all ranks of the group run on one host.
bool is_on_one_host(const Layout& layout, const Group& group);

/// "node-a", "node-b", … for few hosts, "gpu007" for many.
std::string host_name(const Layout& layout, int rank);

}  // namespace ncclog::testing
