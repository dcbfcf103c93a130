#include "model/init_section.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/text.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "model/records.h"

namespace ncclog {
std::vector<IndentedLine> BoundedLines::lines() const {
  std::vector<IndentedLine> lines;
  std::string_view rest = bytes();
  for (size_t end = 0; !rest.empty(); rest.remove_prefix(end + 1)) {
    end = rest.find('\n');
    const size_t indent = std::min(rest.find_first_not_of(' '), end);
    lines.push_back({static_cast<int>(indent), rest.substr(indent, end - indent)});
  }
  return lines;
}

/// True if the next line of the bytes is that one.
bool BoundedLines::goes_on_with(size_t blanks, std::string_view text) const {
  std::string_view rest = std::string_view(*bytes_).substr(size_);
  if (rest.size() < blanks + text.size() + 1 || rest.find_first_not_of(' ') != blanks) return false;
  rest.remove_prefix(blanks);
  return rest.starts_with(text) && rest[text.size()] == '\n';
}

/// Leaves the bytes to the tables that share them.
void BoundedLines::own() {
  constexpr size_t kUsual = 1024;
  const std::string_view lines = bytes();
  auto own = std::make_shared<std::string>();
  own->reserve(std::max(kUsual, 2 * lines.size()));
  own->append(lines);
  bytes_ = std::move(own);
}

void BoundedLines::add(int indent, std::string_view text, const BoundedLines* like) {
  const auto blanks = static_cast<size_t>(indent);
  cut_ |= size_ + blanks + text.size() + 1 > kMaxBytes;
  if (cut_) return;
  if (bytes_ == nullptr && like != nullptr) bytes_ = like->bytes_;
  const bool is_same = bytes_ != nullptr && goes_on_with(blanks, text);
  if (!is_same) {
    if (bytes_ == nullptr || size_ < bytes_->size() || bytes_.use_count() > 1) own();
    bytes_->append(blanks, ' ').append(text).push_back('\n');
  }
  size_ += blanks + text.size() + 1;
}

void BoundedLines::merge(BoundedLines&& later) {
  if (!any()) {
    *this = std::move(later);
    return;
  }
  for (const IndentedLine& line : later.lines()) add(line.indent, line.text);
  cut_ |= later.cut_;
}

void BoundedLines::drop() {
  cut_ = any();
  bytes_ = nullptr;
  size_ = 0;
}

bool BoundedLines::share(const BoundedLines& other) {
  if (!has_lines() || bytes() != other.bytes()) return false;
  bytes_ = other.bytes_;
  return true;
}

void BoundedLines::fit() {
  if (!has_lines()) return;
  if (size_ < bytes_->size()) own();
  if (bytes_.use_count() == 1) bytes_->shrink_to_fit();
}

bool BoundedLines::operator==(const BoundedLines& other) const {
  const bool is_same = bytes_ == other.bytes_ && size_ == other.size_;
  return cut_ == other.cut_ && (is_same || bytes() == other.bytes());
}

void SharedTables::share(BoundedLines& table) {
  constexpr size_t kTables = 256;
  if (!table.has_lines()) return;
  const bool is_last = table.bytes().data() == last.bytes().data();
  if (is_last && table.bytes().size() == last.bytes().size()) return;
  tables.resize(kTables);
  // Tables that begin alike and are of one size are the same but for accidents.
  const std::string_view bytes = table.bytes();
  const uint64_t hash = message_hash(bytes.substr(0, 256)) + bytes.size();
  BoundedLines& known = tables[hash % kTables];
  if (!table.share(known)) {
    table.fit();
    known = table;
  }
  last = known;
}

void SharedTables::share(SharedVector<SearchedGraph>& graphs) {
  if (graphs.empty()) return;
  if (graphs == last_graphs) {
    graphs = last_graphs;
  } else {
    last_graphs = graphs;
  }
}

namespace {

/// NCCL writes the Trees line into 1024 bytes and cuts whole lines there too; near that length the
/// last tree may be incomplete.
constexpr std::ptrdiff_t kNearlyFullLine = 1000;

/// NCCL's own buffers are shorter; only hostile lines are cut here.
constexpr size_t kLongestText = 4096;

std::string_view kept(std::string_view text) { return text.substr(0, kLongestText); }

/// Blanks before the message in `text`, but for the one that ends the header.
int indent_of(std::string_view text, std::string_view message) {
  const char* const begin = message.data();
  const char* at = begin;
  while (at > text.data() && is_blank(at[-1])) --at;
  return std::max(static_cast<int>(begin - at) - 1, 0);
}

template <typename T>
bool is_a(const Event& event) {
  return event.message.kind->index == kKindIndex<T>;
}

/// The message, or of a kind of which a log holds many some members of it.
template <typename T, auto... kMembers>
T as(const Event& event) {
  if constexpr (sizeof...(kMembers) == 0) return read_message<T>(event.message);
  return read_members<T, kMembers...>(event.message);
}

void set_pointer(InitSection& section, Hex comm, int rank) {
  section.comm = comm.value;
  section.rank = rank;
}

/// The section of which the line is a milestone, as far as it tells.
InitSection read_milestone(SourceRef where, const Event& event) {
  InitSection section;
  section.tid = event.header.tid;
  section.first = where;
  if (is_a<CommInit>(event)) {
    using Init = CommInit;
    const Init init = as<Init, &Init::comm, &Init::rank, &Init::nvml_dev, &Init::phase>(event);
    set_pointer(section, init.comm, init.rank);
    section.nvml_dev = init.nvml_dev;
    const bool start = init.phase == "START";
    (start ? section.started : section.completed) = where;
    section.closed = !start;
  } else if (is_a<CommAnnounced>(event)) {
    const auto started = as<CommAnnounced>(event);
    set_pointer(section, started.comm, started.rank);
    section.started = where;
  } else if (is_a<CommLayout>(event)) {
    using Layout = CommLayout;
    const Layout layout = as<Layout, &Layout::comm, &Layout::rank, &Layout::mnnvl>(event);
    set_pointer(section, layout.comm, layout.rank);
    section.mnnvl = layout.mnnvl;
  } else {
    using Timings = InitTimings;
    const Timings timings = as<Timings, &Timings::total, &Timings::timings>(event);
    section.timings_total = kept(timings.total);
    section.timings = kept(timings.timings);
    section.timings_at = where;
    section.closed = true;
  }
  return section;
}

/// The channel's members; nullopt: there is no list. The field lacks the kind of the first one.
std::optional<std::string_view> members_in(const Event& event) {
  const std::string_view text = event.header.message;
  const size_t colon = text.find(" : ");
  if (colon == text.npos) return std::nullopt;
  return kept(trim(text.substr(colon + 3)));
}

void add_graph(InitSection& section, SearchedGraph&& graph) {
  if (section.graphs_cut) return;
  if (section.graphs.size() < InitSection::kMaxGraphs) {
    section.graphs.change().push_back(std::move(graph));
  } else {
    section.graphs_cut = true;
  }
}

void add_graph_line(const Event& event, InitSection& section) {
  if (is_a<GraphPattern>(event)) {
    using Pattern = GraphPattern;
    const Pattern pattern =
        as<Pattern, &Pattern::pattern, &Pattern::channels, &Pattern::bw, &Pattern::type>(event);
    const bool says_nothing = pattern.pattern < 0 && !section.graphs.empty();
    if (says_nothing) return;
    SearchedGraph graph;
    graph.pattern = pattern.pattern;
    graph.channels = pattern.channels;
    graph.bw = kept(pattern.bw);
    graph.type = kept(pattern.type);
    add_graph(section, std::move(graph));
  } else if (!section.graphs_cut) {
    std::vector<SearchedGraph>& graphs = section.graphs.change();
    if (graphs.empty()) graphs.emplace_back();
    graphs.back().members.add(
        *members_in(event), {channel_bit(as<GraphChannel, &GraphChannel::channel>(event).channel)});
  }
}

void add_rings_line(const Event& event, InitSection& section) {
  if (is_a<RingMembers>(event)) {
    const auto ring = as<RingMembers>(event);
    section.ring_members.add(kept(trim(ring.ranks)), {channel_bit(ring.channel)});
  } else if (is_a<RingNeighbours>(event)) {
    const auto ring = as<RingNeighbours>(event);
    section.ring_places.add(RingPlace{ring.rank, ring.prev, ring.next},
                            {channel_bit(ring.channel)});
  } else if (is_a<Trees>(event)) {
    if (!section.trees.empty()) return;
    const std::string_view trees = as<Trees>(event).text;
    section.trees = kept(trees);
    const Header& header = event.header;
    const char* const begin = header.host.empty() ? header.message.data() : header.host.data();
    const char* const end = header.message.data() + header.message.size();
    section.trees_cut = end - begin >= kNearlyFullLine || trees.size() > kLongestText;
  } else {
    const auto counts = as<ChannelCounts>(event);
    const ChannelNumbers unknown;
    if (section.channels != unknown) return;
    section.channels = {counts.coll, counts.nvls, counts.p2p, counts.p2p_per_peer};
  }
}

void join_graphs(InitSection& section, std::vector<SearchedGraph>&& later) {
  for (SearchedGraph& news : later) {
    const bool continues = news.pattern < 0 && !section.graphs.empty();
    if (continues && !section.graphs_cut) {
      section.graphs.change().back().members.merge(news.members);
    } else {
      add_graph(section, std::move(news));
    }
  }
}

/// Adds what a later line of the same section says.
void join(InitSection& section, InitSection&& news) {
  using Section = InitSection;
  fill_unknown(section, news, &Section::comm, &Section::rank, &Section::nvml_dev, &Section::mnnvl,
               &Section::started, &Section::completed, &Section::channels);
  section.closed |= news.closed;
  section.system.merge(std::move(news.system));
  section.tuning.merge(std::move(news.tuning));
  join_graphs(section, std::move(news.graphs.change()));
  section.graphs_cut |= news.graphs_cut;
  section.ring_members.merge(news.ring_members);
  section.ring_places.merge(news.ring_places);
  if (section.trees.empty()) {
    section.trees = std::move(news.trees);
    section.trees_cut = news.trees_cut;
  }
  if (section.timings_total.empty()) {
    section.timings_total = std::move(news.timings_total);
    section.timings = std::move(news.timings);
    section.timings_at = news.timings_at;
  }
}

/// True if `later`, the next thing its thread says, is about another initialisation.
bool begins_anew(const InitSection& earlier, const InitSection& later) {
  if (later.started.is_known()) return true;
  const bool timings_only = later.first == later.timings_at;
  return timings_only ? !earlier.timings_total.empty() : earlier.closed;
}

}  // namespace

void InitSections::add(SourceRef where, std::string_view text, const Event& event,
                       const SharedTables& tables) {
  void (*add_line)(const Event&, InitSection&) = nullptr;
  BoundedLines InitSection::*table = nullptr;
  switch (event.message.kind->index) {
    case kKindIndex<CommInit>:
    case kKindIndex<CommAnnounced>:
    case kKindIndex<CommLayout>:
    case kKindIndex<InitTimings>:
      return add(read_milestone(where, event));
    case kKindIndex<GraphChannel>:
      if (!members_in(event)) return;
      [[fallthrough]];
    case kKindIndex<GraphPattern>:
      add_line = add_graph_line;
      break;
    case kKindIndex<RingMembers>:
    case kKindIndex<RingNeighbours>:
    case kKindIndex<Trees>:
    case kKindIndex<ChannelCounts>:
      add_line = add_rings_line;
      break;
    case kKindIndex<SystemHeader>:
    case kKindIndex<TopologyNode>:
    case kKindIndex<TopologyPaths>:
      table = &InitSection::system;
      break;
    case kKindIndex<TuningTable>:
      table = &InitSection::tuning;
      break;
    default:
      return;
  }
  InitSection* section = open(where, event.header.tid);
  if (section == nullptr) return;
  if (add_line != nullptr) return add_line(event, *section);
  const bool is_first = !(section->*table).any();
  const std::string_view message = trim(event.header.message);
  const bool is_system = table == &InitSection::system;
  (section->*table).add(indent_of(text, message), message, is_system ? &tables.last : nullptr);
  if (is_first) limit(table);
}

/// The section that the thread has open, begun at `where` if it has none; nullptr: it is not kept.
InitSection* InitSections::open(SourceRef where, int64_t tid) {
  const auto latest = latest_.find(tid);
  if (latest != latest_.end()) {
    // The thread's section was not kept, so its lines belong to none of those that were.
    if (latest->second == kLimit) return nullptr;
    InitSection& section = all_[latest->second];
    if (!section.closed) return &section;
  }
  const size_t before = all_.size();
  InitSection section;
  section.tid = tid;
  section.first = where;
  append(std::move(section));
  return all_.size() > before ? &all_.back() : nullptr;
}

void InitSections::add(InitSection&& news) {
  const auto latest = latest_.find(news.tid);
  if (latest == latest_.end()) return append(std::move(news));
  if (latest->second == kLimit) return;
  InitSection& earlier = all_[latest->second];
  if (begins_anew(earlier, news)) return append(std::move(news));
  join(earlier, std::move(news));
}

void InitSections::append(InitSection&& section) {
  if (all_.size() == kLimit) {
    // New threads need no entry: nothing of theirs will ever be kept.
    const auto latest = latest_.find(section.tid);
    if (latest != latest_.end()) latest->second = kLimit;
    return;
  }
  latest_[section.tid] = all_.size();
  all_.push_back(std::move(section));
}

void InitSections::limit(BoundedLines InitSection::*table) {
  size_t kept = 0;
  for (InitSection& section : all_) {
    if ((section.*table).any() && ++kept > kMaxTables) (section.*table).drop();
  }
}

void InitSections::share_tables(SharedTables& tables) {
  for (InitSection& section : all_) {
    tables.share(section.system);
    tables.share(section.graphs);
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
  limit(&InitSection::system);
  limit(&InitSection::tuning);
}

}  // namespace ncclog
