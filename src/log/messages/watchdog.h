// What PyTorch's NCCL watchdog says: timeouts, how far each rank had come, teardown.
//
//   [rank6]:[E717 13:20:49.407638053 ProcessGroupNCCL.cpp:632] [Rank 6] Watchdog caught collective
//   operation timeout: WorkNCCL(SeqNum=56731, OpType=ALLREDUCE, NumelIn=467019003,
//   NumelOut=467019003, Timeout(ms)=600000) ran for 600053 milliseconds before timing out.
//
// Sequence numbers are PyTorch's own, per process group: they are not NCCL's opCount. Which release
// prints what was read in ProcessGroupNCCL.cpp, 1.8 to 2.10.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A collective did not finish in time on this rank (ProcessGroupNCCL.cpp, every release).
///
/// The rank that reports it is usually a victim: look for the rank that does not report this work.
struct WatchdogTimeout {
  /// Per process group, 1 = its first collective; -1 up to 1.10, where it is not printed.
  int64_t seq = -1;
  /// "ALLREDUCE", "_ALLGATHER_BASE"; dist.barrier() is an ALLREDUCE of one element.
  std::string_view op;
  int64_t numel_in = -1;  ///< Elements, not bytes; since 2.1.
  int64_t numel_out = -1;
  std::string_view shape;  ///< "1024, 16"; up to 2.0.
  int64_t timeout_ms = -1;
  /// Host time since the enqueue; far above timeout_ms, the watchdog itself was held up.
  int64_t ran_ms = -1;

  static constexpr std::string_view kKind = "watchdog_timeout";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, "
               "OpType={op:word}, NumelIn={numel_in}, NumelOut={numel_out}, "
               "Timeout(ms)={timeout_ms}) ran for {ran_ms} milliseconds before timing out.{...}",
       .example = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, "
                  "OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran "
                  "for 1801002 milliseconds before timing out."},
      {.text = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, "
               "OpType={op:word}, TensorShape=[{shape}], Timeout(ms)={timeout_ms}) ran for "
               "{ran_ms} milliseconds before timing out.{...}",
       .example = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, "
                  "OpType=ALLREDUCE, TensorShape=[1024, 16], Timeout(ms)=1800000) ran for 1801002 "
                  "milliseconds before timing out."},
      {.text =
           "Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType={op:word}, "
           "Timeout(ms)={timeout_ms}) ran for {ran_ms} milliseconds before timing out.{...}",
       .example =
           "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=BARRIER, "
           "Timeout(ms)=1800000) ran for 1801002 milliseconds before timing out."},
      {.text = "Watchdog caught collective operation timeout: WorkNCCL(OpType={op:word}, "
               "TensorShape=[{shape}], Timeout(ms)={timeout_ms}) ran for {ran_ms} milliseconds "
               "before timing out.{...}",
       .example = "Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, "
                  "TensorShape=[1024, 16], Timeout(ms)=1800000) ran for 1801002 milliseconds "
                  "before timing out."},
      {.text = "Watchdog caught collective operation timeout: WorkNCCL(OpType={op:word}, "
               "Timeout(ms)={timeout_ms}) ran for {ran_ms} milliseconds before timing out.{...}",
       .example = "Watchdog caught collective operation timeout: WorkNCCL(OpType=BROADCAST, "
                  "Timeout(ms)=1800000) ran for 1801002 milliseconds before timing out."},
      {.text =
           "Caught collective operation timeout: WorkNCCL(OpType={op:word}, TensorShape=[{shape}], "
           "Timeout(ms)={timeout_ms}) ran for {ran_ms} milliseconds before timing out.{...}",
       .example =
           "Caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, TensorShape=[1024, "
           "16], Timeout(ms)=1800000) ran for 1800310 milliseconds before timing out."},
      {.text = "{:RuntimeError}: [Rank {:int}] Caught collective operation timeout: "
               "WorkNCCL(OpType={op:word}, TensorShape=[{shape}], Timeout(ms)={timeout_ms}) ran "
               "for {ran_ms} milliseconds before timing out.{...}",
       .example = "RuntimeError: [Rank 2] Caught collective operation timeout: "
                  "WorkNCCL(OpType=ALLREDUCE, TensorShape=[1024, 16], Timeout(ms)=1800000) ran for "
                  "1800310 milliseconds before timing out."},
      {.text = "{:RuntimeError}: [Rank {:int}] Caught collective operation timeout: "
               "WorkNCCL(SeqNum={seq}, OpType={op:word}, TensorShape=[{shape}], "
               "Timeout(ms)={timeout_ms}) ran for {ran_ms} milliseconds before timing out.{...}",
       .example = "RuntimeError: [Rank 2] Caught collective operation timeout: WorkNCCL(SeqNum=41, "
                  "OpType=ALLREDUCE, TensorShape=[1024, 16], Timeout(ms)=1800000) ran for 1800310 "
                  "milliseconds before timing out."},
      {.text = "{:RuntimeError}: [Rank {:int}] Caught collective operation timeout: "
               "WorkNCCL(SeqNum={seq}, OpType={op:word}, Timeout(ms)={timeout_ms}) ran for "
               "{ran_ms} milliseconds before timing out.{...}",
       .example = "RuntimeError: [Rank 2] Caught collective operation timeout: WorkNCCL(SeqNum=41, "
                  "OpType=BARRIER, Timeout(ms)=1800000) ran for 1800310 milliseconds before timing "
                  "out."},
      {.text = "{:RuntimeError}: [Rank {:int}] Caught collective operation timeout: "
               "WorkNCCL(OpType={op:word}, Timeout(ms)={timeout_ms}) ran for {ran_ms} milliseconds "
               "before timing out.{...}",
       .example = "RuntimeError: [Rank 2] Caught collective operation timeout: "
                  "WorkNCCL(OpType=BARRIER, Timeout(ms)=1800000) ran for 1800310 milliseconds "
                  "before timing out."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("seq", self.seq);
    visit("op", self.op);
    visit("numel_in", self.numel_in);
    visit("numel_out", self.numel_out);
    visit("shape", self.shape);
    visit("timeout_ms", self.timeout_ms);
    visit("ran_ms", self.ran_ms);
  }
};

