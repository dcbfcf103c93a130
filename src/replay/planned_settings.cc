#include "replay/planned_settings.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr std::string_view kInterface = "names a network interface of the recorded machine";
constexpr std::string_view kAdapter = "names or tunes network adapters of the recorded machine";
constexpr std::string_view kFile = "names a file of the recorded machine";
constexpr std::string_view kOwnLogs = "the replay writes logs of its own";
constexpr std::string_view kNetwork = "the recorded network and its plugins may not be here";
constexpr std::string_view kPlugin = "loads code that is not a part of the plan";
constexpr std::string_view kMulticast = "NVLink multicast stays off unless it is asked for";
constexpr std::string_view kOwnHosts = "the replay has hosts of its own";
constexpr std::string_view kRendezvous = "the replay finds its ranks by itself";
constexpr std::string_view kNonBlocking = "communicators of a replay never block";
constexpr std::string_view kNoService = "opens a port that a replay has no use for";
constexpr std::string_view kOrder = "the replay launches in the order of the plan";

struct Exclusion {
  std::string_view pattern;  ///< '*' stands for any characters.
  std::string_view reason;
};

constexpr Exclusion kExclusions[] = {
    {"NCCL_DEBUG", kOwnLogs},
    {"NCCL_DEBUG_*", kOwnLogs},
    {"NCCL_SET_THREAD_NAME", kOwnLogs},
    {"NCCL_*_IFNAME", kInterface},
    {"NCCL_*_IFNAME_*", kInterface},
    {"NCCL_SOCKET_FAMILY", kInterface},
    {"NCCL_IB_*", kAdapter},
    {"NCCL_IBEXT_*", kAdapter},
    {"NCCL_NET_GDR_*", kAdapter},
    {"NCCL_GIN_*", kAdapter},
    {"NCCL_GDRCOPY_*", kAdapter},
    {"NCCL_HOSTID", kOwnHosts},
    {"NCCL_MNNVL_*", kOwnHosts},
    {"NCCL_COMM_ID", kRendezvous},
    {"NCCL_OOB_*", kRendezvous},
    {"NCCL_NET", kNetwork},
    {"NCCL_NET_PLUGIN", kNetwork},
    {"NCCL_COLLNET_*", kNetwork},
    {"NCCL_SHARP_*", kNetwork},
    {"NCCL_*_PLUGIN", kPlugin},
    {"NCCL_PROFILER_*", kPlugin},
    {"NCCL_*MULTICAST*", kMulticast},
    {"NCCL_NVLS_*", kMulticast},
    {"NCCL_RAS_*", kNoService},
    {"NCCL_COMM_BLOCKING", kNonBlocking},
    {"NCCL_LAUNCH_ORDER*", kOrder},
    {"NCCL_*FILE*", kFile},
    {"NCCL_*DUMP*", kFile},
    {"NCCL_*_PATH", kFile},
    {"CUDA_VISIBLE_DEVICES", "names GPUs of the recorded machine"},
};

/// True if `text` fits `pattern`, in which each '*' stands for any characters.
bool fits(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t at = star; at <= text.size(); ++at) {
    if (fits(rest, text.substr(at))) return true;
  }
  return false;
}

/// The plan's ranks among those processes, ascending; all of them: none is named.
std::vector<int> ranks_of(const PlanSeats& seats, const std::vector<int>& processes) {
  std::vector<int> ranks;
  for (size_t s = 0; s < seats.seats.size(); ++s) {
    if (std::binary_search(processes.begin(), processes.end(), seats.seats[s].process)) {
      ranks.push_back(static_cast<int>(s));
    }
  }
  return ranks;
}

}  // namespace

std::string_view why_left_out(std::string_view name, std::string_view value) {
  // Every replay has it, unless multicast is asked for.
  if (name == "NCCL_NVLS_ENABLE" && value == "0") return {};
  for (const Exclusion& row : kExclusions) {
    if (fits(row.pattern, name)) return row.reason;
  }
  return name.starts_with("NCCL_") ? "" : "no setting of NCCL itself";
}

std::vector<PlannedSetting> planned_settings(const Job& job, const PlanSeats& seats) {
  std::vector<PlannedSetting> settings;
  for (const EnvironmentSetting& setting : job.environment) {
    PlannedSetting planned;
    planned.ranks = ranks_of(seats, setting.processes);
    if (planned.ranks.empty()) continue;
    if (planned.ranks.size() == seats.seats.size()) planned.ranks.clear();
    planned.name = to_valid_utf8(setting.name);
    planned.value = to_valid_utf8(setting.value);
    planned.left_out = why_left_out(setting.name, setting.value);
    settings.push_back(std::move(planned));
  }
  return settings;
}

}  // namespace ncclog
