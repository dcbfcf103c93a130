#include "model/init_section.h"

#include <optional>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "log/messages/all_messages.h"
#include "log/read_message.h"

namespace ncclog {
namespace {

/// NCCL writes the Trees line into 1024 bytes and cuts whole lines there too; near that length the
/// last tree may be incomplete.
constexpr size_t kNearlyFullLine = 1000;

bool has(SourceRef where) { return where.line != 0; }

template <typename T>
void keep_known(T& known, T&& news, const T& unknown) {
  if (known == unknown) known = std::forward<T>(news);
}

/// NCCL's own buffers are shorter; only hostile lines are cut here.
constexpr size_t kLongestText = 4096;

std::string kept(std::string_view text) { return std::string(text.substr(0, kLongestText)); }

int indent_of(std::string_view text, std::string_view message) {
  const char* at = message.data();
  int blanks = 0;
  while (at > text.data() && is_blank(at[-1])) {
    --at;
    ++blanks;
  }
  return blanks > 0 ? blanks - 1 : 0;  // One blank ends the header.
}

bool is_nearly_full(const Header& header) {
  const char* begin = header.host.empty() ? header.message.data() : header.host.data();
  const char* end = header.message.data() + header.message.size();
  return end - begin >= static_cast<std::ptrdiff_t>(kNearlyFullLine);
}

template <typename T>
bool is_a(const Event& event) {
  return event.message.kind->index == kKindIndex<T>;
}

template <typename T>
T as(const Event& event) {
  return read_message<T>(event.message);
}

void set_pointer(InitSection& section, Hex comm, int rank) {
  section.comm = comm.value;
  section.rank = rank;
}

bool read_milestone(SourceRef where, const Event& event, InitSection& section) {
  if (is_a<CommInit>(event)) {
    const auto init = as<CommInit>(event);
    set_pointer(section, init.comm, init.rank);
    section.nvml_dev = init.nvml_dev;
    const bool start = init.phase == "START";
    (start ? section.started : section.completed) = where;
    section.closed = !start;
  } else if (is_a<CommRankStarted>(event)) {
    const auto started = as<CommRankStarted>(event);
    set_pointer(section, started.comm, started.rank);
    section.started = where;
  } else if (is_a<CommLayout>(event)) {
    const auto layout = as<CommLayout>(event);
    set_pointer(section, layout.comm, layout.rank);
    section.mnnvl = layout.mnnvl;
  } else if (is_a<InitTimings>(event)) {
    const auto timings = as<InitTimings>(event);
    section.timings_total = kept(timings.total);
    section.timings = kept(timings.timings);
    section.timings_at = where;
    section.closed = true;
  } else {
    return false;
  }
  return true;
}

bool read_graph(const Event& event, InitSection& section) {
  if (is_a<GraphPattern>(event)) {
    const auto pattern = as<GraphPattern>(event);
    SearchedGraph graph;
    graph.pattern = pattern.pattern;
    graph.channels = pattern.channels;
    graph.bw = kept(pattern.bw);
    graph.type = kept(pattern.type);
    section.graphs.push_back(std::move(graph));
  } else if (is_a<GraphChannel>(event)) {
    // The field lacks the kind of the first member.
    const std::string_view text = event.header.message;
    const size_t colon = text.find(" : ");
    if (colon == text.npos) return false;
    SearchedGraph graph;
    graph.members.add(kept(trim(text.substr(colon + 3))),
                      channel_bit(as<GraphChannel>(event).channel));
    section.graphs.push_back(std::move(graph));
  } else {
    return false;
  }
  return true;
}

bool read_rings(const Event& event, InitSection& section) {
  if (is_a<RingMembers>(event)) {
    const auto ring = as<RingMembers>(event);
    section.ring_members.add(kept(trim(ring.ranks)), channel_bit(ring.channel));
  } else if (is_a<RingNeighbours>(event)) {
    const auto ring = as<RingNeighbours>(event);
    section.ring_places.add({ring.rank, ring.prev, ring.next}, channel_bit(ring.channel));
  } else if (is_a<Trees>(event)) {
    const std::string_view trees = as<Trees>(event).text;
    section.trees = kept(trees);
    section.trees_cut = is_nearly_full(event.header) || trees.size() > kLongestText;
  } else if (is_a<ChannelCounts>(event)) {
    const auto counts = as<ChannelCounts>(event);
    section.channels = {counts.coll, counts.nvls, counts.p2p, counts.p2p_per_peer};
  } else {
    return false;
  }
  return true;
}

bool read_tables(std::string_view text, const Event& event, InitSection& section) {
  const bool system =
      is_a<SystemHeader>(event) || is_a<TopologyNode>(event) || is_a<TopologyPaths>(event);
  if (!system && !is_a<TuningTable>(event)) return false;
  const std::string_view message = trim(event.header.message);
  IndentedLine line{indent_of(text, message), std::string(message)};
  (system ? section.system : section.tuning).add(std::move(line));
  return true;
}

template <typename... T>
bool is_any_of(const Event& event) {
  return (is_a<T>(event) || ...);
}

/// What the line says; nullopt if it says nothing about an initialisation.
std::optional<InitSection> read_line(SourceRef where, std::string_view text, const Event& event) {
  const bool concerned = is_any_of<CommInit, CommRankStarted, CommLayout, InitTimings, GraphPattern,
                                   GraphChannel, RingMembers, RingNeighbours, Trees, ChannelCounts,
                                   SystemHeader, TopologyNode, TopologyPaths, TuningTable>(event);
  if (!concerned) return std::nullopt;
  InitSection section;
  section.tid = event.header.tid;
  section.first = where;
  // What is left of a torn record may hold another one's numbers.
  const bool says =
      read_milestone(where, event, section) ||
      (!event.header.torn && (read_graph(event, section) || read_rings(event, section) ||
                              read_tables(text, event, section)));
  if (!says) return std::nullopt;
  return section;
}

void join_graphs(InitSection& section, std::vector<SearchedGraph>&& later) {
  for (SearchedGraph& news : later) {
    if (section.graphs_cut) return;
    const bool continues = news.pattern < 0 && !section.graphs.empty();
    if (continues) {
      section.graphs.back().members.merge(news.members);
    } else if (section.graphs.size() < InitSection::kMaxGraphs) {
      section.graphs.push_back(std::move(news));
    } else {
      section.graphs_cut = true;
    }
  }
}

/// Adds what a later line of the same section says.
void join(InitSection& section, InitSection&& news) {
  keep_known(section.comm, std::move(news.comm), uint64_t{0});
  keep_known(section.rank, std::move(news.rank), -1);
  keep_known(section.nvml_dev, std::move(news.nvml_dev), -1);
  keep_known(section.mnnvl, std::move(news.mnnvl), -1);
  keep_known(section.started, std::move(news.started), SourceRef{});
  keep_known(section.completed, std::move(news.completed), SourceRef{});
  section.closed |= news.closed;
  section.system.merge(std::move(news.system));
  section.tuning.merge(std::move(news.tuning));
  join_graphs(section, std::move(news.graphs));
  section.graphs_cut |= news.graphs_cut;
  section.ring_members.merge(news.ring_members);
  section.ring_places.merge(news.ring_places);
  if (section.trees.empty()) {
    section.trees = std::move(news.trees);
    section.trees_cut = news.trees_cut;
  }
  keep_known(section.channels, std::move(news.channels), ChannelNumbers{});
  if (section.timings_total.empty()) {
    section.timings_total = std::move(news.timings_total);
    section.timings = std::move(news.timings);
    section.timings_at = news.timings_at;
  }
}

/// True if `later`, the next thing its thread says, is about another initialisation.
bool begins_anew(const InitSection& earlier, const InitSection& later) {
  if (has(later.started)) return true;
  const bool timings_only = later.first == later.timings_at;
  return timings_only ? !earlier.timings_total.empty() : earlier.closed;
}

}  // namespace

void BoundedLines::add(IndentedLine&& line) {
  const size_t size = sizeof(IndentedLine) + line.text.size();
  cut |= bytes + size > kMaxBytes;
  if (cut) return;
  bytes += size;
  lines.push_back(std::move(line));
}

void BoundedLines::merge(BoundedLines&& later) {
  for (IndentedLine& line : later.lines) add(std::move(line));
  cut |= later.cut;
}

void BoundedLines::drop() {
  cut = any();
  lines.clear();
  bytes = 0;
}

void InitSections::add(SourceRef where, std::string_view text, const Event& event) {
  auto news = read_line(where, text, event);
  if (news) add(std::move(*news));
}

void InitSections::add(InitSection&& news) {
  const auto latest = latest_.find(news.tid);
  if (latest == latest_.end()) return append(std::move(news));
  if (latest->second == kLimit) return;
  InitSection& earlier = all_[latest->second];
  if (begins_anew(earlier, news)) return append(std::move(news));
  const bool system = news.system.any() && !earlier.system.any();
  const bool tuning = news.tuning.any() && !earlier.tuning.any();
  join(earlier, std::move(news));
  if (system) limit(&InitSection::system);
  if (tuning) limit(&InitSection::tuning);
}

void InitSections::append(InitSection&& section) {
  if (all_.size() == kLimit) {
    // New threads need no entry: nothing of theirs will ever be kept.
    const auto latest = latest_.find(section.tid);
    if (latest != latest_.end()) latest->second = kLimit;
    return;
  }
  latest_[section.tid] = all_.size();
  const InitSection& added = all_.emplace_back(std::move(section));
  if (added.system.any()) limit(&InitSection::system);
  if (added.tuning.any()) limit(&InitSection::tuning);
}

void InitSections::limit(BoundedLines InitSection::*table) {
  size_t kept = 0;
  for (InitSection& section : all_) {
    if ((section.*table).any() && ++kept > kMaxTables) (section.*table).drop();
  }
}

void InitSections::merge(InitSections&& later) {
  std::unordered_set<int64_t> seen;
  for (InitSection& news : later.all_) {
    // Only a thread's first section can go on with one of the earlier stretch.
    if (seen.insert(news.tid).second) {
      add(std::move(news));
    } else {
      append(std::move(news));
    }
  }
  for (const auto& [tid, latest] : later.latest_) {
    const auto known = latest_.find(tid);
    if (latest == kLimit && known != latest_.end()) known->second = kLimit;
  }
}

}  // namespace ncclog
