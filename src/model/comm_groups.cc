// Torn lines name any pointer, parent and size, so no step looks at all segments for each segment.

#include "model/comm_groups.h"

#include <algorithm>
#include <compare>
#include <map>
#include <unordered_map>
#include <utility>

#include "log/messages.h"

namespace ncclog {
namespace {

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

/// A process that sits out a split prints no pointer, so its splits cannot be counted.
bool sits_splits_out(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(), [](const SpeakerLog& log) {
    return log.records.contains(kKindIndex<SplitNocolor>);
  });
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
      if (counts_splits_ && is_unnumbered(key)) {
        key.ordinal = splits_of[segment.parent]++;
      }
      const int index = group_for(key, segment.rank);
      CommGroup& group = groups_[static_cast<size_t>(index)];
      group.members.push_back({process, log, static_cast<int>(s)});
      group.is_child |= segment.parent != 0;
      if (group.parent < 0 && parent != index) group.parent = parent;
      group_of_pointer[segment.comm] = index;
    }
  }

  /// True if children of one parent, color and size are several communicators: 2.23.4 prints
  /// nothing else, and programs use color 0 for the first group of each split.
  bool reuses_colors() const {
    return std::any_of(lookalikes_.begin(), lookalikes_.end(), [](const auto& entry) {
      return is_unnumbered(entry.first) && entry.second.groups.size() > 1;
    });
  }

  /// The groups by key.
  std::vector<CommGroup> take() {
    std::vector<int> place(groups_.size());
    std::vector<CommGroup> sorted;
    for (const auto& [key, alike] : lookalikes_) {
      for (const int index : alike.groups) {
        place[static_cast<size_t>(index)] = static_cast<int>(sorted.size());
        sorted.push_back(std::move(groups_[static_cast<size_t>(index)]));
      }
    }
    for (CommGroup& group : sorted) {
      if (group.parent >= 0) group.parent = place[static_cast<size_t>(group.parent)];
    }
    return sorted;
  }

 private:
  bool is_full(int index) const {
    const CommGroup& group = groups_[static_cast<size_t>(index)];
    return group.nranks > 0 && group.members.size() >= static_cast<size_t>(group.nranks);
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
      groups_.push_back({key.comm_id, key.nranks, -1, false, {}});
    }
    return alike.groups[place];
  }

  bool counts_splits_;
  std::map<CommKey, Lookalikes> lookalikes_;
  std::vector<CommGroup> groups_;  ///< In the order in which they were found.
};

}  // namespace

const CommSegment& segment_of(const Job& job, const CommMember& member) {
  return job.logs[static_cast<size_t>(member.log)].comms.all[static_cast<size_t>(member.segment)];
}

std::vector<CommGroup> group_segments(const Job& job) {
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
  const bool counts_splits = grouping.reuses_colors() && !sits_splits_out(job);
  return counts_splits ? grouped(true).take() : grouping.take();
}

}  // namespace ncclog
