// What the ncclras client prints: the RAS service's own account of a running job (2.24.3 and
// later).
//
//   #0-0 (cf264af53edbe986) MISMATCH
//     Communicator ranks have different AllReduce operation counts
//     26 ranks have launched up to operation 6650
//     Rank 0 has launched up to operation 6649 -- GPU 0 managed by process 48307 on node 10.1.2.3
//
// All texts are of ras/client_support.cc. Lines mean something only below their headings; who puts
// them together is model/ras_text.h. Nodes are addresses, not host names. A row of NCCL's log is
// never one of these.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"
#include "log/pasted_lines.h"

namespace ncclog {

/// The first line. It stands like NCCL's banner, but names the CUDA version in another way.
struct RasClientVersion {
  std::string_view version;  ///< "2.28.9".
  std::string_view cuda;     ///< What NCCL was compiled with.

  static constexpr std::string_view kKind = "ras_client_version";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "NCCL version {version:word} compiled with CUDA {cuda:word}",
       .example = "NCCL version 2.28.9 compiled with CUDA 13.0"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("version", self.version);
    visit("cuda", self.cuda);
  }
};

/// The CUDA that runs: 1000 * major + 10 * minor.
struct RasClientCuda {
  int runtime = -1;
  int driver = -1;

  static constexpr std::string_view kKind = "ras_client_cuda";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "CUDA runtime version {runtime}, driver version {driver}",
       .example = "CUDA runtime version 13000, driver version 13010"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("runtime", self.runtime);
    visit("driver", self.driver);
  }
};

/// A row of the table of communicators: those of one size, number of nodes, status and errors.
struct RasCommunicatorRow {
  int group = -1;
  int64_t communicators = -1;
  int64_t nodes = -1;               ///< Per communicator.
  std::string_view ranks_per_node;  ///< "8", "4-8".
  int64_t nranks = -1;              ///< Per communicator.
  int64_t ranks_in_group = -1;      ///< Different GPUs.
  std::string_view status;          ///< "RUNNING".
  std::string_view errors;          ///< "OK", "INCOMPLETE,MISMATCH".

  static constexpr std::string_view kKind = "ras_communicator_row";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{group} {communicators} {nodes} {ranks_per_node} {nranks} {ranks_in_group} "
               "{status} {errors}",
       .example = "0         8         4         1         4        32   RUNNING  MISMATCH",
       .recognise = recognise_ras_communicator_row},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("group", self.group);
    visit("communicators", self.communicators);
    visit("nodes", self.nodes);
    visit("ranks_per_node", self.ranks_per_node);
    visit("nranks", self.nranks);
    visit("ranks_in_group", self.ranks_in_group);
    visit("status", self.status);
    visit("errors", self.errors);
  }
};

/// Heads what is wrong with one communicator.
struct RasProblem {
  std::string_view communicator;  ///< Hash, 16 hexadecimal digits: the upper half of the commId.
  std::string_view problem;       ///< "MISMATCH".

  static constexpr std::string_view kKind = "ras_problem";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "#{:int}-{:int} ({communicator}) {problem:INCOMPLETE|ERROR|MISMATCH}",
       .example = "#0-0 (cf264af53edbe986) MISMATCH"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("communicator", self.communicator);
    visit("problem", self.problem);
  }
};

/// Processes or ranks that did not answer.
struct RasNoAnswer {
  int64_t count = -1;
  std::string_view of;  ///< "job processes", "rank".

  static constexpr std::string_view kKind = "ras_no_answer";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Missing communicator data from {count} {of...}",
       .example = "Missing communicator data from 2 job processes"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("count", self.count);
    visit("of", self.of);
  }
};

/// Processes that the service gave up on.
struct RasDead {
  int64_t count = -1;

  static constexpr std::string_view kKind = "ras_dead";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{count} job process is considered dead (unreachable via the RAS network)",
       .example = "1 job process is considered dead (unreachable via the RAS network)"},
      {.text = "{count} job processes are considered dead (unreachable via the RAS network)",
       .example = "8 job processes are considered dead (unreachable via the RAS network)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("count", self.count); }
};

/// Heads how the ranks of a communicator differ.
struct RasDifference {
  std::string_view what;  ///< "status", "AllReduce operation counts".

  static constexpr std::string_view kKind = "ras_difference";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Communicator ranks have different {what...}",
       .example = "Communicator ranks have different AllReduce operation counts"},
  };
  static void each_field(auto& self, auto&& visit) { visit("what", self.what); }
};

/// Heads the errors of a communicator's ranks.
struct RasErrors {
  std::string_view what;  ///< "Initialization", "Asynchronous".
  int64_t count = -1;

  static constexpr std::string_view kKind = "ras_errors";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{what:Initialization|Asynchronous} error on {count} rank",
       .example = "Asynchronous error on 1 rank"},
      {.text = "{what:Initialization|Asynchronous} errors on {count} ranks",
       .example = "Initialization errors on 4 ranks"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("what", self.what);
    visit("count", self.count);
  }
};

