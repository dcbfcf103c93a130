#include "replay/run/gpus.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "support/replay_trial.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

ReplayMachine two_gpus() {
  return {.gpus = {{{0, "NVIDIA H200", "0000:0a:00.0", 150LL << 30},
                    149LL << 30,
                    std::vector<int64_t>{}},
                   {{1, "NVIDIA H200", "0000:18:00.0", 150LL << 30},
                    1LL << 30,
                    std::vector<int64_t>{4711, 4712}}},
          .runtime = "13.0",
          .driver = "13.0",
          .problem = ""};
}

TEST(GpuState, TextNamesGpusMemoryAndProcesses) {
  EXPECT_EQ(write_gpus_text(two_gpus()),
            "GPU 0: NVIDIA H200, 0000:0a:00.0, 149.0 of 150.0 GiB free, no process on it\n"
            "GPU 1: NVIDIA H200, 0000:18:00.0, 1.0 of 150.0 GiB free, busy: processes 4711, 4712\n"
            "CUDA 13.0, driver for CUDA 13.0\n");
}

TEST(GpuState, WhatIsUnknownIsSaidSo) {
  ReplayMachine machine = two_gpus();
  machine.gpus.pop_back();
  machine.gpus[0].processes.reset();
  EXPECT_EQ(write_gpus_json(machine),
            "{\"gpus\":[{\"gpu\":0,\"name\":\"NVIDIA H200\",\"bus_id\":\"0000:0a:00.0\","
            "\"memory\":161061273600,\"free\":159987531776,\"processes\":null}],"
            "\"runtime\":\"13.0\",\"driver\":\"13.0\",\"problem\":\"\"}\n");
}

TEST(GpuState, ProbeIsReadAsItIsWritten) {
  const GpuCheck check{
      .gpu = 1, .answers = false, .free_after = 512, .error = "cudaMalloc: \"no\" memory"};
  EXPECT_EQ(parse_line<GpuCheck>(write_line(check)), check);
}

TEST(GpuState, OtherTextIsNoProbe) {
  for (const char* text : {"", "{}", "[1]", "{\"gpu\":\"0\",\"answers\":true}",
                           "{\"gpu\":0,\"answers\":1}", "{\"gpu\":0", "\xff\xfe"}) {
    EXPECT_EQ(parse_line<GpuCheck>(text), std::nullopt) << text;
  }
}

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

using Found = std::vector<std::string>;

/// A file that this process has mapped as long as it lives.
struct Mapped {
  explicit Mapped(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR);
    memory = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
    close(file);
  }
  ~Mapped() { munmap(memory, 4096); }

  void* memory;
};

TEST(Segments, AreRemovedUnlessTheyWereThereOrAreUsed) {
  TempDir folder;
  folder.add("nccl-before", "x");
  folder.add("sem.other", "x");
  folder.add("torch_77", "x");
  const std::set<std::string> before = segments_in(folder.path());
  EXPECT_EQ(before, std::set<std::string>{"nccl-before"});
  folder.add("nccl-new", "x");
  const std::string used = folder.add("nccl-used", std::string(4096, 'x'));
  const std::string foreign = folder.add("nccl-foreign", std::string(4096, 'x'));
  const std::string path = folder.path().native();
  {
    const Mapped one(used);
    const Mapped other(foreign);
    EXPECT_EQ(segments_of(getpid()), (std::set<std::string>{"nccl-foreign", "nccl-used"}));
    const std::string pid = std::to_string(getpid());
    EXPECT_EQ(remove_segments(before, {"nccl-new", "nccl-used"}, path),
              (Found{path + "/nccl-new (removed)",
                     path + "/nccl-used (still used by process " + pid + ")"}));
  }
  EXPECT_EQ(segments_in(path), (std::set<std::string>{"nccl-before", "nccl-foreign", "nccl-used"}));
}

TEST(Segments, ThatNoRankWasSeenToUseMayBeAnotherJobs) {
  // Names of their own: users are looked for by name, and other tests run beside this one.
  TempDir folder;
  folder.add("nccl-another", "x");
  folder.add("nccl-seen", "x");
  const std::string path = folder.path().native();
  EXPECT_EQ(
      remove_segments({}, {"nccl-seen"}, path),
      (Found{path + "/nccl-another (came up meanwhile; perhaps another job's, so it was left)",
             path + "/nccl-seen (removed)"}));
  EXPECT_EQ(segments_in(path), std::set<std::string>{"nccl-another"});
}

TEST(Segments, OfAProcessThatIsGoneAreNone) { EXPECT_TRUE(segments_of(0x7ffffff0).empty()); }

TEST(Segments, InAFolderThatIsNotThereAreNone) {
  EXPECT_TRUE(segments_in("/nowhere/shm").empty());
  EXPECT_EQ(free_bytes("/nowhere/shm"), -1);
}

TEST(Strays, AreNotThisProcess) {
  EXPECT_TRUE(end_strays({}, "").empty());
  EXPECT_TRUE(end_strays({}, "no such mark").empty());
}

}  // namespace
}  // namespace ncclog::testing
