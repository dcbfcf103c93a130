// The one clock of a trace.
//
//   [2026-11-20 20:54:52] n1:41:41 [0] NCCL …    local time of the host; nobody says of which zone
//   2026-01-05T12:00:00.5Z n1:41:41 [0] NCCL …   UTC
//   a Flight Recorder dump                       UTC
//
// Times with a zone and without one cannot be put on one axis. A trace shows those that more of the
// job's lines carry, a dump's where NCCL stamps its WARNs only, and says how many it leaves out.

#pragma once

#include <cstdint>
#include <optional>

#include "log/line_time.h"
#include "model/job.h"

namespace ncclog {

/// Which times count, and where the axis begins.
struct TraceClock {
  bool utc = false;       ///< Else local time without zone.
  int year = 1970;        ///< Of times that print none: the latest that others print.
  int64_t origin_ns = 0;  ///< Midnight before the earliest time, in nanoseconds since 1970.
};

/// The clock of the job; nullopt if neither lines nor dumps carry a time.
std::optional<TraceClock> choose_clock(const Job& job);

/// Nanoseconds from the origin; nullopt if the time is unknown, of the other clock, or in a year
/// that no log is from.
std::optional<int64_t> place_on(const TraceClock& clock, const LineTime& time);

}  // namespace ncclog
