// The tables of nccl-tests, whose rows holes cannot take apart: columns come and go by release.
//
//   #  Rank  0 Group  0 Pid 114549 on node-a device  0 [0x17] NVIDIA A100-PCIE-40GB
//   #       size         count      type   redop    root     time   algbw   busbw #wrong     time …
//        8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0   5012.1 …
//
// Up to 2.10 a row had only the columns that its test needs, and the largest error instead of the
// number of wrong values. Newer ones may add per-iteration times and a time stamp.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Where a rank runs. Fields rank, pid, host, device, bus_id, gpu.
bool recognise_nccl_tests_rank(std::string_view text, Message& message);

/// The headings above the rows. Field columns: the names, where this line holds them.
bool recognise_nccl_tests_columns(std::string_view text, Message& message);

/// A result. Fields size, count, datatype, redop, root, time, algbw, busbw, wrong and the last four
/// with "_in_place" behind; out of place nothing where only in-place results are printed.
bool recognise_nccl_tests_result(std::string_view text, Message& message);

}  // namespace ncclog
