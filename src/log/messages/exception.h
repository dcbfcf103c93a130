// Exceptions around NCCL: Python's tracebacks and the C++ text PyTorch puts into them.
//
//   [rank3]: torch.distributed.DistBackendError: NCCL error in: /pytorch/…/NCCLUtils.cpp:77,
//   invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.28.9 [rank3]:
//   ncclInvalidUsage: This usually reflects invalid usage of NCCL library. [rank3]: Last error:
//   [rank3]: Duplicate GPU detected : rank 3 and rank 2 both on CUDA device 4000
//
// One exception spans several lines; each is a message of its own.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/foreign_lines.h"
#include "log/message_kind.h"

namespace ncclog {

/// A Python traceback begins; its exception follows some lines later.
struct TracebackStarted {
  static constexpr std::string_view kKind = "traceback_started";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Traceback (most recent call last):",
       .example = "Traceback (most recent call last):"},
  };
  static void each_field(auto&, auto&&) {}
};

/// PyTorch throws because an NCCL call failed (NCCLUtils.cpp, ProcessGroupNCCL.cpp).
///
/// The lines after it name the result code and the last NCCL WARN of the process, which may be
/// stale.
struct NcclException {
  std::string_view type;     ///< Python class; empty in C++ text.
  std::string_view where;    ///< "…/ProcessGroupNCCL.cpp:1691"; empty where not printed.
  std::string_view error;    ///< As ncclGetErrorString says it; empty where the line is cut.
  std::string_view version;  ///< Of the NCCL library that runs; empty where not printed.
  int code = -1;             ///< ncclResult_t, printed by torch.cuda.nccl only.

  static constexpr std::string_view kKind = "nccl_exception";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{type:RuntimeError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistBackendError}: NCCL error in: {where}, {error}, NCCL version {version:word}",
       .example = "torch.distributed.DistBackendError: NCCL error in: "
                  "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:77, invalid usage (run with "
                  "NCCL_DEBUG=WARN for details), NCCL version 2.28.9"},
      {.text = "{type:RuntimeError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistBackendError}: NCCL error in: {where}, {error:internal error|invalid "
               "argument|invalid usage|unhandled cuda error|unhandled system error}",
       .example = "RuntimeError: NCCL error in: ../torch/lib/c10d/ProcessGroupNCCL.cpp:272, "
                  "internal error"},
      {.text = "{type:RuntimeError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistBackendError}: NCCL error in: {where:word}",
       .example = "torch.distributed.DistBackendError: NCCL error in: "
                  "/pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3690"},
      {.text = "NCCL error in: {where}, {error}, NCCL version {version:word}",
       .example = "NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1269, "
                  "unhandled system error, NCCL version 2.14.3"},
      {.text = "{type:RuntimeError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistBackendError}: NCCL Error {code}: {error...}",
       .example = "RuntimeError: NCCL Error 2: unhandled system error"},
      {.text = "{type:RuntimeError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistBackendError}: NCCL error: {error...}",
       .example = "RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for "
                  "details)"},
      {.text = "{type:RuntimeError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistBackendError}: NCCL timeout in: {where...}",
       .example = "torch.distributed.DistBackendError: NCCL timeout in: "
                  "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:88"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("where", self.where);
    visit("error", self.error);
    visit("version", self.version);
    visit("code", self.code);
  }
};

/// The result code of an NCCL exception with c10d's explanation.
struct NcclResult {
  std::string_view name;  ///< "ncclSystemError"
  std::string_view text;

  static constexpr std::string_view kKind = "nccl_result";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{name:ncclUnhandledCudaError|ncclSystemError|ncclInternalError|ncclInvalidArgument|"
               "ncclInvalidUsage|ncclRemoteError|ncclTimeout}: {text...}",
       .example = "ncclSystemError: System call (e.g. socket, malloc) or external library call "
                  "failed or device error."},
      {.text = "{text:Unknown NCCL error}!", .example = "Unknown NCCL error!"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("text", self.text);
  }
};

/// The last NCCL WARN of the process follows, without its header; may be empty or stale.
struct LastErrorLabel {
  static constexpr std::string_view kKind = "last_error_label";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Last error:", .example = "Last error:"},
  };
  static void each_field(auto&, auto&&) {}
};

/// A communicator was used after c10d had aborted it: a consequence, the reason is older.
struct CommAborted {
  int rank = -1;  ///< In the communicator; -1 if not printed.
  std::string_view reason;

  static constexpr std::string_view kKind = "comm_aborted";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{:RuntimeError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistBackendError}: NCCL communicator was aborted on rank {rank}.{reason...}",
       .example = "RuntimeError: NCCL communicator was aborted on rank 1.  Original reason for "
                  "failure was: NCCL error: unhandled system error"},
      {.text = "NCCL communicator was aborted on rank {rank}.{reason...}",
       .example = "NCCL communicator was aborted on rank 1."},
      {.text = "{:RuntimeError|torch.distributed.DistBackendError|torch._C._distributed_c10d."
               "DistBackendError}: NCCL communicator encountered error set by ProcessGroupNCCL: "
               "{reason...}",
       .example = "torch.distributed.DistBackendError: NCCL communicator encountered error set by "
                  "ProcessGroupNCCL: watchdog timeout"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("reason", self.reason);
  }
};

