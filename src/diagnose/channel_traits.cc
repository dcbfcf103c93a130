// How many channels do communicators have, and which rings and trees do they form?
//
//   24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, …
//   Channel 00/24 : 0 1 2 3         → rings of 4 ranks: "24 channels; 0 1 2 3"
//
// Rings and trees are held against those of communicators with as many ranks only; the number of
// channels of the largest communicators is compared whatever their sizes.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/trait_tables.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr std::string_view kLargest = "largest communicator";

int largest_size(const Job& job) {
  return job.communicators.empty() ? -1 : job.communicators.front().nranks;
}

std::string role_of(const Job& job, const Communicator& comm) {
  if (comm.nranks == largest_size(job)) return std::string(kLargest);
  return fmt::format("communicators of {} ranks", comm.nranks);
}

/// Traits of several communicators, joined by their names.
struct Stated {
  std::map<std::string, StatedValues> by_name;

  void add(std::string name, std::string value, const Evidence& line) {
    by_name[std::move(name)].add(std::move(value), line);
  }
  void take(Traits& traits) const {
    for (const auto& [name, values] : by_name) {
      traits.push_back(trait_of(Topic::Channels, name, values));
    }
  }
};

/// The first line of kind T that the process of the communicator's lowest seen rank keeps.
template <typename T>
Evidence line_of(const Job& job, const Communicator& comm) {
  Evidence line;
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0) continue;
    const Process& process = job.processes[static_cast<size_t>(rank.process)];
    for_each_record(job, process, kKindIndex<T>, [&](const Record& record) {
      if (line.where.line == 0) line = evidence_of(record);
    });
    if (line.where.line != 0) break;
  }
  return line;
}

std::string numbers_text(const ChannelNumbers& numbers) {
  std::vector<std::string> parts;
  const auto add = [&](int number, std::string_view what) {
    if (number >= 0) parts.push_back(fmt::format("{} {}", number, what));
  };
  add(numbers.coll, "coll");
  add(numbers.nvls, "nvls");
  add(numbers.p2p, "p2p");
  add(numbers.p2p_per_peer, "p2p per peer");
  return join(parts, ", ");
}

/// "1 channel", "24 channels".
std::string channels_phrase(int count) {
  return fmt::format("{} channel{}", count, count == 1 ? "" : "s");
}

int count_channels(uint64_t mask) { return __builtin_popcountll(mask); }

std::string order_text(const std::vector<int>& order) {
  std::vector<std::string> ranks;
  for (const int rank : order) ranks.push_back(std::to_string(rank));
  return join(ranks, " ");
}

/// "24 channels; 0 1 2 3"; empty where a ring is not known as a whole.
std::string rings_text(const Communicator& comm) {
  std::vector<std::string> parts;
  for (const Ring& ring : comm.graphs.rings) {
    const bool is_whole = static_cast<int>(ring.order.size()) == comm.nranks;
    if (ring.check == GraphCheck::Broken) {
      parts.push_back(fmt::format("{} broken", count_channels(ring.channels)));
    } else if (is_whole) {
      parts.push_back(fmt::format("{}; {}", channels_phrase(count_channels(ring.channels)),
                                  order_text(ring.order)));
    } else {
      return {};
    }
  }
  std::sort(parts.begin(), parts.end());
  return join(parts, ", ");
}

/// "24 channels with root 0 and depth 3"; empty where a tree is not known as a whole.
std::string trees_text(const Communicator& comm) {
  std::map<std::pair<int, int>, int> channels;  // By root and depth.
  int broken = 0;
  for (const Tree& tree : comm.graphs.trees) {
    if (tree.check == GraphCheck::Unknown) return {};
    if (tree.check == GraphCheck::Broken) broken += count_channels(tree.channels);
    if (tree.check == GraphCheck::Sound) {
      channels[{tree.root, tree.depth}] += count_channels(tree.channels);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [shape, count] : channels) {
    parts.push_back(fmt::format("{} with root {} and depth {}", channels_phrase(count), shape.first,
                                shape.second));
  }
  if (broken > 0) parts.push_back(fmt::format("{} broken", broken));
  return join(parts, ", ");
}

/// Channels that a search found, and at which bandwidth: "24 channels, 30.0/30.0 GB/s, NVL/PIX".
std::string search_text(const SearchedGraph& graph) {
  std::vector<std::string> numbers;
  for (const std::string_view part : split(graph.bw, '/')) {
    const auto number = parse_decimal(part);
    numbers.push_back(number ? fmt::format("{:.1f}", *number) : std::string(part));
  }
  return fmt::format("{}, {} GB/s, {}", channels_phrase(graph.channels), join(numbers, "/"),
                     graph.type);
}

std::string_view pattern_name(int pattern) {
  if (pattern == 4) return "rings";
  if (pattern == 5) return "NVLS";
  if (pattern == 6) return "CollNet";
  return pattern >= 1 && pattern <= 3 ? "trees" : std::string_view();
}

void add_searches(const Job& job, const Communicator& comm, Stated& stated) {
  for (const GraphSearch& search : comm.graphs.searches) {
    const std::string_view pattern = pattern_name(search.graph.pattern);
    if (pattern.empty()) continue;
    stated.add(fmt::format("search for {}, {}", pattern, role_of(job, comm)),
               search_text(search.graph), line_of<GraphPattern>(job, comm));
  }
}

}  // namespace

void add_channel_traits(const Job& job, Traits& traits) {
  Stated stated;
  // Communicators that look the same say the same.
  std::set<std::tuple<int, std::string, std::string, std::string>> known;
  for (const Communicator& comm : job.communicators) {
    if (comm.nranks < 0) continue;
    const std::string numbers = numbers_text(comm.graphs.channels);
    const std::string rings = rings_text(comm);
    const std::string trees = trees_text(comm);
    if (!known.emplace(comm.nranks, numbers, rings, trees).second) continue;
    if (!numbers.empty())
      stated.add(role_of(job, comm), numbers, line_of<ChannelCounts>(job, comm));
    if (!rings.empty()) {
      stated.add(fmt::format("rings of {} ranks", comm.nranks), rings,
                 line_of<RingMembers>(job, comm));
    }
    if (!trees.empty()) {
      stated.add(fmt::format("trees of {} ranks", comm.nranks), trees, line_of<Trees>(job, comm));
    }
    add_searches(job, comm, stated);
  }
  stated.take(traits);
}

Absence channel_absence(const Job& job, const Trait& other) {
  const bool is_of_size = !other.name.ends_with(kLargest);
  const bool has_size =
      std::any_of(job.communicators.begin(), job.communicators.end(), [&](const auto& comm) {
        return other.name.ends_with(fmt::format("of {} ranks", comm.nranks));
      });
  if (is_of_size && !has_size && !job.communicators.empty()) return irrelevant();
  return not_told("its logs do not tell");
}

}  // namespace ncclog
