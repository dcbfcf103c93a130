// A variable that somebody sets: in a script, in a file, in the environment, in a log.
//
//   train.sh:12   export NCCL_IB_HCA=mlx5_0          → NCCL_IB_HCA, "mlx5_0"
//   job.yaml:31   - {name: NCCL_DEBUG, value: INFO}  → NCCL_DEBUG, "INFO"

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

  bool operator==(const Setting&) const = default;
};

/// True for the variables of NCCL and of its neighbours; the rest of what a file sets is nobody's
/// business.
inline bool concerns_nccl(std::string_view name) {
  return name.find("NCCL") != name.npos || name.find("nccl") != name.npos ||
         name.starts_with("RCCL_");
}

}  // namespace ncclog
