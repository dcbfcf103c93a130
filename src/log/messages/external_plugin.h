// What network plugins that do not come with NCCL print through its logger.
//
//   NET/OFI Selected provider is efa, fabric is efa (found 32 nics)
//   NET/FastSocket plugin initialized
//
// aws-ofi-nccl passes its function as the source file, so its WARNs have blanks there. It also sets
// NCCL's variables itself: a setting that NCCL reports need not be the user's.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Which versions the plugin for Libfabric runs with.
struct OfiVersion {
  std::string_view part;     ///< "aws-ofi-nccl", "Libfabric" or "CUDA driver".
  std::string_view version;  ///< "1.7.4aws", "1.22", "12040".
  std::string_view runtime;  ///< CUDA runtime, "12020"; else empty.

  static constexpr std::string_view kKind = "ofi_version";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "NET/OFI {:Using|Initializing} {part:aws-ofi-nccl} {version:word}",
       .example = "NET/OFI Initializing aws-ofi-nccl 1.9.1"},
      {.text = "NET/OFI Using {part:Libfabric} version {version:word}",
       .example = "NET/OFI Using Libfabric version 1.22"},
      {.text = "NET/OFI Using {part:CUDA driver} version {version:word}",
       .example = "NET/OFI Using CUDA driver version 12040"},
      {.text =
           "NET/OFI Using {part:CUDA driver} version {version:word} with runtime {runtime:word}",
       .example = "NET/OFI Using CUDA driver version 12040 with runtime 12020"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("part", self.part);
    visit("version", self.version);
    visit("runtime", self.runtime);
  }
};

/// The Libfabric provider that was found.
struct OfiProvider {
  std::string_view provider;  ///< "efa".
  std::string_view fabric;    ///< Empty up to 1.13.
  int nics = -1;

  static constexpr std::string_view kKind = "ofi_provider";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/OFI Selected Provider is {provider:word} (found {nics} nics)",
       .example = "NET/OFI Selected Provider is efa (found 4 nics)"},
      {.text =
           "NET/OFI Selected provider is {provider}, fabric is {fabric:word} (found {nics} nics)",
       .example = "NET/OFI Selected provider is efa, fabric is efa (found 32 nics)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("provider", self.provider);
    visit("fabric", self.fabric);
    visit("nics", self.nics);
  }
};

/// What the plugin for Libfabric decided.
struct OfiNote {
  std::string_view text;

