// One run taken out of a job: a shard's worth of logs, built like any other job.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "model/build_steps.h"
#include "model/run_parts.h"

namespace ncclog {
namespace {

/// Takes the lines of one run out of logs that name no process.
class Cutter {
 public:
  Cutter(const Job& job, const RunParts& parts, int run) : job_(job), parts_(parts), run_(run) {}

  bool is_own(SourceRef where) const { return parts_.owner(job_, where) == run_; }

  /// Nothing of it is left if `lines` is 0.
  SpeakerLog cut(const SpeakerLog& whole) const {
    if (is_all_own(whole)) return whole;
    SpeakerLog part;
    part.speaker = whole.speaker;
    part.torn = whole.torn;
    part.task_rank = whole.task_rank;
    part.task_local_rank = whole.task_local_rank;
    part.subsystems = whole.subsystems;
    for (const auto& [kind, list] : whole.records) take(list, part.records[kind], part);
    take(whole.unrecognised, part.unrecognised, part);
    for (const auto& [pattern, list] : whole.line_matches) {
      take(list, part.line_matches[pattern], part);
    }
    for (const Record& record : whole.nccl_tests.kept) {
      if (!is_own(record.where)) continue;
      part.nccl_tests.add([&] { return record; });
      note(record, part);
    }
    if (is_own(whole.last)) {
      part.cut = whole.cut;
      part.last = whole.last;
      part.last_text = whole.last_text;
      if (part.lines == 0) part.first = whole.last;
      part.lines = std::max<uint64_t>(part.lines, 1);
    }
    return part;
  }

 private:
  /// Its lines stand in stretches of this run only, as far as it keeps any.
  bool is_all_own(const SpeakerLog& log) const {
    if (!is_own(log.first) || !is_own(log.last)) return false;
    const auto own = [&](const RecordList& list) {
      return std::all_of(list.kept.begin(), list.kept.end(),
                         [&](const Record& record) { return is_own(record.where); });
    };
    const auto all_own = [&](const RecordLists& lists) {
      return std::all_of(lists.begin(), lists.end(),
                         [&](const auto& entry) { return own(entry.second); });
    };
    return all_own(log.records) && own(log.unrecognised) && all_own(log.line_matches);
  }

  void take(const RecordList& from, RecordList& to, SpeakerLog& part) const {
    for (size_t i = 0; i < from.kept.size(); ++i) {
      const Record& record = from.kept[i];
      if (!is_own(record.where)) continue;
      to.kept.push_back(record);
      to.hashes.push_back(from.hashes[i]);
      note(record, part);
    }
    // Of lines that came again only the first is kept, so how many are this run's is not known.
    to.total = to.kept.size();
    to.full = from.full;
  }

  static void note(const Record& record, SpeakerLog& part) {
    ++part.lines;
    if (part.first.line == 0 || record.where < part.first) part.first = record.where;
    if (part.last < record.where) {
      part.last = record.where;
      part.last_text = record.text;
    }
  }

  const Job& job_;
  const RunParts& parts_;
  int run_;
};

/// The run of each log that names a process; -1: of nobody's.
std::map<size_t, int> runs_of_speakers(const Job& job, const RunParts& parts) {
  std::vector<int> run_of(job.processes.size(), -1);
  for (size_t r = 0; r < parts.runs.size(); ++r) {
    for (const int p : parts.runs[r].processes)
      run_of[static_cast<size_t>(p)] = static_cast<int>(r);
  }
  std::map<size_t, int> runs;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      if (job.logs[log].speaker.pid >= 0) runs[log] = run_of[p];
    }
  }
  return runs;
}

/// An empty list is no list: rules ask which kinds there are.
RecordLists without_empty(const RecordLists& lists) {
  RecordLists result;
  for (const auto& [key, list] : lists) {
    if (!list.kept.empty()) result[key] = list;
  }
  return result;
}

UnknownShapes own_shapes(const Job& job, const Cutter& cutter) {
  UnknownShapes own;
  for (const auto& [shape, lines] : job.unknown.shapes) {
    if (cutter.is_own(lines.first)) own.shapes.emplace(shape, lines);
  }
  return own;
}

/// In an input that goes on with another run, the run ends at its last line.
void end_inputs(const Job& job, const RunParts& parts, int run, std::vector<JobInput>& inputs) {
  for (size_t i = 0; i < parts.by_input.size(); ++i) {
    const auto& stretches = parts.by_input[i];
    for (size_t s = 0; s + 1 < stretches.size(); ++s) {
      const uint64_t next = file_line(job, stretches[s + 1].from).line;
      if (stretches[s].run == run && next > 0) inputs[i].lines = next - 1;
    }
  }
}

