// How often was which operation called, by whom, in which iteration, and how much did it move?
//
//   comm 0x9c1b…  AllReduce  480 calls  503316480 elements  2013265920 bytes  8 processes
//
// A process's calls are counted from one source: its COLL lines; if CALL lines tell more, those;
// and if it has neither, its Flight Recorder dump. Numbers that may be too small say so.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/iterations/folded_calls.h"
#include "diagnose/iterations/iterations.h"
#include "model/calls.h"

namespace ncclog {

// What does the count of a call mean in elements and bytes?
//
//   AllGather: … count 4194304 datatype 0 …     NCCL 2.18: 4194304 bytes, of an unknown datatype
//   AllGather: … count 1048576 datatype 7 …     NCCL 2.28: 1048576 elements of 4 bytes
//
// Bytes are the count times the element size, in the sense of the count itself: AllReduce,
// Broadcast and Reduce: the buffer; AllGather: what each rank sends; ReduceScatter: what each rank
// receives; AlltoAll, Gather, Scatter: per peer; Send, Recv: the message. Nothing is said of what
// goes over the wires.

/// True if releases among `versions` print that call's count in bytes with datatype 0 (enqueue.cc
/// from 2.7.3 to 2.21.5 prints AllGather and Broadcast behind its own conversion). With no version
/// known it may be so.
bool may_count_bytes(const VolumeKey& key, const std::vector<std::string>& versions);

/// Bytes of `elements`; nullopt for a datatype of unknown size, or if the sum does not fit.
std::optional<uint64_t> bytes_of(uint64_t elements, int datatype);

/// Bytes of an element as PyTorch names its type: 4 for "Float"; nullopt for an unknown name.
std::optional<int> torch_type_bytes(std::string_view name);

/// By what calls are told apart.
enum class CountBy { Op, Size, Comm, CommSize, Rank, Host, Iteration, StepPattern };

/// A sum over calls. What is not known of one of them is not known of the sum.
struct CallSum {
  uint64_t calls = 0;
  std::optional<uint64_t> elements = 0;  ///< nullopt: some calls are printed in bytes, or not kept.
  std::optional<uint64_t> bytes = 0;     ///< Not what goes over the wires, see above.
  bool at_least = false;                 ///< Some calls may be missing.

  void add(const CallSum& more);
  bool operator==(const CallSum&) const = default;
};

/// Where a row stands and what it says there. `order` sorts rows; equal texts have equal orders.
struct CountKey {
  int64_t order = 0;
  std::string text;  ///< Empty: not known.

  auto operator<=>(const CountKey&) const = default;
};

/// By iteration, neighbouring iterations in which no process changes what it calls have one row.
struct CountRow {
  std::vector<CountKey> keys;  ///< One for each CountBy that was asked for, in that order.
  int process = -1;            ///< Into Job::processes, for CountBy::Rank; -1: a dump of its own.
  CallSum sum;
  size_t processes = 0;  ///< That made such calls.
  int64_t iterations =
      1;  ///< So many in a row say the same, each for itself; the key is the first.
};

/// The calls of a job.
struct CallCountTable {
  std::vector<CountRow> rows;   ///< Sorted by their keys.
  size_t coll_processes = 0;    ///< Counted from COLL lines.
  size_t trace_processes = 0;   ///< From CALL lines.
  size_t dump_processes = 0;    ///< From Flight Recorder dumps.
  size_t cut_processes = 0;     ///< Of all these: their files are cut or torn, or dumps began late.
  size_t unkept_processes = 0;  ///< Calls too irregular to be kept in order to their end.
  uint64_t unkept_calls = 0;    ///< Calls behind that, in no iteration.
};

/// A range of iterations: "7", "1-5".
std::string range_text(int64_t first, int64_t last);

/// `iterations` may be nullptr: then nothing is counted by iteration.
CallCountTable count_calls(const Job& job, const JobCalls& calls, const JobIterations* iterations,
                           const std::vector<CountBy>& by);

}  // namespace ncclog
