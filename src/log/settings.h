// Settings as scripts, files and command lines give them: NCCL_IB_HCA=mlx5_0.
//
//   train.sh:12   export NCCL_IB_HCA=mlx5_0          → NCCL_IB_HCA, "mlx5_0"
//   job.yaml:31   - {name: NCCL_DEBUG, value: INFO}  → NCCL_DEBUG, "INFO"
//
// Read here: shell scripts and .env files, and NCCL's own nccl.conf. Nothing is expanded or run.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// One place that gives a variable a value, or the variable as a program finds it.
struct Setting {
  std::string name;
  std::string value;     ///< Without quotes; as written where `literal` is false.
  uint64_t line = 0;     ///< In its file, from 1; 0: it has none.
  bool literal = true;   ///< False: the value holds "$NAME" or the like, so it is not known.
  bool exported = true;  ///< False: a shell's own variable, which programs see only if exported.
  /// Settings of different scopes are for different programs; those of scope 0 are for all.
  int scope = 0;
  /// Settings of different branches of a script need not meet; 0: always carried out.
  int branch = 0;
  bool unset = false;  ///< It is unset again further down, so it may not last.
};

/// True for the variables of NCCL and of its neighbours; the rest of what a file sets is nobody's
/// business.
inline bool concerns_nccl(std::string_view name) {
  return name.find("NCCL") != name.npos || name.find("nccl") != name.npos ||
         name.starts_with("RCCL_");
}

// What NCCL reads from /etc/nccl.conf, ~/.nccl.conf and the file that NCCL_CONF_FILE names.
//
//   # a comment only where '#' begins the line
//   NCCL_IB_HCA=mlx5_0,mlx5_1
//   NCCL_DEBUG="INFO"             the quotes belong to the value, and so would a comment behind it
//
// Variables that the environment has already keep their values (misc/param.cc).

/// The settings of such a file, in its order, as NCCL takes them: blanks and quotes included.
std::vector<Setting> read_conf_settings(std::string_view text);

// Which variables does a script or a command line set, and for what?
//
//   export NCCL_DEBUG=INFO               NCCL_IB_HCA=mlx5_0 torchrun train.py
//   setenv NCCL_DEBUG INFO               env -u NCCL_NET NCCL_ALGO=Ring ./a.out
//   mpirun -x NCCL_DEBUG=INFO ./a.out    mpiexec -genv NCCL_DEBUG INFO ./a.out
//   #SBATCH --export=ALL,NCCL_DEBUG=INFO docker run -e NCCL_DEBUG=INFO image
//   bash -c "export NCCL_DEBUG=INFO"     unset NCCL_NET
//
// Also right for .env files. Nothing is expanded: a value that holds "$NAME" is not literal.

/// Both in the order of the script.
struct ShellSettings {
  std::vector<Setting> settings;
  /// Those that are handed on to processes without a value, so none is known: "mpirun -x NCCL_DEBUG".
  std::vector<Setting> handed_on;
};

/// The settings of a script whose text begins at line `first_line` of its file.
ShellSettings read_shell_settings(std::string_view script, uint64_t first_line = 1);

/// True for what a shell takes as the name of a variable: "NCCL_DEBUG", "_x1".
bool is_variable_name(std::string_view text);

}  // namespace ncclog
