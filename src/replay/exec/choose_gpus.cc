#include "replay/exec/choose_gpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace ncclog {
namespace {

/// Less than that for each rank, and NCCL cannot even set up its proxies.
constexpr int64_t kLeastSharedMemory = 4LL << 20;

/// With that much for each rank nobody has been seen to run out.
constexpr int64_t kPlentySharedMemory = 64LL << 20;

GpuChoice refused(std::string why, std::string hint = {}) {
  return {{}, std::move(why), std::move(hint)};
}

const GpuState* find_gpu(const ReplayMachine& machine, int gpu) {
  for (const GpuState& state : machine.gpus.gpus) {
    if (state.gpu.gpu == gpu) return &state;
  }
  return nullptr;
}

/// What the driver takes for itself of a GPU that nobody uses, and a little more.
int64_t idle_use(const GpuState& state) { return (1LL << 30) + state.gpu.memory / 100; }

double gib(int64_t bytes) { return static_cast<double>(bytes) / (1LL << 30); }

/// "process 4711 uses it"; empty: nobody is seen to use the GPU.
std::string use_of(const GpuState& state) {
  if (state.processes && !state.processes->empty()) {
    const bool one = state.processes->size() == 1;
    return fmt::format("{} {} {} it", one ? "process" : "processes",
                       fmt::join(*state.processes, ", "), one ? "uses" : "use");
  }
  // Processes of other containers are not told, but their memory is.
  const int64_t used = state.gpu.memory - state.free;
  if (state.free < 0 || used <= idle_use(state)) return {};
  return fmt::format("{:.1f} of {:.1f} GiB of its memory are taken", gib(used),
                     gib(state.gpu.memory));
}

constexpr const char* kShareHint =
    "wait until it is free, name others with --devices, or take it all the same with --share";

GpuChoice check_named(const ReplayPlan& plan, const RunFlags& flags, const ReplayMachine& machine) {
  const size_t needed = plan.ranks.size();
  std::set<int> seen;
  for (int gpu : flags.devices) {
    const GpuState* state = find_gpu(machine, gpu);
    if (state == nullptr) {
      return refused(
          fmt::format("there is no GPU {}: this machine has {}", gpu, machine.gpus.gpus.size()),
          "`ncclog-replay gpus` lists them");
    }
    if (!seen.insert(gpu).second) {
      return refused(fmt::format("--devices names GPU {} twice: never two ranks on one GPU", gpu));
    }
    const std::string use = use_of(*state);
    if (!use.empty() && !flags.share) {
      return refused(fmt::format("GPU {} is busy: {}", gpu, use), kShareHint);
    }
  }
  if (flags.devices.size() != needed) {
    return refused(fmt::format("--devices names {} GPUs, and the plan needs {}, one for each rank",
                               flags.devices.size(), needed));
  }
  return {flags.devices, {}, {}};
}

GpuChoice choose_free(const ReplayPlan& plan, const RunFlags& flags, const ReplayMachine& machine) {
  const size_t needed = plan.ranks.size();
  if (machine.gpus.gpus.size() < needed) {
    const size_t there = machine.gpus.gpus.size();
    return refused(
        fmt::format("the plan needs {} GPUs, one for each rank, and this machine has {}", needed,
                    there),
        there < 2 ? "a replay needs two GPUs at least"
                  : fmt::format("--gpus {} makes a smaller plan, and says what is lost", there));
  }
  GpuChoice choice;
  std::string busy;
  for (const GpuState& state : machine.gpus.gpus) {
    const std::string use = use_of(state);
    if (use.empty() || flags.share) {
      if (choice.gpus.size() < needed) choice.gpus.push_back(state.gpu.gpu);
    } else if (busy.empty()) {
      busy = fmt::format("GPU {} is busy: {}", state.gpu.gpu, use);
    }
  }
  if (choice.gpus.size() == needed) return choice;
  return refused(busy, kShareHint);
}

/// Why nothing can be replayed here, whatever the plan.
GpuChoice check_machine(const ReplayMachine& machine, size_t nranks) {
  if (!machine.gpus.problem.empty()) {
    return refused(machine.gpus.problem, "plans can be made and checked without a GPU");
  }
  if (machine.gpus.gpus.empty()) return refused("this machine has no GPU that CUDA can use");
  if (!machine.nccl_problem.empty()) {
    return refused(machine.nccl_problem, "--nccl names the library to use");
  }
  const int64_t least = kLeastSharedMemory * static_cast<int64_t>(nranks);
  if (machine.shared_memory >= 0 && machine.shared_memory < least) {
    return refused(fmt::format("/dev/shm is full: {} of the {} MiB are free that NCCL needs there",
                               machine.shared_memory >> 20, least >> 20),
                   "remove what is left there of other programs, or give the container more "
                   "(--shm-size)");
  }
  return {};
}

}  // namespace

GpuChoice choose_gpus(const ReplayPlan& plan, const RunFlags& flags, const ReplayMachine& machine) {
  GpuChoice problem = check_machine(machine, plan.ranks.size());
  if (!problem.refusal.empty()) return problem;
  return flags.devices.empty() ? choose_free(plan, flags, machine)
                               : check_named(plan, flags, machine);
}

std::string machine_remark(size_t ranks, const ReplayMachine& machine) {
  const int64_t wanted = kPlentySharedMemory * static_cast<int64_t>(ranks);
  if (machine.shared_memory < 0 || machine.shared_memory >= wanted) return {};
  return fmt::format(
      "/dev/shm has {} MiB free; ranks that meet in host memory (SHM) may need {} MiB",
      machine.shared_memory >> 20, wanted >> 20);
}

}  // namespace ncclog
