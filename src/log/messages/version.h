// Which NCCL, which CUDA, which driver.
//
//   NCCL version 2.20.5+cuda12.4
//
// Up to 2.21.5 the banner is printed by rank 0's process only, without any header on stdout.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// The library's version (init.cc). The CUDA version is the one that NCCL was built with, not
/// the one that runs.
struct NcclVersion {
  std::string_view version;  ///< "2.20.5"; a build suffix may follow.
  std::string_view cuda;     ///< "12.4".

  static constexpr std::string_view kKind = "nccl_version";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "NCCL version {version:word}+cuda{cuda:word}",
       .example = "NCCL version 2.20.5+cuda12.4",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("version", self.version);
    visit("cuda", self.cuda);
  }
};

/// The source that the library was built from (init.cc, 2.29.2 and later).
struct GitVersion {
  std::string_view branch;
  std::string_view commit;

  static constexpr std::string_view kKind = "git_version";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "NCCL git version {branch:word} {commit:word}",
       .example = "NCCL git version master 73f0ae1"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("branch", self.branch);
    visit("commit", self.commit);
  }
};

/// The installed driver's CUDA version (init.cc, 2.13.4 and later).
struct CudaDriverVersion {
  int version = -1;  ///< 1000 * major + 10 * minor: 12040 is 12.4.

  static constexpr std::string_view kKind = "cuda_driver_version";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "cudaDriverVersion {version}", .example = "cudaDriverVersion 12040"},
  };
  static void each_field(auto& self, auto&& visit) { visit("version", self.version); }
};

/// Confidential computing and the size of the work queue (init.cc, 2.22.3 and later).
struct ConfidentialComputing {
  std::string_view state;  ///< "On" or "Off".
  int work_fifo_bytes = -1;

  static constexpr std::string_view kKind = "confidential_computing";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "CC {state:word}, workFifoBytes {work_fifo_bytes}",
       .example = "CC Off, workFifoBytes 1048576"},
      {.text = "CC {state:word}, Multi-GPU CC {:word}, workFifoBytes {work_fifo_bytes}",
       .example = "CC Off, Multi-GPU CC Off, workFifoBytes 1048576"},
      {.text = "CC {state:On}, Multi-GPU CC Off (No inter-GPU communication protection)",
       .example = "CC On, Multi-GPU CC Off (No inter-GPU communication protection)",
       .warning = {WarnSeverity::Info, WarnOrigin::System,
                   "The GPU runs in confidential-computing mode, but traffic between GPUs is not "
                   "protected. The job is not affected."}},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("state", self.state);
    visit("work_fifo_bytes", self.work_fifo_bytes);
  }
};

using VersionMessages = Kinds<NcclVersion, GitVersion, CudaDriverVersion, ConfidentialComputing>;

}  // namespace ncclog
