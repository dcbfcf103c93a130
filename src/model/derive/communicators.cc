// Which communicators were there, how far did each of their ranks come, and what are their graphs?
//
//   rank 0: comm 0xa … commId 0xc0     rank 1: comm 0xb … commId 0xc0     → one of two ranks
//
// First the segments of processes are joined to groups, then each group becomes a communicator,
// then its ranks get their initialisation sections.

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/sorting.h"
#include "log/line/header.h"
#include "log/messages.h"
#include "model/derive/steps.h"
#include "model/job.h"

namespace ncclog {
namespace {

// Which processes' segments are parts of one communicator?
//
// Across ranks a communicator is its commId. Children made by split print none since 2.23.4: they
// are (parent, child count, color). Releases before 2.16 print none at all: those are joined by
// size and by order within the process, called inferred, and kept apart where a rank would stand
// twice. Torn lines name any pointer, parent and size, so no step looks at all segments for each
// segment.

/// What the parts of one communicator have in common. Fields that do not tell keep their defaults.
struct CommKey {
  uint64_t comm_id = 0;
  bool is_child = false;
  int parent = -1;  ///< Group of the parent.
  int child_count = -1;
  int color = -1;
  int nranks = -1;
  /// Without commId and parent: place among its like in the process. Of a child without a number,
  /// where colors are used again: how many splits of its parent the process has seen before.
  int ordinal = -1;

  auto operator<=>(const CommKey&) const = default;
};

/// The groups of one key: several where no commId tells communicators of equal look apart.
struct Lookalikes {
  std::vector<int> groups;
  size_t full = 0;                ///< The groups before this one have no room.
  std::map<int, size_t> by_rank;  ///< The groups before this one have that rank, or no room.
};

CommKey key_of(const CommSegment& segment, int parent) {
  CommKey key;
  key.comm_id = segment.comm_id;
  if (key.comm_id != 0) return key;
  key.nranks = segment.nranks;
  key.is_child = segment.parent != 0;
  if (!key.is_child) return key;
  key.parent = parent;
  key.child_count = segment.child_count;
  key.color = segment.color;
  return key;
}

bool is_unnumbered(const CommKey& key) {
  return key.comm_id == 0 && key.is_child && key.child_count < 0;
}

/// Joins segments to groups. Invariant: a segment is added after those before it in its process, so
/// the group of its parent is known.
class Grouping {
 public:
  /// `counts_splits`: children that print no number are told apart by their place among the splits
  /// of their parent.
  explicit Grouping(bool counts_splits) : counts_splits_(counts_splits) {}

  void add_process(int process, int log, const std::vector<CommSegment>& segments) {
    std::unordered_map<uint64_t, int> group_of_pointer;
    std::map<std::pair<int, int>, int> alike;
    std::unordered_map<uint64_t, int> splits_of;
    for (size_t s = 0; s < segments.size(); ++s) {
      const CommSegment& segment = segments[s];
      const auto known = group_of_pointer.find(segment.parent);
      const int parent = known == group_of_pointer.end() ? -1 : known->second;
      CommKey key = key_of(segment, parent);
      if (key.comm_id == 0 && !key.is_child) key.ordinal = alike[{segment.nranks, segment.rank}]++;
      if (counts_splits_ && is_unnumbered(key)) key.ordinal = splits_of[segment.parent]++;
      const int index = group_for(key, segment.rank);
      Communicator& group = groups_[index];
      CommRank& member = group.ranks.emplace_back();
      member.process = process;
      member.log = log;
      member.segment = static_cast<int>(s);
      group.is_child |= segment.parent != 0;
      // Whatever a torn line says, nothing is its own parent.
      if (group.parent < 0 && parent != index) group.parent = parent;
      group_of_pointer[segment.comm] = index;
    }
  }

  /// True if children of one parent, color and size are several communicators: 2.23.4 prints
  /// nothing else, and programs use color 0 for the first group of each split.
  bool reuses_colors() const {
    return std::ranges::any_of(lookalikes_, [](const auto& entry) {
      return is_unnumbered(entry.first) && entry.second.groups.size() > 1;
    });
  }

