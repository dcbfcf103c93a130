#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "diagnose/facts/fact.h"
#include "model/build/build_job.h"

namespace ncclog {
namespace {

/// A process of host dev-7 up to its initialisation: version, network, Init START of rank `rank`.
std::string rank_lines(int rank, bool fell_back = false) {
  const std::string n = std::to_string(rank);
  const std::string head = "dev-7:410" + n + ":410" + n + " [" + n + "] NCCL INFO ";
  std::string log =
      head + "Bootstrap: Using eth0:10.8.0.7<0>\n" + head + "NCCL version 2.27.3+cuda12.9\n";
  if (fell_back) {
    log += head +
           "cuMem host allocations do not appear to be working; falling back to a /dev/shm/ based "
           "implementation. This could be due to the container runtime disabling NUMA support. To "
           "disable this warning, set NCCL_CUMEM_HOST_ENABLE=0\n";
  }
  return log + head + "Using network Socket\n" + head + "ncclCommInitRankConfig comm 0x5" + n +
         " rank " + n + " nranks 2 cudaDev " + n + " nvmlDev " + n + " busId " + n +
         "000 commId 0x51 - Init START\n";
}

constexpr std::string_view kGarbled =
    "[2026-01-05 08:00:01] dev-7:4101:4177 [1] misc/shmutils.cc:134 NCCL WARN Error while "
    "attaching to shared memory segment /dev/shm/nccl-\xd3 (size 0), error: No such file or "
    "directory (2)\n";

const std::string kFell1 = rank_lines(1, true);
const std::string kKept0 = rank_lines(0);
const std::string kKept1 = rank_lines(1);

/// What the log of two ranks says of a garbled name; `cut` lacks all or none of its beginning.
std::string garbled_answer(const std::string& whole, const std::string& cut) {
  const Job job = job_from_text(whole + cut + std::string(kGarbled));
  for (const Instance& instance : instances_of(job, Scope::Host)) {
    if (instance.host != "dev-7") continue;
    return fact_text(find_fact("host.garbled_attach")->derive(job, instance));
  }
  return "no host";
}

TEST(CumemHostMemory, LosesItsAnswerButNeverChangesItWhereLinesAreCutOff) {
  const std::pair<std::string, std::string> logs[] = {
      {kKept0, kFell1}, {kFell1, kKept0}, {kKept0, kKept1}, {kKept1, kKept0}};
  for (const auto& [whole, other] : logs) {
    const std::string truth = garbled_answer(whole, other);
    ASSERT_NE(truth, "either");
    for (size_t at = 0; at != std::string::npos; at = other.find('\n', at + 1)) {
      const size_t line = at == 0 ? 0 : at + 1;
      for (const std::string& cut : {other.substr(line), other.substr(0, line)}) {
        const std::string answer = garbled_answer(whole, cut);
        EXPECT_TRUE(answer == truth || answer == "either") << answer << " from\n" << cut;
      }
    }
  }
}

}  // namespace

}  // namespace ncclog
