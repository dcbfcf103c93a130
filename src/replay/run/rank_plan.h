// What does a plan come to on one rank, worked out without a GPU? In which order it makes its
// communicators, which values its calls send and expect, how one of them is timed.
//
//   rank 0 of 2, AllReduce 28 of 1048576 float32 on communicator 0, stream 0
//       → the pattern of key 28, summed over 2 ranks

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/collectives.h"
#include "replay/judge/outcome.h"
#include "replay/plan/plan.h"
#include "replay/run/pattern.h"
#include "replay/run/processes.h"

namespace ncclog {

// In which order does a rank make its communicators?
//
//   communicator 0 of ranks 0-3; 1 {0,1} and 2 {2,3} split off it by color; 3 {0,2} by itself
//   → initialise 0; split 0 into 1 and 2; initialise 3
//
// All ranks go through the same steps in the same order, so none waits for another in a circle.
// Neighbours in the plan with one parent, other colors and no common rank came of one split.

/// By step the communicators that it makes: one is initialised, or some of one parent are split off
/// by all its ranks. In the one order in which every rank takes part in those that it is a member
/// of; parents before what is split off them.
std::vector<std::vector<int>> comm_steps(const ReplayPlan& plan);

/// Communicators whose ncclUniqueId the rank makes: it leads them and they are not split off.
std::vector<int> communicators_led_by(const ReplayPlan& plan, int rank);

/// "6e63…" of a ncclUniqueId's bytes, and back; nullopt: not the text of exactly `bytes` bytes.
std::string hex_text(std::string_view bytes);
std::optional<std::string> bytes_of_hex(std::string_view text, size_t bytes);

// Which pattern does a planned call send and expect?
//
//   call 28 of rank 1, AllReduce on communicator 0, and call 28 of rank 0 → the same key
//   Send 3 from rank 0 to rank 1 and Recv 3 of rank 1 from rank 0         → the same key

/// The pattern of `call` on `rank` of a communicator of `nranks`. Precondition: the call is
/// replayable and has a datatype of nccl.h.
DataPattern pattern_of(const PlannedCall& call, int rank, int nranks);

/// Whether what arrives is known: not for the job's own reductions, which nobody recorded, and not
/// where AlltoAll is in place, which NCCL does not define.
bool is_compared(const PlannedCall& call);

/// An element for people: "3" or "-0.5" of what was reduced, "0x4200" of what was only moved.
std::string element_text(const DataPattern& pattern, uint64_t bits);

// What do the comparisons of all calls of a rank come to?
//
//   29 calls, 117440512 elements, 1 of them wrong: element 7 of call 28 is 3 instead of 4

/// `calls` are those of rank `rank`, `results` has one for each of them. Only completed ones count.
Verification verification_of(const ReplayPlan& plan, int rank, std::span<const PlannedCall> calls,
                             std::span<const ComparedElements> results,
                             const std::vector<bool>& is_completed);

// Which call of a plan is timed, and what do its times come to?
//
//   recorded front: AllReduce 28 on communicator 0 → that one, on all its ranks
//   no front                                      → the largest collective of the plan's rank 0
//   cold 310 us; then 20 runs: 98, 101, 97, …     → median 98 us, 1.37 GB/s
//
// They are taken on a communicator of their own, so the cold run sets its connections up. After it
// come ten that do not count. Two figures are taken, because they differ for small calls. Each run
// by itself, between two events of its stream: it holds what the host needs to launch it. And all
// runs back to back between two events, over their number: what nccl-tests prints.

/// A collective of the clean run, the same for all ranks that make it. nullopt: the plan's rank 0
/// makes none that all ranks of its communicator make.
std::optional<CallPlace> choose_timed_call(const ReplayPlan& plan);

/// Place of that collective in `calls`, which are those of one rank; nullopt: not among them.
std::optional<size_t> find_timed_call(std::span<const PlannedCall> calls, const CallPlace& timed);

/// What these microseconds of one call's runs come to, of each run the slowest rank's: first the
/// cold one, then the warm ones, at least one, then all warm ones back to back. `place` is that in
/// the calls of the plan's rank 0.
CallTiming timing_of(const PlannedCall& call, uint64_t place, int nranks,
                     std::span<const double> times);

// Calls by which ncclog-replay tests itself: every function, datatype and reduction.
//
//   AllReduce of 1, 1031 and 65539 float8e4m3, sum … avg, apart and in place, on 2 ranks

/// `nranks` from 2 on, on one communicator and on another one split off it in which they stand the
/// other way round. Counts are odd, buffers lie off their boundaries. `reduces_float8`: GPUs
/// before Hopper move such values and do not reduce them (NCCL 2.28.9, enqueue.cc).
ReplayPlan selftest_plan(int nranks, bool reduces_float8);

/// A call of that function on which a planted corruption has to be found, and the element; made for
/// that plan.
PlantedCorruption selftest_target(const ReplayPlan& plan, Operation op);

}  // namespace ncclog