/// The steps that were printed into an input until the run ended, where those of each run show in
/// that they begin again. Calls count the steps before them, so earlier ones stay.
JobMarkers own_markers(const JobMarkers& whole, const std::vector<RunStretch>& stretches, int run) {
  std::vector<size_t> ends;  // Of each row of steps that grow.
  for (size_t m = 1; m < whole.markers.size(); ++m) {
    if (whole.markers[m].step < whole.markers[m - 1].step) ends.push_back(m);
  }
  if (ends.size() + 1 != stretches.size() || whole.markers.size() != whole.total) return whole;
  JobMarkers own = whole;
  for (size_t s = 0; s < ends.size(); ++s) {
    if (stretches[s].run == run) own.markers.resize(std::min(own.markers.size(), ends[s]));
  }
  own.total = own.markers.size();
  return own;
}

/// Lines that stand in the stretches of the run: what its verdict says that it covers.
uint64_t lines_of(const Job& job, const RunParts& parts, int run) {
  uint64_t lines = 0;
  for (size_t i = 0; i < parts.by_input.size(); ++i) {
    const auto& stretches = parts.by_input[i];
    for (size_t s = 0; s < stretches.size(); ++s) {
      if (stretches[s].run != run) continue;
      const uint64_t from = s == 0 ? 1 : file_line(job, stretches[s].from).line;
      const uint64_t to = s + 1 < stretches.size() ? file_line(job, stretches[s + 1].from).line
                                                   : job.inputs[i].lines + 1;
      lines += to > from ? to - from : 0;
    }
  }
  return lines;
}

/// Where calls begin to differ was found by reading lines again; it stays what it is in the run.
void copy_differences(const Job& whole, const std::vector<size_t>& log_in_whole, Job& job) {
  using Members = std::vector<std::pair<int64_t, int>>;  // Log in the whole job, and segment.
  std::map<Members, const FirstDifference*> known;
  for (const Communicator& comm : whole.communicators) {
    if (!comm.difference || !comm.difference->is_exact()) continue;
    Members members;
    for (const CommRank& rank : comm.ranks) members.emplace_back(rank.log, rank.segment);
    known[members] = &*comm.difference;
  }
  for (Communicator& comm : job.communicators) {
    if (!comm.difference || comm.difference->is_exact()) continue;
    Members members;
    for (const CommRank& rank : comm.ranks) {
      members.emplace_back(
          rank.log < 0 ? -1 : static_cast<int64_t>(log_in_whole[static_cast<size_t>(rank.log)]),
          rank.segment);
    }
    const auto same = known.find(members);
    if (same != known.end()) comm.difference = *same->second;
  }
}

}  // namespace

Job job_of_run(const Job& job, const RunParts& parts, int run) {
  const Cutter cutter(job, parts, run);
  Job part;
  part.inputs = job.inputs;
  part.units = job.units;
  part.losses = job.losses;
  part.losses.lines = lines_of(job, parts, run);
  part.unknown = own_shapes(job, cutter);
  end_inputs(job, parts, run, part.inputs);
  for (const JobMarkers& markers : job.markers) {
    part.markers.push_back(own_markers(markers, parts.by_input[markers.input], run));
  }
  for (const JobPulse& pulse : job.pulses) {
    const auto& stretches = parts.by_input[pulse.input];
    const bool has_part = std::any_of(stretches.begin(), stretches.end(),
                                      [&](const RunStretch& s) { return s.run == run; });
    if (has_part) part.pulses.push_back(pulse);
  }
  for (const RasReport& report : job.ras_reports) {
    if (cutter.is_own({report.where.unit, std::max<uint64_t>(report.where.line, 1)}))
      part.ras_reports.push_back(report);
  }
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    if (cutter.is_own({dump.where.unit, 1})) part.flight_recorders.push_back(dump);
  }
  for (const HostTopology& topology : job.topologies) {
    if (!topology.source.empty()) part.topologies.push_back(topology);
  }
  const std::map<size_t, int> speakers = runs_of_speakers(job, parts);
  std::vector<size_t> log_in_whole;
  for (size_t i = 0; i < job.logs.size(); ++i) {
    const auto speaker = speakers.find(i);
    if (speaker != speakers.end() && speaker->second != run) continue;
    SpeakerLog log = speaker != speakers.end() ? job.logs[i] : cutter.cut(job.logs[i]);
    if (log.lines == 0) continue;
    log.records = without_empty(log.records);
    log.line_matches = without_empty(log.line_matches);
    part.logs.push_back(std::move(log));
    log_in_whole.push_back(i);
  }
  build_parts(part);
  copy_differences(job, log_in_whole, part);
  return part;
}

}  // namespace ncclog