/// The same, noticed by the caller: TORCH_NCCL_BLOCKING_WAIT replaces the watchdog.
struct BlockingWaitTimeout {
  int64_t seq = -1;
  /// "ALLREDUCE", "_ALLGATHER_BASE"; dist.barrier() is an ALLREDUCE of one element.
  std::string_view op;
  int64_t numel_in = -1;  ///< Elements, not bytes; since 2.1.
  int64_t numel_out = -1;
  std::string_view shape;  ///< "1024, 16"; up to 2.0.
  int64_t timeout_ms = -1;

  static constexpr std::string_view kKind = "blocking_wait_timeout";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Work WorkNCCL(SeqNum={seq}, OpType={op:word}, NumelIn={numel_in}, "
               "NumelOut={numel_out}, Timeout(ms)={timeout_ms}) timed out in blocking wait{...}",
       .example = "Work WorkNCCL(SeqNum=41, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, "
                  "Timeout(ms)=600000) timed out in blocking wait (TORCH_NCCL_BLOCKING_WAIT=1)."},
      {.text = "Work WorkNCCL(SeqNum={seq}, OpType={op:word}, TensorShape=[{shape}], "
               "Timeout(ms)={timeout_ms}) timed out in call to wait().",
       .example = "Work WorkNCCL(SeqNum=41, OpType=ALLREDUCE, TensorShape=[1024, 16], "
                  "Timeout(ms)=1800000) timed out in call to wait()."},
      {.text = "{:torch.distributed.DistBackendError|RuntimeError}: Work WorkNCCL(SeqNum={seq}, "
               "OpType={op:word}, NumelIn={numel_in}, NumelOut={numel_out}, "
               "Timeout(ms)={timeout_ms}) timed out in blocking wait{...}",
       .example =
           "torch.distributed.DistBackendError: Work WorkNCCL(SeqNum=41, OpType=ALLREDUCE, "
           "NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) timed out in blocking wait."},
      {.text = "{:torch.distributed.DistBackendError|RuntimeError}: [Rank {:int}] Work "
               "WorkNCCL(SeqNum={seq}, OpType={op:word}, NumelIn={numel_in}, NumelOut={numel_out}, "
               "Timeout(ms)={timeout_ms}) timed out in blocking wait{...}",
       .example = "torch.distributed.DistBackendError: [Rank 2] Work WorkNCCL(SeqNum=41, "
                  "OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) timed "
                  "out in blocking wait (TORCH_NCCL_BLOCKING_WAIT=1)."},
      {.text = "RuntimeError: Work WorkNCCL(SeqNum={seq}, OpType={op:word}, TensorShape=[{shape}], "
               "Timeout(ms)={timeout_ms}) timed out in call to wait().",
       .example = "RuntimeError: Work WorkNCCL(SeqNum=41, OpType=ALLREDUCE, TensorShape=[1024, "
                  "16], Timeout(ms)=1800000) timed out in call to wait()."},
      {.text = "RuntimeError: Work WorkNCCL(SeqNum={seq}, OpType={op:word}, "
               "Timeout(ms)={timeout_ms}) timed out in call to wait().",
       .example = "RuntimeError: Work WorkNCCL(SeqNum=41, OpType=BARRIER, Timeout(ms)=1800000) "
                  "timed out in call to wait()."},
      {.text = "RuntimeError: Work WorkNCCL(OpType={op:word}, TensorShape=[{shape}], "
               "Timeout(ms)={timeout_ms}) timed out in call to wait().",
       .example = "RuntimeError: Work WorkNCCL(OpType=ALLREDUCE, TensorShape=[1024, 16], "
                  "Timeout(ms)=1800000) timed out in call to wait()."},
      {.text = "RuntimeError: Work WorkNCCL(OpType={op:word}, Timeout(ms)={timeout_ms}) timed out "
               "in call to wait().",
       .example = "RuntimeError: Work WorkNCCL(OpType=BARRIER, Timeout(ms)=1800000) timed out in "
                  "call to wait()."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("seq", self.seq);
    visit("op", self.op);
    visit("numel_in", self.numel_in);
    visit("numel_out", self.numel_out);
    visit("shape", self.shape);
    visit("timeout_ms", self.timeout_ms);
  }
};

