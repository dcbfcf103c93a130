#include "diagnose/capture_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ncclog {
namespace {

/// What one question asks for.
struct Capture {
  std::string_view question;
  bool network = false;   ///< Subsystems INIT, ENV, NET.
  bool calls = false;     ///< COLL as well, and PyTorch's Flight Recorder.
  std::string_view step;  ///< What no variable does.
  bool nccl = true;       ///< NCCL's own lines answer it.
};

constexpr Capture kCaptures[] = {
    {"all_ranks", false, false,
     "Collect the files of all ranks from all hosts, also of those that seem fine."},
    {"collectives", true, true, ""},
    {"init", true, false, ""},
    {"network", true, false, ""},
    {"environment", true, false, ""},
    {"channels", true, false, ""},
    {"framework", false, false,
     "Keep each rank's stderr: torchrun --log-dir DIR --redirects 3, or mpirun --output-filename "
     "DIR.",
     false},
    {"whole_files", false, false,
     "Copy the files again once the job has ended, and compare their sizes.", false},
    {"left_out_lines", false, false, "", false},
};

/// Questions without a row of their own are answered by NCCL's usual lines.
Capture capture_of(const CoverageQuestion& question) {
  const auto row = std::find_if(std::begin(kCaptures), std::end(kCaptures),
                                [&](const Capture& one) { return one.question == question.name; });
  return row != std::end(kCaptures) ? *row : Capture{question.name};
}

struct Wanted {
  bool nccl = false;
  bool network = false;
  bool calls = false;
  bool all_lines_of_ray = false;
};

/// NCCL 2.13.4 alone does not read NCCL_DEBUG_FILE.
bool ignores_debug_file(const Job& job) {
  return std::any_of(job.nccl_versions.begin(), job.nccl_versions.end(),
                     [](const std::string& version) { return version.starts_with("2.13.4"); });
}

void add_nccl_settings(const Job& job, const Wanted& wanted, CaptureAdvice& advice) {
  advice.settings.push_back({"NCCL_DEBUG", "INFO"});
  if (wanted.network) {
    advice.settings.push_back(
        {"NCCL_DEBUG_SUBSYS", wanted.calls ? "INIT,ENV,NET,COLL" : "INIT,ENV,NET"});
  }
  if (ignores_debug_file(job)) {
    advice.steps.push_back(
        "NCCL 2.13.4 ignores NCCL_DEBUG_FILE: redirect each rank's stdout to a file of its own.");
  } else {
    advice.settings.push_back({"NCCL_DEBUG_FILE", "nccl.%h.%p.log"});
  }
}

/// The older name is read by all releases of PyTorch from 2.2 on. Where there are dumps, they were
/// set.
void add_recorder_settings(const Job& job, CaptureAdvice& advice) {
  if (!job.flight_recorders.empty()) {
    advice.steps.push_back(
        "Collect the Flight Recorder's dumps of all ranks (TORCH_NCCL_DEBUG_INFO_TEMP_FILE names "
        "the files).");
    return;
  }
  advice.settings.push_back({"TORCH_NCCL_TRACE_BUFFER_SIZE", "2000"});
  advice.settings.push_back({"TORCH_NCCL_DUMP_ON_TIMEOUT", "1"});
  advice.steps.push_back(
      "The TORCH_ settings are for PyTorch; collect its dumps as well "
      "(TORCH_NCCL_DEBUG_INFO_TEMP_FILE names the files).");
}

/// Calls a second of the rank that recorded most, a million at most; 0: no dump tells.
double recorded_rate(const Job& job) {
  constexpr double kMostRate = 1e6;
  double rate = 0;
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    if (dump.entries.size() < 2) continue;
    const int64_t first = dump.entries.front().time_created_ns;
    const int64_t last = dump.entries.back().time_created_ns;
    if (first < 0 || last <= first) continue;
    const double seconds = static_cast<double>(last - first) / 1e9;
    rate = std::max(rate, static_cast<double>(dump.entries.size() - 1) / seconds);
  }
  return std::min(rate, kMostRate);
}

