#include "replay/run/rank_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

// The order in which communicators are made, and their ids as text.

/// Whether one split can have made `next` along with the communicators of `step`.
bool belongs_to(const ReplayPlan& plan, const std::vector<int>& step,
                const PlannedCommunicator& next) {
  return next.parent >= 0 && std::ranges::all_of(step, [&](int sibling) {
           const PlannedCommunicator& made = plan.communicators[sibling];
           const bool share_a_rank = std::ranges::any_of(
               next.ranks, [&made](int rank) { return is_among(made.ranks, rank); });
           return made.parent == next.parent && made.color != next.color && !share_a_rank;
         });
}

// Which values are sent and expected.

uint64_t joined(uint64_t key, int64_t part) { return mixed(key + static_cast<uint64_t>(part)); }

/// Equal on the two ends of a message and on all ranks of a collective, and on nothing else.
uint64_t key_of(const PlannedCall& call, int rank) {
  uint64_t key = joined(is_message(call.op) ? 1 : 2, call.communicator);
  const Operation operation = operation_of(call.op);
  if (operation == Operation::Send) key = joined(joined(key, rank), call.root);
  if (operation == Operation::Recv) key = joined(joined(key, call.root), rank);
  return joined(key, static_cast<int64_t>(call.index));
}

/// Integers up to here, and their sums, are held exactly.
uint64_t exact_limit(int datatype) {
  return is_float(datatype) ? 2ULL << float_format(datatype).mantissa : 64;
}

void choose_addends(DataPattern& pattern) {
  const uint64_t limit = exact_limit(pattern.datatype);
  pattern.contributors = static_cast<int>(std::min<uint64_t>(pattern.nranks, limit));
  // The largest 2^b - 1 of which so many can be added up.
  pattern.mask = std::bit_floor(limit / pattern.contributors + 1) - 1;
  // Only an average divides, and by a power of two exactly.
  const bool is_exact = std::has_single_bit(static_cast<unsigned>(pattern.nranks));
  if (pattern.redop != 4 || !is_float(pattern.datatype) || is_exact) return;
  // Rounded: 1/n itself, each product with it, and each sum.
  pattern.tolerance =
      (pattern.contributors + 2) * power_of_two(-float_format(pattern.datatype).mantissa);
}

/// Which elements of whose buffer arrive.
void choose_source(const PlannedCall& call, DataPattern& pattern) {
  pattern.block = std::max<int64_t>(call.count, 1);
  const Operation operation = operation_of(call.op);
  const OperationTraits& traits = traits_of(operation);
  if (traits.only_root_sends() || operation == Operation::Recv) pattern.source = call.root;
  if (traits.sends_blocks()) pattern.first = pattern.rank * call.count;
}

// Which call is timed, and what its times come to.

/// Whether all ranks of the call's communicator make it in the clean run.
bool is_made_by_all(const ReplayPlan& plan, const CallPlace& timed) {
  const std::vector<int>& ranks = plan.communicators[timed.communicator].ranks;
  return std::ranges::all_of(ranks, [&](int rank) {
    return find_timed_call(calls_in(plan.ranks[rank], MadeIn::Clean), timed).has_value();
  });
}

double gigabytes_per_second(int64_t bytes, double microseconds) {
  return microseconds > 0 ? static_cast<double>(bytes) / microseconds / 1e3 : 0;
}

constexpr int kDatatypes = 12;
constexpr int kFirstFloat8 = 10;
constexpr int kReductions = 5;
constexpr int64_t kCounts[] = {1, 1031, 65539};

/// Adds a collective to all ranks, on the plan's communicators in turn.
void add_collective(PlannedCall call, ReplayPlan& plan) {
  const auto& made = plan.ranks.front().calls;
  const auto written = static_cast<size_t>(
      std::ranges::count_if(made, [](const PlannedCall& one) { return !is_message(one.op); }));
  call.communicator = static_cast<int>(written % plan.communicators.size());
  call.index = written / plan.communicators.size();
  call.root = has_root(call.op) ? static_cast<int>(written % plan.ranks.size()) : -1;
  for (PlannedRank& rank : plan.ranks) rank.calls.push_back(call);
}

/// Each rank sends to the next one and receives from the one before, as message `index`.
void add_messages(PlannedCall call, uint64_t index, ReplayPlan& plan) {
  call.index = index;
  call.group = static_cast<int>(index);
  const int count = static_cast<int>(plan.ranks.size());
  for (int rank = 0; rank < count; ++rank) {
    call.op = name_of(Operation::Send);
    call.root = (rank + 1) % count;
    plan.ranks[rank].calls.push_back(call);
    call.op = name_of(Operation::Recv);
    call.root = (rank + count - 1) % count;
    plan.ranks[rank].calls.push_back(call);
  }
}

}  // namespace

