// What PyTorch remarks without anything having failed.
//
//   [rank3]:[W105 12:00:00.123456789 ProcessGroupNCCL.cpp:5138] Guessing device ID based on global
//   rank. This can cause a hang if rank to GPU mapping is heterogeneous.
//
// None of these is a fault; some explain one.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// PyTorch chose a GPU for this process because none was named (ProcessGroupNCCL.cpp, barrier).
///
/// Harmless unless the order of ranks is not that of the GPUs on each host.
struct DeviceGuess {
  int device = -1;  ///< -1 where not printed.
  int rank = -1;    ///< Inside the group; -1 where not printed.

  static constexpr std::string_view kKind = "device_guess";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Guessing device ID based on global rank.{...}",
       .example = "Guessing device ID based on global rank. This can cause a hang if rank to GPU "
                  "mapping is heterogeneous. You can specify device_id in init_process_group()"},
      {.text = "using GPU {device} to perform barrier as devices used by this process are "
               "currently unknown.{...}",
       .example =
           "using GPU 3 to perform barrier as devices used by this process are currently unknown. "
           "This can potentially cause a hang if this rank to GPU mapping is incorrect."},
      {.text = "using GPU {device} as device used by this process is currently unknown.{...}",
       .example = "using GPU 3 as device used by this process is currently unknown. This can "
                  "potentially cause a hang if this rank to GPU mapping is incorrect."},
      {.text = "Rank {rank} using {:best-guess GPU|GPU} {device} to perform barrier{...}",
       .example = "Rank 3 using GPU 3 to perform barrier as devices used by this process are "
                  "currently unknown."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("device", self.device);
    visit("rank", self.rank);
  }
};

/// barrier() used the current CUDA device because none was named: a note.
struct DeviceFromContext {
  static constexpr std::string_view kKind = "device_from_context";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{:word}: UserWarning: barrier(): using the device under current context.{...}",
       .example = "/usr/lib/python3/site-packages/torch/distributed/c10d_logger.py:83: "
                  "UserWarning: barrier(): using the device under current context. You can specify "
                  "`device_id` in `init_process_group` to mute this warning."},
      {.text = "{:word}: UserWarning: No device id is provided via `init_process_group` or "
               "`barrier{...}",
       .example = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py:4631: "
                  "UserWarning: No device id is provided via `init_process_group` or `barrier `. "
                  "Using the current device set by the user."},
  };
  static void each_field(auto&, auto&&) {}
};

/// A PyTorch variable has a new name; the old one still works.
struct EnvDeprecated {
  std::string_view name;
  std::string_view replacement;

  static constexpr std::string_view kKind = "env_deprecated";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Warning: Environment variable {name:word} is deprecated; use {replacement:word} "
               "instead{...}",
       .example = "Warning: Environment variable NCCL_BLOCKING_WAIT is deprecated; use "
                  "TORCH_NCCL_BLOCKING_WAIT instead (function operator())"},
      {.text =
           "Environment variable {name:word} is deprecated; use {replacement:word} instead{...}",
       .example = "Environment variable NCCL_BLOCKING_WAIT is deprecated; use "
                  "TORCH_NCCL_BLOCKING_WAIT instead"},
      {.text = "{:word}: UserWarning: Environment variable {name:word} is deprecated; use "
               "{replacement:word} instead{...}",
       .example = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py:1230: "
                  "UserWarning: Environment variable NCCL_BLOCKING_WAIT is deprecated; use "
                  "TORCH_NCCL_BLOCKING_WAIT instead (Triggered internally at Utils.hpp:106.)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("replacement", self.replacement);
  }
};

/// A rank ended without destroy_process_group(): benign, but it shows that the rank ended normally.
struct ProcessGroupNotDestroyed {
  static constexpr std::string_view kKind = "process_group_not_destroyed";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{:Warning: WARNING|WARNING|Warning}: destroy_process_group() was not called before "
               "program exit{...}",
       .example = "Warning: WARNING: destroy_process_group() was not called before program exit, "
                  "which can leak resources."},
      {.text =
           "{:Warning: WARNING|WARNING|Warning}: process group has NOT been destroyed before {...}",
       .example =
           "WARNING: process group has NOT been destroyed before we destruct ProcessGroupNCCL."},
  };
  static void each_field(auto&, auto&&) {}
};

/// A send or receive outside a batch makes a communicator of two ranks of its own.
struct UnbatchedP2p {
  int size = -1;  ///< Ranks of the group.

