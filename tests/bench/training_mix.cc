#include <array>
#include <string>

#include "bench/log_mixes.h"

namespace ncclog::testing {
namespace {

/// How far the training script is.
struct Training {
  uint64_t step = 0;
  uint64_t request = 0;
};

constexpr uint64_t kSteps = 1000000;

void write_step(LogText& log, Training& at) {
  ++at.step;
  const auto [ms, tenth, loss, norm] = log.random({90, 10, 1000000, 1000});
  log.line(
      " [{}] iteration {:8}/{:8} | consumed samples: {:12} | elapsed time per iteration (ms): "
      "{}.{} | learning rate: 3.000000E-04 | global batch size:   512 | lm loss: 2.{:06}E+00 | "
      "loss "
      "scale: 1.0 | grad norm: 0.{:03} | number of skipped iterations:   0 | number of nan "
      "iterations:   0 |",
      log.time(), at.step, kSteps, at.step * 512, 800 + ms, tenth, loss, norm);
}

/// One line of the file, several states of the bar on the screen.
void write_bar(LogText& log, Training&) {
  std::string states;
  const uint64_t done = log.random(900);
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t at = done + i * 20;
    states +=
        fmt::format("\rValidation: {:3}%|{:█>{}}{:10}| {}/1000 [00:{:02}<01:{:02}, 12.{}it/s]",
                    at / 10, "", at / 100, "", at, at / 25, 59 - at / 25, log.random(10));
  }
  log.line("{}", states);
}

void write_logging(LogText& log, Training& at) {
  constexpr std::array<std::string_view, 4> kModules = {"data.loader", "train.optim",
                                                        "eval.harness", "checkpoint.io"};
  const auto [ms, module, worker, samples, rate, tenth] =
      log.random({1000, kModules.size(), 16, 100000, 900, 10});
  log.line("{},{:03} - {} - INFO - worker {} fetched shard {:05} of 08192 ({} samples, {}.{} MB/s)",
           log.time(), ms, kModules[module], worker, at.request++ % 8192, samples, rate, tenth);
}

void write_metrics(LogText& log, Training& at) {
  const auto [tokens, mfu, memory, tenth, wait, hundredths] =
      log.random({90000, 200, 15, 10, 9, 100});
  log.line("step={} tokens_per_second={} mfu=0.{:03} memory_gb={}.{} data_wait_ms={}.{:02}",
           at.step, 100000 + tokens, 300 + mfu, 60 + memory, tenth, wait, hundredths);
}

void write_json(LogText& log, Training& at) {
  const auto [loss, sequence] = log.random({10000, 1 << 20});
  log.line(R"({{"step": {}, "split": "train", "loss": 2.{:04}, "lr": 0.0003, "sequence": {}}})",
           at.step, loss, sequence);
}

void write_sample(LogText& log, Training&) {
  constexpr std::array<std::string_view, 6> kTexts = {
      "The committee approved the plan, and the harbour will open again in spring.",
      "Die Prüfung ergab, dass größere Mengen später geliefert würden.",
      "今日は天気がいいので、公園まで歩いて行きました。",
      "Всё, что нужно, уже лежит на столе.",
      "def reduce(values):  # all of them, in order",
      "Le café était fermé, alors nous sommes allés ailleurs 🙂",
  };
  const auto [number, text] = log.random({64, kTexts.size()});
  log.line("  sample {:3} > {}", number, kTexts[text]);
}

void write_warning(LogText& log, Training&) {
  log.line(
      "/opt/conda/lib/python3.12/site-packages/torch/utils/checkpoint.py:{}: FutureWarning: "
      "`torch.cpu.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cpu', "
      "args...)` instead.",
      90 + log.random(400));
  log.line("  with torch.enable_grad(), device_autocast_ctx, torch.cpu.amp.autocast(**ctx):");
}

/// An exception that the script handles and goes on.
void write_traceback(LogText& log, Training& at) {
  const auto [ms, line, column, character] = log.random({1000, 200, 80, 80});
  log.line("{},{:03} - data.loader - WARNING - sample {} is broken and left out", log.time(), ms,
           at.request);
  log.line("Traceback (most recent call last):");
  log.line("  File \"/workspace/data/loader.py\", line {}, in decode", 100 + line);
  log.line("    return json.loads(raw)");
  log.line("           ^^^^^^^^^^^^^^^");
  log.line("json.decoder.JSONDecodeError: Expecting value: line 1 column {} (char {})", 1 + column,
           character);
}

void write_empty(LogText& log, Training&) { log.line(""); }

void write_shape(LogText& log, Training&) {
  const auto [layer, power, device] = log.random({80, 4, 8});
  log.line("    layers.{}.attention.wq.weight  torch.Size([{}, 4096])  torch.bfloat16  cuda:{}",
           layer, 1024 << power, device);
}

using Output = void (*)(LogText& log, Training& at);

constexpr std::array<Output, 20> kOutputs = {
    write_step,    write_step,    write_logging, write_logging, write_logging,
    write_logging, write_metrics, write_metrics, write_metrics, write_json,
    write_json,    write_sample,  write_sample,  write_sample,  write_shape,
    write_shape,   write_shape,   write_empty,   write_warning, write_bar,
};

/// Of a thousand outputs, so many are tracebacks.
constexpr uint64_t kTracebacks = 3;

void write_output(LogText& log, Training& at) {
  const bool is_traceback = log.random(1000) < kTracebacks;
  const Output output = is_traceback ? write_traceback : kOutputs[log.random(kOutputs.size())];
  output(log, at);
}

void write_random_step(LogText& log, Training& at) {
  const auto [ms, tenth, rate, loss, loss_rest, norm] =
      log.random({600, 10, 1000000, 4, 1000000, 1000});
  log.line(
      " iteration {:8}/{:8} | consumed samples: {:12} | elapsed time per iteration (ms): {}.{} | "
      "learning rate: 1.{:06}E-04 | global batch size: 256 | lm loss: {}.{:06}E+00 | grad norm: "
      "0.{:03} |",
      at.step, 5 * kSteps, at.step * 256, 300 + ms, tenth, rate, 1 + loss, loss_rest, norm);
}

/// What a line of Python's logging says, in no order: as many texts as lines.
void write_random_words(LogText& log, Training&) {
  constexpr std::array<std::string_view, 34> kWords = {
      "the",   "loss",   "step",       "iteration",  "samples",    "learning",   "rate",
      "grad",  "norm",   "tokens",     "per",        "second",     "elapsed",    "time",
      "epoch", "batch",  "forward",    "backward",   "optimizer",  "checkpoint", "saving",
      "model", "state",  "to",         "disk",       "worker",     "loader",     "data",
      "shard", "memory", "perplexity", "validation", "throughput", "finished"};
  constexpr int kWordsALine = 12;
  const auto [rank, second, ms, source] = log.random({8, 60, 1000, 900});
  std::string words;
  for (int i = 0; i < kWordsALine; ++i) {
    words += ' ';
    words += kWords[log.random(kWords.size())];
  }
  log.line("[rank{}] 2026-11-20 03:04:{:02},{:03} INFO train.py:{}:{}", rank, second, ms, source,
           words);
}

void write_random_bar(LogText& log, Training& at) {
  const auto [percent, width, rate, hundredths, loss] = log.random({100, 10, 9, 100, 1000});
  log.line("Epoch 1: {}%|{:#>{}}| {}/10000 [00:12<01:20, {}.{:02}it/s, loss=0.{:03}]", percent, "",
           width, at.step % 10000, 1 + rate, hundredths, loss);
}

/// Half of them steps, a quarter words.
void write_step_output(LogText& log, Training& at) {
  constexpr std::array<Output, 4> kStepOutputs = {write_random_step, write_random_step,
                                                  write_random_words, write_random_bar};
  ++at.step;
  kStepOutputs[log.random(kStepOutputs.size())](log, at);
}

/// NCCL's share of the lines stands between what `output` writes.
void write_script(LogText& log, Output output) {
  Training at;
  CollectiveCalls calls(log);
  write_short_init(log);
  double nccl_lines = static_cast<double>(log.lines());
  while (!log.is_full()) {
    output(log, at);
    if (nccl_lines >= log.options().nccl_share * static_cast<double>(log.lines())) continue;
    calls.next([](int) {});
    nccl_lines += log.options().rank < 0 ? log.options().ranks : 1;
  }
}

}  // namespace

void write_training(LogText& log) { write_script(log, write_output); }

void write_steps(LogText& log) { write_script(log, write_step_output); }

}  // namespace ncclog::testing
