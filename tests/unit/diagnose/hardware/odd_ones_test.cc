#include "diagnose/hardware/odd_ones.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/text.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

struct OddCase {
  std::string_view what;
  std::vector<std::string> values;
  std::string odd;  ///< Numbers of the odd ones.
};

const OddCase kRows[] = {
    {"one of four", {"a", "a", "b", "a"}, "2"},
    {"two of eight, each another way", {"a", "a", "b", "a", "a", "c", "a", "a"}, "2,5"},
    {"one of three has too few peers", {"a", "b", "a"}, ""},
    {"half against half", {"a", "a", "b", "b"}, ""},
    {"two of seven are more than a quarter", {"a", "a", "a", "a", "a", "b", "b"}, ""},
    {"all alike", {"a", "a", "a", "a"}, ""},
    {"all different", {"a", "b", "c", "d"}, ""},
    {"nobody", {}, ""},
};

TEST(OddOnes, AreAtMostAQuarterAgainstThreeAlike) {
  for (const OddCase& row : kRows) {
    PeerValues values;
    for (size_t i = 0; i < row.values.size(); ++i) {
      values.emplace_back(static_cast<int>(i), row.values[i].front());
    }
    EXPECT_EQ(ranges_text(odd_ones(values).odd), row.odd) << row.what;
  }
}

/// Hosts of `size` processes each; bus ids rise.
Job job_of(int hosts, int size) {
  Job job;
  for (int i = 0; i < hosts * size; ++i) {
    Process process;
    process.host = "gpu-" + std::to_string(i / size);
    process.rank = i;
    process.bus_id = std::to_string(10 + i % size) + "000";
    process.has_nccl = true;
    job.processes.push_back(process);
  }
  return job;
}

TEST(OddOnes, AreExcusedByAPlaceThatDiffersOnEveryHost) {
  const Job job = job_of(2, 8);
  PeerValues values;
  for (int p = 0; p < 16; ++p) values.emplace_back(p, p % 8 == 3 ? 'b' : 'a');
  OddOnes odd = odd_ones(values);
  EXPECT_EQ(odd.odd, (std::vector<int>{3, 11}));
  excuse_places(job, values, odd);
  EXPECT_TRUE(odd.odd.empty());
}

TEST(OddOnes, AreNotExcusedWhereTheSamePlaceOfAnotherHostIsLikeTheRest) {
  const Job job = job_of(2, 8);
  PeerValues values;
  for (int p = 0; p < 16; ++p) values.emplace_back(p, p == 11 ? 'b' : 'a');
  OddOnes odd = odd_ones(values);
  excuse_places(job, values, odd);
  EXPECT_EQ(odd.odd, std::vector<int>{11});
}

TEST(OddOnes, AtAPlaceAreComparedWithThatPlaceOnly) {
  const Job job = job_of(4, 2);
  PeerValues values;
  for (int p = 0; p < 8; ++p) values.emplace_back(p, p % 2);
  EXPECT_TRUE(odd_at_place(job, values).odd.empty());
  values[5].second = 0;
  EXPECT_EQ(odd_at_place(job, values).odd, std::vector<int>{5});
}

TEST(OddOnes, HaveNoPlaceOnAHostOfAnotherSize) {
  Job more = job_of(3, 4);
  more.processes.pop_back();
  const std::vector<int> places = places_in_host(more);
  EXPECT_EQ(places, (std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3, -1, -1, -1}));
}

using testing::guilty_answer;

constexpr int kGpus = 4;  ///< Of each host.

std::string line(int rank, std::string_view message) {
  return fmt::format("gpu-{0}:{1}:{1} [{2}] NCCL INFO {3}\n", rank / kGpus, 100 + rank,
                     rank % kGpus, message);
}

std::string members(int ranks) {
  std::string log;
  for (int r = 0; r < ranks; ++r) {
    log += line(r, fmt::format("ncclCommInitRank comm 0x7a{0} rank {0} nranks {1} cudaDev {2} "
                               "nvmlDev {2} busId {3}000 commId 0x77 - Init COMPLETE",
                               r, ranks, r % kGpus, r % kGpus + 1));
  }
  return log;
}

/// What a rank's channels to the same GPU of the next host and from that of the one before go over.
using PathOf = std::function<std::string(int rank, bool sends)>;

std::string rails(int hosts, const PathOf& path) {
  const int ranks = hosts * kGpus;
  std::string log = members(ranks);
  for (int r = 0; r < ranks; ++r) {
    const int next = (r + kGpus) % ranks;
    const int before = (r + ranks - kGpus) % ranks;
    for (int c = 0; c < 2; ++c) {
      log += line(r, fmt::format("Channel 0{}/0 : {}[{}] -> {}[{}] [send] via {}", c, r, r % kGpus,
                                 next, next % kGpus, path(r, true)));
      log += line(r, fmt::format("Channel 0{}/0 : {}[{}] -> {}[{}] [receive] via {}", c, before,
                                 before % kGpus, r, r % kGpus, path(r, false)));
    }
  }
  return log;
}

struct RailCase {
  std::string_view what;
  std::string_view fact;
  int hosts;
  PathOf path;
  std::string_view answer;
};

std::string ib(int device, bool gpudirect) {
  return fmt::format("NET/IB/{}{}", device, gpudirect ? "/GDRDMA" : "");
}

