// How processes ended: what shells, MPI launchers and Slurm say about it.
//
//   bash: line 1:  1021 Killed                  env RANK=3 LOCAL_RANK=3 python3 train.py
//   mpirun noticed that process rank 3 with PID 4242 on node node-b exited on signal 9 (Killed).
//   slurmstepd: error: *** JOB 77 ON node-b CANCELLED AT 2026-01-05T12:00:00 ***
//
// The process that was killed says nothing itself; the others report that its connections closed.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/foreign_lines.h"
#include "log/message_kind.h"

namespace ncclog {

/// A process ended by a signal, says the shell, mpirun or srun that ran it, or its own handler.
struct ProcessEnded {
  int64_t pid = -1;         ///< -1 if not printed.
  std::string_view status;  ///< "Killed", "Segmentation fault", "Exited with exit code 1"
  std::string_view command;
  int rank = -1;  ///< Task number, or RANK= in the command; -1 if not printed.
  std::string_view host;
  std::string_view tasks;  ///< "0-3,7" where one line speaks for several.
  int signal = -1;

  static constexpr std::string_view kKind = "process_ended";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{}: line {:int}: {pid} {status} {command...}",
       .example =
           "bash: line 1:  1021 Killed                  env RANK=3 LOCAL_RANK=3 python3 train.py",
       .recognise = recognise_process_end},
      {.text = "mpirun noticed that process rank {rank} with PID {pid} on node {host:word} exited "
               "on signal {signal} ({status}).",
       .example = "mpirun noticed that process rank 3 with PID 4242 on node node-b exited on "
                  "signal 9 (Killed)."},
      {.text = "prterun noticed that process rank {rank} with PID {pid} on node {host:word} exited "
               "on signal {signal} ({status}).",
       .example = "prterun noticed that process rank 3 with PID 4242 on node node-b exited on "
                  "signal 9 (Killed)."},
      {.text = "srun: error: {host:word}: task {rank}: {status...}",
       .example = "srun: error: node-b: task 3: Killed"},
      {.text = "srun: error: {host:word}: tasks {tasks:word}: {status...}",
       .example = "srun: error: node-b: tasks 0-3: Aborted (core dumped)"},
      // HPE's PALS, behind the name of the host.
      {.text = "rank {rank} died from signal {signal} and dumped core",
       .example = "rank 3 died from signal 6 and dumped core"},
      {.text = "rank {rank} died from signal {signal}", .example = "rank 3 died from signal 15"},
      {.text = "rank {rank} {status:exited with code} {:int}",
       .example = "rank 3 exited with code 1"},
      {.text = "=   RANK {rank} PID {pid} RUNNING AT {host:word}",
       .example = "=   RANK 3 PID 4242 RUNNING AT node-b"},
      {.text = "=   PID {pid} RUNNING AT {host:word}", .example = "=   PID 4242 RUNNING AT node-b"},
      {.text = "=   KILLED BY SIGNAL: {signal} ({status})",
       .example = "=   KILLED BY SIGNAL: 9 (Killed)"},
      // The handlers of UCX and Open MPI, in the process that dies.
      {.text = "[{host:word}:{pid}:{:int}:{:int}] Caught signal {signal} ({status}:{...}",
       .example =
           "[node-b:4242:0:4250] Caught signal 11 (Segmentation fault: address not mapped to "
           "object at address 0x10)"},
      {.text = "[{host:word}:{pid}:{:int}:{:int}] Caught signal {signal} ({status})",
       .example = "[node-b:4242:0:4250] Caught signal 6 (Aborted)",
       .general = true},
      {.text = "[{host:word}:{pid}] Signal: {status} ({signal})",
       .example = "[node-b:04242] Signal: Segmentation fault (11)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("pid", self.pid);
    visit("status", self.status);
    visit("command", self.command);
    visit("rank", self.rank);
    visit("host", self.host);
    visit("tasks", self.tasks);
    visit("signal", self.signal);
  }
};

/// A container's command ended with an error; 137 is killed, 139 a segmentation fault.
struct ProcessExited {
  int exitcode = -1;

  static constexpr std::string_view kKind = "process_exited";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "command terminated with exit code {exitcode}",
       .example = "command terminated with exit code 137"},
  };
  static void each_field(auto& self, auto&& visit) { visit("exitcode", self.exitcode); }
};

/// The scheduler ended the job or a step of it.
struct JobCancelled {
  std::string_view job;  ///< "JOB 77", "STEP 77.0"
  std::string_view host;
  std::string_view text;  ///< When and why.

  static constexpr std::string_view kKind = "job_cancelled";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "slurmstepd: error: *** {job} ON {host:word} CANCELLED AT {text...}",
       .example = "slurmstepd: error: *** JOB 77 ON node-b CANCELLED AT 2026-01-05T12:00:00 DUE TO "
                  "TIME LIMIT ***"},
      {.text = "error: *** {job} ON {host:word} CANCELLED AT {text...}",
       .example = "error: *** STEP 77.0 ON node-b CANCELLED AT 2026-01-05T12:00:00 ***"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("job", self.job);
    visit("host", self.host);
    visit("text", self.text);
  }
};

using ShellMessages = Kinds<ProcessEnded, ProcessExited, JobCancelled>;

}  // namespace ncclog
