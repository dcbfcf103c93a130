// From each rank to each other one: over which transport?
//
//        0 1 2 3        rank × rank where there are up to 64 ranks, else host × host; with more
//        than
//     0  . P . .        64 hosts, several neighbours share a row
//     1  . . P .

#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/rank_paths.h"

namespace ncclog {

/// What connects the ranks of a row to those of a column.
struct MatrixCell {
  std::set<TransportClass> classes;
  size_t pairs = 0;    ///< Of ranks that are connected.
  std::string detail;  ///< Of one pair, what connects it; empty for several.
};

struct TransportMatrix {
  std::vector<std::string> names;  ///< Of rows and columns: "3", "node-a", "node-a to node-b".
  std::map<std::pair<size_t, size_t>, MatrixCell> cells;  ///< By (row, column): from, to.
  size_t ranks = 0;                                       ///< Before folding.
  size_t hosts_per_row = 0;                               ///< 0: rows are ranks.

  static constexpr size_t kMaxRows = 64;
};

TransportMatrix transport_matrix(const RankPaths& paths);

}  // namespace ncclog
