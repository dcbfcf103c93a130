#include "diagnose/message_counts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/call_coverage.h"
#include "model/job.h"

namespace ncclog {
namespace {

/// By peer, and whether they were received.
using Counts = std::map<std::pair<int, bool>, uint64_t>;

/// By log and segment.
using TapeCounts = std::map<std::pair<int, int>, Counts>;

bool has_other_peers(const SpeakerLog& log) {
  return std::any_of(log.comms.all.begin(), log.comms.all.end(),
                     [](const CommSegment& segment) { return calls_of(segment).other_peers > 0; });
}

void add_tape(const CallTape& tape, int log, TapeCounts& counts) {
  std::vector<uint64_t> by_entry(tape.entries().size());
  for (const uint16_t id : tape.calls()) ++by_entry[id];
  for (size_t id = 0; id < by_entry.size(); ++id) {
    const auto& [segment, call] = tape.entries()[id];
    if (call.op == "Send" || call.op == "Recv") {
      counts[{log, segment}][{call.root, call.op == "Recv"}] += by_entry[id];
    }
  }
}

/// Of the logs that tell more than is counted.
TapeCounts tape_counts(const Job& job) {
  TapeCounts counts;
  for (size_t log = 0; log < job.logs.size(); ++log) {
    if (!has_other_peers(job.logs[log])) continue;
    const CallTape* tape = whole_tape(job.logs[log]);
    if (tape != nullptr) add_tape(*tape, static_cast<int>(log), counts);
  }
  return counts;
}

/// nullptr: they are not kept.
const Counts* counts_on_tape(const Job& job, const CommRank& rank) {
  const TapeCounts& counts = job.answers.of<&tape_counts>(job);
  const auto found = counts.find({rank.log, rank.segment});
  return found == counts.end() ? nullptr : &found->second;
}

}  // namespace

const CallTape* whole_tape(const SpeakerLog& log) {
  std::optional<bool> by_traces;
  for (const CommSegment& segment : log.comms.all) {
    const CollectiveCalls& calls = calls_of(segment);
    if (calls.total == 0) continue;
    const bool traces = &calls == &segment.traces;
    if (by_traces && *by_traces != traces) return nullptr;
    by_traces = traces;
  }
  if (!by_traces) return nullptr;
  const CallTape& tape = *by_traces ? log.traces.tape : log.calls.tape;
  return tape.kept() == tape.total() ? &tape : nullptr;
}

std::optional<MessageCount> message_count(const Job& job, const CommRank& rank, int peer,
                                          bool receives) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr) return MessageCount{};
  const auto known = calls->peers.find(peer);
  if (known != calls->peers.end()) {
    const PeerMessages& messages = receives ? known->second.received : known->second.sent;
    return MessageCount{messages.count, messages.hash};
  }
  // Of the peers that are not counted all are higher than those that are.
  if (calls->other_peers == 0 || peer < calls->peers.rbegin()->first) {
    return MessageCount{.count = 0, .sizes = 0};
  }
  const Counts* counts = counts_on_tape(job, rank);
  if (counts == nullptr) return std::nullopt;
  const auto found = counts->find({peer, receives});
  return MessageCount{found == counts->end() ? 0 : found->second, std::nullopt};
}

std::vector<int> message_peers(const Job& job, const CommRank& rank) {
  std::vector<int> peers;
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr) return peers;
  for (const auto& [peer, totals] : calls->peers) peers.push_back(peer);
  const Counts* counts = calls->other_peers == 0 ? nullptr : counts_on_tape(job, rank);
  if (counts == nullptr) return peers;
  for (const auto& [end, count] : *counts) {
    if (end.first > peers.back()) peers.push_back(end.first);
  }
  return peers;
}

bool has_unknown_peers(const Job& job, const CommRank& rank) {
  const CollectiveCalls* calls = calls_of(job, rank);
  return calls != nullptr && calls->other_peers > 0 && counts_on_tape(job, rank) == nullptr;
}

}  // namespace ncclog
