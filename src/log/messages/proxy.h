// The helper threads that drive the network for a rank.
//
//   [Proxy Service 3] Failed to execute operation Connect from rank 2, retcode 6
//
// "Proxy Service" WARNs sum up a failure whose cause was printed before them. [dev] of these lines
// is the thread's device, often 0.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A local rank asked its proxy for something that failed (proxy.cc, 2.12.7 and later).
struct ProxyCallFailed {
  std::string_view operation;  ///< "Init", "SharedInit", "Setup", "Connect", "Register" …
  int rank = -1;               ///< Who asked; -1 if not printed.
  int code = -1;               ///< ncclResult_t; -1 if not printed.

  static constexpr std::string_view kKind = "proxy_call_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::Symptom,
                                    "What a local rank asked of the proxy thread failed, and this "
                                    "line only sums up. The error before it is the cause."};
  static constexpr Wording kWordings[] = {
      {.text = "[Proxy Service {:int}] Failed to execute operation {operation:word} from rank "
               "{rank}, retcode {code}",
       .example = "[Proxy Service 3] Failed to execute operation Connect from rank 2, retcode 6",
       .quotable = true},
      {.text = "[Service thread] Error encountered progressing operation={operation:word}, "
               "res={code}, closing connection",
       .example = "[Service thread] Error encountered progressing operation=Connect, res=3, "
                  "closing connection",
       .quotable = true},
      {.text = "Proxy Call to rank {rank} failed ({operation})",
       .example = "Proxy Call to rank 3 failed (Connect)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("operation", self.operation);
    visit("rank", self.rank);
    visit("code", self.code);
  }
};

/// The proxy that was asked does not answer any more (proxy.cc, 2.17.1 and later).
struct ProxyPollFailed {
  Hex operation;  ///< Id of the request.

  static constexpr std::string_view kKind = "proxy_poll_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::Symptom,
                                    "The proxy thread that this rank asked does not answer any "
                                    "more. Look for the error that ended it."};
  static constexpr Wording kWordings[] = {
      {.text = "Socket recv failed while polling for opId={operation}",
       .example = "Socket recv failed while polling for opId=0x7f21e0001020",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("operation", self.operation); }
};

/// The connection to a rank of this host broke (proxy.cc, 2.12.7 and later): that rank died.
struct ProxyPeerLost {
  int local_rank = -1;

  static constexpr std::string_view kKind = "proxy_peer_lost";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::Symptom,
                                    "The connection to a rank of this host broke, so that rank "
                                    "died or was killed. Look at its log and exit status."};
  static constexpr Wording kWordings[] = {
      {.text = "[Service thread] Could not receive type from localRank {local_rank}, res={:int}, "
               "closed={:int}",
       .example = "[Service thread] Could not receive type from localRank 2, res=6, closed=0",
       .quotable = true},
      {.text = "[Service thread] Could not receive type from localRank {local_rank}",
       .example = "[Service thread] Could not receive type from localRank 2",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("local_rank", self.local_rank); }
};

/// A rank of this host ended its connection to the proxy (proxy.cc); normal at the end of a
/// job.
struct ProxyPeerClosed {
  int local_rank = -1;

  static constexpr std::string_view kKind = "proxy_peer_closed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Wording kWordings[] = {
      {.text = "[Service thread] Connection closed by localRank {local_rank}",
       .example = "[Service thread] Connection closed by localRank 2"},
  };
  static void each_field(auto& self, auto&& visit) { visit("local_rank", self.local_rank); }
};

/// A rank is connected to a proxy of its host (proxy.cc).
struct ProxyConnected {
  int local_rank = -1;
  Hex connection;

  static constexpr std::string_view kKind = "proxy_connected";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Wording kWordings[] = {
      {.text = "Connected to proxy {:localRank|tpRank} {local_rank} -> connection {connection}",
       .example = "Connected to proxy localRank 2 -> connection 0x7f4438004f40"},
      {.text = "Connection to proxy localRank {local_rank} -> connection {connection}",
       .example = "Connection to proxy localRank 2 -> connection 0x7f4438004f40"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("local_rank", self.local_rank);
    visit("connection", self.connection);
  }
};

/// The proxy keeps a new connection for a local rank (proxy.cc).
struct ProxyNewConnection {
  std::string_view direction;  ///< "send" or "recv".
  int connection = -1;         ///< Number in this proxy.
  int local_rank = -1;
  int transport = -1;  ///< 0 P2P, 1 SHM, 2 NET, 3 COLLNET, 4 PROFILER.

  static constexpr std::string_view kKind = "proxy_new_connection";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Wording kWordings[] = {
      {.text = "New proxy {direction:word} connection {connection} from local rank {local_rank}, "
               "transport {transport}",
       .example = "New proxy send connection 2 from local rank 2, transport 0"},
      {.text =
           "New proxy {direction:word} connection {connection} from {:word}, transport {transport}",
       .example = "New proxy send connection 2 from 10.1.2.3<41822>, transport 2"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("direction", self.direction);
    visit("connection", self.connection);
    visit("local_rank", self.local_rank);
    visit("transport", self.transport);
  }
};

/// A helper thread started, stopped or got its CPU core (proxy.cc).
struct ProxyThread {
  std::string_view thread;  ///< "Proxy Service", "Proxy Service UDS", "Proxy Progress".
  int dev = -1;             ///< CUDA device; -1 if not printed.
  int core = -1;            ///< CPU core; -1 if not printed.

