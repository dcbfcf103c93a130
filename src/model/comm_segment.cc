#include "model/comm_segment.h"

#include <utility>

namespace ncclog {
namespace {

bool has(SourceRef where) { return where.line != 0; }

template <typename T>
void keep_known(T& known, const T& news, const T& unknown) {
  if (known == unknown) known = news;
}

/// Fills what `segment` does not know from what a later line of the same life says.
void add_facts(CommSegment& segment, const CommSegment& news) {
  keep_known(segment.rank, news.rank, -1);
  keep_known(segment.nranks, news.nranks, -1);
  keep_known(segment.cuda_dev, news.cuda_dev, -1);
  keep_known(segment.bus_id, news.bus_id, std::string());
  keep_known(segment.comm_id, news.comm_id, uint64_t{0});
  keep_known(segment.parent, news.parent, uint64_t{0});
  keep_known(segment.child_count, news.child_count, -1);
  keep_known(segment.color, news.color, -1);
  keep_known(segment.nnodes, news.nnodes, -1);
  keep_known(segment.local_ranks, news.local_ranks, -1);
  keep_known(segment.started, news.started, SourceRef{});
  keep_known(segment.completed, news.completed, SourceRef{});
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
  (init.phase == "START" ? segment.started : segment.completed) = where;
  return segment;
}

/// True if `later`, the next thing said about the same pointer, begins a new life.
bool begins_anew(const CommSegment& earlier, const CommSegment& later) {
  if (has(earlier.ended)) return true;
  const bool in_use = has(earlier.completed) || earlier.calls.total > 0;
  if (has(later.started)) return has(earlier.started) || in_use;
  return has(later.completed) && has(earlier.completed);
}

}  // namespace

CommSegment* CommSegments::open(uint64_t comm) {
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (it->comm == comm) return &*it;
  }
  return nullptr;
}

CommSegment& CommSegments::open_or_new(uint64_t comm) {
  if (CommSegment* segment = open(comm); segment != nullptr && !has(segment->ended))
    return *segment;
  CommSegment& segment = all.emplace_back();
  segment.comm = comm;
  return segment;
}

void CommSegments::add(SourceRef where, const CommInit& init) {
  const CommSegment news = facts_of(where, init);
  CommSegment* segment = open(news.comm);
  if (segment == nullptr || begins_anew(*segment, news)) {
    all.push_back(news);
  } else {
    add_facts(*segment, news);
  }
}

void CommSegments::add(SourceRef where, const CommRankStarted& announced) {
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
  CommSegment& segment = open_or_new(ended.comm.value);
  CommSegment news;
  news.rank = ended.rank;
  news.nranks = ended.nranks;
  news.cuda_dev = ended.cuda_dev;
  news.bus_id = ended.bus_id;
  news.ended = where;
  news.end = ended.action == "Abort" ? CommFate::Aborted : CommFate::Destroyed;
  add_facts(segment, news);
}

void CommSegments::add(const CommLayout& layout) {
  CommSegment news;
  news.rank = layout.rank;
  news.nranks = layout.nranks;
  news.nnodes = layout.nnodes;
  news.local_ranks = layout.local_ranks;
  add_facts(open_or_new(layout.comm.value), news);
}

void CommSegments::add_call(SourceRef where, uint64_t comm, int nranks, const CallSignature& call) {
  CommSegment& segment = open_or_new(comm);
  keep_known(segment.nranks, nranks, -1);
  segment.calls.add(where, call);
}

void CommSegments::merge(CommSegments&& later) {
  const size_t before = all.size();
  for (CommSegment& news : later.all) {
    CommSegment* earlier = nullptr;
    for (size_t i = 0; i < before; ++i) {
      if (all[i].comm == news.comm) earlier = &all[i];
    }
    const bool first_of_later = &news == [&] {
      for (CommSegment& candidate : later.all) {
        if (candidate.comm == news.comm) return &candidate;
      }
      return &news;
    }();
    if (earlier == nullptr || !first_of_later || begins_anew(*earlier, news)) {
      all.push_back(std::move(news));
    } else {
      add_facts(*earlier, news);
      earlier->calls.merge(news.calls);
    }
  }
}

}  // namespace ncclog