std::vector<std::vector<int>> comm_steps(const ReplayPlan& plan) {
  std::vector<std::vector<int>> steps;
  for (size_t i = 0; i < plan.communicators.size(); ++i) {
    if (steps.empty() || !belongs_to(plan, steps.back(), plan.communicators[i])) {
      steps.emplace_back();
    }
    steps.back().push_back(static_cast<int>(i));
  }
  return steps;
}

std::vector<int> communicators_led_by(const ReplayPlan& plan, int rank) {
  std::vector<int> led;
  for (size_t i = 0; i < plan.communicators.size(); ++i) {
    const PlannedCommunicator& communicator = plan.communicators[i];
    if (communicator.parent < 0 && !communicator.ranks.empty() &&
        communicator.ranks.front() == rank) {
      led.push_back(static_cast<int>(i));
    }
  }
  return led;
}

std::string hex_text(std::string_view bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::optional<std::string> bytes_of_hex(std::string_view text, size_t bytes) {
  if (text.size() != 2 * bytes || !std::ranges::all_of(text, is_hex_digit)) return std::nullopt;
  std::string result;
  for (size_t i = 0; i < text.size(); i += 2) {
    result += static_cast<char>(*parse_hex(text.substr(i, 2)));
  }
  return result;
}

DataPattern pattern_of(const PlannedCall& call, int rank, int nranks) {
  DataPattern pattern{.key = key_of(call, rank),
                      .datatype = call.datatype,
                      .redop = -1,
                      .nranks = nranks,
                      .rank = rank};
  choose_source(call, pattern);
  if (is_reduction(call.op)) {
    // The job's own reductions are replayed as sums.
    pattern.redop = call.redop > 4 ? 0 : call.redop;
    // Max and min add nothing up, so values may be larger.
    if (pattern.redop == 2 || pattern.redop == 3) {
      pattern.mask = 2 * std::min<uint64_t>(exact_limit(pattern.datatype), 1 << 20) - 1;
    } else {
      choose_addends(pattern);
    }
  }
  return pattern;
}

bool is_compared(const PlannedCall& call) {
  if (is_reduction(call.op)) return call.redop <= 4;
  return !traits_of(call.op).exchanges_blocks() || !call.in_place;
}

std::string element_text(const DataPattern& pattern, uint64_t bits) {
  if (pattern.redop < 0) return fmt::format("0x{:0{}x}", bits, 2 * element_bytes(pattern.datatype));
  if (is_float(pattern.datatype)) {
    return fmt::format("{:.10g}", decode_float(bits, float_format(pattern.datatype)));
  }
  if (is_signed_integer(pattern.datatype)) return std::to_string(as_signed(bits, pattern.datatype));
  return std::to_string(bits);
}

Verification verification_of(const ReplayPlan& plan, int rank, std::span<const PlannedCall> calls,
                             std::span<const ComparedElements> results,
                             const std::vector<bool>& is_completed) {
  Verification verified;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!is_completed[i]) continue;
    const PlannedCommunicator& communicator = plan.communicators[calls[i].communicator];
    const int own = rank_in(communicator, rank);
    const int nranks = static_cast<int>(communicator.ranks.size());
    const int64_t received = shape_of(calls[i], own, nranks).receive;
    if (received == 0) continue;
    if (!is_compared(calls[i])) {
      ++verified.shape_only;
      continue;
    }
    ++verified.calls;
    verified.elements += static_cast<uint64_t>(received);
    verified.wrong += results[i].wrong;
    if (results[i].wrong == 0 || verified.first) continue;
    const DataPattern pattern = pattern_of(calls[i], own, nranks);
    verified.first = WrongElement{.call = i,
                                  .element = static_cast<int64_t>(results[i].first),
                                  .expected = element_text(pattern, results[i].expected),
                                  .found = element_text(pattern, results[i].found)};
  }
  return verified;
}

std::optional<size_t> find_timed_call(std::span<const PlannedCall> calls, const CallPlace& timed) {
  const auto found = std::ranges::find_if(calls, [&](const PlannedCall& call) {
    return !is_message(call.op) && place_of(call) == timed;
  });
  if (found == calls.end()) return std::nullopt;
  return static_cast<size_t>(found - calls.begin());
}

