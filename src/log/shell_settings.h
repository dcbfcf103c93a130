// Which variables does a script or a command line set, and for what?
//
//   export NCCL_DEBUG=INFO               NCCL_IB_HCA=mlx5_0 torchrun train.py
//   setenv NCCL_DEBUG INFO               env -u NCCL_NET NCCL_ALGO=Ring ./a.out
//   mpirun -x NCCL_DEBUG=INFO ./a.out    mpiexec -genv NCCL_DEBUG INFO ./a.out
//   #SBATCH --export=ALL,NCCL_DEBUG=INFO docker run -e NCCL_DEBUG=INFO image
//   bash -c "export NCCL_DEBUG=INFO"     unset NCCL_NET
//
// Also right for .env files. Nothing is expanded: a value that holds "$NAME" is not literal.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "log/setting.h"

namespace ncclog {

/// A name that is handed on to processes without a value: "mpirun -x NCCL_DEBUG".
struct HandedOn {
  std::string name;
  uint64_t line = 0;
};

struct ShellSettings {
  std::vector<Setting> settings;    ///< In the order of the script.
  std::vector<HandedOn> handed_on;  ///< In the order of the script.
};

/// The settings of a script whose text begins at line `first_line` of its file.
ShellSettings read_shell_settings(std::string_view script, uint64_t first_line = 1);

/// True for what a shell takes as the name of a variable: "NCCL_DEBUG", "_x1".
bool is_variable_name(std::string_view text);

}  // namespace ncclog
