// InfiniBand and RoCE: completions with errors, refused verbs calls, ports that go down.
//
//   NET/IB: Got completion from peer 10.1.2.3<41822> with status=IBV_WC_RETRY_EXC_ERR(12)
//   opcode=IBV_WC_RDMA_WRITE(1) vendor_err=129 localGid ::ffff:10.1.2.4 remoteGids::ffff:10.1.2.3
//   hca mlx5_0
//
// Statuses are ibv_wc_status: 4 local protection, 5 flushed (follows another error), 10 remote
// access, 12 retries exceeded (peer unreachable or dead), 13 receiver not ready.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A work request ended with an error (net_ib.cc, net_ib/p2p.cc).
struct IbCompletion {
  std::string_view peer;         ///< Out-of-band address "10.1.2.3<41822>"; empty up to 2.9.
  int status = -1;               ///< ibv_wc_status.
  std::string_view status_name;  ///< From 2.28.7 on; else empty.
  /// Number or, from 2.28.7 on, name. Garbage for statuses other than success, by the verbs
  /// specification.
  std::string_view opcode;
  int64_t len = -1;             ///< Bytes, meaningless with an error; -1 if not printed.
  int vendor_err = -1;          ///< The NIC's own code.
  std::string_view operation;   ///< "Send", "Recv", "Flush", …; empty up to 2.17.
  std::string_view local_gid;   ///< RoCE, from 2.18.1 on; else empty.
  std::string_view remote_gid;  ///< RoCE, from 2.18.1 on, may begin with a blank; else empty.
  std::string_view hca;         ///< "mlx5_0", from 2.22.3 on; else empty.

