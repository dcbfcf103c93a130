// Which settings NCCL took from the environment, its configuration files and the application.
//
//   NCCL_IB_DISABLE set by environment to 1.
//   NCCL_SOCKET_IFNAME set by environment to eth0
//
// A variable is reported at its first use, once per process; NCCL_DEBUG* never are. /etc/nccl.conf
// and ~/.nccl.conf set variables too, and plugins do.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A variable has a value (param.cc and the place of use). Integers print a trailing dot,
/// strings none; -1 reads 18446744073709551615 up to 2.12.7.
struct EnvSet {
  std::string_view name;
  std::string_view value;  ///< Without the trailing dot of integers; may be empty.

  static constexpr std::string_view kKind = "env_set";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "{name:word} set by environment to {value:int}.",
       .example = "NCCL_IB_DISABLE set by environment to 1."},
      // The only text that ends in a dot; 2.12.10 to 2.26.6.
      {.text = "{name:NCCL_COLLNET_ENABLE} set by environment to {value}.",
       .example = "NCCL_COLLNET_ENABLE set by environment to yes."},
      {.text = "{name:word} set by environment to {value...}",
       .example = "NCCL_SOCKET_IFNAME set by environment to eth0",
       .general = true},
      {.text = "{name:word} set by environment to",
       .example = "NCCL_SOCKET_IFNAME set by environment to"},
      {.text = "{name:NCCL_IB_HCA|NCCL_SOCKET_IFNAME|NCCL_OOB_NET_IFNAME|NCCL_TUNER_PLUGIN} set to "
               "{value...}",
       .example = "NCCL_IB_HCA set to mlx5_0,mlx5_1"},
      {.text = "TUNER/Plugin: {name:NCCL_TUNER_PLUGIN} set to {value...}",
       .example = "TUNER/Plugin: NCCL_TUNER_PLUGIN set to libnccl-tuner-ours.so"},
      // 2.6.4.
      {.text = "{name:word} set from environment to {value...}",
       .example = "NCCL_NET_GDR_LEVEL set from environment to SYS"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("value", self.value);
  }
};

/// A value that NCCL could not read as a number (param.cc); the default is used.
struct EnvInvalid {
  std::string_view name;
  std::string_view value;  ///< As given.
  std::string_view default_value;

  static constexpr std::string_view kKind = "env_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "Invalid value {value} for {name:word}, using default {default_value:int}.",
       .example = "Invalid value yes for NCCL_IB_TIMEOUT, using default 20."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("value", self.value);
    visit("default_value", self.default_value);
  }
};

/// The application's rings were given by NCCL_RINGS or a file (init.cc, up to 2.4.8).
struct RingsSet {
  int rings = -1;

  static constexpr std::string_view kKind = "rings_set";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "{rings} ring(s) set by environment", .example = "2 ring(s) set by environment"},
  };
  static void each_field(auto& self, auto&& visit) { visit("rings", self.rings); }
};

/// A value that is a list of names was turned into a number (init.cc, 2.29.2 and later).
struct EnvParsed {
  std::string_view name;
  std::string_view value;  ///< As given.
  int result = -1;

  static constexpr std::string_view kKind = "env_parsed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "Parsed environment variable {name:word}={value} to {result}",
       .example = "Parsed environment variable NCCL_CTA_POLICY=ZERO to 2"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("value", self.value);
    visit("result", self.result);
  }
};

/// A value out of range was replaced (init.cc and others).
struct EnvCorrected {
  std::string_view name;
  std::string_view value;   ///< As given; empty where it is not printed.
  std::string_view result;  ///< What is used instead; empty where it is not printed.

