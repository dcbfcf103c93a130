// A job whose hosts are alike has no odd one out, whatever single line of its log is lost.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnose/facts/fact.h"
#include "model/derive/build_job.h"

namespace ncclog {
namespace {

constexpr int kHosts = 4;
constexpr int kGpus = 4;  ///< Of each host.
constexpr int kAllRanks = kHosts * kGpus;

std::string line(int rank, std::string_view message) {
  return fmt::format("gpu-{0}:{1}:{1} [{2}] NCCL INFO {3}", rank / kGpus, 100 + rank, rank % kGpus,
                     message);
}

void add_topology(int rank, std::vector<std::string>& log) {
  log.push_back(line(rank, "=== System : maxBw 240.0 totalBw 240.0 ==="));
  log.push_back(line(rank, "CPU/0-0 (1/1/2)"));
  for (int g = 0; g < kGpus; ++g) {
    const int peer = rank / kGpus * kGpus + g;
    log.push_back(line(rank, fmt::format("+ PCI[48.0] - GPU/0-{}000 ({})", g + 1, peer)));
    log.push_back(line(rank, "              + NVL[240.0] - NVS/0-0"));
    log.push_back(line(rank, fmt::format("+ PCI[48.0] - NIC/0-{}0000", g + 1)));
    log.push_back(
        line(rank, fmt::format("              + NET[50.0] - NET/0-{} (0/{}/1/50.0)", g, g)));
  }
  log.push_back(line(rank, "=========================================="));
  for (int g = 0; g < kGpus; ++g) {
    log.push_back(line(rank, fmt::format("GPU/0-{0}000 :GPU/0-{0}000 (0/5000.0/LOC) NET/0-{1} "
                                         "(3/48.0/PIX) ",
                                         g + 1, g)));
  }
  log.push_back(line(rank,
                     "Pattern 4, crossNic 0, nChannels 8, bw 20.0/20.0, type NVL/PIX, "
                     "sameChannels 1"));
}

void add_rank(int rank, std::vector<std::string>& log) {
  const int gpu = rank % kGpus;
  log.push_back(line(rank, "cudaDriverVersion 12040"));
  const std::string comm = fmt::format(
      "ncclCommInitRank comm 0x7a{0} rank {0} nranks {1} cudaDev {2} nvmlDev {2} busId {3}000 "
      "commId 0x77 - Init ",
      rank, kAllRanks, gpu, gpu + 1);
  log.push_back(line(rank, comm + "START"));
  if (gpu == 0) add_topology(rank, log);
  log.push_back(line(rank, "Setting affinity for GPU 0 to ffff"));
  log.push_back(line(rank, fmt::format("NVLS multicast support is available on dev {}", gpu)));
  log.push_back(line(rank,
                     "8 coll channels, 8 nvls channels, 8 p2p channels, 2 p2p channels per "
                     "peer"));
  const int next = rank / kGpus * kGpus + (rank + 1) % kGpus;
  for (int c = 0; c < 2; ++c) {
    log.push_back(line(rank, fmt::format("Channel 0{}/0 : {}[{}] -> {}[{}] via P2P/CUMEM", c, rank,
                                         gpu, next, next % kGpus)));
    log.push_back(line(rank, fmt::format("Channel 0{}/0 : {}[{}] -> {}[{}] [send] via "
                                         "NET/IB/{}/GDRDMA",
                                         c, rank, gpu, (rank + kGpus) % kAllRanks, gpu, gpu)));
    log.push_back(
        line(rank, fmt::format("Channel 0{}/0 : {}[{}] -> {}[{}] [receive] via "
                               "NET/IB/{}/GDRDMA",
                               c, (rank + kAllRanks - kGpus) % kAllRanks, gpu, rank, gpu, gpu)));
  }
  log.push_back(line(rank, comm + "COMPLETE"));
}

std::string without(const std::vector<std::string>& log, size_t lost) {
  std::string text;
  for (size_t i = 0; i < log.size(); ++i) {
    if (i != lost) text += log[i] + "\n";
  }
  return text;
}

TEST(OddOnesProperty, AlikeHostsHaveNoneWhateverLineIsLost) {
  std::vector<std::string> log;
  for (int rank = 0; rank < kAllRanks; ++rank) add_rank(rank, log);
  for (size_t lost = 0; lost <= log.size(); ++lost) {
    const Job job = job_from_text(without(log, lost));
    for (const Fact& fact : all_facts()) {
      if (!fact.name.starts_with("job.odd_")) continue;
      const FactValue value = fact.ask(job, job_instance(job));
      ASSERT_NE(fact_text(value), "yes")
          << fact.name << ": " << value.what << " without " << (lost < log.size() ? log[lost] : "");
      if (lost == log.size() && fact.name != "job.odd_test_run") {
        EXPECT_EQ(fact_text(value), "no") << fact.name << " must have something to judge";
      }
    }
  }
}

}  // namespace
}  // namespace ncclog