  static constexpr std::string_view kKind = "ib_completion";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A transfer over InfiniBand or RoCE failed. Status 12 means the peer is unreachable or dead, "
      "13 not ready, 5 follows another error, 4 and 10 point to memory registration."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : Got completion with error {status}, opcode {opcode:int}, len {len}, "
               "vendor err {vendor_err}",
       .example = "NET/IB : Got completion with error 12, opcode 1, len 32600, vendor err 129",
       .quotable = true},
      {.text = "NET/IB : Got completion from peer {peer:word} with error {status}, opcode "
               "{opcode:int}, len {len}, vendor err {vendor_err}",
       .example = "NET/IB : Got completion from peer 10.1.2.3<41822> with error 12, opcode 0, len "
                  "0, vendor err 129",
       .quotable = true},
      {.text = "NET/IB : Got completion from peer {peer:word} with error {status}, opcode "
               "{opcode:int}, len {len}, vendor err {vendor_err} ({operation})",
       .example = "NET/IB : Got completion from peer 10.1.2.3<41822> with error 4, opcode 32676, "
                  "len 32676, vendor err 81 (Send)",
       .quotable = true},
      {.text = "NET/IB : Got completion from peer {peer:word} with error {status}, opcode "
               "{opcode:int}, len {len}, vendor err {vendor_err} ({operation}) localGid "
               "{local_gid:word} remoteGids {remote_gid:word}",
       .example = "NET/IB : Got completion from peer 10.1.2.3<41822> with error 12, opcode 0, len "
                  "0, vendor err 129 (Send) localGid ::ffff:10.1.2.4 remoteGids ::ffff:10.1.2.3",
       .quotable = true},
      {.text = "NET/IB : Got completion from peer {peer:word} with error {status}, opcode "
               "{opcode:int}, len {len}, vendor err {vendor_err} ({operation}) localGid "
               "{local_gid:word} remoteGids{remote_gid:word}",
       .example = "NET/IB : Got completion from peer 10.1.2.3<41822> with error 12, opcode 0, len "
                  "0, vendor err 129 (Send) localGid ::ffff:10.1.2.4 remoteGids::ffff:10.1.2.3",
       .quotable = true},
      {.text = "NET/IB : Got completion from peer {peer:word} with status={status} "
               "opcode={opcode:int} len={len} vendor err {vendor_err} ({operation})",
       .example = "NET/IB : Got completion from peer 10.1.2.3<41822> with status=12 opcode=0 len=0 "
                  "vendor err 129 (Send)",
       .quotable = true},
      {.text = "NET/IB : Got completion from peer {peer:word} with status={status} "
               "opcode={opcode:int} len={len} vendor err {vendor_err} ({operation}) localGid "
               "{local_gid:word} remoteGids{remote_gid}",
       .example = "NET/IB : Got completion from peer 10.1.2.3<41822> with status=12 opcode=0 len=0 "
                  "vendor err 129 (Send) localGid ::ffff:10.1.2.4 remoteGids::ffff:10.1.2.3",
       .quotable = true},
      {.text = "NET/IB: Got completion from peer {peer:word} with status={status} "
               "opcode={opcode:int} len={len} vendor err {vendor_err} ({operation}) hca {hca:word}",
       .example = "NET/IB: Got completion from peer 10.1.2.3<41822> with status=12 opcode=0 len=0 "
                  "vendor err 129 (Send) hca mlx5_0",
       .quotable = true},
      {.text = "NET/IB: Got completion from peer {peer:word} with status={status} "
               "opcode={opcode:int} len={len} vendor err {vendor_err} ({operation}) localGid "
               "{local_gid:word} remoteGids{remote_gid} hca {hca:word}",
       .example =
           "NET/IB: Got completion from peer 10.1.2.3<41822> with status=12 opcode=0 len=0 vendor "
           "err 129 (Send) localGid ::ffff:10.1.2.4 remoteGids::ffff:10.1.2.3 hca mlx5_0",
       .quotable = true},
      // 2.28.7 and 2.28.9.
      {.text = "NET/IB: Got completion from peer {peer:word} with "
               "status={status_name:word}({status}) opcode={opcode:word}({:int}) reqSize={len} "
               "vendor_err={vendor_err} req_type={operation:word} hca {hca:word}",
       .example =
           "NET/IB: Got completion from peer 10.1.2.3<41822> with status=IBV_WC_RETRY_EXC_ERR(12) "
           "opcode=IBV_WC_SEND(0) reqSize=0 vendor_err=129 req_type=Send hca mlx5_0",
       .quotable = true},
      {.text = "NET/IB: Got completion from peer {peer:word} with "
               "status={status_name:word}({status}) opcode={opcode:word}({:int}) reqSize={len} "
               "vendor_err={vendor_err} req_type={operation:word} localGid {local_gid:word} "
               "remoteGids{remote_gid} hca {hca:word}",
       .example = "NET/IB: Got completion from peer 10.1.2.3<41822> with "
                  "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) reqSize=0 vendor_err=129 "
                  "req_type=Send localGid ::ffff:10.1.2.4 remoteGids::ffff:10.1.2.3 hca mlx5_0",
       .quotable = true},
      // 2.29.2 and later.
      {.text =
           "NET/IB: Got completion from peer {peer:word} with status={status_name:word}({status}) "
           "opcode={opcode:word}({:int}) vendor_err={vendor_err}  hca {hca:word}",
       .example =
           "NET/IB: Got completion from peer 10.1.2.3<41822> with status=IBV_WC_RETRY_EXC_ERR(12) "
           "opcode=IBV_WC_SEND(0) vendor_err=129  hca mlx5_0",
       .quotable = true},
      {.text =
           "NET/IB: Got completion from peer {peer:word} with status={status_name:word}({status}) "
           "opcode={opcode:word}({:int}) vendor_err={vendor_err} hca {hca:word}",
       .example = "NET/IB: Got completion from peer 10.1.2.3<41822> with "
                  "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129 hca mlx5_0",
       .quotable = true},
      {.text =
           "NET/IB: Got completion from peer {peer:word} with status={status_name:word}({status}) "
           "opcode={opcode:word}({:int}) vendor_err={vendor_err} {}localGid {local_gid:word} "
           "remoteGids{remote_gid} hca {hca:word}",
       .example = "NET/IB: Got completion from peer 10.1.2.3<41822> with "
                  "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129  localGid "
                  "::ffff:10.1.2.4 remoteGids::ffff:10.1.2.3 hca mlx5_0",
       .quotable = true},
      {.text =
           "NET/IB: Got completion from peer {peer:word} with status={status_name:word}({status}) "
           "opcode={opcode:word}({:int}) vendor_err={vendor_err} {operation:word} hca {hca:word}",
       .example =
           "NET/IB: Got completion from peer 10.1.2.3<41822> with status=IBV_WC_RETRY_EXC_ERR(12) "
           "opcode=IBV_WC_SEND(0) vendor_err=129 mlx5 hca mlx5_0",
       .quotable = true},
      {.text = "NET/IB/GIN: Got completion from peer {peer:word} with status={status} "
               "opcode={opcode:int} len={len} vendor err {vendor_err} ({operation}) hca {hca:word}",
       .example = "NET/IB/GIN: Got completion from peer 10.1.2.3<41822> with status=12 opcode=0 "
                  "len=0 vendor err 129 (GIN) hca mlx5_0",
       .quotable = true},
      {.text = "NET/IB/GIN: Got completion from peer {peer:word} with status={status} "
               "opcode={opcode:int} len={len} vendor err {vendor_err} ({operation}) localGid "
               "{local_gid:word} remoteGids{remote_gid} hca {hca:word}",
       .example =
           "NET/IB/GIN: Got completion from peer 10.1.2.3<41822> with status=12 opcode=0 len=0 "
           "vendor err 129 (GIN) localGid ::ffff:10.1.2.4 remoteGids::ffff:10.1.2.3 hca mlx5_0",
       .quotable = true},
      // Cut at NCCL's buffer size.
      {.text = "NET/IB : Got completion from peer {peer:word} with error {status}, opcode "
               "{opcode:int}, len {len}, vendor err {vendor_err} ({operation}){...}",
       .example = "NET/IB : Got completion from peer 10.1.2.3<41822> with error 12, opcode 0, len "
                  "0, vendor err 129 (Send) localGid ::ffff:10.1",
       .quotable = true,
       .general = true},
      {.text = "NET/IB : Got completion from peer {peer:word} with status={status} "
               "opcode={opcode:int} len={len} vendor err {vendor_err} ({operation}){...}",
       .example = "NET/IB : Got completion from peer 10.1.2.3<41822> with status=12 opcode=0 len=0 "
                  "vendor err 129 (Send) localGid ::ffff:10.1",
       .quotable = true,
       .general = true},
      {.text = "NET/IB: Got completion from peer {peer:word} with status={status} "
               "opcode={opcode:int} len={len} vendor err {vendor_err} ({operation}){...}",
       .example = "NET/IB: Got completion from peer 10.1.2.3<41822> with status=12 opcode=0 len=0 "
                  "vendor err 129 (Send) localGid ::ffff:10.1",
       .quotable = true,
       .general = true},
      {.text = "NET/IB/GIN: Got completion from peer {peer:word} with status={status} "
               "opcode={opcode:int} len={len} vendor err {vendor_err} ({operation}){...}",
       .example = "NET/IB/GIN: Got completion from peer 10.1.2.3<41822> with status=12 opcode=0 "
                  "len=0 vendor err 129 (GIN) localGid ::ffff:10.1",
       .quotable = true,
       .general = true},
      // Cut by a page or a collector: the status stands first.
      {.text = "NET/IB : Got completion from peer {peer:word} with error {status}, opcode "
               "{opcode:int}, len {len}, {...}",
       .example = "NET/IB : Got completion from peer 10.1.2.3<41822> with error 12, opcode 0, len "
                  "0, vend",
       .quotable = true,
       .general = true},
      {.text = "NET/IB: Got completion from peer {peer:word} with status={status} "
               "opcode={opcode:int} len={len} {...}",
       .example = "NET/IB: Got completion from peer 10.1.2.3<41822> with status=12 opcode=0 len=0 "
                  "vendor e",
       .quotable = true,
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("peer", self.peer);
    visit("status", self.status);
    visit("status_name", self.status_name);
    visit("opcode", self.opcode);
    visit("len", self.len);
    visit("vendor_err", self.vendor_err);
    visit("operation", self.operation);
    visit("local_gid", self.local_gid);
    visit("remote_gid", self.remote_gid);
    visit("hca", self.hca);
  }
};

