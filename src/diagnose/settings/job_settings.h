// The settings that a job's logs show, linted.
//
//   $ mpirun -x NCCL_TIMEOUT=3600 …                                    a command sets it
//   n1:7:7 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_1      NCCL read it
//
// What NCCL prints it has read, so its name is right and its release reads it; only values and
// company can be wrong. What a command sets may be anything.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts/fact.h"
#include "diagnose/settings/lint.h"
#include "log/settings.h"
#include "model/job.h"

namespace ncclog {

/// A remark, and the line that shows the setting.
struct JobRemark {
  Remark remark;
  Evidence line;
};

/// Library::Nccl or Library::Rccl, whichever alone the banners of the job name; nullopt if none
/// does or both do.
std::optional<Library> library_of(const Job& job);

/// Remarks on all settings of the job, each once: those of commands, then those that NCCL read.
/// Without a release in `context` the job's own is taken, if it has just one; likewise the library.
std::vector<JobRemark> lint_job(const Job& job, LintContext context);

/// The same without context.
const std::vector<JobRemark>& job_remarks(const Job& job);

/// A command of the log, and what it sets.
struct CommandSettings {
  ShellSettings found;  ///< Lines are indices into `lines`, from 1.
  std::vector<Evidence> lines;
};

/// What the commands in the log set: one entry for each process or file that shows some.
const std::vector<CommandSettings>& command_settings(const Job& job);

/// The devices that each host is known to have, from NCCL's lists and from pasted ones. NCCL lists
/// what its filter admitted, so there may be more.
const std::vector<HostDevices>& known_devices(const Job& job);

}  // namespace ncclog
