// Communicators and groups that are used in a way that NCCL does not allow.
//
//   Attempt to use communicator before the previous operation returned ncclSuccess

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A communicator was used where it must not be (init.cc, group.cc, enqueue.cc).
struct CommMisused {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "comm_misused";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "The communicator handle points to no live communicator: it was destroyed, belongs to an "
      "earlier process group, or memory was overwritten."};
  static constexpr Warning kCaptureMixed{WarnSeverity::Fatal, WarnOrigin::User,
                                         "Captured and uncaptured work were mixed in one group. "
                                         "Capture all of it in the same CUDA graph, or none."};
  static constexpr Warning kGrowInconsistent{
      WarnSeverity::Fatal, WarnOrigin::User,
      "Old and new ranks grew a communicator with arguments that do not fit each other. Check "
      "sizes, ranks and the unique id that the parent made."};
  static constexpr Warning kQueueFull{
      WarnSeverity::Fatal, WarnOrigin::User,
      "One group holds more operations than this old release can queue. Make the groups smaller."};
  static constexpr Wording kWordings[] = {
      {.text = "Error: {text:corrupted comm object detected}",
       .example = "Error: corrupted comm object detected",
       .quotable = true},
      {.text =
           "{text:Attempt to use communicator before the previous operation returned ncclSuccess}",
       .example = "Attempt to use communicator before the previous operation returned ncclSuccess",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "A communicator was used before its last call had finished well. Non-blocking: "
                   "poll ncclCommGetAsyncError. Else that call failed, or two releases of NCCL "
                   "are mixed."}},
      {.text = "comm {:hex} {text:has already been destroyed}",
       .example = "comm 0x7f10a0 has already been destroyed",
       .quotable = true,
       .warning =
           {WarnSeverity::Fatal, WarnOrigin::User,
            "The communicator was destroyed a second time. The program keeps a handle too long."}},
      {.text = "{:word}: {text:communicator was revoked}",
       .example = "ncclAllReduce: communicator was revoked",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "The communicator was revoked on purpose, so the operation is refused."}},
      {.text = "ncclGroupEnd: {text:not in a group call}.",
       .example = "ncclGroupEnd: not in a group call.",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "ncclGroupEnd was called without its ncclGroupStart, as happens when an "
                   "exception skips one of them."}},
      {.text = "{text:Blocking and nonblocking communicators are not allowed in the same group}.",
       .example = "Blocking and nonblocking communicators are not allowed in the same group.",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "One group mixes blocking and non-blocking communicators. Use one mode; see "
                   "NCCL_COMM_BLOCKING."}},
      {.text = "Trying to {text:send to self without a matching recv|recv to self without a "
               "matching send}",
       .example = "Trying to send to self without a matching recv",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "A send or receive with the own rank has no counterpart in the same group. Put "
                   "both into one group."}},
      {.text = "{text:Streams given to a communicator within a NCCL group} must either be all "
               "uncaptured or all captured by the same graph.",
       .example = "Streams given to a communicator within a NCCL group must either be all "
                  "uncaptured or all captured by the same graph.",
       .quotable = true,
       .warning = kCaptureMixed},
      {.text =
           "{text:Either none or all communicators in a ncclGroup() can be CUDA graph captured}.",
       .example = "Either none or all communicators in a ncclGroup() can be CUDA graph captured.",
       .quotable = true,
       .warning = kCaptureMixed},
      {.text = "{text:Illegal to have some communicators in graph mode while others not}",
       .example = "Illegal to have some communicators in graph mode while others not",
       .quotable = true,
       .warning = kCaptureMixed},
      {.text = "Fatal: {text:host threads racing to launch NCCL on same device}.",
       .example = "Fatal: host threads racing to launch NCCL on same device.",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "Two host threads launch NCCL work on one GPU at the same time, which can "
                   "deadlock. Serialise them; NCCL_LAUNCH_RACE_FATAL=0 lets it pass."}},
      {.text = "Error : {text:mixing different streams within a group call is not supported}.",
       .example = "Error : mixing different streams within a group call is not supported.",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "Releases before 2.13 allow one stream for each communicator in a group, and "
                   "several were used."}},
      {.text = "ncclCommGrow: {text:total ranks|existing ranks must pass|new ranks must pass|magic "
               "mismatch} {...}",
       .example = "ncclCommGrow: total ranks 3 is less than current ranks 3",
       .quotable = true,
       .warning = kGrowInconsistent},
      {.text = "ncclCommGrow: {text:new rank} {:int} exceeds total ranks {:int}",
       .example = "ncclCommGrow: new rank 17 exceeds total ranks 16",
       .quotable = true,
       .warning = kGrowInconsistent},
      {.text = "{text:ncclCommGetUniqueId should not be called when NCCL_COMM_ID is "
               "set|bootstrapInit: handles and parent are NULL}",
       .example = "ncclCommGetUniqueId should not be called when NCCL_COMM_ID is set",
       .quotable = true,
       .warning = kGrowInconsistent},
      {.text = "bcastGrowHandle: {text...}",
       .example = "bcastGrowHandle: parent comm and handle must be provided",
       .quotable = true,
       .warning = kGrowInconsistent},
      {.text = "{text:NCCL_COMM_ID cannot be used with more than one ncclUniqueId}",
       .example = "NCCL_COMM_ID cannot be used with more than one ncclUniqueId",
       .quotable = true,
       .warning = kGrowInconsistent},
      {.text = "{text:Too many async operations in progress}, max is {:int}",
       .example = "Too many async operations in progress, max is 128",
       .quotable = true,
       .warning = kQueueFull},
      {.text = "{text:Too many aggregated operations} {...}",
       .example = "Too many aggregated operations (128 max)",
       .quotable = true,
       .warning = kQueueFull},
      {.text = "Trying to launch {text:too many work elements}, max is {:int}",
       .example = "Trying to launch too many work elements, max is 16",
       .quotable = true,
       .warning = kQueueFull},
      {.text = "Trying to launch {text:too many collectives}",
       .example = "Trying to launch too many collectives",
       .quotable = true,
       .warning = kQueueFull},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using CommMisuseMessages = Kinds<CommMisused>;

}  // namespace ncclog
