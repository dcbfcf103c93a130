#include "support/synthetic/end_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "support/synthetic/framework_lines.h"
#include "support/synthetic/nccl_lines.h"

namespace ncclog::testing {
namespace {

/// "2026-02-03 04:05:06,123", as Python's logging prints it.
std::string logging_time(double seconds) {
  const ClockTime time = clock_time(seconds);
  return fmt::format("{} {},{}", time.date, time.second, time.micros.substr(0, 3));
}

/// Milliseconds since 1970.
int64_t epoch_ms(double seconds) { return 1770091506000 + static_cast<int64_t>(seconds * 1000); }

std::string loss_of(int iteration) { return fmt::format("{:.4f}", 8.3181 - 0.0113 * iteration); }

std::string step_text(StepStyle style, double time, int iteration) {
  const std::string loss = loss_of(iteration);
  switch (style) {
    case StepStyle::Plain:
      return fmt::format("iteration: {} | consumed samples: {} | lr: 1.0E-04", iteration,
                         256 * (iteration + 1));
    case StepStyle::Megatron: {
      const ClockTime at = clock_time(time);
      return fmt::format(
          " [{} {}] iteration {:8}/{:8} | consumed samples: {:12} | elapsed time per iteration "
          "(ms): 412.3 | learning rate: 1.000000E-04 | global batch size:   256 | lm loss: {}E+00 "
          "| number of skipped iterations:   0 | number of nan iterations:   0 |",
          at.date, at.second, iteration + 1, 500, 256 * (iteration + 1), loss);
    }
    case StepStyle::Logger:
      return fmt::format("{} INFO trainer[rank 0]: step {} loss {}", logging_time(time), iteration,
                         loss);
    case StepStyle::Hydra:
      return fmt::format("[{}][pretrain][INFO] - step {} | loss {} | 203.3 ms", logging_time(time),
                         iteration, loss);
    case StepStyle::Trainer:
      return fmt::format(
          "{{'loss': {}, 'grad_norm': 5.9913, 'learning_rate': 1.84e-05, 'epoch': "
          "0.{:02}}}",
          loss, iteration + 1);
    case StepStyle::Lightning:
      return fmt::format(
          "Epoch 0: {:3}%|###       | {}/500 [00:0{}<00:12,  2.51it/s, v_num=0, "
          "train_loss={}]",
          iteration + 1, iteration + 1, iteration % 10, loss);
    case StepStyle::MlPerf:
      return fmt::format(
          ":::MLLOG {{\"namespace\": \"\", \"time_ms\": {}, \"event_type\": "
          "\"POINT_IN_TIME\", \"key\": \"tracked_stats\", \"value\": "
          "{{\"train_loss\": {}}}, \"metadata\": {{\"file\": \"train.py\", "
          "\"lineno\": 88, \"step\": {}}}}}",
          epoch_ms(time), loss, iteration);
    case StepStyle::DeepSpeed:
      return fmt::format(
          "[{}] [INFO] [logging.py:128:log_dist] [Rank 0] step={}, skipped=0, "
          "lr=[0.0001], mom=[[0.9, 0.999]]",
          logging_time(time), iteration + 1);
  }
  return {};
}

/// MLPerf's milliseconds are of another clock than that of launchers, which print no zone.
bool dates_steps(StepStyle style) {
  return style == StepStyle::Megatron || style == StepStyle::Logger || style == StepStyle::Hydra ||
         style == StepStyle::DeepSpeed;
}

/// Empty: the style has no words of its own process for it.
std::string finish_text(StepStyle style, double time, int iterations) {
  switch (style) {
    case StepStyle::Megatron: {
      const ClockTime at = clock_time(time);
      return fmt::format("[after training is done] datetime: {} {} ", at.date, at.second);
    }
    case StepStyle::Logger:
      return fmt::format("{} INFO trainer[rank 0]: training completed", logging_time(time));
    case StepStyle::Hydra:
      return fmt::format("[{}][pretrain][INFO] - training finished", logging_time(time));
    case StepStyle::Trainer:
      return fmt::format(
          "{{'train_runtime': 6.6411, 'train_samples_per_second': 9.637, "
          "'train_steps_per_second': 2.409, 'train_loss': {}, 'epoch': 1.0}}",
          loss_of(iterations));
    case StepStyle::Lightning:
      return fmt::format("`Trainer.fit` stopped: `max_steps={}` reached.", iterations);
    case StepStyle::MlPerf:
      return fmt::format(
          ":::MLLOG {{\"namespace\": \"\", \"time_ms\": {}, \"event_type\": "
          "\"INTERVAL_END\", \"key\": \"run_stop\", \"value\": null, \"metadata\": "
          "{{\"file\": \"train.py\", \"lineno\": 134, \"status\": \"success\"}}}}",
          epoch_ms(time));
    case StepStyle::Plain:
    case StepStyle::DeepSpeed:
      break;
  }
  return {};
}

int last_iteration(const Program& program) {
  int last = 0;
  for (const Step& step : program) last = std::max(last, step.iteration);
  return last;
}

/// When the rank had done everything but freeing its communicators.
double work_done(const std::vector<Happening>& happenings, const Program& program) {
  double done = 0;
  for (const Happening& happening : happenings) {
    const Step& step = program[static_cast<size_t>(happening.step)];
    const bool frees = happening.kind == Happening::Kind::Destroy && step.iteration < 0;
    if (!frees) done = std::max(done, happening.time);
  }
  return done;
}

/// When rank 0 says so. Megatron's ranks meet in a barrier before that, so that the last stage has
/// printed its last step.
double says_done(StepStyle style, const JobRun& run, const std::vector<Program>& programs) {
  double done = work_done(run.happenings.front(), programs.front());
  if (style != StepStyle::Megatron) return done;
  for (size_t rank = 0; rank < programs.size(); ++rank) {
    done = std::max(done, work_done(run.happenings[rank], programs[rank]) + 1e-5);
  }
  return done;
}

class Stop {
 public:
  Stop(const Layout& layout, const Setting& setting, double time)
      : layout_(layout), setting_(setting), time_(time) {}

