// Which plugins were looked for, loaded or refused.
//
//   NET/Plugin: Could not find: libnccl-net.so
//   NET/Plugin: Loaded net plugin AWS Libfabric (v8)
//
// Only a plugin that the job asked for by name (NCCL_NET_PLUGIN …) is missed; probing for older
// symbol versions is normal.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A plugin's library does not exist (net.cc, tuner.cc, plugin_open.cc).
struct PluginMissing {
  /// "NET", "TUNER", "PROFILER", "ENV", "GIN", "RMA"; "Tuner" in 2.19 and 2.20.
  std::string_view type;
  /// Library names, separated by blanks if several were tried; empty in 2.17 and 2.18.
  std::string_view name;

  static constexpr std::string_view kKind = "plugin_missing";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "{type:word}/Plugin: Could not find:{name}. Using internal {...}",
       .example = "NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin."},
      {.text = "{type:word}/Plugin: Could not find:{name}.",
       .example = "PROFILER/Plugin: Could not find: libnccl-profiler.so.",
       .general = true},
      {.text = "{type:word}/Plugin: Could not find:{name...}",
       .example = "NET/Plugin: Could not find: fastsocket libnccl-net-fastsocket.so",
       .general = true},
      {.text = "{type:NET|TUNER}/Plugin: No plugin found ({name})",
       .example = "NET/Plugin: No plugin found (libnccl-net.so)"},
      {.text = "{type:NET}/Plugin : No plugin found ({name}), using internal implementation",
       .example = "NET/Plugin : No plugin found (libnccl-net.so), using internal implementation"},
      {.text = "{type:NET}/Plugin : No plugin found ({name}).",
       .example = "NET/Plugin : No plugin found (libnccl-net.so)."},
      {.text = "{type:NET}/Plugin : No plugin found, using internal implementation",
       .example = "NET/Plugin : No plugin found, using internal implementation"},
      {.text =
           "{type:NET}/Plugin : dlerror={} No plugin found ({name}), using internal implementation",
       .example =
           "NET/Plugin : dlerror=libnccl-net.so: cannot open shared object file: No such file or "
           "directory No plugin found (libnccl-net.so), using internal implementation"},
      {.text = "{type:Tuner}: no plugin found '{name}', using default tuner instead.",
       .example = "Tuner: no plugin found 'libnccl-tuner.so', using default tuner instead."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("name", self.name);
  }
};

/// A plugin's library did not load; the text is the dynamic linker's (net.cc, plugin_open.cc).
/// Releases up to 2.21 say this of libraries that do not exist, too.
struct PluginLoadFailed {
  std::string_view type;  ///< "NET", "TUNER", …
  std::string_view name;  ///< Library; empty if not printed.
  std::string_view error;

  static constexpr std::string_view kKind = "plugin_load_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "{type:NET}/Plugin : Plugin load ({name}) returned {:int} : {error...}",
       .example = "NET/Plugin : Plugin load (libnccl-net.so) returned 2 : libnccl-net.so: cannot "
                  "open shared object file: No such file or directory"},
      {.text = "{type:NET}/Plugin : Plugin load returned {:int} : {error}.",
       .example =
           "NET/Plugin : Plugin load returned 17 : libnccl-net.so: undefined symbol: fi_getinfo."},
      {.text =
           "{type:NET|TUNER}/Plugin: Plugin load returned {:int} : {error} when loading {name...}",
       .example = "NET/Plugin: Plugin load returned 2 : libnccl-net.so: file too short when "
                  "loading libnccl-net.so"},
      {.text = "{type:NET|TUNER}/Plugin: Most recent plugin load returned {:int} : {error}. All "
               "attempts to load '{name}' also failed.",
       .example = "NET/Plugin: Most recent plugin load returned 2 : file too short. All attempts "
                  "to load 'libnccl-net.so' also failed."},
      {.text = "{type:Tuner}: plugin load '{name}' returned error ({:int} : {error}), using "
               "default tuner instead.",
       .example = "Tuner: plugin load 'libnccl-tuner.so' returned error (2 : file too short), "
                  "using default tuner instead."},
      {.text = "{type:word}/Plugin: {name:word}: {error...}",
       .example = "NET/Plugin: libnccl-net.so: libfabric.so.1: cannot open shared object file: No "
                  "such file or directory"},
      {.text = "{type:GIN|RMA}/Plugin: Failed to load external plugin {name:word}, {error...}",
       .example = "GIN/Plugin: Failed to load external plugin libnccl-gin.so, dlHandle: (nil), "
                  "ncclGin: (nil)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("name", self.name);
    visit("error", self.error);
  }
};

