// One description of a value for both directions: what a PartWriter takes is what a PartReader
// gives.
//
//   carry(writer, marker)   step, total, wording → three numbers
//   carry(reader, marker)   three numbers → step, total, wording
//
// Plain structs are their members; containers are their size and their elements. Classes that keep
// something private have a carry of their own. Wherever one is declared, it is found by the type of
// `io`.
//
// An `io` is a PartWriter or a PartReader (part/part_stream.h):
//   io.number(n)    a whole number, as 64 bits
//   io.text(s)      any bytes
//   io.size(n)      a number of elements; a reader gives none where that many cannot follow
//   io.place(where) a line of the input that is carried
//   io.fail()       of a reader: the bytes are none that a writer wrote

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <concepts>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/compact.h"
#include "base/fields.h"
#include "base/line.h"
#include "base/loss_table.h"
#include "input/line_reader.h"
#include "log/known_messages.h"
#include "model/bounded_map.h"
#include "model/calls.h"
#include "model/companions/inspector.h"
#include "model/companions/nccl_tests.h"
#include "model/companions/pci_devices.h"
#include "model/companions/port_counters.h"
#include "model/flight_recorder.h"
#include "model/init_section.h"
#include "model/process_log.h"
#include "model/ras.h"
#include "model/shard/shard.h"
#include "model/timeline.h"
#include "model/topology.h"
#include "part/requests.h"

