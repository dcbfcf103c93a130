// Model of the costs that algorithm and protocol are chosen by (subsystem TUNING, rank 0).
//
//   threadThresholds 8/8/64 | 128/8/64 | 512 | 512
//   AllReduce |     8.8/  24.0 |    21.3/  77.1 |    90.4/  96.0 |

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Sizes per rank below which fewer threads run (graph/tuning.cc, init.cc, 2.5.6 and later).
struct ThreadThresholds {
  std::string_view text;  ///< Triples LL/LL128/Simple for tree, then ring, then CollNet.

  static constexpr std::string_view kKind = "thread_thresholds";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "threadThresholds {text...}",
       .example = "threadThresholds 8/8/64 | 128/8/64 | 512 | 512"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A row of the table of latencies (us) and bandwidths (GB/s, 0.0 = disabled) by algorithm and
/// protocol (graph/tuning.cc).
struct TuningTable {
  /// "Algorithm", "Protocol", "Max NThreads", "Latency/AlgBw" or the collective.
  std::string_view row;
  std::string_view cells;  ///< Separated by "|".

  static constexpr std::string_view kKind = "tuning_table";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Tuning;
  static constexpr Wording kWordings[] = {
      {.text = "{row:Algorithm|Protocol|Max "
               "NThreads|Broadcast|Reduce|AllGather|ReduceScatter|AllReduce|Latency/AlgBw} {}| "
               "{cells...}",
       .example = "AllReduce |     8.8/  24.0 |    21.3/  77.1 |    90.4/  96.0 |"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("row", self.row);
    visit("cells", self.cells);
  }
};

/// Threads per kernel and the use of trees in 2.4 and 2.5 (init.cc, graph/tuning.cc).
struct ThreadCount {
  int threads = -1;  ///< -1 if not printed.
  std::string_view text;

  static constexpr std::string_view kKind = "thread_count";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Using {threads} threads, Min Comp Cap {:int}, {text...}",
       .example = "Using 256 threads, Min Comp Cap 7, Trees disabled"},
      {.text = "Threads per block : {text...}", .example = "Threads per block : 512/640/512"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("threads", self.threads);
    visit("text", self.text);
  }
};

/// Which combinations NCCL_ALGO and NCCL_PROTO leave (graph/tuning.cc, 2.24.3 and later); the
/// table follows without header.
struct FuncMatrix {
  static constexpr std::string_view kKind = "func_matrix";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "Enabled NCCL Func/Proto/Algo Matrix:{...}",
       .example = "Enabled NCCL Func/Proto/Algo Matrix:"},
  };
  static void each_field(auto&, auto&&) {}
};

/// A tuner's proposal was changed (enqueue.cc), or its model says something.
struct TunerNote {
  std::string_view text;

  static constexpr std::string_view kKind = "tuner_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Tuning;
  static constexpr Wording kWordings[] = {
      {.text = "{:word}: tuner chunk size {:int} exceeds buffer max {:int}, {text:clamping}",
       .example = "AllReduce: tuner chunk size 8388608 exceeds buffer max 4194304, clamping"},
      {.text = "ReduceScatter_RailA2A_Lsa{text...}",
       .example = "ReduceScatter_RailA2A_LsaLD : satblocks=8 bufsize=1024 effbw=3.5"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using TuningMessages = Kinds<ThreadThresholds, TuningTable, ThreadCount, FuncMatrix, TunerNote>;

}  // namespace ncclog
