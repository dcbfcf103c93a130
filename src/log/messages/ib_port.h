// What NICs and ports do while a job runs, and devices that do not fit together.
//
//   NET/IB : mlx5_0:1 Got async error event: port error
//
// "port error" is a link that went down, "port active" the same link back. Traffic may fail later.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

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
  static constexpr Warning kWarning{
      WarnSeverity::Info, WarnOrigin::System,
      "The NIC reports an event of a port. A port error is a link that went down, and traffic over "
      "it may fail later: check cable and switch."};
  static constexpr Warning kBroken{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A queue of an RDMA connection or the NIC itself broke, and transfers on it fail. An access "
      "violation is a wrong key, or memory that is no longer there."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : {device:word}:{port} Got non-fatal async event: {event}({code})",
       .example = "NET/IB : mlx5_0:1 Got non-fatal async event: port error(10)"},
      {.text = "NET/IB : {device:word}:{port} Got async error event: {event...}",
       .example = "NET/IB : mlx5_0:1 Got async error event: port error"},
      {.text = "NET/IB : {device:word}:{port} Got async event : {event:local access violation work "
               "queue error|local work queue catastrophic error|invalid request local work queue "
               "error|CQ error|SRQ catastrophic error|local catastrophic error}",
       .example = "NET/IB : mlx5_0:1 Got async event : local access violation work queue error",
       .quotable = true,
       .warning = kBroken},
      {.text = "NET/IB : Got async event : {event:local access violation work queue error|local "
               "work queue catastrophic error|invalid request local work queue error|CQ error|SRQ "
               "catastrophic error|local catastrophic error}",
       .example = "NET/IB : Got async event : local work queue catastrophic error",
       .quotable = true,
       .warning = kBroken},
      {.text = "NET/IB : {device:word}:{port} Got async event : {event...}",
       .example = "NET/IB : mlx5_0:1 Got async event : port error",
       .general = true},
      {.text = "NET/IB : Got async event : {event...}",
       .example = "NET/IB : Got async event : port error",
       .general = true},
      {.text = "NET/IB : {device:word}:{port} unknown event type ({code})",
       .example = "NET/IB : mlx5_0:1 unknown event type (31)",
       .warning = {WarnSeverity::Info, WarnOrigin::System,
                   "The NIC reports an event that this NCCL does not know."}},
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
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A NIC, completion queue or queue pair broke, and its communicators are marked as failed. "
      "Look at firmware and PCI errors; an access error is a wrong key or a freed buffer."};
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
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::Symptom,
                                    "An operation found that its communicator is marked as broken. "
                                    "The asynchronous NIC event printed before says why."};
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
  static constexpr Warning kWarning{
      WarnSeverity::Info, WarnOrigin::System,
      "The addresses of a RoCE port changed while the job ran, as through DHCP, bonding or a "
      "reconfigured interface. Connections made before may fail."};
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
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The two ends posted different sizes for one message: ranks call different collectives, "
      "counts or types, or run with different NCCL_ALGO or NCCL_PROTO."};
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
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "A peer's receive request holds a null address or key, or a negative size. "
                   "Ranks disagree on a collective, or memory was overwritten."}},
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
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::System,
                                    "InfiniBand and RoCE ports were to be joined in one connection "
                                    "or fused NIC. Select one kind with NCCL_IB_HCA."};
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

/// A queue pair's numbers and addresses (net_ib.cc, net_ib/connect.cc; subsystem NET). One line
/// each for the local and the remote end, which look alike.
struct IbQueuePair {
  std::string_view device;  ///< "NCCL Dev 0", "NCCL MergedDev 8"; empty up to 2.19.
  int ib_device = -1;
  int port = -1;
  int qp = -1;
  int mtu = -1;          ///< ibv_mtu: 5 is 4096 bytes.
  int lid = -1;          ///< InfiniBand; -1 for RoCE.
  int gid_index = -1;    ///< RoCE; -1 for InfiniBand.
  std::string_view gid;  ///< "subnet/interface", two hexadecimal numbers as in memory.
  std::string_view ece;  ///< Enhanced connection establishment, as printed; empty if not.

