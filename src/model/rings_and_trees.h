// The rings and trees of a communicator as graphs, and whether they are what they have to be.
//
//   Channel 00/24 : 0 1 2 3                    rank 0 lists the ring
//   Ring 00 : 3 -> 0 -> 1                      every rank names its neighbours
//   Trees [0] 1/-1/-1->0->-1 [1] …             children -> rank -> parent, every rank
//
// A ring is sound if it is closed and passes every rank once, a tree if it has one root, no cycle
// and both ends of every edge name each other. A graph is called broken only where whole lines
// contradict that; where ranks are not seen or a list is cut, nothing is known.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "model/init_section.h"

namespace ncclog {

enum class GraphCheck { Unknown, Sound, Broken };

/// "unknown", "sound", "broken".
std::string_view to_string(GraphCheck check);

/// A ring, with all channels that use it.
struct Ring {
  uint64_t channels = 0;   ///< Bit c: channel c.
  std::vector<int> order;  ///< Ranks from rank 0 on, as far as they are known without a gap.
  GraphCheck check = GraphCheck::Unknown;
  std::string remark;  ///< What is wrong or missing; empty for a sound ring.

  bool operator==(const Ring&) const = default;
};

/// A tree, with all channels that use it.
struct Tree {
  uint64_t channels = 0;     ///< Bit c: channel c.
  std::vector<int> parents;  ///< By rank: -1 at the root, kUnseen where no line tells.
  int root = -1;             ///< -1: not known.
  int depth = -1;            ///< Edges from the root to the deepest rank; -1 unless sound.
  GraphCheck check = GraphCheck::Unknown;
  std::string remark;  ///< What is wrong or missing; empty for a sound tree.

  static constexpr int kUnseen = -2;

  bool operator==(const Tree&) const = default;
};

/// A search for channels that several ranks made with the same result.
struct GraphSearch {
  SearchedGraph graph;     ///< Members as the lowest of the ranks lists them.
  std::vector<int> ranks;  ///< Sorted.

  bool operator==(const GraphSearch&) const = default;
};

/// Latency and bandwidth that NCCL expects of an operation.
struct TuningCell {
  std::string function;   ///< "AllReduce".
  std::string algorithm;  ///< "Tree", "Ring", "CollNetDirect", …
  std::string protocol;   ///< "LL", "LL128", "Simple".
  double latency_us = -1;
  double bw = -1;  ///< GB/s; 0: disabled.

  bool operator==(const TuningCell&) const = default;
};

/// What a communicator's ranks say about its graphs while they initialise it.
struct CommGraphs {
  std::vector<Ring> rings;  ///< By first channel.
  std::vector<Tree> trees;  ///< By first channel.
  std::vector<GraphSearch> searches;
  std::vector<TuningCell> tuning;  ///< As rank 0 prints it.
  ChannelNumbers channels;         ///< As the lowest rank that prints them.

  bool operator==(const CommGraphs&) const = default;
};

/// What one rank says about a communicator.
struct RankSays {
  int rank = -1;
  const InitSection* section = nullptr;  ///< Never nullptr.
};

/// Puts together what the ranks of a communicator of `nranks` say (-1: size unknown). `sayings` are
/// sorted by rank. With `torn`, lines may hold other processes' numbers: nothing is called broken.
CommGraphs build_comm_graphs(int nranks, const std::vector<RankSays>& sayings, bool torn);

/// A rank's place in the tree of a channel.
struct TreePlace {
  int channel = -1;
  int rank = -1;
  int up = -1;            ///< -1: it is the root.
  std::vector<int> down;  ///< Without the -1 of unused places.

  bool operator==(const TreePlace&) const = default;
};

/// The places in a Trees line, of any release; what does not fit ends the list. In 2.5 to 2.7,
/// which print two directions, the one upwards. `cut`: the last one may be incomplete.
std::vector<TreePlace> parse_trees(std::string_view text, bool cut);

/// The cells of the tables that `rows` hold, in their order; rows that do not fit are left out.
std::vector<TuningCell> parse_tuning(const BoundedLines& rows);

// Is what the ranks say about one channel's ring or tree a ring or a tree?

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
