// What to set before the next run, so that its logs answer the questions that these leave open, and
// how large they will be.
//
//   export NCCL_DEBUG=INFO
//   export NCCL_DEBUG_SUBSYS=INIT,ENV,NET,COLL
//   about 30 kB for each rank, and 200 MB an hour for each at 300 collectives a second

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnose/coverage.h"
#include "model/job.h"

namespace ncclog {

/// An environment variable to set on all ranks.
struct CaptureSetting {
  std::string name;
  std::string value;

  bool operator==(const CaptureSetting&) const = default;
};

/// How much NCCL will write: an estimate, and what it rests on.
struct LogSize {
  uint64_t start_bytes = 0;     ///< For each rank, while communicators are set up.
  uint64_t bytes_per_call = 0;  ///< For each rank and collective; 0: calls will not be logged.
  double calls_per_second = 0;  ///< For each rank: measured, or assumed.
  bool calls_measured = false;
  std::string rests_on;  ///< In one sentence.

  /// For each rank; 0 if calls will not be logged.
  uint64_t bytes_per_hour() const;
};

struct CaptureAdvice {
  std::vector<CaptureSetting> settings;  ///< In the order in which people write them.
  std::vector<std::string> steps;        ///< What no variable does, each a sentence.
  std::optional<LogSize> size;           ///< nullopt: NCCL will write no more than it did.

  bool empty() const { return settings.empty() && steps.empty(); }
};

/// Everything that the open questions ask for, joined.
CaptureAdvice capture_advice(const Job& job, std::span<const CoverageQuestion* const> open);

/// "about 30 kB for each rank to begin with, then …": the size as a sentence, with its ground.
std::string log_size_text(const LogSize& size, std::optional<int> nranks);

}  // namespace ncclog
