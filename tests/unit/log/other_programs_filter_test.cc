#include "log/other_programs_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "log/iteration_marker.h"

namespace ncclog {
namespace {

ForeignFilter filter_of(std::vector<std::string> wanted = {}) {
  return ForeignFilter(wanted, MarkerFinder());
}

bool can_matter(const ForeignFilter& filter, std::string_view line) {
  return filter.boring_lines(std::string(line) + "\n", 1).lines == 0;
}

TEST(ForeignFilter, LetsOrdinaryOutputGo) {
  const ForeignFilter filter({}, MarkerFinder());
  for (const std::string_view line : {
           "",
           "   ",
           "step=283 tokens_per_second=123490 mfu=0.401 memory_gb=73.6 data_wait_ms=4.33",
           "2026-11-20 00:00:00,575 - data.loader - INFO - worker 3 fetched shard 00533 of 08192",
           "    layers.62.attention.wq.weight  torch.Size([1024, 4096])  torch.bfloat16  cuda:0",
           "  with torch.enable_grad(), device_autocast_ctx, torch.cpu.amp.autocast(**ctx):",
           "/opt/lib/python3.12/site-packages/x/checkpoint.py:237: FutureWarning: deprecated",
           "loaded 12 files from cache (3.5 s)",
           "今日は天気がいいので、公園まで歩いて行きました。",
           "def reduce(values):  # all of them, in order",
       }) {
    EXPECT_FALSE(can_matter(filter, line)) << line;
  }
}

TEST(ForeignFilter, KeepsWhatMeansSomething) {
  const ForeignFilter filter({}, MarkerFinder());
  for (const std::string_view line : {
           "node-a:41:42 [3] NCCL INFO Using network IB",
           "NCCL version 2.28.9+cuda13.0",
           "[default3]:loading the tokenizer",
           "3: loading the tokenizer",
           "node07: loading the tokenizer",
           "(TrainWorker pid=4242, ip=10.0.0.7) loading the tokenizer",
           "2026-01-05T12:00:00.1Z stderr F loading the tokenizer",
           "RuntimeError: NCCL communicator was aborted on rank 3",
           "torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0",
           "run.sh: line 3: 1021 Killed  python train.py",
           "Segmentation fault (core dumped)",
           "Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]",
           "shm              64M   64M     0 100% /dev/shm",
           "$ mpirun -np 1 bash -c 'ulimit -l'",
           "root@worker:~# ulimit -a",
           "[rank6]:[E717 13:20:49.407638053 ProcessGroupNCCL.cpp:632] [Rank 6] Watchdog",
           "[E ProcessGroupNCCL.cpp:828] [Rank 3] Watchdog caught collective operation timeout",
           "E0105 12:00:00.123000 1400 torch/distributed/elastic/multiprocessing/api.py:826] "
           "failed",
           "frame #3: c10d::Proc[rank1]: x",
           "x node-b:52:52 [1]",
           "node-b:52:53 [1] misc/socket.cc:57",
           " [2026-01-05 12:00:00] iteration       10/     500 | consumed samples: 1280 |",
           R"({"log":"x\n","stream":"stderr"})",
           "\x1b[36mcolour",
           "[36mcolour",
           "done [0m",
           "loading [repeated 7x across cluster]",
       }) {
    EXPECT_TRUE(can_matter(filter, line)) << line;
  }
}

TEST(ForeignFilter, KeepsWhatIsWanted) {
  EXPECT_TRUE(
      can_matter(filter_of({"Operation not permitted"}), "mbind: Operation not permitted!"));
  EXPECT_FALSE(can_matter(filter_of({"Operation not permitted"}), "mbind: Operation permitted!"));
  EXPECT_TRUE(can_matter(filter_of({"x", ""}), "anything")) << "an empty text stands everywhere";
}

TEST(ForeignFilter, TakesWholeLinesOffABlock) {
  struct Row {
    std::string_view block;
    size_t bytes;
    uint64_t lines;
  };
  const ForeignFilter filter = filter_of();
  const std::string longer = "a\n" + std::string(5000, 'x') + "\nb\n";
  const Row rows[] = {
      {"", 0, 0},
      {"loading", 0, 0},
      {"loading\n", 8, 1},
      {"loading\n\nsaving\nhalf", 16, 3},
      {"loading\nnode-a:41:42 [3] NCCL INFO x\nsaving\n", 8, 1},
      {"node-a:41:42 [3] NCCL INFO x\nsaving\n", 0, 0},
      {"loading\n[default3]:x\nsaving\n", 8, 1},
      {"loading\n10%\r20%\r\n", 8, 1},
      {longer, 2, 1},
  };
  for (const Row& row : rows) {
    const LineRun boring = filter.boring_lines(row.block, 64);
    EXPECT_EQ(boring.bytes, row.bytes) << row.block;
    EXPECT_EQ(boring.lines, row.lines) << row.block;
  }
}

TEST(ForeignFilter, LooksAtLinesOneByOneWhereTheyHoldManyNeedles) {
  const ForeignFilter filter = filter_of();
  std::string block;
  for (int i = 0; i < 40; ++i) block += "x /dev/shm y /dev/shm\n";
  EXPECT_EQ(filter.boring_lines(block, 20).lines, 20u);
  EXPECT_EQ(filter.boring_lines(block, 40).lines, 1u);
  std::string line;
  for (int i = 0; i < 100; ++i) line += "/dev/shm ";
  EXPECT_TRUE(can_matter(filter, line));
}

TEST(MarkerNeedles, StandInWhatTheFinderFinds) {
  const std::vector<std::string> megatron = marker_needles(MarkerFinder("megatron"));
  EXPECT_EQ(std::count(megatron.begin(), megatron.end(), "iteration  "), 1);
  EXPECT_EQ(marker_needles(MarkerFinder("step(\\d+)")), std::vector<std::string>{""});
  EXPECT_EQ(marker_needles(MarkerFinder("step")), std::vector<std::string>{""});
  EXPECT_GT(marker_needles(MarkerFinder()).size(), 10u);
}

Beginnings some() {
  Beginnings beginnings;
  for (const std::string_view text : {"rank ", "Segmentation fault", "#", "NET/IB : "}) {
    beginnings.add(text);
  }
  return beginnings;
}

TEST(Beginnings, KnowsWhatWasAdded) {
  for (const std::string_view text :
       {"rank 3", "rank ", "Segmentation fault", "# x", "#", "NET/IB : x"}) {
    EXPECT_TRUE(some().may_begin(text)) << text;
  }
}

TEST(Beginnings, LetsOthersGo) {
  for (const std::string_view text : {"", "rank", "ranking", "Segment", " #", "NET/IB: x", "x"}) {
    EXPECT_FALSE(some().may_begin(text)) << text;
  }
}

}  // namespace
}  // namespace ncclog
