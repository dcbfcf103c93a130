#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "diagnose/facts/fact.h"
#include "model/build/build_job.h"
#include "support/fact_of.h"
#include "support/guilty.h"

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

using testing::answer_of;

struct HostCase {
  std::string_view what;
  std::string_view fact;
  std::string_view log;
  std::string_view answer;
};

const HostCase kHostCases[] = {
    {"a container's host name", "job.container",
     "c5ab17e0d2f4:10:10 [0] NCCL INFO Using network Socket\n", "yes"},
    {"a docker command", "job.container", "$ docker run --gpus all image python t.py\n", "yes"},
    {"Docker's address", "job.container",
     "red1:10:10 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.2<0>\n", "yes"},
    {"the bridge on the host itself", "job.container",
     "red1:10:10 [0] NCCL INFO Bootstrap : Using docker0:172.17.0.1<0>\n", "no"},
    {"a line of a container runtime", "job.container",
     "2024-05-01T10:00:00.123456789Z stdout F red1:10:10 [0] NCCL INFO Using network Socket\n",
     "yes"},
    {"kubectl's prefix", "job.container",
     "[pod/worker-3/pytorch] red1:10:10 [0] NCCL INFO Using network Socket\n", "yes"},
    {"a plain host", "job.container", "red1:10:10 [0] NCCL INFO Using network Socket\n", "no"},

    {"Docker's default", "job.shm_mount_small", "shm              64M   64M     0 100% /dev/shm\n",
     "yes"},
    {"the same in blocks", "job.shm_mount_small", "shm     65536 65536     0 100% /dev/shm\n",
     "yes"},
    {"half of a large memory", "job.shm_mount_small",
     "tmpfs           126G   12K  126G   1% /dev/shm\n", "no"},
    {"half of a large memory", "job.shm_mount_large",
     "tmpfs           126G   12K  126G   1% /dev/shm\n", "yes"},
    {"no df", "job.shm_mount_large", "red1:10:10 [0] NCCL INFO Using network Socket\n", "no"},
    {"no df", "job.shm_mount_small", "red1:10:10 [0] NCCL INFO Using network Socket\n", "no"},

    {"two ranks here, one there", "job.uneven_ranks_per_host",
     "red1:10:12 [0] NCCL INFO comm 0x5a rank 0 nranks 3 cudaDev 0 busId 1000 - Init COMPLETE\n"
     "red1:11:13 [1] NCCL INFO comm 0x5b rank 1 nranks 3 cudaDev 1 busId 2000 - Init COMPLETE\n"
     "red2:20:22 [0] NCCL INFO comm 0x5c rank 2 nranks 3 cudaDev 0 busId 1000 - Init COMPLETE\n",
     "yes"},
    {"a rank whose host nobody knows", "job.uneven_ranks_per_host",
     "red1:10:12 [0] NCCL INFO comm 0x5a rank 0 nranks 3 cudaDev 0 busId 1000 - Init COMPLETE\n"
     "red1:11:13 [1] NCCL INFO comm 0x5b rank 1 nranks 3 cudaDev 1 busId 2000 - Init COMPLETE\n",
     "unknown"},
};

TEST(HostFacts, AnswerFromNamesCommandsAndDf) {
  for (const HostCase& row : kHostCases) {
    EXPECT_EQ(answer_of(row.fact, row.log), row.answer) << row.fact << ": " << row.what;
  }
}

using testing::guilty_answer;
using testing::GuiltyCase;

const std::string kJob =
    "gpu-a:4242:4300 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
    "busId 1b000 commId 0x77 - Init COMPLETE\n"
    "gpu-a:4243:4301 [1] NCCL INFO ncclCommInitRank comm 0x5b rank 1 nranks 2 cudaDev 1 nvmlDev 1 "
    "busId 3d000 commId 0x77 - Init COMPLETE\n";
const std::string kOnA = "Jan 05 12:00:00 gpu-a kernel: ";
const std::string kBoot = "[77123.456789] ";

std::string xid(int code, std::string_view bus = "3d", std::string_view pid = "'<unknown>'") {
  return "NVRM: Xid (PCI:0000:" + std::string(bus) + ":00): " + std::to_string(code) +
         ", pid=" + std::string(pid) + ", name=python3, x\n";
}

