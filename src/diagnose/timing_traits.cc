// How long do the parts of a run take that print their times?
//
//   Init timings - ncclCommInitRank: rank 3 nranks 4 total 1.09 (kernels 0.27, …)
//   # Avg bus bandwidth    : 3.71538            (nccl-tests)
//
// Two runs never take equally long. Only what is several times as long and takes seconds counts, of
// a bandwidth what is lost beyond the noise between runs.

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "diagnose/trait_tables.h"

namespace ncclog {
namespace {

constexpr double kSlowInitRatio = 3;
constexpr double kSlowInitSeconds = 3;
constexpr double kBandwidthRatio = 1.25;
constexpr double kBandwidthLeast = 0.2;  ///< GB/s

/// The slowest rank's initialisation of the communicators of one size.
struct Slowest {
  double seconds = -1;
  const InitSection* section = nullptr;
};

std::map<int, Slowest> slowest_inits(const Job& job) {
  std::map<int, Slowest> by_size;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      const InitSection* section = init_section(job, rank);
      if (section == nullptr) continue;
      const auto seconds = parse_decimal(section->timings_total);
      Slowest& slowest = by_size[comm.nranks];
      if (seconds && *seconds > slowest.seconds) slowest = {*seconds, section};
    }
  }
  return by_size;
}

/// All ranks wait for the last one; so the largest communicator's time is that of the job.
void add_inits(const Job& job, Traits& traits) {
  const auto by_size = slowest_inits(job);
  if (by_size.empty() || by_size.rbegin()->second.section == nullptr) return;
  const Slowest& slowest = by_size.rbegin()->second;
  Trait trait{.topic = Topic::Timing, .name = "initialisation of the largest communicator"};
  trait.value = fmt::format("{:.2f} s ({})", slowest.seconds, slowest.section->timings);
  trait.measure = Measure{slowest.seconds, kSlowInitRatio, kSlowInitSeconds};
  trait.evidence.push_back({slowest.section->timings_at, {}});
  traits.push_back(std::move(trait));
}

/// The best mean of each test, as somebody would quote it.
void add_bandwidths(const Job& job, Traits& traits) {
  std::map<std::string, std::pair<double, SourceRef>> best;
  for (const NcclTestsRun& run : job.nccl_tests) {
    const auto busbw = parse_decimal(run.busbw);
    if (!busbw) continue;
    const std::string name =
        "mean bus bandwidth of " + (run.test.empty() ? std::string("nccl-tests") : run.test);
    auto& [value, where] = best[name];
    if (*busbw > value) value = *busbw, where = run.first;
  }
  for (const auto& [name, found] : best) {
    Trait trait{.topic = Topic::Timing, .name = name};
    trait.value = fmt::format("{:.2f} GB/s", found.first);
    trait.measure = Measure{found.first, kBandwidthRatio, kBandwidthLeast};
    trait.evidence.push_back({found.second, {}});
    traits.push_back(std::move(trait));
  }
}

}  // namespace

void add_timing_traits(const Job& job, Traits& traits) {
  add_inits(job, traits);
  add_bandwidths(job, traits);
}

Absence timing_absence(const Job&, const Trait&) {
  return not_told("no line of its logs tells the time");
}

}  // namespace ncclog
