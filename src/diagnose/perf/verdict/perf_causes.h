// What do lines show that keeps a path from giving what its links could?
//
//   NCCL_PROTO=LL                                    → Protocol, at most half of the link
//   Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0  → NICWithoutGDR, about half of the NICs
//
// A cause needs a line that shows it. That it is there does not make a run slow: the curve decides
// (perf_verdict.h).

#pragma once

#include <string_view>
#include <vector>

#include "base/collectives.h"
#include "diagnose/perf/machine/ceilings.h"
#include "diagnose/perf/machine/machine.h"
#include "diagnose/perf/verdict/perf_words.h"

namespace ncclog {

struct PerfCause {
  Stage stage = Stage::Unknown;
  std::string_view key;  ///< Of perf_words.table.
  /// GB/s of bus bandwidth that are left at most, of "few-nics" those of all NICs; -1: unknown.
  double path = -1;
  std::vector<Evidence> evidence = {};
  std::string_view source = {};  ///< Of `path`; for the whole program.
  PerfFigures figures = {};      ///< For its words.
};

/// All that lines show, the one that costs most first. `expected`: what the machine could give, GB/s
/// of bus bandwidth; -1: unknown.
std::vector<PerfCause> perf_causes(const Machine& machine, Operation op, double expected);

/// GPUs of one host exchange data over sockets of the loopback: nothing else is left to them.
bool is_on_loopback(const Machine& machine);

}  // namespace ncclog
