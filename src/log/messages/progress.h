// What training loops print on the way: bars, steps, evaluation.
//
//   Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]
//    iteration       10/     500 | consumed samples:         1280 | …
//
// Never a fault. They tell what a rank was doing when others timed out.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/foreign_lines.h"
#include "log/message_kind.h"

namespace ncclog {

/// The process evaluates, validates or writes a checkpoint.
///
/// Ranks that do so alone leave the others waiting in a collective.
struct EvalProgress {
  std::string_view text;  ///< The whole line.

  static constexpr std::string_view kKind = "eval_progress";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{text...}",
       .example = "Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]",
       .recognise = recognise_eval_progress},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A tqdm bar about anything else; one line holds its last state.
struct ProgressBarSeen {
  std::string_view title;  ///< May be empty.
  int percent = -1;
  int done = -1;  ///< As printed; 0 where tqdm scales it ("1.2M").
  int total = -1;

  static constexpr std::string_view kKind = "progress_bar";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{title}: {percent}%|{}| {done}/{total} [{}]",
       .example = "Training Epoch 0:  12%|#2        | 230/1840 [02:50<16:50,  1.55it/s]",
       .recognise = recognise_progress_bar},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("title", self.title);
    visit("percent", self.percent);
    visit("done", self.done);
    visit("total", self.total);
  }
};

/// A rank's program says that it leaves: its data are at an end, it stops early, it aborts.
struct RankLeaves {
  int rank = -1;          ///< -1: the text names none; its prefix may.
  std::string_view text;  ///< The whole line.

  static constexpr std::string_view kKind = "rank_leaves";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{text...}",
       .example = "data exhausted on rank 3 after 14 steps, leaving",
       .recognise = recognise_rank_leaves},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("text", self.text);
  }
};

/// A training step was printed.
///
/// Frameworks print every n-th step, and each on another rank: Megatron on the last, most on rank
/// 0.
struct IterationLine {
  int64_t iteration = -1;
  int64_t total = -1;  ///< -1 where not printed.

  static constexpr std::string_view kKind = "iteration_line";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "iteration {iteration}/{total} |{...}",
       .example = "iteration       10/     500 | consumed samples:         1280 | elapsed time per "
                  "iteration (ms): 812.3 |",
       .recognise = recognise_megatron_step},
      {.text = "iteration: {iteration} | {...}",
       .example = "iteration: 2 | consumed samples: 128 | lr: 3.0e-04"},
      {.text = "step: {iteration} loss: {...}",
       .example = "step:  7  loss:  7.1234  grad_norm:  1.2000",
       .recognise = recognise_titan_step},
      {.text = "step={iteration}, skipped={...}",
       .example = "step=10, skipped=0, lr=[0.0001], mom=[(0.9, 0.999)]"},
      {.text = "steps: {iteration} loss: {...}",
       .example = "steps: 10 loss: 6.1234 iter time (s): 0.512 samples/sec: 62.5"},
      {.text = "iter {iteration}: loss {...}",
       .example = "iter 10: loss 10.8123, time 512.34ms, mfu 41.20%"},
      {.text = "Training epoch {:int}, iteration {iteration}/{total} |{...}",
       .example = "Training epoch 0, iteration 9/99 | lr: 0.0003 | global_step: 9"},
      {.text = "Train Epoch: {:int} [{iteration}/{total} ({...}",
       .example = "Train Epoch: 1 [640/60000 (1%)]\tLoss: 0.8613"},
      // Of scripts that print what each epoch, or part of it, came to.
      {.text = "epoch is: {:int} and {:train|training} loss is {...}",
       .example = "epoch is: 2 and train loss is 0.0731"},
      {.text = "[step={iteration}/{total},epoch={...}", .example = "[step=10/1000,epoch=0]"},
      {.text = "[step={iteration}/{total}]{...}", .example = "[step=10/1000]"},
      {.text = "[batch={iteration}/{total}]{...}", .example = "[batch=10/500]:"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("iteration", self.iteration);
    visit("total", self.total);
  }
};

using ProgressMessages = Kinds<EvalProgress, ProgressBarSeen, IterationLine, RankLeaves>;

}  // namespace ncclog
