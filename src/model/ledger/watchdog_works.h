// Which works timed out, on which ranks, and how far had each rank come?
//
//   [rank2]:[E… ProcessGroupNCCL.cpp:689] [Rank 2] Watchdog caught collective operation timeout:
//       WorkNCCL(SeqNum=20, OpType=ALLREDUCE, NumelIn=1048576, …) ran for 20032 milliseconds …
//   [rank2]:[E…] [PG ID 0 PG GUID 0(default_pg) Rank 2]  failure detected by watchdog at work
//       sequence id: 20 PG status: last enqueued work: 20, last completed work: 19
//
// The first line names no process group from PyTorch 2.3 on; the status line behind it does. A
// SeqNum counts within one group, so nothing is compared across groups.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "model/statements.h"

namespace ncclog {

/// A collective that a rank's watchdog gave up on.
struct TimedOutWork {
  int process = -1;   ///< Into Job::processes.
  int rank = -1;      ///< Global rank; -1: unknown.
  std::string group;  ///< GUID of the process group, or its number up to 2.4; empty: not printed,
                      ///< and no account has it but where the job has one communicator.
  /// No line names the group, and it is one of several: its rank in the group is not its global
  /// rank, or the job has communicators of a part of its ranks.
  bool in_unnamed_group = false;
  int64_t seq = -1;       ///< -1: not printed (before 1.13).
  std::string op;         ///< "ALLREDUCE", as printed.
  std::string size;       ///< What has to be equal on all ranks: "NumelIn=1, NumelOut=1".
  int64_t numel_in = -1;  ///< Elements; up to 2.0 of the first input tensor; -1: not printed.
  int64_t numel_out = -1;
  int64_t timeout_ms = 0;
  int64_t ran_ms = -1;  ///< How long it had waited when it gave up; -1: not printed.
  Evidence line;
};

/// How far a rank had come in a group when it printed this.
struct WorkProgress {
  int process = -1;
  int rank = -1;
  std::string group;
  std::optional<int64_t> seq;  ///< The work of which it speaks; nullopt: of none.
  bool is_timeout = false;     ///< The line says itself that this work timed out.
  int64_t last_enqueued = -1;
  int64_t last_completed = -1;
  Evidence line;
};

/// "process group 37 (TENSOR_MODEL_PARALLEL_GROUP)", with the description that lines give it, as far
/// as they do. Valid UTF-8.
std::string process_group_words(const Job& job, const std::string& group);

/// All timeouts in the log, by process, each work once. Valid as long as the job.
const std::vector<TimedOutWork>& timed_out_work(const Job& job);

/// All statements about progress, by process. Valid as long as the job.
const std::vector<WorkProgress>& work_progress(const Job& job);

/// True for sends and receives: they differ between ranks on purpose, and count by themselves.
bool is_point_to_point(std::string_view op);

/// True for the name of the group of all ranks: "0" or "default_pg" or, where none is printed, "".
bool is_default_group(std::string_view group);

/// Those whose watchdogs gave up on a work, into Job::processes. Valid as long as the job.
const std::set<int>& processes_that_gave_up(const Job& job);

}  // namespace ncclog
