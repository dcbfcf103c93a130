#include "replay/verdict_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace ncclog {
namespace {

using Texts = std::vector<std::string>;

/// What was not told by the record, or by the replay's log.
void add_untold(const JudgedReplay& judged, Texts& out) {
  for (const std::string& what : judged.comparison.unknown) {
    out.push_back(fmt::format("The record does not tell: {}.", what));
  }
  for (const ReplayDifference& row : judged.pair.differences) {
    if (!row.replayed.empty()) continue;
    out.push_back(
        fmt::format("The replay's log does not tell: {} (recorded {}).", row.what, row.recorded));
  }
}

bool mention(const Texts& texts, std::string_view words) {
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
    return text.find(words) != std::string::npos;
  });
}

void add_uncompared(const ReplayOutcome& outcome, Texts& out) {
  for (const RunOutcome& run : outcome.runs) {
    const uint64_t uncompared = verified_by_all(run).shape_only;
    if (uncompared == 0) continue;
    out.push_back(
        fmt::format("{} results of the job's own reductions were not compared: their "
                    "function is in no log.",
                    uncompared));
    return;
  }
}

void add_leftovers(const ReplayOutcome& outcome, Texts& out) {
  for (const RunOutcome& run : outcome.runs) {
    for (const std::string& left : run.leftovers) {
      out.push_back("Left behind by a run: " + printable(left));
    }
  }
}

/// GPUs that have a quarter of a gigabyte less than before.
void add_lost_memory(const ReplayOutcome& outcome, Texts& out) {
  constexpr int64_t kNoise = int64_t{256} << 20;
  for (const RunOutcome& run : outcome.runs) {
    for (const GpuCheck& gpu : run.gpus) {
      if (gpu.free_before < 0 || gpu.free_after < 0) continue;
      const int64_t lost = gpu.free_before - gpu.free_after;
      if (lost < kNoise) continue;
      out.push_back(
          fmt::format("After a run GPU {} had {} MiB less than before; somebody else may "
                      "use it.",
                      gpu.gpu, lost >> 20));
    }
  }
}

}  // namespace

std::vector<std::string> verdict_limits(const JudgedReplay& judged) {
  Texts out;
  for (const std::string& limit : judged.plan.limits) out.push_back(printable(limit));
  add_untold(judged, out);
  if (!mention(out, "CUDA graph")) {
    out.push_back(
        "A collective that a CUDA graph captured is logged once and may have run many "
        "times; the replay makes it once.");
  }
  add_uncompared(judged.outcome, out);
  add_leftovers(judged.outcome, out);
  add_lost_memory(judged.outcome, out);
  return out;
}

}  // namespace ncclog
