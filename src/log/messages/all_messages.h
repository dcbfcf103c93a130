// Every message kind, in one list. A new family adds its header and its list
// here.

#pragma once

#include <span>

#include "log/message_kind.h"
#include "log/messages/alloc.h"
#include "log/messages/bootstrap.h"
#include "log/messages/collective.h"
#include "log/messages/comm_misuse.h"
#include "log/messages/cuda.h"
#include "log/messages/desync.h"
#include "log/messages/environment.h"
#include "log/messages/error.h"
#include "log/messages/exception.h"
#include "log/messages/external_plugin.h"
#include "log/messages/flight_record.h"
#include "log/messages/gin.h"
#include "log/messages/graph_failed.h"
#include "log/messages/ib.h"
#include "log/messages/ib_failover.h"
#include "log/messages/ib_note.h"
#include "log/messages/ib_port.h"
#include "log/messages/ib_request.h"
#include "log/messages/kernel.h"
#include "log/messages/lifecycle.h"
#include "log/messages/memory_manager.h"
#include "log/messages/misc.h"
#include "log/messages/nccl_tests.h"
#include "log/messages/network.h"
#include "log/messages/nic_merge.h"
#include "log/messages/nvls.h"
#include "log/messages/ofi_failed.h"
#include "log/messages/pasted.h"
#include "log/messages/plugin.h"
#include "log/messages/plugin_failed.h"
#include "log/messages/progress.h"
#include "log/messages/proxy.h"
#include "log/messages/proxy_failed.h"
#include "log/messages/ras.h"
#include "log/messages/ras_client.h"
#include "log/messages/rccl_notes.h"
#include "log/messages/rdma_library.h"
#include "log/messages/rma.h"
#include "log/messages/scheduling.h"
#include "log/messages/shell.h"
#include "log/messages/shm.h"
#include "log/messages/socket.h"
#include "log/messages/store.h"
#include "log/messages/topology.h"
#include "log/messages/torch_notes.h"
#include "log/messages/torchrun.h"
#include "log/messages/trace.h"
#include "log/messages/transport.h"
#include "log/messages/tuning.h"
#include "log/messages/user.h"
#include "log/messages/version.h"
#include "log/messages/watchdog.h"
#include "log/messages/window.h"
#include "log/messages/windows.h"
#include "log/messages/work_end.h"

namespace ncclog {

template <typename... Lists>
struct JoinKinds;
template <typename... A>
struct JoinKinds<Kinds<A...>> {
  using Type = Kinds<A...>;
};
template <typename... A, typename... B, typename... More>
struct JoinKinds<Kinds<A...>, Kinds<B...>, More...> {
  using Type = typename JoinKinds<Kinds<A..., B...>, More...>::Type;
};

/// Common messages first: wordings that share a first word are tried in this order.
using AllMessages = JoinKinds<
    LifecycleMessages, TransportMessages, NvlsMessages, CollectiveMessages, EnvironmentMessages,
    NetworkMessages, VersionMessages, BootstrapMessages, ProxyMessages, ErrorMessages,
    TopologyMessages, TuningMessages, PluginMessages, ExternalPluginMessages, ShmMessages,
    SocketMessages, IbMessages, IbPortMessages, AllocMessages, RasMessages, RasClientMessages,
    CudaMessages, UserMessages, CommMisuseMessages, GraphFailedMessages, NicMergeMessages,
    IbRequestMessages, IbFailoverMessages, IbNoteMessages, RdmaLibraryMessages, GinMessages,
    RmaMessages, WindowMessages, MemoryManagerMessages, ProxyFailedMessages, PluginFailedMessages,
    SchedulingMessages, WindowsMessages, MiscMessages, TraceMessages, WatchdogMessages,
    FlightRecordMessages, DesyncMessages, StoreMessages, ExceptionMessages, TorchrunMessages,
    ShellMessages, KernelMessages, TorchNotes, NcclTestsMessages, PastedMessages, ProgressMessages,
    WorkEndMessages, OfiFailedMessages, RcclNotes>::Type;

template <typename T, typename... A>
constexpr uint16_t position_of(Kinds<A...>) {
  // No fold expression: clang limits their length to 256 operands.
  constexpr bool is_it[] = {std::is_same_v<T, A>...};
  uint16_t position = 0;
  while (!is_it[position]) ++position;
  return position;
}

/// Index of struct T's kind in all_kinds().
template <typename T>
inline constexpr uint16_t kKindIndex = position_of<T>(AllMessages{});

/// All kinds, built on first use; the span is valid for the whole program.
std::span<const Kind> all_kinds();

/// The kind with that name; nullptr if there is none.
const Kind* find_kind(std::string_view name);

}  // namespace ncclog
