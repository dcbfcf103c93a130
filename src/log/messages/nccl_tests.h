// What nccl-tests prints: its settings, where its ranks run, the table of results, its failures.
//
//   # nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 …
//   #  Rank  0 Group  0 Pid 114549 on node-a device  0 [0x17] NVIDIA A100-PCIE-40GB
//        8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0   5012.1 …
//   # Out of bounds values : 0 OK
//
// Formats were read in nccl-tests 1.0 to 2.19 (src/common.cu, src/util.cu). The process of rank 0
// prints all of it, so nothing here belongs to the process whose line stands before.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"
#include "log/nccl_tests_lines.h"

namespace ncclog {

/// The release, and which NCCL it was built against and runs with (2.17.6 and later).
struct NcclTestsVersion {
  std::string_view version;
  int headers = -1;  ///< As in nccl.h: 22907 is 2.29.7.
  int library = -1;

  static constexpr std::string_view kKind = "nccl_tests_version";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "# nccl-tests version {version:word} nccl-headers={headers} nccl-library={library}",
       .example = "# nccl-tests version 2.18.3 nccl-headers=23003 nccl-library=23003"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("version", self.version);
    visit("headers", self.headers);
    visit("library", self.library);
  }
};

/// A test begins or ends; releases before 2.17 do not say which one it is.
struct NcclTestsProgram {
  std::string_view phase;  ///< "starting" or "concluded"
  std::string_view test;   ///< "all_reduce_perf"

  static constexpr std::string_view kKind = "nccl_tests_program";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "# Collective test {phase:starting|concluded}: {test:word}",
       .example = "# Collective test starting: all_reduce_perf"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("phase", self.phase);
    visit("test", self.test);
  }
};

/// The settings of a run: the first line of every release.
struct NcclTestsConfig {
  int threads = -1;  ///< Per process.
  int gpus = -1;     ///< Per thread.
  int64_t min_bytes = -1;
  int64_t max_bytes = -1;
  std::string_view step;  ///< "2(factor)", "1048576(bytes)"
  int warmup_iters = -1;
  int iters = -1;
  int agg_iters = -1;   ///< 2.0.1 and later.
  int validation = -1;  ///< 0: results are not checked.
  int graph = -1;       ///< 2.11 and later: launches through CUDA graphs.

  static constexpr std::string_view kKind = "nccl_tests_config";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "# nThread {threads} nGpus {gpus} minBytes {min_bytes} maxBytes {max_bytes} step: "
               "{step:word} warmup iters: {warmup_iters} iters: {iters} agg iters: {agg_iters} "
               "validation: {validation} graph: {graph} {...}",
       .example = "# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: "
                  "5 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0"},
      {.text = "# nThread {threads} nGpus {gpus} minBytes {min_bytes} maxBytes {max_bytes} step: "
               "{step:word} warmup iters: {warmup_iters} iters: {iters} agg iters: {agg_iters} "
               "validation: {validation} graph: {graph}",
       .example = "# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: "
                  "5 iters: 20 agg iters: 1 validation: 1 graph: 0"},
      {.text = "# nThread {threads} nGpus {gpus} minBytes {min_bytes} maxBytes {max_bytes} step: "
               "{step:word} warmup iters: {warmup_iters} iters: {iters} agg iters: {agg_iters} "
               "validation: {validation}",
       .example = "# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: "
                  "5 iters: 20 agg iters: 1 validation: 1"},
      {.text = "# nThread {threads} nGpus {gpus} minBytes {min_bytes} maxBytes {max_bytes} step: "
               "{step:word} warmup iters: {warmup_iters} iters: {iters} validation: {validation}",
       .example = "# nThread 1 nGpus 4 minBytes 1048576 maxBytes 134217728 step: 2(factor) warmup "
                  "iters: 5 iters: 20 validation: 1"},
      // Cut lines and wrappers that print a part.
      {.text = "# nThread {threads} nGpus {gpus} minBytes {min_bytes} maxBytes {max_bytes} {...}",
       .example = "# nThread 1 nGpus 8 minBytes 34359738368 maxBytes 34359738368 step: 2(factor)",
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("threads", self.threads);
    visit("gpus", self.gpus);
    visit("min_bytes", self.min_bytes);
    visit("max_bytes", self.max_bytes);
    visit("step", self.step);
    visit("warmup_iters", self.warmup_iters);
    visit("iters", self.iters);
    visit("agg_iters", self.agg_iters);
    visit("validation", self.validation);
    visit("graph", self.graph);
  }
};

