#include "diagnose/network/connections.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "diagnose/facts/fact.h"
#include "model/derive/build_job.h"

namespace ncclog {
namespace {

struct PathCase {
  std::string_view path;
  Transport transport;
  std::string_view network;
  int device;
  int proxy_rank;
  bool gpudirect;
};

const PathCase kPaths[] = {
    {"NET/IB/3(5)/GDRDMA/Shared", Transport::NET, "IB", 3, 5, true},
    {"NET/IB/0/GDRDMA(PCI)", Transport::NET, "IB", 0, -1, true},
    {"NET/AWS Libfabric/12/GDRDMA", Transport::NET, "AWS Libfabric", 12, -1, true},
    {"NET/Socket/1", Transport::NET, "Socket", 1, -1, false},
    {"NET/Socket", Transport::NET, "Socket", -1, -1, false},
    {"NET/", Transport::NET, "", -1, -1, false},
    {"NET/IB/99999999999999", Transport::NET, "IB", -1, -1, false},
    {"P2P/CUMEM/read", Transport::P2P, "", -1, -1, false},
    {"direct shared memory", Transport::SHM, "", -1, -1, false},
};

TEST(Edges, TakesPathsApart) {
  for (const PathCase& row : kPaths) {
    const PathParts parts = parse_path(row.path);
    EXPECT_EQ(parts.transport, row.transport) << row.path;
    EXPECT_EQ(parts.network, row.network) << row.path;
    EXPECT_EQ(parts.device, row.device) << row.path;
    EXPECT_EQ(parts.proxy_rank, row.proxy_rank) << row.path;
    EXPECT_EQ(parts.gpudirect, row.gpudirect) << row.path;
  }
}

std::string member(std::string_view host, int pid, std::string_view comm, int rank, int nranks) {
  return fmt::format(
      "{0}:{1}:{1} [0] NCCL INFO ncclCommInitRank comm 0x{2}{3} rank {3} nranks {4} cudaDev 0 "
      "nvmlDev 0 busId {3}9000 commId 0x{2} - Init COMPLETE\n",
      host, pid, comm, rank, nranks);
}

std::string line(std::string_view host, int pid, std::string_view message) {
  return fmt::format("{0}:{1}:{1} [0] NCCL INFO {2}\n", host, pid, message);
}

/// "send 101 OtherHost": direction, the peer's pid, reach of the only connection.
std::string ends(const std::string& log) {
  const Job job = job_from_text(log);
  const auto edges = edges_of(job);
  if (edges.size() != 1) return fmt::format("{} edges", edges.size());
  const Edge& edge = edges.front();
  constexpr std::string_view kReach[] = {"Unknown", "SameHost", "OtherHost"};
  return fmt::format("{} {} {}", edge.sends ? "send" : "receive",
                     edge.peer < 0 ? -1 : job.processes[static_cast<size_t>(edge.peer)].pid,
                     kReach[static_cast<size_t>(edge.reach)]);
}

constexpr std::string_view kSend = "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0";

TEST(Edges, AreBetweenHostsWhereTheHostsDiffer) {
  const std::string members = member("gpu-a", 100, "aa", 0, 2) + member("gpu-b", 101, "aa", 1, 2);
  EXPECT_EQ(ends(members + line("gpu-a", 100, kSend)), "send 101 OtherHost");
  EXPECT_EQ(
      ends(members + line("gpu-b", 101, "Channel 00/0 : 0[0] -> 1[0] [receive] via NET/IB/0")),
      "receive 100 OtherHost");
}

TEST(Edges, AreWithinAHostWhereItIsTheSame) {
  const std::string members = member("gpu-a", 100, "aa", 0, 2) + member("gpu-a", 101, "aa", 1, 2);
  EXPECT_EQ(ends(members + line("gpu-a", 100, kSend)), "send 101 SameHost");
}

TEST(Edges, HaveNoReachWhereUsersNameTheirHosts) {
  const std::string members = member("gpu-a", 100, "aa", 0, 2) + member("gpu-a", 101, "aa", 1, 2) +
                              line("gpu-a", 100, "NCCL_HOSTID set by environment to left");
  EXPECT_EQ(ends(members + line("gpu-a", 100, kSend)), "send 101 Unknown");
}

TEST(Edges, KnowNothingOfAPeerThatIsNotSeen) {
  EXPECT_EQ(ends(member("gpu-a", 100, "aa", 0, 2) + line("gpu-a", 100, kSend)), "send -1 Unknown");
}

TEST(Edges, OverSharedMemoryStayInTheHostWhoeverThePeerIs) {
  EXPECT_EQ(ends(member("gpu-a", 100, "aa", 0, 2) +
                 line("gpu-a", 100, "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct")),
            "send -1 SameHost");
}

TEST(Edges, OfTwoCommunicatorsThatDisagreeHaveNoPeer) {
  const std::string members = member("gpu-a", 100, "aa", 0, 2) + member("gpu-b", 101, "aa", 1, 2) +
                              member("gpu-a", 100, "bb", 0, 2) + member("gpu-a", 102, "bb", 1, 2);
  EXPECT_EQ(ends(members + line("gpu-a", 100, kSend)), "send -1 Unknown");
}

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
      const FactValue value = fact.ask(job, instance);
      if (!value.known()) continue;
      text += fmt::format(" {}={}", fact.name.substr(fact.name.find('.') + 1), fact_text(value));
    }
    text += "\n";
  }
  return text;
}

TEST(RankPairs, ARankPairHasAllItsPaths) {
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
TEST(RankPairs, APairThatMayBeAnotherIsLeftOut) {
  const std::string log = init("n1", 7, 0, 2, "0x9c") + init("n1", 8, 1, 2, "0x9c") +
                          init("n1", 7, 0, 2, "0x9d") + init("n1", 9, 1, 2, "0x9d") +
                          "n1:7:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n";
  EXPECT_EQ(facts_of(log, Scope::RankPair), "");
}

}  // namespace

}  // namespace ncclog
