// One-sided operations: put, signal, wait (RMA, 2.29 and later).
//
//   One-sided RMA requires CUDA driver 12.5 or later (found 12.4).

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// One-sided transfers are wanted and not there (enqueue.cc, rma/*.cc, 2.29.2 and later).
struct RmaUnavailable {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "rma_unavailable";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "One-sided transfers were asked for, but this driver, network or communicator does not offer "
      "them. They need CUDA driver 12.5, an RDMA network and its plugin."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Gin connect : min local net count is zero|No RMA-capable devices found.|One "
               "sided RMA: RMA proxy is not supported in this communicator.|One sided RMA: host "
               "RMA is not supported in this communicator.|One sided RMA: symmetric registration "
               "is not supported in this communicator.|RMA not supported.|Rma connect : min local "
               "net count is zero}",
       .example = "Gin connect : min local net count is zero"},
      {.text = "{text:One-sided RMA requires CUDA driver 12.5 or later (found} {...}",
       .example = "One-sided RMA requires CUDA driver 12.5 or later (found 3.3)."},
      {.text = "rank {:int} - {text:RMA Symmetric register failed: buff} {...}",
       .example = "rank 3 - RMA Symmetric register failed: buff 0x7f10a0, size 3",
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "Memory cannot be registered for one-sided transfers. Check the memlock limit, "
                   "the IOMMU and how the NIC reaches GPU memory."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Checks of one-sided transfers (rma/*.cc, 2.29.2 and later).
struct RmaStateInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "rma_state_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::Internal,
                                    "The code for one-sided transfers met a request that it rules "
                                    "out itself. Look for an earlier error on this rank."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:RMA CE is not initialized|RMA CE: peerBuff is NULL after "
               "ncclDevrGetLsaRankPtr|RMA proxy backend type mismatch.|RMA proxy completed request "
               "with no inflight credit|RMA proxy iput/iputSignal returned success with NULL "
               "request|RMA proxy is not connected}",
       .example = "RMA CE is not initialized"},
      {.text = "{text:ncclRmaProxyEnqueueDesc: unknown desc type|ncclRmaProxyEnqueueFull: unknown "
               "desc type|ncclRmaProxyPutDoneParams: descriptor is not a put-signal "
               "type|ncclRmaProxyPutGroupDoneParams: descriptor is not a put-signal-group "
               "type|ncclRmaProxyPutGroupStartParams: descriptor is not a put-signal-group "
               "type|ncclRmaProxyPutStartParams: descriptor is not a put-signal "
               "type|ncclRmaProxyWaitParams: descriptor is not a wait-signal type} {...}",
       .example = "ncclRmaProxyEnqueueDesc: unknown desc type 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Progress of one-sided operations (rma/*.cc).
struct RmaNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "rma_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "{text:NCCL_NUM_RMA_CTX=0, RMA disabled for this communicator}",
       .example = "NCCL_NUM_RMA_CTX=0, RMA disabled for this communicator"},
      {.text =
           "{:word} : {text:skipping sendbuff/recvbuff pointer check (one-sided RMA uses peerWin)}",
       .example =
           "ncclNetInit : skipping sendbuff/recvbuff pointer check (one-sided RMA uses peerWin)"},
      {.text = "{text:ncclRmaProxyPutLaunch enqueued Desc:|ncclRmaPutProxy enqueued "
               "Desc:|scheduleRmaTasksToPlan:} {...}",
       .example = "ncclRmaProxyPutLaunch enqueued Desc: rank=3 peer=3 ctx=3 size=3 signalMode=3 "
                  "readySeq=12 doneSeq=12 persistent=3"},
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

using RmaMessages = Kinds<RmaUnavailable, RmaStateInvalid, RmaNote>;

}  // namespace ncclog
