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
      {.text =
           "NET/IB/GIN: Got completion from peer {peer:word} with status={status} "
           "opcode={opcode:int} len={len} vendor err {vendor_err} ({operation}) {}hca {hca:word}",
       .example = "NET/IB/GIN: Got completion from peer 10.1.2.3<41822> with status=12 opcode=0 "
                  "len=0 vendor err 129 (GIN) hca mlx5_0",
       .quotable = true},
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
  static constexpr Wording kWordings[] = {
      {.text = "Call to {call:word} failed with error {error} errno {errno}",
       .example = "Call to ibv_query_port failed with error Operation not supported errno 95",
       .quotable = true},
      {.text = "Call to {call:word} failed with error {error...}",
       .example = "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
       .quotable = true},
      {.text = "Call to {call:word} failed",
       .example = "Call to ibv_create_qp failed",
       .quotable = true},
      {.text = "NET/MLX5: Call to {call:word} failed with error {error} errno {errno}",
       .example = "NET/MLX5: Call to mlx5dv_internal_get_data_direct_sysfs_path failed with error "
                  "No such device errno 19",
       .quotable = true},
      {.text = "NET/MLX5: Call to {call:word} failed with error {error...}",
       .example = "NET/MLX5: Call to mlx5dv_reg_dmabuf_mr failed with error Bad address",
       .quotable = true},
      {.text = "Call to {call:word} not supported",
       .example = "Call to ibv_query_ece not supported"},
      {.text = "Call to {call:word} skipped, {error...}",
       .example = "Call to ibv_query_ece skipped, internal_name doesn't exist"},
      {.text = "{call:ibv_post_send|ibv_post_recv}() failed with error {error}, Bad WR {...}",
       .example =
           "ibv_post_send() failed with error Invalid argument, Bad WR 0x7f21e0, First WR 0x7f21e0",
       .quotable = true},
      {.text = "{call:ibv_post_send|ibv_post_recv}() failed with error {error...}",
       .example = "ibv_post_recv() failed with error Invalid argument",
       .quotable = true},
      {.text = "Call to {call:ibv_poll_cq}() returned {errno}",
       .example = "Call to ibv_poll_cq() returned -1",
       .quotable = true},
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
  };
  static void each_field(auto& self, auto&& visit) {
    visit("errno", self.error_number);
    visit("error", self.error);
    visit("device", self.device);
    visit("attempt", self.attempt);
    visit("attempts", self.attempts);
  }
};

/// The NIC reports something about a port or itself (net_ib.cc). "port error" is a link that
/// went down.
struct IbAsyncEvent {
  std::string_view device;  ///< Empty up to 2.19.
  int port = -1;            ///< -1 up to 2.19.
  std::string_view event;   ///< "port error", "port active", "GID table change" …
  int code = -1;            ///< ibv_event_type; -1 if not printed.

  static constexpr std::string_view kKind = "ib_async_event";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : {device:word}:{port} Got non-fatal async event: {event}({code})",
       .example = "NET/IB : mlx5_0:1 Got non-fatal async event: port error(10)"},
      {.text = "NET/IB : {device:word}:{port} Got async error event: {event...}",
       .example = "NET/IB : mlx5_0:1 Got async error event: port error"},
      {.text = "NET/IB : {device:word}:{port} Got async event : {event...}",
       .example = "NET/IB : mlx5_0:1 Got async event : port error"},
      {.text = "NET/IB : Got async event : {event...}",
       .example = "NET/IB : Got async event : port error"},
      {.text = "NET/IB : {device:word}:{port} unknown event type ({code})",
       .example = "NET/IB : mlx5_0:1 unknown event type (31)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("device", self.device);
    visit("port", self.port);
    visit("event", self.event);
    visit("code", self.code);
  }
};

/// The NIC, a completion queue or a queue pair is broken (net_ib.cc, 2.23.4 and later).
struct IbFatalEvent {
  std::string_view device;
  int port = -1;
  std::string_view object;  ///< "CQ", "QP", "SRQ, unused for now"; empty if it is the device.
  std::string_view event;

