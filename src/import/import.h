// What is read beside logs: dumps of PyTorch's Flight Recorder, answers of NCCL's RAS, files of its
// Inspector, topology files, listings of lspci and of counters, results of nccl-tests, dumps of
// py-spy, settings in YAML. One function a format.
//
// None of them throws for what the bytes are, and memory is proportional to their number: the files
// are hostile, may nest, repeat or end anywhere. What cannot be read is a `problem`, a clause.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/document.h"
#include "log/settings.h"
#include "model/companions/inspector.h"
#include "model/companions/nccl_tests.h"
#include "model/companions/pci_devices.h"
#include "model/companions/port_counters.h"
#include "model/flight_recorder.h"
#include "model/ras.h"
#include "model/topology.h"

namespace ncclog {

// From a dump of PyTorch's Flight Recorder, pickle or JSON, to the model.
//
//   {"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
//    "pg_status": {"0": {"last_enqueued_collective": 29, …}}, "entries": [{"record_id": 0, …}]}
//
// The form is decided by the bytes; the file's name only supplies the rank ("nccl_trace_rank_5"),
// and only where the groups in the dump do not contradict it. Keys that a schema lacks stay
// unknown. In JSON the counters of pg_status are texts, times that are not set are 0 and there are
// no frames.

/// Reads a dump. `path` is the file's.
Imported<FlightRecorderDump> import_flight_recorder(std::string_view bytes, std::string_view path);

/// Dumps that stand one behind another, as `cat` puts files together, or in one JSON list.
struct FlightRecorderDumps {
  std::vector<FlightRecorderDump> dumps;
  size_t used = 0;      ///< Where something else begins, or bytes that cannot be read.
  std::string problem;  ///< Why the first one cannot be read; empty: it can.
};

/// Reads dumps from the beginning on, as many as there are. Only a single one has the file's rank.
FlightRecorderDumps import_flight_recorders(std::string_view bytes, std::string_view path);

/// The rank that a dump's file name ends with, compression and form aside: "fr_3", "fr_3.json.gz",
/// "nccl_trace_rank_12" → 12. -1: it ends with no number or with one that no rank has.
int rank_in_name(std::string_view path);

// From the JSON form of an ncclras answer (NCCL 2.28 and later) to the model.
//
//   {"nccl_version": "2.28.9", "communicators_count": 1, "communicators": [{"hash": "0xcf26…",
//    "size": 8, "ranks": [{"rank": 0, "status": {"init_state": 0, …}, "collective_counts":
//    {"AllReduce": 120, …}}, …], "missing_ranks": [{"rank": 3, "status": {"unresponsive": true,
//    "considered_dead": false}}]}], "ras": {"timeouts_count": 0}}
//
// From ras/client_support.cc. The JSON lists ranks and judges nothing; the statements that the text
// form makes about differing counts, states and errors are made here in the same way. Answers stand
// one behind the other, with or without lines of others between ("SERVER PROTOCOL 2", a date). NCCL
// 2.28.7 and 2.28.9 leave a comma out of missing_ranks. A monitor writes an object an event:
//
//   {"timestamp": "2025-12-19 13:07:07", "group": "LIFECYCLE", "event": "PEER_DEAD",
//    "peer": {"host": "10.1.2.3", "pid": 4242, "cuda_devs": [1], "nvml_devs": [1]}, "details": ""}

/// Reads the answers of a file in its order, the last kMaxRasReports; what is reported between two
/// of them is one answer. A problem only where there is none.
Imported<std::vector<RasReport>> import_ras_json(std::string_view bytes);

// What NCCL's Inspector wrote: one process's operations, and how long each took.
//
// One object an operation, usually on a line of its own. Objects that cannot be read are passed
// over: the plugin writes while the job runs, so the last one is often cut. Of a large file the last
// objects count.

/// Reads a file. By communicator, then rank; a problem only where none is found.
Imported<std::vector<InspectedRank>> import_inspector(std::string_view bytes);

// The machine as NCCL writes it to a file, or reads it from one.
//
//   <system version="1">
//     <cpu host_hash="0x3f…" numaid="0" affinity="…" arch="x86_64" vendor="GenuineIntel" …>
//       <pci busid="0000:17:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
//         <pci busid="0000:19:00.0" class="0x030200" …>
//           <gpu dev="0" sm="90" rank="0" gdr="1">
//             <nvlink target="0000:05:00.0" count="18" tclass="0x068000"/>
//
// NCCL_TOPO_DUMP_FILE and NCCL_TOPO_FILE name such files (graph/xml.cc). Bandwidths are not in
// them: they are computed as graph/topo.cc does, so that nodes and links compare with a log's.
//
// Nothing in the file is fetched or expanded.

/// Takes a file's bytes apart. Refused are files that are no well-formed XML to their end, that
/// declare a document type, that nest more than 64 levels or hold more than 10000 elements.
Imported<SystemTopology> import_topology(std::string_view bytes);

// GPUs, NICs and bridges of hosts, as lspci -vv lists them (pciutils' ls-caps.c, 3.5 and later).
//
//   ==== node-a ====
//   17:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 PCIe] [10de:2331] (rev a1)
//           LnkCap: Port #0, Speed 32GT/s, Width x16, ASPM not supported
//           LnkSta: Speed 16GT/s (downgraded), Width x8 (downgraded)
//
// Hosts follow each other below a line that names them, are interleaved with their names in front
// ("node-a: 17:00.0 …"), or the file is of one. Other devices, and capabilities of others, are
// passed over, so that excerpts by grep can be read too.

/// Takes a file apart: hosts that have devices, no name twice; `source` stays empty. Lines of the
/// result are of `unit`. Of a file the first 65536 devices and 4096 hosts are kept.
Imported<std::vector<PciListing>> import_lspci(std::string_view bytes, uint64_t unit);

// Counters of ports, links and slots, in whatever form they were listed (model/companions/
// port_counters.h): files of /sys by path ("grep "" -r", "find -exec", "tail -n +1"), rdma statistic,
// ethtool -S, perfquery, nvidia-smi nvlink -e and -s, dcgmi nvlink -e and -s, nvidia-smi -q. Listings
// may follow each other, below lines with hosts ("==== node-a ====") and times.

/// Takes a file apart; a problem only where no counter is found. The first 65536 are kept.
Imported<std::vector<PortCounter>> import_counters(std::string_view bytes, uint64_t unit,
                                                   std::string_view path);

/// One file of a copied tree: "before/sys/class/infiniband/mlx5_1/ports/1/counters/link_downed",
/// which holds a number. nullopt: the path or the bytes are another file's.
std::optional<PortCounter> import_counter_file(std::string_view bytes, uint64_t unit,
                                               std::string_view path);

// What nccl-tests writes with -J FILE (2.17 and later).
//
//   {"version":2,"start_time":"2026-01-05 12:00:00","args":["./build/all_reduce_perf","-b","8", …],
//    "env":["NCCL_DEBUG=INFO", …],"nccl_version":22907,"config":{"nthreads":1,"ngpus":8, …,
//    "devices":[{"rank":0,"group":0,"pid":4242,"hostname":"node-a","device":0, …}, …]},
//    "results":[{"size":8388608,"count":2097152,"type":"float","redop":"sum","root":"    -1",
//    "out_of_place":{"time":76.2,"alg_bw":110.1,"bus_bw":192.6,"nwrong":0}, …}, …],
//    "out_of_bounds":{"count":0,"okay":"true"},"average_bus_bandwidth":{"bandwidth":88.1, …}}
//
// From src/util.cu. A test that was killed leaves the file open, and it is refused. rccl-tests (-x
// FILE -Z json) lists records:
//
//   [{"numCycle":0, "name":"AllReduce", "nodes":1, "ranks":8, …, "size":8388608, "type":"float",
//     "redop":"sum", "inPlace":0, "time":76.2, "algBw":110.1, "busBw":192.6, "wrong":"0"}, …]
//
// and with -Z csv a line for each of them:
//
//   numCycle,collective,ranks,rankspernode,gpusperrank,size,type,redop,inplace,time,algbw,busbw,#wrong
//   0,"AllReduce",1,8,8,1,1048576,"float","sum",0,55.66,18.84,32.97,"0"

/// Reads the results of one test. Places in it are of unit 0; of JSON all are line 1.
Imported<NcclTestsRun> import_nccl_tests(std::string_view bytes);

// The stacks of a process's threads, as py-spy dump --json writes them (src/stack_trace.rs).
//
//   [{"pid": 4121, "thread_id": 139852, "thread_name": "MainThread", "os_thread_id": 4121,
//     "active": false, "owns_gil": false, "frames": [{"name": "wait", "filename":
//     "/usr/lib/python3.12/threading.py", "line": 355, …}, …],
//     "process_info": {"pid": 4121, "command_line": "python train.py", …}}, …]

/// The lines that the text form of the dump has, which log/stack_lines.h reads; of a file the first
/// 65536 frames.
Imported<std::vector<std::string>> import_py_spy(std::string_view bytes);

// Which variables does a YAML file set for the programs that it starts?
//
//   env:                             Kubernetes, in every container
//     - name: NCCL_DEBUG
//       value: INFO
//   environment: [NCCL_DEBUG=INFO]   docker-compose, as a list or as a map
//   envs: {NCCL_DEBUG: INFO}         SkyPilot, torchx
//   run: |                           and scripts in texts
//     export NCCL_DEBUG=INFO
//
// The forms are recognised by their shape, not by the names of keys, so unknown tools work as well.
// Aliases are not followed: what they stand for has been read where it is written.

/// The settings of all documents in `yaml`, in their order; what was found before a mistake is kept.
/// What stands in different lists or maps has different scopes.
Imported<std::vector<Setting>> read_yaml_settings(std::string_view yaml);

}  // namespace ncclog