  static constexpr std::string_view kKind = "proxy_thread";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text =
           "[{thread:Proxy Service|Proxy Service UDS|Proxy Progress}] Device {dev} CPU core {core}",
       .example = "[Proxy Service UDS] Device 0 CPU core 47"},
      {.text = "[{thread:Proxy Service|Proxy Service UDS|Proxy Progress}] {:Created|Set} CUDA "
               "context on device {dev}",
       .example = "[Proxy Service] Created CUDA context on device 3"},
      {.text = "[{thread:Proxy Service UDS}] exit: stop {:int} abortFlag {:int}",
       .example = "[Proxy Service UDS] exit: stop 1 abortFlag 0"},
      {.text = "proxy listening socket at {...}",
       .example = "proxy listening socket at 10.1.2.3<41822>"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("thread", self.thread);
    visit("dev", self.dev);
    visit("core", self.core);
  }
};

/// A request to the proxy on its way (proxy.cc, transport/net.cc). Bulk of the PROXY subsystem.
struct ProxyOperation {
  /// "Init", "Setup", "Connect", …; empty where only an id is printed.
  std::string_view operation;
  int result = -1;  ///< ncclResult_t, 7 is "in progress"; -1 if not printed.

  static constexpr std::string_view kKind = "proxy_operation";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Wording kWordings[] = {
      {.text = "Received and initiated operation={operation:word} res={result}",
       .example = "Received and initiated operation=Setup res=0"},
      {.text = "ncclPollProxyResponse {:Received new|Recieved new|Dequeued cached} opId={:hex}",
       .example = "ncclPollProxyResponse Received new opId=0x13af3590"},
      {.text = "{:resp.opId|recvOpId}={:hex} matches expected opId={:hex}",
       .example = "resp.opId=0x13af3590 matches expected opId=0x13af3590"},
      {.text = "{:Queuing|Queing} opId={...}",
       .example = "Queuing opId=0x13af3590 respBuff=0x13af35d0 respSize=128"},
      {.text = "proxyProgressAsync opId={:hex} op.type={:int} op.reqBuff={:hex} op.respSize={:int} "
               "done",
       .example = "proxyProgressAsync opId=0x13af3590 op.type=1 op.reqBuff=0x7f3f1c004f10 "
                  "op.respSize=16 done"},
      {.text = "proxyProgressAsync::{:proxyConnect|proxySetup}() opId={...}",
       .example = "proxyProgressAsync::proxySetup() opId=0x13af3590"},
      {.text = "{:recvConnect|sendConnect} {:ncclPollProxyResponse|ncclProxyCallAsync} opId={...}",
       .example = "sendConnect ncclPollProxyResponse opId=0x13af3590"},
      {.text = "proxyUDSRecvReq::{:ncclProxyMsgGetFd|proxyQueryFd} rank {...}",
       .example = "proxyUDSRecvReq::ncclProxyMsgGetFd rank 3 opId 0xd4a5bf343f14dc66 "
                  "handle=0x7f3f1c008c00"},
      {.text = "ProxyCall UDS comm {...}",
       .example = "ProxyCall UDS comm 0xbe0c370 rank 0 tpRank 1(607548a6f64f2a70) reqSize 8 "
                  "respSize 0 respFd 0x7ffc61439bf8 opId 0xc868b71400e90d90"},
      {.text = "UDS {:converted|proxyGetFd|proxyConvertFd} {...}",
       .example = "UDS converted handle 0x7fa808008c00 to fd 125 on remote peer 1"},
      {.text = "UDS: {:ClientGetFd|ClientQueryFd|ClientQueryFdBatch|Creating service "
               "thread|proxyConvertFd} {...}",
       .example = "UDS: ClientGetFd handle 0x7fa808008c00 tpRank 1 returned fd 125 sameProcess 0"},
      {.text = "proxyConnSharedInit received opId={:hex}",
       .example = "proxyConnSharedInit received opId=0x13af3590"},
      {.text = "proxyConnSharedInit::ncclSocketSend({...}",
       .example = "proxyConnSharedInit::ncclSocketSend(op.respSize=16)"},
      {.text = "proxyConnSetupConnect for peer->localRank {...}",
       .example = "proxyConnSetupConnect for peer->localRank 3,"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("operation", self.operation);
    visit("result", self.result);
  }
};

/// The CPU cores that helper threads may use (proxy.cc, 2.28.3 and later).
struct ProxyCpuset {
  std::string_view cores;

  static constexpr std::string_view kKind = "proxy_cpuset";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "NCCL_PROXY_CPUSET = {cores}: {...}", .example = "NCCL_PROXY_CPUSET = 0-7: 0-7"},
  };
  static void each_field(auto& self, auto&& visit) { visit("cores", self.cores); }
};

using ProxyMessages =
    Kinds<ProxyCallFailed, ProxyPollFailed, ProxyPeerLost, ProxyPeerClosed, ProxyConnected,
          ProxyNewConnection, ProxyThread, ProxyOperation, ProxyCpuset>;

}  // namespace ncclog
