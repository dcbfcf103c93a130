// What do we know of a GPU of this machine before and after a run?
//
//   ncclog-replay gpus   →  GPU 0: NVIDIA H200, 0000:0a:00.0, 139 of 140 GiB free, no process on it
//   ncclog-replay probe 0  →  {"gpu":0,"answers":true,"free":149260000000,"error":""}

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/outcome.h"

namespace ncclog {

/// A GPU before a run.
struct GpuState {
  ReplayGpu gpu;
  int64_t free = -1;  ///< Bytes of its memory; -1: unknown.
  /// Processes that compute on it, this one aside; nullopt: the driver does not tell.
  std::optional<std::vector<int64_t>> processes;

  bool operator==(const GpuState&) const = default;
};

/// Which programs would carry a replay out here. Versions as "13.0"; empty: there is none.
struct GpuMachine {
  std::vector<GpuState> gpus;  ///< By CUDA's index.
  std::string runtime;         ///< CUDA that ncclog-replay was built with.
  std::string driver;          ///< CUDA that the driver supports.
  std::string problem;         ///< Why no GPU can be used, one sentence; empty: they can.

  bool operator==(const GpuMachine&) const = default;
};

/// One JSON object, for programs.
std::string write_gpus_json(const GpuMachine& machine);

/// For people, lines with their ends.
std::string write_gpus_text(const GpuMachine& machine);

/// The line that a probe prints, without its line end. `free_after` is the memory free while the
/// probe's own context is there.
std::string write_probe(const GpuCheck& check);

/// nullopt: not such a line, whatever the bytes. `free_before` stays unknown.
std::optional<GpuCheck> parse_probe(std::string_view line);

}  // namespace ncclog
