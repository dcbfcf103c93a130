// In which environment does a rank of a replay run?
//
//   the user's own, less NCCL_… and TORCH_…        PATH, LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES
//   the settings of the job that the plan takes    NCCL_ALGO=Ring
//   what makes the replay readable and safe        NCCL_DEBUG=INFO …, NCCL_NVLS_ENABLE=0
//   pseudo-hosts                                   NCCL_HOSTID=pseudo-host-1, NCCL_NET=Socket …
//   --set and --vary                               NCCL_P2P_DISABLE=1
//
// Later rows replace earlier ones. NVLink multicast (NVLS) stays off unless it is asked for: who
// is killed in the middle of it can leave the fabric of all GPUs of the host unusable.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "replay/plan.h"

namespace ncclog {

using Environment = std::map<std::string, std::string>;
using Settings = std::vector<std::pair<std::string, std::string>>;

/// What a run adds to the plan.
struct RunSetup {
  Settings settings;        ///< Of --set, then of the variation; later ones win.
  int hosts = 1;            ///< Pseudo-hosts; 1: the ranks share a host as they do.
  bool multicast = false;   ///< NVLS is left to NCCL.
  std::string logs;         ///< Absolute path of the run's folder.
  std::string coordinator;  ///< "HOST:PORT".
  std::string token;
};

/// Of this process.
Environment this_environment();

/// Pseudo-host of a rank of the plan, 0 … hosts - 1: as recorded if there were as many, else equal
/// stretches of ranks.
int pseudo_host_of(const ReplayPlan& plan, int rank, int hosts);

/// The whole environment of the process that holds rank `rank` of the plan.
Environment environment_of(const ReplayPlan& plan, int rank, const RunSetup& setup,
                           const Environment& inherited);

/// What of that is said of all runs: NCCL's variables of rank 0 and those of CUDA's that change how
/// it runs, less those that differ between ranks and runs.
Settings settings_in_force(const ReplayPlan& plan, const RunSetup& setup,
                           const Environment& inherited);

/// "NCCL_ALGO=Ring" as a pair, or a whole sentence in `refusal` why a replay does not set that.
struct ParsedSetting {
  std::pair<std::string, std::string> setting;
  std::string refusal;  ///< Empty: it is fine.
};
ParsedSetting parse_setting(const std::string& text);

}  // namespace ncclog