  /// The groups by key.
  std::vector<Communicator> take() {
    std::vector<int> place(groups_.size());
    std::vector<Communicator> sorted;
    for (const auto& [key, alike] : lookalikes_) {
      for (const int index : alike.groups) {
        place[index] = static_cast<int>(sorted.size());
        sorted.push_back(std::move(groups_[index]));
      }
    }
    for (Communicator& group : sorted) {
      if (group.parent >= 0) group.parent = place[group.parent];
    }
    return sorted;
  }

 private:
  bool is_full(int index) const {
    const Communicator& group = groups_[index];
    return group.nranks > 0 && group.ranks.size() >= static_cast<size_t>(group.nranks);
  }

  /// Place among `alike` of the first group that has room for `rank` (-1: any rank).
  size_t place_for(Lookalikes& alike, int rank) const {
    const auto& groups = alike.groups;
    while (alike.full < groups.size() && is_full(groups[alike.full])) ++alike.full;
    size_t place = alike.full;
    if (rank >= 0) place = std::max(place, alike.by_rank[rank]);
    while (place < groups.size() && is_full(groups[place])) ++place;
    if (rank >= 0) alike.by_rank[rank] = place + 1;
    return place;
  }

  int group_for(const CommKey& key, int rank) {
    Lookalikes& alike = lookalikes_[key];
    const size_t place = key.comm_id != 0 ? 0 : place_for(alike, rank);
    if (place == alike.groups.size()) {
      alike.groups.push_back(static_cast<int>(groups_.size()));
      Communicator& group = groups_.emplace_back();
      group.inferred = key.comm_id == 0;
      if (!group.inferred) group.id = fmt::format("{:#x}", key.comm_id);
      group.nranks = key.nranks;
    }
    return alike.groups[place];
  }

