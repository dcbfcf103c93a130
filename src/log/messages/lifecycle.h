// The life of a communicator: started, complete, split, destroyed, aborted.
//
//   ncclCommInitRankConfig comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 nvmlDev 3
//   busId a1000 commId 0x9c1b2f0a77d01e55 - Init START

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A communicator's initialisation began or was completed on this rank
/// (init.cc).
///
/// START exists since 2.18.3. A communicator made by split carries no commId
/// since 2.23.4: it is known by parent pointer, count and color.
struct CommInit {
  std::string_view
      function; ///< API name since 2.21, e.g. "ncclCommInitRank"; empty before.
  Hex comm;     ///< Pointer: means something inside one process only, and comes
                ///< back.
  int rank = -1;
  int nranks = -1;
  int cuda_dev = -1;
  int nvml_dev =
      -1; ///< Physical GPU index; -1 where the release does not print it.
  std::string_view
      bus_id;  ///< Hexadecimal without 0x: "a1000"; empty if not printed.
  Hex comm_id; ///< The same on all ranks of a communicator; 0 = not printed.
  Hex parent;  ///< Pointer of the parent in the same process; 0 = not a child.
  int child_count =
      -1; ///< Ordinal of the child ("splitCount" to 2.28); -1 = not printed.
  int color = -1;
  int key = -1;
  std::string_view phase; ///< "START" or "COMPLETE".

  static constexpr std::string_view kKind = "comm_init";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "{function:word} comm {comm} rank {rank} nranks {nranks} "
               "cudaDev {cuda_dev} nvmlDev {nvml_dev} busId {bus_id:hex} "
               "commId {comm_id} - Init {phase:START|COMPLETE}",
       .example =
           "ncclCommInitRankConfig comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 "
           "nvmlDev 3 busId a1000 commId 0x9c1b2f0a77d01e55 - Init START"},
  };
  static void each_field(auto &self, auto &&visit) {
    visit("function", self.function);
    visit("comm", self.comm);
    visit("rank", self.rank);
    visit("nranks", self.nranks);
    visit("cuda_dev", self.cuda_dev);
    visit("nvml_dev", self.nvml_dev);
    visit("bus_id", self.bus_id);
    visit("comm_id", self.comm_id);
    visit("parent", self.parent);
    visit("child_count", self.child_count);
    visit("color", self.color);
    visit("key", self.key);
    visit("phase", self.phase);
  }
};

using LifecycleMessages = Kinds<CommInit>;

} // namespace ncclog
