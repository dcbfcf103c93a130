#include <fmt/format.h>
#include <gtest/gtest.h>

#include "log/messages.h"
#include "model/derive/build_job.h"

namespace ncclog {
namespace {

/// Two hosts whose GPUs have the same bus ids, two ranks each.
const std::string kJob =
    "gpu-a:4242:4300 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 4 cudaDev 0 nvmlDev 0 "
    "busId 1b000 commId 0x77 - Init COMPLETE\n"
    "gpu-a:4243:4301 [1] NCCL INFO ncclCommInitRank comm 0x5b rank 1 nranks 4 cudaDev 1 nvmlDev 1 "
    "busId 3d000 commId 0x77 - Init COMPLETE\n"
    "gpu-b:4242:4300 [0] NCCL INFO ncclCommInitRank comm 0x5c rank 2 nranks 4 cudaDev 0 nvmlDev 0 "
    "busId 1b000 commId 0x77 - Init COMPLETE\n"
    "gpu-b:5243:5301 [1] NCCL INFO ncclCommInitRank comm 0x5d rank 3 nranks 4 cudaDev 1 nvmlDev 1 "
    "busId 3d000 commId 0x77 - Init COMPLETE\n";

std::string xid(std::string_view bus, std::string_view pid) {
  return fmt::format("NVRM: Xid (PCI:0000:{}:00): 79, pid={}, GPU has fallen off the bus.\n", bus,
                     pid);
}

constexpr std::string_view kRelations[] = {"process", "gpu",       "host",
                                           "unknown", "other gpu", "other host"};

/// "gpu on gpu-b rank 2" for the one event of the log.
std::string placed(const std::string& log, std::string path = "log.txt") {
  const Job job = job_from_text(log, {}, std::move(path));
  if (job.kernel_events.size() != 1) return fmt::format("{} events", job.kernel_events.size());
  const KernelEvent& event = job.kernel_events.front();
  return fmt::format("{} on {} rank {}", kRelations[static_cast<size_t>(event.relation)],
                     event.host, event.rank);
}

const std::string kJournal = "Jan 05 12:00:00 ";
const std::string kBoot = "[77123.456789] ";

TEST(BuildKernelEvents, TieLinesByWhatTheyName) {
  struct Row {
    std::string_view what;
    std::string line;
    std::string_view placed;
  };
  const Row kRows[] = {
      {"host and bus id", kJournal + "gpu-b kernel: " + xid("1b", "'<unknown>'"),
       "gpu on gpu-b rank 2"},
      {"a full host name", kJournal + "gpu-b.example kernel: " + xid("1b", "'<unknown>'"),
       "gpu on gpu-b rank 2"},
      {"a bus id alone fits several hosts", kBoot + xid("1b", "'<unknown>'"),
       "unknown on  rank -1"},
      {"a pid that one process has", kBoot + xid("3d", "5243"), "process on gpu-b rank 3"},
      {"a pid that two hosts have", kBoot + xid("1b", "4242"), "unknown on  rank -1"},
      {"a pid on its host", kJournal + "gpu-a kernel: " + xid("1b", "4242"),
       "process on gpu-a rank 0"},
      {"a pid of somebody else's GPU", kBoot + xid("1b", "5243"), "unknown on  rank -1"},
      {"a GPU that nobody uses", kJournal + "gpu-a kernel: " + xid("9c", "77"),
       "other gpu on gpu-a rank -1"},
      {"a GPU that no host has", kBoot + xid("9c", "77"), "other gpu on  rank -1"},
      {"a host without ranks", kJournal + "gpu-z kernel: " + xid("1b", "4242"),
       "other host on gpu-z rank -1"},
      {"killed for memory", kBoot + "Out of memory: Killed process 5243 (python3) total-vm:1kB\n",
       "process on gpu-b rank 3"},
      {"killed for memory, unknown", kBoot + "Out of memory: Killed process 9 (ld) total-vm:1kB\n",
       "unknown on  rank -1"},
  };
  for (const Row& row : kRows) EXPECT_EQ(placed(kJob + row.line), row.placed) << row.what;
}

TEST(BuildKernelEvents, TakeTheHostFromThePathOnlyWhereItNamesOne) {
  struct Row {
    std::string_view path;
    std::string_view host;
  };
  const Row kRows[] = {
      {"logs/gpu-b/dmesg.txt", "gpu-b"},
      {"dmesg-gpu-b.txt", "gpu-b"},
      {"gpu-b.example.dmesg", "gpu-b"},
      {"logs/dmesg_gpu-b_kern.log", "gpu-b"},
      {"gpu-b-dmesg.txt", "gpu-b"},
      {"logs/dmesg.txt", ""},
      {"logs/big-gpu-b.txt", ""},
      {"logs/gpu-b2.txt", ""},
      {"logs/gpu-b-2/dmesg.txt", ""},
      {"gpu-a_gpu-b/dmesg.txt", ""},
      {"gpu-a/copied-to/gpu-b/dmesg.txt", ""},
  };
  for (const Row& row : kRows) {
    const Job job =
        job_from_text(kJob + kBoot + xid("1b", "'<unknown>'"), {}, std::string(row.path));
    ASSERT_EQ(job.kernel_events.size(), 1u);
    EXPECT_EQ(job.kernel_events.front().host, row.host) << row.path;
  }
}

TEST(BuildKernelEvents, FindTheRankOfAGpuAmongSeveralOfOneProcess) {
  const std::string job =
      "gpu-a:855:901 [0] NCCL INFO ncclCommInitAll comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
      "busId 1b000 commId 0x77 - Init COMPLETE\n"
      "gpu-a:855:902 [1] NCCL INFO ncclCommInitAll comm 0x5b rank 1 nranks 2 cudaDev 1 nvmlDev 1 "
      "busId 3d000 commId 0x77 - Init COMPLETE\n";
  EXPECT_EQ(placed(job + kJournal + "gpu-a kernel: " + xid("3d", "'<unknown>'")),
            "gpu on gpu-a rank 1");
}

TEST(BuildKernelEvents, KnowNothingWithoutAJob) {
  EXPECT_EQ(placed(kBoot + xid("1b", "4242")), "unknown on  rank -1");
  EXPECT_EQ(placed(kJournal + "gpu-a kernel: " + xid("1b", "4242")), "unknown on gpu-a rank -1");
}

}  // namespace

}  // namespace ncclog
