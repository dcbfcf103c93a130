// What PyTorch and the launcher print when a job does not go on.
//
//   [rank2]:[E203 04:25:06.124779586 ProcessGroupNCCL.cpp:689] [Rank 2] Watchdog caught collective
//   operation timeout: WorkNCCL(SeqNum=20, OpType=ALLREDUCE, NumelIn=524288, NumelOut=524288,
//   Timeout(ms)=600000) ran for 600011 milliseconds before timing out.

#pragma once

#include "support/synthetic/fault.h"
#include "support/synthetic/setting.h"
#include "support/synthetic/simulate.h"
#include "support/synthetic/spoken_line.h"

namespace ncclog::testing {

/// "2026-02-03 04:05:06.123456", `seconds` after the job began.
struct ClockTime {
  std::string date;    ///< "2026-02-03"
  std::string second;  ///< "04:05:06"
  std::string micros;  ///< "123456"
};
ClockTime clock_time(double seconds);

/// What watchdogs and launchers print after the job stopped by itself.
SpokenLines failure_lines(const Layout& layout, const Setting& setting, const Planted& planted,
                          const JobRun& run, Seeded& seeded);

}  // namespace ncclog::testing
