#include "diagnose/influences.h"

#include <algorithm>
#include <iterator>

namespace ncclog {
namespace {

constexpr std::string_view kWithin = "within a host";
constexpr std::string_view kBetween = "between hosts";
constexpr std::string_view kAny = "";

/// Names are beginnings of names.
struct Influence {
  Topic topic;
  std::string_view name;
  Topic on;
  std::string_view what;
};

using enum Topic;

constexpr Influence kInfluences[] = {
    // How ranks of a host reach each other (graph/paths.cc, transport/p2p.cc, transport/shm.cc).
    {Setting, "NCCL_P2P_", Transport, kWithin},
    {Setting, "NCCL_P2P_", Transport, "within hosts"},
    {Setting, "NCCL_P2P_", Topology, "paths between GPUs"},
    {Setting, "NCCL_P2P_", Channels, kAny},
    {Setting, "NCCL_P2P_", Algorithm, kAny},
    {Setting, "NCCL_P2P_", Timing, kAny},
    {Setting, "NCCL_P2P_PXN_LEVEL", Transport, kBetween},
    {Setting, "NCCL_IGNORE_DISABLED_P2P", Transport, kWithin},
    {Setting, "NCCL_SHM_", Transport, kWithin},
    {Setting, "NCCL_SHM_", Timing, kAny},
    {Setting, "NCCL_CUMEM_", Transport, kWithin},
    {Setting, "NCCL_CUMEM_", Timing, kAny},
    {Setting, "NCCL_NVB_", Transport, kWithin},
    {Setting, "NCCL_NVB_", Channels, kAny},
    {Setting, "NCCL_HOSTID", Shape, kAny},
    {Setting, "NCCL_HOSTID", Transport, kAny},
    {Setting, "NCCL_HOSTID", Channels, kAny},
    {Setting, "NCCL_MNNVL_", Transport, kAny},
    {Setting, "NCCL_MNNVL_", Channels, kAny},
    {Setting, "NCCL_RUNTIME_CONNECT", Timing, kAny},
    // Which network, which devices of it, how (net.cc, transport/net*.cc, bootstrap.cc).
    {Setting, "NCCL_NET", Network, kAny},
    {Setting, "NCCL_NET", Interface, kAny},
    {Setting, "NCCL_NET", Transport, kBetween},
    {Setting, "NCCL_NET", Channels, kAny},
    {Setting, "NCCL_NET", Timing, kAny},
    {Setting, "NCCL_IB_", Network, kAny},
    {Setting, "NCCL_IB_", Interface, kAny},
    {Setting, "NCCL_IB_", Transport, kBetween},
    {Setting, "NCCL_IB_", Channels, kAny},
    {Setting, "NCCL_IB_", Timing, kAny},
    {Setting, "NCCL_SOCKET_", Interface, kAny},
    {Setting, "NCCL_SOCKET_", Channels, kAny},
    {Setting, "NCCL_SOCKET_", Timing, kAny},
    {Setting, "NCCL_OOB_", Interface, kAny},
    {Setting, "NCCL_DMABUF_", Network, "GPU Direct RDMA"},
    {Setting, "NCCL_DMABUF_", Transport, kBetween},
    {Setting, "NCCL_PXN_", Transport, kBetween},
    {Setting, "NCCL_CROSS_NIC", Transport, kBetween},
    {Setting, "NCCL_CROSS_NIC", Channels, kAny},
    // How many channels, which algorithms (graph/search.cc, graph/tuning.cc, graph/connect.cc).
    {Setting, "NCCL_TOPO_FILE", Topology, kAny},
    {Setting, "NCCL_TOPO_FILE", Transport, kAny},
    {Setting, "NCCL_TOPO_FILE", Channels, kAny},
    {Setting, "NCCL_GRAPH_FILE", Channels, kAny},
    {Setting, "NCCL_MIN_", Channels, kAny},
    {Setting, "NCCL_MIN_", Timing, kAny},
    {Setting, "NCCL_MAX_", Channels, kAny},
    {Setting, "NCCL_MAX_", Timing, kAny},
    {Setting, "NCCL_NCHANNELS_", Channels, kAny},
    {Setting, "NCCL_BUFFSIZE", Timing, kAny},
    {Setting, "NCCL_ALGO", Algorithm, kAny},
    {Setting, "NCCL_ALGO", Channels, kAny},
    {Setting, "NCCL_ALGO", Timing, kAny},
    {Setting, "NCCL_PROTO", Algorithm, kAny},
    {Setting, "NCCL_PROTO", Timing, kAny},
    {Setting, "NCCL_PAT_", Algorithm, kAny},
    {Setting, "NCCL_TUNER_", Network, "TUNER plugin"},
    {Setting, "NCCL_TUNER_", Algorithm, kAny},
    {Setting, "NCCL_NVLS_", Channels, kAny},
    {Setting, "NCCL_NVLS_", Topology, "NVLink SHARP"},
    {Setting, "NCCL_NVLS_", Algorithm, kAny},
    {Setting, "NCCL_NVLS_", Timing, kAny},
    {Setting, "NCCL_COLLNET_", Channels, kAny},
    {Setting, "NCCL_COLLNET_", Algorithm, kAny},
    {Setting, "Comm config Net name", Network, kAny},
    {Setting, "Comm config Net name", Transport, kBetween},
    {Setting, "Comm config Min CTAs", Channels, kAny},
    {Setting, "Comm config Max CTAs", Channels, kAny},
    // Another release decides anew.
    {Version, kAny, Topology, "NVLink SHARP"},
    {Version, kAny, Transport, kAny},
    {Version, kAny, Channels, kAny},
    {Version, kAny, Algorithm, kAny},
    {Version, kAny, Timing, kAny},
    {Version, kAny, Warning, kAny},
    // What a job runs on decides how it communicates.
    {Network, kAny, Interface, "devices of"},
    {Network, kAny, Interface, "out-of-band of"},
    {Network, kAny, Transport, kBetween},
    {Network, kAny, Channels, kAny},
    {Network, kAny, Algorithm, kAny},
    {Network, kAny, Timing, kAny},
    {Interface, kAny, Channels, kAny},
    {Interface, kAny, Timing, kAny},
    {Shape, "number of ranks", Shape, "communicators"},
    {Shape, "number of ranks", Shape, "ranks "},
    {Shape, "number of hosts", Shape, "ranks on a host"},
    {Shape, "number of ranks", Topology, "devices of a host"},
    {Shape, "number of ranks", Transport, kAny},
    {Shape, "number of ranks", Channels, kAny},
    {Shape, "number of ranks", Algorithm, kAny},
    {Shape, "number of ranks", Timing, kAny},
    {Shape, "number of ranks", Calls, kAny},
    {Shape, "number of hosts", Transport, kAny},
    {Shape, "number of hosts", Channels, kAny},
    {Shape, "number of hosts", Algorithm, kAny},
    {Shape, "number of hosts", Timing, kAny},
    {Topology, kAny, Transport, kAny},
    {Topology, kAny, Channels, kAny},
    {Topology, kAny, Algorithm, kAny},
    {Topology, kAny, Timing, kAny},
    {Transport, kAny, Channels, kAny},
    {Transport, kAny, Algorithm, kAny},
    {Transport, kAny, Timing, kAny},
    {Channels, "largest communicator", Channels, "rings of"},
    {Channels, "largest communicator", Channels, "trees of"},
    {Channels, kAny, Algorithm, kAny},
    {Channels, kAny, Timing, kAny},
    {Algorithm, kAny, Timing, kAny},
};

}  // namespace

bool may_explain(const DifferenceSubject& cause, const DifferenceSubject& effect) {
  return std::any_of(std::begin(kInfluences), std::end(kInfluences), [&](const Influence& each) {
    return each.topic == cause.topic && each.on == effect.topic &&
           cause.name.starts_with(each.name) && effect.name.starts_with(each.what);
  });
}

}  // namespace ncclog
