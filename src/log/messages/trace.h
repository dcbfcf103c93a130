// What only builds with TRACE=1 print: every step of bootstrap, transports, proxies and plugins.
//
//   node07:4121:4188 [3] 1523.404125 ncclTopoCompute:812 NCCL TRACE rank 3 nranks 16 - BEGIN
//
// Such a log is long, and nothing is concluded from these lines: they are known so that what is
// unknown can be told apart. Wordings that releases print as INFO, too, stand in the families.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Steps of the rendezvous and of the set-up of a communicator (bootstrap.cc, init.cc).
struct TraceInit {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "trace_init";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "{text:BEGIN|DONE|NetRingAllGather started|bootstrap: abort called|"
               "socketRingAllGather started|COLLECTED HANDLES|SENT OUT HANDLES|COMMON IS NULL}",
       .example = "NetRingAllGather started"},
      {.text = "{text:COLLECTED ALL|SENT OUT ALL} {:int} HANDLES",
       .example = "COLLECTED ALL 16 HANDLES"},
      {.text = "{text:Received connect from rank} {:int} total {...}",
       .example = "Received connect from rank 3 total 4/16"},
      {.text = "{text:Receiving} tag={:int} peer={...}",
       .example = "Receiving tag=3 peer=1 size=4"},
      {.text = "{text:Sending to|Sent to} peer={:int} tag={...}",
       .example = "Sent to peer=1 tag=3 size=4"},
      {.text = "{text:bidirectional bootstrap}: totalSteps={:int}",
       .example = "bidirectional bootstrap: totalSteps=8"},
      {.text = "{text:socketRingAllGather started}: rank={...}",
       .example = "socketRingAllGather started: rank=3 nranks=16"},
      {.text = "rank {:int} {text:delaying connection to root} by {...}",
       .example = "rank 3 delaying connection to root by 12 msec"},
      {.text = "rank {:int} {text:nranks} {:int}", .example = "rank 3 nranks 16"},
      {.text = "rank {:int} {text:nranks} {:int} - {:DONE|BEGIN}",
       .example = "rank 3 nranks 16 - BEGIN"},
      {.text = "rank {:int} nranks {:int} - {text:BUILD|BUILT|CONNECTED} {:int} {...}",
       .example = "rank 3 nranks 16 - BUILT 2 TREES/RINGS"},
      {.text = "rank {:int} nranks {:int} {text:root|size|tag} {...}",
       .example = "rank 3 nranks 16 size 4 - AllGather DONE"},
      {.text = "rank {:int} {text:Connected inter-node CollNet}",
       .example = "rank 3 Connected inter-node CollNet"},
      {.text = "{text:bootstrapAllGather|bootstrapIntraNodeBroadcast} for {:int} B done in {...}",
       .example = "bootstrapAllGather for 64 B done in 0.001200 sec: 0.053333 MB/sec"},
      {.text = "{text:bootstrapBarrier|bootstrapBroadcast|bootstrapIntraNodeBarrier} done in {...}",
       .example = "bootstrapBarrier done in 0.001200 sec"},
      {.text = "{text:netRingAllGather|socketRingAllGather} first message in {...}",
       .example = "netRingAllGather first message in 0.001200 (1.500000 MB/sec), rest in 0.000900 "
                  "(2.000000 MB/sec)"},
      {.text = "{text:Root timings} (wait {...}",
       .example = "Root timings (wait 0.001200, recv 0.000900, send 0.000300)"},
      {.text = "{text:Destroying} comm {:hex} rank {:int} abortFlag {...}",
       .example = "Destroying comm 0x7f10a0 rank 3 abortFlag 0 asyncResult 0"},
      {.text =
           "comm {:hex} rank {:int} {text:nRanks} {:int} cudaDev {:int} {:busId|nvmlDev} {:hex}",
       .example = "comm 0x7f10a0 rank 3 nRanks 16 cudaDev 3 busId a1000"},
      {.text = "comm {:hex} rank {:int} {text:nranks} {:int} cudaDev {:int} busId {:hex}",
       .example = "comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 busId a1000"},
      {.text = "comm {:hex} rank {:int} {text:nranks} {:int} cudaDev {:int} busId {:hex} compCap "
               "{:int}",
       .example = "comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 busId a1000 compCap 90"},
      {.text = "comm {:hex}, commHash {:hex}, rank {:int} nranks {:int} - {text:BEGIN}",
       .example = "comm 0x7f10a0, commHash 9c1b2f0a, rank 3 nranks 16 - BEGIN"},
      {.text = "commReclaim: {text:reclaim} comm {:hex} rank {:int} state {:int}",
       .example = "commReclaim: reclaim comm 0x7f10a0 rank 3 state 0"},
      {.text = "{text:hostHash}[{:int}] {...}",
       .example = "hostHash[3] 9c1b2f0a localRank 3 localRanks 8 localRank0 0"},
      {.text = "{text:pidHash}[{:int}] {...}",
       .example = "pidHash[3] 9c1b2f0a intraProcRank 0 intraProcRanks 1 intraProcRank0 3"},
      {.text = "{text:nsend} {:int} nrecv {...}", .example = "nsend 2 nrecv 2"},
      {.text = "{text:unique PID|unique hostname} '{}'", .example = "unique hostname 'node07'"},
      {.text = "{text:Setting cudaLimitStackSize} to {:int}",
       .example = "Setting cudaLimitStackSize to 1024"},
      {.text = "{text:Current affinity|CPU GPU affinity} for GPU {:int} is {...}",
       .example = "Current affinity for GPU 3 is ffff,0000ffff"},
      {.text = "{text:NVLink domains}: {:int} domains, {...}",
       .example = "NVLink domains: 2 domains, min ranks per domain: 8, max ranks per domain: 8"},
      {.text = "GDRCOPY : {text:allocated devMem|copy workFifo} {...}",
       .example = "GDRCOPY : copy workFifo 0x7f21e0 to 0x7f31e0 first 0 last 7 nelems 8"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Steps of the search for paths (graph/*.cc).
struct TraceGraph {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "trace_graph";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "{text:Allocated} {:int} paths", .example = "Allocated 16 paths"},
      {.text = "{text:Checking pix for} busid={...}",
       .example = "Checking pix for busid=0000:0a:00.0"},
      {.text = "{text:Comparing parent of} node={...}",
       .example = "Comparing parent of node=0x7f10a0 to common=0x7f20b0"},
      {.text = "{text:Conflicting|Made new|Trying to make new} busId {:hex}",
       .example = "Made new busId a1000"},
      {.text = "{text:Found link_width} ({}",
       .example = "Found link_width (x16)=16 for busid=0000"},
      {.text = "{text:Found physical|Re-found physical} ncclNet node {...}",
       .example = "Re-found physical ncclNet node 0 mlx5_0"},
      {.text = "{text:Opened} {:word} guid {:hex}",
       .example = "Opened mlx5_0 guid 9c63c003005f4a1"},
      {.text = "{text:Placed dev} {...}", .example = "Placed dev 3 path=2"},
      {.text = "{text:Read NVLink target class}: tclass={...}",
       .example = "Read NVLink target class: tclass=0x068000 for busId=0000:05:00.0"},
      {.text = "{text:Read from NVML|Read from Windows SetupDi|Read from sys} {...}",
       .example = "Read from sys 0000:05:00.0/class -> class=0x030200"},
      {.text = "{text:Removing node} {...}", .example = "Removing node 0000:05:00.0 0x060400 PCI"},
      {.text = "{text:Selected parent} {:word} with path {:int}",
       .example = "Selected parent 0000:05:00.0 with path 2"},
      {.text = "{text:Set link_width} to {:int} for {...}",
       .example = "Set link_width to 16 for node 0000:05:00.0"},
      {.text = "{text:Setting dev} {:int} as unplaced, {...}",
       .example = "Setting dev 3 as unplaced, keeping distance -> self as PATH_LOC"},
      {.text = "TOPO/NET : {text:Skipping vNic} of size 1",
       .example = "TOPO/NET : Skipping vNic of size 1"},
      {.text = "Ring {:int} : {:int} -> {:int} -> {:int} -> {text:int}",
       .example = "Ring 0 : 15 -> 0 -> 1 -> 2"},
      {.text = "{text:TreeDn|TreeUp} {:int} : {:int} -> {...}",
       .example = "TreeUp 0 : 1 -> 0/-1/-1"},
      {.text = "{text:depth} {:int} score {:int} path1 {...}",
       .example = "depth 2 score 40 path1 PIX numaId 0 path2 PIX numaId 0"},
      {.text = "--{:word}->{text:GPU|PCI|NVS|CPU|NIC|NET}/{...}",
       .example = "--PCI->PCI/0-90000--PCI->NIC/0-b2000 (48.000000)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Steps of transports, proxies and network plugins (transport/*.cc, proxy.cc, net_ib/*.cc,
/// gin/*.cc).
struct TraceNet {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "trace_net";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "{text:sendProxy|recvProxy} [{}] {...}",
       .example = "recvProxy [42/0/3] received, size 524288"},
      {.text = "{:word} hints, {text:send peers/flows}: {...}",
       .example = "NET hints, send peers/flows: [0-1][2-2] recv peers/flows: [0-1][2-2] op: "
                  "AllReduce algo: RING proto: SIMPLE"},
      {.text = "{text:Fusing} {:word}", .example = "Fusing mlx5_1+mlx5_2"},
      {.text = "{text:GFD completed|GFD submitted into GIN plugin} - {...}",
       .example = "GFD completed - stateIdx: 3, request: 0x7f21e0"},
      {.text = "{text:GFD on context} {:int} to target PE {...}",
       .example = "GFD on context 0 to target PE 3 raw idx: 7, idx: 7 - op: 0x1, size: 4096"},
      {.text = "{text:GFD to target PE} {...}",
       .example = "GFD to target PE 3 raw idx: 7, idx: 7 - op: 0x1, size: 4096"},
      {.text = "{text:Got completion from peer} {:word} with status={...}",
       .example =
           "Got completion from peer 10.1.2.3<41822> with status=0 opcode=0 len=4096 wr_id=3 "
           "r=0x7f21e0 type=1 events={0,0}, i=0"},
      {.text = "MNNVL rank {:int} {text:matching peer} {...}",
       .example =
           "MNNVL rank 3 matching peer 4 0x80 UUID 12ab.34cd cliqueId 0x1/0x1 crossClique 0"},
      {.text = "NET/IB : {text:ncclIbCreateQp|ncclIbRtrQp} {...}",
       .example = "NET/IB : ncclIbRtrQp qpn=4711 mtu=5 dst=4712 ll=1 port=1"},
      {.text = "NET/IB: {:word}: {:word} {text:request completed} (req={...}",
       .example = "NET/IB: ncclIbTest: Send request completed (req=0x7f21e0, comm=0x7f10a0, id=3, "
                  "type=Send)"},
      {.text =
           "NET/IB: {:word}: {text:CTS posted|Flush request posted|Got completion for a CTS|Got "
           "completion for a flush request|Got completion for a recv request|Got completion for "
           "a send request|Posting a CTS|Posting a flush request|Posting a send request|Posting "
           "send|Recv request created|Send request created|Send request posted} (req={...}",
       .example = "NET/IB: ncclIbIsend: Posting a send request (req=0x7f21e0, comm=0x7f10a0, id=3, "
                  "slot=0, nreqs=1)"},
      {.text =
           "NET/IB: {:word}: {text:Send request} (req={:hex}, {} posted {:int} bytes on QP {...}",
       .example = "NET/IB: ncclIbMultiSend: Send request (req=0x7f21e0, comm=0x7f10a0, id=3, "
                  "slot=0) posted 4096 bytes on QP index 0 (devIndex=0, qp_num=4711)"},
      {.text =
           "NET/IB: {:word}: {text:Checking dev state for device|Looking for QP num|Processing a "
           "completion event|Restoring Flush QP on device} {...}",
       .example = "NET/IB: ncclIbTest: Checking dev state for device 0: state=0 (comm=0x7f10a0)."},
      {.text = "NET/IB: {:word}: {text:Posting send work request on QP} (qpn={...}",
       .example = "NET/IB: ncclIbMultiSend: Posting send work request on QP (qpn=4711, devIndex=0, "
                  "qpIndex=0) (slot=0, req[r=0]=0x7f21e0)"},
      {.text = "NET/IB: {:word}: {text:Retrieved a|Retrieving a} {:word} request ({...}",
       .example = "NET/IB: ncclIbTest: Retrieving a receive request (wr_id=3, opcode=IBV_WC_RECV, "
                  "imm_data=0, byte_len=0)"},
      {.text = "NET/IB: {:word}: {text:qpn}={:int} mtu={...}",
       .example = "NET/IB: ncclIbRtrQp: qpn=4711 mtu=5 dst=4712 ll=1 port=1 sl: 0 tc: 0"},
      {.text = "NET/IB: {:word}: {text:request}={:hex}, remainingEventsSum={...}",
       .example =
           "NET/IB: ncclIbTest: request=0x7f21e0, remainingEventsSum=1, negativeEventsSum=0, "
           "completed? no"},
      {.text = "NET/IB: {:word}: {text:slot}={:int}, wrIdx[{...}",
       .example = "NET/IB: ncclIbMultiSend: slot=0, wrIdx[0], opcode=IBV_WR_RDMA_WRITE"},
      {.text = "NET/IB: Device {:word} {text:does not support Data Direct DMA}.",
       .example = "NET/IB: Device mlx5_0 does not support Data Direct DMA."},
      {.text = "NET/IB: {text:Matched} name1={...}",
       .example = "NET/IB: Matched name1=mlx5_0 pciPath1=/sys/a guid1=0x1 link1=1 name2=mlx5_1 "
                  "pciPath2=/sys/b guid2=0x1 link2=1"},
      {.text = "NET/IB: [{:int}] {text:word}:{:int}/{:IB|RoCE}",
       .example = "NET/IB: [0] mlx5_0:1/IB"},
      {.text = "NET/IB: [{:int}] {text:word}:{:word}:{:int}/{:word} speed={:int} context={:hex} "
               "pciPath={...}",
       .example = "NET/IB: [0] mlx5_0:uverbs0:1/IB speed=400000 context=0x55d0 "
                  "pciPath=/sys/devices/pci0000:17 ar=1"},
      {.text = "{text:Open of} {} failed : {...}",
       .example = "Open of /dev/infiniband/uverbs0 failed : Permission denied"},
      {.text = "{text:Updated} cis[{:int}] to {...}", .example = "Updated cis[3] to 4"},
      {.text = "{text:Updated counter} {:int} to {...}", .example = "Updated counter 3 to 4"},
      {.text = "{text:opCount} {:hex} slicesteps {...}",
       .example = "opCount 1a slicesteps 2 spl 1 cpl 1 nbytes 4096 -> protocol 2 nchannels 8 "
                  "nthreads 512, nloops 1 nsteps 2 comm 0x7f10a0"},
      {.text = "r={:hex} {text:done}", .example = "r=0x7f21e0 done"},
      {.text = "regAddr {:hex} {text:size} {:int} rkey {...}",
       .example = "regAddr 7f21e0 size 4096 rkey 1a2b"},
      {.text = "regAddr={:hex} {text:size}={...}",
       .example = "regAddr=0x7f21e0 size=4096 rkey=0x1a lkey=0x1a fd=7"},
      {.text = "{text:Connecting to socket|Listening on socket} {...}",
       .example = "Listening on socket 10.1.2.3<41822>"},
      {.text = "{text:Found interface} {:word}:{...}",
       .example = "Found interface eth0:10.1.2.3<0>"},
      {.text = "{:int} <- {:int} via {text...}", .example = "3 <- 2 via P2P/common device"},
      {.text = "{:Channel|Ring} {:int} : {:int}[{}] <- {:int}[{}] via {text...}",
       .example = "Channel 00 : 3[a1000] <- 2[91000] via P2P/IPC"},
      {.text = "{text:Checking P2P connection} between {...}",
       .example = "Checking P2P connection between [3=a1000] and [2=91000]"},
      {.text = "IPC: {text:Client connected, reading message}",
       .example = "IPC: Client connected, reading message"},
      {.text = "IPC: {text:Connected to pipe|Connecting to pipe|Creating named pipe|Duplicated "
               "handle|Message sent successfully|Named pipe created successfully:|Read|Sending "
               "message|Waiting for connection on pipe} {...}",
       .example = "IPC: Connected to pipe nccl-3"},
      {.text = "IPC: {text:hex} {:hex} {:hex} {:hex}",
       .example = "IPC: 00007f21e0000000 0000000000001000 0000000000000000 0000000000000001"},
      {.text = "UDS: {text:Creating socket|Sending fd|Sending hdr|Got recvFd|ConvertFd rank} {...}",
       .example = "UDS: Creating socket /tmp/nccl-socket-3-9c1b2f0a"},
      {.text = "{text:peer1} {:hostHash|shmDev} {:hex} peer2 {...}",
       .example = "peer1 hostHash 9c1b2f0a peer2 hostHash 9c1b2f0a"},
      {.text = "{text:Imported shareable buffer} size {...}",
       .example = "Imported shareable buffer size 2097152 handle 0x7f21e0 dptr 0x7f31e0"},
      {.text = "{text:Set Access} for {:hex} size {...}",
       .example = "Set Access for 0x7f21e0 size 2097152 on dev 3"},
      {.text = "proxyProgressAsync::{text:ncclProxyMsgConvertFd|ncclProxyMsgDeregister|"
               "ncclProxyMsgGetFd|ncclProxyMsgInit|ncclProxyMsgRegister|ncclProxyMsgSharedInit} "
               "opId={...}",
       .example = "proxyProgressAsync::ncclProxyMsgInit opId=0x13af3590 op.reqBuff=0x7f3f1c"},
      {.text = "{text:Populated multi-segment IPC infos}. {...}",
       .example = "Populated multi-segment IPC infos. totalMappedBufferSize : 4096, Num segments : "
                  "2"},
      {.text = "{text:Open|Opened} shmName {...}",
       .example = "Opened shmName /dev/shm/nccl-hZE4Lz shmSize 9637888"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Memory, operations and choices (alloc.h, mem_manager.cc, enqueue.cc, ras/*.cc).
struct TraceWork {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "trace_work";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Coll;
  static constexpr Wording kWordings[] = {
      {.text = "{text:CUMEM Host Free|CuMem Alloc|CuMem Free|CuMem Map} Size {:int} pointer {...}",
       .example = "CuMem Alloc Size 2097152 pointer 0x7f21e0000000 handle 7f10"},
      {.text = "{text:Cuda Free} pointer {:hex}", .example = "Cuda Free pointer 0x7f21e0000000"},
      {.text =
           "MemManager: {text:ExportToPeer|Re-importing peer buffer|Restored peer access "
           "for|Resumed local buffer|Successfully re-imported peer buffer|Track Persistent "
           "Import|Track Persistent|Track imported|Track|Unmapping peer-imported buffer|Untrack "
           "Persistent|Untrack} ptr={...}",
       .example = "MemManager: Track ptr=0x7f21e0000000 size=2097152 type=1 dev=3 entries=7"},
      {.text = "{text:Base} {:hex} size {:int} offset {:int}",
       .example = "Base 0x7f21e0000000 size 2097152 offset 4096"},
      {.text = "{text:CBDColl|collnetColl|tunedColl} enqueue coll {...}",
       .example = "CBDColl enqueue coll AllReduce(Sum, float, RING, SIMPLE), nChannels 8, count "
                  "1048576"},
      {.text = "{text:CUDA Graph destroy function} signaling helper thread with {...}",
       .example = "CUDA Graph destroy function signaling helper thread with 2 IPC handles"},
      {.text = "{text:CUDA Graph helper thread closed} {:int} IPC handles",
       .example = "CUDA Graph helper thread closed 2 IPC handles"},
      {.text = "{text:Collective} {:word}({}) count={...}",
       .example = "Collective AllReduce(Sum, float, RING, SIMPLE) count=1048576 devFuncId=3"},
      {.text = "Rank {:int} {text:exchanged} {:int} buffers",
       .example = "Rank 3 exchanged 2 buffers"},
      {.text = "Skipping {text:CE collective|hierarchical CE collective}: {...}",
       .example = "Skipping CE collective: comm is not a single node"},
      {.text = "RAS {text:rasPeerIdx} {:int} ({}) is missing from coll->peers; dead {:int}",
       .example = "RAS rasPeerIdx 3 (10.1.2.3:41) is missing from coll->peers; dead 0"},
      {.text = "RAS: {text:auxComm|coll|comm|consistentNPeersGlobal|firstNPeersGlobal|maxCommSize|"
               "nRasPeers|node|totalNodes} {...}",
       .example = "RAS: node 10.1.2.3 pid 41: nGpus 1"},
      {.text = "RAS: {text:rasClientRunComms|rasClientRunInit}: {...}",
       .example = "RAS: rasClientRunComms: starting"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using TraceMessages = Kinds<TraceInit, TraceGraph, TraceNet, TraceWork>;

}  // namespace ncclog