/// How far the process group of a timed-out work had come on this rank.
///
/// E > S: the CPU ran ahead. last_completed -1: the first collective of the group never finished.
struct WorkStatus {
  int64_t seq = -1;  ///< The work that timed out.
  int64_t last_enqueued = -1;
  int64_t last_completed = -1;
  int64_t last_started = -1;  ///< Newer releases only; -1 also means that nothing started.
  std::string_view last_started_op;

  static constexpr std::string_view kKind = "work_status";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "failure detected by watchdog at work sequence id: {seq} PG status: last enqueued "
               "work: {last_enqueued}, last completed work: {last_completed}",
       .example = "failure detected by watchdog at work sequence id: 9 PG status: last enqueued "
                  "work: 12, last completed work: 8"},
      {.text = "failure detected by watchdog at work sequence id: {seq} PG status: last enqueued "
               "work: {last_enqueued}, last started work: {last_started} ({last_started_op}), last "
               "completed work: {last_completed}",
       .example = "failure detected by watchdog at work sequence id: 9 PG status: last enqueued "
                  "work: 12, last started work: 9 (ALLREDUCE), last completed work: 8"},
      {.text = "failure detected by watchdog at work sequence id: {seq} PG status: last enqueued "
               "work: {last_enqueued}, last started work: {last_started}, last completed work: "
               "{last_completed}",
       .example = "failure detected by watchdog at work sequence id: 1 PG status: last enqueued "
                  "work: 1, last started work: -1, last completed work: -1"},
      {.text = "Exception (either an error or timeout) detected by watchdog at work: {seq}, last "
               "enqueued NCCL work: {last_enqueued}, last completed NCCL work: {last_completed}.",
       .example = "Exception (either an error or timeout) detected by watchdog at work: 9, last "
                  "enqueued NCCL work: 12, last completed NCCL work: 8."},
      {.text = "Timeout at NCCL work: {seq}, last enqueued NCCL work: {last_enqueued}, last "
               "completed NCCL work: {last_completed}.",
       .example =
           "Timeout at NCCL work: 9, last enqueued NCCL work: 12, last completed NCCL work: 8."},
      {.text = "Work timeout is detected by watchdog at work: {seq}, last enqueued NCCL work: "
               "{last_enqueued}, last completed NCCL work: {last_completed}.{...}",
       .example = "Work timeout is detected by watchdog at work: 9, last enqueued NCCL work: 12, "
                  "last completed NCCL work: 8."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("seq", self.seq);
    visit("last_enqueued", self.last_enqueued);
    visit("last_completed", self.last_completed);
    visit("last_started", self.last_started);
    visit("last_started_op", self.last_started_op);
  }
};

