// What torchrun's agents, and DeepSpeed's launcher, say about workers that ended.
//
//   E0105 12:00:05.123000 4200 torch/distributed/elastic/multiprocessing/api.py:826] failed
//   (exitcode: -6) local_rank: 3 (pid: 4242) of binary: /usr/bin/python3
//     rank      : 12 (local_rank: 4)
//     exitcode  : -6 (pid: 4246)
//
// Which worker failed first is not which row stands first: exit codes 1, -9 and -11 are causes more
// often than -6, and -15 is always a consequence.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/foreign_lines.h"
#include "log/message_kind.h"

namespace ncclog {

/// The agent of a node saw a worker end: the first local failure, by the agent's clock.
///
/// Negative codes are signals: -6 abort (watchdog), -9 killed, -11 segmentation fault, -15 told to
/// stop.
struct WorkerFailed {
  int exitcode = -1;
  int local_rank = -1;
  int64_t pid = -1;
  std::string_view binary;

  static constexpr std::string_view kKind = "worker_failed";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "failed (exitcode: {exitcode}) local_rank: {local_rank} (pid: {pid}) of binary: "
               "{binary...}",
       .example = "failed (exitcode: -6) local_rank: 3 (pid: 4242) of binary: /usr/bin/python3"},
      {.text = "[{binary}] exits with return code = {exitcode}",
       .example =
           "['/usr/bin/python3', '-u', 'train.py', '--local_rank=3'] exits with return code = -9"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("exitcode", self.exitcode);
    visit("local_rank", self.local_rank);
    visit("pid", self.pid);
    visit("binary", self.binary);
  }
};

/// The agent ends another worker because one failed: that worker is a victim.
struct WorkerClosing {
  int64_t pid = -1;
  std::string_view signal;  ///< "SIGTERM"

  static constexpr std::string_view kKind = "worker_closing";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Sending process {pid} closing signal {signal:word}",
       .example = "Sending process 4243 closing signal SIGTERM"},
      {.text = "Killing subprocess {pid}", .example = "Killing subprocess 4243"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("pid", self.pid);
    visit("signal", self.signal);
  }
};

/// A worker did not end on the signal and is killed.
struct WorkerUnkillable {
  int64_t pid = -1;
  std::string_view signal;

  static constexpr std::string_view kKind = "worker_unkillable";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Unable to shutdown process {pid} via {signal:word}, forcefully exiting via {:word}",
       .example = "Unable to shutdown process 4243 via Signals.SIGTERM, forcefully exiting via "
                  "Signals.SIGKILL"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("pid", self.pid);
    visit("signal", self.signal);
  }
};

/// The agent itself was told to stop, by the scheduler, another node or a person.
struct AgentSignalled {
  std::string_view signal;  ///< Number or name.
  int64_t pid = -1;

  static constexpr std::string_view kKind = "agent_signalled";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Received {signal:word} death signal, shutting down workers",
       .example = "Received 15 death signal, shutting down workers"},
      {.text = "{:torch.distributed.elastic.multiprocessing.api.SignalException}: Process {pid} "
               "got signal: {signal:word}",
       .example = "torch.distributed.elastic.multiprocessing.api.SignalException: Process 4200 got "
                  "signal: 15"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("signal", self.signal);
    visit("pid", self.pid);
  }
};

/// All workers are started anew: ranks, communicators and counters begin again.
struct WorkerGroupRestart {
  std::string_view role;
  int attempts_left = -1;
  int attempts = -1;

  static constexpr std::string_view kKind = "worker_group_restart";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "[{role}] Worker group FAILED. {attempts_left}/{attempts} attempts left; will "
               "restart worker group",
       .example = "[default] Worker group FAILED. 2/3 attempts left; will restart worker group"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("role", self.role);
    visit("attempts_left", self.attempts_left);
    visit("attempts", self.attempts);
  }
};

/// The nodes have met; lines with ranks follow.
struct RendezvousComplete {
  std::string_view role;

  static constexpr std::string_view kKind = "rendezvous_complete";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "[{role}] Rendezvous complete for workers. Result:{...}",
       .example = "[default] Rendezvous complete for workers. Result:"},
  };
  static void each_field(auto& self, auto&& visit) { visit("role", self.role); }
};

/// What the nodes agreed on, a line each: how the ranks of this node are numbered.
struct RendezvousResult {
  std::string_view name;   ///< "local_ranks", "global_ranks", "restart_count"
  std::string_view value;  ///< "[4, 5, 6, 7]", "0"

  static constexpr std::string_view kKind = "rendezvous_result";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text =
           "{name:restart_count|master_addr|master_port|group_rank|group_world_size|local_ranks|"
           "role_ranks|global_ranks|role_world_sizes|global_world_sizes|event_log_handler}="
           "{value...}",
       .example = "global_ranks=[4, 5, 6, 7]"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("value", self.value);
  }
};

