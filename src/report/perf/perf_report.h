// Why is it slow? What was measured, what this machine allows, which stage limits, who is late.
//
//   SLOW      AllReduce of 16 ranks reached 33 GB/s of 93: NICs without GPUDirect RDMA limit it.
//
//   AllReduce, 16 ranks on 2 hosts (all_reduce_perf)
//     reached  33.1 GB/s at 8 GiB: 35 % of 93 GB/s, limited by nic-without-gdr
//     try      Load nvidia-peermem …
//
// Everything is judged in diagnose/perf; here it is put in order and into words and JSON.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/perf/late/late_ranks.h"
#include "diagnose/perf/node_sets/node_sets.h"
#include "diagnose/perf/verdict/perf_verdict.h"
#include "model/job.h"
#include "report/document/document.h"
#include "report/document/report_document.h"
#include "report/report.h"

namespace ncclog {

struct PerfReport {
  Tool tool;
  const Job& job;
  std::vector<PerfVerdict> verdicts;  ///< As measured.
  const std::vector<LateVerdict>& late;
  NodeSetAnswer node_sets;  ///< Empty: no set of hosts was measured, or a single normal one.
};

/// What the logs of the job say about its speed, and `elsewhere`, which was measured on machines that
/// these logs are not of: replays. Both must outlive the report.
PerfReport perf_report(const Job& job, Tool tool, std::span<const Measurement> elsewhere = {});

/// How all of it comes out; the worst that was found.
enum class PerfStatus { Slow, Normal, CannotTell, NothingMeasured };

/// "slow", "normal", "cannot_tell", "nothing_measured".
constexpr std::string_view enum_words(PerfStatus) {
  return "slow|normal|cannot_tell|nothing_measured";
}

PerfStatus status_of(const PerfReport& report);

/// The one sentence to read first. May hold bytes of the logs.
std::string headline_of(const PerfReport& report);

/// For a screen the worst verdicts whole and the others in a line; a page has all, with curves.
Document perf_document(const PerfReport& report, Reader reader = Reader::Screen);

/// The same inside a report about the job; without parts if nothing was measured.
Section perf_section(const Job& job);

/// One object, indented by two blanks; schema ncclog.perf/1.
std::string write_perf_json(const PerfReport& report);

/// The JSON Schema of that.
std::string perf_schema();

}  // namespace ncclog
