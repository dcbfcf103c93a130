#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "diagnose/fact.h"
#include "model/build/build_job.h"

namespace ncclog {
namespace {

/// A process of host dev-7 up to its initialisation: version, network, Init START of rank `rank`.
std::string rank_lines(int rank, int nranks, std::string_view version, bool fell_back = false) {
  const std::string n = std::to_string(rank);
  const std::string head = "dev-7:410" + n + ":410" + n + " [" + n + "] NCCL INFO ";
  std::string log = head + "Bootstrap: Using eth0:10.8.0.7<0>\n" + head + "NCCL version " +
                    std::string(version) + "+cuda12.9\n";
  if (fell_back) {
    log += head +
           "cuMem host allocations do not appear to be working; falling back to a /dev/shm/ based "
           "implementation. This could be due to the container runtime disabling NUMA support. To "
           "disable this warning, set NCCL_CUMEM_HOST_ENABLE=0\n";
  }
  return log + head + "Using network Socket\n" + head + "ncclCommInitRankConfig comm 0x5" + n +
         " rank " + n + " nranks " + std::to_string(nranks) + " cudaDev " + n + " nvmlDev " + n +
         " busId " + n + "000 commId 0x51 - Init START\n";
}

constexpr std::string_view kGarbled =
    "[2026-01-05 08:00:01] dev-7:4101:4177 [1] misc/shmutils.cc:134 NCCL WARN Error while "
    "attaching to shared memory segment /dev/shm/nccl-\xd3 (size 0), error: No such file or "
    "directory (2)\n";

constexpr std::string_view kSwitchedOff =
    "dev-7:4101:4101 [1] NCCL INFO NCCL_CUMEM_HOST_ENABLE set by environment to 0.\n";

struct MemoryCase {
  std::string_view what;
  std::string log;
  std::string_view partial;  ///< host.cumem_fallback_partial
  std::string_view garbled;  ///< host.garbled_attach
};

std::string without_head(std::string log) {
  return log.erase(0, log.find("NCCL version")).erase(0, log.find('\n') + 1);
}

const std::string kFell1 = rank_lines(1, 2, "2.27.3", true);
const std::string kKept0 = rank_lines(0, 2, "2.27.3");
const std::string kKept1 = rank_lines(1, 2, "2.27.3");

const MemoryCase kCases[] = {
    {"one fell back", kKept0 + kFell1, "yes", "host memory"},
    {"none fell back", kKept0 + kKept1, "no", "stale segment"},
    {"all fell back", rank_lines(0, 2, "2.27.3", true) + kFell1, "no", "stale segment"},
    {"one fell back, the other's file is missing", kFell1, "unknown", "either"},
    {"none fell back, one file is missing", kKept0, "unknown", "either"},
    {"one fell back, the beginning of the other's file is missing", without_head(kKept0) + kFell1,
     "unknown", "either"},
    {"none fell back, the beginning of one file is missing", without_head(kKept0) + kKept1,
     "unknown", "either"},
    {"one fell back, the other's file ends before the probe",
     kFell1 + "dev-7:4100:4100 [0] NCCL INFO Bootstrap: Using eth0:10.8.0.7<0>\n", "unknown",
     "either"},
    {"a release without the line", rank_lines(0, 2, "2.25.1") + rank_lines(1, 2, "2.25.1"),
     "unknown", "either"},
    {"a release without such memory", rank_lines(0, 2, "2.21.5"), "no", "stale segment"},
    {"one rank switched it off", kKept0 + std::string(kSwitchedOff) + kKept1, "no", "host memory"},
    {"no version at all", std::string(kGarbled), "unknown", "either"},
};

/// The fact asked about host dev-7.
FactValue on_host(std::string_view fact, const Job& job) {
  for (const Instance& instance : instances_of(job, Scope::Host)) {
    if (instance.host == "dev-7") return find_fact(fact)->derive(job, instance);
  }
  return {};
}

TEST(CumemHostMemory, TellsNeighboursThatDifferFromOnesThatProvablyDoNot) {
  for (const MemoryCase& row : kCases) {
    const Job job = job_from_text(row.log + std::string(kGarbled));
    EXPECT_EQ(fact_text(on_host("host.cumem_fallback_partial", job)), row.partial) << row.what;
    EXPECT_EQ(fact_text(on_host("host.garbled_attach", job)), row.garbled) << row.what;
  }
}

TEST(CumemHostMemory, JudgesEachHostByItself) {
  std::string other = kFell1;
  for (size_t at = 0; (at = other.find("dev-7", at)) != std::string::npos;) {
    other.replace(at, 5, "dev-9");
  }
  const Job job = job_from_text(kKept0 + other + std::string(kGarbled));
  EXPECT_EQ(fact_text(on_host("host.garbled_attach", job)), "either");
}

TEST(CumemHostMemory, DoesNotTrustSilenceWhereRayPrintedOneLineForSeveral) {
  std::string log = kKept0 + kFell1;
  log.insert(log.find("NCCL_CUMEM_HOST_ENABLE=0\n") + 24, " [repeated 2x across cluster]");
  const Job job = job_from_text(log + std::string(kGarbled));
  EXPECT_EQ(fact_text(on_host("host.garbled_attach", job)), "either");
}

/// The log of two ranks, `cut` with all or none of its beginning, and the garbled name.
std::string garbled_answer(const std::string& whole, const std::string& cut) {
  return fact_text(
      on_host("host.garbled_attach", job_from_text(whole + cut + std::string(kGarbled))));
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

TEST(CumemHostMemory, CountsInWords) {
  const Job job = job_from_text(kKept0 + kFell1);
  EXPECT_EQ(on_host("host.cumem_fallback_partial", job).what, "1 did, 1 did not");
}

}  // namespace
}  // namespace ncclog
