// Plugins that do not keep to what NCCL expects of them.
//
//   NCCL_DEVICE_UNPACK plugin has incompatible version 2, this NCCL build is compatible with 7, not
//   using it

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A plugin that does not keep to its interface (plugin/net.cc, plugin/gin.cc, plugin/tuner.cc,
/// transport/net.cc).
struct PluginInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "plugin_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The network plugin offers device offload in a version that this NCCL does not know. Use a "
      "plugin that was built for this release."};
  static constexpr Warning kNotSetUp{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "NCCL asked a plugin for its devices before the plugin was set up, which its own order of "
      "steps rules out. Look for an earlier plugin error."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Unknown device code index}", .example = "Unknown device code index"},
      {.text = "{text:NCCL_DEVICE_UNPACK plugin has incompatible version|Unknown device code "
               "index} {...}",
       .example = "NCCL_DEVICE_UNPACK plugin has incompatible version 3, this NCCL build is "
                  "compatible with 3, not using it"},
      {.text = "{:word}: {text:failed to set the number of devices for|trying to access the number "
               "of devices of an uninitialized} {...}",
       .example = "ncclNetInit: failed to set the number of devices for netPlugin[3] to 3",
       .warning = kNotSetUp},
      {.text = "{text:failed to set the number of devices for|trying to access the number of "
               "devices of an uninitialized} {...}",
       .example = "failed to set the number of devices for netPlugin[3] to 3",
       .warning = kNotSetUp},
      {.text = "{text:Tuner plugin refcount is 0, yet tunerPluginLib ptr is NULL}",
       .example = "Tuner plugin refcount is 0, yet tunerPluginLib ptr is NULL",
       .warning = {WarnSeverity::Fatal, WarnOrigin::Internal,
                   "The use count of the tuner plugin and its handle contradict each other. Look "
                   "for an earlier failure while a communicator was destroyed."}},
      {.text = "{text:recvProxySetup|sendProxySetup}: {:net|collnet} plugin returned invalid value "
               "for {...}",
       .example = "recvProxySetup: net plugin returned invalid value for maxP2pBytes 3        "
                  "[allowed range: 3 - 3]",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "A network plugin reports a largest transfer outside the allowed range, so its "
                   "connections fail. Use a plugin version that fits this NCCL."}},
      {.text = "{text:RMA v13} {...}",
       .example = "RMA v13 (ours) requires GIN PROXY type, got netDeviceType 1",
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "The plugin for one-sided transfers reports another type of device than it "
                   "must. Use a plugin version that fits this NCCL."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A child communicator and its parent want different networks (init.cc, plugin/net.cc, 2.18.1 and
/// later).
struct NetNameMismatch {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "net_name_mismatch";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "A child communicator that shares its parent's resources asks for another network. Give both "
      "the same netName, or do not share."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Comm config netName|Split shares resources, but parent comm netName} {...}",
       .example = "Comm config netName (Socket) does not match the parent (IB)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using PluginFailedMessages = Kinds<PluginInvalid, NetNameMismatch>;

}  // namespace ncclog
