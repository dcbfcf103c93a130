// Does another setting take a setting's effect away?
//
//   NCCL_IB_HCA=mlx5_0 beside NCCL_IB_DISABLE=1       there is no InfiniBand to choose devices of
//   NCCL_DEBUG_SUBSYS=NET beside NCCL_DEBUG=WARN      subsystems are of INFO lines

#pragma once

#include <optional>
#include <span>

#include "diagnose/environment_lint.h"

namespace ncclog {

/// The contradiction that `settings[at]` is in, told at the setting that loses its effect; nullopt
/// if there is none that is certain. Settings of programs or branches that need not meet do not
/// contradict each other.
std::optional<Remark> find_conflict(std::span<const Setting> settings, size_t at,
                                    const LintContext& context);

}  // namespace ncclog
