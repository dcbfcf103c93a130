// InfiniBand and RoCE: what is rare or NCCL's own bookkeeping.
//
//   NET/IB: Device 1 marked as failed. Initiating recovery? Yes (send comm=0x7f10a0,
//   outstandingRecovery=1)
//
// Releases 2.29.7 to 2.30.4 put the function's name behind "NET/IB: ".

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A port was given up, replaced or brought back (net_ib/p2p_resiliency*.cc, 2.29.7 and later;
/// NCCL_IB_RESILIENCY_PORT_FAILOVER).
struct IbFailover {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_failover";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text =
           "NET/IB: {:word}: {text:Resiliency context is NULL. Nothing to destroy.|Unrecognized "
           "request. It might be a CTS message for which the request was already completed. "
           "Continue.|Port recovery async thread exiting|Port recovery async thread "
           "stopped|Shutting down port recovery async thread|Starting port recovery async thread}",
       .example = "NET/IB: ncclIbTest: Resiliency context is NULL. Nothing to destroy.",
       .quotable = true},
      {.text =
           "NET/IB: {text:Resiliency context is NULL. Nothing to destroy.|Unrecognized request. It "
           "might be a CTS message for which the request was already completed. Continue.}",
       .example = "NET/IB: Resiliency context is NULL. Nothing to destroy.",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Attempting to free a non-existent failed request|Attempting "
               "to initiate a failed request using a|Attempting to initiate a replay using an old "
               "request|Attempting to repost an unused request|Cannot replace QP with|Could not "
               "find a functional device to post the probe for request|Could not find a "
               "replacement QP for the failed QP with|Encountered a stale CQE with error "
               "for|Failed to allocate failure queue node|Failed to initialize a resiliency send "
               "request|Fatal error. Detected|Invalid wr_id} {...}",
       .example = "NET/IB: ncclIbTest: Attempting to free a non-existent failed request (slot=3).",
       .quotable = true},
      {.text =
           "NET/IB: {:word}: {text:Maximum number of probing attempts|Requested alive message "
           "batch size|Resiliency is enabled on a|The error is fatal|There are still|Unexpected "
           "GoToPrevState result in AliveMessages state for device|Unrecognized request "
           "type.|Unsupported completion status|Unsupported type of request reposting|ACK message "
           "timeout for device|ACK phase completed for device|Added device} {...}",
       .example = "NET/IB: ncclIbTest: Maximum number of probing attempts (3) reached for request "
                  "0x7f10a0 (id=3). Cannot post another probe.",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Alive message sequence timeout for device|Alive messages "
               "phase completed for device|All resiliency operations are completed for resiliency "
               "context|Attempting to initiate a replay protocol but the failed request was "
               "already handled|CQ size should be|Clearing events on send request|Close request "
               "completed for|Closing port recovery for resiliency context|Created port recovery "
               "CQ is enabled for resiliency context|Created probing CQ|Creating probing CQ on "
               "device|Deregistered probing results memory} {...}",
       .example = "NET/IB: ncclIbTest: Alive message sequence timeout for device 3 (mlx5_0 "
                  "comm=0x7f10a0, failedAttempts=3)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Destroyed port recovery CQ|Destroyed probing "
               "CQ|Destroying|Done handling failed send request|Drained|Failed to drain CQ and "
               "post recv WRs for device|Failed to handle|Failed to init Flush QP on device|Failed "
               "to init QP index|Failed to initialize recovery context for device|Failed to modify "
               "to RTR Flush QP on device|Failed to modify to RTR QP index} {...}",
       .example = "NET/IB: ncclIbTest: Destroyed port recovery CQ (cq=0x7f10a0) on device 3 for "
                  "resiliency context (comm=0x7f10a0)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Failed to modify to RTS Flush QP on device|Failed to modify "
               "to RTS QP index|Failed to poll CQ for device|Failed to poll recovery CQ|Failed to "
               "post ACK message for device|Failed to post ack for device|Failed to post ack "
               "message on device|Failed to post alive messages batch for device|Failed to post "
               "recv WQEs on QP index|Failed to post recv WR on recovery QP|Failed to reset Flush "
               "QP on device|Failed to reset QP index} {...}",
       .example = "NET/IB: ncclIbTest: Failed to modify to RTS Flush QP on device 3 "
                  "(comm=0x7f10a0, devIndex=3, qp_num=12)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Failed to set ECE for QP index|Failed to transition QPs to "
               "ERROR state for device|Got completion with error|Got probing completion|Handling "
               "an error on the receiver side (comm|Ignoring error on flush request|Ignoring flush "
               "error on a QP|Initializing resiliency context on devIndex|Marking device|Missing "
               "data from QP index|No need to add this failed request|Port recovery} {...}",
       .example = "NET/IB: ncclIbTest: Failed to set ECE for QP index 3 on device 3 "
                  "(comm=0x7f10a0, devIndex=3, qp_num=12)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Posting alive message batch for device|Posting "
               "probe|Posting receive work requests on the restored QP|Probe delay elapsed|Probing "
               "conclusion: All data was delivered for request|Receiver expected local completion "
               "of ACK message for device|Receiver failed to post recv WR on data QP for "
               "device|Receiver failed to post recv WR on recovery QP for device|Receiver failed "
               "to restore QPs on device|Receiver posting|Receiver received completion for "
               "device|Receiver received enough in-order alive messages for device} {...}",
       .example = "NET/IB: ncclIbTest: Posting alive message batch for device 3 (comm=0x7f10a0, "
                  "devIndex=3)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Receiver received final ACK message for device|Receiver "
               "received in-order alive message|Receiver received out-of-order alive "
               "message|Receiver's ACK message completed locally for device|Recovery for "
               "device|Recovery thread already stopped, skipping close|Recv to RTS done on probing "
               "QP|Registered probing results memory|Removing recovery context for "
               "device|Replacing QP:|Reposting CTS|Reposting send request} {...}",
       .example =
           "NET/IB: ncclIbTest: Receiver received final ACK message for device 3 (comm=0x7f10a0)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Resiliency context|Resiliency is being enabled on a "
               "communicator|Resiliency is disabled on the|Restarting alive messages phase for "
               "device|Restored Flush QP on device|Restored QP|Restoring QP|Retransmitting|Send to "
               "RTS done on probing QP|Sender failed to post alive messages batch on device|Sender "
               "failed to post recv WR on recovery QP for device|Sender failed to restore QPs on "
               "device} {...}",
       .example = "NET/IB: ncclIbTest: Resiliency context (comm=0x7f10a0) is configured with 3 "
                  "recovery QPs",
       .quotable = true,
       .general = true},
      {.text =
           "NET/IB: {:word}: {text:Sender marked that alive messages batch completed for "
           "device|Sender posting initial|Sender prepared alive message|Sender received an ACK "
           "message from the receiver for device|Sender received completion for device|Sender "
           "received unexpected message completion for device|Sender's alive messages batch "
           "completed locally for device|Sender's final ACK message completed locally for "
           "device|Set remote completion records info|Skipping retransmission on QP index|Starting "
           "port recovery for|The receiver side request that got an error is} {...}",
       .example = "NET/IB: ncclIbTest: Sender marked that alive messages batch completed for "
                  "device 3 (comm=0x7f10a0)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:To RTS done on recovery QP|Tracking a new failed send "
               "request|Transitioning QP|Work completion error on recovery CQ} {...}",
       .example = "NET/IB: ncclIbTest: To RTS done on recovery QP (index=3, qp_num=12, "
                  "dest_qp_num=12, deviceIndex=3, comm=0x7f10a0)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Device} {:int} marked as failed. ({} comm={:hex})",
       .example = "NET/IB: ncclIbTest: Device 3 marked as failed. (mlx5_0 comm=0x7f10a0)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Device} {:int} marked as failed. Initiating recovery? {} "
               "({} comm={:hex}, outstandingRecovery={:int})",
       .example = "NET/IB: ncclIbTest: Device 3 marked as failed. Initiating recovery? mlx5_0 "
                  "(mlx5_0 comm=0x7f10a0, outstandingRecovery=3)",
       .quotable = true},
      {.text = "NET/IB: {text:Attempting to free a non-existent failed request|Attempting to "
               "initiate a failed request using a|Attempting to initiate a replay using an old "
               "request|Attempting to repost an unused request|Cannot replace QP with|Could not "
               "find a functional device to post the probe for request|Could not find a "
               "replacement QP for the failed QP with|Encountered a stale CQE with error "
               "for|Failed to allocate failure queue node|Failed to initialize a resiliency send "
               "request|Fatal error. Detected|Invalid wr_id} {...}",
       .example = "NET/IB: Attempting to free a non-existent failed request (slot=3).",
       .quotable = true},
      {.text = "NET/IB: {text:Maximum number of probing attempts|Requested alive message batch "
               "size|Resiliency is enabled on a|The error is fatal|There are still|Unexpected "
               "GoToPrevState result in AliveMessages state for device|Unrecognized request "
               "type.|Unsupported completion status|Unsupported type of request reposting} {...}",
       .example = "NET/IB: Maximum number of probing attempts (3) reached for request 0x7f10a0 "
                  "(id=3). Cannot post another probe.",
       .quotable = true},
      {.text = "NET/IB: {text:Device} {:int} marked as failed. Initiating recovery? {} ({} "
               "comm={:hex}, outstandingRecovery={:int})",
       .example = "NET/IB: Device 3 marked as failed. Initiating recovery? mlx5_0 (mlx5_0 "
                  "comm=0x7f10a0, outstandingRecovery=3)",
       .quotable = true},
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

/// What else the InfiniBand transport says (net_ib/*.cc, net_ib.cc).
struct IbNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ib_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : {text:Can't make virtual NIC with 0 devices|unable to allocate "
               "requests|Failed to open mlx5dv symbols. Advance features like CX-8 Direct-NIC will "
               "be disabled.|Skipping makeVDevice, NCCL_IB_MERGE_NICS=0}",
       .example = "NET/IB : Can't make virtual NIC with 0 devices",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Resiliency requires pre-posted receive work requests. "
               "Enabling pre-posting.|OOO RQ is enabled, Overriding pre-posting to true "
               "(1).|Overriding pre-posting to true (1).}",
       .example = "NET/IB: ncclIbTest: Resiliency requires pre-posted receive work requests. "
                  "Enabling pre-posting.",
       .quotable = true},
      {.text =
           "NET/IB: {text:ncclIbIrecv() called when comm->base.ready == 0|ncclIbIrecv() called "
           "when comm->ready == 0|ncclIbIsend() called when comm->base.ready == 0|ncclIbIsend() "
           "called when comm->ready == 0|OOO RQ is enabled, AR threshold will be ignored.}",
       .example = "NET/IB: ncclIbIrecv() called when comm->base.ready == 0",
       .quotable = true},
      {.text = "{text:Detected a mix of single and multiple-port NICs. Force-disabling "
               "NCCL_IB_MERGE_NICS}",
       .example =
           "Detected a mix of single and multiple-port NICs. Force-disabling NCCL_IB_MERGE_NICS"},
      {.text = "{text:Cannot store sizes of|Listencomm in unknown state} {...}",
       .example = "Cannot store sizes of 3 requests in a 32-bits field"},
      {.text = "NET/IB : {text:Cannot allocate any more virtual devices|Cannot use physical "
               "device|Local mergedDev|Requested properties for GIN GDAKI NIC|Requested properties "
               "for vNic|Trying to use non-existant virtual device|Trying to use non-existent "
               "virtual device|Invalid NCCL_NET_FORCE_MERGE specified|There "
               "are mismatched physical devices between local} {...}",
       .example = "NET/IB : Cannot allocate any more virtual devices (3)",
       .quotable = true},
      {.text = "NET/IB : {text:Local} mergedDev={} has a different number of devices={:int} as "
               "remoteDev={} nRemDevs={:int}",
       .example = "NET/IB : Local mergedDev=mlx5_0 has a different number of devices=3 as "
                  "remoteDev=mlx5_0 nRemDevs=3",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Invalid request index|No format specified for|OOO RQ is "
               "force enabled but AR is not enabled, which is required for OOO RQ|OOO RQ is force "
               "enabled but not supported on both sides of the connection|OOO RQ is force enabled "
               "but size|Receiver expected a 'recv' request but got|Sender expected a 'send' "
               "request but got|Unknown completion|mlx5dv_create_qp failed to create QP:|Flush QP "
               "created:|IbDev|Overriding matching scheme to ID-based} {...}",
       .example = "NET/IB: ncclIbTest: Invalid request index 3. Not in the range [3, 3). Cannot "
                  "retrieve request.",
       .quotable = true},
      {.text = "NET/IB: {:word}: {text:Pre-posting|QP created:|Receive work requests will "
               "be|Receiver got a completion for a CTS but retrieved an 'unused' request|Receiver "
               "got a completion for a data transfer but retrieved an 'unused' request|Set ECE: "
               "IbDev|Skipping retransmission on QP index} {...}",
       .example = "NET/IB: ncclIbTest: Pre-posting 3 Receive WQEs on QP (qp_num=3, comm=0x7f10a0)",
       .quotable = true},
      {.text =
           "NET/IB: {text:Error in mlx5dv_get_data_direct_sysfs_path with device|Invalid request "
           "index|Ip address|No format specified for|OOO RQ is force enabled but AR is not "
           "enabled, which is required for OOO RQ|OOO RQ is force enabled but not supported on "
           "both sides of the connection|OOO RQ is force enabled but size|Receiver expected a "
           "'recv' request but got|Sender expected a 'send' request but got|Unknown "
           "completion|could not find mr|mlx5dv_create_qp failed to create QP:} {...}",
       .example = "NET/IB: Error in mlx5dv_get_data_direct_sysfs_path with device mlx5_0",
       .quotable = true},
      {.text = "NET/IB: {text:open failed in ncclIbRoceGetVersionNum:|read failed in "
               "ncclIbRoceGetVersionNum:|wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM and|Subnet-aware "
               "routing: overriding dev} {...}",
       .example = "NET/IB: open failed in ncclIbRoceGetVersionNum: mlx5_0",
       .quotable = true},
      {.text = "NET/IB: {text:sendReq}({:hex})->events={...}",
       .example = "NET/IB: sendReq(0x7f10a0)->events={0,0,0,-1}, devIndex=0, reqIdx=0 <= 0",
       .quotable = true},
      {.text = "NET/IB: {:word} comm {text:could not retreive a request} {...}",
       .example = "NET/IB: send comm could not retreive a request found for a successful "
                  "completion (comm=0x7f10a0, wc.wr_id=3, opcode=0, qp_num=12)",
       .quotable = true},
      {.text = "NET/IB: {:word}: {:word} comm {text:could not retreive a request} {...}",
       .example = "NET/IB: ncclIbTest: send comm could not retreive a request found for a "
                  "successful completion (comm=0x7f10a0, wc.wr_id=3, opcode=0, qp_num=12)",
       .quotable = true},
      {.text = "NET/IB: NCCL_IB_SUBNET_PREFIX_LEN={:int} {text:is out of range} [1,32]",
       .example = "NET/IB: NCCL_IB_SUBNET_PREFIX_LEN=40 is out of range [1,32]",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Entry points of the RDMA libraries that are missing, or GDRCopy (misc/ibvsymbols.cc,
/// misc/mlx5dvsymbols.cc, misc/gdrwrap.cc). A missing mlx5dv symbol is normal with old
/// libraries.
struct RdmaLibraryNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "rdma_library_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "{text:GDRCOPY lib wrapper not initialized.|NET/MLX5: lib wrapper not "
               "initialized.|gdr_pin_buffer_v2 not available; GDRCopy >= 2.5 required|lib wrapper "
               "not initialized.}",
       .example = "GDRCOPY lib wrapper not initialized."},
      {.text = "{text:GDRCOPY failure|dlsym failed on|dlvsym failed on|gdr_close() "
               "failed:|gdr_get_info(handle|gdr_pin_buffer_v2(addr|gdr_unpin_buffer(handle|"
               "ncclOsDlsym failed on|GDRCOPY enabled library} {...}",
       .example = "GDRCOPY failure 3"},
      {.text = "{text:gdr_copy_from_mapping(handle} {:hex}, h_ptr {:hex}, map_d_ptr {:hex}, size "
               "{:int}) failed: {:int}",
       .example = "gdr_copy_from_mapping(handle 1a2b, h_ptr 0x7f10a0, map_d_ptr 0x7f10a0, size 12) "
                  "failed: 3"},
      {.text = "{text:gdr_copy_to_mapping(handle} {:hex}, map_d_ptr {:hex}, h_ptr {:hex}, size "
               "{:int}) failed: {:int}",
       .example = "gdr_copy_to_mapping(handle 1a2b, map_d_ptr 0x7f10a0, h_ptr 0x7f10a0, size 12) "
                  "failed: 3"},
      {.text = "{text:gdr_map(handle} {:hex}, size {:int}) failed: {:int}",
       .example = "gdr_map(handle 1a2b, size 12) failed: 3"},
      {.text = "{text:gdr_pin_buffer(addr} {:hex}, size {:int}) failed: {:int}",
       .example = "gdr_pin_buffer(addr 1a2b, size 12) failed: 3"},
      {.text = "{text:gdr_unmap(handle} {:hex}, va {:hex}, size {:int}) failed: {:int}",
       .example = "gdr_unmap(handle 1a2b, va 0x7f10a0, size 12) failed: 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using IbNoteMessages = Kinds<IbFailover, IbNote, RdmaLibraryNote>;

}  // namespace ncclog