/// The GPU is out of memory, by PyTorch's own allocator or by a CUDA call.
struct CudaOomException {
  std::string_view type;
  std::string_view text;

  static constexpr std::string_view kKind = "cuda_oom_exception";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{type:torch.OutOfMemoryError|torch.cuda.OutOfMemoryError|torch.AcceleratorError|"
               "RuntimeError}: CUDA out of memory{text...}",
       .example = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 "
                  "has a total capacity of 79.10 GiB"},
      {.text = "{type:torch.OutOfMemoryError|torch.cuda.OutOfMemoryError|torch.AcceleratorError|"
               "RuntimeError}: CUDA error: out of memory{text...}",
       .example = "torch.AcceleratorError: CUDA error: out of memory"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("text", self.text);
  }
};

/// XLA (JAX, TensorFlow) reports a failed NCCL call with NCCL's last warning.
struct XlaNcclFailure {
  std::string_view operation;
  std::string_view error;
  std::string_view last_error;  ///< May belong to something else.

  static constexpr std::string_view kKind = "xla_nccl_failure";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "NCCL operation {operation} failed: {error}. Last NCCL warning(error) log entry "
               "(may be unrelated) '{last_error}'{...}",
       .example =
           "NCCL operation ncclGroupEnd() failed: unhandled system error. Last NCCL warning(error) "
           "log entry (may be unrelated) 'Error while creating shared memory segment'"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("operation", self.operation);
    visit("error", self.error);
    visit("last_error", self.last_error);
  }
};

/// A data loader's worker process died; a bus error there means that shared memory is full.
struct DataLoaderKilled {
  int64_t pid = -1;
  std::string_view signal;  ///< "Bus error", "Killed"

  static constexpr std::string_view kKind = "data_loader_killed";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{:RuntimeError}: DataLoader worker (pid {pid}) is killed by signal: {signal...}",
       .example = "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Bus error. It "
                  "is possible that dataloader's workers are out of shared memory."},
      {.text =
           "ERROR: Unexpected {signal:bus error|segmentation fault} encountered in worker.{...}",
       .example = "ERROR: Unexpected bus error encountered in worker. This might be caused by "
                  "insufficient shared memory (shm)."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("pid", self.pid);
    visit("signal", self.signal);
  }
};

/// The interpreter died by a signal; faulthandler printed it.
struct FatalPythonError {
  std::string_view error;  ///< "Segmentation fault", "Bus error"

  static constexpr std::string_view kKind = "fatal_python_error";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Fatal Python error: {error...}", .example = "Fatal Python error: Bus error"},
  };
  static void each_field(auto& self, auto&& visit) { visit("error", self.error); }
};

/// The last line of any other Python traceback: "module.Class: message".
///
/// On which rank is in the line's prefix, where the launcher or PyTorch (2.3 and later) prints one.
struct PythonException {
  std::string_view type;     ///< With its module: "torch.distributed.DistNetworkError".
  std::string_view message;  ///< May be empty.

  static constexpr std::string_view kKind = "python_exception";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{type:word}: {message...}",
       .example = "RuntimeError: DataLoader worker (pid 4242) exited unexpectedly",
       .recognise = recognise_python_exception},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("type", self.type);
    visit("message", self.message);
  }
};

/// The C++ runtime ends the process because of an exception; exit code -6.
struct CppTerminate {
  std::string_view type;  ///< "c10::DistBackendError"; empty without an exception.

  static constexpr std::string_view kKind = "cpp_terminate";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "terminate called after throwing an instance of '{type}'",
       .example = "terminate called after throwing an instance of 'c10::DistBackendError'"},
      {.text = "terminate called without an active exception",
       .example = "terminate called without an active exception"},
      {.text = "terminate called recursively", .example = "terminate called recursively"},
  };
  static void each_field(auto& self, auto&& visit) { visit("type", self.type); }
};

/// What that exception said, often what a watchdog line said already.
struct CppWhat {
  std::string_view text;

  static constexpr std::string_view kKind = "cpp_what";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "what():  {text...}",
       .example = "what():  [PG ID 0 PG GUID 0(default_pg) Rank 0] Process group watchdog thread "
                  "terminated with exception: CUDA error"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Where in PyTorch's C++ an exception was raised; native frames follow.
struct ExceptionRaisedFrom {
  std::string_view function;
  std::string_view file;
  int line = -1;

  static constexpr std::string_view kKind = "exception_raised_from";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Exception raised from {function} at {file}:{line} (most recent call first):",
       .example = "Exception raised from checkTimeout at "
                  "/pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:688 (most recent call "
                  "first):"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("function", self.function);
    visit("file", self.file);
    visit("line", self.line);
  }
};

using ExceptionMessages =
    Kinds<TracebackStarted, NcclException, NcclResult, LastErrorLabel, CommAborted,
          CudaOomException, XlaNcclFailure, DataLoaderKilled, FatalPythonError, PythonException,
          CppTerminate, CppWhat, ExceptionRaisedFrom>;

}  // namespace ncclog