/// What the inputs hold for each process that printed NCCL lines; 0: nothing to measure.
uint64_t measured_start(const Job& job) {
  const auto processes =
      std::count_if(job.processes.begin(), job.processes.end(), [](const Process& process) {
        return process.has_nccl && process.subsystems.test(static_cast<size_t>(Subsystem::Init)) &&
               !process.subsystems.test(static_cast<size_t>(Subsystem::Coll));
      });
  uint64_t bytes = 0;
  for (const JobInput& input : job.inputs) bytes += input.text_bytes;
  return processes == 0 ? 0 : bytes / static_cast<uint64_t>(processes);
}

LogSize expected_size(const Job& job, bool calls) {
  /// Averages of NCCL's own lines: 60 to 280 of them to set up one communicator, of about 110
  /// bytes; 185 bytes for a collective.
  constexpr uint64_t kUsualStart = 30'000;
  constexpr uint64_t kBytesPerCall = 185;
  constexpr double kAssumedRate = 300;
  LogSize size;
  const uint64_t measured = measured_start(job);
  size.start_bytes = std::max(measured, kUsualStart);
  size.rests_on = measured > kUsualStart ? "what these logs hold for each process"
                                         : "usual logs with few communicators";
  if (!calls) return size;
  size.bytes_per_call = kBytesPerCall;
  size.calls_per_second = recorded_rate(job);
  size.calls_measured = size.calls_per_second > 0;
  if (!size.calls_measured) size.calls_per_second = kAssumedRate;
  size.rests_on += size.calls_measured ? ", the rate of the recorded calls, 185 bytes a line"
                                       : ", an assumed rate, 185 bytes a line";
  return size;
}

/// "30 kB", "1.2 GB": two figures are more than an estimate holds.
std::string bytes_text(double bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  return bytes < 10 && unit > 0 ? fmt::format("{:.1f} {}", bytes, kUnits[unit])
                                : fmt::format("{:.0f} {}", bytes, kUnits[unit]);
}

}  // namespace

uint64_t LogSize::bytes_per_hour() const {
  return static_cast<uint64_t>(static_cast<double>(bytes_per_call) * calls_per_second * 3600);
}

CaptureAdvice capture_advice(const Job& job, std::span<const CoverageQuestion* const> open) {
  Wanted wanted;
  CaptureAdvice advice;
  for (const CoverageQuestion* question : open) {
    const Capture capture = capture_of(*question);
    wanted.nccl |= capture.nccl;
    wanted.network |= capture.network;
    wanted.calls |= capture.calls;
    wanted.all_lines_of_ray |= question->name == "left_out_lines";
    if (!capture.step.empty()) advice.steps.emplace_back(capture.step);
  }
  if (wanted.nccl) {
    add_nccl_settings(job, wanted, advice);
    advice.size = expected_size(job, wanted.calls);
  }
  if (wanted.calls) add_recorder_settings(job, advice);
  if (wanted.all_lines_of_ray) {
    advice.settings.push_back({"RAY_DEDUP_LOGS", "0"});
    advice.steps.emplace_back(
        "The workers' own files lie under /tmp/ray/session_latest/logs: collect them.");
  }
  return advice;
}

std::string log_size_text(const LogSize& size, std::optional<int> nranks) {
  const auto sum = [&](uint64_t bytes) {
    if (!nranks || *nranks < 2) return std::string();
    return fmt::format(" ({} for {} ranks)",
                       bytes_text(static_cast<double>(bytes) * static_cast<double>(*nranks)),
                       *nranks);
  };
  std::string out =
      fmt::format("about {} a rank{} to begin with",
                  bytes_text(static_cast<double>(size.start_bytes)), sum(size.start_bytes));
  if (size.bytes_per_call > 0) {
    out += fmt::format(", then {} an hour and rank{} at {:.0f} collectives a second",
                       bytes_text(static_cast<double>(size.bytes_per_hour())),
                       sum(size.bytes_per_hour()), size.calls_per_second);
  }
  return fmt::format("{}; it rests on {}", out, size.rests_on);
}

}  // namespace ncclog
