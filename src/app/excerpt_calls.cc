#include "app/excerpt_calls.h"

#include <algorithm>
#include <limits>

#include "log/messages.h"
#include "log/read_message.h"
#include "model/call_coverage.h"
#include "model/rank_segment.h"

namespace ncclog {
namespace {

uint64_t beyond(uint64_t count, uint64_t keep) { return count > keep ? count - keep : 0; }

/// The number of collectives that all ranks of whom lines were seen made.
uint64_t common_calls(const Job& job, const Communicator& comm) {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (const CommRank& rank : comm.ranks) {
    if (rank.log < 0 || rank.segment < 0) continue;
    const CommSegment& segment = segment_of(job, rank);
    least = std::min(least, calls_of(segment).collectives.size());
    // Both kinds of lines tell of the same calls: what one of them lacks is not left out.
    if (segment.calls.total > 0 && segment.traces.total > 0) {
      least =
          std::min({least, segment.calls.collectives.size(), segment.traces.collectives.size()});
    }
  }
  return least == std::numeric_limits<uint64_t>::max() ? 0 : least;
}

const CommRank* rank_of(const Communicator& comm, int number) {
  for (const CommRank& rank : comm.ranks) {
    if (rank.rank == number && rank.log >= 0 && rank.segment >= 0) return &rank;
  }
  return nullptr;
}

}  // namespace

ExcerptCalls::ExcerptCalls(const Job& job, uint64_t keep) {
  for (size_t log = 0; log < job.logs.size(); ++log) {
    const SpeakerLog& spoken = job.logs[log];
    const auto& all = spoken.comms.all;
    if (spoken.speaker.pid < 0 || !spoken.unplaced.empty()) continue;
    for (size_t place = 0; place < all.size(); ++place) {
      keys_[{static_cast<int>(log), static_cast<int>(place)}] = {
          spoken.speaker.host, spoken.speaker.pid, all[place].comm, life_of(all, place)};
    }
  }
  for (const Communicator& comm : job.communicators) limit(job, comm, keep);
}

const ExcerptCalls::SegmentKey* ExcerptCalls::key_of(const CommRank& rank) const {
  const auto found = keys_.find({rank.log, rank.segment});
  return found == keys_.end() ? nullptr : &found->second;
}

void ExcerptCalls::limit(const Job& job, const Communicator& comm, uint64_t keep) {
  constexpr uint64_t kBeforeDifference = 64;
  uint64_t from = beyond(common_calls(job, comm), keep);
  if (comm.difference) from = std::min(from, beyond(comm.difference->index, kBeforeDifference));
  for (const CommRank& rank : comm.ranks) {
    const SegmentKey* key = rank.log < 0 ? nullptr : key_of(rank);
    if (key == nullptr) continue;
    limits_[*key].collectives = from;
    for (const auto& [peer, totals] : calls_of(segment_of(job, rank)).peers) {
      const CommRank* other = rank_of(comm, peer);
      const SegmentKey* other_key = other == nullptr ? nullptr : key_of(*other);
      if (other_key == nullptr) continue;
      const auto& peers = calls_of(segment_of(job, *other)).peers;
      const auto back = peers.find(rank.rank);
      if (back == peers.end()) continue;
      const uint64_t met = std::min(totals.sent.count, back->second.received.count);
      limits_[*key].sent[peer] = beyond(met, keep);
      limits_[*other_key].received[rank.rank] = beyond(met, keep);
    }
  }
}

bool ExcerptCalls::keeps_message(const CallSignature& call, Counted& counted,
                                 const LeftOutCalls& limits) {
  const bool is_send = call.op.view() == "Send";
  if (!is_send && call.op.view() != "Recv") return true;
  const uint64_t number = (is_send ? counted.sent : counted.received)[call.root]++;
  const auto& from = is_send ? limits.sent : limits.received;
  const auto found = from.find(call.root);
  return found == from.end() || number >= found->second;
}

bool ExcerptCalls::keeps(const Event& event) {
  if (event.message.kind == nullptr || event.header.pid < 0) return true;
  const Header& header = event.header;
  CommSegments& lives = lives_[{std::string(header.host), header.pid}];
  const uint16_t kind = event.message.kind->index;
  if (kind == kKindIndex<CommInit>) lives.add({}, read_message<CommInit>(event.message));
  if (kind == kKindIndex<CommEnd>) lives.add({}, read_message<CommEnd>(event.message));
  if (kind == kKindIndex<CallInit>) lives.add({}, read_message<CallInit>(event.message));
  const auto call = read_call(event);
  if (!call) return true;
  int place = lives.living_segment(call->comm);
  if (place < 0) place = lives.add_call({}, {}, call->comm, call->nranks, call->call);
  const int generation = life_of(lives.all, static_cast<size_t>(place));
  const auto limits = limits_.find({std::string(header.host), header.pid, call->comm, generation});
  if (limits == limits_.end()) return true;
  Counted& counted =
      counted_[{std::string(header.host), header.pid, call->comm, generation, call->is_trace}];
  if (is_point_to_point(call->call.op)) return keeps_message(call->call, counted, limits->second);
  return counted.collectives++ >= limits->second.collectives;
}

}  // namespace ncclog
