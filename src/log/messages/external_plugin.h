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

using ExternalPluginMessages = Kinds<OfiVersion, OfiProvider, OfiNote, FastSocketNote>;

}  // namespace ncclog