  bool counts_splits_;
  std::map<CommKey, Lookalikes> lookalikes_;
  /// In the order in which they were found: parents are places in it, ranks are in the order of
  /// the job's processes, and only inferred ones have a size yet.
  std::vector<Communicator> groups_;
};

/// The communicators of the job's processes, by commId; inferred ones first. Needs Job::processes
/// and Job::logs.
std::vector<Communicator> group_segments(const Job& job) {
  const auto grouped = [&job](bool counts_splits) {
    Grouping grouping(counts_splits);
    for (size_t p = 0; p < job.processes.size(); ++p) {
      for (const size_t log : job.processes[p].logs) {
        grouping.add_process(static_cast<int>(p), static_cast<int>(log), job.logs[log].comms.all);
      }
    }
    return grouping;
  };
  Grouping grouping = grouped(false);
  // A process that sits out a split prints no pointer, so its splits cannot be counted.
  const bool counts_splits =
      grouping.reuses_colors() && std::ranges::none_of(job.logs, [](const SpeakerLog& log) {
        return log.records.contains(kKindIndex<SplitNocolor>);
      });
  return counts_splits ? grouped(true).take() : grouping.take();
}

// Which communicators there were, and how far each of their ranks came.

/// Ranks not seen that are listed, over all communicators: a torn line may print any nranks.
constexpr int kMaxUnseenRanks = 1 << 18;

RankState state_of(const Job& job, const Process& process, const CommSegment& segment) {
  if (segment.end == CommFate::Aborted) return RankState::Aborted;
  if (segment.end == CommFate::Destroyed) return RankState::Destroyed;
  if (segment.completed.line != 0) return RankState::Complete;
  // Calls alone do not say how its initialisation went.
  if (segment.started.line == 0) return RankState::Unknown;
  RankState state = RankState::Started;
  for_each_record(job, process, kKindIndex<ErrorTrace>, [&](const Record& record) {
    // An error on its way up after this initialisation began.
    if (segment.started < record.where) state = RankState::Failed;
  });
  return state;
}

/// Lists the ranks that no line shows, if every line that was seen names its rank and there is
/// `room` for them.
void add_unseen_ranks(Communicator& comm, int& room) {
  if (comm.nranks <= 0 || comm.nranks > room) return;
  std::set<int> seen;
  for (const CommRank& rank : comm.ranks) seen.insert(rank.rank);
  // One without a rank may be any of those that seem to be missing.
  if (seen.contains(-1)) return;
  for (int r = 0; r < comm.nranks; ++r) {
    if (seen.contains(r)) continue;
    CommRank unseen;
    unseen.rank = r;
    unseen.state = RankState::NotSeen;
    comm.ranks.push_back(unseen);
    --room;
  }
}

/// Fills in what the segments of its ranks say.
void describe(const Job& job, Communicator& comm) {
  std::set<std::string> hosts;
  for (CommRank& rank : comm.ranks) {
    const CommSegment& segment = segment_of(job, rank);
    const Process& process = nth_process(job, rank.process);
    rank.rank = segment.rank;
    rank.cuda_dev = segment.cuda_dev;
    rank.bus_id = segment.bus_id;
    rank.key = segment.key;
    rank.state = state_of(job, process, segment);
    rank.calls = calls_of(segment).total;
    // Any member that tells will do: releases and cut files leave numbers out.
    comm.nranks = std::max(comm.nranks, segment.nranks);
    comm.nnodes = std::max(comm.nnodes, segment.nnodes);
    comm.child_count = std::max(comm.child_count, segment.child_count);
    comm.color = std::max(comm.color, segment.color);
    if (rank.calls > 0) comm.calls = std::max(comm.calls.value_or(0), rank.calls);
    hosts.insert(process.host);
  }
  comm.ranks.shrink_to_fit();
  hosts.erase("");
  comm.hosts.assign(hosts.begin(), hosts.end());
}

/// The lines of some calls name no GPU: it is the one that all other lines of the process name.
void add_known_gpus(std::vector<Communicator>& comms) {
  constexpr int kSeveral = -2;
  std::map<int, int> gpus;  // By process.
  for (const Communicator& comm : comms) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0 || rank.cuda_dev < 0) continue;
      const auto [known, is_new] = gpus.try_emplace(rank.process, rank.cuda_dev);
      if (!is_new && known->second != rank.cuda_dev) known->second = kSeveral;
    }
  }
  for (Communicator& comm : comms) {
    for (CommRank& rank : comm.ranks) {
      const auto known = gpus.find(rank.process);
      if (rank.cuda_dev < 0 && known != gpus.end() && known->second != kSeveral) {
        rank.cuda_dev = known->second;
      }
    }
  }
}

}  // namespace

void build_communicators(Job& job) {
  std::vector<Communicator> groups = group_segments(job);
  std::vector<std::pair<Communicator, size_t>> found;
  for (size_t g = 0; g < groups.size(); ++g) {
    describe(job, groups[g]);
    found.emplace_back(std::move(groups[g]), g);
  }
  // Largest first: the front one is the world. Of equal size, those with an id come first.
  std::ranges::stable_sort(found, {}, [](const auto& entry) {
    return std::tuple(-entry.first.nranks, entry.first.inferred);
  });
  std::vector<int> place_of_group(groups.size());
  for (size_t c = 0; c < found.size(); ++c) place_of_group[found[c].second] = static_cast<int>(c);
  int inferred = 0;
  int room = kMaxUnseenRanks;
  for (auto& [comm, g] : found) {
    if (comm.inferred) comm.id = fmt::format("inferred-{}", ++inferred);
    if (comm.parent >= 0) comm.parent = place_of_group[comm.parent];
    add_unseen_ranks(comm, room);
    sort_unless_sorted(comm.ranks, {},
                       [](const CommRank& rank) { return std::tuple(rank.rank < 0, rank.rank); });
    job.communicators.push_back(std::move(comm));
  }
  add_known_gpus(job.communicators);
}

