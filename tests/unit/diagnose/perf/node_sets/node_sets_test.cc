#include "diagnose/perf/node_sets/node_sets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "support/job_from_files.h"

namespace ncclog {
namespace {

using testing::job_from_files;

/// "a b 48" and "a b mlx5_0 24": hosts, the NIC that was used alone, GB/s.
NodeSetRun run_of(std::string_view text) {
  NodeSetRun run;
  const auto words = split(text, ' ');
  for (const std::string_view& word : words) {
    if (&word == &words.back()) {
      run.busbw = parse_decimal(word).value();
    } else if (word.starts_with("mlx5_")) {
      run.rail = word;
    } else {
      run.hosts.emplace_back(word);
    }
  }
  run.name = text;
  return run;
}

std::vector<NodeSetRun> runs_of(const std::vector<std::string_view>& texts) {
  std::vector<NodeSetRun> runs;
  for (const std::string_view text : texts) runs.push_back(run_of(text));
  return runs;
}

std::string explained(const NodeSetAnswer& answer) {
  std::vector<std::string> parts;
  for (const Suspect& suspect : answer.explained) parts.push_back(suspect_text(suspect));
  return join(parts, ", ");
}

std::string next(const NodeSetAnswer& answer) {
  std::vector<std::string> parts;
  for (const NodeSetRun& run : answer.next) parts.push_back(run_text(run));
  return join(parts, ", ");
}

struct SetRow {
  std::string_view what;
  std::vector<std::string_view> runs;
  std::string_view explained;
};

TEST(NodeSets, NameTheSmallestSetThatExplainsTheRuns) {
  const SetRow kRows[] = {
      {"every pair with one host",
       {"a b 48", "a c 47", "b c 48", "a d 12", "b d 12", "c d 12"},
       "host d"},
      {"one pair of sound hosts", {"a b 12", "a c 48", "b c 47"}, "the link between a and b"},
      {"two hosts",
       {"a b 48", "a c 12", "b c 12", "a d 12", "b d 12", "c d 12", "a e 48", "b e 47", "c e 13",
        "d e 12"},
       "host c, host d"},
      {"one NIC of one host",
       {"a b 96", "a c 40", "a c mlx5_0 48", "a c mlx5_1 20", "b c mlx5_0 48", "b c mlx5_1 20"},
       "mlx5_1 of host c"},
      {"what would explain all but is fast in one run", {"a b 12", "a c 12", "a d 48"}, ""},
      {"part of what is fast is slow", {"a b 12", "a c 48", "b c 48", "a b c 48", "a b d 20"}, ""},
      {"noise of a tenth", {"a b 44", "a c 53", "b c 48", "a d 46"}, ""},
      {"half as slow as noise", {"a b 48", "a c 40", "b c 48"}, ""},
  };
  for (const SetRow& row : kRows) {
    const NodeSetAnswer answer = solve_node_sets(runs_of(row.runs));
    EXPECT_EQ(explained(answer), row.explained) << row.what << ": " << answer.why;
  }
}

TEST(NodeSets, OneRunHasNothingToBeComparedWith) {
  const NodeSetAnswer answer = solve_node_sets(runs_of({"a b c d 12"}));
  EXPECT_TRUE(answer.explained.empty());
  EXPECT_EQ(answer.unclear.size(), 1u);
  EXPECT_EQ(answer.why,
            "One run has nothing to be compared with. Run a b and c d, which may go at once.");
}

TEST(NodeSets, RunsMayGoAtOnceWhereTheyShareNoHost) {
  for (const char* hosts : {"a b c", "a b c d", "a b c d e", "a b c d e f g", "a b c d e f g h"}) {
    const NodeSetAnswer answer = solve_node_sets(runs_of({fmt::format("{} 12", hosts)}));
    ASSERT_GT(answer.next.size(), 1u) << hosts;
    std::set<std::string> used;
    size_t in_all = 0;
    for (const NodeSetRun& run : answer.next) {
      used.insert(run.hosts.begin(), run.hosts.end());
      in_all += run.hosts.size();
    }
    const bool shares = used.size() < in_all;
    EXPECT_EQ(answer.why.find("may go at once") != std::string::npos, !shares) << answer.why;
    EXPECT_EQ(answer.why.find("they share a host") != std::string::npos, shares) << answer.why;
  }
}

TEST(NodeSets, RunsOnOtherNumbersOfHostsAreNoReference) {
  // Two hosts reach more than eight do, though nothing is bad.
  const NodeSetAnswer answer = solve_node_sets(runs_of({"a b 48", "a b c d e f g h 30"}));
  EXPECT_TRUE(answer.slow.empty());
  EXPECT_TRUE(answer.explained.empty());
}

TEST(NodeSets, OtherOperationsAreNoReference) {
  std::vector<NodeSetRun> runs = runs_of({"a b 48", "a c 48", "b c 20"});
  runs[2].like = "AlltoAll";
  EXPECT_TRUE(solve_node_sets(runs).slow.empty());
}

TEST(NodeSets, ASlowRunBesideACeilingNeedsNoFastOne) {
  std::vector<NodeSetRun> runs = runs_of({"a b c d 12"});
  runs[0].ceiling = 48;
  EXPECT_EQ(solve_node_sets(runs).slow.size(), 1u);
  runs[0].busbw = 45;
  const NodeSetAnswer sound = solve_node_sets(runs);
  EXPECT_EQ(sound.why, "No run is slow.");
  EXPECT_TRUE(sound.next.empty());
}

TEST(NodeSets, UntilOneSuspectIsLeftTheNextRunsAreNamed) {
  const NodeSetAnswer answer = solve_node_sets(runs_of({"a b 48", "c d 12"}));
  EXPECT_EQ(answer.left.size(), 3u);
  EXPECT_EQ(next(answer), "a c, b d");
  EXPECT_EQ(answer.why,
            "Not yet: It is host c, host d or the link between c and d. Run a c and b d, which may "
            "go at once.");
}

TEST(NodeSets, TwoBadLinksThatMeetAreNotYetABadHost) {
  const NodeSetAnswer answer =
      solve_node_sets(runs_of({"a b 12", "a c 12", "b c 48", "b d 48", "c d 48"}));
  EXPECT_TRUE(answer.explained.empty()) << answer.why;
  EXPECT_EQ(next(answer), "a d");
}

TEST(NodeSets, RepetitionsThatDifferSayNothing) {
  const NodeSetAnswer answer = solve_node_sets(
      runs_of({"a b 48", "a c 48", "b c 48", "a d 12", "a d 47", "b d 48", "c d 48"}));
  EXPECT_TRUE(answer.explained.empty());
  EXPECT_NE(answer.why.find("Repetitions differ"), std::string::npos) << answer.why;
}

TEST(NodeSets, GpusOfTheSlowPairOnOtherRailsAreSuspectsThemselves) {
  // One GPU a host: the slow pair used another one of host a than the fast pairs.
  std::vector<NodeSetRun> runs =
      runs_of({"a b 13.6", "a c 13.5", "b c 13.6", "a d 7.9", "b d 13.6", "c d 13.4"});
  for (NodeSetRun& run : runs) run.parts = {"GPU 9d:00", "GPU 9d:00"};
  runs[3].parts = {"GPU d1:00", "GPU 9d:00"};
  const NodeSetAnswer answer = solve_node_sets(runs);
  EXPECT_TRUE(answer.explained.empty()) << answer.why;
  EXPECT_EQ(answer.left.size(), 2u) << answer.why;
}

TEST(NodeSets, LargeClustersAreHalved) {
  NodeSetRun all{.name = "all", .busbw = 12};
  for (int n = 0; n < 500; ++n) all.hosts.push_back(fmt::format("n{:03}", n));
  const NodeSetAnswer answer = solve_node_sets({all});
  ASSERT_EQ(answer.next.size(), 2u);
  EXPECT_EQ(answer.next[0].hosts.size(), 250u);
}

TEST(NodeSets, HostilePairsOfManyHostsTakeBoundedWork) {
  std::vector<NodeSetRun> runs;
  for (int a = 0; a < 40; ++a) {
    for (int b = a + 1; b < 40; ++b) {
      NodeSetRun& run = runs.emplace_back();
      run.hosts = {fmt::format("n{:02}", a), fmt::format("n{:02}", b)};
      run.busbw = (a * 7 + b * 13) % 5 == 0 ? 10 : 48;
    }
  }
  EXPECT_TRUE(solve_node_sets(runs).explained.empty());
  EXPECT_FALSE(solve_node_sets({}).why.empty());
}

/// What all_reduce_perf prints of two GPUs a host, up to so many GiB.
std::string table(const std::vector<std::string>& hosts, double busbw, int last_gib = 4) {
  std::string text = "# Collective test starting: all_reduce_perf\n# Using devices\n";
  int rank = 0;
  for (const std::string& host : hosts) {
    for (const std::string_view bus : {"1b", "43"}) {
      text += fmt::format(
          "#  Rank {:2} Group  0 Pid {:6} on {:>6} device {:2} [0000:{}:00] NVIDIA H100 80GB "
          "HBM3\n",
          rank, 4100 + rank, host, rank % 2, bus);
      ++rank;
    }
  }
  for (int64_t bytes = int64_t{1} << 28; bytes <= int64_t{last_gib} << 30; bytes *= 2) {
    const double algbw = busbw * rank / (2.0 * (rank - 1));
    text += fmt::format(
        "{:12}  {:12}     float     sum      -1 {:8.0f} {:7.2f} {:7.2f}       0 "
        "{:8.0f} {:7.2f} {:7.2f}       0\n",
        bytes, bytes / 4, static_cast<double>(bytes) / algbw / 1e3, algbw, busbw,
        static_cast<double>(bytes) / algbw / 1e3, algbw, busbw);
  }
  return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 40.0\n#\n";
}

TEST(NodeSetRuns, FilesOfPairsAreRunsOverTheirHosts) {
  const Job job = job_from_files({{"ab.log", table({"a", "b"}, 48)},
                                  {"ac.log", table({"a", "c"}, 12)},
                                  {"bc.log", table({"b", "c"}, 47)}});
  const std::vector<NodeSetRun> runs = node_set_runs(job);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[1].name, "ac.log");
  EXPECT_EQ(runs[1].hosts, (std::vector<std::string>{"a", "c"}));
  EXPECT_NEAR(runs[1].busbw, 12, 0.01);
  EXPECT_EQ(runs[0].like, runs[1].like);
  EXPECT_EQ(explained(solve_node_sets(runs)), "the link between a and c");
}

TEST(NodeSetRuns, CurvesAreReadAtASizeThatMostHave) {
  const Job job = job_from_files({{"ab.log", table({"a", "b"}, 48, 4)},
                                  {"ac.log", table({"a", "c"}, 48, 4)},
                                  {"bc.log", table({"b", "c"}, 47, 8)},
                                  {"bd.log", table({"b", "d"}, 20, 1)}});
  const std::vector<NodeSetRun> runs = node_set_runs(job);
  ASSERT_EQ(runs.size(), 3u);  // The last one ends far below.
  EXPECT_EQ(runs[0].like, runs[2].like);
  EXPECT_NE(runs[0].like.find("4294967296"), std::string::npos) << runs[0].like;
}

TEST(NodeSetRuns, OtherGpusAndOtherSettingsAreOtherSorts) {
  const std::string proto = "a:4100:4100 [0] NCCL INFO NCCL_PROTO set by environment to LL\n";
  std::string other_gpu = table({"a", "d"}, 12);
  for (size_t at = 0; (at = other_gpu.find("H100", at)) != std::string::npos;) {
    other_gpu.replace(at, 4, "A100");
  }
  const Job job = job_from_files({{"ab.log", table({"a", "b"}, 48)},
                                  {"ac.log", proto + table({"a", "c"}, 12)},
                                  {"ad.log", other_gpu},
                                  {"bc.log", table({"b", "c"}, 48)}});
  const NodeSetAnswer answer = solve_node_sets(node_set_runs(job));
  EXPECT_TRUE(answer.slow.empty()) << answer.why;
}

TEST(NodeSetRuns, TheOnlyNicOfARunIsItsRail) {
  const auto with_nics = [](std::string_view nics) {
    return fmt::format("a:4100:4100 [0] NCCL INFO NET/IB : Using {} [RO]; OOB eth0:10.0.0.1<0>\n",
                       nics);
  };
  const Job job = job_from_files(
      {{"all.log", with_nics("[0]mlx5_0:1/IB [1]mlx5_1:1/IB") + table({"a", "b"}, 96)},
       {"one.log", with_nics("[0]mlx5_1:1/IB") + table({"a", "b"}, 20)}});
  const std::vector<NodeSetRun> runs = node_set_runs(job);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].rail, "");
  EXPECT_EQ(runs[0].rails, (std::vector<std::string>{"mlx5_0", "mlx5_1"}));
  EXPECT_EQ(runs[1].rail, "mlx5_1");
}

}  // namespace
}  // namespace ncclog
