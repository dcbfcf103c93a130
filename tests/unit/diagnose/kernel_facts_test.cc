#include <gtest/gtest.h>

#include "support/guilty.h"

namespace ncclog {
namespace {

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

const GuiltyCase kCases[] = {
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
  for (const GuiltyCase& row : kCases) {
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
