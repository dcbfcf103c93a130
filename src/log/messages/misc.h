// Everything that fits no other family.
//
//   Continuing in spite of a RAS initialization error

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// NCCL's small helper structures (misc/utils.cc, include/utils.h, 2.29.2 and later).
struct HelperCheckFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "helper_check_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "A helper structure inside NCCL got a null pointer, a bad size or no memory. Suspect "
      "exhausted host memory, memory corruption or an NCCL bug."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Intrusive address map pointer is NULL|Object pointer is NULL|Output object "
               "pointer is NULL|getRandomData: buffer is NULL}",
       .example = "Intrusive address map pointer is NULL"},
      {.text = "{text:Intrusive address map initialization failed:|Intrusive address map resize "
               "failed:|Invalid key size|getRandomData: std::random_device failed:} {...}",
       .example = "Intrusive address map initialization failed: calloc(12 entries) returned null"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A buffer to be shared is described by null pointers (transport/shm.cc, init.cc).
struct ShareableBufferInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "shareable_buffer_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Alloc;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "NCCL's own code passed a missing description to the code that shares buffers between ranks. "
      "Look for an earlier allocation error."};
  static constexpr Warning kCallersFault{
      WarnSeverity::Fatal, WarnOrigin::User,
      "Registering or releasing a buffer was called with a null communicator, buffer or handle. "
      "Check the caller's arguments."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Invalid argument comm|Invalid argument desc} {...}",
       .example = "Invalid argument comm 0x7f10a0, desc 0x7f10a0, hptr 0x7f10a0, descOut 0x7f10a0"},
      {.text = "{text:Invalid arguments comm} {...}",
       .example = "Invalid arguments comm 0x7f10a0, buff 0x7f10a0, size 3, handle 0x7f10a0",
       .warning = kCallersFault},
      {.text = "{text:Invalid handle} {:hex}",
       .example = "Invalid handle 0x7f10a0",
       .warning = kCallersFault},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A peer outside the table of registered buffers (transport/p2p.cc, 2.30.7).
struct IpcTableInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ipc_table_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Reg;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "A buffer was to be registered for a peer that the communicator's table does not have. Look "
      "for an earlier error or memory corruption."};
  static constexpr Wording kWordings[] = {
      {.text = "rank {:int} {text:invalid IPC peerIndex|invalid IPC peerRank} {...}",
       .example = "rank 3 invalid IPC peerIndex 3 for peerRank 3 ipcIndexSize 3 ipcInfosSize 3 "
                  "p2pCrossClique 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Requests of the socket network (transport/net_socket.cc).
struct SocketRequestFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "socket_request_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "The socket network ran out of request slots or was handed a null one, which its own "
      "accounting rules out. Look for an earlier network error."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:NET/Socket : test called with NULL request|NET/Socket : unable to allocate "
               "requests|NET/Socket : unable to allocate subtasks|Socket : unable to allocate "
               "requests}",
       .example = "NET/Socket : test called with NULL request"},
      {.text = "{text:NET/Socket : ncclNetSocketListen} {...}",
       .example = "NET/Socket : ncclNetSocketListen dev=3 ncclNetIfs=3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// GDRCopy cannot flush on this CPU (transport/net.cc, 2.9.6 to 2.30.4).
struct GdrFlushUnsupported {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "gdr_flush_unsupported";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "GDRCopy cannot flush GPU memory on this CPU, so received data is flushed in another way. "
      "NCCL_GDRCOPY_FLUSH_ENABLE=0 avoids the attempt."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:NET: GDR Flush only supported on x86_64}",
       .example = "NET: GDR Flush only supported on x86_64"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Two settings exclude each other (init.cc, 2.29.2 and later).
struct ConfigConflict {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "config_conflict";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::User,
      "Two settings exclude each other, so NCCL drops one of them for this communicator. Decide on "
      "one in the configuration or the environment."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:graphStreamOrdering=0 with graphUsageMode=2 (graph mixing) is not supported; "
               "falling back to graphStreamOrdering=1 for this communicator}",
       .example = "graphStreamOrdering=0 with graphUsageMode=2 (graph mixing) is not supported; "
                  "falling back to graphStreamOrdering=1 for this communicator"},
      {.text = "{text:Both NCCL_CTA_POLICY_ZERO and NCCL_CTA_POLICY_EFFICIENCY are set in "
               "CTAPolicy} {...}",
       .example = "Both NCCL_CTA_POLICY_ZERO and NCCL_CTA_POLICY_EFFICIENCY are set in CTAPolicy "
                  "(3). Unsetting POLICY_EFFICIENCY."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A parameter was registered twice (param/*.cc, 2.30.3 and later).
struct ParamDuplicate {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "param_duplicate";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "One process holds two copies of NCCL or of a plugin, and the second parameter of that name "
      "is ignored. Do not mix static and shared NCCL."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:PARAM: Duplicate option name|PARAM: Duplicate registration for key} {...}",
       .example = "PARAM: Duplicate option name \"RING\""},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Parameters of the library and of plugins (param/*.cc, 2.29.7 and later).
struct ParamNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "param_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "{text:Disabling caching for environment variable|ENV:|PARAM: Disabling caching for "
               "environment variable|PARAM: key|PARAM: type mismatch for key|Warning: ENV} {...}",
       .example = "Disabling caching for environment variable mlx5_0."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Rare remarks of no consequence (enqueue.cc, init.cc, debug.cc and others).
struct MiscNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "misc_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{text:Unknown CTA policy; the legacy usage of NCCL_CTA_POLICY only supports the "
               "value of 0 (DEFAULT), 1 (EFFICIENCY), or 2 (ZERO). Using DEFAULT "
               "instead.|Disabling work fifo|NCCL did not shutdown nvml properly|Continuing in "
               "spite of a RAS initialization error}",
       .example = "Unknown CTA policy; the legacy usage of NCCL_CTA_POLICY only supports the value "
                  "of 0 (DEFAULT), 1 (EFFICIENCY), or 2 (ZERO). Using DEFAULT instead."},
      {.text = "{text:DEBUG file is|Comm config trafficClass|Intrusive map: inserting "
               "object|ncclMaxSharedMem|Stack size limit|NET "
               ": Found interface|Found network interface} {...}",
       .example = "DEBUG file is 'mlx5_0'"},
      {.text = "{text:Unexpected error from ncclSocketReady; terminating the socket connection "
               "with} {...}",
       .example =
           "Unexpected error from ncclSocketReady; terminating the socket connection with mlx5_0"},
      {.text = "rank {:int} {text:base stride} {...}",
       .example = "rank 3 base stride 12GB total VM 12GB"},
      {.text = "{text:Created} {:int} queue info, destroyed {:int}",
       .example = "Created 3 queue info, destroyed 3"},
      {.text = "{text:Skipping} {}kernel {:int} which requires driver {:int}",
       .example = "Skipping mlx5_0kernel 3 which requires driver 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using MiscMessages =
    Kinds<HelperCheckFailed, ShareableBufferInvalid, IpcTableInvalid, SocketRequestFailed,
          GdrFlushUnsupported, ConfigConflict, ParamDuplicate, ParamNote, MiscNote>;

}  // namespace ncclog
