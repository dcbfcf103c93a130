#include "model/derive/split_runs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/derive/build_job.h"

namespace ncclog {

namespace {

/// Takes the lines of one run out of logs that name no process.
class RunExtractor {
 public:
  RunExtractor(const Job& job, const RunParts& parts, int run)
      : job_(job), parts_(parts), run_(run) {}

  bool is_own(SourceRef where) const { return parts_.owner(job_, where) == run_; }

  /// Nothing of it is left if `lines` is 0. All of it if its lines stand in stretches of this run
  /// only, as far as it keeps any.
  SpeakerLog cut(const SpeakerLog& whole) {
    if (is_all_own(whole)) return whole;
    SpeakerLog part;
    const auto own_of = [&](const RecordLists& lists) {
      RecordLists own = lists;
      own.keep_only(rows_, [&](uint16_t, const Record& record) {
        const bool is_ours = is_own(record.where);
        if (is_ours) note(record, part);
        return is_ours;
      });
      // Of lines that came again only the first is kept, so how many are this run's is not known.
      own.forget_repeats();
      return own;
    };
    part.unrecognised = own_of(whole.unrecognised);
    part.records = own_of(whole.records);
    part.line_matches = own_of(whole.line_matches);
    part.speaker = whole.speaker;
    part.torn = whole.torn;
    part.task_rank = whole.task_rank;
    part.task_local_rank = whole.task_local_rank;
    part.subsystems = whole.subsystems;
    for (const KeptRecord& record : whole.benchmarks->kept) {
      if (!is_own(record.where)) continue;
      part.benchmarks.change().add(Record(record).kind(), [&] { return record; });
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
  bool is_all_own(const SpeakerLog& whole) const {
    const auto are_own = [&](const RecordLists& lists) {
      return std::all_of(lists.begin(), lists.end(), [&](const auto& entry) {
        return std::ranges::all_of(entry.second.kept,
                                   [&](const auto& record) { return is_own(record.where); });
      });
    };
    return is_own(whole.first) && is_own(whole.last) && are_own(whole.unrecognised) &&
           are_own(whole.records) && are_own(whole.line_matches);
  }

  static void note(const Record& record, SpeakerLog& part) {
    ++part.lines;
    if (part.first.line == 0 || record.where < part.first) part.first = record.where;
    if (part.last < record.where) {
      part.last = record.where;
      part.last_text = record.text();
    }
  }

  const Job& job_;
  const RunParts& parts_;
  int run_;
  RecordRows rows_;
};

/// The run of each log that names a process; -1: of nobody's.
std::map<size_t, int> runs_of_speakers(const Job& job, const RunParts& parts) {
  std::vector<int> run_of(job.processes.size(), -1);
  for (size_t r = 0; r < parts.runs.size(); ++r) {
    for (const int p : parts.runs[r].processes) {
      run_of[static_cast<size_t>(p)] = static_cast<int>(r);
    }
  }
  std::map<size_t, int> runs;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      if (job.logs[log].speaker.pid >= 0) runs[log] = run_of[p];
    }
  }
  return runs;
}

/// In an input that goes on with another run, the run ends at its last line. Gives the number of
/// lines in the stretches of the run: what its verdict says that it covers.
uint64_t end_inputs(const Job& job, const RunParts& parts, int run, std::vector<JobInput>& inputs) {
  uint64_t lines = 0;
  for (size_t i = 0; i < parts.by_input.size(); ++i) {
    const auto& stretches = parts.by_input[i];
    for (size_t s = 0; s < stretches.size(); ++s) {
      if (stretches[s].run != run) continue;
      const bool is_last = s + 1 == stretches.size();
      const uint64_t from = s == 0 ? 1 : file_line(job, stretches[s].from).line;
      const uint64_t next =
          is_last ? job.inputs[i].lines + 1 : file_line(job, stretches[s + 1].from).line;
      lines += next > from ? next - from : 0;
      if (!is_last && next > 0) inputs[i].lines = next - 1;
    }
  }
  return lines;
}

/// The steps that were printed into an input until the run ended, where those of each run show in
/// that they begin again. Calls count the steps before them, so earlier ones stay.
JobClock own_clock(const JobClock& whole, const std::vector<RunStretch>& stretches, int run) {
  std::vector<size_t> ends;  // Of each row of steps that grow.
  for (size_t m = 1; m < whole.markers.size(); ++m) {
    if (whole.markers[m].step < whole.markers[m - 1].step) ends.push_back(m);
  }
  if (ends.size() + 1 != stretches.size() || whole.markers.size() != whole.total) return whole;
  JobClock own = whole;
  for (size_t s = 0; s < ends.size(); ++s) {
    if (stretches[s].run == run) own.markers.resize(std::min(own.markers.size(), ends[s]));
  }
  own.total = own.markers.size();
  return own;
}

/// Where calls begin to differ was found by reading lines again; it stays what it is in the run.
/// `logs` are those of the run, as numbers of those of the whole job.
void copy_differences(const Job& whole, const std::vector<size_t>& logs, Job& job) {
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
      const int64_t log =
          rank.log < 0 ? -1 : static_cast<int64_t>(logs[static_cast<size_t>(rank.log)]);
      members.emplace_back(log, rank.segment);
    }
    if (const auto same = known.find(members); same != known.end()) comm.difference = *same->second;
  }
}