const RailCase kPathRows[] = {
    {"all alike", "job.odd_gpudirect", 2, [](int r, bool) { return ib(r % kGpus, true); }, "no"},
    {"one rank receives without", "job.odd_gpudirect", 2,
     [](int r, bool sends) { return ib(r % kGpus, sends || r != 6); }, "yes 6"},
    {"one rank sends without", "job.odd_gpudirect", 2,
     [](int r, bool sends) { return ib(r % kGpus, !sends || r != 1); }, "yes 1"},
    {"a place that has no near NIC on any host", "job.odd_gpudirect", 4,
     [](int r, bool) { return ib(r % kGpus, r % kGpus != 3); }, "no"},
    {"sends never read GPU memory here", "job.odd_gpudirect", 2,
     [](int r, bool sends) { return ib(r % kGpus, !sends); }, "no"},
    {"half of the hosts go without", "job.odd_gpudirect", 4,
     [](int r, bool) { return ib(r % kGpus, r < 8); }, "no"},
    {"sockets have none to lose", "job.odd_gpudirect", 2,
     [](int r, bool) { return r == 2 ? "NET/Socket/0" : ib(r % kGpus, true); }, "no"},
    {"one host on another network", "job.odd_network", 4,
     [](int r, bool) { return r / kGpus == 2 ? "NET/Socket/0" : ib(r % kGpus, true); }, "yes 8-11"},
    {"one network", "job.odd_network", 4, [](int r, bool) { return ib(r % kGpus, true); }, "no"},
    {"each GPU its NIC", "job.odd_nic", 4, [](int r, bool) { return ib(r % kGpus, true); }, "no"},
    {"one rank on its neighbour's NIC", "job.odd_nic", 4,
     [](int r, bool) { return ib(r == 9 ? 0 : r % kGpus, true); }, "yes 9"},
    {"through another rank's NIC", "job.odd_nic", 4,
     [](int r, bool) { return r == 9 ? "NET/IB/0(8)/GDRDMA" : ib(r % kGpus, true); }, "no"},
    {"two hosts cannot say who is odd", "job.odd_nic", 2,
     [](int r, bool) { return ib(r == 5 ? 0 : r % kGpus, true); }, "no"},
};

TEST(OddPathFacts, NameTheFewWhosePathsDiffer) {
  for (const RailCase& row : kPathRows) {
    EXPECT_EQ(guilty_answer(row.fact, rails(row.hosts, row.path)), row.answer)
        << row.fact << ": " << row.what;
  }
}

TEST(OddPathFacts, AreUnknownWithoutLinesOfChannels) {
  for (const std::string_view fact :
       {"job.odd_gpudirect", "job.odd_network", "job.odd_nic", "job.odd_local_path"}) {
    EXPECT_EQ(guilty_answer(fact, members(8)), "unknown") << fact;
  }
}

/// Each host's ring in itself; `path` says over what a rank reaches the next one.
std::string local_rings(int hosts, const std::function<std::string(int)>& path) {
  std::string log = members(hosts * kGpus);
  for (int r = 0; r < hosts * kGpus; ++r) {
    const int next = r / kGpus * kGpus + (r + 1) % kGpus;
    log += line(r, fmt::format("Channel 00/0 : {}[{}] -> {}[{}] via {}", r, r % kGpus, next,
                               next % kGpus, path(r)));
  }
  return log;
}

const std::string kNvls = line(0, "NVLS multicast support is available on dev 0");

TEST(OddPathFacts, LocalPairsAreComparedOverHosts) {
  const auto one_bad = [](int r) { return r == 5 ? "SHM/direct/direct" : "P2P/CUMEM"; };
  EXPECT_EQ(guilty_answer("job.odd_local_path", local_rings(4, one_bad)), "yes 5");
  // PCIe hosts reach across their CPUs through memory: always the same pair.
  const auto across = [](int r) { return r % kGpus == 1 ? "SHM/direct/direct" : "P2P/IPC"; };
  EXPECT_EQ(guilty_answer("job.odd_local_path", local_rings(4, across)), "no");
  // A faster path is no fault.
  const auto one_good = [](int r) { return r == 5 ? "P2P/CUMEM" : "SHM/direct/direct"; };
  EXPECT_EQ(guilty_answer("job.odd_local_path", local_rings(4, one_good)), "no");
}

TEST(OddPathFacts, LocalPairsOfOneHostAreComparedBehindNvswitchOnly) {
  const auto one_bad = [](int r) { return r == 2 ? "SHM/direct/direct" : "P2P/CUMEM"; };
  EXPECT_EQ(guilty_answer("job.odd_local_path", local_rings(1, one_bad)), "no");
  EXPECT_EQ(guilty_answer("job.odd_local_path", local_rings(1, one_bad) + kNvls), "yes 2");
}

TEST(OddPathFacts, APairThatIsSlowOnMostHostsIsNotOddInItsOwn) {
  const auto across = [](int r) { return r % kGpus == 1 ? "SHM/direct/direct" : "P2P/CUMEM"; };
  std::string nvls;
  for (int host = 0; host < 4; ++host) {
    nvls += line(host * kGpus, "NVLS multicast support is available on dev 0");
  }
  EXPECT_EQ(guilty_answer("job.odd_local_path", local_rings(4, across) + nvls), "no");
}

}  // namespace

}  // namespace ncclog
