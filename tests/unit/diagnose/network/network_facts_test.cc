#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "diagnose/facts/fact.h"
#include "model/build/build_job.h"
#include "support/fact_of.h"

namespace ncclog {
namespace {

using testing::answer_of;
using testing::fact_of;

TEST(AddressFacts, TakeABlankBehindACommaForAPartOfTheName) {
  EXPECT_EQ(answer_of("job.ifname_not_used",
                      "red1:10:10 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0, "
                      "eth1\n"
                      "red1:10:10 [0] NCCL INFO Bootstrap : Using eth1:10.4.4.1<0>\n"),
            "yes");
}

// Pairs of ranks, GPUs and network interfaces as things that rules are judged for.

std::string init(const char* host, int pid, int rank, int nranks, const char* comm_id = "0x9c") {
  return fmt::format(
      "{0}:{1}:{1} [0] NCCL INFO ncclCommInitRank comm 0x{2}{1} rank {2} nranks {3} cudaDev 0 "
      "nvmlDev 0 busId {2}b000 commId {4} - Init START\n",
      host, pid, rank, nranks, comm_id);
}

/// "name: fact=value …" of every instance.
std::string facts_of(const std::string& log, Scope scope) {
  const Job job = job_from_text(log);
  std::string text;
  for (const Instance& instance : instances_of(job, scope)) {
    text += name_of(job, instance) + ":";
    for (const Fact& fact : all_facts()) {
      if (fact.scope != scope) continue;
      const FactValue value = fact.derive(job, instance);
      if (!value.known()) continue;
      text += fmt::format(" {}={}", fact.name.substr(fact.name.find('.') + 1), fact_text(value));
    }
    text += "\n";
  }
  return text;
}

TEST(InstanceFacts, ARankPairHasAllItsPaths) {
  const std::string log =
      init("n1", 7, 0, 3) + init("n1", 8, 1, 3) + init("n2", 9, 2, 3) +
      "n1:7:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
      "n1:8:8 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via SHM/direct/direct\n"
      "n1:8:8 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via "
      "NET/IB/0/GDRDMA\n"
      "n2:9:9 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [receive] via "
      "NET/IB/0/GDRDMA\n"
      "n2:9:9 [0] NCCL INFO Channel 01/0 : 1[1] -> 2[0] [receive] via NET/IB/0\n";
  EXPECT_EQ(facts_of(log, Scope::RankPair),
            "ranks 0 and 1: path=P2P/CUMEM, SHM/direct/direct same_host=yes "
            "transport=P2P+SHM\n"
            "ranks 1 and 2: path=NET/IB/0, NET/IB/0/GDRDMA same_host=no "
            "transport=NET/IB\n");
}

/// The line names no communicator, and rank 1 is another process in each of the two.
TEST(InstanceFacts, APairThatMayBeAnotherIsLeftOut) {
  const std::string log = init("n1", 7, 0, 2, "0x9c") + init("n1", 8, 1, 2, "0x9c") +
                          init("n1", 7, 0, 2, "0x9d") + init("n1", 9, 1, 2, "0x9d") +
                          "n1:7:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n";
  EXPECT_EQ(facts_of(log, Scope::RankPair), "");
}

TEST(NetworkFacts, NameTheFewThatUseAnotherNetwork) {
  const FactValue answer = fact_of("job.networks_differ",
                                   "red1:10:10 [0] NCCL INFO Using network IB\n"
                                   "red1:11:11 [1] NCCL INFO Using network IB\n"
                                   "red2:20:20 [0] NCCL INFO Using network Socket\n");
  EXPECT_EQ(answer.what, "(IB in 2 processes on red1, Socket in 1 process on red2)");
  EXPECT_EQ(answer.processes, (std::vector<int>{2}));
}

TEST(NetworkFacts, BlameNobodyWithoutAMajority) {
  const FactValue answer = fact_of("job.networks_differ",
                                   "red1:10:10 [0] NCCL INFO Using network IB\n"
                                   "red2:20:20 [0] NCCL INFO Using network Socket\n");
  EXPECT_TRUE(answer.processes.empty());
}

}  // namespace

}  // namespace ncclog
