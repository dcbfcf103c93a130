// How programs, launchers and schedulers say that the work is over.
//
//   `Trainer.fit` stopped: `max_steps=100` reached.
//   {'train_runtime': 412.7, 'train_samples_per_second': 31.0, …}
//   :::MLLOG {… "key": "run_stop", … "metadata": {… "status": "success"}}
//   [2026-01-05 12:00:05,123] [INFO] [launch.py:347:main] Process 4243 exits successfully.
//
// Formats were read in Lightning, transformers, Megatron-LM, DeepSpeed, torchtitan, torchrun,
// MLPerf's logging and scripts, nccl-tests' wrappers, LSF, PBS, seff, Ray and the MPI operator. How
// single processes die is in log/messages/shell.h and torchrun.h.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// The program or its launcher says that the job's work is done.
///
/// Some programs say it of each epoch or stage, so it counts only where no work stands after it.
struct WorkFinished {
  static constexpr std::string_view kKind = "work_finished";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      // Lightning and NeMo.
      {.text = "`Trainer.fit` stopped: {...}",
       .example = "`Trainer.fit` stopped: `max_steps=100` reached."},
      // transformers: the last metrics of a training, as a dictionary and as a table.
      {.text = "{}'train_runtime': {...}",
       .example = "{'train_runtime': 412.7, 'train_samples_per_second': 31.0, 'epoch': 3.0}"},
      {.text = "train_runtime  {...}", .example = "train_runtime            =     0:06:52.70"},
      {.text = "Training completed. Do not forget to share your model on {...}",
       .example = "Training completed. Do not forget to share your model on "
                  "huggingface.co/models =)"},
      // Megatron-LM, where it comes to the end and where it was told after how much to leave.
      {.text = "[after training is done] datetime: {...}",
       .example = "[after training is done] datetime: 2026-01-05 12:00:00"},
      {.text = "after training is done datetime: {...}",
       .example = "after training is done datetime: 2026-01-05 12:00:00"},
      {.text = "[exiting program at iteration {...}",
       .example = "[exiting program at iteration 500] datetime: 2026-01-05 12:00:00"},
      {.text = "[exiting program after {:int} minutes] {...}",
       .example = "[exiting program after 60 minutes] datetime: 2026-01-05 12:00:00"},
      // torchtitan, and what people print themselves.
      {.text = "{:Training completed|Training complete|Training finished|Training done|Finished "
               "training|Finished Training|Done training|training finished|training completed|"
               "Training completed.|Training complete.|Training finished.|Training completed!|"
               "Training complete!|Training finished!|Training successfully completed!}",
       .example = "Training completed"},
      {.text =
           "{:Training completed|Training complete|Training finished|Finished training|Finished "
           "Training|training finished|training completed} in {...}",
       .example = "Training complete in 5m 3s"},
      // Scripts of MLPerf's submissions. They leave before these lines if the training fails.
      {.text = "ENDING TIMING RUN AT {...}",
       .example = "ENDING TIMING RUN AT 2026-01-05 12:00:00 PM"},
      {.text = "RUNANDTIME_STOP {:int}", .example = "RUNANDTIME_STOP 1767614400"},
      {.text = "MLPerf training benchmark completed.",
       .example = "MLPerf training benchmark completed."},
      // torchrun, at its level INFO.
      {.text = "[{}] worker group successfully finished.{...}",
       .example = "[default] worker group successfully finished. Waiting 300 seconds for other "
                  "agents to finish."},
      {.text = "Local worker group finished ({:WorkerState.SUCCEEDED|SUCCEEDED}).{...}",
       .example = "Local worker group finished (WorkerState.SUCCEEDED). Waiting 300 seconds for "
                  "other agents to finish"},
      // Benchmarks.
      {.text = "total images/sec: {:word}", .example = "total images/sec: 2730.11"},
      {.text = "The average bandwidth of {} with a {} payload ({...}",
       .example = "The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 8 ranks):"},
      // Schedulers and operators.
      {.text = "Successfully completed.", .example = "Successfully completed."},
      {.text = "Reporting training SUCCESS", .example = "Reporting training SUCCESS"},
      {.text = "The experiment completed successfully. {...}",
       .example = "The experiment completed successfully. Finalizing run..."},
      {.text = "MPIJob {:word} successfully completed.",
       .example = "MPIJob default/bench successfully completed."},
      {.text = "Job '{:word}' succeeded", .example = "Job 'raysubmit_4Qk2' succeeded"},
  };
  static void each_field(auto&, auto&&) {}
};