/// Which request a completion error belongs to (net_ib/p2p.cc, 2.29.7 and later); ib_completion
/// follows.
struct IbCqeError {
  int device_index = -1;
  int qp = -1;

  static constexpr std::string_view kKind = "ib_cqe_error";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::Symptom,
                                    "Names the request that the completion error belongs to. The "
                                    "line about that completion has status and peer."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: {}Got CQE with error (devIndex={device_index}, req={:hex}, comm={:hex} "
               "({}), wr_id={:int}, qp_num={qp})",
       .example = "NET/IB: Got CQE with error (devIndex=0, req=0x7f21e0, comm=0x7f10a0 (send), "
                  "wr_id=3, qp_num=4711)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("device_index", self.device_index);
    visit("qp", self.qp);
  }
};

/// A verbs call failed (misc/ibvwrap.cc). ibv_reg_mr with "Cannot allocate memory" is the
/// memlock limit; the message is also printed for probes that are allowed to fail. From 2.24.3
/// on ibv_modify_qp has a kind of its own, ib_modify_qp_failed.
struct IbCallFailed {
  std::string_view call;   ///< "ibv_reg_mr_iova2".
  std::string_view error;  ///< Empty in old releases.
  int error_number = -1;   ///< -1 if not printed.

  static constexpr std::string_view kKind = "ib_call_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A call to the RDMA library failed; the text names it and the reason. Check rdma-core, "
      "/dev/infiniband in the container and the state of the device."};
  static constexpr Warning kNotConnected{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A queue pair did not change its state, so the connection failed. A time-out means that the "
      "NICs do not reach each other, an invalid argument a wrong GID index or MTU."};
  static constexpr Warning kNotRegistered{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Memory could not be registered with the NIC. No memory means the memlock limit (ulimit -l); "
      "a bad address or argument means no way to GPU memory, or an IOMMU."};
  static constexpr Warning kNoDmabuf{
      WarnSeverity::Degraded, WarnOrigin::System,
      "GPU memory could not be registered through DMA-BUF, and NCCL may fall back. It needs kernel "
      "5.12 and the open GPU driver; test with NCCL_DMABUF_ENABLE=0."};
  static constexpr Warning kNoRoom{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The NIC or its driver refused another queue or protection domain. Most often too little "
      "memory may be locked (ulimit -l); else there are too many connections for the NIC."};
  static constexpr Warning kQueueBroken{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "Work was given to a queue that is broken already. Look for the completion error before it."};
  static constexpr Wording kWordings[] = {
      {.text = "Call to {call:ibv_modify_qp} failed with error {error} errno {errno}",
       .example = "Call to ibv_modify_qp failed with error Connection timed out errno 110",
       .quotable = true,
       .warning = kNotConnected},
      {.text = "Call to {call:ibv_modify_qp} failed with error {error...}",
       .example = "Call to ibv_modify_qp failed with error Connection timed out",
       .quotable = true,
       .general = true,
       .warning = kNotConnected},
      {.text = "Call to {call:ibv_reg_mr|ibv_reg_mr_iova2} failed with error {error...}",
       .example = "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
       .quotable = true,
       .warning = kNotRegistered},
      {.text = "Call to {call:ibv_reg_mr|ibv_reg_mr_iova2} failed",
       .example = "Call to ibv_reg_mr failed",
       .quotable = true,
       .warning = kNotRegistered},
      {.text = "Call to {call:ibv_reg_dmabuf_mr|mlx5dv_reg_dmabuf_mr} failed with error {error...}",
       .example = "Call to ibv_reg_dmabuf_mr failed with error Bad address",
       .quotable = true,
       .warning = kNoDmabuf},
      {.text = "NET/MLX5: Call to {call:mlx5dv_reg_dmabuf_mr} failed with error {error...}",
       .example = "NET/MLX5: Call to mlx5dv_reg_dmabuf_mr failed with error Bad address",
       .quotable = true,
       .warning = kNoDmabuf},
      {.text =
           "Call to {call:ibv_alloc_pd|ibv_create_cq|ibv_create_qp} failed with error {error...}",
       .example = "Call to ibv_create_qp failed with error Cannot allocate memory",
       .quotable = true,
       .warning = kNoRoom},
      {.text = "Call to {call:ibv_alloc_pd|ibv_create_cq|ibv_create_qp} failed",
       .example = "Call to ibv_create_qp failed",
       .quotable = true,
       .warning = kNoRoom},
      {.text = "Call to {call:word} failed with error {error} errno {errno}",
       .example = "Call to ibv_query_port failed with error Operation not supported errno 95",
       .quotable = true,
       .general = true},
      {.text = "Call to {call:word} failed with error {error...}",
       .example = "Call to ibv_query_gid failed with error Invalid argument",
       .quotable = true,
       .general = true},
      {.text = "Call to {call:word} failed",
       .example = "Call to ibv_open_device failed",
       .quotable = true,
       .general = true},
      {.text = "NET/MLX5: Call to {call:word} failed with error {error} errno {errno}",
       .example = "NET/MLX5: Call to mlx5dv_internal_get_data_direct_sysfs_path failed with error "
                  "No such device errno 19",
       .quotable = true},
      {.text = "NET/MLX5: Call to {call:word} failed with error {error...}",
       .example = "NET/MLX5: Call to mlx5dv_query_device failed with error Operation not supported",
       .quotable = true,
       .general = true},
      {.text = "Call to {call:word} not supported",
       .example = "Call to ibv_query_ece not supported",
       .warning = kNeverWarned},
      {.text = "Call to {call:word} skipped, {error...}",
       .example = "Call to ibv_query_ece skipped, internal_name doesn't exist",
       .warning = kNeverWarned},
      {.text = "{call:ibv_post_send|ibv_post_recv}() failed with error {error}, Bad WR {...}",
       .example =
           "ibv_post_send() failed with error Invalid argument, Bad WR 0x7f21e0, First WR 0x7f21e0",
       .quotable = true,
       .warning = kQueueBroken},
      {.text = "{call:ibv_post_send|ibv_post_recv}() failed with error {error...}",
       .example = "ibv_post_recv() failed with error Invalid argument",
       .quotable = true,
       .general = true,
       .warning = kQueueBroken},
      {.text = "Call to {call:ibv_poll_cq}() returned {errno}",
       .example = "Call to ibv_poll_cq() returned -1",
       .quotable = true,
       .warning = kQueueBroken},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("call", self.call);
    visit("error", self.error);
    visit("errno", self.error_number);
  }
};

