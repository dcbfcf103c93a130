#include "replay/plan_refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

constexpr const char* kWhere = "replay plan";

const std::string& how_to_capture() {
  static const std::string text =
      "set NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH,COLL on all ranks; "
      "NCCL_DEBUG_FILE=nccl.%h.%p.log gives each process its own file";
  return text;
}

bool prints_calls(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(), [](const SpeakerLog& log) {
    return log.calls.tape.total() + log.traces.tape.total() > 0;
  });
}

/// Ranks of whom any call is known, wherever their communicator's other ranks are.
size_t numbered_callers(const Job& job) {
  size_t most = 0;
  for (const Communicator& comm : job.communicators) {
    const auto callers =
        std::count_if(comm.ranks.begin(), comm.ranks.end(), [&](const CommRank& rank) {
          const CollectiveCalls* calls = calls_of(job, rank);
          return rank.rank >= 0 && calls != nullptr && calls->total > 0;
        });
    most = std::max(most, static_cast<size_t>(callers));
  }
  return most;
}

}  // namespace

void refuse_unknown_calls(const Job& job, const std::vector<Membership>& members) {
  if (!members.empty()) return;
  const bool has_nccl = std::any_of(job.processes.begin(), job.processes.end(),
                                    [](const Process& process) { return process.has_nccl; });
  if (!has_nccl) {
    throw Error("no line of these logs was printed by NCCL, so there is nothing to replay", kWhere,
                how_to_capture());
  }
  if (!prints_calls(job)) {
    throw Error(
        "these logs have no line about a call of NCCL, so nobody knows what the ranks called in "
        "which order",
        kWhere, how_to_capture());
  }
  if (const size_t callers = numbered_callers(job); callers > 0) {
    throw Error(fmt::format("only {} of a communicator's ranks has its calls in these logs; a "
                            "replay needs those of two at least",
                            callers),
                kWhere, "collect the files of all ranks from all hosts; " + how_to_capture());
  }
  throw Error(
      "no line says which ranks the communicators of these calls have (Init START and COMPLETE)",
      kWhere, how_to_capture());
}

}  // namespace ncclog
