// Over which paths does each pair of ranks reach each other, of which class are they, and how do
// they look as a matrix?
//
//   gpu-a:41:60 [7] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/3/GDRDMA
//   → (7, 8): NET/IB/3/GDRDMA, class IB, channel 0
//
// A line numbers ranks within its communicator. With one communicator those are the ranks; with
// several, only connections count whose two processes are certain, under their global ranks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/job.h"

namespace ncclog {

// How two ranks reach each other, in the few classes that a drawing can tell apart.
//
//   "P2P/CUMEM" → P2P, letter P        "NET/Socket/0" → Socket, letter T
//   "SHM/direct/direct" → SHM, S       "NET/IB/3/GDRDMA" → IB, I

enum class TransportClass : uint8_t { P2P, SHM, IB, Socket, OtherNet, Other };

/// What is written about a class. `letter` is its own, so that nobody has to tell colours apart.
struct TransportClassRow {
  TransportClass value;
  char letter;
  std::string_view name;    ///< "NET/IB".
  std::string_view help;    ///< "RDMA network".
  std::string_view css;     ///< Class in the style sheet of pages and drawings.
  std::string_view colour;  ///< Of lines in DOT, where there is no style sheet.
};

/// All classes, indexed by value; valid for the whole program.
std::span<const TransportClassRow> transport_classes();

const TransportClassRow& row_of(TransportClass value);

/// All connections from one rank to another.
struct RankPath {
  std::set<TransportClass> classes;
  std::string text;       ///< As printed, of the first by name.
  size_t paths = 0;       ///< Different ones.
  uint64_t channels = 0;  ///< Bit c: channel c.
};

struct RankPaths {
  std::map<std::pair<int, int>, RankPath> pairs;  ///< By (from, to).
  std::map<int, std::string> hosts;  ///< Of ranks that appear in pairs; empty: unknown.
  size_t unplaced = 0;               ///< Connections whose ends are not certain.
  size_t torn = 0;                   ///< Connections of torn processes, left out as unsure.
  bool global = false;               ///< Ranks are global ones; else those of one communicator.
};

RankPaths rank_paths(const Job& job);

/// The rank under which `rank` of `comm` appears in `paths`; -1: it does not.
int rank_in_paths(const Job& job, const RankPaths& paths, const Communicator& comm, int rank);

// From each rank to each other one: over which transport?
//
//        0 1 2 3        rank × rank where there are up to 64 ranks, else host × host;
//     0  . P . .        with more than 64 hosts several neighbours share a row
//     1  . . P .

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