/// A plugin is in use (net_v*.cc, tuner_v*.cc, profiler_v*.cc, env_v*.cc).
struct PluginLoaded {
  /// "NET", "TUNER", "PROFILER", "ENV"; the other kinds of network plugin as printed: "coll" (to
  /// 2.21), "collnet", "gin", "rma".
  std::string_view type;
  std::string_view name;     ///< The plugin's own name, may hold blanks.
  std::string_view version;  ///< "v8"; empty if not printed.

  static constexpr std::string_view kKind = "plugin_loaded";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "{type:NET}/Plugin: Loaded net plugin {name} ({version})",
       .example = "NET/Plugin: Loaded net plugin AWS Libfabric (v8)"},
      {.text =
           "{:NET|GIN|RMA}/Plugin: Loaded {type:coll|collnet|gin|rma} plugin {name} ({version})",
       .example = "NET/Plugin: Loaded collnet plugin SHARP (v8)"},
      {.text = "{type:PROFILER}/Plugin: Loaded {name} ({version})",
       .example = "PROFILER/Plugin: Loaded Inspector (v5)"},
      {.text = "{type:PROFILER}/Plugin: loaded {name...}",
       .example = "PROFILER/Plugin: loaded Inspector"},
      {.text = "{type:TUNER}/Plugin: Using tuner plugin {name...}",
       .example = "TUNER/Plugin: Using tuner plugin nccl_ofi_tuner"},
      {.text = "{type:TUNER|ENV}/Plugin: Using {name} ({version})",
       .example = "TUNER/Plugin: Using nccl_ofi_tuner (v4)"},
      {.text = "Using {type:tuner} plugin: '{name}'", .example = "Using tuner plugin: 'ours'"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("name", self.name);
    visit("version", self.version);
  }
};

/// The library of a plugin was opened (net.cc and others, 2.27.3 and later).
struct PluginFileLoaded {
  std::string_view type;  ///< "network", "tuner", "profiler", "env", "gin"; empty in 2.27.
  std::string_view path;

  static constexpr std::string_view kKind = "plugin_file_loaded";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text =
           "Successfully loaded external {type:network|tuner|profiler|env|gin} plugin {path...}",
       .example =
           "Successfully loaded external network plugin /opt/amazon/ofi-nccl/lib/libnccl-net.so"},
      {.text = "Successfully loaded external plugin {path...}",
       .example = "Successfully loaded external plugin libnccl-net.so"},
      {.text = "{type:GIN|RMA}/Plugin: Successfully loaded external plugin {path...}",
       .example = "GIN/Plugin: Successfully loaded external plugin libnccl-gin.so"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("path", self.path);
  }
};

/// A library was opened but offers no interface version that this NCCL understands (2.28.3 and
/// later).
struct PluginUnsupported {
  std::string_view type;  ///< "network", "tuner", "profiler", "env".
  std::string_view path;

  static constexpr std::string_view kKind = "plugin_unsupported";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "External {type:network|tuner|profiler|env} plugin {path} is unsupported",
       .example = "External network plugin libnccl-net.so is unsupported"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("path", self.path);
  }
};

