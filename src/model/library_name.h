// Whose library printed the log: NVIDIA's NCCL or AMD's RCCL, which calls itself NCCL in its lines.

#pragma once

#include <string_view>

#include "model/job.h"

namespace ncclog {

/// True if a message stands in the log that only RCCL prints, such as its banner.
bool is_rccl(const Job& job);

/// "RCCL" or "NCCL".
inline std::string_view library_name(const Job& job) { return is_rccl(job) ? "RCCL" : "NCCL"; }

/// Who printed an NCCL line that no wording fits: "aws-ofi-nccl", "nccl-rdma-sharp-plugins", "NCCL
/// inspector", "RCCL"; "" if nothing in it tells.
std::string_view printer_of(std::string_view line);

}  // namespace ncclog