  static constexpr std::string_view kKind = "ofi_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "NET/OFI {text:Configuring AWS-specific options}",
       .example = "NET/OFI Configuring AWS-specific options"},
      {.text = "NET/OFI {text:Setting provider_filter} to {...}",
       .example = "NET/OFI Setting provider_filter to efa"},
      {.text = "NET/OFI Running on {text:word} platform, {...}",
       .example = "NET/OFI Running on p5.48xlarge platform, Setting NCCL_TOPO_FILE environment "
                  "variable to /opt/aws-ofi-nccl/share/p5.48xl-topo.xml"},
      {.text = "NET/OFI {text:Using transport protocol} {:SENDRECV|RDMA} ({:platform|user} set)",
       .example = "NET/OFI Using transport protocol RDMA (platform set)"},
      {.text = "NET/OFI {text:Using transport protocol} {:SENDRECV|RDMA}",
       .example = "NET/OFI Using transport protocol SENDRECV"},
      {.text = "NET/OFI {text:Created device} with {:int} rails",
       .example = "NET/OFI Created device with 4 rails"},
      {.text = "NET/OFI {text:Support for global registrations|Support for DMA-BUF registrations}: "
               "{:true|false}",
       .example = "NET/OFI Support for DMA-BUF registrations: true"},
      {.text = "NET/OFI {text:Internode latency} set at {:word} us",
       .example = "NET/OFI Internode latency set at 75.0 us"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// How Google's FastSocket plugin is set up.
struct FastSocketNote {
  std::string_view text;

  static constexpr std::string_view kKind = "fastsocket_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/FastSocket {text:plugin initialized|disabled}",
       .example = "NET/FastSocket plugin initialized"},
      {.text = "NET/FastSocket : {text:Tx CPU start|Rx CPU start|queue skip}: {:int}",
       .example = "NET/FastSocket : Tx CPU start: -2"},
      {.text = "NET/FastSocket : {text:Flow placement} {:enabled|disabled}.",
       .example = "NET/FastSocket : Flow placement enabled."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Why the plugin for Libfabric stepped aside: it found no provider that it can use. NCCL then goes
/// on with its own networks (aws-ofi-nccl: nccl_ofi_net.cpp, nccl_ofi_rdma.cpp; ofi_init up
/// to 1.4).
struct OfiUnavailable {
  std::string_view text;
  std::string_view error;  ///< Libfabric's words; else empty.

  static constexpr std::string_view kKind = "ofi_unavailable";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "The plugin for Libfabric found no provider it can use, so NCCL goes on with sockets. Where "
      "the machine has EFA or Slingshot, look for the device and its library in the container."};
  static constexpr Wording kWordings[] = {
      {.text =
           "NET/OFI {text:Only EFA provider is supported|No eligible providers were found|Could "
           "not find any optimal provider|Couldn't find any optimal provider}",
       .example = "NET/OFI Only EFA provider is supported"},
      {.text = "NET/OFI {text:OFI fi_getinfo() call failed}: {error...}",
       .example = "NET/OFI OFI fi_getinfo() call failed: No data available"},
      {.text = "NET/OFI {text:Unable to find a protocol that worked}. {...}",
       .example = "NET/OFI Unable to find a protocol that worked.  Failing initialization."},
      {.text = "NET/OFI {text:aws-ofi-nccl initialization failed|Initializing plugin failed}",
       .example = "NET/OFI aws-ofi-nccl initialization failed"},
      {.text = "NET/OFI {text:Failed to initialize} {:rdma|sendrecv|RDMA|SENDRECV} protocol",
       .example = "NET/OFI Failed to initialize sendrecv protocol"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("text", self.text);
    visit("error", self.error);
  }
};

/// A transfer over Libfabric failed (aws-ofi-nccl, all releases).
struct OfiRequestFailed {
  int rc = -1;  ///< Libfabric's error number, as errno; 21 and 22 in old releases of EFA.
  std::string_view error;  ///< "4126 (Unresponsive receiver (reachable by EFA device but …".

  static constexpr std::string_view kKind = "ofi_request_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A transfer over Libfabric failed. On EFA look at the security group's rules, the peer, MTU, "
      "fork and locked memory; the error text says what the device saw."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/OFI Request {:hex} completed with error. RC: {rc}. Error: {error}. Completed "
               "length: {...}",
       .example = "NET/OFI Request 0x7f0e4c1a completed with error. RC: 103. Error: 4126 "
                  "(Unresponsive receiver (reachable by EFA device but handshake failed)). "
                  "Completed length: 0, Request: { dev: 0 }"},
      {.text = "NET/OFI Request {:hex} seq {:int} completed with error. RC: {rc}. Error: {error}. "
               "Completed length: {...}",
       .example = "NET/OFI Request 0x7f0e4c1a seq 7 completed with error. RC: 103. Error: 4126 "
                  "(Unresponsive receiver). Completed length: 0, Request: { dev: 0 }"},
      {.text = "NET/OFI Request {:hex} completed with error. RC: {rc}. Error: {error...}",
       .example = "NET/OFI Request 0x7f0e4c1a completed with error. RC: 21. Error: unknown error",
       .general = true},
      {.text = "NET/OFI Request completed with error. RC: {rc}. Error: {error...}",
       .example = "NET/OFI Request completed with error. RC: 107. Error: Inappropriate ioctl for "
                  "device. Completed length: 0"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rc", self.rc);
    visit("error", self.error);
  }
};

/// The plugin for Libfabric asked for something that is not there and does without it.
struct OfiLookupFailed {
  std::string_view text;

  static constexpr std::string_view kKind = "ofi_lookup_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Info, WarnOrigin::System,
      "The plugin for Libfabric asked this system about something it does not have, and goes on."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/OFI {text:Could not find ncclGetVersion symbol}",
       .example = "NET/OFI Could not find ncclGetVersion symbol"},
      {.text = "NET/OFI {text:Error opening file}: {...}",
       .example = "NET/OFI Error opening file: /sys/devices/virtual/dmi/id/product_name"},
      {.text = "NET/OFI pciPath: {text:Could not find real path} {...}",
       .example = "NET/OFI pciPath: Could not find real path of /sys/class/net/eth0/device"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// What Google's plugins for its own fabrics say: TCPX (A3 High), TCPXO or FasTrak (A3 Mega), gIB
/// (A3 Ultra and later).
struct GooglePluginNote {
  std::string_view plugin;  ///< "GPUDirectTCPX", "FasTrak", "gIB".
  std::string_view text;

  static constexpr std::string_view kKind = "google_plugin_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/{plugin:GPUDirectTCPX} ver. {text...}",
       .example = "NET/GPUDirectTCPX ver. 3.1.8."},
      {.text = "NET/{plugin:GPUDirectTCPX} : GPUDirectTCPX enable: {text...}",
       .example = "NET/GPUDirectTCPX : GPUDirectTCPX enable: 1"},
      {.text = "NET/{plugin:FasTrak}: {text...}", .example = "NET/FasTrak: SCTP Closed"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("plugin", self.plugin);
    visit("text", self.text);
  }
};

using ExternalPluginMessages =
    Kinds<OfiVersion, OfiProvider, OfiNote, OfiUnavailable, OfiRequestFailed, OfiLookupFailed,
          FastSocketNote, GooglePluginNote>;

}  // namespace ncclog