/// A plugin does not offer one interface version; NCCL goes on with older ones (net.cc, up to
/// 2.27.7). Normal probing.
struct PluginSymbolMissing {
  std::string_view type;    ///< "NET", "TUNER", "PROFILER"; "Tuner" in 2.19 and 2.20.
  std::string_view symbol;  ///< "ncclNetPlugin_v8".

  static constexpr std::string_view kKind = "plugin_symbol_missing";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "{type:NET|TUNER}/Plugin: Failed to find {symbol:word} symbol.",
       .example = "NET/Plugin: Failed to find ncclNetPlugin_v8 symbol."},
      {.text = "{type:NET}/Plugin: Failed to find {symbol:word} symbol (v4 or v5).",
       .example = "NET/Plugin: Failed to find ncclNetPlugin symbol (v4 or v5)."},
      {.text = "{type:TUNER}/Plugin: Failed to find {symbol:word} symbol, using internal tuner "
               "instead.",
       .example =
           "TUNER/Plugin: Failed to find ncclTunerPlugin_v2 symbol, using internal tuner instead."},
      {.text = "{type:TUNER}/Plugin: Failed to find {symbol:word}, using internal tuner instead.",
       .example = "TUNER/Plugin: Failed to find ncclTunerPlugin_v2, using internal tuner instead."},
      {.text = "{type:PROFILER}/Plugin: failed to find {symbol:word}",
       .example = "PROFILER/Plugin: failed to find ncclProfiler_v2"},
      {.text = "{type:Tuner}: failed to find {symbol:word} in plugin ({}), using default tuner "
               "instead.",
       .example = "Tuner: failed to find ncclTunerPlugin_v1 in plugin (libnccl-tuner.so), using "
                  "default tuner instead."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("symbol", self.symbol);
  }
};

/// A network plugin offers only interface versions that NCCL has given up (net.cc, 2.19.1 to
/// 2.25.1).
struct PluginTooOld {
  std::string_view type;  ///< "ncclNetPlugin" or "ncclCollNetPlugin".

  static constexpr std::string_view kKind = "plugin_too_old";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "NET/Plugin: Failed to find {:word} symbol (>= v5). {type:word} symbols v4 and "
               "lower are not supported.",
       .example = "NET/Plugin: Failed to find ncclNetPlugin symbol (>= v5). ncclNetPlugin symbols "
                  "v4 and lower are not supported."},
  };
  static void each_field(auto& self, auto&& visit) { visit("type", self.type); }
};

/// A plugin was asked for by name (net.cc, tuner.cc, plugin_open.cc, 2.11.4 to 2.27.7); later
/// releases only report the variable.
struct PluginNamed {
  std::string_view type;  ///< "NET", "TUNER" …; empty up to 2.20, where it is the network plugin.
  std::string_view name;

  static constexpr std::string_view kKind = "plugin_named";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "{type:word}/Plugin: Plugin name set by env to {name...}",
       .example = "NET/Plugin: Plugin name set by env to libnccl-net-ours.so"},
      {.text = "Plugin name set by env to {name...}", .example = "Plugin name set by env to ours"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("name", self.name);
  }
};

/// Plugins that are not even tried (plugin_open.cc, 2.27.3 and later).
struct PluginsDisabled {
  std::string_view type;  ///< "GIN" or "RMA"; empty: not said.
  std::string_view names;

  static constexpr std::string_view kKind = "plugins_disabled";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Disabling external plugins: {names...}",
       .example = "Disabling external plugins: libnccl-net.so"},
      {.text = "{type:GIN|RMA}/Plugin: Disabling external plugins: {names...}",
       .example = "GIN/Plugin: Disabling external plugins: libnccl-gin.so"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("names", self.names);
  }
};

/// A communicator got a plugin for one-sided operations (gin/*.cc, rma/*.cc, 2.28.7 and later).
struct PluginAssigned {
  std::string_view type;  ///< "GIN" or "RMA".
  std::string_view name;
  int backend = -1;  ///< Type of GIN backend; -1 if not printed.

