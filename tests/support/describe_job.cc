#include "support/describe_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <vector>

#include "log/known_messages.h"
#include "support/describe_ras.h"

namespace ncclog {
namespace {

std::string place(const Job& job, SourceRef where, Places places) {
  if (places == Places::Hidden || where.line == 0) return {};
  const FileLine at = file_line(job, where);
  return fmt::format(" @{}:{}", at.path, at.line);
}

std::string describe(const Job& job, const Process& process, Places places) {
  return fmt::format(
      "process host={} pid={} rank={} dev={} bus={} nccl={} cut={} spoke={}{}{} last={}\n",
      process.host, process.pid, process.rank, process.cuda_dev, process.bus_id, process.has_nccl,
      process.cut, process.subsystems.to_string(), place(job, process.first, places),
      place(job, process.last, places), last_text(job, process));
}

std::string describe(const HostTopology& topology) {
  std::string text =
      fmt::format("topology {} {} cut={}\n", topology.host, topology.source, topology.system.cut);
  for (size_t n = 0; n < topology.system.nodes.size(); ++n) {
    const SystemNode& node = topology.system.nodes[n];
    text +=
        fmt::format("  {} parent={} {} {} rank={} {} {} {}\n", to_string(node.name), node.parent,
                    node.link, node.bw, topology.ranks[n], node.detail, node.device, node.speed);
  }
  for (const SystemLink& link : topology.system.links) {
    text += fmt::format("  {} - {} {} {}\n", link.from, link.to, link.type, link.bw);
  }
  for (const SystemPath& path : topology.system.paths) {
    text += fmt::format("  {} to {} {} {} {}\n", path.from, path.to, path.hops, path.bw, path.type);
  }
  return text;
}

std::string describe(const CommGraphs& graphs) {
  std::string text;
  for (const Ring& ring : graphs.rings) {
    text += fmt::format("  ring {:x} {} {} {}\n", ring.channels, fmt::join(ring.order, " "),
                        to_string(ring.check), ring.remark);
  }
  for (const Tree& tree : graphs.trees) {
    text += fmt::format("  tree {:x} {} {} {}\n", tree.channels, fmt::join(tree.parents, " "),
                        to_string(tree.check), tree.remark);
  }
  for (const GraphSearch& search : graphs.searches) {
    text += fmt::format("  search {} {} {} {} by {}\n", search.graph.pattern, search.graph.channels,
                        search.graph.bw, search.graph.type, fmt::join(search.ranks, " "));
    for (const auto& [members, mask] : search.graph.members.all) {
      text += fmt::format("    {:x} {}\n", mask.bits, members);
    }
  }
  for (const TuningCell& cell : graphs.tuning) {
    text += fmt::format("  tuning {} {} {} {} {}\n", cell.function, cell.algorithm, cell.protocol,
                        cell.latency_us, cell.bw);
  }
  return text + fmt::format("  channels {} {} {} {}\n", graphs.channels.coll, graphs.channels.nvls,
                            graphs.channels.p2p, graphs.channels.p2p_per_peer);
}

std::string describe(const InitSection& section) {
  return fmt::format("  section {:#x} rank={} lines={} tuning={} graphs={} timings={} {}\n",
                     section.comm, section.rank, section.system.lines().size(),
                     section.tuning.lines().size(), section.graphs.size(), section.timings_total,
                     section.timings);
}

std::string describe(const Communicator& comm) {
  std::string text =
      fmt::format("communicator {} nranks={} nnodes={} hosts={} parent={} child={} calls={}\n",
                  comm.id, comm.nranks, comm.nnodes, fmt::join(comm.hosts, ","), comm.parent,
                  comm.is_child, comm.calls.value_or(0));
  for (const CommRank& rank : comm.ranks) {
    text += fmt::format("  rank {} process={} dev={} bus={} {} calls={}\n", rank.rank, rank.process,
                        rank.cuda_dev, rank.bus_id, to_string(rank.state), rank.calls);
  }
  return text + describe(comm.graphs);
}

std::string describe(const Job& job, const CommSegment& segment, Places places) {
  std::string text =
      fmt::format("  comm {:#x} rank={} id={:#x} calls={}{}{}{}\n", segment.comm, segment.rank,
                  segment.comm_id, segment.calls->total, place(job, segment.started, places),
                  place(job, segment.completed, places), place(job, segment.ended, places));
  for (const auto& [call, n] : segment.calls->by_signature.all) {
    text += fmt::format("    {} {} {} {} {} x{}\n", call.op.view(), call.count, call.datatype,
                        call.redop, call.root, n);
  }
  return text;
}

/// "  tape Broadcast@0 AllGather@1 …"; where steps were printed between, "(2)" counts them.
std::string describe(const char* name, const CallTrack& track, Places places) {
  std::string text = fmt::format("  {} {}/{}", name, track.tape.kept(), track.tape.total());
  std::map<uint64_t, std::string> marks;
  for (const CallMark& mark : track.marks.all()) {
    if (places == Places::Shown) marks[mark.call] += fmt::format(" ({})", mark.markers);
  }
  const std::vector<uint16_t> calls = track.tape.calls();
  for (size_t i = 0; i < calls.size(); ++i) {
    const CallTape::Entry& entry = track.tape.entries()[calls[i]];
    text += marks[i] + fmt::format(" {}@{}", entry.call.op.view(), entry.segment);
  }
  return text + "\n";
}

std::string describe(const Job& job, const UnknownShapes& unknown, Places places) {
  std::string text;
  for (const auto& [shape, lines] : unknown.all) {
    text += fmt::format("unknown {} x{} levels={:x}{}\n", shape, lines.count, lines.levels,
                        place(job, lines.first, places));
  }
  return text;
}

std::string describe(const Job& job, const SpeakerLog& log, Places places) {
  const Speaker& speaker = log.speaker;
  std::string text = fmt::format("log host={} pid={} rank={} local={} input={} lines={} task={}\n",
                                 speaker.host, speaker.pid, speaker.rank, speaker.local_rank,
                                 speaker.input, log.lines, log.task_rank);
  for (const CommSegment& segment : log.comms.all) text += describe(job, segment, places);
  if (log.calls->tape.total() > 0) text += describe("tape", *log.calls, places);
  if (log.traces->tape.total() > 0) text += describe("traces", *log.traces, places);
  for (const auto& [key, use] : log.connections.all) {
    text += fmt::format("  {} -> {} {} {:x}{}\n", key.src_rank, key.dst_rank, key.path,
                        use.channels, place(job, use.first, places));
  }
  for (const InitSection& section : log.inits.all()) text += describe(section);
  for (const auto& [what, total] : log.allocations->all) {
    text += fmt::format("  {} x{} {} bytes\n", what, total.count, total.bytes);
  }
  for (const auto& [key, use] : log.tuning->all) {
    text += fmt::format("  runs {} {} {} x{} {}..{}\n", key.function, key.algorithm, key.protocol,
                        use.count, use.min_bytes, use.max_bytes);
  }
  for (const auto& [kind, list] : log.records) {
    text += fmt::format("  {} x{}\n", all_kinds()[kind].name, list.total);
    for (const Record& record : list.kept) {
      text += fmt::format("    {}{}\n", record.text(), place(job, record.where, places));
    }
  }
  for (const auto& [pattern, list] : log.line_matches) {
    text += fmt::format("  pattern {} x{}\n", pattern, list.total);
    for (const Record& record : list.kept) {
      text += fmt::format("    {}{}\n", record.text(), place(job, record.where, places));
    }
  }
  for (const Record& record : log.unrecognised.kept(Record::kNoKind)) {
    text += fmt::format("  unrecognised {}{}\n", record.text(), place(job, record.where, places));
  }
  return text;
}

std::string describe(const FlightRecorderGroup& group) {
  return fmt::format("  group {} {} {} ranks={} enqueued={} started={} completed={}\n", group.pg_id,
                     group.name, group.description, fmt::join(group.ranks, ","),
                     group.last_enqueued.value_or(-2), group.last_started.value_or(-2),
                     group.last_completed.value_or(-2));
}

std::string describe(const FlightRecorderDump& dump) {
  std::string text = fmt::format("dump rank={} version={} nccl={} process={}\n", dump.rank,
                                 dump.version, dump.nccl_version, dump.process);
  for (const FlightRecorderGroup& group : dump.groups) text += describe(group);
  for (const FlightRecorderEntry& entry : dump.entries) {
    text += fmt::format("  entry {} {} {} {} {} {}\n", entry.record_id, entry.group,
                        entry.collective_seq_id, entry.profiling_name, to_string(entry.state),
                        sizes_text(entry.input_sizes));
  }
  return text;
}

}  // namespace

std::string describe_job(const Job& job, Places places) {
  std::string text = fmt::format(
      "lines={} recognised={} unrecognised={} foreign={} unreadable={}\n", job.losses.lines,
      job.losses.recognised, job.losses.unrecognised, job.losses.foreign, job.losses.unreadable);
  text += fmt::format("nranks={} hosts={} versions={} {} network={} plugin={}\n",
                      job.nranks.value_or(-1), fmt::join(job.hosts, ","),
                      fmt::join(job.nccl_versions, ","), fmt::join(job.cuda_versions, ","),
                      job.network.name, job.network.plugin);
  for (const Interface& i : job.network.interfaces) {
    text += fmt::format("interface {} {} {} {} {}\n", i.host, i.name, i.address, i.port, i.link);
  }
  for (const EnvironmentSetting& setting : job.environment) {
    text += fmt::format("setting {}={} by {}\n", setting.name, setting.value,
                        fmt::join(setting.processes, ","));
  }
  for (const KernelEvent& event : job.kernel_events) {
    text += fmt::format(
        "kernel {} host={} rank={} relation={} {}{}\n", all_kinds()[event.kind].name, event.host,
        event.rank, static_cast<int>(event.relation), event.text, place(job, event.where, places));
  }
  for (const NcclTestsRun& run : job.nccl_tests) {
    text +=
        fmt::format("nccl-tests {} process={} rows={} busbw={} wrong={}{}\n", run.test, run.process,
                    run.rows.size(), run.busbw, run.out_of_bounds, place(job, run.first, places));
  }
  for (const Process& process : job.processes) text += describe(job, process, places);
  for (const Communicator& comm : job.communicators) text += describe(comm);
  for (const HostTopology& topology : job.topologies) text += describe(topology);
  text += describe(job, job.unknown, places);
  for (const SpeakerLog& log : job.logs) text += describe(job, log, places);
  for (const FlightRecorderDump& dump : job.flight_recorders) text += describe(dump);
  for (const RasReport& report : job.ras_reports) {
    text += "RAS" + place(job, report.where, places) + " " + testing::describe_ras(report);
  }
  return text;
}

}  // namespace ncclog
