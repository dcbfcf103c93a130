// Device-initiated networking (GIN, 2.28 and later): a GPU starts transfers by itself.
//
//   Unable to use GIN: Peermem is not supported, and device 3 does not support DMA-BUF.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Device-initiated networking is wanted and not there (gin/gin_host.cc, dev_runtime.cc).
struct GinUnavailable {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "gin_unavailable";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The program needs device-initiated networking, but it is off or no NIC of some rank offers "
      "it. Check NCCL_GIN_ENABLE, NCCL_GIN_TYPE, the plugin and the NICs."};
  static constexpr Wording kWordings[] = {
      {.text =
           "{text:GIN Proxy: RMA backend not found|GIN is disabled.|GIN not supported.|GIN-capable "
           "device type mismatch.|No GIN-capable devices found.|No network devices that support "
           "GDAKI found|User requested GIN but not all ranks in the communicator support GIN}",
       .example = "GIN Proxy: RMA backend not found"},
      {.text = "{text:IB device} {} not found", .example = "IB device mlx5_0 not found"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A program asks for more than device-initiated networking gives (dev_runtime.cc,
/// gin/gin_host.cc).
struct GinRequestInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "gin_request_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "The program asks for more of device-initiated networking than this communicator or its "
      "plugin gives. Compare its requirements with what the text names."};
  static constexpr Wording kWordings[] = {
      {.text =
           "{text:Cannot create worldGinBarrier with NCCL_GIN_CONNECTION_RAIL.|GIN VA signals are "
           "required, but the GIN plugin does not support them.|GIN strong signals are required, "
           "but the GIN plugin does not support them.|NCCL_GIN_COUNTER_POOL_SIZE has invalid "
           "value.|NCCL_GIN_SIGNAL_POOL_SIZE has invalid value.|User requested GIN connection type "
           "NCCL_GIN_CONNECTION_FULL but the communicator is already connected with "
           "NCCL_GIN_CONNECTION_RAIL|User requested GIN connection type NCCL_GIN_CONNECTION_FULL "
           "but the communicator supports only NCCL_GIN_CONNECTION_RAIL|User requested GIN "
           "resources but did not request GIN to be enabled!}",
       .example = "Cannot create worldGinBarrier with NCCL_GIN_CONNECTION_RAIL."},
      {.text = "{text:No shared contexts are available|Requested number of exclusive GIN contexts} "
               "{...}",
       .example = "No shared contexts are available (3 requested) as all have been allocated for "
                  "exclusive use. Use NCCL_GIN_NCONTEXTS to increase the limit"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// What a GIN plugin cannot do (plugin/gin/*.cc).
struct GinPluginLimited {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "gin_plugin_limited";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The GIN plugin cannot do what was asked of it, such as several contexts, GET, FLUSH or a "
      "queue depth. Use a newer plugin."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:GIN plugin does not support FLUSH|GIN plugin does not support GET|GIN plugin "
               "v11 does not support multiple connections|GIN plugin v11 does not support multiple "
               "contexts|GIN plugin v11 does not support specifying queue depth|GIN plugin v12 "
               "does not support multiple connections|GIN plugin v12 does not support multiple "
               "contexts|GIN_IB_PROXY does not support specifying qp depth}",
       .example = "GIN plugin does not support FLUSH"},
      {.text = "{text:GIN plugin} {} returned invalid context for connection {...}",
       .example = "GIN plugin ours returned invalid context for connection 0: ginCtx=0x7f10a0 "
                  "devHandle=(nil) handle=(nil)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Memory that the GPU-driven network cannot reach (gin/*.cc, dev_runtime.cc).
struct GinMemoryRefused {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "gin_memory_refused";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Reg;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "GPU memory cannot be registered for device-initiated networking. Load nvidia-peermem or "
      "enable DMA-BUF; the memlock limit and the IOMMU matter too."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Window registration of addresses that contain CPU-backed physical segments "
               "is currently not supported with GIN.|Window registration of addresses that span "
               "multiple physical segments requires DMABUF support with GIN.}",
       .example = "Window registration of addresses that contain CPU-backed physical segments is "
                  "currently not supported with GIN."},
      {.text = "{text:Unable to use GIN: Peermem is not supported, and device} {...}",
       .example =
           "Unable to use GIN: Peermem is not supported, and device 3 does not support DMA-BUF."},
      {.text = "rank {:int} - {text:GIN Symmetric register failed: buff} {...}",
       .example = "rank 3 - GIN Symmetric register failed: buff 0x7f10a0, size 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A transfer that a GPU started failed (init.cc, gin/gin_host_gdaki.cc).
struct GinFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "gin_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A transfer that the GPU started failed and is reported as a remote error. Look for a "
      "completion error before it, at the NIC's link and at the peer."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:GIN Error detected}", .example = "GIN Error detected"},
      {.text = "{text:GIN Error on gin context} {...}", .example = "GIN Error on gin context 3"},
      {.text = "{text:DOCA Error|DOCA failure} {...}",
       .example = "DOCA Error 3",
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "NVIDIA's DOCA library refused to set up GPU-driven networking. Check the NIC's "
                   "firmware and the GPUNetIO installation."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Checks of device-initiated networking (gin/*.cc).
struct GinStateInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "gin_state_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "Device-initiated networking found a state or version that its own code rules out. Check "
      "that plugin and NCCL fit together, and look for earlier errors."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Dev comm not found|Not enough space to get elements}",
       .example = "Dev comm not found"},
      {.text = "{text:Cannot get backend version for invalid GIN type|Cannot get gin type: ncclGin "
               "is not null but net device type|Error on GFD test|Invalid GIN gdaki backend "
               "version|Invalid GIN proxy backend version|RMA: trying to send to non-connected "
               "peer|Rma Proxy create context: invalid rank stride|ncclGinIbProxyIPutSignal: "
               "Unsupported signalOp|ncclRmaIbProxyIPutSignal: Unsupported signalOp} {...}",
       .example = "Cannot get backend version for invalid GIN type 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// How device-initiated networking is set up (gin/*.cc).
struct GinNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "gin_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "{text:ginForceEnable is being deprecated in favor of explicitly setting "
               "ginConnectionType!|ginForceEnable set to true, defaulting ginConnectionType to "
               "NCCL_GIN_CONNECTION_FULL|NCCL_GIN_COUNTER_POOL_SIZE has an invalid "
               "value|NCCL_GIN_SIGNAL_POOL_SIZE has an invalid value|GIN Proxy will not be using "
               "GDRCopy|Unable to use GIN: Peermem is not supported, nor DMA-BUF.}",
       .example =
           "ginForceEnable is being deprecated in favor of explicitly setting ginConnectionType!"},
      {.text = "{text:Compute Capability|devCommCreate: creating|Capping the number of GIN "
               "contexts to|Initialized a devComm with} {...}",
       .example =
           "Compute Capability (3) is not sufficient to enable GIN.  Require Volta (70) or newer."},
      {.text = "{text:NET_IB: no support for GIN type|Failed to get DMA-BUF handle for address "
               "range with type PCIE,|Failed to register memory with DMA-BUF and data "
               "direct,|Failed to register memory with DMA-BUF,|NCCL_GIN_PLUGIN list contains a "
               "plugin name|NCCL_GIN_PLUGIN list contains more than|NCCL_NET_PLUGIN list contains "
               "a plugin name|NCCL_NET_PLUGIN list contains more than|NCCL_RMA_PLUGIN list "
               "contains a plugin name|NCCL_RMA_PLUGIN list contains more than} {...}",
       .example = "NET_IB: no support for GIN type 3"},
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

using GinMessages = Kinds<GinUnavailable, GinRequestInvalid, GinPluginLimited, GinMemoryRefused,
                          GinFailed, GinStateInvalid, GinNote>;

}  // namespace ncclog