/// NCCL reported an error for a work in flight; the watchdog noticed it.
///
/// Up to 2.5 printed at level INFO only, which is off by default, and without the work.
struct WorkException {
  int64_t seq = -1;
  std::string_view op;
  int64_t numel_in = -1;
  int64_t numel_out = -1;
  int64_t timeout_ms = -1;
  /// As ncclGetErrorString says it: "remote process exited or there was a network error".
  std::string_view error;
  std::string_view version;  ///< Of the NCCL library that runs.

  static constexpr std::string_view kKind = "work_exception";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Collective WorkNCCL(SeqNum={seq}, OpType={op:word}, NumelIn={numel_in}, "
               "NumelOut={numel_out}, Timeout(ms)={timeout_ms}) raised the following async "
               "exception: NCCL error: {error}, NCCL version {version:word}",
       .example = "Collective WorkNCCL(SeqNum=7, OpType=_ALLGATHER_BASE, NumelIn=4096, "
                  "NumelOut=32768, Timeout(ms)=600000) raised the following async exception: NCCL "
                  "error: remote process exited or there was a network error, NCCL version 2.28.9"},
      {.text = "found async exception when checking for NCCL errors: NCCL error: {error}, NCCL "
               "version {version:word}",
       .example = "found async exception when checking for NCCL errors: NCCL error: unhandled "
                  "system error, NCCL version 2.10.3"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("seq", self.seq);
    visit("op", self.op);
    visit("numel_in", self.numel_in);
    visit("numel_out", self.numel_out);
    visit("timeout_ms", self.timeout_ms);
    visit("error", self.error);
    visit("version", self.version);
  }
};

/// The watchdog thread ended with an exception, which ends the process.
///
/// At level INFO up to 2.0, so the default shows it from 2.1 on.
struct WatchdogTerminated {
  std::string_view reason;

  static constexpr std::string_view kKind = "watchdog_terminated";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Process group watchdog thread terminated with exception: {reason...}",
       .example = "Process group watchdog thread terminated with exception: NCCL error: remote "
                  "process exited or there was a network error, NCCL version 2.28.9"},
      {.text = "NCCL watchdog thread terminated with exception: {reason...}",
       .example = "NCCL watchdog thread terminated with exception: CUDA error: an illegal memory "
                  "access was encountered"},
      {.text = "NCCL watchdog thread terminated with exception",
       .example = "NCCL watchdog thread terminated with exception"},
  };
  static void each_field(auto& self, auto&& visit) { visit("reason", self.reason); }
};

/// The watchdog thread ended because its process group did: nothing is wrong.
struct WatchdogEnded {
  static constexpr std::string_view kKind = "watchdog_ended";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{:NCCL|Process group} watchdog thread terminated normally{...}",
       .example = "NCCL watchdog thread terminated normally"},
  };
  static void each_field(auto&, auto&&) {}
};

/// NCCL reported errors for communicators that c10d keeps; what failed stands in another line.
/// At level INFO, up to 2.0.
struct CachedCommErrors {
  std::string_view comms;