/// Where a rank runs.
struct NcclTestsRank {
  int rank = -1;
  int64_t pid = -1;
  std::string_view host;  ///< Cut at the first dot.
  int device = -1;
  std::string_view bus_id;  ///< "0x17": bus only; "0000:52:00" in newer releases.
  std::string_view gpu;

  static constexpr std::string_view kKind = "nccl_tests_rank";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "#  Rank {rank} Group {} Pid {pid} on {host} device {device} [{bus_id}] {gpu...}",
       .example = "#  Rank  0 Group  0 Pid 114549 on node-a device  0 [0x17] NVIDIA A100-PCIE-40GB",
       .recognise = recognise_nccl_tests_rank},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("pid", self.pid);
    visit("host", self.host);
    visit("device", self.device);
    visit("bus_id", self.bus_id);
    visit("gpu", self.gpu);
  }
};

/// The headings of the table of results.
struct NcclTestsColumns {
  std::string_view columns;  ///< Empty on the lines of units and of "out-of-place".

  static constexpr std::string_view kKind = "nccl_tests_columns";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "# size count type {columns...}",
       .example = "#       size         count      type   redop    root     time   algbw   busbw "
                  "#wrong     time   algbw   busbw #wrong",
       .recognise = recognise_nccl_tests_columns},
  };
  static void each_field(auto& self, auto&& visit) { visit("columns", self.columns); }
};

/// A row of the table: one size, out of place and in place. Values are kept as printed.
struct NcclTestsResult {
  int64_t size = -1;   ///< Bytes.
  int64_t count = -1;  ///< Elements.
  std::string_view datatype;
  std::string_view redop;  ///< "sum", "none"; up to 2.10 empty for tests without one.
  int root = -1;           ///< -1: none.
  std::string_view time;   ///< Microseconds.
  std::string_view algbw;  ///< GB/s
  std::string_view busbw;  ///< GB/s
  /// Wrong values, "N/A" without check; up to 2.10 the largest error, "2e-07".
  std::string_view wrong;
  std::string_view time_in_place;
  std::string_view algbw_in_place;
  std::string_view busbw_in_place;
  std::string_view wrong_in_place;

  static constexpr std::string_view kKind = "nccl_tests_result";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{size} {count} {datatype} {redop} {root} {time} {algbw} {busbw} {wrong}",
       .example = "8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0 "
                  "  5012.1    1.67    3.14      0",
       .recognise = recognise_nccl_tests_result},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("size", self.size);
    visit("count", self.count);
    visit("datatype", self.datatype);
    visit("redop", self.redop);
    visit("root", self.root);
    visit("time", self.time);
    visit("algbw", self.algbw);
    visit("busbw", self.busbw);
    visit("wrong", self.wrong);
    visit("time_in_place", self.time_in_place);
    visit("algbw_in_place", self.algbw_in_place);
    visit("busbw_in_place", self.busbw_in_place);
    visit("wrong_in_place", self.wrong_in_place);
  }
};

/// How many values were wrong in all.
struct NcclTestsOutOfBounds {
  int64_t count = -1;
  std::string_view verdict;  ///< "OK" or "FAILED"

  static constexpr std::string_view kKind = "nccl_tests_out_of_bounds";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "# Out of bounds values : {count} {verdict:OK|FAILED}",
       .example = "# Out of bounds values : 0 OK"},
      // Up to 1.0.
      {.text = "Out of bounds values : {count} {verdict:OK|FAILED}",
       .example = "Out of bounds values : 0 OK"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("count", self.count);
    visit("verdict", self.verdict);
  }
};

/// The mean bus bandwidth over all sizes.
struct NcclTestsBandwidth {
  std::string_view busbw;  ///< GB/s
  std::string_view
      verdict;  ///< "OK" or "FAILED" against NCCL_TESTS_MIN_BW; empty if that is unset.

