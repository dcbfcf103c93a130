#include "log/iteration_marker.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace ncclog {
namespace {

/// "megatron 10/500": preset, step, total; "-" if the line is no marker.
std::string found(std::string_view line, const MarkerFinder& finder = MarkerFinder()) {
  Marker marker;
  if (!finder.find(line, marker)) return "-";
  std::string text = marker.wording == kOwnWording
                         ? std::string("own")
                         : std::string(iteration_wordings()[marker.wording].preset);
  if (marker.step >= 0) text += " " + std::to_string(marker.step);
  if (marker.total >= 0) text += "/" + std::to_string(marker.total);
  return text;
}

TEST(IterationMarker, EveryWordingFitsItsOwnExample) {
  const auto wordings = iteration_wordings();
  for (size_t i = 0; i < wordings.size(); ++i) {
    const IterationWording& wording = wordings[i];
    Marker marker;
    const MarkerFinder by_name(wording.preset);
    const MarkerFinder all;
    const MarkerFinder& finder = wording.by_name_only ? by_name : all;
    ASSERT_TRUE(finder.find(wording.example, marker)) << wording.example;
    EXPECT_EQ(marker.wording, i) << wording.example;
    EXPECT_EQ(marker.step, wording.example_step) << wording.example;
    EXPECT_EQ(wording.place == MarkerPlace::Tick, wording.example_step < 0) << wording.example;
  }
}

struct MarkerRow {
  std::string_view line;
  std::string_view marker;
};

TEST(IterationMarker, FindsTheStepInRealLineShapes) {
  constexpr MarkerRow kRows[] = {
      {"iteration: 0 | consumed samples: 0 | lr: 1.0E-04", "iteration 0"},
      {"[trainer0]:iteration: 1 | consumed samples: 256 | lr: 1.0E-04", "iteration 1"},
      {"iteration: 12", "iteration 12"},
      {"Train Epoch: 0 [  8232/109772 (8%)] Data (t): 0.295 Loss: 7.9482",
       "pytorch-examples 8232/109772"},
      {"Epoch [2/5], Step [100/600], Loss: 0.3204", "plain 100/600"},
      {"epoch=3 step=40 lr=0.001 train_loss=0.62", "plain 40"},
      {"Epoch [2/5], Loss: 0.3204", "plain"},
      {"Iteration 7/90, loss 3.1", "iteration 7/90"},
      {"[default7]: iteration        1/ 1000000 | consumed samples: 8 |", "megatron 1/1000000"},
      {" [2026-01-05 12:00:00] iteration      100/     500 | consumed samples:        12800 | "
       "elapsed time per iteration (ms): 812.3 | learning rate: 1.0E-04 |",
       "megatron 100/500"},
      {"15:[2026-01-05 12:00:00] iteration 3/ 10 | loss scale: 1.0 |", "megatron 3/10"},
      {"Training epoch 0, iteration 9/99 | lr: 0.0003 | global_batch_size: 8 | global_step: 9 | "
       "reduced_train_loss: 7.1",
       "nemo 9"},
      {"Epoch 0:   6%|6  | 320/5001 [1:02:03<9:39:17,  1.37it/s, loss=2.6, v_num=, "
       "global_step=319.0]",
       "nemo 319"},
      {"[Rank 0] step=10, skipped=0, lr=[0.0001], mom=[(0.9, 0.999)]", "deepspeed 10"},
      {"steps: 20 loss: nan iter time (s): 0.512 samples/sec: 62.5", "deepspeed 20"},
      {"100%|##########| 1752/1752 [1:24:09<00:00,  2.88s/it]", "hf 1752/1752"},
      {"[rank0]:   0%|          | 0/1752 [00:00<?, ?it/s]", "hf 0/1752"},
      {"Steps:  10%|#         | 100/1000 [00:10<01:30, 10.00it/s, loss=0.1]", "tqdm 100/1000"},
      {"Epoch 0: 100%|##########| 1000/1000 [01:40<00:00, 10.00it/s, v_num=0]",
       "lightning 1000/1000"},
      {"Training Epoch 1:  12%|#2        | 230/1840 [02:50<16:50,  1.55it/s]", "tqdm 2070/1840"},
      {"Epoch 1:   0%|          | 0/1000 [00:00<?, ?it/s, v_num=0]", "lightning 1000/1000"},
      {"[rank0]:[titan] 2026-01-05 12:00:00,123 - root - INFO - step:  1  loss: 12.2471  memory: "
       "40.00GiB(50.00%)  tps: 5,000",
       "torchtitan 1"},
      {"[epoch=1][batch=10/500]:", "composer 10/500"},
      {"iter 0: loss 10.9885, time 23401.02ms, mfu -100.00%", "nanogpt 0"},
      {"2026-01-05 12:00:00 | INFO | train_inner | {\"epoch\": 1} num_updates 50 | lr 1e-05",
       "fairseq 50"},
      {"[step=1/1000]", "olmo 1/1000"},
      {"2026-01-05 12:00:00.000 host:0 olmo.train:800 INFO [step=10/1000,epoch=0]", "olmo 10/1000"},
      {"INFO 01-05 12:00:00 metrics.py:455] Avg prompt throughput: 10.0 tokens/s, Running: 1 reqs",
       "vllm"},
  };
  for (const MarkerRow& row : kRows) EXPECT_EQ(found(row.line), row.marker) << row.line;
}

TEST(IterationMarker, RefusesWhatOnlyLooksLikeAStep) {
  constexpr std::string_view kLines[] = {
      "elapsed time per iteration (ms): 4096.0 |",
      "saving checkpoint at iteration     500 to /data/ckpt",
      "validation loss at iteration 500 | lm loss value: 2.1E+00 | lm loss PPL: 8.2E+00 |",
      "(min, max) time across ranks (ms): forward-backward: (10.0, 11.0)",
      "step 500: train loss 4.1234, val loss 4.2345",
      "Validation DataLoader 0:  10%|#         | 1/10 [00:01<00:09,  1.00it/s]",
      "Map (num_proc=8):  50%|#####     | 200/400 [00:10<00:10,  19.8 examples/s]",
      "Generating train split:  50%|#####     | 200/400 [00:10<00:10,  19.8 examples/s]",
      "Loading checkpoint shards:  50%|#####     | 2/4 [00:10<00:10,  5.20s/it]",
      "Sanity Checking DataLoader 0:  50%|##### | 1/2 [00:01<00:01,  1.00it/s]",
      "Evaluating:   1%|          | 2/210 [00:01<02:58,  1.16it/s]",
      "[Eval batch=1/10] Eval on eval data:",
      "Setting stepper: 3 loss: 1",
      "max_steps=1000, skipped=0",
      "Engine 000: starting",
      "",
  };
  for (const std::string_view line : kLines) EXPECT_EQ(found(line), "-") << line;
}

TEST(IterationMarker, TheUsersExpressionFitsAnyLine) {
  const MarkerFinder by_group("update (\\d+) of \\d+");
  EXPECT_EQ(found("update 17 of 20", by_group), "own 17");
  EXPECT_EQ(found("iteration: 3 | lr", by_group), "-");
  EXPECT_TRUE(by_group.wants_all_lines());
  EXPECT_EQ(found("phase 9 round 4", MarkerFinder("phase \\d+ round (?P<step>\\d+)")), "own 4");
  EXPECT_EQ(found("=== next ===", MarkerFinder("^=== next")), "own");
}

TEST(IterationMarker, APresetByNameLooksForNothingElse) {
  const MarkerFinder olmo("olmo");
  EXPECT_EQ(found("[step=10/1000]", olmo), "olmo 10/1000");
  EXPECT_EQ(found("iteration: 3 | lr", olmo), "-");
  EXPECT_FALSE(olmo.wants_all_lines());
  EXPECT_EQ(found("Step 10/500 done", MarkerFinder("step")), "step 10/500");
  EXPECT_EQ(found("Step 10/500 done"), "-");
}

TEST(IterationMarker, HostileNumbersAreNoSteps) {
  EXPECT_EQ(found("iteration: 99999999999999999999 | x"), "iteration");
  EXPECT_EQ(found("[epoch=99999999999][batch=3/99999999999999]:"), "composer 3/99999999999999");
}

TEST(IterationMarker, AnInvalidExpressionIsRefused) {
  EXPECT_THROW(MarkerFinder("iteration: (\\d+"), Error);
}

}  // namespace
}  // namespace ncclog
