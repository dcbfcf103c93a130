#include "replay/plan_refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "diagnose/stop_evidence.h"
#include "diagnose/watchdog_records.h"
#include "log/known_messages.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

constexpr const char* kWhere = "replay plan";

const std::string& how_to_capture() {
  static const std::string text =
      "set NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH,COLL on all ranks; "
      "NCCL_DEBUG_FILE=nccl.%h.%p.log gives each process its own file. With PyTorch dumps of the "
      "Flight Recorder will do, too: TORCH_FR_BUFFER_SIZE=2000 (earlier "
      "TORCH_NCCL_TRACE_BUFFER_SIZE) and TORCH_NCCL_DUMP_ON_TIMEOUT=1, the dumps of all ranks "
      "beside the logs";
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

bool was_complete(const CommSegment& segment) {
  return segment.completed.line != 0 || segment.calls.total + segment.traces.total > 0 ||
         segment.end == CommFate::Destroyed;
}

/// Some line of the subsystem was printed at INFO, which a job that prints warnings only does not.
bool informs(const SpeakerLog& log, Subsystem subsystem) {
  return std::any_of(log.records.begin(), log.records.end(), [&](const auto& entry) {
    const auto& [kind, lines] = entry;
    return all_kinds()[kind].subsystem == subsystem &&
           std::any_of(lines.kept.begin(), lines.kept.end(), [](const Record& record) {
             return parse_record(record).header.level == Level::Info;
           });
  });
}

/// Its lines show how far its initialisations came.
bool tells_of_inits(const Job& job, const Process& process) {
  return std::any_of(process.logs.begin(), process.logs.end(),
                     [&](size_t log) { return informs(job.logs[log], Subsystem::Init); });
}

[[noreturn]] void refuse_failed_job(const std::vector<Suspicion>& suspicions) {
  const auto reason = std::find_if(suspicions.begin(), suspicions.end(),
                                   [](const Suspicion& one) { return one.is_testable; });
  const std::string why = reason == suspicions.end()
                              ? ""
                              : fmt::format(": {} [{}]", printable(reason->title), reason->id);
  throw Error("the job failed before its first call of NCCL, so there is nothing to replay" + why,
              kWhere, "'ncclog analyze' says what is known of it");
}

}  // namespace

bool failed_before_calls(const Job& job) {
  if (!has_failed(job) || !job.flight_recorders.empty()) return false;
  if (job.losses.count(Loss::LineLeftOut) > 0 || !timed_out_work(job).empty()) return false;
  const bool ever_complete =
      std::any_of(job.logs.begin(), job.logs.end(), [](const SpeakerLog& log) {
        return std::any_of(log.comms.all.begin(), log.comms.all.end(), was_complete);
      });
  bool told = false;
  for (const Process& process : job.processes) {
    if (!process.has_nccl) continue;
    if (process.cut || process.torn) return false;
    if (process.pid < 0) continue;  // Lines without a header, such as the version's.
    if (!tells_of_inits(job, process)) return false;
    told = true;
  }
  return told && !ever_complete;
}

void refuse_unknown_calls(const Job& job, const std::vector<Membership>& members,
                          const std::vector<Suspicion>& suspicions) {
  if (!members.empty()) return;
  const bool has_nccl = std::any_of(job.processes.begin(), job.processes.end(),
                                    [](const Process& process) { return process.has_nccl; });
  if (!has_nccl) {
    throw Error("no line of these logs was printed by NCCL, so there is nothing to replay", kWhere,
                how_to_capture());
  }
  if (failed_before_calls(job)) refuse_failed_job(suspicions);
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
