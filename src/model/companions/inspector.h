// What NCCL's Inspector measured: how long the calls of one rank on one communicator took.
//
//   {"header":{"id":"0x7f8c496ae9f661","rank":2,"n_ranks":8,…},"metadata":{"hostname":"node01",…},
//    "coll_perf":{"coll":"AllReduce","coll_sn":1407,"coll_exec_time_us":61974,
//                 "coll_timing_source":"kernel_gpu",…}}
//     → rank 2 of communicator 0x7f8c496ae9f661 on node01: its AllReduce 1407 took 61974 us
//
// From NCCL's plugins/profiler/inspector (ext-profiler/inspector before 2.30). Each process writes a
// file with an object for each operation. Numbers count the calls of one function on one
// communicator. What is small, or too much for the plugin's buffers, lacks without a word.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>

#include "base/line.h"
#include "model/calls.h"

namespace ncclog {

/// One collective. Times in microseconds.
struct InspectedCall {
  OpName op;
  int64_t number = -1;  ///< coll_sn: of this function on this communicator.
  double duration = 0;
  /// By the clock of the host, where the plugin wrote verbosely; else NaN.
  double started = std::numeric_limits<double>::quiet_NaN();
  /// In calls of other communicators, and in sends and receives, since the call before this one.
  double elsewhere = 0;
};

/// One rank of one communicator, in one file.
struct InspectedRank {
  SourceRef where;           ///< The unit; line 0.
  std::string communicator;  ///< Its commId as the debug log prints it: "0x7f8c496ae9f661".
  std::string name;          ///< "DP Group 0"; empty: none was given.
  int rank = -1;             ///< -1: not told.
  int nranks = -1;
  std::string host;  ///< Empty: not told.
  int64_t pid = -1;
  uint64_t total = 0;               ///< Calls in the file, kept or not.
  std::deque<InspectedCall> calls;  ///< The last kMaxCalls, in the order of the file.

  static constexpr size_t kMaxCalls = 2048;
};

}  // namespace ncclog
