#include <gtest/gtest.h>

#include "base/error.h"
#include "replay/run/gpus.h"
#include "support/replay_trial.h"

namespace ncclog::testing {
namespace {

constexpr int64_t kGiB = 1LL << 30;

GpuState gpu(int index, std::optional<std::vector<int64_t>> processes = std::vector<int64_t>(),
             int64_t free = 139 * kGiB) {
  return {{index, "NVIDIA H200", "0000:0a:00.0", 140 * kGiB}, free, std::move(processes)};
}

ReplayMachine machine(std::vector<GpuState> gpus) {
  ReplayMachine machine;
  machine.gpus = std::move(gpus);
  machine.shared_memory = kGiB;
  return machine;
}

ReplayMachine without_driver() {
  ReplayMachine machine;
  machine.problem = "no NVIDIA driver: libcuda.so.1 was not found";
  return machine;
}

ReplayMachine without_nccl() {
  ReplayMachine bare = machine({gpu(0), gpu(1)});
  bare.nccl_problem = "libnccl.so.2 was not found";
  return bare;
}

ReplayMachine with_full_shared_memory() {
  ReplayMachine full = machine({gpu(0), gpu(1)});
  full.shared_memory = 4096;
  return full;
}

/// GPUs by rank, or why there are none.
struct GpuChoice {
  std::vector<int> gpus;
  std::string refusal;
  std::string hint;
};

GpuChoice choice_of(const RunFlags& flags, const ReplayMachine& machine) {
  try {
    return {choose_gpus(two_rank_plan(), flags, machine), "", ""};
  } catch (const Error& error) {
    return {{}, error.what(), error.hint()};
  }
}

struct ChoiceRow {
  const char* what;
  ReplayMachine machine;
  RunFlags flags;
  GpuChoice choice;
};

const ChoiceRow kChoices[] = {
    {"two free ones", machine({gpu(0), gpu(1), gpu(2)}), {}, {{0, 1}, "", ""}},
    {"the busy one is passed over",
     machine({gpu(0, {{4711}}), gpu(1), gpu(2)}),
     {},
     {{1, 2}, "", ""}},
    {"processes are not told, and memory is free",
     machine({gpu(0, std::nullopt), gpu(1)}),
     {},
     {{0, 1}, "", ""}},
    {"nothing is told", machine({gpu(0, std::nullopt, -1), gpu(1)}), {}, {{0, 1}, "", ""}},
    {"named ones, by rank",
     machine({gpu(0), gpu(1), gpu(2)}),
     {.devices = {2, 0}},
     {{2, 0}, "", ""}},
    {"a busy one that is shared",
     machine({gpu(0, {{4711}}), gpu(1)}),
     {.share = true},
     {{0, 1}, "", ""}},
    {"no driver",
     without_driver(),
     {},
     {{},
      "no NVIDIA driver: libcuda.so.1 was not found",
      "plans can be made and checked without a GPU"}},
    {"no GPU", machine({}), {}, {{}, "this machine has no GPU that CUDA can use", ""}},
    {"no NCCL",
     without_nccl(),
     {},
     {{}, "libnccl.so.2 was not found", "--nccl names the library to use"}},
    {"too few",
     machine({gpu(0)}),
     {},
     {{},
      "the plan needs 2 GPUs, one for each rank, and this machine has 1",
      "a replay needs two GPUs at least"}},
    {"busy by a process",
     machine({gpu(0), gpu(1, {{4711, 4712}})}),
     {},
     {{},
      "GPU 1 is busy: processes 4711, 4712 use it",
      "wait until it is free, name others with --devices, or take it all the same with --share"}},
    {"busy by memory",
     machine({gpu(0), gpu(1, std::nullopt, 70 * kGiB)}),
     {},
     {{},
      "GPU 1 is busy: 70.0 of 140.0 GiB of its memory are taken",
      "wait until it is free, name others with --devices, or take it all the same with --share"}},
    {"a busy one is named",
     machine({gpu(0), gpu(1, {{4711}})}),
     {.devices = {0, 1}},
     {{},
      "GPU 1 is busy: process 4711 uses it",
      "wait until it is free, name others with --devices, or take it all the same with --share"}},
    {"a number that is none",
     machine({gpu(0), gpu(1)}),
     {.devices = {0, 9}},
     {{}, "there is no GPU 9: this machine has 2", "`ncclog-replay gpus` lists them"}},
    {"a GPU twice",
     machine({gpu(0), gpu(1)}),
     {.devices = {1, 1}},
     {{}, "--devices names GPU 1 twice: never two ranks on one GPU", ""}},
    {"another number of devices",
     machine({gpu(0), gpu(1), gpu(2)}),
     {.devices = {0, 1, 2}},
     {{}, "--devices names 3 GPUs, and the plan needs 2, one for each rank", ""}},
    {"shared memory is full",
     with_full_shared_memory(),
     {},
     {{},
      "/dev/shm is full: 0 of the 8 MiB are free that NCCL needs there",
      "remove what is left there of other programs, or give the container more (--shm-size)"}},
};

TEST(ChooseGpus, GivesEachRankOneOrSaysWhyNot) {
  for (const ChoiceRow& row : kChoices) {
    const GpuChoice choice = choice_of(row.flags, row.machine);
    EXPECT_EQ(choice.gpus, row.choice.gpus) << row.what;
    EXPECT_EQ(choice.refusal, row.choice.refusal) << row.what;
    EXPECT_EQ(choice.hint, row.choice.hint) << row.what;
  }
}

TEST(ChooseGpus, RemarksOnLittleSharedMemory) {
  ReplayMachine little = machine({gpu(0), gpu(1)});
  little.shared_memory = 64LL << 20;
  EXPECT_EQ(machine_remark(1, little), "");
  EXPECT_EQ(machine_remark(2, little),
            "/dev/shm has 64 MiB free; ranks that meet in host memory (SHM) may need 128 MiB");
  little.shared_memory = -1;
  EXPECT_EQ(machine_remark(2, little), "");
}

}  // namespace
}  // namespace ncclog::testing
