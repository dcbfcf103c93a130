// Device-initiated networking (GIN), one-sided operations (RMA) and symmetric windows (2.27 and
// later).
//
//   Communicator does not support symmetric memory!

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Device-initiated networking: not available, refused, failed or how it is set up (gin/*.cc).
struct GinNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "gin_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "{text:Cannot create worldGinBarrier with NCCL_GIN_CONNECTION_RAIL.|Dev comm not "
               "found|GIN Error detected|GIN Proxy: RMA backend not found|GIN VA signals are "
               "required, but the GIN plugin does not support them.|GIN is disabled.|GIN not "
               "supported.|GIN plugin does not support FLUSH|GIN plugin does not support GET|GIN "
               "plugin v11 does not support multiple connections|GIN plugin v11 does not support "
               "multiple contexts|GIN plugin v11 does not support specifying queue depth}",
       .example = "Cannot create worldGinBarrier with NCCL_GIN_CONNECTION_RAIL."},
      {.text = "{text:GIN plugin v12 does not support multiple connections|GIN plugin v12 does not "
               "support multiple contexts|GIN strong signals are required, but the GIN plugin does "
               "not support them.|GIN-capable device type mismatch.|GIN_IB_PROXY does not support "
               "specifying qp depth|NCCL_GIN_COUNTER_POOL_SIZE has invalid "
               "value.|NCCL_GIN_SIGNAL_POOL_SIZE has invalid value.|No GIN-capable devices "
               "found.|No network devices that support GDAKI found|Not enough space to get "
               "elements|User requested GIN but not all ranks in the communicator support GIN|User "
               "requested GIN connection type NCCL_GIN_CONNECTION_FULL but the communicator is "
               "already connected with NCCL_GIN_CONNECTION_RAIL}",
       .example = "GIN plugin v12 does not support multiple connections"},
      {.text = "{text:User requested GIN connection type NCCL_GIN_CONNECTION_FULL but the "
               "communicator supports only NCCL_GIN_CONNECTION_RAIL|User requested GIN resources "
               "but did not request GIN to be enabled!|Window registration of addresses that "
               "contain CPU-backed physical segments is currently not supported with GIN.|Window "
               "registration of addresses that span multiple physical segments requires DMABUF "
               "support with GIN.|ginForceEnable is being deprecated in favor of explicitly "
               "setting ginConnectionType!|ginForceEnable set to true, defaulting "
               "ginConnectionType to NCCL_GIN_CONNECTION_FULL|NCCL_GIN_COUNTER_POOL_SIZE has an "
               "invalid value|NCCL_GIN_SIGNAL_POOL_SIZE has an invalid value|GIN Proxy will not be "
               "using GDRCopy|Unable to use GIN: Peermem is not supported, nor DMA-BUF.}",
       .example = "User requested GIN connection type NCCL_GIN_CONNECTION_FULL but the "
                  "communicator supports only NCCL_GIN_CONNECTION_RAIL"},
      {.text = "{text:Cannot get backend version for invalid GIN type|Cannot get gin type: ncclGin "
               "is not null but net device type|DOCA Error|DOCA failure|Elastic GIN: rank|Error on "
               "GFD test|GIN Error on gin context|GIN plugin|IB device|Invalid GIN gdaki backend "
               "version|Invalid GIN proxy backend version|No shared contexts are available} {...}",
       .example = "Cannot get backend version for invalid GIN type 3",
       .general = true},
      {.text = "{text:RMA v13|RMA: trying to send to non-connected peer|Requested number of "
               "exclusive GIN contexts|Rma Proxy create context: invalid rank stride|The "
               "application was compiled with too old version of NCCL. It was compiled with NCCL "
               "version|Unable to use GIN: Peermem is not supported, and "
               "device|ncclGinIbProxyIPutSignal: Unsupported signalOp|ncclRmaIbProxyIPutSignal: "
               "Unsupported signalOp|Compute Capability|devCommCreate: creating|Capping the number "
               "of GIN contexts to|Initialized a devComm with} {...}",
       .example = "RMA v13 (mlx5_0) requires GIN PROXY type, got netDeviceType 3"},
      {.text = "{text:NET_IB: no support for GIN type|Failed to get DMA-BUF handle for address "
               "range with type PCIE,|Failed to register memory with DMA-BUF and data "
               "direct,|Failed to register memory with DMA-BUF,|NCCL_GIN_PLUGIN list contains a "
               "plugin name|NCCL_GIN_PLUGIN list contains more than|NCCL_NET_PLUGIN list contains "
               "a plugin name|NCCL_NET_PLUGIN list contains more than|NCCL_RMA_PLUGIN list "
               "contains a plugin name|NCCL_RMA_PLUGIN list contains more than} {...}",
       .example = "NET_IB: no support for GIN type 3"},
      {.text = "rank {:int} - {text:GIN Symmetric register failed: buff} {...}",
       .example = "rank 3 - GIN Symmetric register failed: buff 0x7f10a0, size 3"},
      {.text = "{:word}:{:int} ({:word}) {text:[GIN Progress Thread] state unknown} {...}",
       .example = "ncclNetInit:3 (mlx5_0) [GIN Progress Thread] state unknown 3"},
      {.text = "{text:devCommCreate:} {:int} Local NET, creating {:int} GIN connections with "
               "{:int} contexts each ({:int} contexts total requested)",
       .example = "devCommCreate: 3 Local NET, creating 3 GIN connections with 3 contexts each (3 "
                  "contexts total requested)"},
      {.text = "[{:int}] {text:Connected companion QP:|Connected main QP:|Connected self-loop "
               "QP:|Connected self-loop peer QP:|Connected self-loop peer companion QP:|Created a "
               "QP group:|Created a QP:|Created a self-loop peer QP:|Created a self-loop peer "
               "companion QP:|Registered MR:|Unregistering MR:} {...}",
       .example =
           "[3] Connected companion QP: qp_idx=3, companion_qpn=1a2b, peer_companion_qpn=1a2b"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// One-sided operations (rma/*.cc).
struct RmaNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "rma_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "{text:Gin connect : min local net count is zero|No RMA-capable devices found.|One "
               "sided RMA: RMA proxy is not supported in this communicator.|One sided RMA: host "
               "RMA is not supported in this communicator.|One sided RMA: symmetric registration "
               "is not supported in this communicator.|RMA CE is not initialized|RMA CE: peerBuff "
               "is NULL after ncclDevrGetLsaRankPtr|RMA not supported.|RMA proxy backend type "
               "mismatch.|RMA proxy completed request with no inflight credit|RMA proxy "
               "iput/iputSignal returned success with NULL request|RMA proxy is not connected}",
       .example = "Gin connect : min local net count is zero"},
      {.text = "{text:Rma connect : min local net count is zero|NCCL_NUM_RMA_CTX=0, RMA disabled "
               "for this communicator}",
       .example = "Rma connect : min local net count is zero"},
      {.text =
           "{:word} : {text:skipping sendbuff/recvbuff pointer check (one-sided RMA uses peerWin)}",
       .example =
           "ncclNetInit : skipping sendbuff/recvbuff pointer check (one-sided RMA uses peerWin)"},
      {.text = "{text:One-sided RMA requires CUDA driver 12.5 or later "
               "(found|ncclRmaProxyEnqueueDesc: unknown desc type|ncclRmaProxyEnqueueFull: unknown "
               "desc type|ncclRmaProxyPutDoneParams: descriptor is not a put-signal "
               "type|ncclRmaProxyPutGroupDoneParams: descriptor is not a put-signal-group "
               "type|ncclRmaProxyPutGroupStartParams: descriptor is not a put-signal-group "
               "type|ncclRmaProxyPutStartParams: descriptor is not a put-signal "
               "type|ncclRmaProxyWaitParams: descriptor is not a wait-signal "
               "type|ncclRmaProxyPutLaunch enqueued Desc:|ncclRmaPutProxy enqueued "
               "Desc:|scheduleRmaTasksToPlan:} {...}",
       .example = "One-sided RMA requires CUDA driver 12.5 or later (found 3.3)."},
      {.text = "rank {:int} - {text:RMA Symmetric register failed: buff} {...}",
       .example = "rank 3 - RMA Symmetric register failed: buff 0x7f10a0, size 3"},
      {.text = "{:word}:{:int} ({:word}) {text:[RMA Proxy Progress Thread] state unknown} {...}",
       .example = "ncclNetInit:3 (mlx5_0) [RMA Proxy Progress Thread] state unknown 3"},
      {.text = "Rank {:int} "
               "{text:ncclRmaProxyPollCompletion:|ncclRmaProxyPollDesc:|"
               "ncclRmaProxyPollNonPersistCompletion:|ncclRmaProxyPollNonPersistDesc:|"
               "ncclRmaProxyPollPersistDesc:|ncclRmaProxyConnectOnce: "
               "ginCommCount|ncclRmaProxyConnectOnce: rmaCommCount} {...}",
       .example = "Rank 3 ncclRmaProxyPollCompletion: targetRank=3 descSeq=12 COMPLETED, updating "
                  "doneSeq"},
      {.text = "Rank {:int}: {text:finished init RMA CE contexts, numRmaCeCtxs} {...}",
       .example = "Rank 3: finished init RMA CE contexts, numRmaCeCtxs 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Symmetric windows and device communicators (dev_runtime.cc, allocator.cc,
/// scheduler/symmetric_sched.cc).
struct WindowNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "window_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Reg;
  static constexpr Wording kWordings[] = {
      {.text = "{text:Communicator does not support symmetric memory!|Device object does not exist "
               "in shadow pool.|Multicast support requested for team but none available on "
               "system.|Multimem pointer requested but system does not support multimem.|Window "
               "address must be suitably aligned.|Window registration of addresses that span "
               "multiple physical segments is currently not supported.|window has a NULL user "
               "pointer|Symmetric registration is not supported in this communicator.}",
       .example = "Communicator does not support symmetric memory!"},
      {.text = "{:word}: {text:invalid pointer} {...}",
       .example = "ncclNetInit: invalid pointer 0x7f10a0 / size 12"},
      {.text = "{text:Allocation failed. No suitable space found to accommodate|Given|Hierarchical "
               "CE collective not supported for|MCBasePtr|NCCL library is not backwards "
               "compatible. This application was compiled with NCCL version|NCCL library is too "
               "old. This application was compiled with NCCL version|NCCL library version is too "
               "old. This application was compiled with NCCL version|No allocation found "
               "at|Segment|The application was compiled with too old version of NCCL. It was "
               "compiled with NCCL version|The provided lsaRank|invalid pointer} {...}",
       .example = "Allocation failed. No suitable space found to accommodate size=0x1a2b within "
                  "limit=0x1a2b"},
      {.text = "{text:ncclDevrWorldToLsaRank: world rank|ncclSymmetricTaskScheduler ran out of "
               "channel space|IPC symmetric alloc buffer|Inserted window|SymCheck: coll|Init CE, "
               "rank|LSA extended to full NVL domain:|Symmetric VA|Symmetric memory is not "
               "supported. cuMemEnable} {...}",
       .example = "ncclDevrWorldToLsaRank: world rank 3 is not a member of the LSA team"},
      {.text = "Could not {text:find communicator matching window} {...}",
       .example = "Could not find communicator matching window 0x7f10a0 (map hbits=3 count=3)"},
      {.text = "{text:buffer} {:hex} (baseAddr {:hex} align {:int}) size {:int} (baseSize {:int} "
               "align {:int}) does not satisfy symmetric registration requirements",
       .example = "buffer 0x7f10a0 (baseAddr 0x7f10a0 align 3) size 12 (baseSize 3 align 3) does "
                  "not satisfy symmetric registration requirements"},
      {.text = "{text:peer} {:int} is not within valid range of ranks {:int}.",
       .example = "peer 3 is not within valid range of ranks 3."},
      {.text = "rank {:int} {text:alignment} {...}",
       .example = "rank 3 alignment 3 is not power of 2"},
      {.text = "[{:int}] {text:Segment} {...}",
       .example = "[3] Segment 3, Type : 3, numSegments : 3, Segment size : 3, memHandle : 3"},
      {.text = "VA represented by {} contains {text:CPU-backed physical segments}, but {...}",
       .example = "VA represented by {userPtr = 0x7f10a0, size = 4096} contains CPU-backed "
                  "physical segments, but NCCL_ELASTIC_BUFFER_REGISTER is set to 0. Please set "
                  "NCCL_ELASTIC_BUFFER_REGISTER=1 and retry window registration",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using GinMessages = Kinds<GinNote, RmaNote, WindowNote>;

}  // namespace ncclog
