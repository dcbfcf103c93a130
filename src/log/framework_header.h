// Records of PyTorch's loggers, C++ and Python: who printed them and about which process group.
//
//   [rank6]:[E717 13:20:49.407638053 ProcessGroupNCCL.cpp:632] [PG ID 0 PG GUID 0(default_pg) Rank
//   6] … [E ProcessGroupNCCL.cpp:828] [Rank 3] Watchdog … E0105 12:00:00.123000 1400
//   torch/distributed/elastic/multiprocessing/api.py:826] failed …
//
// A C++ record is searched for anywhere in the line: progress bars without newline stand before it.
// "[Rank 6]" inside is a rank of the group, possibly of another one: only "[rank6]:" names the
// global rank (PyTorch 2.2 and later).

#pragma once

#include <optional>
#include <string_view>

#include "log/header.h"

namespace ncclog {

/// How records of the C++ side begin, as needles of log/needle_filter.h: "[E717 ", "[E ".
inline constexpr std::string_view kCppRecordBegins[] = {"[\x02\x01\x01\x01", "[\x02 "};

/// False where no record of Python's or glog's loggers begins in the prefixes of `line`, the first
/// `prefix` bytes, or right behind them: a glance, for most lines.
bool may_begin_python_record(std::string_view line, size_t prefix);

/// The header of a PyTorch record; nullopt if the line holds none. `message` begins behind the
/// process-group tags and ends where another process's record was written into the same line.
std::optional<Header> parse_framework_header(std::string_view line);

}  // namespace ncclog
