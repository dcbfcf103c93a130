#include "replay/judge/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>

#include "base/collectives.h"
#include "base/text.h"

namespace ncclog {
namespace {

/// The ranks of a call, by what its two bandwidths make of each other; -1: the operation's factor
/// is the same for all numbers.
int ranks_of(const CallTiming& timing) {
  const Operation operation = operation_of(timing.op);
  if (timing.algbw <= 0 || bus_factor(operation, 2) == bus_factor(operation, 3)) return -1;
  constexpr int kMostRanks = 1024;  ///< Of one machine.
  constexpr double kExact = 1e-3;
  const double factor = timing.busbw / timing.algbw;
  for (int ranks = 2; ranks <= kMostRanks; ++ranks) {
    if (std::abs(bus_factor(operation, ranks) - factor) <= kExact / ranks) return ranks;
  }
  return -1;
}

MeasuredPoint measured_point(const CallTiming& timing) {
  const bool has_series = timing.series_us > 0 && timing.series_busbw > 0;
  MeasuredPoint point;
  point.bytes = timing.bytes;
  point.out_of_place.time_us = has_series ? timing.series_us : timing.median_us;
  point.out_of_place.busbw = has_series ? timing.series_busbw : timing.busbw;
  const double by_time = has_series ? timing.median_us / timing.series_us : 1;
  point.out_of_place.algbw = timing.algbw * by_time;
  point.text = fmt::format("{} {} bytes: {:.1f} us, busbw {:.2f} GB/s", timing.op, timing.bytes,
                           point.out_of_place.time_us, point.out_of_place.busbw);
  return point;
}

/// "NCCL_ALGO=Ring NCCL_PROTO=LL" as names and values.
std::vector<std::pair<std::string, std::string>> settings_of(const ReplayResult& result,
                                                             const std::string& varied) {
  auto settings = result.outcome.settings;
  for (const std::string_view word : split_blanks(varied)) {
    const size_t equals = word.find('=');
    if (equals == word.npos) continue;
    settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return settings;
}

}  // namespace

std::vector<Measurement> replay_measurements(const ReplayResult& result) {
  std::set<std::string> gpus;
  for (const ReplayGpu& gpu : result.outcome.gpus) gpus.insert(gpu.name);
  gpus.erase("");
  std::vector<Measurement> all;
  std::vector<std::tuple<std::string, Operation, int>> keys;
  for (const ReplayTiming& row : result.timings) {
    const Operation op = measured_as(operation_of(row.timing.op));
    const auto key = std::tuple(row.settings, op, ranks_of(row.timing));
    const auto known = std::ranges::find(keys, key);
    const auto place = static_cast<size_t>(known - keys.begin());
    if (known == keys.end()) {
      keys.push_back(key);
      Measurement& fresh = all.emplace_back();
      fresh.by = MeasuredBy::Replay;
      fresh.name = "replay run --time";
      fresh.op = op;
      fresh.nranks = std::get<int>(key);
      fresh.nhosts = result.outcome.pseudo_hosts;
      fresh.gpus.assign(gpus.begin(), gpus.end());
      fresh.settings = settings_of(result, row.settings);
    }
    all[place].points.push_back(measured_point(row.timing));
  }
  for (Measurement& measurement : all) {
    std::ranges::stable_sort(measurement.points, {}, &MeasuredPoint::bytes);
  }
  return all;
}

}  // namespace ncclog