  SpokenLines speak() {
    switch (setting_.stopper) {
      case Stopper::Torchrun:
        torchrun(15, "SIGTERM");
        break;
      case Stopper::Interrupt:
        interrupted();
        torchrun(2, "SIGINT");
        break;
      case Stopper::Scancel:
        slurm("");
        break;
      case Stopper::TimeLimit:
        slurm("DUE TO TIME LIMIT ");
        break;
      case Stopper::Preemption:
        slurm("DUE TO PREEMPTION ");
        break;
      case Stopper::Mpirun:
        mpirun();
        break;
      case Stopper::Nobody:
        break;
    }
    return std::move(lines_);
  }

 private:
  void say(int rank, std::string text, bool is_dated = false) {
    time_ += 0.0001;
    lines_.push_back({time_, rank, SpokenLine::Voice::Launcher, std::move(text), is_dated});
  }

  std::string elastic(int host, std::string_view place) const {
    const ClockTime at = clock_time(time_);
    return fmt::format("W0203 {}.{}000 {} torch/distributed/elastic/{}] ", at.second,
                       at.micros.substr(0, 3), agent(host), place);
  }
  int agent(int host) const { return setting_.first_pid - 50 - host; }

  /// Every host's agent is told.
  void torchrun(int signal, std::string_view name) {
    for (int host = 0; host < layout_.hosts(); ++host) {
      const int first = host * layout_.ranks_per_host;
      say(first,
          fmt::format("{}Received {} death signal, shutting down workers",
                      elastic(host, "agent/server/api.py:739"), signal),
          true);
      const int end = std::min(layout_.world, first + layout_.ranks_per_host);
      for (int rank = first; rank < end; ++rank) {
        if (setting_.shares_process && rank > first) break;
        say(first,
            fmt::format("{}Sending process {} closing signal {}",
                        elastic(host, "multiprocessing/api.py:1012"),
                        pid_of(layout_, setting_, rank), name),
            true);
      }
      say(first, "Traceback (most recent call last):");
      say(first, "  File \"/usr/local/bin/torchrun\", line 8, in <module>");
      say(first, "    sys.exit(main())");
      say(first,
          "  File \"/usr/local/lib/python3.12/site-packages/torch/distributed/elastic/"
          "multiprocessing/api.py\", line 86, in _terminate_process_handler");
      say(first,
          "    raise SignalException(f\"Process {os.getpid()} got signal: {sigval}\", "
          "sigval=sigval)");
      say(first,
          fmt::format("torch.distributed.elastic.multiprocessing.api.SignalException: Process {} "
                      "got signal: {}",
                      agent(host), signal));
    }
  }

  void interrupted() {
    for (int rank = 0; rank < layout_.world; ++rank) {
      if (setting_.shares_process && layout_.local_rank(rank) > 0) continue;
      const bool is_labelled = setting_.release->torch != TorchEra::V21 && !setting_.shares_process;
      const std::string label = is_labelled ? fmt::format("[rank{}]: ", rank) : "";
      for (const std::string_view text :
           {"Traceback (most recent call last):",
            "  File \"/workspace/train.py\", line 211, in <module>", "    main()",
            "  File \"/workspace/train.py\", line 180, in main", "    torch.cuda.synchronize()",
            "KeyboardInterrupt"}) {
        time_ += 0.0001;
        lines_.push_back(
            {time_, rank, SpokenLine::Voice::Worker, fmt::format("{}{}", label, text)});
      }
    }
  }

  void slurm(std::string_view reason) {
    const ClockTime at = clock_time(time_);
    const std::string host = host_name(layout_, 0);
    say(0, "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.");
    for (const std::string_view what : {"JOB 4711", "STEP 4711.0"}) {
      say(0,
          fmt::format("slurmstepd: error: *** {} ON {} CANCELLED AT {}T{} {}***", what, host,
                      at.date, at.second, reason),
          true);
    }
    for (int host_number = 0; host_number < layout_.hosts(); ++host_number) {
      const int first = host_number * layout_.ranks_per_host;
      const int last = std::min(layout_.world, first + layout_.ranks_per_host) - 1;
      if (last == first) {
        say(0,
            fmt::format("srun: error: {}: task {}: Terminated", host_name(layout_, first), first));
      } else {
        say(0, fmt::format("srun: error: {}: tasks {}-{}: Terminated", host_name(layout_, first),
                           first, last));
      }
    }
  }

