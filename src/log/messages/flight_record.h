// Flight records: who asked for a dump, who writes one, and the stack that is printed at once.
//
//   [rank6]:[E1105 09:14:03.101002003 ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg)
//   Rank 6] Received a dump signal due to a collective timeout from  rank 5 and we will try our
//   best to dump the debug info. Last enqueued NCCL work: 77, last completed NCCL work: 77.
//
// These lines follow a timeout somewhere in the job (ProcessGroupNCCL.cpp, 2.2 and later).

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// This process was asked to dump its flight record, by itself or by a rank that timed out.
///
/// Printed by the default group: the numbers are that group's, not those of the one that hung. A
/// rank that prints only this did not time out itself.
struct DumpSignal {
  int from_rank = -1;  ///< One of the ranks that timed out; -1: this rank.
  int64_t last_enqueued = -1;
  int64_t last_completed = -1;

  static constexpr std::string_view kKind = "dump_signal";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Received a dump signal due to a collective timeout from this local rank and we "
               "will try our best to dump the debug info. Last enqueued NCCL work: "
               "{last_enqueued}, last completed NCCL work: {last_completed}.{...}",
       .example =
           "Received a dump signal due to a collective timeout from this local rank and we will "
           "try our best to dump the debug info. Last enqueued NCCL work: 5, last completed NCCL "
           "work: 4.This is most likely caused by incorrect usages of collectives"},
      {.text = "Received a dump signal due to a collective timeout from  rank {from_rank} and we "
               "will try our best to dump the debug info. Last enqueued NCCL work: "
               "{last_enqueued}, last completed NCCL work: {last_completed}.{...}",
       .example = "Received a dump signal due to a collective timeout from  rank 5 and we will try "
                  "our best to dump the debug info. Last enqueued NCCL work: 77, last completed "
                  "NCCL work: 77.This is most likely caused by incorrect usages of collectives"},
      {.text = "Received a dump signal from this local rank and will start to dump the debug info. "
               "Last enqueued NCCL work: {last_enqueued}, last completed NCCL work: "
               "{last_completed}.{...}",
       .example = "Received a dump signal from this local rank and will start to dump the debug "
                  "info. Last enqueued NCCL work: 5, last completed NCCL work: 4."},
      {.text = "Received a global dump signal from rank {from_rank}, and will start to dump the "
               "debug info. Last enqueued NCCL work: {last_enqueued}, last completed NCCL work: "
               "{last_completed}.{...}",
       .example = "Received a global dump signal from rank 5, and will start to dump the debug "
                  "info. Last enqueued NCCL work: 77, last completed NCCL work: 77."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("from_rank", self.from_rank);
    visit("last_enqueued", self.last_enqueued);
    visit("last_completed", self.last_completed);
  }
};

/// Another rank asked for flight records through the store; this rank saw it.
struct DumpObserved {
  static constexpr std::string_view kKind = "dump_observed";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Observed flight recorder dump signal from another rank via TCPStore.",
       .example = "Observed flight recorder dump signal from another rank via TCPStore."},
      {.text = "First PG on this rank detecting the dump signal through tcpstore.",
       .example = "First PG on this rank detecting the dump signal through tcpstore."},
  };
  static void each_field(auto&, auto&&) {}
};

/// This rank asks all others for their flight records.
struct DumpRequested {
  static constexpr std::string_view kKind = "dump_requested";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "First PG on this rank to signal dumping.",
       .example = "First PG on this rank to signal dumping."},
      {.text = "First watchdog to set the dump signal.",
       .example = "First watchdog to set the dump signal."},
      {.text = "Broadcasting flight-recorder dump signal to other processes via TCPStore.",
       .example = "Broadcasting flight-recorder dump signal to other processes via TCPStore."},
  };
  static void each_field(auto&, auto&&) {}
};

/// This process is about to write its flight record.
struct DumpPreparing {
  static constexpr std::string_view kKind = "dump_preparing";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "ProcessGroupNCCL preparing to dump debug info.{...}",
       .example = "ProcessGroupNCCL preparing to dump debug info. Include stack trace: 1, only "
                  "active collectives: 0"},
  };
  static void each_field(auto&, auto&&) {}
};

/// The flight record was not written in time.
struct DumpTimedOut {
  int64_t ms = -1;

  static constexpr std::string_view kKind = "dump_timed_out";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Future for Flight recorder dump in heartbeatMonitor timed out after {ms} ms",
       .example = "Future for Flight recorder dump in heartbeatMonitor timed out after 15000 ms"},
  };
  static void each_field(auto& self, auto&& visit) { visit("ms", self.ms); }
};

/// The store could not be asked whether to dump: usual at shutdown, otherwise rank 0 is gone.
struct DumpFlagUnreadable {
  std::string_view error;

  static constexpr std::string_view kKind = "dump_flag_unreadable";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Failed to check the \"should dump\" flag on TCPStore, (maybe TCPStore server has "
               "shut down too early), with error: {error...}",
       .example = "Failed to check the \"should dump\" flag on TCPStore, (maybe TCPStore server "
                  "has shut down too early), with error: Broken pipe"},
      {.text = "Failed to get exception dump flag from the global store.{error...}",
       .example = "Failed to get exception dump flag from the global store.Broken pipe"},
  };
  static void each_field(auto& self, auto&& visit) { visit("error", self.error); }
};

/// The Python stack that called the collective that failed follows, or the recorder is off.
struct FailedStackTrace {
  static constexpr std::string_view kKind = "failed_stack_trace";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Stack trace of the failed collective:{...}",
       .example = "Stack trace of the failed collective:"},
      {.text = "Stack trace of the failed collective not found{...}",
       .example = "Stack trace of the failed collective not found, potentially because "
                  "FlightRecorder is disabled."},
  };
  static void each_field(auto&, auto&&) {}
};

/// One call of that stack, innermost first.
struct FailedStackFrame {
  int frame = -1;
  std::string_view function;
  std::string_view file;
  int line = -1;

  static constexpr std::string_view kKind = "failed_stack_frame";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "#{frame} {function} from {file}:{line}",
       .example = "#3 train_step from /home/ada/train.py:214"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("frame", self.frame);
    visit("function", self.function);
    visit("file", self.file);
    visit("line", self.line);
  }
};

using FlightRecordMessages =
    Kinds<DumpSignal, DumpObserved, DumpRequested, DumpPreparing, DumpTimedOut, DumpFlagUnreadable,
          FailedStackTrace, FailedStackFrame>;

}  // namespace ncclog