  static constexpr std::string_view kKind = "plugin_assigned";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "{type:GIN}/Plugin: Assigned plugin {name} type {backend} to comm",
       .example = "GIN/Plugin: Assigned plugin IB type 3 to comm"},
      {.text = "{type:RMA}/Plugin: Assigned plugin {name} to comm",
       .example = "RMA/Plugin: Assigned plugin IB to comm"},
      // 2.28.7 to 2.30.4.
      {.text = "Assigned {type:GIN|RMA} plugin {name} to comm",
       .example = "Assigned GIN plugin IB to comm"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("name", self.name);
    visit("backend", self.backend);
  }
};

/// Whether the network unpacks data on the GPU (init.cc, 2.19.1 and later).
struct NetDeviceType {
  std::string_view type;  ///< "non-device" (to 2.21.5) or "NCCL_NET_DEVICE_UNPACK".
  int version = -1;

  static constexpr std::string_view kKind = "net_device_type";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Using {type:non-device|NCCL_NET_DEVICE_UNPACK} net plugin version {version}",
       .example = "Using non-device net plugin version 0"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("version", self.version);
  }
};

/// What else the plugin loaders say; nothing is wrong.
struct PluginNote {
  std::string_view text;

  static constexpr std::string_view kKind = "plugin_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "{:NET|TUNER}/Plugin: Using internal {text} plugin.",
       .example = "NET/Plugin: Using internal network plugin."},
      {.text = "{:ENV|PROFILER}/Plugin: Closing {text...}",
       .example = "ENV/Plugin: Closing env plugin ncclEnvDefault"},
      {.text = "NET/Plugin: Closing {text...}",
       .example = "NET/Plugin: Closing net plugin 'AWS Libfabric'"},
      {.text = "TUNER/Plugin: Closing tuner: '{text}'",
       .example = "TUNER/Plugin: Closing tuner: 'ours'"},
      {.text = "Closing tuner: '{text}'", .example = "Closing tuner: 'ours'"},
      {.text = "Opened tuner: '{text}'", .example = "Opened tuner: 'ours'"},
      {.text = "{:GIN|RMA}/Plugin: Unloading plugin {text...}",
       .example = "GIN/Plugin: Unloading plugin libnccl-gin.so"},
      {.text = "Unloading plugin {text...}", .example = "Unloading plugin libnccl-net.so"},
      {.text = "{:GIN|RMA}/Plugin: Failed to initialize any {text...}",
       .example = "RMA/Plugin: Failed to initialize any plugin"},
      {.text = "Failed to initialize any GIN plugin",
       .example = "Failed to initialize any GIN plugin"},
      {.text = "GIN/Plugin: Skipping {text...}",
       .example = "GIN/Plugin: Skipping plugin ours index 1 type 2: NCCL_GIN_TYPE=3 requested"},
      {.text = "Profiler event mask: {text...}",
       .example = "Profiler event mask: 0x3 (3) - Enabled: group coll"},
      {.text = "Profiler init failed with error {text}. Continue without profiler.",
       .example = "Profiler init failed with error (2). Continue without profiler.",
       .warning = {WarnSeverity::Degraded, WarnOrigin::System,
                   "The profiler plugin did not start, and the job goes on without it. Check "
                   "NCCL_PROFILER_PLUGIN."}},
      {.text = "PXN Disabled as plugin is v4", .example = "PXN Disabled as plugin is v4"},
      {.text = "Count not open {text...}", .example = "Count not open libibverbs.so"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using PluginMessages = Kinds<PluginMissing, PluginLoadFailed, PluginLoaded, PluginFileLoaded,
                             PluginUnsupported, PluginSymbolMissing, PluginTooOld, PluginNamed,
                             PluginsDisabled, PluginAssigned, NetDeviceType, PluginNote>;

}  // namespace ncclog