/// Ranks that agree with each other and not with others. One of the others is set.
struct RasRanks {
  int64_t count = -1;
  int64_t operation = -1;  ///< Launched so far.
  std::string_view idle;   ///< "not launched any operations".
  std::string_view status;
  std::string_view error;

  static constexpr std::string_view kKind = "ras_ranks";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{count} ranks have launched up to operation {operation}",
       .example = "26 ranks have launched up to operation 6650"},
      {.text = "{count} ranks have {idle:not launched any operations}",
       .example = "6 ranks have not launched any operations"},
      {.text = "{count} ranks have status {status:word}", .example = "7 ranks have status RUNNING"},
      {.text = "{count} ranks reported {error...}", .example = "3 ranks reported System error"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("count", self.count);
    visit("operation", self.operation);
    visit("idle", self.idle);
    visit("status", self.status);
    visit("error", self.error);
  }
};

/// One rank of those, or one that stands alone and says itself how it differs.
struct RasRank {
  int rank = -1;
  int64_t operation = -1;
  std::string_view idle;
  std::string_view status;
  std::string_view error;
  std::string_view gpu;  ///< "3", "0 (NVML 3)".
  int64_t pid = -1;
  std::string_view node;

  static constexpr std::string_view kKind = "ras_rank";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Rank {rank} -- GPU {gpu} managed by process {pid} on node {node:word}",
       .example = "Rank 3 -- GPU 0 (NVML 3) managed by process 48307 on node 10.1.2.3"},
      {.text = "Rank {rank} has launched up to operation {operation} -- GPU {gpu} managed by "
               "process {pid} on node {node:word}",
       .example = "Rank 3 has launched up to operation 6649 -- GPU 3 managed by process 48307 on "
                  "node 10.1.2.3"},
      {.text = "Rank {rank} has {idle:not launched any operations} -- GPU {gpu} managed by process "
               "{pid} on node {node:word}",
       .example = "Rank 3 has not launched any operations -- GPU 3 managed by process 48307 on "
                  "node 10.1.2.3"},
      {.text = "Rank {rank} has status {status:word} -- GPU {gpu} managed by process {pid} on node "
               "{node:word}",
       .example = "Rank 3 has status INIT -- GPU 3 managed by process 48307 on node 10.1.2.3"},
      {.text = "Rank {rank} reported {error} -- GPU {gpu} managed by process {pid} on node "
               "{node:word}",
       .example = "Rank 3 reported Remote process error -- GPU 3 managed by process 48307 on node "
                  "10.1.2.3"},
      {.text = "Rank {rank} -- [process information not found]",
       .example = "Rank 3 -- [process information not found]"},
      {.text = "Rank {rank} has launched up to operation {operation} -- [process information not "
               "found]",
       .example = "Rank 3 has launched up to operation 6649 -- [process information not found]"},
      {.text = "Rank {rank} has {idle:not launched any operations} -- [process information not "
               "found]",
       .example = "Rank 3 has not launched any operations -- [process information not found]"},
      {.text = "Rank {rank} has status {status:word} -- [process information not found]",
       .example = "Rank 3 has status INIT -- [process information not found]"},
      {.text = "Rank {rank} reported {error} -- [process information not found]",
       .example = "Rank 3 reported System error -- [process information not found]"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("operation", self.operation);
    visit("idle", self.idle);
    visit("status", self.status);
    visit("error", self.error);
    visit("gpu", self.gpu);
    visit("pid", self.pid);
    visit("node", self.node);
  }
};

/// One process of those that are dead or did not answer.
struct RasProcess {
  int64_t pid = -1;
  std::string_view node;
  std::string_view gpus;  ///< "0,1", "0 (NVML 3)".

  static constexpr std::string_view kKind = "ras_process";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Process {pid} on node {node:word} managing GPU {gpus...}",
       .example = "Process 48307 on node 10.1.2.3 managing GPU 3"},
      {.text = "Process {pid} on node {node:word} managing GPUs {gpus...}",
       .example = "Process 48307 on node 10.1.2.3 managing GPUs 0,1 (NVML 4,5)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("pid", self.pid);
    visit("node", self.node);
    visit("gpus", self.gpus);
  }
};

/// The account itself is not whole: parts of the service did not answer in time.
struct RasLateAnswers {
  int64_t count = -1;

  static constexpr std::string_view kKind = "ras_late_answers";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Encountered {count} communication timeout while gathering communicator data",
       .example = "Encountered 1 communication timeout while gathering communicator data"},
      {.text = "Encountered {count} communication timeouts while gathering communicator data",
       .example = "Encountered 2 communication timeouts while gathering communicator data"},
  };
  static void each_field(auto& self, auto&& visit) { visit("count", self.count); }
};

using RasClientMessages =
    Kinds<RasClientVersion, RasClientCuda, RasCommunicatorRow, RasProblem, RasNoAnswer, RasDead,
          RasDifference, RasErrors, RasRanks, RasRank, RasProcess, RasLateAnswers>;

}  // namespace ncclog