  static constexpr std::string_view kKind = "nccl_tests_bandwidth";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "# Avg bus bandwidth    : {busbw:word} {verdict:OK|FAILED}",
       .example = "# Avg bus bandwidth    : 3.71538 FAILED"},
      {.text = "# Avg bus bandwidth    : {busbw:word}",
       .example = "# Avg bus bandwidth    : 3.71538"},
      // Up to 1.0.
      {.text = "Avg bus bandwidth    : {busbw:word} {verdict:OK|FAILED}",
       .example = "Avg bus bandwidth    : 3.71538 FAILED"},
      {.text = "Avg bus bandwidth    : {busbw:word}", .example = "Avg bus bandwidth    : 3.71538"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("busbw", self.busbw);
    visit("verdict", self.verdict);
  }
};

/// What the test took of the GPU's memory (2.18 and later).
struct NcclTestsMemory {
  std::string_view text;

  static constexpr std::string_view kKind = "nccl_tests_memory";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "# GPU memory usage     : {text...}",
       .example = "# GPU memory usage     : Initialization 1.21 GB | User Buffers 256 MB"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// An NCCL or CUDA call of nccl-tests failed.
struct NcclTestsFailure {
  std::string_view host;
  std::string_view api;  ///< "NCCL" or "CUDA"
  std::string_view file;
  int line = -1;
  std::string_view error;
  std::string_view last_error;  ///< The last NCCL WARN; empty before 2.13 and where there is none.

  static constexpr std::string_view kKind = "nccl_tests_failure";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{host:word}: Test {api:NCCL|CUDA} failure {file}:{line} '{error} / {last_error}'",
       .example = "node-a: Test NCCL failure common.cu:1005 'unhandled system error (run with "
                  "NCCL_DEBUG=INFO for details) / Call to ibv_reg_mr failed'"},
      {.text = "{host:word}: Test {api:NCCL|CUDA} failure {file}:{line} '{error}'",
       .example = "node-a: Test CUDA failure common.cu:892 'out of memory'",
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("host", self.host);
    visit("api", self.api);
    visit("file", self.file);
    visit("line", self.line);
    visit("error", self.error);
    visit("last_error", self.last_error);
  }
};

/// Where that failure was passed on.
struct NcclTestsTrace {
  std::string_view host;
  int64_t pid = -1;
  std::string_view file;
  int line = -1;

  static constexpr std::string_view kKind = "nccl_tests_trace";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = ".. {host:word} pid {pid}: Test failure {file}:{line}",
       .example = ".. node-a pid 4242: Test failure common.cu:891"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("host", self.host);
    visit("pid", self.pid);
    visit("file", self.file);
    visit("line", self.line);
  }
};

/// A collective did not end within the limit that the user set (option -T).
struct NcclTestsTimeout {
  std::string_view host;
  int seconds = -1;
  std::string_view file;
  int line = -1;

  static constexpr std::string_view kKind = "nccl_tests_timeout";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{host:word}: Test timeout ({seconds}s) {file}:{line}",
       .example = "node-a: Test timeout (60s) common.cu:640"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("host", self.host);
    visit("seconds", self.seconds);
    visit("file", self.file);
    visit("line", self.line);
  }
};

/// More GPUs were asked for than the host has.
struct NcclTestsTooManyGpus {
  int requested = -1;
  int found = -1;

  static constexpr std::string_view kKind = "nccl_tests_too_many_gpus";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Invalid number of GPUs: {requested} requested but only {found} were found.",
       .example = "Invalid number of GPUs: 8 requested but only 4 were found."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("requested", self.requested);
    visit("found", self.found);
  }
};

using NcclTestsMessages =
    Kinds<NcclTestsVersion, NcclTestsProgram, NcclTestsConfig, NcclTestsRank, NcclTestsColumns,
          NcclTestsResult, NcclTestsOutOfBounds, NcclTestsBandwidth, NcclTestsMemory,
          NcclTestsFailure, NcclTestsTrace, NcclTestsTimeout, NcclTestsTooManyGpus>;

}  // namespace ncclog