  static constexpr std::string_view kKind = "ib_fatal_event";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : {device:word}:{port} async fatal event: {event...}",
       .example = "NET/IB : mlx5_0:1 async fatal event: device fatal",
       .quotable = true},
      {.text = "NET/IB : {device:word}:{port} async fatal event on {object} ({:hex}): {event...}",
       .example = "NET/IB : mlx5_0:1 async fatal event on QP (0x55d0c0de): local access violation",
       .quotable = true},
      {.text = "NET/IB : {device:word}:{port} async fatal event on {object:CQ|QP} ({:hex}) {}: "
               "{event...}",
       .example =
           "NET/IB : mlx5_0:1 async fatal event on CQ (0x55d0c0de) handle=3 cqe=4096: CQ error",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("device", self.device);
    visit("port", self.port);
    visit("object", self.object);
    visit("event", self.event);
  }
};

/// An operation found that its communicator's NIC is broken (net_ib.cc, 2.23.4 and later);
/// ib_fatal_event tells why.
struct FatalErrorSeen {
  std::string_view function;

  static constexpr std::string_view kKind = "fatal_error_seen";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "communicator encountered a fatal error (detected in {function:word})",
       .example = "communicator encountered a fatal error (detected in ncclIbTest)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("function", self.function); }
};

/// The addresses of a RoCE port changed while the job ran (net_ib/common.cc, 2.28.3 and later).
struct GidChanged {
  std::string_view device;
  int port = -1;

  static constexpr std::string_view kKind = "gid_changed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : {device:word}:{port} GID table changed",
       .example = "NET/IB : mlx5_0:1 GID table changed"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("device", self.device);
    visit("port", self.port);
  }
};

/// A port trained to another speed while the job ran (net_ib/common.cc, 2.30.7).
struct IbSpeedChanged {
  std::string_view device;
  int port = -1;
  int old_speed = -1;      ///< Mbit/s.
  std::string_view speed;  ///< Mbit/s.

  static constexpr std::string_view kKind = "ib_speed_changed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : {device:word}:{port} speed change detected: {old_speed} -> {speed} Mbps",
       .example = "NET/IB : mlx5_0:1 speed change detected: 400000 -> 200000 Mbps"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("device", self.device);
    visit("port", self.port);
    visit("old_speed", self.old_speed);
    visit("speed", self.speed);
  }
};

/// The two ends posted different sizes (net_ib.cc, up to 2.19): ranks disagree on a collective,
/// or have different settings.
struct IbCollectiveMismatch {
  std::string_view peer;  ///< Empty up to 2.9.
  int64_t local = -1;     ///< Bytes.
  int64_t remote = -1;    ///< Bytes.

  static constexpr std::string_view kKind = "ib_collective_mismatch";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : collective mismatch error local size {local} remote {remote} {...}",
       .example = "NET/IB : collective mismatch error local size 1048576 remote 4194304 addr "
                  "7f21e0000000 rkey 1a2b seq 3/3",
       .quotable = true},
      {.text = "NET/IB : peer {peer:word} collective mismatch error local size {local} remote "
               "{remote} {...}",
       .example = "NET/IB : peer 10.1.2.3<41822> collective mismatch error local size 1048576 "
                  "remote 4194304 addr 7f21e000 rkey 1a2b seq 3/3",
       .quotable = true},
      {.text = "NET/IB : req {:word} tag {:hex} peer {peer:word} collective mismatch error, local "
               "size {local} remote size {remote}",
       .example = "NET/IB : req 0/1 tag 1f peer 10.1.2.3<41822> collective mismatch error, local "
                  "size 1048576 remote size 4194304",
       .quotable = true},
      {.text = "NET/IB : req {:word} tag {:hex} peer {peer:word} collective mismatch error local "
               "size {local} remote {remote} {...}",
       .example = "NET/IB : req 0/1 tag 1f peer 10.1.2.3<41822> collective mismatch error local "
                  "size 1048576 remote 4194304 addr 7f21e000 rkey 1a2b",
       .quotable = true},
      {.text = "NET/IB : req {:word} tag {:hex} peer {peer:word} posted incorrect receive info: "
               "size {remote} addr {...}",
       .example = "NET/IB : req 0/1 tag 1f peer 10.1.2.3<41822> posted incorrect receive info: "
                  "size 4194304 addr 0 rkeys[0]=0",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("peer", self.peer);
    visit("local", self.local);
    visit("remote", self.remote);
  }
};

