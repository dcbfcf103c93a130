#include "diagnose/store_name.h"

#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "log/line_time.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr uint64_t kLeastTries = 3;
constexpr uint64_t kTriesWithoutTimes = 6;
constexpr int64_t kLeastSeconds =
    30;  // PyTorch waits for up to a second and then longer each time.

template <typename T>
bool is_said(const Job& job) {
  return !job.processes_by_kind.empty() && !job.processes_by_kind[kKindIndex<T>].empty();
}

/// NCCL or the training began.
bool came_further(const Job& job) {
  return !job.communicators.empty() || is_said<BootstrapInterface>(job) ||
         is_said<IterationLine>(job) || is_said<ProgressBar>(job) || is_said<NcclVersion>(job) ||
         is_said<RendezvousComplete>(job);
}

/// Whole seconds from a line to the last one of its log; -1: not known.
int64_t seconds_until_end(const Record& record, const SpeakerLog& log) {
  const LineTime from = time_of_line(record.text);
  const LineTime to = time_of_line(log.last_text);
  if (!from.known() || !to.known() || from.has_zone != to.has_zone) return -1;
  return (to.nanoseconds - from.nanoseconds) / 1'000'000'000;
}

FactValue name_in(const SpeakerLog& log) {
  const RecordList* list = log.records.find(kKindIndex<StoreConnectRetry>);
  if (list == nullptr || list->total < kLeastTries) return unknown();
  for (const Record& record : list->kept) {
    const Event event = parse_record(record);
    const auto retry = read_message<StoreConnectRetry>(event.message);
    if (retry.error.find("gai error") == retry.error.npos) return unknown();
    const int64_t seconds = seconds_until_end(record, log);
    const bool is_long = seconds < 0 ? list->total >= kTriesWithoutTimes : seconds >= kLeastSeconds;
    if (!is_long) continue;
    const std::string time = seconds < 0 ? "" : fmt::format(" in {} s", seconds);
    return yes(
        fmt::format("\"{}\" was looked up {} times{}, and each time the answer was: {}",
                    to_valid_utf8(retry.host), list->total, time, to_valid_utf8(retry.error)),
        {evidence_of(record)});
  }
  return unknown();
}

}  // namespace

FactValue store_name_unresolvable(const Job& job, const Instance&) {
  if (came_further(job)) return no();
  for (const SpeakerLog& log : job.logs) {
    FactValue value = name_in(log);
    if (value.known()) return value;
  }
  return unknown();
}

}  // namespace ncclog
