// Port failover of the InfiniBand transport (NCCL_IB_RESILIENCY_PORT_FAILOVER=1, 2.29.7 and later).
//
//   NET/IB: Device 3 marked as failed. Initiating recovery? Yes (send comm=0x7f10a0,
//   outstandingRecovery=1)
//
// Up to 2.30.4 the function stands before the message.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A port is taken out of use (net_ib/p2p_resiliency.cc, 2.29.7 and later).
struct IbDeviceFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_device_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "A NIC port was taken out of use after an error, and traffic moves to the remaining ports. "
      "Look at the link of that device."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: {:word}: {text:Device} {:int} marked as failed. ({} comm={:hex})",
       .example = "NET/IB: mlx5_0: Device 3 marked as failed. (mlx5_0 comm=0x7f10a0)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Device} {:int} marked as failed. Initiating recovery? {} "
               "({} comm={:hex}, outstandingRecovery={:int})",
       .example = "NET/IB: mlx5_0: Device 3 marked as failed. Initiating recovery? mlx5_0 (mlx5_0 "
                  "comm=0x7f10a0, outstandingRecovery=3)",
       .quotable = true},
      {.text = "NET/IB: {text:Device} {:int} marked as failed. Initiating recovery? {} ({} "
               "comm={:hex}, outstandingRecovery={:int})",
       .example = "NET/IB: Device 3 marked as failed. Initiating recovery? mlx5_0 (mlx5_0 "
                  "comm=0x7f10a0, outstandingRecovery=3)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Port failover gives up (net_ib/p2p_resiliency.cc, 2.29.7 and later).
struct IbFailoverImpossible {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_failover_impossible";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Port failover cannot save this connection: no working device is left, probing gave up, or "
      "the error is of another sort. Look at the links of all NICs of this host."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: {:word}: {text:Could not find a functional device to post the probe for "
               "request|Could not find a replacement QP for the failed QP with|Fatal error. "
               "Detected|Maximum number of probing attempts|The error is fatal|Unsupported "
               "completion status} {...}",
       .example = "NET/IB: mlx5_0: Could not find a functional device to post the probe for "
                  "request 0x7f10a0 (id=3)",
       .quotable = true},
      {.text =
           "NET/IB: {text:Could not find a functional device to post the probe for request|Could "
           "not find a replacement QP for the failed QP with|Fatal error. Detected|Maximum number "
           "of probing attempts|The error is fatal|Unsupported completion status} {...}",
       .example = "NET/IB: Could not find a functional device to post the probe for request "
                  "0x7f10a0 (id=3)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Late or needless events of port failover (net_ib/p2p_resiliency.cc, 2.29.7 and later).
struct IbFailoverOdd {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_failover_odd";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Info, WarnOrigin::System,
      "Port failover met a late or unexpected event and skips it. It matters only together with a "
      "device that was marked as failed."};
  static constexpr Warning kOneDevice{WarnSeverity::Info, WarnOrigin::User,
                                      "Port failover is on although there is only one device, so "
                                      "there is nothing to fail over to."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: {:word}: {text:Resiliency context is NULL. Nothing to "
               "destroy.|Unrecognized request. It might be a CTS message for which the request was "
               "already completed. Continue.}",
       .example = "NET/IB: ncclIbTest: Resiliency context is NULL. Nothing to destroy.",
       .quotable = true},
      {.text =
           "NET/IB: {text:Resiliency context is NULL. Nothing to destroy.|Unrecognized request. It "
           "might be a CTS message for which the request was already completed. Continue.}",
       .example = "NET/IB: Resiliency context is NULL. Nothing to destroy.",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Cannot replace QP with|Encountered a stale CQE with error "
               "for|There are still} {...}",
       .example = "NET/IB: mlx5_0: Cannot replace QP with qpIndex=3 because the new QP (qpIndex=3, "
                  "devIndex=3) is not on a functional device (state=3)",
       .quotable = true},
      {.text = "NET/IB: {text:Cannot replace QP with|Encountered a stale CQE with error for|There "
               "are still} {...}",
       .example = "NET/IB: Cannot replace QP with qpIndex=3 because the new QP (qpIndex=3, "
                  "devIndex=3) is not on a functional device (state=3)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Resiliency is enabled on a} {...}",
       .example = "NET/IB: mlx5_0: Resiliency is enabled on a mlx5_0 communicator (comm=0x7f10a0) "
                  "with a single device. This does not make sense since there is no other device "
                  "to fail over to.",
       .quotable = true,
       .warning = kOneDevice},
      {.text = "NET/IB: {text:Resiliency is enabled on a} {...}",
       .example =
           "NET/IB: Resiliency is enabled on a mlx5_0 communicator (comm=0x7f10a0) with a single "
           "device. This does not make sense since there is no other device to fail over to.",
       .quotable = true,
       .warning = kOneDevice},
      {.text = "NET/IB: {:word}: {text:Resiliency requires pre-posted receive work requests. "
               "Enabling pre-posting.}",
       .example = "NET/IB: ncclIbTest: Resiliency requires pre-posted receive work requests. "
                  "Enabling pre-posting.",
       .quotable = true,
       .warning =
           {WarnSeverity::Info, WarnOrigin::User,
            "Port failover needs receives to be posted ahead of time, so NCCL turns that on."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The bookkeeping of port failover (net_ib/p2p_resiliency.cc, 2.29.7 and later).
struct IbFailoverBroken {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_failover_broken";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "The bookkeeping of port failover contradicts itself, so the operation fails. Look for the "
      "error that took the device out."};
  static constexpr Warning kTooManyMessages{
      WarnSeverity::Fatal, WarnOrigin::User,
      "NCCL_IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_SEQUENCE_SIZE asks for more messages than the "
      "recovery queue holds. Lower or unset it."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: {:word}: {text:Attempting to free a non-existent failed request|Attempting "
               "to initiate a failed request using a|Attempting to initiate a replay using an old "
               "request|Attempting to repost an unused request|Failed to allocate failure queue "
               "node|Failed to initialize a resiliency send request|Invalid wr_id|Unexpected "
               "GoToPrevState result in AliveMessages state for device|Unrecognized request "
               "type.|Unsupported type of request reposting} {...}",
       .example = "NET/IB: ncclIbTest: Attempting to free a non-existent failed request (slot=3).",
       .quotable = true},
      {.text = "NET/IB: {text:Attempting to free a non-existent failed request|Attempting to "
               "initiate a failed request using a|Attempting to initiate a replay using an old "
               "request|Attempting to repost an unused request|Failed to allocate failure queue "
               "node|Failed to initialize a resiliency send request|Invalid wr_id|Unexpected "
               "GoToPrevState result in AliveMessages state for device|Unrecognized request "
               "type.|Unsupported type of request reposting} {...}",
       .example = "NET/IB: Attempting to free a non-existent failed request (slot=3).",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Requested alive message batch size} {...}",
       .example =
           "NET/IB: mlx5_0: Requested alive message batch size 3 exceeds maximum supported 3",
       .quotable = true,
       .warning = kTooManyMessages},
      {.text = "NET/IB: {text:Requested alive message batch size} {...}",
       .example = "NET/IB: Requested alive message batch size 3 exceeds maximum supported 3",
       .quotable = true,
       .warning = kTooManyMessages},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A port was given up, replaced or brought back (net_ib/p2p_resiliency*.cc, 2.29.7 and later;
/// NCCL_IB_RESILIENCY_PORT_FAILOVER).
struct IbFailover {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_failover";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text =
           "NET/IB: {:word}: {text:Port recovery async thread exiting|Port recovery async thread "
           "stopped|Shutting down port recovery async thread|Starting port recovery async thread}",
       .example = "NET/IB: mlx5_0: Port recovery async thread exiting"},
      {.text = "NET/IB: {:word}: {text:ACK message timeout for device|ACK phase completed for "
               "device|Added device} {...}",
       .example = "NET/IB: mlx5_0: ACK message timeout for device 3 (mlx5_0 comm=0x7f10a0, "
                  "failedAttempts=3)"},
      {.text = "NET/IB: {:word}: {text:Alive message sequence timeout for device|Alive messages "
               "phase completed for device|All resiliency operations are completed for resiliency "
               "context|Attempting to initiate a replay protocol but the failed request was "
               "already handled|CQ size should be|Clearing events on send request|Close request "
               "completed for|Closing port recovery for resiliency context|Created port recovery "
               "CQ is enabled for resiliency context|Created probing CQ|Creating probing CQ on "
               "device|Deregistered probing results memory} {...}",
       .example = "NET/IB: ncclIbTest: Alive message sequence timeout for device 3 (mlx5_0 "
                  "comm=0x7f10a0, failedAttempts=3)"},
      {.text = "NET/IB: {:word}: {text:Destroyed port recovery CQ|Destroyed probing "
               "CQ|Destroying|Done handling failed send request|Drained|Failed to drain CQ and "
               "post recv WRs for device|Failed to handle|Failed to init Flush QP on device|Failed "
               "to init QP index|Failed to initialize recovery context for device|Failed to modify "
               "to RTR Flush QP on device|Failed to modify to RTR QP index} {...}",
       .example = "NET/IB: ncclIbTest: Destroyed port recovery CQ (cq=0x7f10a0) on device 3 for "
                  "resiliency context (comm=0x7f10a0)"},
      {.text = "NET/IB: {:word}: {text:Failed to modify to RTS Flush QP on device|Failed to modify "
               "to RTS QP index|Failed to poll CQ for device|Failed to poll recovery CQ|Failed to "
               "post ACK message for device|Failed to post ack for device|Failed to post ack "
               "message on device|Failed to post alive messages batch for device|Failed to post "
               "recv WQEs on QP index|Failed to post recv WR on recovery QP|Failed to reset Flush "
               "QP on device|Failed to reset QP index} {...}",
       .example = "NET/IB: ncclIbTest: Failed to modify to RTS Flush QP on device 3 "
                  "(comm=0x7f10a0, devIndex=3, qp_num=12)"},
      {.text = "NET/IB: {:word}: {text:Failed to set ECE for QP index|Failed to transition QPs to "
               "ERROR state for device|Got completion with error|Got probing completion|Handling "
               "an error on the receiver side (comm|Ignoring error on flush request|Ignoring flush "
               "error on a QP|Initializing resiliency context on devIndex|Marking device|Missing "
               "data from QP index|No need to add this failed request|Port recovery} {...}",
       .example = "NET/IB: ncclIbTest: Failed to set ECE for QP index 3 on device 3 "
                  "(comm=0x7f10a0, devIndex=3, qp_num=12)",
       .general = true},
      {.text = "NET/IB: {:word}: {text:Posting alive message batch for device|Posting "
               "probe|Posting receive work requests on the restored QP|Probe delay elapsed|Probing "
               "conclusion: All data was delivered for request|Receiver expected local completion "
               "of ACK message for device|Receiver failed to post recv WR on data QP for "
               "device|Receiver failed to post recv WR on recovery QP for device|Receiver failed "
               "to restore QPs on device|Receiver posting|Receiver received completion for "
               "device|Receiver received enough in-order alive messages for device} {...}",
       .example = "NET/IB: ncclIbTest: Posting alive message batch for device 3 (comm=0x7f10a0, "
                  "devIndex=3)"},
      {.text = "NET/IB: {:word}: {text:Receiver received final ACK message for device|Receiver "
               "received in-order alive message|Receiver received out-of-order alive "
               "message|Receiver's ACK message completed locally for device|Recovery for "
               "device|Recovery thread already stopped, skipping close|Recv to RTS done on probing "
               "QP|Registered probing results memory|Removing recovery context for "
               "device|Replacing QP:|Reposting CTS|Reposting send request} {...}",
       .example =
           "NET/IB: ncclIbTest: Receiver received final ACK message for device 3 (comm=0x7f10a0)"},
      {.text = "NET/IB: {:word}: {text:Resiliency context close for|Resiliency context was "
               "initialized on} {...}",
       .example = "NET/IB: ncclIbTest: Resiliency context was initialized on the send communicator "
                  "(comm=0x7f10a0)"},
      {.text = "NET/IB: {:word}: {text:Resiliency context} (comm={...}",
       .example = "NET/IB: ncclIbTest: Resiliency context (comm=0x7f10a0) is configured with 3 "
                  "recovery QPs"},
      {.text = "NET/IB: {:word}: {text:Resiliency is being enabled on a communicator|Resiliency is "
               "disabled on the|Restarting alive messages phase for device|Restored Flush QP on "
               "device|Restored QP|Restoring QP|Retransmitting|Send to RTS done on probing "
               "QP|Sender failed to post alive messages batch on device|Sender failed to post recv "
               "WR on recovery QP for device|Sender failed to restore QPs on device} {...}",
       .example =
           "NET/IB: mlx5_0: Resiliency is being enabled on a communicator (comm=0x7f10a0) with a "
           "single local device. In case of failure there will be no device to fail-over to."},
      {.text =
           "NET/IB: {:word}: {text:Sender marked that alive messages batch completed for "
           "device|Sender posting initial|Sender prepared alive message|Sender received an ACK "
           "message from the receiver for device|Sender received completion for device|Sender "
           "received unexpected message completion for device|Sender's alive messages batch "
           "completed locally for device|Sender's final ACK message completed locally for "
           "device|Set remote completion records info|Skipping retransmission on QP index|Starting "
           "port recovery for|The receiver side request that got an error is} {...}",
       .example = "NET/IB: ncclIbTest: Sender marked that alive messages batch completed for "
                  "device 3 (comm=0x7f10a0)"},
      {.text = "NET/IB: {:word}: {text:To RTS done on recovery QP|Tracking a new failed send "
               "request|Transitioning QP|Work completion error on recovery CQ} {...}",
       .example = "NET/IB: ncclIbTest: To RTS done on recovery QP (index=3, qp_num=12, "
                  "dest_qp_num=12, deviceIndex=3, comm=0x7f10a0)"},
      {.text = "NET/IB: {:word}: {text:Device} {:int} has been recovered for resiliency context "
               "({} comm={:hex}, outstandingRecovery={:int})",
       .example = "NET/IB: ncclIbTest: Device 3 has been recovered for resiliency context (mlx5_0 "
                  "comm=0x7f10a0, outstandingRecovery=3)"},
      {.text = "NET/IB: {:word}: {text:Device} {:int} was already marked as failed.",
       .example = "NET/IB: ncclIbTest: Device 3 was already marked as failed."},
      {.text = "NET/IB: {:word}: {text:Device} {:int} will not be attempted to be recovered any "
               "more ({} comm={:hex}, outstandingRecovery={:int}).",
       .example = "NET/IB: ncclIbTest: Device 3 will not be attempted to be recovered any more "
                  "(mlx5_0 comm=0x7f10a0, outstandingRecovery=3)."},
      {.text = "NET/IB: {:word}: {text:The error is not fatal}. {...}",
       .example =
           "NET/IB: ncclIbResiliencyHandleError: The error is not fatal. Trying to continue..."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using IbFailoverMessages =
    Kinds<IbDeviceFailed, IbFailoverImpossible, IbFailoverOdd, IbFailoverBroken, IbFailover>;

}  // namespace ncclog
