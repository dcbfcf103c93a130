// ncclog env check [PATH…]
//
// What a shell, a script, a file or a log sets for NCCL, and which of it does not do what it says.
//
//   NCCL_DEBUG=INFO                      from the shell
//   /etc/nccl.conf:2  NCCL_IB_TC=106     only where the shell does not set it
//   train.sbatch, pod.yaml, logs/        told by name and content

#pragma once

#include <string>
#include <vector>

#include "diagnose/settings/lint.h"
#include "report/document/report_document.h"

namespace ncclog {

// The environment that a job started from here would get: this process's variables, and what NCCL
// adds to them from its configuration files.

/// A configuration file's path and text.
struct ConfFile {
  std::string path;
  std::string text;
};

/// Lints `variables` ("NAME=value") together with `files`, in the order in which NCCL reads them:
/// what is set first stays.
CheckedSource check_environment(const std::vector<std::string>& variables,
                                const std::vector<ConfFile>& files, LintContext context);

}  // namespace ncclog