/// The two NICs of a connection cannot reach each other (misc/ibvwrap.cc, 2.24.3 and later):
/// 110 rails not connected or wrong GID, 22 wrong GID index or a mix of InfiniBand and RoCE.
struct IbModifyQpFailed {
  int error_number = -1;
  std::string_view error;
  std::string_view device;
  int port = -1;
  std::string_view state;       ///< State of the queue pair, "INIT".
  std::string_view next_state;  ///< "RTR" or "RTS".
  int gid_index = -1;           ///< -1 if not printed.
  std::string_view local_gid;   ///< Empty if not printed.
  std::string_view remote_gid;  ///< Empty if not printed.

  static constexpr std::string_view kKind = "ib_modify_qp_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The NICs of two ranks cannot be connected. 110 means they do not reach each other (rails, "
      "GID, VLAN, link), 22 a wrong GID index or MTU, or InfiniBand mixed with RoCE."};
  static constexpr Wording kWordings[] = {
      {.text = "Call to ibv_modify_qp failed with {errno} {error}, on dev {device:word}:{port}, "
               "curr state {state:word}, next state {next_state:word}, local GID index "
               "{gid_index}, local GID {local_gid:word}, remote GID {remote_gid:word}",
       .example = "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, "
                  "curr state INIT, next state RTR, local GID index 3, local GID ::ffff:10.1.2.4, "
                  "remote GID ::ffff:10.1.2.3",
       .quotable = true},
      {.text = "Call to ibv_modify_qp failed with {errno} {error}, on dev {device:word}:{port}, "
               "curr state {state:word}, next state {next_state:word}",
       .example = "Call to ibv_modify_qp failed with 22 Invalid argument, on dev mlx5_0:1, curr "
                  "state INIT, next state RTR",
       .quotable = true},
      {.text = "Call to ibv_modify_qp failed with {errno} {error}, {device:word}",
       .example = "Call to ibv_modify_qp failed with 22 Invalid argument, mlx5_0",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("errno", self.error_number);
    visit("error", self.error);
    visit("device", self.device);
    visit("port", self.port);
    visit("state", self.state);
    visit("next_state", self.next_state);
    visit("gid_index", self.gid_index);
    visit("local_gid", self.local_gid);
    visit("remote_gid", self.remote_gid);
  }
};

/// A refused change of a queue pair's state is tried again (misc/ibvwrap.cc, 2.24.3 and later).
struct IbModifyQpRetry {
  int error_number = -1;
  std::string_view error;
  std::string_view device;
  int attempt = -1;
  int attempts = -1;

  static constexpr std::string_view kKind = "ib_modify_qp_retry";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "Call to ibv_modify_qp failed with {errno} {error}, on dev {device:word}, {}, "
               "retrying {attempt}/{attempts} after {:int} msec of sleep",
       .example = "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, "
                  "curr state INIT, next state RTR, retrying 1/20 after 100 msec of sleep"},
      {.text = "Call to ibv_modify_qp failed with {errno} {error}, {}, retrying "
               "{attempt}/{attempts} after {:int} msec of sleep",
       .example = "Call to ibv_modify_qp failed with 110 Connection timed out, mlx5_0, retrying "
                  "1/20 after 100 msec of sleep",
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("errno", self.error_number);
    visit("error", self.error);
    visit("device", self.device);
    visit("attempt", self.attempt);
    visit("attempts", self.attempts);
  }
};

using IbMessages = Kinds<IbCompletion, IbCqeError, IbCallFailed, IbModifyQpFailed, IbModifyQpRetry>;

}  // namespace ncclog
