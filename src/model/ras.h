// What NCCL's RAS service answered when somebody asked it (ncclras): an account of a running job.
//
//   #0-0 (cf264af53edbe986) MISMATCH              → statement: MISMATCH of cf264af53edbe986,
//     … different AllReduce operation counts         what "AllReduce operation counts",
//     Rank 3 has launched up to operation 6649 …     value "6649", 1 rank, members {rank 3, …}
//
// The text and the JSON form become the same value. In the text form only groups of at most ten
// ranks, the outliers, are listed; a larger group is a number. Operation counts grow while the
// service asks one rank after the other: ranks of a healthy job may differ by a few. What a monitor
// reports ("ncclras -m") becomes an answer without communicators.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/line.h"

namespace ncclog {

/// A rank or a process that RAS names. Unknown: -1 or empty.
struct RasMember {
  int rank = -1;  ///< In the statement's communicator; -1: the statement is about processes.
  int64_t pid = -1;
  std::string node;  ///< An address: RAS knows no host names.
  std::string gpu;   ///< CUDA device, "3" or "0 (NVML 3)"; several of a process: "0,1".

  auto operator<=>(const RasMember&) const = default;
};

/// Communicators that are alike; in the JSON form each one is listed alone.
struct RasCommunicators {
  std::string hash;  ///< Sixteen hexadecimal digits; empty: a group of the text form.
  int64_t count = 1;
  int64_t nodes = -1;
  std::string ranks_per_node;  ///< "8", "4-8"; empty: not said.
  int64_t nranks = -1;
  int64_t ranks_in_group = -1;  ///< Different GPUs; of the text form.
  int64_t missing_ranks = -1;   ///< Of JSON.
  int64_t operations = -1;  ///< That all ranks together have launched, of all functions; of JSON.
  std::string status;       ///< Of most progress: "RUNNING", "ABORT"; empty: no rank answered.
  std::string errors;       ///< "OK", "INCOMPLETE,MISMATCH".

  bool operator==(const RasCommunicators&) const = default;
};

/// Something that RAS found wrong, or ranks that agree with each other and differ from others.
struct RasStatement {
  std::string communicator;  ///< Hash; empty: about the job's processes.
  int64_t nranks = -1;       ///< Of that communicator.
  std::string problem;       ///< "INCOMPLETE", "DEAD", "ERROR", "MISMATCH".
  std::string what;  ///< "communicator data", "status", "AllReduce operation counts", "Asynchronous
                     ///< error".
  std::string value;   ///< Of these ranks: "6649", "INIT", "System error"; empty for lacking ones.
  int64_t count = -1;  ///< Ranks or processes.
  std::vector<RasMember> members;  ///< As far as RAS lists them.

  bool operator==(const RasStatement&) const = default;
};

/// One answer.
struct RasReport {
  SourceRef where;  ///< Its first line; line 0 for JSON, where answers of a file are in order.
  std::string nccl_version;  ///< "2.28.9".
  int cuda_runtime = -1;     ///< 1000 * major + 10 * minor.
  int cuda_driver = -1;
  std::string timestamp;  ///< "2026-11-28 06:35:31", local time; JSON only.
  int64_t timeouts = 0;   ///< More than 0: the account may lack what did not answer in time.
  std::vector<RasCommunicators> communicators;
  std::vector<RasStatement> statements;
  /// Ranks and nodes of the communicator that holds all processes; -1: none is known to.
  int64_t nranks = -1;
  int64_t nodes = -1;
  /// Its ranks: those that are named, in JSON all; by pid, node and GPU. They are the job's ranks;
  /// those of other communicators join them by process and GPU.
  std::vector<RasMember> world;

  bool operator==(const RasReport&) const = default;
};

/// Of all answers the last ones are kept, of one answer this much.
inline constexpr size_t kMaxRasReports = 64;
inline constexpr size_t kMaxRasStatements = 1024;
inline constexpr size_t kMaxRasMembers = 4096;  ///< Of all statements of a report.

}  // namespace ncclog
