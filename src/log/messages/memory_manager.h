// Suspending and resuming a communicator's memory (mem_manager.cc, 2.29.7 and later).
//
//   MemManager: Suspend failed, memory manager is disabled

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Suspend and resume in the wrong state (mem_manager.cc, 2.29.7 and later).
struct MemorySuspendRefused {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "memory_suspend_refused";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Alloc;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "Suspending or resuming a communicator's memory is off, impossible here, or called in the "
      "wrong order. Check NCCL_DISABLE_MEM_MANAGER and the order of calls on all ranks."};
  static constexpr Wording kWordings[] = {
      {.text = "MemManager: {text:Already suspended|MemStats not supported, memory manager is "
               "disabled|Not in suspended state|Resume failed, memory manager is disabled|Resume "
               "not supported, memory manager is disabled|Suspend failed, memory manager is "
               "disabled|Suspend not supported, memory manager is disabled}",
       .example = "MemManager: Already suspended"},
      {.text = "{text:Memory resume not supported with split_share communicators|Memory suspend "
               "not supported with split_share communicators} {...}",
       .example = "Memory resume not supported with split_share communicators (refCount=3)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Ranks exchange their buffers again (mem_manager.cc, 2.29.7 and later).
struct MemoryExchangeFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "memory_exchange_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Alloc;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::System,
                                    "While memory was resumed, ranks could not exchange their "
                                    "buffers. Look for a peer that died or did not take part."};
  static constexpr Wording kWordings[] = {
      {.text = "MemManager: {text:AllGather counts failed|Barrier failed during resume|Final "
               "barrier failed during resume}",
       .example = "MemManager: AllGather counts failed"},
      {.text = "MemManager: {text:Failed to get FD from rank|Recv from rank|Send to rank} {...}",
       .example = "MemManager: Failed to get FD from rank 3 for ptr=0x7f10a0"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Memory is moved out and back (mem_manager.cc, 2.29.7 and later).
struct MemoryBackupFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "memory_backup_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Alloc;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A communicator's memory could not be copied out, restored or shared again. Look for CUDA "
      "errors, and for free host memory, which the backup needs."};
  static constexpr Wording kWordings[] = {
      {.text = "MemManager: {text:Failed to allocate CPU backup for offload|Failed to allocate "
               "allCounts|Failed to allocate memory entry}",
       .example = "MemManager: Failed to allocate CPU backup for offload"},
      {.text = "MemManager: {text:FABRIC handle not valid for entry|Failed to copy to CPU "
               "backup:|Failed to grow exportedPeerRanks array for|Failed to restore from CPU "
               "backup:|Unknown handle type|cuMemExportToShareableHandle (FABRIC) failed "
               "for|cuMemImportFromShareableHandle failed for} {...}",
       .example = "MemManager: FABRIC handle not valid for entry ptr=0x7f10a0"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A peer's buffer stays away (mem_manager.cc, 2.29.7 and later).
struct MemoryPeerSkipped {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "memory_peer_skipped";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Alloc;
  static constexpr Warning kWarning{WarnSeverity::Degraded, WarnOrigin::System,
                                    "A peer's buffer was not mapped again after resuming, so later "
                                    "transfers with that peer may fail."};
  static constexpr Wording kWordings[] = {
      {.text = "MemManager: {text:Cannot re-import peer buffer from rank|Could not find matching "
               "handle info for|ncclCuMemMapAndSetAccess failed for re-imported} {...}",
       .example = "MemManager: Cannot re-import peer buffer from rank 3 (different node) using "
                  "POSIX FD - skipping"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Buffers that the memory manager does not know (mem_manager.cc, 2.29.7 and later).
struct MemoryTrackingFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "memory_tracking_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Alloc;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "The memory manager was told of a buffer that it does not keep, or of one twice, so "
      "suspending cannot cover it. Look for an earlier initialisation error."};
  static constexpr Wording kWordings[] = {
      {.text = "MemManager: {text:Buffer} ptr={:hex} already exported to peer rank {:int}",
       .example = "MemManager: Buffer ptr=0x7f10a0 already exported to peer rank 3"},
      {.text = "MemManager: {text:Cannot mark export for|Cannot track allocation|Cannot untrack "
               "allocation} {...}",
       .example = "MemManager: Cannot mark export for ptr=0x7f10a0, manager not initialized"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The memory manager at work (mem_manager.cc, 2.29.7 and later).
struct MemoryManagerNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "memory_manager_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Alloc;
  static constexpr Wording kWordings[] = {
      {.text = "MemManager: {text:Destroyed|Destroying (refCount=0)}",
       .example = "MemManager: Destroyed"},
      {.text = "MemManager: {text:Decremented refCount to|Initialized for device|Untrack size "
               "mismatch|Shared from parent,} {...}",
       .example = "MemManager: Decremented refCount to 3"},
      {.text = "MemManager: rank {:int} {text:resumed|suspended} {...}",
       .example = "MemManager: rank 3 resumed 3 local entries, waiting at barrier"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using MemoryManagerMessages = Kinds<MemorySuspendRefused, MemoryExchangeFailed, MemoryBackupFailed,
                                    MemoryPeerSkipped, MemoryTrackingFailed, MemoryManagerNote>;

}  // namespace ncclog