/// InfiniBand and RoCE ports were to be connected or fused (net_ib.cc, 2.20.3 and later).
struct IbDevicesIncompatible {
  std::string_view text;  ///< What was tried.

  static constexpr std::string_view kKind = "ib_devices_incompatible";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text =
           "NET/IB : {text:Attempted to connect|Attempted to merge} incompatible devices: {...}",
       .example = "NET/IB : Attempted to connect incompatible devices: [0]mlx5_0:1/IB and "
                  "[4]mlx5_4:1/RoCE. Try selecting NICs of only one link type using NCCL_IB_HCA",
       .quotable = true},
      {.text = "NET/IB : {text:Remote} {:word} device is incompatible with the local {...}",
       .example = "NET/IB : Remote RoCE device is incompatible with the local [0]mlx5_0:1/IB. Try "
                  "selecting NICs of only one link type using NCCL_IB_HCA",
       .quotable = true},
      {.text =
           "NET/IB : {text:Can't connect|Can't merge} net devices with different link_layer. {...}",
       .example = "NET/IB : Can't connect net devices with different link_layer. i=0 "
                  "remMeta.ndevs=1 link_layer=1 rem_link_layer=2",
       .quotable = true},
      {.text = "NET/IB : {text:Trying to merge} multiple devices together {...}",
       .example = "NET/IB : Trying to merge multiple devices together with different link_layer "
                  "properties mlx5_0 -> 1, mlx5_4 -> 2. Try only selecting NICs with one type of "
                  "link using NCCL_IB_HCA",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A queue pair's numbers and addresses (net_ib.cc, net_ib/connect.cc); subsystem NET.
struct IbQueuePair {
  std::string_view text;  ///< The rest of the line.

  static constexpr std::string_view kKind = "ib_queue_pair";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: Dev {:int} Port {text...}",
       .example = "NET/IB: Dev 0 Port 1 qpn 4711 mtu 5 GID 3 (0/0402010AFFFF0000)"},
      {.text = "NET/IB: IbDev {:int} Port {text...}",
       .example = "NET/IB: IbDev 0 Port 1 qpn 4711 set_ece={supported=1, vendor_id=0x15b3, "
                  "options=0x0, comp_mask=0x0}"},
      {.text = "NET/IB: {:NCCL Dev|Dev|NCCL MergedDev} {:int} IbDev {:int} Port {text...}",
       .example = "NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 4711 mtu 5 LID 12 subnet-prefix 65152  "
                  "FLID 0 fifoRkey=0x1a2b fifoLkey=0x1a2b"},
      {.text = "NET/IB: {:word}: {:NCCL Dev|Dev|NCCL MergedDev} {:int} IbDev {:int} Port {text...}",
       .example = "NET/IB: ncclIbConnect: NCCL Dev 0 IbDev 0 Port 1 qp_num 4711 mtu 5 GID 3 "
                  "(0/402010AFFFF0000) ctsFifoRkey=0x1a ctsFifoLkey=0x1a"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// NCCL's own advice behind a completion error or a refused queue pair (2.30.7). Several follow
/// each other; the first fits best.
struct IbHint {
  std::string_view text;

  static constexpr std::string_view kKind = "ib_hint";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "HINT: {text...}",
       .example = "HINT: In many cases this error occurs when NICs are not cross-rail connected."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using IbMessages = Kinds<IbCompletion, IbCqeError, IbCallFailed, IbModifyQpFailed, IbModifyQpRetry,
                         IbAsyncEvent, IbFatalEvent, FatalErrorSeen, GidChanged, IbSpeedChanged,
                         IbCollectiveMismatch, IbDevicesIncompatible, IbQueuePair, IbHint>;

}  // namespace ncclog
