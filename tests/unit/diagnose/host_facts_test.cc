#include <gtest/gtest.h>

#include <string_view>

#include "support/fact_of.h"

namespace ncclog {
namespace {

using testing::answer_of;

struct HostCase {
  std::string_view what;
  std::string_view fact;
  std::string_view log;
  std::string_view answer;
};

const HostCase kCases[] = {
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
  for (const HostCase& row : kCases) {
    EXPECT_EQ(answer_of(row.fact, row.log), row.answer) << row.fact << ": " << row.what;
  }
}

}  // namespace
}  // namespace ncclog