  void mpirun() {
    say(0, "mpirun: killing job...");
    say(0, "");
    say(0, "--------------------------------------------------------------------------");
    say(0, fmt::format("mpirun noticed that process rank 0 with PID {} on node {} exited on signal "
                       "15 (Terminated).",
                       pid_of(layout_, setting_, 0), host_name(layout_, 0)));
    say(0, "--------------------------------------------------------------------------");
  }

  const Layout& layout_;
  const Setting& setting_;
  double time_;
  SpokenLines lines_;
};

}  // namespace

SpokenLines step_lines(const Layout& layout, const Setting& setting, const Program& program,
                       const std::vector<Happening>& happenings, int rank) {
  const int speaker = setting.steps == StepStyle::Megatron ? layout.world - 1 : 0;
  SpokenLines lines;
  if (rank != speaker) return lines;
  for (const Happening& happening : happenings) {
    if (happening.kind != Happening::Kind::Marker) continue;
    const int iteration = program[static_cast<size_t>(happening.step)].iteration;
    lines.push_back({happening.time, rank, SpokenLine::Voice::Worker,
                     step_text(setting.steps, happening.time, iteration),
                     dates_steps(setting.steps)});
  }
  return lines;
}

bool says_that_it_finished(StepStyle style) { return style != StepStyle::Plain; }

SpokenLines finish_lines(const Layout& layout, const Setting& setting, const JobRun& run,
                         const std::vector<Program>& programs) {
  SpokenLines lines;
  const double done = says_done(setting.steps, run, programs);
  const std::string text = finish_text(setting.steps, done, last_iteration(programs.front()) + 1);
  if (!text.empty()) {
    lines.push_back({done, 0, SpokenLine::Voice::Worker, text, dates_steps(setting.steps)});
  }
  if (setting.steps != StepStyle::DeepSpeed) return lines;
  for (int rank = 0; rank < layout.world; ++rank) {
    if (setting.shares_process && layout.local_rank(rank) > 0) continue;
    const double time = run.hung_at + 1 + 0.01 * rank;
    lines.push_back({time, rank, SpokenLine::Voice::Launcher,
                     fmt::format("[{}] [INFO] [launch.py:351:main] Process {} exits successfully.",
                                 logging_time(time), pid_of(layout, setting, rank)),
                     true});
  }
  return lines;
}

SpokenLines noise_lines(const Layout& layout, const Setting& setting, double time) {
  SpokenLines lines;
  for (int rank = 0; rank < layout.world; ++rank) {
    const int pid = pid_of(layout, setting, rank);
    const std::string header = fmt::format("{}:{}:{} [{}] proxy.cc:", host_name(layout, rank), pid,
                                           pid + 200, layout.local_rank(rank));
    const int peer = layout.local_rank(rank);
    const std::string texts[] = {
        fmt::format("{}1458 NCCL WARN [Service thread] Accept failed Resource temporarily "
                    "unavailable",
                    header),
        fmt::format("{}1497 NCCL WARN [Service thread] Could not receive type from localRank {}, "
                    "res=3, closed=0",
                    header, peer),
        fmt::format("{}1521 NCCL WARN [Proxy Service {}] Failed to execute operation Close from "
                    "rank {}, retcode 3",
                    header, rank, rank)};
    for (const std::string& text : texts) {
      lines.push_back({time + 0.01 * peer, rank, SpokenLine::Voice::Nccl, text});
    }
  }
  return lines;
}

SpokenLines stop_lines(const Layout& layout, const Setting& setting, double time) {
  return Stop(layout, setting, time).speak();
}

bool dates_its_words(Stopper stopper) {
  return stopper != Stopper::Mpirun && stopper != Stopper::Nobody;
}

SpokenLines restart_lines(const Layout& layout, const Setting& setting, double time) {
  SpokenLines lines;
  for (int host = 0; host < layout.hosts(); ++host) {
    const ClockTime at = clock_time(time);
    const std::string header =
        fmt::format("I0203 {}.{}000 {} torch/distributed/elastic/agent/server/api.py:", at.second,
                    at.micros.substr(0, 3), setting.first_pid - 50 - host);
    const int rank = host * layout.ranks_per_host;
    for (const std::string_view text :
         {"879] [default] Worker group FAILED. 2/3 attempts left; will restart worker group",
          "699] [default] Stopping worker group", "677] [default] Starting worker group"}) {
      lines.push_back(
          {time, rank, SpokenLine::Voice::Launcher, fmt::format("{}{}", header, text), true});
    }
  }
  return lines;
}

}  // namespace ncclog::testing
