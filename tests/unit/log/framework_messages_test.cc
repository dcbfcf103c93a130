// Law: a line from around NCCL, whole with its prefixes and tags, is understood in every release
// that prints it, and training output is not taken for one. The wordings' own examples are walked in
// messages_test.cc.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/known_messages.h"
#include "support/event_text.h"

namespace ncclog {
namespace {

using testing::EventRow;
using testing::expect_events;
using testing::expect_every_cut_survives;

const std::vector<EventRow> kWatchdog = {
    {"[E ProcessGroupNCCL.cpp:828] [Rank 3] Watchdog caught collective operation timeout: "
     "WorkNCCL(SeqNum=41, OpType=ALLREDUCE, TensorShape=[1024, 16], Timeout(ms)=1800000) ran for "
     "1801002 milliseconds before timing out.",
     "watchdog_timeout seq=41 op=ALLREDUCE shape=1024, 16 timeout_ms=1800000 ran_ms=1801002"},
    {"[E ProcessGroupNCCL.cpp:566] [Rank 3] Watchdog caught collective operation timeout: "
     "WorkNCCL(OpType=BROADCAST, Timeout(ms)=1800000) ran for 1801002 milliseconds before timing "
     "out.",
     "watchdog_timeout op=BROADCAST timeout_ms=1800000 ran_ms=1801002"},
    {"[rank17]:[E ProcessGroupNCCL.cpp:523] [Rank 2] Watchdog caught collective operation timeout: "
     "WorkNCCL(SeqNum=9, OpType=_ALLGATHER_BASE, NumelIn=4096, NumelOut=32768, "
     "Timeout(ms)=600000) ran for 600412 milliseconds before timing out.",
     "rank 17 watchdog_timeout seq=9 op=_ALLGATHER_BASE numel_in=4096 numel_out=32768 "
     "timeout_ms=600000 ran_ms=600412"},
    {"[rank5]:[E105 09:14:02.007718211 ProcessGroupNCCL.cpp:1664] [PG 2 (dp) Rank 1] Exception "
     "(either an error or timeout) detected by watchdog at work: 9, last enqueued NCCL work: 12, "
     "last completed NCCL work: 8.",
     "rank 5 work_status seq=9 last_enqueued=12 last_completed=8"},
    {"[rank5]:[E105 09:14:02.007718211 ProcessGroupNCCL.cpp:1709] [PG 2 (dp) Rank 1] Timeout at "
     "NCCL work: 9, last enqueued NCCL work: 12, last completed NCCL work: -1.",
     "rank 5 work_status seq=9 last_enqueued=12 last_completed=-1"},
    {"[rank5]:[E1105 09:14:02.907718211 ProcessGroupNCCL.cpp:2268] [PG ID 2 PG GUID 11(mesh_tp) "
     "Rank 1]  failure detected by watchdog at work sequence id: 9 PG status: last enqueued work: "
     "12, last completed work: 8",
     "rank 5 work_status seq=9 last_enqueued=12 last_completed=8"},
    {"[rank5]:[E1105 09:14:02.907718211 ProcessGroupNCCL.cpp:2395] [PG ID 2 PG GUID 11 Rank 1]  "
     "failure detected by watchdog at work sequence id: 9 PG status: last enqueued work: 12, last "
     "started work: 9 (ALLREDUCE), last completed work: 8",
     "rank 5 work_status seq=9 last_enqueued=12 last_completed=8 last_started=9 "
     "last_started_op=ALLREDUCE"},
    {"[rank6]:[E1105 09:14:03.101002003 ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) "
     "Rank 6] Received a dump signal due to a collective timeout from  rank 5 and we will try our "
     "best to dump the debug info. Last enqueued NCCL work: 77, last completed NCCL work: 77.This "
     "is most likely caused by incorrect usages of collectives",
     "rank 6 dump_signal from_rank=5 last_enqueued=77 last_completed=77"},
    {"[rank6]:[E1105 09:14:03.101002003 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID 0(default_pg) "
     "Rank 6] Received a dump signal due to a collective timeout from this local rank and we will "
     "try our best to dump the debug info. Last enqueued NCCL work: 5, last completed NCCL work: "
     "4.This is most likely caused by incorrect usages of collectives",
     "rank 6 dump_signal last_enqueued=5 last_completed=4"},
    {"[rank0]:[E105 09:14:03.101002003 ProcessGroupNCCL.cpp:730] [Rank 0] To avoid data "
     "inconsistency, we are taking the entire process down.",
     "rank 0 watchdog_teardown text=we are taking the entire process down."},
    {"[rank7]:[F105 09:14:02.007718211 ProcessGroupNCCL.cpp:1664] [PG ID 0 PG GUID 0(default_pg) "
     "Rank 7] [PG ID 0 PG GUID 0(default_pg) Rank 7] Terminating the process after attempting to "
     "dump debug info, due to ProcessGroupNCCL watchdog hang.",
     "rank 7 watchdog_teardown text=ProcessGroupNCCL watchdog hang."},
    {"[E ProcessGroupNCCL.cpp:475] [Rank 1] NCCL watchdog thread terminated with exception: "
     "[Rank 1] Watchdog caught collective operation timeout",
     "watchdog_terminated error=[Rank 1] Watchdog caught collective operation timeout"},
    {"Validation:  1%|  | 2/210 [00:01<02:58,  1.16it/s][rank0]:[E1119 16:41:12.800701095 "
     "ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: "
     "WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1000) ran for 1001 "
     "milliseconds before timing out.",
     "rank 0 watchdog_timeout seq=3 op=ALLREDUCE numel_in=1 numel_out=1 timeout_ms=1000 "
     "ran_ms=1001"},
    {"\t - To our best knowledge, ranks [1, 3] are the lagging ranks that caused this timeout. "
     "They "
     "never joined any collectives",
     "desync_lagging ranks=1, 3"},
    {"[E ProcessGroupGloo.cpp:2791] [Rank 0]: Rank 3 failed to pass monitoredBarrier in 30000 ms",
     "monitored_barrier_failed ranks=3 ms=30000"},
    {"[rank5]:[E105 09:14:02.007718211 ProcessGroupNCCL.cpp:1664] [PG ID 2 PG GUID 11(dp) Rank 1] "
     "Work timeout is detected by watchdog at work: 9, last enqueued NCCL work: 12, last completed "
     "NCCL work: 8. Broadcasting flight-recorder dump signal to other processes via TCPStore.",
     "rank 5 work_status seq=9 last_enqueued=12 last_completed=8"},
    {"[I ProcessGroupNCCL.cpp:900] [Rank 0] NCCL watchdog thread terminated normally",
     "watchdog_ended"},
    {"[rank0]: torch.distributed.DistBackendError: [Rank 0] Work WorkNCCL(SeqNum=41, "
     "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) timed out in blocking wait.",
     "rank 0 blocking_wait_timeout seq=41 op=ALLREDUCE numel_in=1 numel_out=1 timeout_ms=600000"},
    {"RuntimeError: Work WorkNCCL(OpType=ALLREDUCE, TensorShape=[8], Timeout(ms)=1800000) timed "
     "out "
     "in call to wait().",
     "blocking_wait_timeout op=ALLREDUCE shape=8 timeout_ms=1800000"},
    {"E20260717 13:20:49.407638  4242 ProcessGroupNCCL.cpp:607] [Rank 1] Watchdog caught "
     "collective "
     "operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
     "Timeout(ms)=600000) ran for 600412 milliseconds before timing out.",
     "watchdog_timeout seq=9 op=ALLREDUCE numel_in=1 numel_out=1 timeout_ms=600000 ran_ms=600412"},
    {"[rank0]:[E105 09:14:03.101002003 TraceUtils.h:77] Rank 0\t - [0, 2] Timeout at collective: "
     "ALLREDUCE, #9",
     "rank 0 desync_timeout ranks=0, 2 op=ALLREDUCE seq=9"},
    {"\t   #9 started ranks:", "desync_section section=started seq=9"},
    {"\t     [0, 2] started ALLREDUCE", "desync_state ranks=0, 2 state=started op=ALLREDUCE"},
    {"RuntimeError: Rank 2 successfully reached monitoredBarrier, but received errors while "
     "waiting "
     "for send/recv from rank 0. Please check rank 0 logs for faulty rank.",
     "monitored_barrier_reached rank=2"},
    {"[rank0]:[F105 09:14:02.007718211 ProcessGroupNCCL.cpp:1174] [PG 0 Rank 0] [PG 0 Rank 0] "
     "ProcessGroupNCCL's watchdog got stuck for 600 seconds without making progress in monitoring "
     "enqueued collectives. This typically indicates a NCCL/CUDA API hang",
     "rank 0 heartbeat_timeout seconds=600"},
};

const std::vector<EventRow> kExceptions = {
    {"[rank3]: Traceback (most recent call last):", "rank 3 traceback_started"},
    {"Map:  99%|###| 408/412 [31:02<00:18, 211.70 examples/s]Traceback (most recent call last):",
     "traceback_started"},
    {"RuntimeError: NCCL error in: /pytorch/torch/lib/c10d/ProcessGroupNCCL.cpp:410, unhandled "
     "system error, NCCL version 2.4.8",
     "nccl_exception type=RuntimeError where=/pytorch/torch/lib/c10d/ProcessGroupNCCL.cpp:410 "
     "error=unhandled system error version=2.4.8"},
    {"[rank1]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:77, invalid usage "
     "(run with NCCL_DEBUG=WARN for details), NCCL version 2.28.9",
     "rank 1 nccl_exception type=torch.distributed.DistBackendError where=NCCLUtils.cpp:77 "
     "error=invalid usage (run with NCCL_DEBUG=WARN for details) version=2.28.9"},
    {"[rank1]: ncclInvalidUsage: This usually reflects invalid usage of NCCL library.",
     "rank 1 nccl_result name=ncclInvalidUsage text=This usually reflects invalid usage of NCCL "
     "library."},
    {"(WorkerDict pid=88219) [rank1]: Last error:", "rank 1 last_error_label"},
    {"[rank2]: torch.AcceleratorError: CUDA error: out of memory",
     "rank 2 cuda_oom_exception type=torch.AcceleratorError"},
    {"[rank2]: torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
     "rank 2 python_exception type=torch.AcceleratorError message=CUDA error: an illegal memory "
     "access was encountered"},
    {"RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB",
     "cuda_oom_exception type=RuntimeError asked=20.00 Mi"},
    {"[default1]:[rank1]: RuntimeError: DataLoader worker (pid 4242) exited unexpectedly",
     "rank 1 python_exception type=RuntimeError message=DataLoader worker (pid 4242) exited "
     "unexpectedly"},
    {"RuntimeError: DataLoader worker (pid 4242) is killed by signal: Bus error.",
     "data_loader_killed pid=4242 signal=Bus error."},
    {"-- Process 2 terminated with the following error:",
     "process_ended status=terminated with the following error rank=2"},
    {"  what():  [Rank 0] NCCL watchdog thread terminated",
     "cpp_what text=[Rank 0] NCCL watchdog thread terminated"},
};

const std::vector<EventRow> kStore = {
    {"RuntimeError: [1] is setting up NCCL communicator and retreiving ncclUniqueId from [0] via "
     "c10d key-value store by key '0', but store->get('0') got error: Timeout waiting for key: "
     "default_pg/0/0 after 1800000 ms",
     "store_wait_failed rank=1 root=0 key=0 error=Timeout waiting for key: default_pg/0/0 after "
     "1800000 ms type=RuntimeError"},
    {"[3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value "
     "store by key '1', but store->get('1') got error: Broken pipe",
     "store_wait_failed rank=3 root=0 key=1 error=Broken pipe"},
    {"[rank3]:[W105 12:00:00.123456789 TCPStore.cpp:125] [c10d] recvValue failed on "
     "SocketImpl(fd=63, addr=[localhost]:47006, remote=[localhost]:29500): Failed to recv, got 0 "
     "bytes.",
     "rank 3 store_connection_lost operation=recvValue host=localhost port=29500 text=Failed to "
     "recv, got 0 bytes."},
    {"[W socket.cpp:601] [c10d] The client socket has failed to connect to [node-a]:29500 (errno: "
     "111 - Connection refused).",
     "store_connect_retry host=node-a port=29500 error=errno: 111 - Connection refused"},
    {"[E socket.cpp:860] [c10d] The client socket has timed out after 600000ms while trying to "
     "connect to (node-a, 29500).",
     "store_connect_timeout host=node-a port=29500 ms=600000"},
};

const std::vector<EventRow> kLaunchers = {
    {"[rank0]:[2026-01-05 12:00:00,123] torch.distributed.elastic.multiprocessing.api: [ERROR] "
     "failed (exitcode: -6) local_rank: 3 (pid: 4242) of binary: /usr/bin/python3",
     "rank 0 worker_failed exitcode=-6 local_rank=3 pid=4242 binary=/usr/bin/python3"},
    {"I0105 12:00:00.123000 4200 torch/distributed/elastic/agent/server/api.py:525]   "
     "global_ranks=[4, 5, 6, 7]",
     "rendezvous_result name=global_ranks value=[4, 5, 6, 7]"},
    {"  time: 2026-01-05_12:00:03", "failure_time time=2026-01-05_12:00:03"},
    {"E0105 12:00:00.123000 4200 torch/distributed/elastic/multiprocessing/api.py:826] failed "
     "(exitcode: -6) local_rank: 3 (pid: 4242) of binary: /usr/bin/python3",
     "worker_failed exitcode=-6 local_rank=3 pid=4242 binary=/usr/bin/python3"},
    {"WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 51320 closing signal "
     "SIGTERM",
     "worker_closing pid=51320 signal=SIGTERM"},
    {"  rank      : 12 (local_rank: 4)", "failure_rank rank=12 local_rank=4"},
    {"  exitcode  : -9 (pid: 4246)", "failure_exitcode exitcode=-9 pid=4246"},
    {"  traceback : Signal 9 (SIGKILL) received by PID 4246",
     "failure_signal signal=9 name=SIGKILL pid=4246"},
    {"Root Cause (first observed failure):",
     "failure_section section=Root Cause (first observed failure)"},
    {"Failures:", "failure_section section=Failures"},
    {"Jan 05 12:00:00 node-b kernel: Memory cgroup out of memory: Killed process 4242 (python3) "
     "total-vm:1kB",
     "oom_kill pid=4242 name=python3"},
    {"[12345.678901] NVRM: Xid (PCI:0000:19:00): 79, pid=4242, GPU has fallen off the bus.",
     "xid bus_id=0000:19:00 code=79 pid=4242 text=GPU has fallen off the bus."},
    {"[2026-01-05 12:00:00,123] [INFO] [launch.py:325:sigkill_handler] Killing subprocess 4243",
     "worker_closing pid=4243"},
};

const std::vector<EventRow> kPasted = {
    {" GPU0\tX\tCNS\tCNS\tCNS\t", "p2p_matrix_row gpu=0 cells=X\tCNS\tCNS\tCNS"},
    {"mlx5_8 port 1 ==> enp90s0f0 (Down)",
     "ib_port device=mlx5_8 port=1 interface=enp90s0f0 state=Down"},
    {"\tLink layer: Ethernet", "ibstat_link_layer link=Ethernet"},
    {"\t\t\tstate:\t\t\tPORT_DOWN (1)", "ibstat_state state=PORT_DOWN"},
    {"   Active: failed (Result: exit-code) since Mon 2026-01-05 09:14:02; 3h ago",
     "fabric_manager_state state=failed (Result: exit-code) since=Mon 2026-01-05 09:14:02; 3h ago"},
    {"# Out of bounds values : 12 FAILED", "nccl_tests_out_of_bounds count=12 verdict=FAILED"},
    {"node105: Test CUDA failure common.cu:291 'unhandled system error / x'",
     "nccl_tests_failure host=node105 api=CUDA file=common.cu line=291 error=unhandled system "
     "error last_error=x"},
};

const std::vector<EventRow> kNotes = {
    {"TIMEOUT(ms): 1800000", "c10d_option name=TIMEOUT(ms) value=1800000"},
    {"[I ProcessGroupNCCL.cpp:587] [Rank 0] ProcessGroupNCCL initialized with following options:",
     "c10d_options"},
    {"/x/distributed_c10d.py:123: UserWarning: Environment variable NCCL_BLOCKING_WAIT is "
     "deprecated; use TORCH_NCCL_BLOCKING_WAIT instead (Triggered internally at /x/Utils.hpp:106.)",
     "env_deprecated name=NCCL_BLOCKING_WAIT replacement=TORCH_NCCL_BLOCKING_WAIT"},
    {"[rank3]:[W105 12:00:00.123456789 Utils.hpp:136] Warning: Environment variable "
     "NCCL_BLOCKING_WAIT is deprecated; use TORCH_NCCL_BLOCKING_WAIT instead (function operator())",
     "rank 3 env_deprecated name=NCCL_BLOCKING_WAIT replacement=TORCH_NCCL_BLOCKING_WAIT"},
    {"[rank3]:[W105 12:00:00.123456789 ProcessGroupNCCL.cpp:4115] [PG ID 0 PG GUID 0 Rank 3]  "
     "using "
     "GPU 3 to perform barrier as devices used by this process are currently unknown. This can",
     "rank 3 device_guess device=3"},
    {"[W105 12:00:00.123456789 ProcessGroupNCCL.cpp:1496] Warning: WARNING: "
     "destroy_process_group() "
     "was not called before program exit, which can leak resources.",
     "process_group_not_destroyed"},
};

TEST(FrameworkMessages, UnderstandTheWatchdog) { expect_events(kWatchdog); }
TEST(FrameworkMessages, UnderstandExceptions) { expect_events(kExceptions); }
TEST(FrameworkMessages, UnderstandTheStore) { expect_events(kStore); }
TEST(FrameworkMessages, UnderstandLaunchersAndTheKernel) { expect_events(kLaunchers); }
TEST(FrameworkMessages, UnderstandPastedOutput) { expect_events(kPasted); }
TEST(FrameworkMessages, UnderstandNotes) { expect_events(kNotes); }

TEST(FrameworkMessages, LeaveTrainingOutputForeign) {
  const std::string_view lines[] = {
      "",
      "{'loss': 0.8812, 'learning_rate': 4.1e-05}",
      "Setting up FSDP workers with world_size=2",
      "    raise RuntimeError(\"DataLoader worker exited unexpectedly\")",
      "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f in libc10.so)",
      "Error: something",
      "host: 10.0.0.1",
      "time: 0.5",
      "rank 3: world 8, torch 2.9.1+cu128, nccl (2, 28, 9)",
      "State: running",
      "Killed by the user",
      "GPU0 71C",
      "# Using devices",
      "$5 per hour",
      "a@b.example wrote: x",
  };
  for (const std::string_view line : lines) {
    const Event event = parse_event(line, all_wordings());
    EXPECT_EQ(event.message.kind, nullptr)
        << line << " was taken for " << (event.message.kind ? event.message.kind->name : "");
  }
}

TEST(FrameworkMessages, SurviveEveryCut) {
  for (const auto* rows : {&kWatchdog, &kExceptions, &kStore, &kLaunchers, &kPasted, &kNotes}) {
    expect_every_cut_survives(*rows);
  }
}

}  // namespace
}  // namespace ncclog