  static constexpr std::string_view kKind = "ib_queue_pair";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: Dev {ib_device} Port {port} qpn {qp} mtu {mtu} LID {lid}",
       .example = "NET/IB: Dev 0 Port 1 qpn 4711 mtu 5 LID 12"},
      {.text = "NET/IB: Dev {ib_device} Port {port} qpn {qp} mtu {mtu} GID {gid_index} ({gid})",
       .example = "NET/IB: Dev 0 Port 1 qpn 4711 mtu 5 GID 3 (80FE/402010AFFFF0000)"},
      {.text = "NET/IB: Dev {ib_device} Port {port} qpn {qp} mtu {mtu} query_ece={ece} GID "
               "{gid_index} ({gid})",
       .example = "NET/IB: Dev 0 Port 1 qpn 4711 mtu 5 query_ece={supported=1, vendor_id=0x15b3, "
                  "options=0x0, comp_mask=0x0} GID 3 (80FE/402010AFFFF0000)"},
      {.text =
           "NET/IB: {:Dev|IbDev} {ib_device} Port {port} qpn {qp} {:set_ece|query_ece}={ece...}",
       .example = "NET/IB: IbDev 0 Port 1 qpn 4711 set_ece={supported=1, vendor_id=0x15b3, "
                  "options=0x0, comp_mask=0x0}"},
      {.text = "NET/IB: {:word}: {device} IbDev {ib_device} Port {port} qp_num {qp} mtu {mtu} LID "
               "{lid} {...}",
       .example = "NET/IB: ncclIbConnect: NCCL Dev 0 IbDev 0 Port 1 qp_num 4711 mtu 5 LID 12 "
                  "subnet-prefix 65152  FLID 0 ctsFifoRkey=0x1a2b ctsFifoLkey=0x1a2b"},
      {.text = "NET/IB: {:word}: {device} IbDev {ib_device} Port {port} qp_num {qp} mtu {mtu} GID "
               "{gid_index} ({gid}) {...}",
       .example = "NET/IB: ncclIbConnect: NCCL Dev 0 IbDev 0 Port 1 qp_num 4711 mtu 5 GID 3 "
                  "(80FE/402010AFFFF0000) ctsFifoRkey=0x1a ctsFifoLkey=0x1a"},
      // 2.20.3 to 2.29.3.
      {.text = "NET/IB: {device} IbDev {ib_device} Port {port} qpn {qp} mtu {mtu} LID {lid} {...}",
       .example = "NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 4711 mtu 5 LID 12 subnet-prefix 65152  "
                  "FLID 0 fifoRkey=0x1a2b fifoLkey=0x1a2b"},
      {.text = "NET/IB: {device} IbDev {ib_device} Port {port} qpn {qp} mtu {mtu} GID {gid_index} "
               "({gid}) {...}",
       .example = "NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 4711 mtu 5 GID 3 (80FE/402010AFFFF0000) "
                  "fifoRkey=0x1a2b fifoLkey=0x1a2b"},
      {.text = "NET/IB: {device} IbDev {ib_device} Port {port} qpn {qp} mtu {mtu} query_ece={ece} "
               "GID {gid_index} ({gid}) {...}",
       .example = "NET/IB: NCCL Dev 0 IbDev 0 Port 1 qpn 4711 mtu 5 query_ece={supported=0, "
                  "vendor_id=0x0, options=0x0, comp_mask=0x0} GID 3 (80FE/402010AFFFF0000) "
                  "fifoRkey=0x1a2b fifoLkey=0x1a2b"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("device", self.device);
    visit("ib_device", self.ib_device);
    visit("port", self.port);
    visit("qp", self.qp);
    visit("mtu", self.mtu);
    visit("lid", self.lid);
    visit("gid_index", self.gid_index);
    visit("gid", self.gid);
    visit("ece", self.ece);
  }
};

/// Ports were fused into one device, one by one or with NCCL_NET_FORCE_MERGE (net_ib.cc, 2.24.3 and
/// later).
struct IbVirtualDevice {
  int index = -1;
  std::string_view name;  ///< "mlx5_1+mlx5_2".
  int speed = -1;         ///< Mbit/s.
  int devices = -1;       ///< Ports in it.
  int rail = -1;          ///< -1 up to 2.30.4.
  int plane = -1;         ///< -1 up to 2.30.4.

  static constexpr std::string_view kKind = "ib_virtual_device";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text =
           "NET/IB : Made virtual device [{index}] name={name:word} speed={speed} ndevs={devices}",
       .example = "NET/IB : Made virtual device [8] name=mlx5_1+mlx5_2 speed=800000 ndevs=2"},
      {.text = "NET/IB : Made virtual device [{index}] name={name:word} speed={speed} "
               "ndevs={devices} rail={rail} plane={plane}",
       .example = "NET/IB : Made virtual device [8] name=mlx5_1+mlx5_2 speed=800000 ndevs=2 rail=0 "
                  "plane=1"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("index", self.index);
    visit("name", self.name);
    visit("speed", self.speed);
    visit("devices", self.devices);
    visit("rail", self.rail);
    visit("plane", self.plane);
  }
};

/// The NIC reaches GPU memory past the CPU (net_ib.cc, 2.27.3 and later).
struct IbDataDirect {
  std::string_view device;

  static constexpr std::string_view kKind = "ib_data_direct";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: Data Direct DMA Interface is detected for device {device...}",
       .example = "NET/IB: Data Direct DMA Interface is detected for device mlx5_0"},
      // 2.27.6 and 2.27.7.
      {.text = "NET/IB: Data Direct DMA Interface is detected for device:{device...}",
       .example = "NET/IB: Data Direct DMA Interface is detected for device:mlx5_0"},
      // 2.27.3 and 2.27.5.
      {.text = "Data Direct DMA Interface is detected for device:{device...}",
       .example = "Data Direct DMA Interface is detected for device:mlx5_0"},
  };
  static void each_field(auto& self, auto&& visit) { visit("device", self.device); }
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

using IbPortMessages = Kinds<IbAsyncEvent, IbFatalEvent, FatalErrorSeen, GidChanged, IbSpeedChanged,
                             IbCollectiveMismatch, IbDevicesIncompatible, IbQueuePair,
                             IbVirtualDevice, IbDataDirect, IbHint>;

}  // namespace ncclog
