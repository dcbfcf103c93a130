#include "replay/exec/call_pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "replay/call_shape.h"

namespace ncclog {
namespace {

uint64_t joined(uint64_t key, int64_t part) { return mixed(key + static_cast<uint64_t>(part)); }

/// Equal on the two ends of a message and on all ranks of a collective, and on nothing else.
uint64_t key_of(const PlannedCall& call, int rank) {
  uint64_t key = joined(is_message(call.op) ? 1 : 2, call.communicator);
  if (call.op == "Send") key = joined(joined(key, rank), call.root);
  if (call.op == "Recv") key = joined(joined(key, call.root), rank);
  return joined(key, static_cast<int64_t>(call.index));
}

/// Integers up to here, and their sums, are held exactly.
uint64_t exact_limit(int datatype) {
  return is_float(datatype) ? 2ULL << float_format(datatype).mantissa : 64;
}

/// The largest 2^b - 1 that is not larger than `value`.
uint64_t mask_within(uint64_t value) {
  uint64_t mask = 0;
  while (2 * mask + 1 <= value) mask = 2 * mask + 1;
  return mask;
}

bool is_power_of_two(int number) { return (number & (number - 1)) == 0; }

void choose_addends(DataPattern& pattern) {
  const uint64_t limit = exact_limit(pattern.datatype);
  pattern.contributors = static_cast<int>(std::min<uint64_t>(pattern.nranks, limit));
  pattern.mask = mask_within(limit / pattern.contributors);
  if (pattern.redop != 4 || !is_float(pattern.datatype) || is_power_of_two(pattern.nranks)) return;
  // Rounded: 1/n itself, each product with it, and each sum.
  pattern.tolerance =
      (pattern.contributors + 2) * power_of_two(-float_format(pattern.datatype).mantissa);
}

void choose_values(DataPattern& pattern) {
  if (pattern.redop == 2 || pattern.redop == 3) {
    pattern.mask = 2 * std::min<uint64_t>(exact_limit(pattern.datatype), 1 << 20) - 1;
  } else {
    choose_addends(pattern);
  }
}

/// Which elements of whose buffer arrive.
void choose_source(const PlannedCall& call, DataPattern& pattern) {
  pattern.block = std::max<int64_t>(call.count, 1);
  if (call.op == "Broadcast" || call.op == "Scatter" || call.op == "Recv") {
    pattern.source = call.root;
  }
  if (call.op == "ReduceScatter" || call.op == "AlltoAll" || call.op == "Scatter") {
    pattern.first = pattern.rank * call.count;
  }
}

}  // namespace

DataPattern pattern_of(const PlannedCall& call, int rank, int nranks) {
  DataPattern pattern{.key = key_of(call, rank),
                      .datatype = call.datatype,
                      .redop = -1,
                      .nranks = nranks,
                      .rank = rank};
  choose_source(call, pattern);
  if (is_reduction(call.op)) {
    pattern.redop = call.redop > 4 ? 0 : call.redop;
    choose_values(pattern);
  }
  return pattern;
}

bool is_compared(const PlannedCall& call) {
  if (is_reduction(call.op)) return call.redop <= 4;
  return call.op != "AlltoAll" || !call.in_place;
}

std::string element_text(const DataPattern& pattern, uint64_t bits) {
  if (pattern.redop < 0) {
    return fmt::format("0x{:0{}x}", bits, 2 * element_bytes(pattern.datatype));
  }
  if (is_float(pattern.datatype)) {
    return fmt::format("{:.10g}", decode_float(bits, float_format(pattern.datatype)));
  }
  if (is_signed_integer(pattern.datatype)) {
    return std::to_string(as_signed(bits, pattern.datatype));
  }
  return std::to_string(bits);
}

}  // namespace ncclog
