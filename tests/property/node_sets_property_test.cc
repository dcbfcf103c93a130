// Whatever is bad in a small cluster, runs over sets of its hosts find it, and nothing else.
//
// A cluster is made up: hosts, NICs, things that are bad. A run over some of the hosts is slow if it
// passes one of them. The solver gets one run, makes its proposals, and gets their results, until it
// names something or has no proposal left.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "diagnose/perf/node_sets/node_sets.h"
#include "support/paths.h"

namespace ncclog {
namespace {

std::string host_name(int n) { return fmt::format("node-{}", n); }
std::string rail_name(int n) { return fmt::format("mlx5_{}", n); }

struct Cluster {
  int hosts = 0;
  int rails = 1;  ///< 1: their names are not known.
  std::vector<Suspect> bad = {};
  double slow = 0.5;    ///< Of what a sound run reaches.
  double noise = 0.03;  ///< Either way.
  bool ceilings = false;
  std::mt19937 random = std::mt19937(1);
};

std::vector<Suspect> all_suspects(const Cluster& cluster) {
  std::vector<Suspect> all;
  for (int a = 0; a < cluster.hosts; ++a) {
    all.push_back({SuspectKind::Host, host_name(a), "", ""});
    for (int b = a + 1; b < cluster.hosts; ++b) {
      all.push_back({SuspectKind::Link, host_name(a), host_name(b), ""});
    }
  }
  for (int rail = 0; cluster.rails > 1 && rail < cluster.rails; ++rail) {
    for (int a = 0; a < cluster.hosts; ++a) {
      all.push_back({SuspectKind::Rail, host_name(a), "", rail_name(rail)});
    }
    all.push_back({SuspectKind::Rail, "", "", rail_name(rail)});
  }
  return all;
}

bool passes(const NodeSetRun& run, const Suspect& bad) {
  const auto has = [&](const std::string& host) { return std::ranges::count(run.hosts, host) > 0; };
  if (bad.kind == SuspectKind::Host) return has(bad.host);
  if (bad.kind == SuspectKind::Link) return has(bad.host) && has(bad.other);
  return (bad.host.empty() || has(bad.host)) && (run.rail.empty() || run.rail == bad.rail);
}

NodeSetRun make_run(Cluster& cluster, const NodeSetRun& asked, size_t number) {
  const bool is_slow =
      std::ranges::any_of(cluster.bad, [&](const Suspect& bad) { return passes(asked, bad); });
  // What is normal depends on the number of hosts, so that only like runs can be compared.
  const double normal = 48.0 * (asked.rail.empty() ? cluster.rails : 1) *
                        (1 + 1.0 / static_cast<double>(asked.hosts.size()));
  std::uniform_real_distribution<double> noise(1 - cluster.noise, 1 + cluster.noise);
  NodeSetRun run;
  run.name = fmt::format("run-{}", number);
  run.hosts = asked.hosts;
  run.rail = asked.rail;
  run.busbw = normal * (is_slow ? cluster.slow : 1) * noise(cluster.random);
  run.like = fmt::format("AllReduce on {}", asked.hosts.size());
  for (int rail = 0; cluster.rails > 1 && rail < cluster.rails; ++rail) {
    run.rails.push_back(rail_name(rail));
  }
  run.over_network = true;
  if (cluster.ceilings) run.ceiling = normal;
  return run;
}

NodeSetRun over_all(const Cluster& cluster) {
  NodeSetRun run;
  for (int n = 0; n < cluster.hosts; ++n) run.hosts.push_back(host_name(n));
  return run;
}

struct Search {
  NodeSetAnswer answer;
  int proposals = 0;
  std::string story;
};

/// From these first runs on, as often as the solver asks for more.
Search search(Cluster& cluster, const std::vector<NodeSetRun>& first) {
  constexpr int kMostProposals = 9;
  std::vector<NodeSetRun> runs;
  for (const NodeSetRun& run : first) runs.push_back(make_run(cluster, run, runs.size()));
  Search search;
  while (true) {
    search.answer = solve_node_sets(runs);
    search.story += search.answer.why + "\n";
    const bool ends = !search.answer.explained.empty() || search.answer.next.empty();
    if (ends || search.proposals == kMostProposals) return search;
    ++search.proposals;
    for (const NodeSetRun& run : search.answer.next) {
      runs.push_back(make_run(cluster, run, runs.size()));
    }
  }
}

std::string bad_text(const Cluster& cluster) {
  std::vector<std::string> parts;
  for (const Suspect& bad : cluster.bad) parts.push_back(suspect_text(bad));
  return fmt::format("{} hosts, {} rails: {} bad", cluster.hosts, cluster.rails,
                     fmt::join(parts, " and "));
}

constexpr int kMostWanted = 4;

/// Nobody knows what two hosts could reach, where there is no third one and no other figure.
bool cannot_show(const Cluster& cluster, const Suspect& bad) {
  return cluster.hosts == 2 && bad.kind == SuspectKind::Link && !cluster.ceilings;
}

class NodeSetsProperty : public ::testing::TestWithParam<int> {};

TEST_P(NodeSetsProperty, OneBadThingIsFoundByFourProposals) {
  for (const int rails : {1, 2}) {
    for (const bool ceilings : {false, true}) {
      const Cluster sound{.hosts = GetParam(), .rails = rails, .ceilings = ceilings};
      const std::vector<Suspect> all = all_suspects(sound);
      // Sanitized, one of five: neighbours in the list are alike.
      for (size_t s = 0; s < all.size(); s += testing::is_sanitized() ? 5 : 1) {
        const Suspect& bad = all[s];
        Cluster cluster = sound;
        cluster.bad = {bad};
        const Search found = search(cluster, {over_all(cluster)});
        if (cannot_show(cluster, bad)) {
          EXPECT_TRUE(found.answer.explained.empty()) << bad_text(cluster);
          continue;
        }
        EXPECT_EQ(found.answer.explained, std::vector<Suspect>{bad}) << bad_text(cluster) << "\n"
                                                                     << found.story;
        EXPECT_LE(found.proposals, kMostWanted) << bad_text(cluster) << "\n" << found.story;
      }
    }
  }
}

TEST_P(NodeSetsProperty, ASlowPairAndAFastOneAreEnoughToBeginWith) {
  const int hosts = GetParam();
  if (hosts < 4) return;  // There are no two pairs apart from each other.
  const Cluster sound{.hosts = hosts, .rails = 2};
  for (const Suspect& bad : all_suspects(sound)) {
    if (bad.host.empty()) continue;  // All pairs are slow.
    Cluster cluster = sound;
    cluster.bad = {bad};
    std::vector<NodeSetRun> pairs(2);
    for (int n = 0; n < hosts; ++n) {
      const std::string host = host_name(n);
      const bool is_bad = host == bad.host || host == bad.other;
      if (is_bad) pairs[0].hosts.push_back(host);
    }
    for (int n = 0; n < hosts; ++n) {
      const std::string host = host_name(n);
      if (host == bad.host || host == bad.other) continue;
      NodeSetRun& pair = pairs[0].hosts.size() < 2 ? pairs[0] : pairs[1];
      if (pair.hosts.size() < 2) pair.hosts.push_back(host);
    }
    std::ranges::sort(pairs[0].hosts);
    const Search found = search(cluster, pairs);
    EXPECT_EQ(found.answer.explained, std::vector<Suspect>{bad}) << bad_text(cluster) << "\n"
                                                                 << found.story;
    EXPECT_LE(found.proposals, kMostWanted) << bad_text(cluster) << "\n" << found.story;
  }
}

TEST_P(NodeSetsProperty, AllPairsTellHostsAndLinksWithoutAProposal) {
  const int hosts = GetParam();
  if (hosts < 5) return;  // Of four hosts, three slow pairs with one of them may be three links.
  const Cluster sound{.hosts = hosts};
  for (const Suspect& bad : all_suspects(sound)) {
    Cluster cluster = sound;
    cluster.bad = {bad};
    std::vector<NodeSetRun> pairs;
    for (int a = 0; a < hosts; ++a) {
      for (int b = a + 1; b < hosts; ++b) pairs.push_back({.hosts = {host_name(a), host_name(b)}});
    }
    const Search found = search(cluster, pairs);
    EXPECT_EQ(found.answer.explained, std::vector<Suspect>{bad}) << found.story;
    EXPECT_EQ(found.proposals, 0) << bad_text(cluster) << "\n" << found.story;
  }
}

INSTANTIATE_TEST_SUITE_P(Hosts, NodeSetsProperty, ::testing::Range(2, 9));

NodeSetRun some_run(const Cluster& cluster, std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  NodeSetRun run = over_all(cluster);
  std::ranges::shuffle(run.hosts, random);
  const int size = below(3) == 0 ? 2 : 2 + below(cluster.hosts - 1);
  run.hosts.resize(static_cast<size_t>(size));
  std::ranges::sort(run.hosts);
  if (cluster.rails > 1 && below(5) == 0) run.rail = rail_name(below(cluster.rails));
  return run;
}

/// A NIC of a host that is named as a whole is at that host.
bool is_guilty(const Cluster& cluster, const Suspect& named) {
  return std::ranges::any_of(cluster.bad, [&](const Suspect& bad) {
    return bad == named || (named.kind == SuspectKind::Host && bad.kind == SuspectKind::Rail &&
                            bad.host == named.host);
  });
}

struct SeedCount {
  int solved = 0;
  int open = 0;
};

/// Any first runs, noise of a tenth either way, and so many bad things.
SeedCount try_seeds(uint64_t from, uint64_t to, int bad) {
  SeedCount count;
  for (uint64_t seed = from; seed < to; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    constexpr std::array<int, 3> kRails = {1, 2, 4};
    Cluster cluster{.hosts = 3 + static_cast<int>(random() % 6),
                    .rails = kRails[random() % 3],
                    .slow = std::uniform_real_distribution<double>(0.2, 0.65)(random),
                    .noise = 0.1,
                    .ceilings = random() % 3 == 0,
                    .random = std::mt19937(static_cast<unsigned>(seed))};
    const std::vector<Suspect> all = all_suspects(cluster);
    for (int n = 0; n < bad; ++n) cluster.bad.push_back(all[random() % all.size()]);
    std::vector<NodeSetRun> first;
    if (random() % 2 == 0) first.push_back(over_all(cluster));
    for (auto n = 1 + random() % 6; n > 0; --n) first.push_back(some_run(cluster, random));
    const Search found = search(cluster, first);
    for (const Suspect& named : found.answer.explained) {
      EXPECT_TRUE(is_guilty(cluster, named)) << "seed " << seed << ", " << bad_text(cluster) << "\n"
                                             << found.story;
    }
    ++(found.answer.explained.empty() ? count.open : count.solved);
  }
  return count;
}

TEST(NodeSetSeedsProperty, NothingIsNamedWhereNothingIsBad) {
  EXPECT_EQ(try_seeds(0, testing::affordable(150), 0).solved, 0);
}

TEST(NodeSetSeedsProperty, NoiseAndAnyFirstRunsMisleadNobody) {
  const SeedCount count = try_seeds(1000, 1200, 1);
  // Some begin with hosts all of which are sound.
  EXPECT_GT(count.solved, 170);
}

TEST(NodeSetSeedsProperty, NobodyInnocentIsNamedWhereTwoThingsAreBad) {
  try_seeds(2000, 2000 + testing::affordable(200), 2);
}

}  // namespace
}  // namespace ncclog