namespace ncclog {

/// The number of values of an enum that a part may hold: one behind its last. Each has a row, since
/// tables are indexed by some of them.
template <typename Enum>
extern const uint64_t kEnumSize;

/// True of what is, or derives from, a BoundedMap and has no members of its own.
template <typename T>
concept IsBoundedMap = requires(T map) {
  { T::kLimit } -> std::convertible_to<size_t>;
  map.all;
  map.other;
}
&&sizeof(T) == sizeof(std::declval<T>().all) + sizeof(uint64_t);

/// Several values, in their order.
template <typename Io, typename... Values>
void carry_each(Io& io, Values&... values) {
  (carry(io, values), ...);
}

template <typename Io, typename Number>
requires std::integral<Number> || std::is_enum_v<Number>
void carry(Io& io, Number& value) {
  auto bits = static_cast<uint64_t>(value);
  io.number(bits);
  if constexpr (Io::kReads) {
    if constexpr (std::is_enum_v<Number>) {
      if (bits >= kEnumSize<Number>) return io.fail();
    } else {
      if (static_cast<uint64_t>(static_cast<Number>(bits)) != bits) return io.fail();
    }
    value = static_cast<Number>(bits);
  }
}

template <typename Io>
void carry(Io& io, double& value) {
  auto bits = std::bit_cast<uint64_t>(value);
  io.number(bits);
  value = std::bit_cast<double>(bits);
}

template <typename Io>
void carry(Io& io, std::string& value) {
  io.text(value);
}

template <typename Io>
void carry(Io& io, SourceRef& where) {
  io.place(where);
}

template <typename Io, size_t kSize>
void carry(Io& io, std::bitset<kSize>& bits) {
  static_assert(kSize <= 64);
  uint64_t number = bits.to_ullong();
  carry(io, number);
  bits = number;
}

template <typename Io, IsBoundedMap Map>
void carry(Io& io, Map& map) {
  carry_each(io, map.all, map.other);
  if constexpr (Io::kReads) {
    if (map.all.size() > Map::kLimit) io.fail();
  }
}

template <typename Io, typename T>
requires std::is_aggregate_v<T> &&(!IsBoundedMap<T>)void carry(Io& io, T& value) {
  std::apply([&io](auto&... fields) { carry_each(io, fields...); },
             fields_of(FieldsOf<T>(), value));
}

template <typename Io, typename T>
void carry(Io& io, SharedVector<T>& row) {
  if constexpr (Io::kReads) {
    carry(io, row.change());
  } else {
    std::vector<T> all(row.begin(), row.end());  // change() would leave a copy in each.
    carry(io, all);
  }
}

/// The elements of a row that grows at its end.
template <typename Io, typename Row>
void carry_row(Io& io, Row& row) {
  size_t count = row.size();
  io.size(count);
  if constexpr (Io::kReads) {
    row.clear();
    for (size_t i = 0; i < count && !io.failed(); ++i) carry(io, row.emplace_back());
  } else {
    for (auto& one : row) carry(io, one);
  }
}

template <typename Io, typename T>
void carry(Io& io, std::vector<T>& row) {
  carry_row(io, row);
}

template <typename Io, typename T>
void carry(Io& io, std::deque<T>& row) {
  carry_row(io, row);
}

/// `carry_key` carries a key; some are numbers of units or of inputs.
template <typename Io, typename Map, typename CarryKey>
void carry_map(Io& io, Map& map, CarryKey carry_key) {
  size_t count = map.size();
  io.size(count);
  if constexpr (Io::kReads) {
    map.clear();
    for (size_t i = 0; i < count && !io.failed(); ++i) {
      typename Map::key_type key{};
      typename Map::mapped_type value{};
      carry_key(key);
      carry(io, value);
      map.insert_or_assign(map.end(), std::move(key), std::move(value));
    }
  } else {
    for (auto& [key, value] : map) {
      typename Map::key_type copy = key;
      carry_key(copy);
      carry(io, value);
    }
  }
}

template <typename Io, typename Key, typename Value, typename Less>
void carry(Io& io, std::map<Key, Value, Less>& map) {
  carry_map(io, map, [&](Key& key) { carry(io, key); });
}

template <typename Io, typename T>
void carry(Io& io, std::optional<T>& value) {
  bool is_there = value.has_value();
  carry(io, is_there);
  if constexpr (Io::kReads) value = is_there ? std::optional<T>(std::in_place) : std::nullopt;
  if (value) carry(io, *value);
}

template <typename Io, typename T>
void carry(Io& io, Rare<T>& value) {
  auto is_there = static_cast<bool>(value);
  carry(io, is_there);
  if (is_there) carry(io, value.change());
}

template <typename Io, typename A, typename B>
void carry(Io& io, std::pair<A, B>& pair) {
  carry_each(io, pair.first, pair.second);
}

template <typename Io, typename T, size_t kSize>
void carry(Io& io, std::array<T, kSize>& row) {
  for (T& one : row) carry(io, one);
}

// What a shard says, carried: also classes that keep something private, share what they hold, or
// mean an input by its number.
//
// A reader believes nothing: whatever the bytes are, what it gives could have come from some log,
// or io.fail() was called. Numbers that a log may print are free; those by which one part finds
// another (segments of calls, wordings of texts, nodes of a topology) are checked here.

// What a part holds of plain structs: their members in this order.

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
NCCLOG_FIELDS(CollectiveCalls, total, first, last, first_op_count, first_stamp, last_stamp,
              last_call, by_signature, volumes, collectives, peers)
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
NCCLOG_FIELDS(UnknownLines, count, levels, first, example, last, latest)

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
NCCLOG_FIELDS(PortCounter, source, host, device, port, name, value, stamp, where, text)

NCCLOG_FIELDS(RasCommunicators, hash, count, nodes, ranks_per_node, nranks, ranks_in_group,
              missing_ranks, operations, status, errors)
NCCLOG_FIELDS(RasMember, rank, pid, node, gpu)
NCCLOG_FIELDS(RasReport, where, nccl_version, cuda_runtime, cuda_driver, timestamp, timeouts,
              communicators, statements, nranks, nodes, world)
NCCLOG_FIELDS(RasStatement, communicator, nranks, problem, what, value, count, members)

NCCLOG_FIELDS(FileWriter, host, pid, several)

NCCLOG_FIELDS(CallOwner, host, pid, comm, by_traces)
NCCLOG_FIELDS(FileStamp, size, changed, beginning)
NCCLOG_FIELDS(Reply, is_found, text, nanoseconds, where, calls)
NCCLOG_FIELDS(Request, host, path, stamp, from, asked, owner, most, wanted, index)

template <>
inline constexpr uint64_t kEnumSize<CommFate> = 3;
template <>
inline constexpr uint64_t kEnumSize<PciKind> = 3;
template <>
inline constexpr uint64_t kEnumSize<OutputBreak> = 3;
template <>
inline constexpr uint64_t kEnumSize<RecordedState> = 4;

template <typename Io>
void carry(Io& io, OpName& op) {
  std::string name = op.text();
  io.text(name);
  if constexpr (Io::kReads) op = OpName(name);
}

template <typename Io>
void carry(Io& io, Marker& marker) {
  carry_each(io, marker.step, marker.total, marker.wording);
  if constexpr (Io::kReads) {
    const bool is_known =
        marker.wording == kOwnWording || marker.wording < iteration_wordings().size();
    if (!is_known) io.fail();
  }
}

/// Texts are shared by many records, and stand once in a part.
template <typename Io>
void carry(Io& io, OwnedRecord& record) {
  io.place(record.where);
  io.head(record.head);
  io.message(record.rest);
  if constexpr (Io::kReads) {
    // A message that stands behind a head is read by its wording alone.
    const bool is_sound =
        record.rest != nullptr && (record.head == nullptr || record.rest->wording != nullptr);
    if (!is_sound) io.fail();
  }
}

/// `has_kind` says of which kinds lines may stand in the list of a key.
template <typename Io, typename HasKind>
void carry_lists(Io& io, RecordLists& lists, HasKind has_kind) {
  if constexpr (Io::kReads) {
    size_t count = 0;
    io.size(count);
    RecordLists read;
    for (size_t i = 0; i < count && !io.failed(); ++i) {
      uint16_t key = 0;
      uint64_t total = 0;
      bool full = false;
      std::vector<OwnedRecord> kept;
      carry_each(io, key, total, full, kept);
      const bool fits = std::ranges::all_of(
          kept, [&](const Record& record) { return record && has_kind(key, record.kind()); });
      if (!fits || !read.append(io.trie(), key, total, full, std::move(kept))) io.fail();
    }
    read.settle();
    lists = std::move(read);
  } else {
    lists.settle();
    size_t count = 0;
    for (auto list = lists.begin(); list != lists.end(); ++list) ++count;
    io.size(count);
    for (auto [key, list] : lists) {
      bool full = list.full;
      std::vector<OwnedRecord> kept;
      for (const Record& record : list.kept) kept.push_back(keep(record));
      carry_each(io, key, list.total, full, kept);
    }
  }
}

template <typename Io>
void carry(Io& io, OrderedLines& lines) {
  carry_each(io, lines.total, lines.kept);
  if constexpr (Io::kReads) {
    if (lines.kept.size() > lines.total) io.fail();
    // Which of them take which places is found out by adding them again.
    OrderedLines read;
    const uint64_t total = lines.total;
    read.merge(std::move(lines));
    read.total = total;
    lines = std::move(read);
  }
}

template <typename Io>
void carry(Io& io, CallSequence& calls) {
  carry_each(io, calls.size_, calls.hash_, calls.next_checkpoint_, calls.stride_, calls.kept_,
             calls.oldest_, calls.checkpoints_);
  if constexpr (Io::kReads) {
    const uint64_t kept = std::min<uint64_t>(calls.size_, CallSequence::kKept);
    const bool is_sound = calls.kept_.size() == kept && calls.oldest_ <= kept &&
                          (calls.oldest_ == 0 || calls.oldest_ < kept) && calls.stride_ > 0 &&
                          calls.checkpoints_.size() <= CallSequence::kMaxCheckpoints &&
                          calls.checkpoints_.empty() == (calls.size_ == 0);
    if (!is_sound) io.fail();
    uint64_t before = 0;
    for (const CallCheckpoint& point : calls.checkpoints_) {
      if (point.index < before || point.index >= calls.size_) io.fail();
      before = point.index;
    }
  }
}

template <typename Io>
void carry(Io& io, CallTape& tape) {
  carry_each(io, tape.total_, tape.kept_, tape.entries_, tape.runs_);
  if constexpr (Io::kReads) {
    // Replayed onto an empty one, as merge does; so it has to be a tape that some calls give.
    uint64_t calls = 0;
    bool is_sound = tape.entries_.size() <= CallTape::kMaxKinds &&
                    tape.runs_.size() <= CallTape::kMaxRuns + CallTape::kSpareRuns;
    for (const CallTape::Run& run : tape.runs_) {
      ++calls;
      is_sound = is_sound && run.id < tape.entries_.size() && run.distance <= calls &&
                 run.distance < CallTape::kWindow && (run.distance > 0 || run.copied == 0);
      calls += run.copied;
    }
    if (!is_sound || calls != tape.kept_ || tape.kept_ > tape.total_) return io.fail();
    int segments = 0;
    for (const CallTape::Entry& entry : tape.entries_) {
      if (entry.segment < -1 || entry.segment > io.most_elements()) return io.fail();
      segments = std::max(segments, entry.segment + 1);
    }
    std::vector<int> same(static_cast<size_t>(segments));
    for (int i = 0; i < segments; ++i) same[i] = i;
    CallTape read;
    read.merge(tape, same);
    tape = std::move(read);
  }
}

template <typename Io>
void carry(Io& io, CallMarks& marks) {
  std::vector<CallMark> all = marks.all();
  size_t count = all.size();
  io.size(count);
  if constexpr (Io::kReads) all.assign(count, {});
  CallMarks read;
  for (CallMark& mark : all) {
    io.input(mark.input);
    carry_each(io, mark.markers, mark.call);
    if constexpr (Io::kReads) read.note(mark);
  }
  if constexpr (Io::kReads) marks = std::move(read);
}

template <typename Io>
void carry(Io& io, CommSegments& comms) {
  carry(io, comms.all);
  if constexpr (Io::kReads) {
    comms.latest_.clear();
    for (size_t i = 0; i < comms.all.size(); ++i) comms.latest_[comms.all[i].comm] = i;
    comms.lives_ = comms.all.size();
  }
}

template <typename Io>
void carry(Io& io, BoundedLines& table) {
  bool has_lines = table.has_lines();
  carry_each(io, has_lines, table.cut_);
  if (!has_lines) return;
  if constexpr (Io::kReads) {
    table.bytes_ = std::make_shared<std::string>();
    io.text(*table.bytes_);
    const bool is_sound = !table.bytes_->empty() && table.bytes_->back() == '\n' &&
                          table.bytes_->size() <= BoundedLines::kMaxBytes;
    if (!is_sound) io.fail();
    table.size_ = table.bytes_->size();
  } else {
    table.fit();
    io.text(*table.bytes_);
  }
}

template <typename Io>
void carry(Io& io, InitSections& sections) {
  carry_each(io, sections.all_, sections.latest_);
  if constexpr (Io::kReads) {
    if (sections.all_.size() > InitSections::kLimit) io.fail();
    for (const auto& [tid, latest] : sections.latest_) {
      if (latest >= sections.all_.size() && latest != InitSections::kLimit) io.fail();
    }
    for (const InitSection& section : sections.all_) {
      if (section.graphs.size() > InitSection::kMaxGraphs) io.fail();
    }
  }
}

/// Of a stretch that was read to its end: what only helps to read on is left out.
template <typename Io>
void carry(Io& io, Pulse& pulse) {
  carry_each(io, pulse.clocks_, pulse.undated_work_);
}

NCCLOG_FIELDS(OutputLine, where, shape, follows)

template <typename Io>
void carry(Io& io, OutputStarts& starts) {
  carry_each(io, starts.opening_, starts.after_breaks_, starts.endings_, starts.finished_,
             starts.left_, starts.break_);
  if constexpr (Io::kReads) {
    if (starts.opening_.size() > OutputStarts::kOpening ||
        starts.after_breaks_.size() > OutputStarts::kMost ||
        starts.endings_.size() > OutputStarts::kEndings || starts.left_ > OutputStarts::kWindow)
      io.fail();
  }
}

template <typename Io>
void carry(Io& io, Speaker& speaker) {
  carry_each(io, speaker.host, speaker.pid, speaker.rank, speaker.local_rank);
  bool is_of_input = speaker.input >= 0;
  carry(io, is_of_input);
  if (!is_of_input) return;
  auto number = static_cast<uint64_t>(speaker.input);
  io.input(number);
  speaker.input = static_cast<int64_t>(number);
}

template <typename Io>
void carry(Io& io, SpeakerLog& log) {
  carry_each(io, log.lines, log.first, log.last, log.last_text, log.torn, log.cut, log.task_rank,
             log.task_local_rank, log.subsystems);
  const auto is_kind = [](uint16_t key, uint16_t kind) {
    return key == kind && kind != Record::kNoKind;
  };
  const auto is_no_kind = [](uint16_t key, uint16_t kind) {
    return key == kind && kind == Record::kNoKind;
  };
  carry_lists(io, log.records, is_kind);
  carry_lists(io, log.unrecognised, is_no_kind);
  carry_lists(io, log.line_matches, [&](uint16_t key, uint16_t) { return io.is_pattern(key); });
  carry_each(io, log.starts, log.comms, log.calls, log.traces, log.connections, log.inits,
             log.allocations, log.tuning, log.benchmarks, log.proxy_dumps, log.last_failure,
             log.stack_lines);
  if constexpr (Io::kReads) {
    const auto has_segments = [&](const CallTrack& track) {
      return std::ranges::all_of(track.tape.entries(), [&](const CallTape::Entry& entry) {
        return entry.segment < static_cast<int>(log.comms.all.size());
      });
    };
    const bool is_sound = has_segments(*log.calls) && has_segments(*log.traces) &&
                          log.starts.size() <= SpeakerLog::kMaxStarts && log.lines > 0;
    if (!is_sound) io.fail();
  }
}

/// Nodes are named by their places.
template <typename Io>
void carry(Io& io, HostTopology& topology) {
  SystemTopology& system = topology.system;
  carry_each(io, topology.host, topology.source, system);
  if constexpr (Io::kReads) {
    const auto count = static_cast<int>(system.nodes.size());
    const auto is_node = [count](int place) { return place >= 0 && place < count; };
    bool is_sound = true;
    for (int i = 0; i < count; ++i) {
      int above = system.nodes[i].parent;
      for (int steps = 0; is_sound && above != -1; ++steps) {
        is_sound = is_node(above) && steps < count;
        if (is_sound) above = system.nodes[above].parent;
      }
      if (!is_sound) break;
    }
    for (const SystemLink& link : system.links) {
      is_sound = is_sound && is_node(link.from) && is_node(link.to);
    }
    for (const SystemPath& path : system.paths) {
      is_sound = is_sound && is_node(path.from) && is_node(path.to);
    }
    if (!is_sound) io.fail();
  }
}

template <typename Io>
void carry(Io& io, InputClock& clock) {
  io.unit(clock.unit);
  carry_each(io, clock.markers, clock.total, clock.last, clock.pulse, clock.starts);
  if constexpr (Io::kReads) {
    if (clock.markers.size() != std::min(clock.total, kMaxMarkers)) io.fail();
  }
}

/// All but its speakers, which are many: they are carried one by one.
template <typename Io>
void carry_rest(Io& io, Shard& shard) {
  carry_each(io, shard.losses, shard.unknown);
  carry_map(io, shard.writers, [&](uint64_t& unit) { io.unit(unit); });
  carry_map(io, shard.clocks, [&](uint64_t& input) { io.input(input); });
  carry_each(io, shard.ras_lines, shard.ras_reports, shard.flight_recorders, shard.inspected,
             shard.topologies, shard.nccl_tests, shard.pci_devices, shard.port_counters);
  if constexpr (Io::kReads) {
    for (FlightRecorderDump& dump : shard.flight_recorders) dump.process = -1;
    for (NcclTestsRun& run : shard.nccl_tests) run.process = -1;
    const bool is_sound =
        shard.ras_reports.size() <= kMaxRasReports && shard.ras_lines.size() <= Shard::kMaxRasLines;
    if (!is_sound) io.fail();
  }
}

}  // namespace ncclog
