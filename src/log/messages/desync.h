// Ranks that did not call the same collective, as PyTorch's own checks name them.
//
//    - To our best knowledge, ranks [1, 3] are the lagging ranks that caused this timeout. They
//    never
//   joined any collectives
//
// Only with TORCH_NCCL_DESYNC_DEBUG=1 or TORCH_DISTRIBUTED_DEBUG=DETAIL. All ranks are ranks inside
// the process group.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// TORCH_NCCL_DESYNC_DEBUG: ranks that never joined any collective of the group.
///
/// Ranks here and below are ranks inside the group.
struct DesyncLagging {
  std::string_view ranks;  ///< "1, 3"

  static constexpr std::string_view kKind = "desync_lagging";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "- To our best knowledge, ranks [{ranks}] are the lagging ranks that caused this "
               "timeout.{...}",
       .example = "- To our best knowledge, ranks [1, 3] are the lagging ranks that caused this "
                  "timeout. They never joined any collectives"},
  };
  static void each_field(auto& self, auto&& visit) { visit("ranks", self.ranks); }
};

/// Ranks that began a collective and did not finish it.
struct DesyncJoined {
  std::string_view ranks;
  int64_t seq = -1;

  static constexpr std::string_view kKind = "desync_joined";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "- [{ranks}] joined but didn't finish collective #{seq} (count from 1)",
       .example = "- [0, 2] joined but didn't finish collective #9 (count from 1)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("ranks", self.ranks);
    visit("seq", self.seq);
  }
};

/// Ranks that finished a collective and did not join the next one.
struct DesyncFinished {
  std::string_view ranks;
  int64_t seq = -1;
  int64_t next_seq = -1;

  static constexpr std::string_view kKind = "desync_finished";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "[{ranks}] finished collective #{seq}, but didn't join collective #{next_seq} "
               "(count from 1)",
       .example = "[3] finished collective #8, but didn't join collective #9 (count from 1)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("ranks", self.ranks);
    visit("seq", self.seq);
    visit("next_seq", self.next_seq);
  }
};

/// At which collective the ranks of a desync report timed out.
struct DesyncTimeout {
  std::string_view ranks;
  std::string_view op;
  int64_t seq = -1;

  static constexpr std::string_view kKind = "desync_timeout";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "- [{ranks}] Timeout at collective: {op:word}, #{seq}",
       .example = "- [0] Timeout at collective: ALLREDUCE, #9"},
      // 2.7 puts the reporting rank in front, with nothing between.
      {.text = "Rank {:int}\t - [{ranks}] Timeout at collective: {op:word}, #{seq}",
       .example = "Rank 0\t - [0] Timeout at collective: ALLREDUCE, #9"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("ranks", self.ranks);
    visit("op", self.op);
    visit("seq", self.seq);
  }
};

/// A part of the report begins.
struct DesyncSection {
  std::string_view section;

  static constexpr std::string_view kKind = "desync_section";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "- {section:To our best knowledge, the lagging/dead/mismatched ranks that caused "
               "the desync are|Snapshot of ranks' latest states}:",
       .example = "- Snapshot of ranks' latest states:"},
      {.text = "#{:int} {section:started|finished} ranks:", .example = "#9 started ranks:"},
  };
  static void each_field(auto& self, auto&& visit) { visit("section", self.section); }
};

/// Ranks and the collective that they began or finished last.
struct DesyncState {
  std::string_view ranks;
  std::string_view state;  ///< "started" or "finished"
  std::string_view op;

  static constexpr std::string_view kKind = "desync_state";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "[{ranks}] {state:started|finished} {op:word}",
       .example = "[0, 2] started ALLREDUCE"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("ranks", self.ranks);
    visit("state", self.state);
    visit("op", self.op);
  }
};

/// The report could not be made: the store has no answer, or start events are off.
struct DesyncUnavailable {
  std::string_view error;

  static constexpr std::string_view kKind = "desync_unavailable";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Failed to {:retrieve|rerieve} {:TORCH_NCCL_DESYNC_DEBUG|NCCL_DESYNC_DEBUG} "
               "report.{error...}",
       .example = "Failed to retrieve TORCH_NCCL_DESYNC_DEBUG report. Please file an issue."},
  };
  static void each_field(auto& self, auto&& visit) { visit("error", self.error); }
};

/// TORCH_DISTRIBUTED_DEBUG=DETAIL: two ranks called different collectives
/// (ProcessGroupWrapper.cpp).
struct FingerprintMismatch {
  int rank = -1;  ///< Inside the group.
  std::string_view fingerprint;
  int other_rank = -1;
  std::string_view other_fingerprint;
  std::string_view differences;

