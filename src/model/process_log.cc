#include "model/process_log.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "log/messages.h"

namespace ncclog {
namespace {

bool has(SourceRef where) { return where.line != 0; }

template <typename T>
void keep_known(T& known, const T& news, const T& unknown) {
  if (known == unknown) known = news;
}

/// Fills what `segment` does not know from what a later line of the same life says.
void add_facts(CommSegment& segment, const CommSegment& news) {
  // "rank 16" of four: a torn line that took another one's digit in.
  const bool is_misread = news.nranks >= 0 && segment.rank >= news.nranks;
  if (is_misread) segment.rank = -1;
  keep_known(segment.rank, news.rank, -1);
  keep_known(segment.nranks, news.nranks, -1);
  keep_known(segment.cuda_dev, news.cuda_dev, -1);
  keep_known(segment.bus_id, news.bus_id, std::string());
  keep_known(segment.comm_id, news.comm_id, uint64_t{0});
  keep_known(segment.parent, news.parent, uint64_t{0});
  keep_known(segment.child_count, news.child_count, -1);
  keep_known(segment.color, news.color, -1);
  keep_known(segment.key, news.key, -1);
  keep_known(segment.nnodes, news.nnodes, -1);
  keep_known(segment.local_ranks, news.local_ranks, -1);
  keep_known(segment.started, news.started, SourceRef{});
  keep_known(segment.completed, news.completed, SourceRef{});
  keep_known(segment.announced, news.announced, SourceRef{});
  keep_known(segment.ended, news.ended, SourceRef{});
  keep_known(segment.end, news.end, CommFate::None);
}

CommSegment facts_of(SourceRef where, const CommInit& init) {
  CommSegment segment;
  segment.comm = init.comm.value;
  segment.rank = init.rank;
  segment.nranks = init.nranks;
  segment.cuda_dev = init.cuda_dev;
  segment.bus_id = init.bus_id;
  segment.comm_id = init.comm_id.value;
  segment.parent = init.parent.value;
  segment.child_count = init.child_count;
  segment.color = init.color;
  segment.key = init.key;
  (init.phase == "START" ? segment.started : segment.completed) = where;
  return segment;
}

/// True if `later`, the next thing said about the same pointer, begins a new life: the earlier one
/// has ended, or was already past what `later` begins with. Nothing comes before a START; layout,
/// COMPLETE and CALL lines of the initialisation come before the first call.
bool begins_anew(const CommSegment& earlier, const CommSegment& later) {
  if (has(earlier.ended) || has(later.started)) return true;
  const bool has_calls = earlier.calls.total + earlier.traces.total > 0;
  if (has_calls && has(later.announced)) return true;
  const bool in_use = has(earlier.completed) || has_calls;
  const bool comes_up = has(later.completed) || later.nnodes >= 0 || later.local_ranks >= 0;
  return in_use && comes_up;
}

}  // namespace

const CollectiveCalls& calls_of(const CommSegment& segment) {
  return segment.traces.total > segment.calls.total ? segment.traces : segment.calls;
}

CommSegment* CommSegments::latest(uint64_t comm) {
  const auto found = latest_.find(comm);
  return found == latest_.end() ? nullptr : &all[found->second];
}

size_t CommSegments::append(CommSegment&& segment) {
  ++lives_;
  latest_[segment.comm] = all.size();
  all.push_back(std::move(segment));
  return all.size() - 1;
}

/// Gives the place of the segment that `news` is, or becomes, a part of.
size_t CommSegments::add(CommSegment&& news) {
  ++lives_;
  CommSegment* earlier = latest(news.comm);
  if (earlier == nullptr || begins_anew(*earlier, news)) return append(std::move(news));
  add_facts(*earlier, news);
  earlier->calls.merge(news.calls);
  earlier->traces.merge(news.traces);
  return static_cast<size_t>(earlier - all.data());
}

void CommSegments::add(SourceRef where, const CommInit& init) { add(facts_of(where, init)); }

void CommSegments::add(SourceRef where, const CommAnnounced& announced) {
  CommInit init;
  init.comm = announced.comm;
  init.rank = announced.rank;
  init.nranks = announced.nranks;
  init.cuda_dev = announced.cuda_dev;
  init.phase = "START";
  add(where, init);
}

void CommSegments::add(SourceRef where, const CommEnd& ended) {
  if (ended.phase == "START" || ended.action == "Revoke") return;
  CommSegment news;
  news.comm = ended.comm.value;
  news.rank = ended.rank;
  news.nranks = ended.nranks;
  news.cuda_dev = ended.cuda_dev;
  news.bus_id = ended.bus_id;
  news.ended = where;
  news.end = ended.action == "Abort" ? CommFate::Aborted : CommFate::Destroyed;
  add(std::move(news));
}

void CommSegments::add(SourceRef where, const CallInit& call) {
  if (call.function != "ncclCommInitRank" && call.function != "ncclCommSplit") return;
  CommSegment news;
  news.comm = call.comm.value;
  news.rank = call.rank;
  news.nranks = call.nranks;
  news.cuda_dev = call.cuda_dev;
  news.comm_id = call.comm_id.value;
  news.parent = call.parent.value;
  news.color = call.color;
  news.key = call.key;
  news.announced = where;
  add(std::move(news));
}

void CommSegments::add(const CommLayout& layout) {
  CommSegment news;
  news.comm = layout.comm.value;
  news.rank = layout.rank;
  news.nranks = layout.nranks;
  news.nnodes = layout.nnodes;
  news.local_ranks = layout.local_ranks;
  add(std::move(news));
}

int CommSegments::living_segment(uint64_t comm) const {
  const auto found = latest_.find(comm);
  const bool lives = found != latest_.end() && !has(all[found->second].ended);
  return lives ? static_cast<int>(found->second) : -1;
}

/// The life that a call belongs to; a new one if none is there or the last one has ended.
size_t CommSegments::living(uint64_t comm) {
  if (const int segment = living_segment(comm); segment >= 0) return static_cast<size_t>(segment);
  CommSegment unknown;
  unknown.comm = comm;
  return append(std::move(unknown));
}

int CommSegments::add_call(SourceRef where, std::string_view stamp, uint64_t comm, int nranks,
                           const CallSignature& call) {
  const size_t place = living(comm);
  keep_known(all[place].nranks, nranks, -1);
  all[place].calls.add(where, stamp, call);
  return static_cast<int>(place);
}

int CommSegments::add_trace(SourceRef where, std::string_view stamp, uint64_t comm,
                            const CallSignature& call) {
  const size_t place = living(comm);
  all[place].traces.add(where, stamp, call);
  return static_cast<int>(place);
}

std::vector<int> CommSegments::merge(CommSegments&& later) {
  std::unordered_set<uint64_t> seen;
  std::vector<int> places;
  for (CommSegment& news : later.all) {
    // Only the first life of a pointer can go on with one of the earlier stretch.
    const bool may_go_on = seen.insert(news.comm).second;
    const size_t place = may_go_on ? add(std::move(news)) : append(std::move(news));
    places.push_back(static_cast<int>(place));
  }
  return places;
}

Transport transport_of(std::string_view path) {
  if (path.starts_with("P2P")) return Transport::P2P;
  if (path.starts_with("SHM") || path == "direct shared memory") return Transport::SHM;
  if (path.starts_with("NET")) return Transport::NET;
  if (path.starts_with("COLLNET")) return Transport::COLLNET;
  return Transport::Other;
}

std::string_view to_string(Transport transport) {
  constexpr std::string_view kNames[] = {"P2P", "SHM", "NET", "COLLNET", "other"};
  return kNames[static_cast<size_t>(transport)];
}

void Connections::add(SourceRef where, const ChannelConnected& connected) {
  const int channel = std::clamp(connected.channel, 0, 63);
  const auto known =
      all.find(ConnectionView{connected.src_rank, connected.dst_rank, connected.path});
  if (known != all.end()) {
    known->second.channels |= uint64_t{1} << channel;
    known->second.first = std::min(known->second.first, where);
    return;
  }
  add({connected.src_rank, connected.dst_rank, std::string(connected.path)},
      {uint64_t{1} << channel, where});
}

void Connections::add(const ConnectionKey& key, const ConnectionUse& use) {
  const auto [it, is_new] = all.try_emplace(key, use);
  if (!is_new) {
    it->second.channels |= use.channels;
    it->second.first = std::min(it->second.first, use.first);
  }
  if (all.size() > kLimit) {
    const auto last = std::prev(all.end());
    dropped += static_cast<uint64_t>(channel_count(last->second));
    all.erase(last);
  }
}

void Connections::merge(const Connections& later) {
  for (const auto& [key, use] : later.all) add(key, use);
  dropped += later.dropped;
}

int channel_count(const ConnectionUse& use) { return std::popcount(use.channels); }

void AllocTotals::add(const AllocTraced& traced) {
  if (traced.bytes < 0) return;
  AllocTotal& total = by_what[std::string(traced.what)];
  ++total.count;
  total.bytes += static_cast<uint64_t>(traced.bytes);
}

void AllocTotals::merge(const AllocTotals& later) {
  for (const auto& [what, total] : later.by_what) {
    AllocTotal& known = by_what[what];
    known.count += total.count;
    known.bytes += total.bytes;
  }
}

void TuningUse::merge(const TuningUse& later) {
  min_bytes = count == 0 ? later.min_bytes : std::min(min_bytes, later.min_bytes);
  max_bytes = std::max(max_bytes, later.max_bytes);
  count += later.count;
}

void TuningUses::add(const TuningKey& key, const TuningUse& use) {
  if (uses.size() == kLimit && std::prev(uses.end())->first < key) {
    other += use.count;
    return;
  }
  uses[key].merge(use);
  if (uses.size() > kLimit) {
    const auto last = std::prev(uses.end());
    other += last->second.count;
    uses.erase(last);
  }
}

void TuningUses::add(const TuningChoice& choice) {
  add({std::string(choice.op), std::string(choice.algorithm), std::string(choice.protocol)},
      {1, choice.bytes, choice.bytes});
}

void TuningUses::merge(const TuningUses& later) {
  for (const auto& [key, use] : later.uses) add(key, use);
  other += later.other;
}

void SpeakerLog::merge(SpeakerLog&& later, const RecordLimit& limit) {
  if (later.lines == 0) return;
  if (lines == 0) first = later.first;
  lines += later.lines;
  last = later.last;
  last_text = std::move(later.last_text);
  torn |= later.torn;
  cut |= later.cut;
  note_task(task_rank, later.task_rank);
  note_task(task_local_rank, later.task_local_rank);
  subsystems |= later.subsystems;
  starts.insert(starts.end(), later.starts.begin(), later.starts.end());
  if (starts.size() > kMaxStarts) starts.resize(kMaxStarts);
  records.merge(std::move(later.records), limit);
  line_matches.merge(std::move(later.line_matches), limit.of_patterns());
  unrecognised.merge(std::move(later.unrecognised), limit.most);
  const std::vector<int> segments = comms.merge(std::move(later.comms));
  calls.merge(later.calls, segments);
  traces.merge(later.traces, segments);
  connections.merge(later.connections);
  inits.merge(std::move(later.inits));
  allocations.merge(later.allocations);
  tuning.merge(later.tuning);
  nccl_tests.merge(std::move(later.nccl_tests));
}

void SpeakerLog::cut_to(const RecordLimit& limit) {
  records.cut_to(limit);
  line_matches.cut_to(limit.of_patterns());
  unrecognised.cut_to(limit.most);
}

}  // namespace ncclog