std::optional<CallPlace> choose_timed_call(const ReplayPlan& plan) {
  if (plan.ranks.empty()) return std::nullopt;
  const std::vector<PlannedCall> calls = calls_in(plan.ranks[0], MadeIn::Clean);
  if (const auto& front = plan.hypothesis.front) {
    const CallPlace recorded = place_of(*front);
    if (find_timed_call(calls, recorded) && is_made_by_all(plan, recorded)) return recorded;
  }
  std::optional<CallPlace> largest;
  std::pair<int64_t, bool> most{-1, false};
  for (const PlannedCall& call : calls) {
    // Of equals AllReduce, which most figures of other programs are of.
    const auto nranks = static_cast<int>(plan.communicators[call.communicator].ranks.size());
    const std::pair worth{operation_bytes(call, nranks),
                          operation_of(call.op) == Operation::AllReduce};
    const CallPlace candidate = place_of(call);
    if (is_message(call.op) || worth <= most || !is_made_by_all(plan, candidate)) continue;
    largest = candidate;
    most = worth;
  }
  return largest;
}

CallTiming timing_of(const PlannedCall& call, uint64_t place, int nranks,
                     std::span<const double> times) {
  std::vector<double> warm(times.begin() + 1, times.end() - 1);
  std::ranges::sort(warm);
  const size_t last = warm.size() - 1;
  CallTiming timing{.call = place,
                    .op = call.op,
                    .bytes = operation_bytes(call, nranks),
                    .runs = static_cast<int>(warm.size()),
                    .cold_us = times.front(),
                    .median_us = (warm[last / 2] + warm[(last + 1) / 2]) / 2,
                    .least_us = warm.front(),
                    .most_us = warm.back(),
                    .series_us = times.back() / static_cast<double>(warm.size())};
  const double factor = bus_factor(operation_of(call.op), nranks);
  timing.algbw = gigabytes_per_second(timing.bytes, timing.median_us);
  timing.busbw = timing.algbw * factor;
  timing.series_busbw = gigabytes_per_second(timing.bytes, timing.series_us) * factor;
  return timing;
}

ReplayPlan selftest_plan(int nranks, bool reduces_float8) {
  ReplayPlan plan;
  plan.recorded_nranks = nranks;
  plan.recorded_nhosts = 1;
  // A thousand calls are enqueued before the first is waited for.
  plan.deadlines.enqueue = plan.deadlines.completion = 180;
  plan.ranks.resize(static_cast<size_t>(nranks));
  std::vector<int> ranks(static_cast<size_t>(nranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  for (const int rank : ranks) plan.ranks[rank].recorded_rank = rank;
  plan.communicators.push_back({.id = "all", .ranks = ranks, .recorded_nranks = nranks});
  std::ranges::reverse(ranks);
  plan.communicators.push_back(
      {.id = "reversed", .ranks = ranks, .recorded_nranks = nranks, .parent = 0});
  uint64_t messages = 0;
  for (int datatype = 0; datatype < kDatatypes; ++datatype) {
    const bool is_reduced = datatype < kFirstFloat8 || reduces_float8;
    for (const int64_t count : kCounts) {
      PlannedCall call{.communicator = 0,
                       .count = count,
                       .datatype = datatype,
                       .send_offset = 16,
                       .recv_offset = 48};
      for (const OperationTraits& traits : kOperations) {
        if (!traits.is_collective() || (traits.reduces() && !is_reduced)) continue;
        for (int variant = 0; variant < 2 * (traits.reduces() ? kReductions : 1); ++variant) {
          call.op = traits.name;
          call.redop = variant / 2;
          call.in_place = variant % 2 == 1;
          if (!traits.exchanges_blocks() || !call.in_place) add_collective(call, plan);
        }
      }
      call.redop = 0;
      call.in_place = false;
      add_messages(call, messages++, plan);
    }
  }
  return plan;
}

PlantedCorruption selftest_target(const ReplayPlan& plan, Operation op) {
  const int rank = static_cast<int>(plan.ranks.size()) - 1;
  const std::vector<PlannedCall> calls = calls_in(plan.ranks.back(), MadeIn::Clean);
  for (size_t i = calls.size(); i-- > 0;) {
    if (operation_of(calls[i].op) == op && calls[i].count > 1031) return {rank, i, 1031};
  }
  throw Error("the plan has no call of " + std::string(name_of(op)));
}

}  // namespace ncclog
