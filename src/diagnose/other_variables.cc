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
constexpr std::string_view kCheckpoint = "NCCL's checkpoint library";
constexpr std::string_view kDoca = "the DOCA code within NCCL";
constexpr std::string_view kExpertParallel = "NCCL's expert-parallel library nccl_ep";
constexpr std::string_view kInspector = "NCCL's inspector plugin";
constexpr std::string_view kProfiler = "NCCL's example profiler plugin";
constexpr std::string_view kRccl = "RCCL";
constexpr std::string_view kReshard = "nccl_m2n";  // Called nccl_xfer in 2.30.7.
constexpr std::string_view kRocm = "the ROCm runtime";

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
    {"NCCL_INSPECTOR_COLL_POOL_SIZE", kInspector, ""},
    {"NCCL_INSPECTOR_COMM_POOL_SIZE", kInspector, ""},
    {"NCCL_INSPECTOR_DUMP_COLL_RING_SIZE", kInspector, ""},
    {"NCCL_INSPECTOR_DUMP_DIR", kInspector, ""},
    {"NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES", kInspector, ""},
    {"NCCL_INSPECTOR_DUMP_P2P_RING_SIZE", kInspector, ""},
    {"NCCL_INSPECTOR_DUMP_THREAD_ENABLE", kInspector, ""},
    {"NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS", kInspector, ""},
    {"NCCL_INSPECTOR_DUMP_VERBOSE", kInspector, ""},
    {"NCCL_INSPECTOR_ENABLE", kInspector, ""},
    {"NCCL_INSPECTOR_ENABLE_P2P", kInspector, ""},
    {"NCCL_INSPECTOR_OTEL_EXPORT", kInspector, ""},
    {"NCCL_INSPECTOR_OTEL_VERBOSE", kInspector, ""},
    {"NCCL_INSPECTOR_P2P_POOL_SIZE", kInspector, ""},
    {"NCCL_INSPECTOR_POOL_GROW", kInspector, ""},
    {"NCCL_INSPECTOR_PROM_DUMP", kInspector, ""},
    {"NCCL_INSPECTOR_REQUIRE_KERNEL_TIMING", kInspector, ""},
    {"NCCL_PROFILER_CE_POLLER_INTERVAL_MICROSECONDS", kProfiler, ""},
    {"NCCL_PROFILER_CE_TIMING", kProfiler, ""},
    {"NCCL_PROFILE_CE_BATCH_POOL_SIZE", kProfiler, ""},
    {"NCCL_PROFILE_CE_COLL_POOL_SIZE", kProfiler, ""},
    {"NCCL_PROFILE_CE_SYNC_POOL_SIZE", kProfiler, ""},
    {"NCCL_PROFILE_COLL_API_POOL_SIZE", kProfiler, ""},
    {"NCCL_PROFILE_COLL_POOL_SIZE", kProfiler, ""},
    {"NCCL_PROFILE_DUMP_FILE", kProfiler, ""},
    {"NCCL_PROFILE_EVENT_MASK", kProfiler, ""},
    {"NCCL_PROFILE_GROUP_API_POOL_SIZE", kProfiler, ""},
    {"NCCL_PROFILE_GROUP_POOL_SIZE", kProfiler, ""},
    {"NCCL_PROFILE_KERNEL_LAUNCH_POOL_SIZE", kProfiler, ""},
    {"NCCL_PROFILE_P2P_API_POOL_SIZE", kProfiler, ""},
    {"NCCL_PROFILE_P2P_POOL_SIZE", kProfiler, ""},
    {"NCCL_PROFILE_PROXY_CTRL_POOL_SIZE", kProfiler, ""},
    {"NCCL_PROFILE_PROXY_DETACH_POOL_SIZE", kProfiler, ""},
    {"NCCL_EP_COMM_SMS", kExpertParallel, ""},
    {"NCCL_EP_DEBUG", kExpertParallel, ""},
    {"NCCL_EP_DISABLE_GUARD", kExpertParallel, ""},
    {"NCCL_EP_ENV_VERBOSE", kExpertParallel, ""},
    {"NCCL_EP_HOME", kExpertParallel, ""},
    {"NCCL_EP_HT_EM_LOCAL_DUP", kExpertParallel, ""},
    {"NCCL_EP_HT_EM_NVLINK_DUP", kExpertParallel, ""},
    {"NCCL_EP_JIT_BUILD_INCLUDE_DIR", kExpertParallel, ""},
    {"NCCL_EP_JIT_CACHE_DIR", kExpertParallel, ""},
    {"NCCL_EP_JIT_CUDA_INCLUDE_DIR", kExpertParallel, ""},
    {"NCCL_EP_JIT_LOG", kExpertParallel, ""},
    {"NCCL_EP_JIT_NVCC", kExpertParallel, ""},
    {"NCCL_EP_JIT_SOURCE_DIR", kExpertParallel, ""},
    {"NCCL_EP_PREPROCESS_NUM_SMS", kExpertParallel, ""},
    {"NCCL_EP_PROLOG_EPILOG_SMS", kExpertParallel, ""},
    {"NCCL_EP_TIMEOUT_MS", kExpertParallel, ""},
    {"NCCL_EP_TOKENS_PER_CHUNK", kExpertParallel, ""},
    {"NCCL_CHECKPOINT_KVS_PATH", kCheckpoint, ""},
    {"NCCL_CHECKPOINT_KVS_TIMEOUT", kCheckpoint, ""},
    {"NCCL_RESHARD_ALGORITHM", kReshard, ""},
    {"NCCL_RESHARD_CHUNK_SIZE", kReshard, ""},
    {"NCCL_RESHARD_DST_DOMAIN_SIZE", kReshard, ""},
    {"NCCL_RESHARD_LB_MODE", kReshard, ""},
    {"NCCL_RESHARD_LOG_LEVEL", kReshard, ""},
    {"NCCL_RESHARD_MAX_CTA", kReshard, ""},
    {"NCCL_RESHARD_SRC_DOMAIN_SIZE", kReshard, ""},
    {"NCCL_RESHARD_STREAM_POOL_SIZE", kReshard, ""},
    {"NCCLXFER_RESHARD_ALGORITHM", kReshard, "NCCL_RESHARD_ALGORITHM"},
    {"NCCLXFER_RESHARD_CHUNK_SIZE", kReshard, "NCCL_RESHARD_CHUNK_SIZE"},
    {"NCCLXFER_RESHARD_DST_DOMAIN_SIZE", kReshard, "NCCL_RESHARD_DST_DOMAIN_SIZE"},
    {"NCCLXFER_RESHARD_LB_MODE", kReshard, "NCCL_RESHARD_LB_MODE"},
    {"NCCLXFER_RESHARD_LOG_LEVEL", kReshard, "NCCL_RESHARD_LOG_LEVEL"},
    {"NCCLXFER_RESHARD_MAX_CTA", kReshard, "NCCL_RESHARD_MAX_CTA"},
    {"NCCLXFER_RESHARD_SRC_DOMAIN_SIZE", kReshard, "NCCL_RESHARD_SRC_DOMAIN_SIZE"},
    {"NCCLXFER_RESHARD_STREAM_POOL_SIZE", kReshard, "NCCL_RESHARD_STREAM_POOL_SIZE"},
    {"DOCA_GPUNETIO_DISABLE_GDRCOPY", kDoca, ""},
    {"DOCA_GPUNETIO_LOG", kDoca, ""},
    {"MSCCL_ALGO_FILE_PATH", kRccl, ""},
    {"MSCCL_MAX_NUM_ALGOS", kRccl, ""},
    {"NCCL_ENABLE_DMABUF_SUPPORT", kRccl, ""},
    {"NCCL_RINGS", kRccl, ""},
    {"NCCL_RINGS_REMAP", kRccl, ""},
    {"NPKIT_DUMP_DIR", kRccl, ""},
    {"RCCL_CHANNEL_TUNING_ENABLE", kRccl, ""},
    {"RCCL_CLIQUE_IGNORE_TOPO", kRccl, ""},
    {"RCCL_DIRECT_ALLGATHER_THRESHOLD", kRccl, ""},
    {"RCCL_DIRECT_REDUCE_SCATTER_THRESHOLD", kRccl, ""},
    {"RCCL_DUMP_ROME_MODEL_FILE", kRccl, ""},
    {"RCCL_ENABLE_CLIQUE", kRccl, ""},
    {"RCCL_ENABLE_HIPGRAPH", kRccl, ""},
    {"RCCL_ENABLE_INTRANET", kRccl, ""},
    {"RCCL_ENABLE_PROXY_TRACE", kRccl, ""},
    {"RCCL_ENABLE_SIGNALHANDLER", kRccl, ""},
    {"RCCL_FORCE_ENABLE_CLIQUE", kRccl, ""},
    {"RCCL_FORCE_ENABLE_DMABUF", kRccl, ""},
    {"RCCL_FORCE_ENABLE_GDRDMA", kRccl, ""},
    {"RCCL_GDR_FLUSH_GPU_MEM_NO_RELAXED_ORDERING", kRccl, ""},
    {"RCCL_IB_QPS_PER_P2P", kRccl, ""},
    {"RCCL_INJECT_FAULTS", kRccl, ""},
    {"RCCL_INTRANET_THRESHOLD", kRccl, ""},
    {"RCCL_KERNEL_COLL_TRACE_ENABLE", kRccl, ""},
    {"RCCL_KERNEL_COLL_TRACE_THREAD_ENABLE", kRccl, ""},
    {"RCCL_LATENCY_PROFILER", kRccl, ""},
    {"RCCL_LL128_FORCE_ENABLE", kRccl, ""},
    {"RCCL_LOG_LEVEL", kRccl, ""},
    {"RCCL_LOG_ROCTX", kRccl, ""},
    {"RCCL_MODEL_MATCHING_DISABLE", kRccl, ""},
    {"RCCL_MODEL_REVERSAL_DISABLE", kRccl, ""},
    {"RCCL_MSCCLPP_ENABLE", kRccl, ""},
    {"RCCL_MSCCLPP_THRESHOLD", kRccl, ""},
    {"RCCL_MSCCL_ENABLE", kRccl, ""},
    {"RCCL_MSCCL_ENABLE_SINGLE_PROCESS", kRccl, ""},
    {"RCCL_MSCCL_FORCE_ENABLE", kRccl, ""},
    {"RCCL_NET_HDP_FLUSH", kRccl, ""},
    {"RCCL_OVERRIDE_ALGO", kRccl, ""},
    {"RCCL_OVERRIDE_PROTO", kRccl, ""},
    {"RCCL_P2P_BATCH_ENABLE", kRccl, ""},
    {"RCCL_P2P_NET_DISABLE", kRccl, ""},
    {"RCCL_P2P_NET_THRESHOLD", kRccl, ""},
    {"RCCL_PIVOT_ALLTOALL_ENABLE", kRccl, ""},
    {"RCCL_REPLAY_FILE", kRccl, ""},
    {"RCCL_ROCR_PATH", kRccl, ""},
    {"RCCL_SOCKET_LINGER", kRccl, ""},
    {"RCCL_SOCKET_REUSEADDR", kRccl, ""},
    {"RCCL_THREADS_PER_BLOCK", kRccl, ""},
    {"RCCL_TREES", kRccl, ""},
    {"RCCL_UNROLL_FACTOR", kRccl, ""},
    {"RCCL_USE_AMD_SMI_LIB", kRccl, ""},
    {"RCCL_USE_ROCM_SMI_LIB", kRccl, ""},
    {"AMD_LOG_LEVEL", kRocm, ""},
    {"AMD_SERIALIZE_COPY", kRocm, ""},
    {"AMD_SERIALIZE_KERNEL", kRocm, ""},
    {"GPU_MAX_HW_QUEUES", kRocm, ""},
    {"HIP_FORCE_DEV_KERNARG", kRocm, ""},
    {"HIP_LAUNCH_BLOCKING", kRocm, ""},
    {"HIP_VISIBLE_DEVICES", kRocm, ""},
    {"HSA_ENABLE_IPC_MODE_LEGACY", kRocm, ""},
    {"HSA_ENABLE_SDMA", kRocm, ""},
    {"HSA_FORCE_FINE_GRAIN_PCIE", kRocm, ""},
    {"HSA_NO_SCRATCH_RECLAIM", kRocm, ""},
    {"ROCR_VISIBLE_DEVICES", kRocm, ""},
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
    {"NCCL_PROFILER_", kProfiler, ""},
    {"NCCL_PROFILE_", kProfiler, ""},
    {"NCCL_INSPECTOR_", kInspector, ""},
    {"NCCL_EP_", kExpertParallel, ""},
    {"NCCL_CHECKPOINT_", kCheckpoint, ""},
    {"NCCL_RESHARD_", kReshard, ""},
    {"NCCLXFER_", kReshard, ""},
    {"DOCA_GPUNETIO_", kDoca, ""},
    {"RCCL_", kRccl, ""},
    {"MSCCL_", kRccl, ""},
    {"MSCCLPP_", kRccl, ""},
    {"NPKIT_", kRccl, ""},
    {"HSA_", kRocm, ""},
    {"HIP_", kRocm, ""},
    {"ROCR_", kRocm, ""},
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

std::span<const OtherVariable> named_variables() { return kNames; }

bool is_rccl_variable(std::string_view name) {
  const OtherVariable* other = find_other_variable(name);
  return other != nullptr && other->reader == kRccl;
}

bool is_others_variable(std::string_view name) { return find_other_variable(name) != nullptr; }

const UnreadName* find_unread_name(std::string_view name) {
  const auto* found = std::find_if(std::begin(kUnread), std::end(kUnread), [&](const auto& entry) {
    return begins_name(name, entry.name);
  });
  return found != std::end(kUnread) ? found : nullptr;
}

}  // namespace ncclog
