#include "replay/exec/launcher_env.h"

#include <fmt/format.h>

#include <iterator>

#include "base/sha256.h"
#include "base/text.h"

namespace ncclog {
namespace {

/// Names by which a launcher says what a task is.
struct LauncherNames {
  const char* launcher;
  const char* task;
  const char* tasks;
  const char* local;
  const char* job;
};

/// torchrun comes first: srun may have started it. Names of Open MPI 4 and 5; of MPICH and Intel
/// MPI (Hydra), which give the local number under another name.
constexpr LauncherNames kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "PMIX_NAMESPACE"},
    {"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "PMI_ID"},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_JOB_ID"},
};

/// Ports that are asked for where nothing names one; none of them is the system's own choice for
/// connections that go out.
constexpr int kFirstPort = 28000;
constexpr int kPorts = 1000;

std::string value_of(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

std::optional<int> number_of(const Environment& environment, const char* name) {
  const auto number = parse_int(value_of(environment, name));
  if (!number || *number < 0 || *number > 1'000'000) return std::nullopt;
  return static_cast<int>(*number);
}

std::string host_of(const Environment& environment, const LauncherTask& task) {
  if (std::string named = value_of(environment, "MASTER_ADDR"); !named.empty()) return named;
  if (task.launcher == "srun") {
    return first_host(value_of(environment, "SLURM_STEP_NODELIST"));
  }
  const auto of_host = number_of(environment, "OMPI_COMM_WORLD_LOCAL_SIZE");
  return of_host == task.tasks ? "127.0.0.1" : "";
}

int port_of(const Environment& environment, const LauncherTask& task) {
  if (const auto named = number_of(environment, "MASTER_PORT"); named && *named > 0) {
    // torchrun's own agent listens on that one.
    return task.launcher == "torchrun" ? *named + 1 : *named;
  }
  int sum = 0;
  for (char c : task.job) sum = (sum * 31 + static_cast<unsigned char>(c)) % kPorts;
  return kFirstPort + sum;
}

}  // namespace

std::optional<LauncherTask> launcher_task(const Environment& environment) {
  for (const LauncherNames& names : kLaunchers) {
    const auto task = number_of(environment, names.task);
    const auto tasks = number_of(environment, names.tasks);
    if (!task || !tasks || *tasks < 2 || *task >= *tasks) continue;
    LauncherTask found{.launcher = names.launcher, .task = *task, .tasks = *tasks};
    found.local = number_of(environment, names.local).value_or(0);
    found.job = value_of(environment, names.job);
    if (found.launcher == "srun") found.job += "." + value_of(environment, "SLURM_STEP_ID");
    // Each process of Hydra has an id of its own.
    if (std::string_view(names.job) == "PMI_ID") found.job.clear();
    found.host = host_of(environment, found);
    found.port = port_of(environment, found);
    return found;
  }
  return std::nullopt;
}

std::string first_host(std::string_view nodelist) {
  const size_t end = nodelist.find_first_of("[,");
  std::string host(nodelist.substr(0, end));
  if (end == std::string_view::npos || nodelist[end] == ',') return host;
  std::string_view rest = nodelist.substr(end + 1);
  const size_t close = rest.find(']');
  if (close == std::string_view::npos) return {};
  const std::string_view tail = rest.substr(close + 1);
  const std::string_view number = rest.substr(0, rest.find_first_of("-,]"));
  return host + std::string(number) + std::string(tail.substr(0, tail.find(',')));
}

std::string launch_token(const std::string& plan_hash, const std::string& job, size_t run) {
  return sha256_hex(fmt::format("ncclog-replay\n{}\n{}\n{}", plan_hash, job, run)).substr(0, 32);
}

}  // namespace ncclog
