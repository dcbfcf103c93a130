#include "model/process_log.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <unordered_set>

#include "log/known_messages.h"
#include "log/messages.h"

namespace ncclog {

void count_unknown(UnknownShapes& shapes, SourceRef where, std::string_view line,
                   const Event& event) {
  shapes.add(message_shape(event.header.message),
             UnknownLines{1,
                          1U << static_cast<unsigned>(event.header.level),
                          where,
                          std::string(line.substr(0, Record::kMaxTextBytes)),
                          {},
                          {}});
}

UnknownLines& UnknownLines::operator+=(const UnknownLines& later) {
  if (count == 0) return *this = later;
  count += later.count;
  levels |= later.levels;
  last = later.last.is_known() ? later.last : later.first;
  latest = later.last.is_known() ? later.latest : later.example;
  return *this;
}

namespace {

/// Fills what `segment` does not know from what a later line of the same life says.
void add_facts(CommSegment& segment, const CommSegment& news) {
  // "rank 16" of four: a torn line that took another one's digit in.
  const bool is_misread = news.nranks >= 0 && segment.rank >= news.nranks;
  if (is_misread) segment.rank = -1;
  using Segment = CommSegment;
  fill_unknown(segment, news, &Segment::rank, &Segment::nranks, &Segment::cuda_dev,
               &Segment::bus_id, &Segment::comm_id, &Segment::parent, &Segment::child_count,
               &Segment::color, &Segment::key, &Segment::nnodes, &Segment::local_ranks,
               &Segment::started, &Segment::completed, &Segment::announced, &Segment::ended,
               &Segment::end);
}

/// What all messages about a communicator say in the same words.
template <typename T>
CommSegment facts_of(const T& said) {
  CommSegment facts;
  facts.comm = said.comm.value;
  facts.rank = said.rank;
  facts.nranks = said.nranks;
  if constexpr (requires { said.cuda_dev; }) facts.cuda_dev = said.cuda_dev;
  if constexpr (requires { said.bus_id; }) facts.bus_id = said.bus_id;
  if constexpr (requires { said.parent; }) {
    facts.comm_id = said.comm_id.value;
    facts.parent = said.parent.value;
    facts.color = said.color;
    facts.key = said.key;
  }
  return facts;
}

/// True if `later`, the next thing said about the same pointer, begins a new life: the earlier one
/// has ended, or was already past what `later` begins with. Nothing comes before a START; layout,
/// COMPLETE and CALL lines of the initialisation come before the first call.
bool begins_anew(const CommSegment& earlier, const CommSegment& later) {
  if (earlier.ended.is_known() || later.started.is_known()) return true;
  const bool has_calls = earlier.calls->total + earlier.traces->total > 0;
  if (has_calls && later.announced.is_known()) return true;
  const bool in_use = earlier.completed.is_known() || has_calls;
  const bool comes_up = later.completed.is_known() || later.nnodes >= 0 || later.local_ranks >= 0;
  return in_use && comes_up;
}

}  // namespace

size_t CommSegments::append(CommSegment&& segment) {
  ++lives_;
  latest_[segment.comm] = all.size();
  all.push_back(std::move(segment));
  return all.size() - 1;
}

/// Gives the place of the segment that `news` is, or becomes, a part of.
size_t CommSegments::add(CommSegment&& news) {
  const auto latest = latest_.find(news.comm);
  if (latest == latest_.end() || begins_anew(all[latest->second], news)) {
    return append(std::move(news));
  }
  ++lives_;
  CommSegment& earlier = all[latest->second];
  add_facts(earlier, news);
  if (news.calls) earlier.calls.change().merge(*news.calls);
  if (news.traces) earlier.traces.change().merge(*news.traces);
  return latest->second;
}

void CommSegments::add(SourceRef where, const CommInit& init) {
  CommSegment news = facts_of(init);
  news.child_count = init.child_count;
  (init.phase == "START" ? news.started : news.completed) = where;
  add(std::move(news));
}

void CommSegments::add(SourceRef where, const CommAnnounced& announced) {
  CommSegment news = facts_of(announced);
  news.started = where;
  add(std::move(news));
}

void CommSegments::add(SourceRef where, const CommEnd& ended) {
  if (ended.phase == "START" || ended.action == "Revoke") return;
  CommSegment news = facts_of(ended);
  news.ended = where;
  news.end = ended.action == "Abort" ? CommFate::Aborted : CommFate::Destroyed;
  add(std::move(news));
}

void CommSegments::add(SourceRef where, const CallInit& call) {
  if (call.function != "ncclCommInitRank" && call.function != "ncclCommSplit") return;
  CommSegment news = facts_of(call);
  news.announced = where;
  add(std::move(news));
}

void CommSegments::add(const CommLayout& layout) {
  CommSegment news = facts_of(layout);
  news.nnodes = layout.nnodes;
  news.local_ranks = layout.local_ranks;
  add(std::move(news));
}

int CommSegments::living_segment(uint64_t comm) const {
  const auto found = latest_.find(comm);
  const bool lives = found != latest_.end() && !all[found->second].ended.is_known();
  return lives ? static_cast<int>(found->second) : -1;
}

int CommSegments::add_call(SourceRef where, std::string_view stamp, const PrintedCall& call) {
  int place = living_segment(call.comm);
  if (place < 0) {
    // None is there, or the last one has ended.
    CommSegment unknown;
    unknown.comm = call.comm;
    place = static_cast<int>(append(std::move(unknown)));
  }
  CommSegment& segment = all[place];
  if (segment.nranks < 0) segment.nranks = call.nranks;
  CollectiveCalls& calls = (call.is_trace ? segment.traces : segment.calls).change();
  if (calls.total == 0) calls.first_op_count = call.op_count;
  calls.add(where, stamp, call.call);
  return place;
}

std::vector<int> CommSegments::merge(CommSegments&& later) {
  if (latest_.empty()) {
    for (size_t i = 0; i < all.size(); ++i) latest_[all[i].comm] = i;
  }
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

ConnectionUse& ConnectionUse::operator+=(const ConnectionUse& later) {
  if (channels == 0) return *this = later;
  channels |= later.channels;
  first = std::min(first, later.first);
  return *this;
}

// A line is looked up as it is: most of them name another channel of a connection that is known,
// and its path need not be copied.

static auto parts_of(const auto& connection) {
  return std::tuple(connection.src_rank, connection.dst_rank, std::string_view(connection.path));
}

static bool operator<(const ConnectionKey& key, const ChannelConnected& connected) {
  return parts_of(key) < parts_of(connected);
}

static bool operator<(const ChannelConnected& connected, const ConnectionKey& key) {
  return parts_of(connected) < parts_of(key);
}

void add_channel(Connections& connections, SourceRef where, const ChannelConnected& connected) {
  const ConnectionUse use{uint64_t{1} << std::clamp(connected.channel, 0, 63), where};
  const auto known = connections.all.find(connected);
  if (known != connections.all.end()) {
    known->second += use;
  } else {
    connections.add(
        ConnectionKey{connected.src_rank, connected.dst_rank, std::string(connected.path)}, use);
  }
}

int channel_count(const ConnectionUse& use) { return std::popcount(use.channels); }

TuningUse& TuningUse::operator+=(const TuningUse& later) {
  min_bytes = count == 0 ? later.min_bytes : std::min(min_bytes, later.min_bytes);
  max_bytes = std::max(max_bytes, later.max_bytes);
  count += later.count;
  return *this;
}

void add_tuning(TuningUses& uses, const TuningChoice& choice) {
  uses.add(TuningKey{std::string(choice.op), std::string(choice.algorithm),
                     std::string(choice.protocol)},
           TuningUse{1, choice.bytes, choice.bytes});
}

void SpeakerLog::merge(SharedTrie& trie, SpeakerLog&& later, const RecordLimit& limit) {
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
  records.merge(trie, std::move(later.records), limit);
  line_matches.merge(trie, std::move(later.line_matches), limit.of_patterns());
  unrecognised.merge(trie, std::move(later.unrecognised), limit.of_patterns());
  const std::vector<int> segments = comms.merge(std::move(later.comms));
  if (later.calls) calls.change().merge(*later.calls, segments);
  if (later.traces) traces.change().merge(*later.traces, segments);
  connections.merge(later.connections);
  inits.merge(std::move(later.inits));
  if (later.allocations) allocations.change().merge(*later.allocations);
  if (later.tuning) tuning.change().merge(*later.tuning);
  if (later.benchmarks) benchmarks.change().merge(std::move(later.benchmarks.change()));
  if (later.proxy_dumps) proxy_dumps.change().merge(std::move(later.proxy_dumps.change()));
  if (later.last_failure) last_failure = std::move(later.last_failure);
  if (later.stack_lines) {
    for (OwnedRecord& line : later.stack_lines.change()) add_stack_line(std::move(line), limit);
  }
}

void SpeakerLog::add_stack_line(OwnedRecord&& line, const RecordLimit& limit) {
  auto& kept = stack_lines.change();
  kept.push_back(std::move(line));
  while (kept.size() > kStackLines * limit.most) kept.pop_front();
}

void SpeakerLog::cut_to(SharedTrie& trie, const RecordLimit& limit) {
  records.cut_to(trie, limit);
  line_matches.cut_to(trie, limit.of_patterns());
  unrecognised.cut_to(trie, limit.of_patterns());
  while (stack_lines && stack_lines->size() > kStackLines * limit.most) {
    stack_lines.change().pop_front();
  }
}

}  // namespace ncclog
