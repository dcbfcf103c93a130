#include "model/rings_and_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"

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
  const auto seen =
      static_cast<size_t>(std::ranges::count_if(says.next, [](int next) { return next >= 0; }));
  ring.order = says.listed.empty() ? follow(says.next) : says.listed;
  if (says.contradictory) {
    ring.remark = "its lines contradict each other";
    return ring;
  }
  std::string fault = says.listed_whole ? fault_of_list(says.listed, nranks) : "";
  if (fault.empty() && says.listed_whole) fault = fault_between(says);
  if (fault.empty()) fault = fault_of_neighbours(says);
  if (!fault.empty()) return broken(std::move(ring), std::move(fault));
  if (says.listed_whole) {
    ring.check = GraphCheck::Sound;
  } else if (seen == nranks && nranks > 0) {
    ring.order = follow(says.next);
    if (ring.order.size() < nranks) {
      fault = fmt::format("it closes after {} of {} ranks", ring.order.size(), nranks);
      return broken(std::move(ring), std::move(fault));
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
  return std::ranges::find(place.down, child) != place.down.end();
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

namespace {

/// A torn line may print any size, so ranks that say nothing must not cost much: with fewer than
/// one speaking rank in kRanksPerVoice there is nothing to check.
constexpr size_t kRanksPerVoice = 256;

/// The numbers of a list; NCCL ends one that it cut with dots, which are no number.
std::vector<int> numbers_of(std::string_view text) {
  std::vector<int> numbers;
  for (const std::string_view word : split_blanks(text)) {
    const auto number = parse_int(word);
    if (!number || *number < 0 || *number > INT32_MAX) break;
    numbers.push_back(static_cast<int>(*number));
  }
  return numbers;
}

using RingsSaid = std::map<int, RingSayings>;  ///< By channel: those of which something is said.

/// Calls `use(says)` for each channel in `mask`.
template <typename Use>
void for_each_channel(uint64_t mask, size_t nranks, RingsSaid& rings, Use use) {
  for (; mask != 0; mask &= mask - 1) {
    RingSayings& says = rings[std::countr_zero(mask)];
    says.prev.resize(nranks, -1);
    says.next.resize(nranks, -1);
    use(says);
  }
}

void read_lists(const InitSection& section, size_t nranks, RingsSaid& rings) {
  for (const auto& [text, mask] : section.ring_members.channels) {
    const std::vector<int> listed = numbers_of(text);
    for_each_channel(mask, nranks, rings, [&](RingSayings& says) {
      says.contradictory |= !says.listed.empty();
      says.listed = listed;
      says.listed_whole = listed.size() == nranks;
    });
  }
}

void read_places(const RankSays& saying, size_t nranks, RingsSaid& rings) {
  for (const auto& [place, mask] : saying.section->ring_places.channels) {
    const bool fits =
        place.rank == saying.rank && place.rank >= 0 && static_cast<size_t>(place.rank) < nranks;
    const auto r = static_cast<size_t>(fits ? place.rank : 0);
    for_each_channel(mask, nranks, rings, [&](RingSayings& says) {
      says.contradictory |= !fits || says.next[r] >= 0;
      if (!fits) return;
      says.next[r] = place.next;
      says.prev[r] = place.prev;
    });
  }
}

/// Adds the channel to the graph that is like `graph`, or `graph` itself.
template <typename Graph>
void add_channel(std::vector<Graph>& graphs, Graph&& graph, uint64_t channel) {
  for (Graph& known : graphs) {
    graph.channels = known.channels;
    if (known == graph) {
      known.channels |= channel;
      return;
    }
  }
  graph.channels = channel;
  graphs.push_back(std::move(graph));
}

template <typename Graph>
void doubt(Graph& graph, bool torn) {
  if (torn && graph.check == GraphCheck::Broken) graph.check = GraphCheck::Unknown;
}

std::vector<Ring> build_rings(size_t nranks, const std::vector<RankSays>& sayings, bool torn) {
  RingsSaid said;
  for (const RankSays& saying : sayings) {
    read_lists(*saying.section, nranks, said);
    read_places(saying, nranks, said);
  }
  std::vector<Ring> rings;
  for (const auto& [channel, says] : said) {
    Ring ring = check_ring(says);
    doubt(ring, torn);
    add_channel(rings, std::move(ring), channel_bit(channel));
  }
  return rings;
}

std::vector<Tree> build_trees(size_t nranks, const std::vector<RankSays>& sayings, bool torn) {
  std::map<int, std::vector<TreePlace>> by_channel;
  for (const RankSays& saying : sayings) {
    for (TreePlace& place : parse_trees(saying.section->trees, saying.section->trees_cut)) {
      const bool fits = place.rank == saying.rank && channel_bit(place.channel) != 0 &&
                        place.rank >= 0 && static_cast<size_t>(place.rank) < nranks;
      if (!fits) continue;
      auto& places = by_channel[place.channel];
      places.resize(nranks);
      places[static_cast<size_t>(place.rank)] = std::move(place);
    }
  }
  std::vector<Tree> trees;
  for (const auto& [channel, places] : by_channel) {
    Tree tree = check_tree(places);
    doubt(tree, torn);
    add_channel(trees, std::move(tree), channel_bit(channel));
  }
  return trees;
}

std::vector<GraphSearch> build_searches(const std::vector<RankSays>& sayings) {
  using Key = std::tuple<size_t, int, int, std::string, std::string>;
  std::map<Key, GraphSearch> found;
  for (const RankSays& saying : sayings) {
    const auto& graphs = saying.section->graphs;
    for (size_t g = 0; g < graphs.size(); ++g) {
      // Channels without their pattern line: the beginning of the section was not read.
      if (graphs[g].pattern < 0) continue;
      GraphSearch& search =
          found[{g, graphs[g].pattern, -graphs[g].channels, graphs[g].bw, graphs[g].type}];
      if (search.ranks.empty()) search.graph = graphs[g];
      if (saying.rank >= 0) search.ranks.push_back(saying.rank);
    }
  }
  std::vector<GraphSearch> searches;
  for (auto& [key, search] : found) searches.push_back(std::move(search));
  return searches;
}

/// Calls `use(rank)` for the ranks in "-1", "1/4/-1"; the -1 of unused places are left out.
template <typename Use>
void for_each_rank(std::string_view text, Use use) {
  for (;;) {
    const size_t slash = text.find('/');
    const auto rank = parse_int(text.substr(0, slash));
    if (rank && *rank >= 0 && *rank <= INT32_MAX) use(static_cast<int>(*rank));
    if (slash == text.npos) return;
    text.remove_prefix(slash + 1);
  }
}

/// Takes the next word off `text`; empty: there is none.
std::string_view take_word(std::string_view& text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const size_t end = std::min(text.find_first_of(" \t", begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

bool is_places(std::string_view text) {
  return !text.empty() && text.find_first_not_of("-0123456789/") == text.npos;
}

/// "1/4/-1->0->-1", in 2.4 "-1->0->1/4/-1".
bool read_place(std::string_view text, TreePlace& place) {
  text = text.substr(0, text.find('|'));
  const size_t first = text.find("->");
  const size_t second = first == text.npos ? first : text.find("->", first + 2);
  if (second == text.npos) return false;
  std::string_view before = text.substr(0, first);
  std::string_view after = text.substr(second + 2);
  const auto rank = parse_int(text.substr(first + 2, second - first - 2));
  if (!rank || *rank < 0 || *rank > INT32_MAX || !is_places(before) || !is_places(after)) {
    return false;
  }
  // The side with several places holds the children.
  if (before.find('/') == before.npos) std::swap(before, after);
  place.rank = static_cast<int>(*rank);
  place.up = -1;
  for_each_rank(after, [&](int up) { place.up = place.up < 0 ? up : place.up; });
  for_each_rank(before, [&](int child) { place.down.push_back(child); });
  return true;
}

using Column = std::pair<std::string_view, std::string_view>;  ///< Algorithm and protocol.

/// The columns below a row of algorithms, each of which has three protocols, and one of protocols.
/// The last block of a release has more protocols than its algorithms need.
std::vector<Column> columns_of(const std::vector<std::string_view>& algorithms,
                               const std::vector<std::string_view>& protocols) {
  constexpr size_t kProtocols = 3;
  std::vector<Column> columns;
  for (size_t i = 0; i < protocols.size() && i / kProtocols < algorithms.size(); ++i) {
    columns.emplace_back(algorithms[i / kProtocols], protocols[i]);
  }
  return columns;
}

/// "10.4/  43.6": both parts, trimmed.
Column halves(std::string_view cell) {
  const size_t slash = cell.find('/');
  if (slash == cell.npos) return {};
  return {trim(cell.substr(0, slash)), trim(cell.substr(slash + 1))};
}

/// The cells of a row behind its name; no empty one at the end.
std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells = split(row, '|');
  for (std::string_view& cell : cells) cell = trim(cell);
  if (!cells.empty() && cells.back().empty()) cells.pop_back();
  if (!cells.empty()) cells.erase(cells.begin());
  return cells;
}

}  // namespace

std::string_view to_string(GraphCheck check) {
  constexpr std::string_view kNames[] = {"unknown", "sound", "broken"};
  return kNames[static_cast<size_t>(check)];
}

std::vector<TreePlace> parse_trees(std::string_view text, bool cut) {
  std::vector<TreePlace> places;
  for (;;) {
    const std::string_view number = take_word(text);
    if (number.size() < 3 || number.front() != '[' || number.back() != ']') break;
    const auto channel = parse_int(number.substr(1, number.size() - 2));
    TreePlace place;
    if (!channel || channel_bit(*channel) == 0 || !read_place(take_word(text), place)) break;
    place.channel = static_cast<int>(*channel);
    const bool last = trim(text).empty();
    if (!(cut && last)) places.push_back(std::move(place));
  }
  return places;
}

std::vector<TuningCell> parse_tuning(const BoundedLines& rows) {
  std::vector<TuningCell> cells;
  std::vector<std::string_view> algorithms;
  std::vector<Column> columns;
  for (const IndentedLine& line : rows.lines()) {
    const std::string_view name = trim(line.text).substr(0, trim(line.text).find_first_of(" |"));
    const std::vector<std::string_view> row = cells_of(line.text);
    if (name == "Algorithm") {
      algorithms = row;
    } else if (name == "Protocol") {
      columns = columns_of(algorithms, row);
    } else if (name == "Latency/AlgBw") {
      columns.clear();
      for (const std::string_view cell : row) columns.push_back(halves(cell));
    } else if (name != "Max") {
      for (size_t i = 0; i < row.size() && i < columns.size(); ++i) {
        const auto [latency, bw] = halves(row[i]);
        const TuningCell cell{std::string(name), std::string(columns[i].first),
                              std::string(columns[i].second), parse_decimal(latency).value_or(-1),
                              parse_decimal(bw).value_or(-1)};
        if (cell.latency_us > 0 || cell.bw > 0) cells.push_back(cell);
      }
    }
  }
  return cells;
}

CommGraphs build_comm_graphs(int nranks, const std::vector<RankSays>& sayings, bool torn) {
  CommGraphs graphs;
  graphs.searches = build_searches(sayings);
  for (const RankSays& saying : sayings) {
    if (graphs.channels == ChannelNumbers{}) graphs.channels = saying.section->channels;
    if (graphs.tuning.empty()) graphs.tuning = parse_tuning(saying.section->tuning);
  }
  // The lists below are as long as the communicator; a torn size must not cost memory.
  if (nranks <= 0 || static_cast<size_t>(nranks) > kRanksPerVoice * sayings.size()) return graphs;
  graphs.rings = build_rings(static_cast<size_t>(nranks), sayings, torn);
  graphs.trees = build_trees(static_cast<size_t>(nranks), sayings, torn);
  return graphs;
}

}  // namespace ncclog
