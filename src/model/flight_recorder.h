// What PyTorch's Flight Recorder knows: the last collectives of one rank, and how far each got.
//
//   nccl_trace_rank_5   → rank 5, group "0" (default_pg, ranks 0-7): enqueued 28, completed 28,
//                         entries 1 to 28: all_reduce [[1048576]] Float, completed, train.py:54
//
// From torch/csrc/distributed/c10d/FlightRecorder.hpp, dump schemas 2.0 to 2.10; which keys are
// there differs, so everything may be unknown. "Started" is seen only where PyTorch records start
// events; without them entries go from scheduled to completed. Sequence numbers are c10d's own and
// not NCCL's opCount.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/collectives.h"
#include "base/line.h"
#include "model/calls.h"

namespace ncclog {

/// How far a recorded collective got, as far as the watchdog noticed.
enum class RecordedState { Unknown, Scheduled, Started, Completed };

/// "scheduled", as PyTorch writes it; "" for Unknown.
constexpr std::string_view enum_words(RecordedState) { return "|scheduled|started|completed"; }

/// Elements by dimension of each tensor.
using TensorSizes = std::vector<std::vector<int64_t>>;

/// "[1048576] [2, 4]": the tensors behind each other, at most `most` of them.
std::string sizes_text(const TensorSizes& sizes, size_t most = SIZE_MAX);

/// A place in the program that called the collective.
struct CodeFrame {
  std::string function;
  std::string file;
  int64_t line = -1;

  bool operator==(const CodeFrame&) const = default;
};

/// One call that the recorder saw. -1: the dump does not say.
struct FlightRecorderEntry {
  int64_t record_id = -1;   ///< Counts all calls of the process; goes on when old ones drop out.
  int64_t pg_id = -1;       ///< Number of the group inside this process; no name across ranks.
  std::string group;        ///< Name of the group, the same on all its ranks: "0", a hash.
  std::string description;  ///< "default_pg", "mesh_tp".
  int64_t collective_seq_id = -1;  ///< c10d's counter of the group's collectives; 1 is the first.
  int64_t p2p_seq_id = -1;         ///< The same for sends and receives.
  int64_t op_id = -1;              ///< Counts the calls inside coalesced groups as well.
  std::optional<bool> is_p2p;
  std::string profiling_name;  ///< "nccl:all_reduce", "nccl:send 3->2" (ranks inside the group).
  RecordedState state = RecordedState::Unknown;
  TensorSizes input_sizes;
  TensorSizes output_sizes;
  std::vector<std::string> input_dtypes;  ///< "Float", "BFloat16".
  std::vector<std::string> output_dtypes;
  int64_t time_created_ns = -1;  ///< Of the Unix clock of the rank's host, when it was enqueued.
  int64_t time_started_ns = -1;  ///< When the watchdog noticed; may be late.
  int64_t time_completed_ns = -1;
  double duration_ms = -1;
  int64_t timeout_ms = -1;
  std::optional<bool> retired;  ///< The watchdog is done with it; if not completed: timed out.
  /// Innermost call outside PyTorch's own files, else innermost; empty: no stack.
  CodeFrame frame;

  bool operator==(const FlightRecorderEntry&) const = default;
};

/// What the dump says about a process group. nullopt: it does not say; a counter of -1: none yet.
struct FlightRecorderGroup {
  int64_t pg_id = -1;  ///< -1: no entry and no status tells which number the name has.
  std::string name;    ///< Empty: only the number is known.
  std::string description;
  std::vector<int> ranks;  ///< Global ranks, in the order of their ranks inside the group.
  std::optional<int64_t> last_enqueued;  ///< Of pg_status: counts collectives and P2P calls alike.
  std::optional<int64_t> last_started;
  std::optional<int64_t> last_completed;

  bool operator==(const FlightRecorderGroup&) const = default;
};

/// One dump: what one process recorded.
struct FlightRecorderDump {
  SourceRef where;  ///< The unit; line 0.
  int rank = -1;    ///< Global rank of PyTorch; -1: neither the file's name nor its groups tell.
  std::string version;       ///< Schema, parts compare as numbers: "2.10" is later than "2.4".
  std::string nccl_version;  ///< "2.28.9"; schemas from 2.9 on.
  std::vector<FlightRecorderGroup> groups;   ///< By number, then name.
  std::vector<FlightRecorderEntry> entries;  ///< Oldest first; a ring, so early ones may lack.
  int process = -1;  ///< Into Job::processes: set when the job is built, only where certain.

  bool operator==(const FlightRecorderDump&) const = default;
};

/// The row of base/collective_aliases.table for a profiling name: "nccl:_all_gather_base",
/// "nccl:send 3->2". nullptr for coalesced calls and for what NCCL does not name.
const OperationAlias* find_recorded_alias(std::string_view profiling_name);

/// Its operation: AllGather, Send.
Operation recorded_operation(std::string_view profiling_name);

/// "AllReduce"; what NCCL does not name is as PyTorch calls it. Views the entry.
std::string_view function_of(const FlightRecorderEntry& entry);

/// "Float": of the first tensor; empty: the dump does not say. Views the entry.
std::string_view dtype_of(const FlightRecorderEntry& entry);

/// On which sizes of a call all ranks have to agree.
struct AgreedSizes {
  bool in = true;
  bool out = true;
};

/// Lists of tensors may be uneven on the side of a rank's own part (ProcessGroupNCCL.cpp: allgather,
/// reduce_scatter), and only the root has both sides of a gather or scatter. nullptr: agreed.
AgreedSizes agreed_sizes(const OperationAlias* name);

// Is this call of NCCL the one that the framework speaks of?
//
//   AllGather count 8 datatype 7       WorkNCCL(OpType=_ALLGATHER_BASE, NumelIn=8, NumelOut=64, …)
//                                      entry nccl:_all_gather_base, input [[8]], output [[64]]
//
// NCCL counts what one rank gives to an AllGather or gets from a ReduceScatter. Up to 2.21 it
// prints bytes for AllGather and Broadcast, and a complex number is two of its parts, so a count
// may be a small multiple of the framework's.

/// Elements of all tensors together; -1: the dump does not say.
int64_t element_count(const TensorSizes& sizes);

/// True for works that are one call of NCCL each (ProcessGroupNCCL.cpp, 1.13 to 2.10); ALLTOALL,
/// say, is many.
bool is_one_call(std::string_view op);

/// True if a work of PyTorch's watchdog, "_ALLGATHER_BASE" with its numbers of elements, is `call`.
/// False for works that are not one call, and where the number that decides is negative.
bool is_call_of_work(const CallSignature& call, std::string_view op, int64_t numel_in,
                     int64_t numel_out);

/// True if an entry of the Flight Recorder is `call`; sizes that it does not tell are not compared.
bool is_call_of_entry(const CallSignature& call, const FlightRecorderEntry& entry);

/// Seen scheduled or started and not completed.
bool is_open(const FlightRecorderEntry& entry);

}  // namespace ncclog
