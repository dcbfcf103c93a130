// The helper threads that drive the network: lost sockets, limits, broken bookkeeping, clean-up.
//
//   [Proxy Service] Poll failed: Bad file descriptor

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// An operation on a channel without connection (proxy.cc).
struct ProxyNoTransport {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "proxy_no_transport";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "A transfer was started on a channel that was never connected. Suspect different graphs on "
      "different hosts, or an earlier connection error."};
  static constexpr Wording kWordings[] = {
      {.text = "Rank {:int} has no transport for {text:word} peer {:int} on channel {}",
       .example = "Rank 3 has no transport for send peer 4 on channel 0/1",
       .quotable = true},
      {.text = "[{:int}] Error no transport for {text:word} peer {:int} on channel {}",
       .example = "[3] Error no transport for send peer 4 on channel 0",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A request ends because of an abort (proxy.cc, 2.17.1 and later).
struct ProxyAborted {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "proxy_aborted";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Symptom,
      "A request to the proxy thread was dropped because the communicator is being aborted. The "
      "error behind the abort came earlier."};
  static constexpr Wording kWordings[] = {
      {.text = "Comm {text:hex} is in abort state",
       .example = "Comm 0x7f10a0 is in abort state",
       .quotable = true},
      {.text = "{text:ncclProxyCallAsync}() - Saw abortFlag while waiting for proxyThread response",
       .example = "ncclProxyCallAsync() - Saw abortFlag while waiting for proxyThread response",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The sockets of the proxy thread (proxy.cc, 2.12.7 and later).
struct ProxyServiceFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "proxy_service_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The thread that serves the ranks of this host lost its sockets: poll, accept or the number "
      "of connections failed. Check descriptor limits and foreign connections."};
  static constexpr Wording kWordings[] = {
      {.text = "[Proxy Service] {text:Poll failed}: {...}",
       .example = "[Proxy Service] Poll failed: Bad file descriptor",
       .quotable = true},
      {.text = "[Proxy Service] {text:Poll failed} with error {:int}",
       .example = "[Proxy Service] Poll failed with error 9",
       .quotable = true},
      {.text = "[Proxy Service UDS] {text:Poll failed}: {...}",
       .example = "[Proxy Service UDS] Poll failed: Bad file descriptor",
       .quotable = true},
      {.text = "[Proxy Service] {text:WSAPoll failed}: error={:int}",
       .example = "[Proxy Service] WSAPoll failed: error=10022",
       .quotable = true},
      {.text = "[Proxy Service] {text:Get listenSock fd fails}",
       .example = "[Proxy Service] Get listenSock fd fails",
       .quotable = true},
      {.text = "[Proxy Service UDS] {text:Get listenSock fd fails}",
       .example = "[Proxy Service UDS] Get listenSock fd fails",
       .quotable = true},
      {.text = "[Proxy service] {text:Too many connections} ({:int} max)",
       .example = "[Proxy service] Too many connections (256 max)",
       .quotable = true},
      {.text = "[Service thread] {text:Accept failed} {...}",
       .example = "[Service thread] Accept failed mlx5_0",
       .quotable = true},
      {.text = "[Service thread] {text:Get|Initialize} peers[{:int}].sock {...}",
       .example = "[Service thread] Get peers[2].sock fd fails",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A helper thread and its GPU (proxy.cc).
struct ProxyDeviceFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "proxy_device_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "A helper thread cannot select its GPU, and transfers that need it will fail. Look for an "
      "earlier CUDA error or a removed device."};
  static constexpr Wording kWordings[] = {
      {.text = "[{}] {text:Failed to set CUDA "
               "device|Failed to set CUDA context on device} {...}",
       .example = "[Proxy Progress] Failed to set CUDA device 3",
       .quotable = true},
      {.text = "{text:Failed to set CUDA context on device|Failed to create CUDA context on "
               "device} {:int}",
       .example = "Failed to set CUDA context on device 3",
       .quotable = true},
      {.text = "{text:Unable to create thread context due to old driver}, disabling.",
       .example = "Unable to create thread context due to old driver, disabling.",
       .quotable = true,
       .warning = {WarnSeverity::Degraded, WarnOrigin::System,
                   "The driver is too old for CUDA contexts of helper threads, so NCCL goes "
                   "without them."}},
      {.text = "[{}] {text:Unable to create thread "
               "context due to old driver}, disabling cuda context.",
       .example = "[Proxy Progress] Unable to create thread context due to old driver, disabling "
                  "cuda context.",
       .warning = kNeverWarned},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A file descriptor through the proxy (proxy.cc, 2.18.1 and later).
struct ProxyDescriptorFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "proxy_descriptor_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A rank of this host could not pass a memory handle through the proxy's Unix socket. Read "
      "the UDS errors before it; test with NCCL_CUMEM_ENABLE=0."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:ncclProxyCallBlockingUDS|ncclProxyClientGetFd|ncclProxyClientQueryFdBlocking}"
               " call to {} failed : {...}",
       .example = "ncclProxyCallBlockingUDS call to tpRank 3(9c1b2f0a) failed : 1",
       .quotable = true},
      {.text = "{text:ncclProxyClientConvertFd} call to top parent rank {:int} failed",
       .example = "ncclProxyClientConvertFd call to top parent rank 3 failed",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The proxy's lists of operations (proxy.cc, transport/net.cc, transport/coll_net.cc).
struct ProxyBookkeepingFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "proxy_bookkeeping_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "The proxy thread's list of operations contradicts itself. Suspect memory corruption, "
      "different NCCL libraries on one host, or an earlier error."};
  static constexpr Wording kWordings[] = {
      {.text = "[Service thread] {text:Unknown command} {...}",
       .example = "[Service thread] Unknown command 99 from localRank 2",
       .quotable = true},
      {.text = "{text:ncclProxyConnect}: {} out of bounds {...}",
       .example = "ncclProxyConnect: tpRank 9 out of bounds [0, 8) for rank 3",
       .quotable = true},
      {.text = "{text:Proxy append mismatch|Proxy append on running operation|Proxy append out of "
               "bounds|Proxy append out of bound|Inactive op has next set!|P2p operation is "
               "neither send or recv|Attempting to dequeue null operation}",
       .example = "Proxy append mismatch",
       .quotable = true},
      {.text = "{text:Unable to post incomplete proxy op chain} {...}",
       .example = "Unable to post incomplete proxy op chain 3..7 (opCount 42)",
       .quotable = true},
      {.text = "{text:Active list loop|Free list loop|List loop} at element {...}",
       .example = "Active list loop at element 3",
       .quotable = true},
      {.text = "Element {text:int} of pool {:int} has been lost",
       .example = "Element 3 of pool 0 has been lost",
       .quotable = true},
      {.text = "{text:Could not find pool of op} {:hex}",
       .example = "Could not find pool of op 0x7f21e0001020",
       .quotable = true},
      {.text = "{text:Attempting to dequeue nonexistent async|Couldn't find|Mismatched response "
               "size for|Storing response for already completed} opId={:hex}",
       .example = "Attempting to dequeue nonexistent async opId=0x7f10a0",
       .quotable = true},
      {.text = "{text:Proxy response} for opId={:hex} doesn't match any expected response",
       .example = "Proxy response for opId=0x7f21e0001020 doesn't match any expected response",
       .quotable = true},
      {.text = "{text:Error freeing shared buffer} : freeing ptr {...}",
       .example = "Error freeing shared buffer : freeing ptr 0x7f21e000 size 4096 (start "
                  "0x7f21e000 slot size 4096 nslots 16)",
       .quotable = true},
      {.text = "{text:recvProxyConnect|sendProxyConnect}: {:reqSize|respSize} is {:int} != {:int}",
       .example = "recvProxyConnect: reqSize is 3 != 3",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "Ranks of one host disagree on the size of a connection record, so they run "
                   "different NCCL libraries. Load the same one everywhere."}},
      {.text = "{text:PXN should not use host buffers for data}",
       .example = "PXN should not use host buffers for data",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::Internal,
                   "A transfer through another rank's NIC was planned without GPU buffers, which "
                   "NCCL's own code rules out. Test with NCCL_PXN_DISABLE=1."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The proxy thread ends (proxy.cc, 2.12.7 and later).
struct ProxyCleanupFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "proxy_cleanup_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Proxy;
  static constexpr Warning kWarning{
      WarnSeverity::Info, WarnOrigin::Symptom,
      "The proxy thread could not release everything while it ended. It has no effect by itself."};
  static constexpr Wording kWordings[] = {
      {.text = "[Proxy Service] {text:proxyDestroy failed}",
       .example = "[Proxy Service] proxyDestroy failed",
       .quotable = true},
      {.text =
           "[Service thread] {text:shm close failed|shm unlink failed|proxy ops shm unlink failed}",
       .example = "[Service thread] shm close failed",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using ProxyFailedMessages =
    Kinds<ProxyNoTransport, ProxyAborted, ProxyServiceFailed, ProxyDeviceFailed,
          ProxyDescriptorFailed, ProxyBookkeepingFailed, ProxyCleanupFailed>;

}  // namespace ncclog
