// A row of a table of bandwidth whose columns its heading names, in the units of nccl-tests.
//
//   size(MB)   tavg(usec)   avgbw(GB/sec)
//   1.00       121.5        14.41              → 10^6 bytes in 121.5 us, bus bandwidth 14.41 GB/s
//
// Scripts differ in what they call a megabyte and a gigabit; the size by the time shows which it is.

#pragma once

#include <cstdint>
#include <string_view>

#include "base/collectives.h"
#include "diagnose/perf/measured/measurement.h"

namespace ncclog {

/// Bits of a byte: Gbps to GB/s.
inline constexpr double kBits = 8;

/// Algorithm bandwidth in GB/s by its definition; -1: not known.
double algbw_of(int64_t bytes, double time_us);

/// What benchmarks that use torch.distributed call `op`: "all_gather_into_tensor" → AllGather.
Operation operation_of_torch(std::string_view op);

/// What a row says. Negative: not said.
struct HeadedRow {
  Operation op = Operation::Unknown;
  int nranks = -1;
  int64_t bytes = -1;
  MeasuredValue value;
};

/// What the cells say under that heading. A bandwidth of which the heading does not tell which it is
/// is the algorithm's where it is the size by the time, and else the bus's.
HeadedRow read_headed_row(std::string_view heading, std::string_view cells);

/// The same of a line that names its values: the size and the bus bandwidth as printed, and the
/// operation that stands first in `text`.
HeadedRow read_labelled_row(std::string_view text, std::string_view size, std::string_view busbw);

}  // namespace ncclog