  static constexpr std::string_view kKind = "cached_comm_errors";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Received NCCL errors for communicators in the cache:{comms...}",
       .example = "Received NCCL errors for communicators in the cache: cuda:0"},
  };
  static void each_field(auto& self, auto&& visit) { visit("comms", self.comms); }
};

/// PyTorch takes the process down, by an exception or by abort (exit code -6).
struct WatchdogTeardown {
  std::string_view text;  ///< Why.

  static constexpr std::string_view kKind = "watchdog_teardown";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "To avoid data inconsistency, {text...}",
       .example = "To avoid data inconsistency, we are taking the entire process down."},
      {.text = "Terminating the process after attempting to dump debug info, due to {text...}",
       .example = "Terminating the process after attempting to dump debug info, due to "
                  "ProcessGroupNCCL watchdog hang."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// What follows a timeout or error when the process is about to be taken down.
struct WorkFailedNote {
  static constexpr std::string_view kKind = "work_failed_note";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Some NCCL operations have failed or timed out.{...}",
       .example =
           "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA "
           "kernels, subsequent GPU operations might run on corrupted/incomplete data."},
  };
  static void each_field(auto&, auto&&) {}
};

/// The watchdog thread itself is stuck: a CUDA or NCCL call or the GIL blocks it.
///
/// Not a collective's timeout; collectives may have been fine.
struct HeartbeatTimeout {
  int seconds = -1;  ///< -1 where not printed.

  static constexpr std::string_view kKind = "heartbeat_timeout";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "ProcessGroupNCCL's watchdog got stuck for {seconds} seconds without making "
               "progress in monitoring enqueued collectives.{...}",
       .example = "ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress "
                  "in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API "
                  "hang blocking the watchdog"},
      {.text =
           "Heartbeat monitor timed out! Process will be terminated after dumping debug info.{...}",
       .example = "Heartbeat monitor timed out! Process will be terminated after dumping debug "
                  "info. workMetaList_.size()=2"},
      {.text = "NCCL monitor thread timeout. Basically, {...}",
       .example = "NCCL monitor thread timeout. Basically, this could be due to CUDA or NCCL calls "
                  "being unexpectedly blocking"},
      {.text = "monitoring thread detects no heartbeat and will finally kill the process!{...}",
       .example = "monitoring thread detects no heartbeat and will finally kill the process! "
                  "workMetaList_.size()=2"},
      {.text = "PGNCCL Monitor Thread is disabled, but would have killed this job:{...}",
       .example = "PGNCCL Monitor Thread is disabled, but would have killed this job:"},
      {.text = "ProcessGroupNCCL monitor thread is disabled, but would have terminated the "
               "process{...}",
       .example = "ProcessGroupNCCL monitor thread is disabled, but would have terminated the "
                  "processafter attempting to dump debug info"},
  };
  static void each_field(auto& self, auto&& visit) { visit("seconds", self.seconds); }
};

/// The Python interpreter lock could not be had: something holds it while the process waits.
struct GilBlocked {
  int ms = -1;

  static constexpr std::string_view kKind = "gil_blocked";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Could not acquire GIL within {ms} ms on exit, possible GIL induced hang",
       .example = "Could not acquire GIL within 300 ms on exit, possible GIL induced hang"},
  };
  static void each_field(auto& self, auto&& visit) { visit("ms", self.ms); }
};

/// Another rank reported an error through the store (TORCH_NCCL_PROPAGATE_ERROR).
struct RemoteErrorDetected {
  int rank = -1;

  static constexpr std::string_view kKind = "remote_error_detected";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "remote error detected from rank: {rank}",
       .example = "remote error detected from rank: 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("rank", self.rank); }
};

using WatchdogMessages =
    Kinds<WatchdogTimeout, BlockingWaitTimeout, WorkStatus, WorkException, WatchdogTerminated,
          WatchdogEnded, CachedCommErrors, WatchdogTeardown, WorkFailedNote, HeartbeatTimeout,
          GilBlocked, RemoteErrorDetected>;

}  // namespace ncclog
