// Is what the ranks say about one channel's ring or tree a ring or a tree?

#pragma once

#include <string>
#include <vector>

#include "model/comm_graphs.h"

namespace ncclog {

/// What is said about the ring of one channel. Ranks that nobody names stay -1.
struct RingSayings {
  std::vector<int> listed;  ///< As rank 0 lists them; empty: no list.
  bool listed_whole = false;
  bool contradictory = false;  ///< One line says one thing, another one of the same rank another.
  std::vector<int> prev;       ///< By rank.
  std::vector<int> next;       ///< By rank.
};

/// The ring of a communicator of as many ranks as `prev` and `next` have places.
Ring check_ring(const RingSayings& says);

/// The tree of a communicator of as many ranks as `places` has entries; an entry whose rank is -1
/// was not seen.
Tree check_tree(const std::vector<TreePlace>& places);

}  // namespace ncclog