/// torchrun ends because a worker failed; its table of failures follows.
struct ChildFailed {
  static constexpr std::string_view kKind = "child_failed";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:{...}",
       .example = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"},
  };
  static void each_field(auto&, auto&&) {}
};

/// A part of that table begins: all failures, or the first one observed.
///
/// The agent of each node prints its own table; the rows below follow in this order.
struct FailureSection {
  std::string_view section;

  static constexpr std::string_view kKind = "failure_section";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{section:Failures|Other Failures|Root Cause (first observed failure)|Root Cause}:",
       .example = "Root Cause (first observed failure):"},
      {.text = "{section:<NO_OTHER_FAILURES>}", .example = "<NO_OTHER_FAILURES>"},
  };
  static void each_field(auto& self, auto&& visit) { visit("section", self.section); }
};

/// When: to the second, and without error file when the agent noticed it.
struct FailureTime {
  std::string_view time;

  static constexpr std::string_view kKind = "failure_time";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "time      : {time:word}", .example = "time      : 2026-01-05_12:00:03"},
      // 1.9.
      {.text = "time: {time}",
       .example = "time: 2026-01-05_12:00:03",
       .recognise = recognise_failure_time},
  };
  static void each_field(auto& self, auto&& visit) { visit("time", self.time); }
};

/// On which host, by its full name.
struct FailureHost {
  std::string_view host;

  static constexpr std::string_view kKind = "failure_host";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "host      : {host:word}", .example = "host      : node-b.example"},
  };
  static void each_field(auto& self, auto&& visit) { visit("host", self.host); }
};

/// Which global rank.
struct FailureRank {
  int rank = -1;
  int local_rank = -1;

  static constexpr std::string_view kKind = "failure_rank";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "rank      : {rank} (local_rank: {local_rank})",
       .example = "rank      : 12 (local_rank: 4)"},
      {.text = "rank: {rank} (local_rank: {local_rank})", .example = "rank: 12 (local_rank: 4)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("local_rank", self.local_rank);
  }
};

/// How the worker ended.
struct FailureExitcode {
  int exitcode = -1;
  int64_t pid = -1;

  static constexpr std::string_view kKind = "failure_exitcode";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "exitcode  : {exitcode} (pid: {pid})", .example = "exitcode  : -6 (pid: 4246)"},
      {.text = "exitcode: {exitcode} (pid: {pid})", .example = "exitcode: -6 (pid: 4246)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("exitcode", self.exitcode);
    visit("pid", self.pid);
  }
};

/// Where @record wrote the exception; "<N/A>" without it.
struct FailureErrorFile {
  std::string_view file;

  static constexpr std::string_view kKind = "failure_error_file";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "error_file: {file...}", .example = "error_file: <N/A>"},
  };
  static void each_field(auto& self, auto&& visit) { visit("file", self.file); }
};

/// By which signal the worker ended.
struct FailureSignal {
  int signal = -1;
  std::string_view name;
  int64_t pid = -1;

  static constexpr std::string_view kKind = "failure_signal";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "traceback : Signal {signal} ({name}) received by PID {pid}",
       .example = "traceback : Signal 6 (SIGABRT) received by PID 4246"},
      {.text = "msg: \"Signal {signal} ({name}) received by PID {pid}\"",
       .example = "msg: \"Signal 6 (SIGABRT) received by PID 4246\""},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("signal", self.signal);
    visit("name", self.name);
    visit("pid", self.pid);
  }
};

/// With which exit status the worker ended, in 1.9's words.
struct FailureMessage {
  int exitcode = -1;

  static constexpr std::string_view kKind = "failure_message";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "msg: \"Process failed with exitcode {exitcode}\"",
       .example = "msg: \"Process failed with exitcode 1\""},
  };
  static void each_field(auto& self, auto&& visit) { visit("exitcode", self.exitcode); }
};

/// Whether the table carries the worker's traceback.
struct FailureTraceback {
  std::string_view text;

  static constexpr std::string_view kKind = "failure_traceback";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "traceback : {text:To enable traceback see|Traceback (most recent call last)}:{...}",
       .example = "traceback : To enable traceback see: "
                  "https://pytorch.org/docs/stable/elastic/errors.html"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using TorchrunMessages =
    Kinds<WorkerFailed, WorkerClosing, WorkerUnkillable, AgentSignalled, WorkerGroupRestart,
          RendezvousComplete, RendezvousResult, ChildFailed, FailureSection, FailureTime,
          FailureHost, FailureRank, FailureExitcode, FailureErrorFile, FailureSignal,
          FailureMessage, FailureTraceback>;

}  // namespace ncclog