  static constexpr std::string_view kKind = "fingerprint_mismatch";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{:RuntimeError}: Detected mismatch between collectives on ranks. Rank {rank} is "
               "running collective: CollectiveFingerPrint({fingerprint}), but Rank {other_rank} is "
               "running collective: CollectiveFingerPrint({other_fingerprint}).Collectives differ "
               "in the following aspects:{differences...}",
       .example =
           "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running "
           "collective: CollectiveFingerPrint(SequenceNumber=7, OpType=ALLREDUCE, TensorShape=[8], "
           "TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float)), but Rank 1 is "
           "running collective: CollectiveFingerPrint(SequenceNumber=7OpType=BARRIER).Collectives "
           "differ in the following aspects: \t Op type: ALLREDUCEvs BARRIER"},
      {.text = "Detected mismatch between collectives on ranks. Rank {rank} is running collective: "
               "CollectiveFingerPrint({fingerprint}), but Rank {other_rank} is running collective: "
               "{other_fingerprint...}",
       .example = "Detected mismatch between collectives on ranks. Rank 0 is running collective: "
                  "CollectiveFingerPrint(SequenceNumber=7OpType=BARRIER), but Rank 1 is running "
                  "collective: CollectiveFingerPrint(SequenceNumber=8OpType=BARRIER)."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("fingerprint", self.fingerprint);
    visit("other_rank", self.other_rank);
    visit("other_fingerprint", self.other_fingerprint);
    visit("differences", self.differences);
  }
};

/// Ranks that did not reach dist.monitored_barrier(): named directly, by rank 0 (Gloo).
struct MonitoredBarrierFailed {
  std::string_view ranks;  ///< "3" or "3, 7".
  int64_t ms = -1;

  static constexpr std::string_view kKind = "monitored_barrier_failed";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "[Rank 0]: {:Ranks|Rank} {ranks} failed to pass monitoredBarrier in {ms} ms{...}",
       .example = "[Rank 0]: Ranks 3, 7 failed to pass monitoredBarrier in 30000 ms"},
      {.text = "{:RuntimeError}: [Rank 0]: {:Ranks|Rank} {ranks} failed to pass monitoredBarrier "
               "in {ms} ms{...}",
       .example = "RuntimeError: [Rank 0]: Rank 3 failed to pass monitoredBarrier in 30000 ms"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("ranks", self.ranks);
    visit("ms", self.ms);
  }
};

/// Rank 0 gave up on dist.monitored_barrier(); who came is known, who did not is the rest.
struct MonitoredBarrierTimeout {
  int64_t ms = -1;
  std::string_view processed;  ///< Ranks that came: "1, 2".

  static constexpr std::string_view kKind = "monitored_barrier_timeout";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{:RuntimeError: Rank 0|Rank 0} timed out in monitoredBarrier after {ms} ms.{...}",
       .example = "Rank 0 timed out in monitoredBarrier after 30000 ms."},
      {.text = "Successfully processed ranks: {processed...}",
       .example = "Successfully processed ranks: 1, 2"},
      {.text = "No ranks successfully processed in monitoredBarrier.{...}",
       .example = "No ranks successfully processed in monitoredBarrier."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("ms", self.ms);
    visit("processed", self.processed);
  }
};

/// This rank came to dist.monitored_barrier() and is a victim: rank 0's lines name the faulty one.
struct MonitoredBarrierReached {
  int rank = -1;  ///< Inside the group.

  static constexpr std::string_view kKind = "monitored_barrier_reached";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Rank {rank} successfully reached monitoredBarrier, but received errors while "
               "waiting for send/recv from rank 0.{...}",
       .example = "Rank 3 successfully reached monitoredBarrier, but received errors while waiting "
                  "for send/recv from rank 0. Please check rank 0 logs for faulty rank."},
      {.text = "RuntimeError: Rank {rank} successfully reached monitoredBarrier, but received "
               "errors while waiting for send/recv from rank 0.{...}",
       .example = "RuntimeError: Rank 3 successfully reached monitoredBarrier, but received errors "
                  "while waiting for send/recv from rank 0. Please check rank 0 logs."},
  };
  static void each_field(auto& self, auto&& visit) { visit("rank", self.rank); }
};

/// TORCH_DISTRIBUTED_DEBUG=DETAIL: the barrier before a collective failed, so ranks are missing in
/// it (ProcessGroupWrapper.cpp).
struct WrapperBarrierFailed {
  std::string_view fingerprint;
  std::string_view error;

  static constexpr std::string_view kKind = "wrapper_barrier_failed";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{:RuntimeError: ProcessGroupWrapper|ProcessGroupWrapper}: Monitored Barrier "
               "encountered error running collective: CollectiveFingerPrint({fingerprint}). "
               "Error:{error...}",
       .example = "RuntimeError: ProcessGroupWrapper: Monitored Barrier encountered error running "
                  "collective: CollectiveFingerPrint(SequenceNumber=7OpType=BARRIER). Error: [Rank "
                  "0]: Rank 3 failed to pass monitoredBarrier in 30000 ms"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("fingerprint", self.fingerprint);
    visit("error", self.error);
  }
};

using DesyncMessages =
    Kinds<DesyncLagging, DesyncJoined, DesyncFinished, DesyncTimeout, DesyncSection, DesyncState,
          DesyncUnavailable, FingerprintMismatch, MonitoredBarrierFailed, MonitoredBarrierTimeout,
          MonitoredBarrierReached, WrapperBarrierFailed>;

}  // namespace ncclog
