// Texts by which lines with headers are told from all others at a glance (log/foreign_filter.h).

#pragma once

#include <string_view>

namespace ncclog {

/// What stands in every line with an NCCL header.
inline constexpr std::string_view kAnchor = "NCCL ";

/// What Ray puts behind a message that it prints for several processes: " [repeated 7x across
/// cluster]".
inline constexpr std::string_view kRepetitionEnd = "x across cluster]";

/// False where is_header_stub (log/header.h) is false for certain: a glance at the end of the line.
bool may_be_header_stub(std::string_view line);

}  // namespace ncclog
