#include "diagnose/job_calls.h"

#include <algorithm>
#include <map>

namespace ncclog {
namespace {

/// The kinds of a tape's entries, in their order.
std::vector<CallKind> kinds_of(const SpeakerLog& log, const CallTape& tape) {
  std::map<int, int> ordinal_of_segment;
  std::map<int, int> used;
  std::vector<CallKind> kinds;
  for (const CallTape::Entry& entry : tape.entries()) {
    CallKind kind{-1, -1, comparable(entry.call)};
    if (is_point_to_point(entry.call.op)) kind.call.root = -1;
    if (entry.segment >= 0) {
      kind.nranks = log.comms.all[static_cast<size_t>(entry.segment)].nranks;
      const auto [known, is_new] = ordinal_of_segment.try_emplace(entry.segment, 0);
      if (is_new) known->second = used[kind.nranks]++;
      kind.ordinal = known->second;
    }
    kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace

JobCalls job_calls(const Job& job) {
  JobCalls calls;
  std::map<CallKind, int> numbers;
  std::vector<std::vector<CallKind>> kinds;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t l : job.processes[p].logs) {
      const SpeakerLog& log = job.logs[l];
      const bool traces = log.traces.tape.total() > log.calls.tape.total();
      const CallTrack& track = traces ? log.traces : log.calls;
      if (track.tape.total() == 0) continue;
      calls.processes.push_back({static_cast<int>(p), static_cast<int>(l), traces, &track, {}});
      kinds.push_back(kinds_of(log, track.tape));
      for (const CallKind& kind : kinds.back()) numbers.emplace(kind, 0);
    }
  }
  for (auto& [kind, number] : numbers) {
    number = static_cast<int>(calls.kinds.size());
    calls.kinds.push_back(kind);
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    for (const CallKind& kind : kinds[i]) calls.processes[i].kinds.push_back(numbers.at(kind));
  }
  return calls;
}

}  // namespace ncclog
