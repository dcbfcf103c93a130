#include "diagnose/other_variables.h"

#include <algorithm>

namespace ncclog {
namespace {

constexpr OtherVariable kTorch[] = {
    {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "PyTorch", ""},
    {"TORCH_NCCL_AVOID_RECORD_STREAMS", "PyTorch", ""},
    {"TORCH_NCCL_BCAST_UNIQUEID", "PyTorch", ""},
    {"TORCH_NCCL_BLOCKING_WAIT", "PyTorch", ""},
    {"TORCH_NCCL_COORD_CHECK_MILSEC", "PyTorch", ""},
    {"TORCH_NCCL_CUDA_EVENT_CACHE", "PyTorch", ""},
    {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", "PyTorch", ""},
    {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "PyTorch", ""},
    {"TORCH_NCCL_DESYNC_DEBUG", "PyTorch", ""},
    {"TORCH_NCCL_DUMP_ON_TIMEOUT", "PyTorch", ""},
    {"TORCH_NCCL_ENABLE_MONITORING", "PyTorch", ""},
    {"TORCH_NCCL_ENABLE_TIMING", "PyTorch", ""},
    {"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "PyTorch", ""},
    {"TORCH_NCCL_HIGH_PRIORITY", "PyTorch", ""},
    {"TORCH_NCCL_LOG_CPP_STACK_ON_UNCLEAN_SHUTDOWN", "PyTorch", ""},
    {"TORCH_NCCL_NAN_CHECK", "PyTorch", ""},
    {"TORCH_NCCL_NONBLOCKING_TIMEOUT", "PyTorch", ""},
    {"TORCH_NCCL_PROPAGATE_ERROR", "PyTorch", ""},
    {"TORCH_NCCL_RANKS_PER_ROOT", "PyTorch", ""},
    {"TORCH_NCCL_RETHROW_CUDA_ERRORS", "PyTorch", ""},
    {"TORCH_NCCL_SHOW_EAGER_INIT_P2P_SERIALIZATION_WARNING", "PyTorch", ""},
    {"TORCH_NCCL_TRACE_BUFFER_SIZE", "PyTorch", ""},
    {"TORCH_NCCL_TRACE_CPP_STACK", "PyTorch", ""},
    {"TORCH_NCCL_USE_COMM_NONBLOCKING", "PyTorch", ""},
    {"TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK", "PyTorch", ""},
    {"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "PyTorch", ""},
};

constexpr std::string_view kBuilds = "a build or an image, to find the library";

constexpr OtherVariable kNames[] = {
    {"NCCL_ASYNC_ERROR_HANDLING", "PyTorch", "TORCH_NCCL_ASYNC_ERROR_HANDLING"},
    {"NCCL_BLOCKING_WAIT", "PyTorch", "TORCH_NCCL_BLOCKING_WAIT"},
    {"NCCL_DESYNC_DEBUG", "PyTorch", "TORCH_NCCL_DESYNC_DEBUG"},
    {"NCCL_ENABLE_TIMING", "PyTorch", "TORCH_NCCL_ENABLE_TIMING"},
    {"NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK", "PyTorch",
     "TORCH_NCCL_USE_TENSOR_REGISTER_ALLOCATOR_HOOK"},
    {"ENABLE_NCCL_HEALTH_CHECK", "PyTorch", "TORCH_ENABLE_NCCL_HEALTH_CHECK"},
    {"NCCL_BUILD_TYPE", kBuilds, ""},
    {"NCCL_DIR", kBuilds, ""},
    {"NCCL_HOME", kBuilds, ""},
    {"NCCL_INCLUDE_DIR", kBuilds, ""},
    {"NCCL_INCLUDE_DIRS", kBuilds, ""},
    {"NCCL_INSTALL_PATH", kBuilds, ""},
    {"NCCL_LIBRARIES", kBuilds, ""},
    {"NCCL_LIBRARY", kBuilds, ""},
    {"NCCL_LIBRARY_PATH", kBuilds, ""},
    {"NCCL_LIB_DIR", kBuilds, ""},
    {"NCCL_PATH", kBuilds, ""},
    {"NCCL_PREFIX", kBuilds, ""},
    {"NCCL_ROOT", kBuilds, ""},
    {"NCCL_ROOT_DIR", kBuilds, ""},
    {"NCCL_SRC_DIR", kBuilds, ""},
    {"NCCL_SOURCE_DIR", kBuilds, ""},
    {"NCCL_VERSION", kBuilds, ""},
    {"NCCL_LINK_TYPE", kBuilds, ""},
    {"NCCL_MAJOR_VERSION", kBuilds, ""},
    {"NCCL_TUNER_CONFIG_FILE", "NCCL's example tuner plugin", ""},
    {"NCCL_TUNER_CONFIG_PATH", "Google's tuner plugin", ""},
};

constexpr OtherVariable kPrefixes[] = {
    {"NCCL_IBEXT_", "the IBext plugin of HPC-X", ""},
    {"NCCL_OFI_", "the aws-ofi-nccl plugin, which spells its settings OFI_NCCL_*", ""},
    {"OFI_NCCL_", "the aws-ofi-nccl plugin", ""},
    {"NCCL_FASTSOCKET_", "Google's Fast Socket plugin", ""},
    {"NCCL_GPUDIRECTTCPX_", "Google's GPUDirect-TCPX plugin", ""},
    {"NCCL_TCPX_", "Google's GPUDirect-TCPX plugin", ""},
    {"NCCL_FASTRAK_", "Google's GPUDirect-TCPXO plugin", ""},
    {"NCCL_SHIMNET_", "Google's gIB plugin", ""},
    {"NCCL_UCX_", "the UCX plugin of HPC-X", ""},
    {"NCCL_SHARP_", "the SHARP plugin of HPC-X", ""},
    {"NCCL_RDMA_SHARP_", "the SHARP plugin of HPC-X", ""},
    {"NCCL_GPUVIZ_", "Google's profiler plugin", ""},
    {"NCCL_TELEMETRY_", "Google's profiler plugin", ""},
    {"NCCL_PROFILER_", "NCCL's example profiler plugin", ""},
    {"NCCL_PROFILE_", "NCCL's example profiler plugin", ""},
    {"NCCL_INSPECTOR_", "NCCL's inspector plugin", ""},
    {"NCCL_EP_", "NCCL's expert-parallel library nccl_ep", ""},
    {"NCCL_CHECKPOINT_", "NCCL's checkpoint library", ""},
    {"NCCL_TEST", "nccl-tests or a test run", ""},
};

constexpr std::string_view kTimeout =
    "collectives have no time limit in NCCL; PyTorch's is "
    "init_process_group(timeout=timedelta(…)), "
    "or the option of the framework";
constexpr std::string_view kConnect =
    "NCCL retries connections as NCCL_SOCKET_RETRY_CNT and NCCL_SOCKET_RETRY_SLEEP_MSEC say "
    "(2.24.3 and later)";
constexpr std::string_view kWatchdog =
    "the watchdog is PyTorch's: TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC for its own life, "
    "init_process_group(timeout=…) for collectives";

constexpr UnreadName kUnread[] = {
    {"NCCL_TIMEOUT", kTimeout},
    {"NCCL_TIMEOUT_*", kTimeout},
    {"NCCL_COMM_TIMEOUT", kTimeout},
    {"NCCL_LAUNCH_TIMEOUT", kTimeout},
    {"TORCH_NCCL_TIMEOUT", kTimeout},
    {"NCCL_CONNECT_TIMEOUT", kConnect},
    {"NCCL_SOCKET_TIMEOUT", kConnect},
    {"NCCL_HEARTBEAT*", kWatchdog},
    {"NCCL_WATCHDOG*", kWatchdog},
    {"NCCL_SHM_DIR",
     "the segments are always in /dev/shm; enlarge that (docker --shm-size, an emptyDir with "
     "medium: Memory)"},
    {"NCCL_SHM_USE_CUDA_MEMORY",
     "there was NCCL_SHM_USE_CUDA_MEMCPY (2.13.4 to 2.30.4), which copies with cudaMemcpy and is "
     "no cure for lack of space"},
    {"NCCL_DEBUG_LEVEL", "the level is NCCL_DEBUG=INFO, what it is about NCCL_DEBUG_SUBSYS"},
    {"NCCL_LOG_LEVEL", "the level is NCCL_DEBUG=INFO"},
    {"NCCL_SOCKET_IF", "interfaces are chosen by NCCL_SOCKET_IFNAME"},
    {"NCCL_IFNAME", "interfaces are chosen by NCCL_SOCKET_IFNAME"},
    {"NCCL_IBV_*", "settings of the InfiniBand network begin with NCCL_IB_"},
    {"NCCL_TREE_ENABLE", "algorithms are chosen by NCCL_ALGO"},
    {"NCCL_TOPO_AFFINITY", "NCCL_IGNORE_CPU_AFFINITY=1 takes the GPU's processors alone"},
};

bool begins_name(std::string_view name, std::string_view entry) {
  return entry.ends_with('*') ? name.starts_with(entry.substr(0, entry.size() - 1)) : name == entry;
}

}  // namespace

const OtherVariable* find_other_variable(std::string_view name) {
  const auto is_it = [&](const OtherVariable& each) { return each.name == name; };
  const auto* torch = std::find_if(std::begin(kTorch), std::end(kTorch), is_it);
  if (torch != std::end(kTorch)) return torch;
  const auto* named = std::find_if(std::begin(kNames), std::end(kNames), is_it);
  if (named != std::end(kNames)) return named;
  const auto* prefixed =
      std::find_if(std::begin(kPrefixes), std::end(kPrefixes),
                   [&](const OtherVariable& each) { return name.starts_with(each.name); });
  return prefixed != std::end(kPrefixes) ? prefixed : nullptr;
}

std::span<const OtherVariable> torch_variables() { return kTorch; }

bool is_others_variable(std::string_view name) { return find_other_variable(name) != nullptr; }

const UnreadName* find_unread_name(std::string_view name) {
  const auto* found = std::find_if(std::begin(kUnread), std::end(kUnread), [&](const auto& entry) {
    return begins_name(name, entry.name);
  });
  return found != std::end(kUnread) ? found : nullptr;
}

}  // namespace ncclog
