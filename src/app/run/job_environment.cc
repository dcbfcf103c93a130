#include "app/run/job_environment.h"

#include <fmt/format.h>

#include "base/text.h"

namespace ncclog {
namespace {

struct Level {
  std::string_view subsystems;
  std::string_view cost;
};

constexpr Level kLevels[] = {
    {"INIT,ENV,BOOTSTRAP", "about 15 kB for each rank, however long the job runs"},
    {"INIT,ENV,BOOTSTRAP,NET,GRAPH", "about 40 kB for each rank, however long the job runs"},
    {"INIT,ENV,BOOTSTRAP,NET,GRAPH,COLL",
     "about 40 kB for each rank, and 200 bytes for each of its collectives: some 70 MB an hour for "
     "each rank at 100 collectives a second"},
};

/// Bytes of a path or a name that do no harm in one.
std::string safe_name(std::string_view text) {
  constexpr size_t kMostBytes = 80;
  std::string name;
  for (const char c : text.substr(0, kMostBytes)) {
    name += is_alnum(c) || c == '.' || c == '_' || c == '-' ? c : '-';
  }
  return name;
}

/// A launcher's own variables: the task's number, how many there are, what they have in common.
struct Launcher {
  const char* name;
  const char* number;
  const char* count;
  std::string_view start;  ///< With blanks between them.
};

/// The innermost first.
constexpr Launcher kLaunchers[] = {
#include "app/run/launchers.inc"
};

}  // namespace

std::string_view cost_of(LogLevel level) { return kLevels[static_cast<size_t>(level)].cost; }

std::vector<JobSetting> job_settings(LogLevel level, const std::string& folder,
                                     const std::string& pipe_stem,
                                     const VariableReader& environment) {
  const std::pair<const char*, std::string> wanted[] = {
      {"NCCL_DEBUG", "INFO"},
      {"NCCL_DEBUG_SUBSYS", std::string(kLevels[static_cast<size_t>(level)].subsystems)},
      {"NCCL_DEBUG_FILE", folder + "/nccl.%h.%p.log"},
      // From 2.26 on; earlier releases do not read them.
      {"NCCL_DEBUG_TIMESTAMP_LEVELS", "ALL"},
      {"NCCL_DEBUG_TIMESTAMP_FORMAT", "[%F %T.%6f] "},
      {"TORCH_NCCL_TRACE_BUFFER_SIZE", "2000"},
      {"TORCH_NCCL_DUMP_ON_TIMEOUT", "1"},
      {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", fmt::format("{}/{}", folder, kDumpName)},
      {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", pipe_stem},
  };
  std::vector<JobSetting> settings;
  for (const auto& [name, value] : wanted) {
    const std::string own = environment(name);
    const bool is_kept = !own.empty();
    if (!is_kept && value.empty()) continue;
    settings.push_back({name, is_kept ? own : value, is_kept});
  }
  return settings;
}

LaunchedTask task_of(const VariableReader& environment) {
  for (const Launcher& launcher : kLaunchers) {
    const auto number = parse_int(environment(launcher.number));
    const auto count = parse_int(environment(launcher.count));
    constexpr int64_t kMostTasks = 1 << 20;
    if (!number || !count || *count < 1 || *count > kMostTasks || *number < 0 ||
        *number >= *count) {
      continue;
    }
    LaunchedTask task{launcher.name, static_cast<int>(*number), static_cast<int>(*count),
                      launcher.name};
    for (const std::string_view name : split_blanks(launcher.start)) {
      const std::string value = environment(std::string(name));
      if (!value.empty()) task.start += "-" + safe_name(value);
    }
    return task;
  }
  return {};
}

}  // namespace ncclog