// Which section of its process's lines belongs to which rank of a communicator?

namespace {

/// Sections of one log that name a pointer, in order.
struct Sections {
  std::vector<int> all;
  /// Where they begin and end, of a pointer that comes back so often that nobody looks at all.
  std::map<SourceRef, int> by_line = {};

  static constexpr size_t kFew = 8;
};

/// By log and pointer.
using NamedSections = std::map<std::pair<int, uint64_t>, Sections>;

NamedSections sections_by_pointer(const Job& job) {
  NamedSections sections;
  for (size_t log = 0; log < job.logs.size(); ++log) {
    const auto& all = job.logs[log].inits.all();
    for (size_t s = 0; s < all.size(); ++s) {
      if (all[s].comm == 0) continue;
      Sections& named = sections[{static_cast<int>(log), all[s].comm}];
      named.all.push_back(static_cast<int>(s));
      if (named.all.size() <= Sections::kFew) continue;
      const bool is_first = named.by_line.empty();
      for (const int each :
           is_first ? std::span<const int>(named.all) : std::span(&named.all.back(), 1)) {
        named.by_line.try_emplace(all[each].started, each);
        named.by_line.try_emplace(all[each].completed, each);
      }
    }
  }
  return sections;
}

/// Place of the section that begins or ends with the lines of the rank's segment; -1 if there is
/// none.
int section_of(const Job& job, const CommRank& rank, const NamedSections& sections) {
  const CommSegment& segment = segment_of(job, rank);
  const auto named = sections.find({rank.log, segment.comm});
  if (named == sections.end()) return -1;
  if (!named->second.by_line.empty()) {
    int first = INT32_MAX;
    for (const SourceRef where : {segment.started, segment.completed}) {
      const auto known = named->second.by_line.find(where);
      if (where.line != 0 && known != named->second.by_line.end())
        first = std::min(first, known->second);
    }
    return first == INT32_MAX ? -1 : first;
  }
  for (const int s : named->second.all) {
    const auto& all = job.logs[rank.log].inits.all();
    const InitSection& section = all[s];
    const bool same_start = segment.started.line != 0 && section.started == segment.started;
    const bool same_end = segment.completed.line != 0 && section.completed == segment.completed;
    if (same_start || same_end) return s;
  }
  return -1;
}

/// The last line of a file that is still written, or was cut, may lack its end: "-> 1" of "-> 12".
bool ends_in_graph_line(const SpeakerLog& log) {
  constexpr std::string_view kBegins[] = {"Ring ", "Trees ", "Channel "};
  const auto holds = [&](std::string_view word) { return log.last_text.find(word) != word.npos; };
  if (std::ranges::none_of(kBegins, holds)) return false;
  const std::string_view message = parse_header(log.last_text).message;
  return std::ranges::any_of(kBegins,
                             [&](std::string_view word) { return message.starts_with(word); });
}

CommGraphs graphs_of(const Job& job, const Communicator& comm) {
  std::vector<RankSays> sayings;
  bool torn = false;
  for (const CommRank& rank : comm.ranks) {
    const InitSection* section = init_section(job, rank);
    if (section == nullptr) continue;
    sayings.push_back({rank.rank, section});
    const SpeakerLog& log = job.logs[rank.log];
    torn |= log.torn || ends_in_graph_line(log);
  }
  return build_comm_graphs(comm.nranks, sayings, torn);
}

}  // namespace

void build_graphs(Job& job) {
  const NamedSections sections = sections_by_pointer(job);
  for (Communicator& comm : job.communicators) {
    for (CommRank& rank : comm.ranks) {
      if (rank.log >= 0) rank.section = section_of(job, rank, sections);
      const InitSection* section = init_section(job, rank);
      if (section == nullptr) continue;
      rank.nvml_dev = section->nvml_dev;
      comm.mnnvl = std::max(comm.mnnvl, section->mnnvl);
    }
    comm.graphs = graphs_of(job, comm);
  }
}

}  // namespace ncclog
