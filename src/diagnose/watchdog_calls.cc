#include "diagnose/watchdog_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "diagnose/call_words.h"
#include "model/call_coverage.h"
#include "model/flight_recorder.h"

namespace ncclog {
namespace {

/// Group and SeqNum of works.
using WorkNumber = std::pair<std::string, int64_t>;

std::string number_words(const WorkNumber& number) {
  if (number.second < 0) return {};
  const std::string group =
      number.first.empty() ? "" : fmt::format(" of process group {}", to_valid_utf8(number.first));
  return fmt::format(" as SeqNum {}{}", number.second, group);
}

/// Everything that its process called is in the log and its calls are all kept by signature.
bool shows_all_calls(const Job& job, int process) {
  bool calls = false;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process != process) continue;
      const CollectiveCalls* made = calls_of(job, rank);
      if (call_coverage(job, comm, rank) != CallCoverage::Counted) return false;
      if (made->by_signature.other > 0) return false;
      calls |= made->total > 0;
    }
  }
  return calls;
}

bool made_a_fitting_call(const Job& job, const TimedOutWork& work) {
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process != work.process) continue;
      const auto& counts = calls_of(job, rank)->by_signature.counts;
      if (std::any_of(counts.begin(), counts.end(),
                      [&](const auto& count) { return fits(count.first, work); })) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

bool fits(const CallSignature& call, const TimedOutWork& work) {
  return is_call_of_work(call, work.op, work.numel_in, work.numel_out);
}

std::string waiting_words(const Job& job, int communicator, const std::vector<CallPlace>& places) {
  const Communicator& comm = job.communicators[static_cast<size_t>(communicator)];
  std::map<WorkNumber, std::vector<int>> waiting;
  for (const TimedOutWork& work : timed_out_work(job)) {
    for (const CallPlace& place : places) {
      for (const int m : place.members) {
        if (comm.ranks[static_cast<size_t>(m)].process != work.process) continue;
        if (fits(place.call, work)) waiting[{work.group, work.seq}].push_back(m);
      }
    }
  }
  const auto most = std::max_element(
      waiting.begin(), waiting.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == waiting.end()) return {};
  std::vector<int> members = most->second;
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return fmt::format("{} gave up on it{}", members_words(job, communicator, members),
                     number_words(most->first));
}

std::vector<TimedOutWork> works_without_call(const Job& job) {
  std::map<int, bool> shows_all;
  std::vector<TimedOutWork> result;
  for (TimedOutWork& work : timed_out_work(job)) {
    const bool has_size = work.numel_in >= 0 && work.numel_out >= 0;
    if (!is_one_call(work.op) || !has_size || work.process < 0) continue;
    const auto [known, is_new] = shows_all.try_emplace(work.process);
    if (is_new) known->second = shows_all_calls(job, work.process);
    if (known->second && !made_a_fitting_call(job, work)) result.push_back(std::move(work));
  }
  return result;
}

}  // namespace ncclog