const GuiltyCase kKernelCases[] = {
    {"off the bus", "job.xid_off_bus", kJob + kOnA + xid(79), "yes 1"},
    {"off the bus, host unknown", "job.xid_off_bus", kJob + kBoot + xid(79), "yes"},
    {"off the bus, by pid", "job.xid_off_bus", kJob + kBoot + xid(79, "3d", "4243"), "yes 1"},
    {"another GPU", "job.xid_off_bus", kJob + kOnA + xid(79, "9c"), "no"},
    {"another GPU is elsewhere", "job.xid_elsewhere", kJob + kOnA + xid(79, "9c"), "yes"},
    {"a link", "job.xid_nvlink", kJob + kOnA + xid(74), "yes 1"},
    {"memory", "job.xid_memory", kJob + kOnA + xid(94), "yes 1"},
    {"firmware", "job.xid_driver", kJob + kOnA + xid(119), "yes 1"},
    {"the program", "job.xid_program", kJob + kOnA + xid(31), "yes 1"},
    {"a consequence", "job.xid_other", kJob + kOnA + xid(45), "no"},
    {"a consequence of a link", "job.xid_nvlink",
     kOnA +
         "NVRM: Xid (PCI:0000:3d:00): 45, pid=77, name=python3, Ch 01 caused by previous Xid 149\n",
     "yes"},
    {"a consequence of what has no class", "job.xid_other",
     kOnA +
         "NVRM: Xid (PCI:0000:3d:00): 45, pid=77, name=python3, Ch 01 caused by previous Xid 137\n",
     "yes"},
    {"a number without class", "job.xid_other", kJob + kOnA + xid(137), "yes 1"},
    {"of another class", "job.xid_other", kJob + kOnA + xid(79), "no"},
    {"a switch", "job.sxid_fatal",
     kBoot + "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n",
     "yes"},
    {"a switch, not fatal", "job.sxid_fatal",
     kBoot + "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20009, Non-fatal, Link 04 RX Short\n",
     "no"},
    {"killed, of the job", "job.killed",
     kJob + kBoot + "Out of memory: Killed process 4243 (python3) total-vm:1kB\n", "yes 1"},
    {"killed, of the job, is not unplaced", "job.oom_kill_unplaced",
     kJob + kBoot + "Out of memory: Killed process 4243 (python3) total-vm:1kB\n", "no"},
    {"killed, somebody", "job.killed",
     kJob + kBoot + "Out of memory: Killed process 77 (python3) total-vm:1kB\n", "unknown"},
    {"killed, somebody, is unplaced", "job.oom_kill_unplaced",
     kJob + kBoot + "Out of memory: Killed process 77 (python3) total-vm:1kB\n", "yes"},
    {"killed, and the shell says so", "job.killed",
     "bash: line 1:    77 Killed                  env RANK=3 python3 train.py\n" + kBoot +
         "Out of memory: Killed process 77 (python3) total-vm:1kB\n",
     "yes 3"},
    {"killed on another host", "job.oom_kill_unplaced",
     kJob + "Jan 05 12:00:00 web-1 kernel: Out of memory: Killed process 77 (ld) total-vm:1kB\n",
     "no"},
    {"crashed", "job.segfaulted",
     kJob + kBoot + "python3[4243]: segfault at 7f ip 7e sp 7d error 4 in libnccl.so.2[7f+1]\n",
     "yes 1"},
    {"somebody else crashed", "job.segfaulted",
     kJob + kBoot + "vim[99]: segfault at 7f ip 7e sp 7d error 4 in libc.so.6[7f+1]\n", "unknown"},
};

TEST(KernelFacts, NameWhomAKernelLineConcerns) {
  for (const GuiltyCase& row : kKernelCases) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

TEST(KernelFacts, SayWhatIsKnownOfAnEvent) {
  EXPECT_EQ(testing::fact_of("job.xid_off_bus", kJob + kOnA + xid(79)).what,
            "Xid 79 on gpu-a, 0000:3d:00 (rank 1)");
  EXPECT_EQ(testing::fact_of("job.xid_off_bus", kBoot + xid(79)).what, "Xid 79, 0000:3d:00");
}

}  // namespace

}  // namespace ncclog
