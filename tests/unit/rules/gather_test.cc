#include <gtest/gtest.h>

#include "rules/judge.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

std::string affinity(int rank, const std::string& cpus) {
  const std::string pid = std::to_string(100 + rank);
  return "n" + std::to_string(rank / 4) + ":" + pid + ":" + pid +
         " [0] NCCL INFO Setting affinity for GPU 0 to " + cpus + "\n";
}

/// Eight processes on two hosts.
std::string affinities(const std::vector<std::string>& cpus) {
  std::string log;
  for (size_t rank = 0; rank < cpus.size(); ++rank)
    log += affinity(static_cast<int>(rank), cpus[rank]);
  return log;
}

Finding gathered(const std::string& keys, const std::string& log) {
  return finding_of(sample_rule("r", "{each: cpu_affinity, as: x, " + keys + "}", "", "{x.what}"),
                    log);
}

const std::vector<std::string> kOneOdd = {"a", "a", "b", "a", "a", "a", "a", "a"};

TEST(Gather, CallsEachRowOnceAndCountsThoseBeyondFour) {
  const std::string log = affinities({"a", "b", "c", "d", "e", "f", "a", "b"});
  EXPECT_EQ(gathered("words: 'CPUs {cpus}'", log).message,
            "CPUs a; CPUs b; CPUs c; CPUs d and 2 more");
  EXPECT_EQ(gathered("words: '{cpus}', where: {cpus: [a, b]}, between: ' or '", log).message,
            "a or b");
  EXPECT_EQ(gathered("words: '{cpus}', where: {cpus: g}", log).id, "");
}

TEST(Gather, AGroupIsCalledAndShownByItsFirstRow) {
  const Finding finding = gathered("words: '{cpus} on {host}', by: host", affinities(kOneOdd));
  EXPECT_EQ(finding.message, "a on n0; a on n1");
  EXPECT_EQ(finding.evidence.size(), 2u);
  EXPECT_EQ(finding.hosts, (std::vector<std::string>{"n0", "n1"}));
}

TEST(Gather, LeavesOutAClauseWithAnEmptyField) {
  const std::string words = "words: '{cpus}[ of rank {rank}][ on {host}]'";
  EXPECT_EQ(gathered(words, affinities({"a"})).message, "a on n0");
}

TEST(Gather, TheOddOneOutIsComparedWithTheOthers) {
  const std::string words = ", words: '{cpus}, {alike} others {common}'";
  const Finding odd = gathered("odd: cpus" + words, affinities(kOneOdd));
  EXPECT_EQ(odd.message, "b, 7 others a");
  ASSERT_EQ(odd.evidence.size(), 1u);
  EXPECT_EQ(odd.evidence[0].where.line, 3u);
  EXPECT_EQ(odd.subject.pid, 102);
  EXPECT_EQ(gathered("odd: cpus, usual: [a, c]" + words, affinities(kOneOdd)).id, "r");
  EXPECT_EQ(gathered("odd: cpus, usual: c" + words, affinities(kOneOdd)).id, "");
  EXPECT_EQ(gathered("odd: cpus" + words, affinities({"a", "a", "b", "b"})).id, "");
  // Two hosts are too few to say what is usual at a place.
  EXPECT_EQ(gathered("odd: cpus, at: place" + words, affinities(kOneOdd)).id, "");
}

TEST(Gather, ShowsNoMoreLinesThanAsked) {
  EXPECT_EQ(gathered("lines: 2", affinities(kOneOdd)).evidence.size(), 2u);
  EXPECT_EQ(gathered("lines: 2", affinities(kOneOdd)).evidence_omitted, 0u);
}

}  // namespace
}  // namespace ncclog::testing
