#include "diagnose/perf/machine/measured_scope.h"

#include <algorithm>

#include "diagnose/facts/job_facts.h"

namespace ncclog {
namespace {

constexpr uint32_t kNoInput = UINT32_MAX;

uint32_t input_of(const Job& job, SourceRef where) {
  const JobUnit* unit = unit_of(job, where);
  return unit == nullptr ? kNoInput : unit->input;
}

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash + 1);
}

/// Processes of the file, if they speak for NCCL; else those of the run.
void ask_processes(const Measurement& measurement, MeasuredScope& scope) {
  const Job& job = scope.job;
  const uint32_t input = input_of(job, measurement.first);
  bool any = false;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    const bool in_file = input != kNoInput && input_of(job, process.first) == input;
    scope.asked[p] = in_file;
    any |= in_file && process.has_nccl;
  }
  if (any) return;
  std::ranges::fill(scope.asked, 1);
  for (const int p : processes_of_other_runs(job, measurement.process)) {
    scope.asked[static_cast<size_t>(p)] = 0;
  }
}

/// The communicator that was measured: of as many ranks, some of them asked.
const Communicator* communicator_of(const Measurement& measurement, const MeasuredScope& scope) {
  const Job& job = scope.job;
  if (measurement.communicator >= 0) return &nth_communicator(job, measurement.communicator);
  for (const Communicator& comm : job.communicators) {
    if (measurement.nranks > 0 && comm.nranks != measurement.nranks) continue;
    const bool is_asked = std::ranges::any_of(
        comm.ranks, [&](const CommRank& rank) { return scope.asks(rank.process); });
    if (is_asked) return &comm;
  }
  return nullptr;
}

}  // namespace

bool MeasuredScope::asks_file(std::string_view path) const {
  return any_file || folder.starts_with(folder_of(path));
}

bool MeasuredScope::asks_file(SourceRef where) const {
  if (any_file) return true;
  const uint32_t input = input_of(job, where);
  return input != kNoInput && asks_file(job.inputs[input].path);
}

MeasuredScope scope_of(const Job& job, const Measurement& measurement) {
  MeasuredScope scope = {
      .job = job, .asked = std::vector<char>(job.processes.size()), .any_file = false};
  const uint32_t input = input_of(job, measurement.first);
  if (input == kNoInput) {
    scope.any_file = true;
  } else {
    scope.folder = folder_of(job.inputs[input].path);
  }
  ask_processes(measurement, scope);
  scope.comm = communicator_of(measurement, scope);
  if (scope.comm != nullptr) {
    for (const CommRank& rank : scope.comm->ranks) {
      if (rank.process >= 0) scope.asked[static_cast<size_t>(rank.process)] = 1;
    }
  }
  return scope;
}

MeasuredScope scope_of(const Job& job) {
  MeasuredScope scope = {.job = job, .asked = std::vector<char>(job.processes.size(), 1)};
  if (!job.communicators.empty()) scope.comm = &job.communicators.front();
  return scope;
}

}  // namespace ncclog