/// The job of one run; -1: of what belongs to nobody. Built like any other, of the logs that are
/// its own.
Job job_of_run(const Job& job, const RunParts& parts, int run) {
  RunExtractor extractor(job, parts, run);
  Job part;
  part.inputs = job.inputs;
  part.units = job.units;
  part.losses = job.losses;
  part.losses.lines = end_inputs(job, parts, run, part.inputs);
  for (const auto& [shape, lines] : job.unknown.all) {
    if (extractor.is_own(lines.first)) part.unknown.all.emplace(shape, lines);
  }
  for (const JobClock& clock : job.clocks) {
    JobClock& own = part.clocks.emplace_back(own_clock(clock, parts.by_input[clock.input], run));
    if (!parts.has_stretch(clock.input, run)) own.pulse = {};
  }
  for (const RasReport& report : job.ras_reports) {
    if (extractor.is_own({report.where.unit, std::max<uint64_t>(report.where.line, 1)}))
      part.ras_reports.push_back(report);
  }
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    if (extractor.is_own({dump.where.unit, 1})) part.flight_recorders.push_back(dump);
  }
  for (const NcclTestsRun& run_of_file : job.nccl_tests) {
    const bool is_of_file = run_of_file.process < 0;
    if (is_of_file && extractor.is_own(run_of_file.first)) part.nccl_tests.push_back(run_of_file);
  }
  part.host_reports = job.host_reports;
  part.call_stamps = job.call_stamps;  // By place; whose they are, the calls say.
  for (const InspectedRank& rank : job.inspected) {
    if (extractor.is_own({rank.where.unit, 1})) part.inspected.push_back(rank);
  }
  for (const HostTopology& topology : job.topologies) {
    if (!topology.source.empty()) part.topologies.push_back(topology);
  }
  part.pci_devices = job.pci_devices;
  const std::map<size_t, int> speakers = runs_of_speakers(job, parts);
  std::vector<size_t> logs;
  for (size_t i = 0; i < job.logs.size(); ++i) {
    const auto speaker = speakers.find(i);
    if (speaker != speakers.end() && speaker->second != run) continue;
    SpeakerLog log = speaker != speakers.end() ? job.logs[i] : extractor.cut(job.logs[i]);
    if (log.lines == 0) continue;
    part.logs.push_back(std::move(log));
    logs.push_back(i);
  }
  build_parts(part);
  copy_differences(job, logs, part);
  return part;
}

}  // namespace

SplitRuns split_runs(const Job& read) {
  SplitRuns split{.parts = run_parts(read)};
  const std::vector<RunPart>& runs = split.parts.runs;
  if (runs.empty()) return split;
  for (size_t r = 0; r < runs.size(); ++r) {
    Job& run = split.runs.emplace_back(job_of_run(read, split.parts, static_cast<int>(r)));
    // What the user saw is how the logs end.
    if (runs[r].is_last) run.stated = read.stated;
  }
  split.rest = job_of_run(read, split.parts, -1);
  return split;
}

}  // namespace ncclog
