#include "model/build_job.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/build_steps.h"
#include "model/first_difference.h"
#include "model/ras_text.h"
#include "model/short_logs.h"
#include "model/torn_speakers.h"
#include "model/torn_values.h"

namespace ncclog {
namespace {

/// The answers in files of their own and those among the lines, in input order.
std::vector<RasReport> join_ras_reports(Shard& shard) {
  std::vector<RasReport> reports = shard.take_ras_reports();
  std::vector<RasReport> quoted = read_ras_text(shard.ras_lines().kept);
  std::move(quoted.begin(), quoted.end(), std::back_inserter(reports));
  std::stable_sort(reports.begin(), reports.end(),
                   [](const RasReport& a, const RasReport& b) { return a.where < b.where; });
  return reports;
}

}  // namespace

void build_parts(Job& job) {
  build_processes(job);
  build_communicators(job);
  build_runs(job);
  build_flight_recorders(job);
  mark_short_logs(job);
  find_differences(job, {});
  build_network(job);
  build_graphs(job);
  build_topologies(job);
  build_kernel_events(job);
  build_nccl_tests(job);
  build_summary(job);
}

Job build_job(Shard&& shard, std::vector<JobInput> inputs, std::vector<JobUnit> units,
              const LossTable& losses) {
  Job job;
  job.inputs = std::move(inputs);
  job.units = std::move(units);
  job.losses = losses;
  job.unknown = shard.take_unknown();
  job.flight_recorders = shard.take_flight_recorders();
  job.ras_reports = join_ras_reports(shard);
  for (TopologyFile& file : shard.take_topology_files()) {
    job.topologies.push_back({"", std::move(file.path), std::move(file.system), {}});
  }
  for (auto& [speaker, log] : shard.take_speakers()) {
    log.speaker = speaker;
    const JobUnit* unit = unit_of(job, log.first);
    if (log.speaker.input >= 0 && unit != nullptr) log.speaker.input = unit->input;
    for (const auto& [kind, list] : log.records) job.losses.add(Loss::RecordsDropped, list.full);
    job.logs.push_back(std::move(log));
  }
  for (const auto& [number, stretch] : shard.markers()) {
    const JobUnit* unit = unit_of(job, {stretch.unit, 1});
    if (unit == nullptr) continue;
    job.markers.push_back({number, unit->input, stretch.markers.all(), stretch.markers.total()});
  }
  for (const auto& [number, stretch] : shard.pulses()) {
    const JobUnit* unit = unit_of(job, {stretch.unit, 1});
    if (unit == nullptr) continue;
    job.pulses.push_back({unit->input, stretch.pulse});
  }
  join_torn_speakers(job.logs);
  build_writers(job, shard.writers());
  drop_unplaced_segments(job.logs);
  drop_contradicted_values(job.logs);
  for (SpeakerLog& log : job.logs) {
    log.calls.tape.finish();
    log.traces.tape.finish();
  }
  build_parts(job);
  return job;
}

}  // namespace ncclog
