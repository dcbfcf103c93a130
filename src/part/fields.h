// What a part holds of plain structs: their members in this order (part/carry.h).

#pragma once

#include "base/fields.h"
#include "base/loss_table.h"
#include "input/line_reader.h"
#include "model/calls.h"
#include "model/companions/inspector.h"
#include "model/companions/nccl_tests.h"
#include "model/companions/pci_devices.h"
#include "model/flight_recorder.h"
#include "model/init_section.h"
#include "model/process_log.h"
#include "model/ras.h"
#include "model/shard/shard.h"
#include "model/timeline.h"
#include "model/topology.h"
#include "part/requests.h"

namespace ncclog {

NCCLOG_FIELDS(LossTable, lines, recognised, unrecognised, foreign, unreadable, counts)

NCCLOG_FIELDS(Unit, index, input, begin, end, whole)
NCCLOG_FIELDS(UnitResult, status, compression, content, bytes, bytes_on_disk, newlines, lines, note,
              losses)

NCCLOG_FIELDS(TimedLine, where, nanoseconds)
NCCLOG_FIELDS(Beats, count, first, last, pauses)
NCCLOG_FIELDS(Pause, before, after)
NCCLOG_FIELDS(PulseClock, all, work, steps)
NCCLOG_FIELDS(StepGrowth, first, last, steps)

NCCLOG_FIELDS(CallCheckpoint, index, hash, where)
NCCLOG_FIELDS(CallSignature, op, count, datatype, redop, root)
NCCLOG_FIELDS(CallTape::Entry, segment, call)
NCCLOG_FIELDS(CallTape::Run, id, distance, copied)
NCCLOG_FIELDS(CallTrack, tape, marks)
NCCLOG_FIELDS(CallVolume, calls, elements)
NCCLOG_FIELDS(CollectiveCalls, total, first, last, first_stamp, last_stamp, last_call, by_signature,
              volumes, collectives, peers)
NCCLOG_FIELDS(PeerMessages, count, hash)
NCCLOG_FIELDS(PeerTotals, sent, received)
NCCLOG_FIELDS(PlacedCall, where, call)
NCCLOG_FIELDS(VolumeKey, op, datatype)

NCCLOG_FIELDS(ChannelMask, bits)
NCCLOG_FIELDS(ChannelNumbers, coll, nvls, p2p, p2p_per_peer)
NCCLOG_FIELDS(InitSection, tid, comm, rank, nvml_dev, mnnvl, first, started, completed, closed,
              system, tuning, graphs, graphs_cut, ring_members, ring_places, trees, trees_cut,
              channels, timings_total, timings, timings_at)
NCCLOG_FIELDS(RingPlace, rank, prev, next)
NCCLOG_FIELDS(SearchedGraph, pattern, channels, bw, type, members)

NCCLOG_FIELDS(AllocTotal, count, bytes)
NCCLOG_FIELDS(CommSegment, comm, rank, nranks, cuda_dev, bus_id, comm_id, parent, child_count,
              color, key, nnodes, local_ranks, started, completed, announced, ended, end, calls,
              traces)
NCCLOG_FIELDS(ConnectionKey, src_rank, dst_rank, path)
NCCLOG_FIELDS(ConnectionUse, channels, first)
NCCLOG_FIELDS(TuningKey, function, algorithm, protocol)
NCCLOG_FIELDS(TuningUse, count, min_bytes, max_bytes)
NCCLOG_FIELDS(UnknownLines, count, levels, first, example)

NCCLOG_FIELDS(NodeName, kind, system, local)
NCCLOG_FIELDS(SystemLink, from, to, type, bw)
NCCLOG_FIELDS(SystemNode, name, parent, link, bw, rank, dev, detail, device, speed)
NCCLOG_FIELDS(SystemPath, from, to, hops, bw, type)
NCCLOG_FIELDS(SystemTopology, max_bw, total_bw, nodes, links, paths, cut)

NCCLOG_FIELDS(CodeFrame, function, file, line)
NCCLOG_FIELDS(FlightRecorderDump, where, rank, version, nccl_version, groups, entries, process)
NCCLOG_FIELDS(FlightRecorderEntry, record_id, pg_id, group, description, collective_seq_id,
              p2p_seq_id, op_id, is_p2p, profiling_name, state, input_sizes, output_sizes,
              input_dtypes, output_dtypes, time_created_ns, time_started_ns, time_completed_ns,
              duration_ms, timeout_ms, retired, frame)
NCCLOG_FIELDS(FlightRecorderGroup, pg_id, name, description, ranks, last_enqueued, last_started,
              last_completed)

NCCLOG_FIELDS(InspectedCall, op, number, duration, started, elsewhere)
NCCLOG_FIELDS(InspectedRank, where, communicator, name, rank, nranks, host, pid, total, calls)

NCCLOG_FIELDS(NcclTestsPlace, rank, group, pid, host, device, bus_id, gpu)
NCCLOG_FIELDS(NcclTestsRow, where, text, size, count, datatype, redop, root, out_of_place, in_place)
NCCLOG_FIELDS(NcclTestsRun, first, process, test, version, nranks, places, min_bytes, max_bytes,
              iters, validation, rows, busbw, busbw_line, below_expected, out_of_bounds,
              out_of_bounds_line, environment)
NCCLOG_FIELDS(NcclTestsValues, time, algbw, busbw, wrong)

NCCLOG_FIELDS(PciDevice, kind, bus_id, name, is_fabric, where, text, can, runs, bus_below)
NCCLOG_FIELDS(PciLink, speed, width, where, text)
NCCLOG_FIELDS(PciListing, host, source, devices)

NCCLOG_FIELDS(RasCommunicators, hash, count, nodes, ranks_per_node, nranks, missing_ranks, status,
              errors)
NCCLOG_FIELDS(RasMember, rank, pid, node, gpu)
NCCLOG_FIELDS(RasReport, where, nccl_version, cuda_runtime, cuda_driver, timestamp, timeouts,
              communicators, statements)
NCCLOG_FIELDS(RasStatement, communicator, problem, what, value, count, members)

NCCLOG_FIELDS(StretchWriter, host, pid, several)

NCCLOG_FIELDS(CallOwner, host, pid, comm, by_traces)
NCCLOG_FIELDS(FileStamp, size, changed, beginning)
NCCLOG_FIELDS(Reply, is_found, text, nanoseconds, where, calls)
NCCLOG_FIELDS(Request, host, path, stamp, from, asked, owner, most, wanted, index)

}  // namespace ncclog
