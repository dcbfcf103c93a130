// Jobs in which somebody is late, or nobody, from seeds, with the truth about them.
//
//   seed 17   4 hosts of 4 ranks, 600 calls, clocks seconds apart, durations alone are told;
//             rank 9 computes 18 ms longer before each 10th call → rank 9 must be named
//
// Ranks compute, enter a call, and leave it when the last one has entered and the data went; the
// next computation begins then. So times are those that a real loop would have, with clocks that
// differ and drift, calls that lack, stalls that hit anybody, and slow first calls.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/perf/late/late_ranks.h"

namespace ncclog {

/// What is wrong with the job.
enum class PlantedLateness {
  None,
  Rank,          ///< A rank computes longer before every call.
  Host,          ///< All ranks of a host do.
  RankInBursts,  ///< A rank before every so-manieth call, or by chance.
  HostInBursts,
  TwoRanks,
  RankFromHalf,  ///< A rank, from the middle of the run on.
  RankInside,    ///< A rank leaves some calls later than the others.
  // What looks like it and is not.
  SlowNetwork,  ///< All calls take several times as long, some even longer.
  SlowLink,     ///< The ranks of one host leave some calls, or all, later than the others.
  FastRank,     ///< One rank computes less.
  FirstCalls,   ///< A rank is late in the first calls.
  RunsAhead,    ///< Hosts enqueue calls and go on, all but one, which waits for its GPU.
  ManyStalls,   ///< Everybody is late now and then.
};
inline constexpr int kPlantedKinds = static_cast<int>(PlantedLateness::ManyStalls) + 1;

struct LateJob {
  CallTimes times;
  PlantedLateness planted = PlantedLateness::None;
  std::vector<int> guilty;  ///< Ranks that may be named.
  std::string guilty_host;  ///< The host that may be named; empty: none.
  double late_us = 0;       ///< By how much, where anybody is.
  int64_t late_calls = 0;   ///< Of the calls that all made, in which it was.
  double median_call_us = 0;
  bool can_be_told = false;  ///< Times of this sort show it, and it is large enough to be named.
  std::string words;         ///< What this job is, for messages.
};

/// The job of a seed. Pure.
LateJob make_late_job(uint64_t seed);

/// What is wrong with a verdict on it: "innocent rank 3 named", "missed"; empty: nothing.
std::string mistake_of(const LateJob& job, const LateVerdict& verdict);

}  // namespace ncclog