  static constexpr std::string_view kKind = "env_corrected";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Warning kWarning{WarnSeverity::Degraded, WarnOrigin::User,
                                    "A setting is out of range or malformed, and NCCL uses another "
                                    "value. The text names the setting; correct or remove it."};
  static constexpr Wording kWordings[] = {
      {.text = "{name:NCCL_MAX_CTAS|NCCL_MIN_CTAS|NCCL_MAX_P2P_PEERS|NCCL_NCHANNELS_PER_NET_PEER|"
               "NCCL_NUM_RMA_CTX} {value:int} is too low, leaving it set at {result:int}",
       .example = "NCCL_MAX_CTAS 0 is too low, leaving it set at 32"},
      {.text = "{name:NCCL_GRAPH_MIXING_SUPPORT|NCCL_GRAPH_STREAM_ORDERING|NCCL_NVLINK_UTIL_"
               "CENTRIC_SCHED_ENABLE} {value:int} is not valid, leaving it set at {result:int}",
       .example = "NCCL_GRAPH_MIXING_SUPPORT 7 is not valid, leaving it set at 1"},
      {.text = "{name:NCCL_CGA_CLUSTER_SIZE} value {value:int} is too big. Limiting value to "
               "{result:int}.",
       .example = "NCCL_CGA_CLUSTER_SIZE value 32 is too big. Limiting value to 8."},
      {.text = "{name:NCCL_WORK_FIFO_BYTES|NCCL_WORK_FIFO_DEPTH}={value:int} is being ignored "
               "because it is not a power of 2.",
       .example = "NCCL_WORK_FIFO_BYTES=1000 is being ignored because it is not a power of 2."},
      {.text =
           "'{name:NCCL_WORK_FIFO_DEPTH}={value:int}' is too small. Minimum value is {result:int}",
       .example = "'NCCL_WORK_FIFO_DEPTH=64' is too small. Minimum value is 128",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "The queue of work is too small for this group of operations, so the call "
                   "fails. Raise or unset NCCL_WORK_FIFO_DEPTH."}},
      {.text = "{name:NCCL_GIN_PROXY_QUEUE_SIZE|NCCL_RMA_PROXY_QUEUE_SIZE} is {value}, using the "
               "default/maximum value instead",
       .example = "NCCL_GIN_PROXY_QUEUE_SIZE is not a power of two, using the default/maximum "
                  "value instead"},
      {.text = "{name:maxCTAs|minCTAs} {value:int} is larger than {}, cap it to {result:int}",
       .example = "maxCTAs 128 is larger than #channels upper limit 64, cap it to 64"},
      {.text = "{name:minCTAs} {value:int} is larger than maxCTAs {:int}, set both to {result:int}",
       .example = "minCTAs 32 is larger than maxCTAs 16, set both to 16"},
      {.text = "{name:CTAPolicy} {value:int} is not a valid value, set it to {result:int}",
       .example = "CTAPolicy 9 is not a valid value, set it to 0"},
      {.text = "{name:collnetEnable|splitShare} {value:int} is not a valid value 0/1, set it to "
               "{result:int}",
       .example = "splitShare 7 is not a valid value 0/1, set it to 0"},
      {.text = "{name:nvlsCTAs} {value:int} is not a valid value, NCCL will decide the default "
               "value automatically",
       .example =
           "nvlsCTAs -7 is not a valid value, NCCL will decide the default value automatically"},
      {.text = "Ignoring SHM locality, must be 1 (sender side) or 2 (receiver side, default)",
       .example = "Ignoring SHM locality, must be 1 (sender side) or 2 (receiver side, default)"},
      {.text = "Unknown CTA policy {value} passed as environment variable. Ignoring.",
       .example = "Unknown CTA policy FAST passed as environment variable. Ignoring."},
      {.text = "No valid CTA policies found in {name:word}={value}.",
       .example = "No valid CTA policies found in NCCL_CTA_POLICY=FAST."},
      {.text = "Unable to recognize {name:word}={value}, using {result:word} instead.",
       .example =
           "Unable to recognize NCCL_NETDEVS_POLICY=SOME, using NCCL_NETDEVS_POLICY_AUTO instead."},
      {.text = "{name:NCCL_NET_MERGE_POLICY}: unknown value '{value}', defaulting to {result:word}",
       .example = "NCCL_NET_MERGE_POLICY: unknown value 'SOME', defaulting to ALL"},
      {.text = "{name:NCCL_SOCKET_MAGIC} invalid value \"{value}\", using built-in default",
       .example = "NCCL_SOCKET_MAGIC invalid value \"abc\", using built-in default"},
      {.text = "failed to decode {name:word}={value}. Ignoring",
       .example = "failed to decode NCCL_PROXY_CPUSET=x. Ignoring"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("value", self.value);
    visit("result", self.result);
  }
};

/// The application chose a value through ncclConfig_t (init.cc, 2.17.1 and later).
struct CommConfig {
  std::string_view name;  ///< NCCL's label, which may hold blanks: "Max CTAs".
  std::string_view value;

  static constexpr std::string_view kKind = "comm_config";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "Comm config {name:Net name|Comm name} set to {value...}",
       .example = "Comm config Comm name set to tp group"},
      {.text = "Comm config {name} set to {value:word}",
       .example = "Comm config Blocking set to 1"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("value", self.value);
  }
};

/// The environment overruled the application's value (init.cc, 2.28.7 and later).
struct ConfigReset {
  std::string_view name;  ///< Field of ncclConfig_t.
  std::string_view variable;
  std::string_view value;

  static constexpr std::string_view kKind = "config_reset";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "Comm config {name} reset to {variable:word}={value...}",
       .example = "Comm config maxCTAs reset to NCCL_MAX_CTAS=16"},
      {.text = "Comm config {name} reset to {value:int} by {variable:word}={:int}",
       .example = "Comm config graphUsageMode reset to 0 by NCCL_GRAPH_MIXING_SUPPORT=0"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("variable", self.variable);
    visit("value", self.value);
  }
};

using EnvironmentMessages =
    Kinds<EnvSet, EnvInvalid, RingsSet, EnvParsed, EnvCorrected, CommConfig, ConfigReset>;

}  // namespace ncclog