/// MLPerf's record that a run is over, successful or not.
struct MlperfRunStop {
  std::string_view status;  ///< "success", "aborted"

  static constexpr std::string_view kKind = "mlperf_run_stop";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = ":::MLLOG {}\"key\": \"run_stop\"{}\"status\": \"{status}\"{...}",
       .example = ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1767614400000, \"event_type\": "
                  "\"INTERVAL_END\", \"key\": \"run_stop\", \"value\": null, \"metadata\": "
                  "{\"file\": \"train.py\", \"lineno\": 96, \"status\": \"success\"}}"},
      // 0.6 and 0.7.
      {.text = ":::MLL {} run_stop: {}\"status\": \"{status}\"{...}",
       .example = ":::MLL 1767614400.123 run_stop: {\"value\": null, \"metadata\": {\"status\": "
                  "\"success\", \"lineno\": 96, \"file\": \"train.py\"}}"},
      {.text = ":::MLL {} run_stop: {}'status': '{status}'{...}",
       .example = ":::MLL 1767614400.123 run_stop: {\"value\": null, \"metadata\": {'status': "
                  "'success', 'lineno': 96, 'file': 'train.py'}}"},
  };
  static void each_field(auto& self, auto&& visit) { visit("status", self.status); }
};

/// What a rank of a benchmark measured. It ends with these: each rank prints as many.
struct BenchResult {
  std::string_view busbw;

  static constexpr std::string_view kKind = "bench_result";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "busbw: {busbw:word} Gbps", .example = "busbw: 54.2160 Gbps"},
      {.text = "busbw: {busbw:word}  Gbps", .example = "busbw: 54.2160  Gbps"},
  };
  static void each_field(auto& self, auto&& visit) { visit("busbw", self.busbw); }
};

/// A worker ended with exit status 0, says DeepSpeed's launcher.
struct WorkerFinished {
  int64_t pid = -1;

  static constexpr std::string_view kKind = "worker_finished";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Process {pid} exits successfully.", .example = "Process 4243 exits successfully."},
  };
  static void each_field(auto& self, auto&& visit) { visit("pid", self.pid); }
};

/// The program or its launcher was told to end: by a signal, a limit or a person.
struct WorkStopped {
  static constexpr std::string_view kKind = "work_stopped";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      // DeepSpeed, Megatron-LM, Lightning.
      {.text = "Main process received {:SIGTERM|SIGINT}, exiting",
       .example = "Main process received SIGTERM, exiting"},
      {.text = "exiting program after receiving SIGTERM.",
       .example = "exiting program after receiving SIGTERM."},
      {.text = "Received SIGTERM: {:int}", .example = "Received SIGTERM: 15"},
      // mpirun and srun.
      {.text = "mpirun: Forwarding signal {:int} to job",
       .example = "mpirun: Forwarding signal 15 to job"},
      {.text = "mpirun: abort is already in progress{...}",
       .example = "mpirun: abort is already in progress...hit ctrl-c again to forcibly terminate"},
      {.text = "srun: forcing job termination", .example = "srun: forcing job termination"},
      {.text = "srun: sending Ctrl-C to {...}", .example = "srun: sending Ctrl-C to StepId=77.0"},
      // PBS and LSF.
      {.text = "=>> PBS: job killed: {...}",
       .example = "=>> PBS: job killed: walltime 3605 exceeded limit 3600"},
      {.text = "{:TERM_RUNLIMIT|TERM_OWNER|TERM_ADMIN|TERM_PREEMPT}: job killed {...}",
       .example = "TERM_RUNLIMIT: job killed after reaching LSF run time limit."},
      {.text = "Job '{:word}' was stopped", .example = "Job 'raysubmit_4Qk2' was stopped"},
  };
  static void each_field(auto&, auto&&) {}
};

/// What Slurm's seff or LSF's report says of the whole job.
struct BatchState {
  std::string_view state;
  int exitcode = -1;

  static constexpr std::string_view kKind = "batch_state";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "State: {state:COMPLETED|FAILED|TIMEOUT|CANCELLED|OUT_OF_MEMORY|NODE_FAIL} (exit "
               "code {exitcode})",
       .example = "State: COMPLETED (exit code 0)"},
      {.text = "Exited with exit code {exitcode}.", .example = "Exited with exit code 1."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("state", self.state);
    visit("exitcode", self.exitcode);
  }
};

using WorkEndMessages =
    Kinds<WorkFinished, MlperfRunStop, BenchResult, WorkerFinished, WorkStopped, BatchState>;

}  // namespace ncclog