  static constexpr std::string_view kKind = "unbatched_p2p";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Warning: An unbatched P2P op (send/recv) was called on this ProcessGroup with size "
               "{size}.{...}",
       .example = "Warning: An unbatched P2P op (send/recv) was called on this ProcessGroup with "
                  "size 8.  In lazy initialization mode, this will result in a new 2-rank NCCL "
                  "communicator to be created. (function operator())"},
  };
  static void each_field(auto& self, auto&& visit) { visit("size", self.size); }
};

/// An inference engine captures its model in CUDA graphs (vLLM's model runners, SGLang's graph
/// runner); their calls of NCCL are logged while that is done, and run with each graph.
struct ModelCaptured {
  std::string_view text;  ///< Its words, up to the first value.

  static constexpr std::string_view kKind = "model_captured";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{text:Graph capturing finished in} {:int} secs{...}",
       .example = "Graph capturing finished in 14 secs, took 0.21 GiB"},
      {.text = "{text:Capturing cudagraphs for decoding|Capturing the model for CUDA graphs}.{...}",
       .example =
           "Capturing the model for CUDA graphs. This may lead to unexpected consequences if "
           "the model is not static."},
      {.text = "{text:Capture cuda graph begin}.{...}",
       .example = "Capture cuda graph begin. This can take up to several minutes. avail mem=8.93 "
                  "GB"},
      {.text = "{text:Capture cuda graph end}.{...}",
       .example = "Capture cuda graph end. Time elapsed: 8.93 s."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The version of PyTorch, as torch.utils.collect_env prints it.
struct TorchVersionLine {
  std::string_view version;

  static constexpr std::string_view kKind = "torch_version_line";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "PyTorch version: {version:word}", .example = "PyTorch version: 2.9.1+cu128"},
      {.text = "[pip3] torch=={version:word}", .example = "[pip3] torch==2.9.1"},
  };
  static void each_field(auto& self, auto&& visit) { visit("version", self.version); }
};

/// A tensor lies on another device than the others, or than the one the process should use.
struct TensorWrongDevice {
  std::string_view text;

  static constexpr std::string_view kKind = "tensor_wrong_device";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{:RuntimeError|ValueError}: Expected all tensors to be on the same device{text...}",
       .example = "RuntimeError: Expected all tensors to be on the same device, but found at least "
                  "two devices, cuda:1 and cuda:0!"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// PyTorch's settings of a process group; only with TORCH_CPP_LOG_LEVEL=INFO.
struct C10dOptions {
  std::string_view text;

  static constexpr std::string_view kKind = "c10d_options";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "ProcessGroupNCCL initialization options: {text...}",
       .example = "ProcessGroupNCCL initialization options: size: 8, global rank: 3, TIMEOUT(ms): "
                  "600000, USE_HIGH_PRIORITY_STREAM: 0"},
      {.text = "ProcessGroupNCCL environments: {text...}",
       .example = "ProcessGroupNCCL environments: NCCL version: 2.27.5, "
                  "TORCH_NCCL_ASYNC_ERROR_HANDLING: 3"},
      {.text = "HeartbeatMonitor environments: {text...}",
       .example = "HeartbeatMonitor environments: TORCH_NCCL_ENABLE_MONITORING (Whether to kill "
                  "program when no watchdog heartbeat detected): 1"},
      {.text = "PGNCCL Watchdog environments: {text...}",
       .example = "PGNCCL Watchdog environments: TORCH_NCCL_RETHROW_CUDA_ERRORS: 1"},
      {.text = "ProcessGroupNCCL initialized with following options:",
       .example = "ProcessGroupNCCL initialized with following options:"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// One of these settings, on a line of its own (2.0 and before).
struct C10dOption {
  std::string_view name;
  int64_t value = -1;

  static constexpr std::string_view kKind = "c10d_option";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{name:NCCL_ASYNC_ERROR_HANDLING|NCCL_DESYNC_DEBUG|NCCL_BLOCKING_WAIT|TIMEOUT(ms)|"
               "USE_HIGH_PRIORITY_STREAM}: {value}",
       .example = "TIMEOUT(ms): 1800000"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("value", self.value);
  }
};

using TorchNotes =
    Kinds<DeviceGuess, DeviceFromContext, EnvDeprecated, ProcessGroupNotDestroyed, UnbatchedP2p,
          ModelCaptured, TorchVersionLine, TensorWrongDevice, C10dOptions, C10dOption>;

}  // namespace ncclog
