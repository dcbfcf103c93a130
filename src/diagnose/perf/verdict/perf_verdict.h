// Is it slow, and which stage limits it? One verdict for each measurement.
//
//   AllReduce of 16 ranks on 2 hosts: 487 GB/s of 490 that NVLSTree over 8 x 400G allows → normal
//   AllReduce of 8 ranks on 2 hosts: 9.4 GB/s, sockets in use → limited by TCP sockets
//
// A verdict needs a ceiling, a ceiling needs to know the machine, and where the logs do not tell the
// machine the verdict is "cannot tell", with what to capture. NCCL's own statements lead, names of
// GPUs and instance types follow, and a curve's shape alone never accuses anybody.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/collectives.h"
#include "diagnose/facts/fact.h"
#include "diagnose/perf/machine/ceilings.h"
#include "diagnose/perf/machine/machine.h"
#include "diagnose/perf/measured/measurement.h"
#include "diagnose/perf/verdict/perf_words.h"
#include "model/job.h"

namespace ncclog {

enum class PerfAnswer { Normal, Limited, Below, CannotTell };

/// As JSON and rules spell it: "normal", "limited", "below", "cannot-tell".
constexpr std::string_view enum_words(PerfAnswer) { return "normal|limited|below|cannot-tell"; }

/// The verdict about one measurement. Where a job measured nothing, its one verdict has none, and
/// says which path is in use.
struct PerfVerdict {
  const Measurement* measurement = nullptr;  ///< Owned by the job; nullptr: nothing was measured.
  PerfAnswer answer = PerfAnswer::CannotTell;
  Stage stage = Stage::Unknown;  ///< Which one limits, or would.
  double reached = -1;           ///< Best bus bandwidth of the curve, GB/s.
  int64_t reached_at = -1;       ///< Its size in bytes.
  double ceiling = -1;           ///< What the path in use allows, GB/s; -1: unknown.
  double machine_ceiling = -1;   ///< What this machine could reach, GB/s; -1: unknown.
  /// It follows from what such devices or hosts usually have, which no line confirms: a hint, and no
  /// accusation.
  bool by_guess = false;
  std::vector<Ceiling> ceilings;      ///< All stages that are known, the lowest first.
  std::string headline;               ///< One sentence.
  std::vector<std::string> notes;     ///< What a careless reader would take wrongly; cliffs, gaps.
  std::vector<std::string> attempts;  ///< What to try.
  std::vector<std::string> do_not;    ///< What not to.
  std::vector<std::string> capture;   ///< What the next log should hold.
  std::vector<Evidence> evidence;
};

/// The verdict on a curve, by what is known of the machine: a pure function, for tests too. The
/// verdict refers to `measurement`.
PerfVerdict judge_measurement(const Measurement& measurement, const Machine& machine);

/// Of all measurements, in their order; of a job that measured nothing, one about the path that
/// lines show between ranks, if they do. Owned by the job.
const std::vector<PerfVerdict>& perf_verdicts(const Job& job);

// What do lines show that keeps a path from giving what its links could? (perf_causes.cc)
//
//   NCCL_PROTO=LL                                    → Protocol, at most half of the link
//   Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0  → NICWithoutGDR, about half of the NICs
//
// A cause needs a line that shows it. That it is there does not make a run slow: the curve decides.

struct PerfCause {
  Stage stage = Stage::Unknown;
  std::string_view key;  ///< Of perf_words.table.
  double path = -1;      ///< GB/s of bus bandwidth that are left at most; -1: unknown.
  std::vector<Evidence> evidence = {};
  std::string_view source = {};  ///< Of `path`; for the whole program.
  PerfFigures figures = {};      ///< For its words.
  double whole = -1;  ///< GB/s that such a host has where nothing is missing; -1: not said of it.
};

/// All that lines show, the one that costs most first. `expected`: what the machine could give, GB/s
/// of bus bandwidth; -1: unknown.
std::vector<PerfCause> perf_causes(const Machine& machine, Operation op, double expected);

/// GPUs of one host exchange data over sockets of the loopback: nothing else is left to them.
bool is_on_loopback(const Machine& machine);

}  // namespace ncclog
