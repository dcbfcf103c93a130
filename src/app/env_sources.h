// What a path sets for NCCL, whatever sort of file it is.
//
//   train.sh, job.sbatch    scripts        .env, .deepspeed_env   NAME=value lines
//   pod.yaml                YAML           /etc/nccl.conf         NCCL's own form
//   logs/, nccl.0.log.gz    logs: what NCCL read and what the commands in them set
//
// The sort is told by name and, where names say nothing, by content.

#pragma once

#include <string>
#include <vector>

#include "diagnose/environment_lint.h"
#include "report/text/environment_check.h"

namespace ncclog {

/// A checked source, and whether all of it could be read.
struct EnvSource {
  CheckedSource checked;
  bool partial = false;  ///< Part of a log was unreadable or cut.
};

/// Reads and lints what `path` names; "-" is standard input. Filters of a file are held against
/// `here`, the machine of the check, if `context` names no hosts; those of a log are not. Throws
/// Error if the path cannot be read.
EnvSource check_path(const std::string& path, const LintContext& context, HostDevices here);

/// Lints the text of a file of that name, as check_path does; logs are recognised, too.
EnvSource check_text(const std::string& path, std::string_view text, const LintContext& context);

}  // namespace ncclog
