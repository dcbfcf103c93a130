#include "replay/exec/run_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "replay/exec/worker_protocol.h"

namespace ncclog {
namespace {

/// Inherited variables that would make the replay another one than its plan says.
bool belongs_to_the_plan(std::string_view name) {
  return name.starts_with("NCCL_") || name.starts_with("TORCH_") ||
         name.starts_with("NCCLOG_REPLAY_") || name == "CUDA_LAUNCH_BLOCKING" ||
         name == "CUDA_DEVICE_MAX_CONNECTIONS";
}

/// Of CUDA's variables those that change how a replay runs; others say where it is installed.
constexpr std::string_view kCudaVariables[] = {"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DEVICE_ORDER",
                                               "CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES"};

/// True for what is said of all runs.
bool is_told(std::string_view name) {
  if (name == "NCCL_DEBUG_FILE" || name == "NCCL_HOSTID") return false;
  return name.starts_with("NCCL_") ||
         std::find(std::begin(kCudaVariables), std::end(kCudaVariables), name) !=
             std::end(kCudaVariables);
}

void add_recorded(Environment& environment, const ReplayPlan& plan, int rank) {
  for (const PlannedSetting& setting : plan.settings) {
    const auto& ranks = setting.ranks;
    const bool is_meant =
        ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    if (setting.left_out.empty() && is_meant) environment[setting.name] = setting.value;
  }
}

void add_logging(Environment& environment, const RunSetup& setup) {
  environment["NCCL_DEBUG"] = "INFO";
  environment["NCCL_DEBUG_SUBSYS"] = "INIT,ENV,NET,COLL,GRAPH,TUNING";
  environment["NCCL_DEBUG_FILE"] = setup.logs + "/nccl.%h.%p.log";
}

void add_pseudo_hosts(Environment& environment, const ReplayPlan& plan, int rank, int hosts) {
  environment["NCCL_HOSTID"] = fmt::format("pseudo-host-{}", pseudo_host_of(plan, rank, hosts));
  environment["NCCL_NET"] = "Socket";
  environment["NCCL_SOCKET_IFNAME"] = "lo";
  environment["NCCL_MNNVL_ENABLE"] = "0";
}

/// Variables that the replay itself needs, and why.
struct OwnVariable {
  std::string_view name;
  std::string_view why;
};

constexpr OwnVariable kOwnVariables[] = {
    {"NCCL_DEBUG", "the replay reads its own log back"},
    {"NCCL_DEBUG_FILE", "the replay reads its own log back"},
    {"NCCL_DEBUG_SUBSYS", "the replay reads its own log back"},
    {"NCCL_HOSTID", "--hosts sets it"},
    {"NCCL_COMM_ID", "the replay joins its ranks itself"},
    {"NCCL_NVLS_ENABLE", "--multicast lets NCCL use NVLink multicast"},
};

bool is_name_of_nccl(std::string_view name) {
  return name.starts_with("NCCL_") && name.size() > 5 &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

Environment this_environment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t sign = text.find('=');
    if (sign == std::string_view::npos) continue;
    environment.emplace(text.substr(0, sign), text.substr(sign + 1));
  }
  return environment;
}

int pseudo_host_of(const ReplayPlan& plan, int rank, int hosts) {
  if (hosts != host_group_count(plan)) {
    return static_cast<int>(static_cast<int64_t>(rank) * hosts /
                            std::max<int64_t>(1, static_cast<int64_t>(plan.ranks.size())));
  }
  std::vector<int> groups;
  for (const PlannedRank& each : plan.ranks) groups.push_back(each.host_group);
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  const auto place = std::lower_bound(groups.begin(), groups.end(), plan.ranks[rank].host_group);
  return static_cast<int>(place - groups.begin());
}

Environment environment_of(const ReplayPlan& plan, int rank, const RunSetup& setup,
                           const Environment& inherited) {
  Environment environment;
  std::copy_if(inherited.begin(), inherited.end(), std::inserter(environment, environment.end()),
               [](const auto& entry) { return !belongs_to_the_plan(entry.first); });
  add_recorded(environment, plan, rank);
  add_logging(environment, setup);
  if (setup.hosts > 1) add_pseudo_hosts(environment, plan, rank, setup.hosts);
  for (const auto& [name, value] : setup.settings) environment[name] = value;
  if (!setup.multicast) environment["NCCL_NVLS_ENABLE"] = "0";
  environment[kCoordinatorVariable] = setup.coordinator;
  environment[kTokenVariable] = setup.token;
  return environment;
}

Settings settings_in_force(const ReplayPlan& plan, const RunSetup& setup,
                           const Environment& inherited) {
  Settings settings;
  for (const auto& [name, value] : environment_of(plan, 0, setup, inherited)) {
    if (is_told(name)) settings.emplace_back(name, value);
  }
  return settings;
}

ParsedSetting parse_setting(const std::string& text) {
  const size_t sign = text.find('=');
  if (sign == std::string::npos) {
    return {{}, fmt::format("'{}' is no setting: NAME=VALUE is wanted", text)};
  }
  ParsedSetting parsed{{text.substr(0, sign), text.substr(sign + 1)}, {}};
  const std::string& name = parsed.setting.first;
  if (!is_name_of_nccl(name)) {
    parsed.refusal = fmt::format("a replay sets variables of NCCL only, and '{}' is none", name);
  }
  for (const OwnVariable& own : kOwnVariables) {
    if (own.name == name) parsed.refusal = fmt::format("{} cannot be set: {}", name, own.why);
  }
  return parsed;
}

}  // namespace ncclog
