// Which communicators there were, and how far each of their ranks came.
//
// Across ranks a communicator is its commId. Children made by split print none since 2.23.4: they
// are (parent, child count, color). Releases before 2.16 print none at all: those are joined by
// size and by order within the process, called inferred, and kept apart where a rank would stand
// twice.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "log/messages/all_messages.h"
#include "model/build_steps.h"

namespace ncclog {
namespace {

constexpr int kMaxListedRanks = 1 << 16;  ///< A torn line may print any nranks.

/// One process's part in a communicator.
struct Member {
  int process = -1;
  int log = -1;
  int segment = -1;
};

/// How parts of one communicator find each other. `serial` separates inferred ones of equal look.
struct CommKey {
  uint64_t comm_id = 0;
  std::string parent;  ///< Key text of the parent; empty if not a child.
  int child_count = -1;
  int color = -1;
  int nranks = -1;
  int ordinal = -1;
  int serial = 0;

  auto operator<=>(const CommKey&) const = default;
};

std::string key_text(const CommKey& key) {
  if (key.comm_id != 0) return fmt::format("{:#x}", key.comm_id);
  return fmt::format("{}/{}.{}.{}.{}.{}", key.parent, key.child_count, key.color, key.nranks,
                     key.ordinal, key.serial);
}

const CommSegment& segment_of(const Job& job, const Member& member) {
  return job.logs[static_cast<size_t>(member.log)].comms.all[static_cast<size_t>(member.segment)];
}

/// The life of pointer `comm` that was open when segment number `before` began; -1 if none.
int open_segment(const CommSegments& comms, uint64_t comm, int before) {
  for (int s = before - 1; s >= 0; --s) {
    if (comms.all[static_cast<size_t>(s)].comm == comm) return s;
  }
  return -1;
}

CommKey key_of(const CommSegments& comms, int index) {
  const CommSegment& segment = comms.all[static_cast<size_t>(index)];
  CommKey key;
  key.comm_id = segment.comm_id;
  if (key.comm_id != 0) return key;
  key.nranks = segment.nranks;
  if (segment.parent != 0) {
    const int parent = open_segment(comms, segment.parent, index);
    key.parent = parent < 0 ? "?" : key_text(key_of(comms, parent));
    key.child_count = segment.child_count;
    key.color = segment.color;
    return key;
  }
  key.ordinal = 0;
  for (int s = 0; s < index; ++s) {
    const CommSegment& earlier = comms.all[static_cast<size_t>(s)];
    key.ordinal += earlier.comm_id == 0 && earlier.parent == 0 && earlier.nranks == key.nranks &&
                   earlier.rank == segment.rank;
  }
  return key;
}

using Groups = std::map<CommKey, std::vector<Member>>;

/// True if the group has room for this member: its rank is not taken, and it is not full.
bool fits(const Job& job, const std::vector<Member>& group, const CommSegment& news) {
  if (news.nranks > 0 && group.size() >= static_cast<size_t>(news.nranks)) return false;
  return news.rank < 0 || std::none_of(group.begin(), group.end(), [&](const Member& member) {
           return segment_of(job, member).rank == news.rank;
         });
}

void add_member(const Job& job, Groups& groups, const Member& member) {
  const CommSegments& comms = job.logs[static_cast<size_t>(member.log)].comms;
  CommKey key = key_of(comms, member.segment);
  if (key.comm_id == 0) {
    while (!fits(job, groups[key], segment_of(job, member))) ++key.serial;
  }
  groups[key].push_back(member);
}

Groups group_members(const Job& job) {
  Groups groups;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      const auto segments = static_cast<int>(job.logs[log].comms.all.size());
      for (int s = 0; s < segments; ++s) {
        add_member(job, groups, {static_cast<int>(p), static_cast<int>(log), s});
      }
    }
  }
  return groups;
}

/// The process reported an error on its way up after this initialisation began.
bool failed_after(const Job& job, const Process& process, SourceRef started) {
  bool failed = false;
  for_each_record(job, process, kKindIndex<ErrorTrace>,
                  [&](const Record& record) { failed |= started < record.where; });
  return failed;
}

RankState state_of(const Job& job, const Member& member) {
  const CommSegment& segment = segment_of(job, member);
  if (segment.end == CommFate::Aborted) return RankState::Aborted;
  if (segment.end == CommFate::Destroyed) return RankState::Destroyed;
  if (segment.completed.line != 0) return RankState::Complete;
  if (segment.started.line == 0) return RankState::Unknown;
  const Process& process = job.processes[static_cast<size_t>(member.process)];
  return failed_after(job, process, segment.started) ? RankState::Failed : RankState::Started;
}

CommRank rank_of(const Job& job, const Member& member) {
  const CommSegment& segment = segment_of(job, member);
  CommRank rank;
  rank.rank = segment.rank;
  rank.process = member.process;
  rank.cuda_dev = segment.cuda_dev;
  rank.bus_id = segment.bus_id;
  rank.state = state_of(job, member);
  rank.calls = segment.calls.total;
  rank.log = member.log;
  rank.segment = member.segment;
  return rank;
}

/// Lists the ranks that no line shows, if every line that was seen names its rank.
void add_unseen_ranks(Communicator& comm) {
  if (comm.nranks <= 0 || comm.nranks > kMaxListedRanks) return;
  std::set<int> seen;
  for (const CommRank& rank : comm.ranks) seen.insert(rank.rank);
  if (seen.contains(-1)) return;
  for (int r = 0; r < comm.nranks; ++r) {
    if (seen.contains(r)) continue;
    CommRank unseen;
    unseen.rank = r;
    unseen.state = RankState::NotSeen;
    comm.ranks.push_back(unseen);
  }
}

Communicator make_communicator(const Job& job, const CommKey& key,
                               const std::vector<Member>& members) {
  Communicator comm;
  comm.inferred = key.comm_id == 0;
  comm.is_child = !key.parent.empty();
  std::set<std::string> hosts;
  for (const Member& member : members) {
    const CommSegment& segment = segment_of(job, member);
    comm.nranks = std::max(comm.nranks, segment.nranks);
    comm.nnodes = std::max(comm.nnodes, segment.nnodes);
    comm.is_child |= segment.parent != 0;
    hosts.insert(job.processes[static_cast<size_t>(member.process)].host);
    comm.ranks.push_back(rank_of(job, member));
    if (segment.calls.total > 0) {
      comm.calls = std::max(comm.calls.value_or(0), segment.calls.total);
    }
  }
  hosts.erase("");
  comm.hosts.assign(hosts.begin(), hosts.end());
  add_unseen_ranks(comm);
  std::stable_sort(comm.ranks.begin(), comm.ranks.end(), [](const CommRank& a, const CommRank& b) {
    return std::tuple(a.rank < 0, a.rank) < std::tuple(b.rank < 0, b.rank);
  });
  return comm;
}

/// Key text of the parent of a child that printed a commId (2.18 to 2.22) or of one that did not.
std::string parent_key(const Job& job, const CommKey& key, const std::vector<Member>& members) {
  if (!key.parent.empty()) return key.parent;
  for (const Member& member : members) {
    const CommSegment& segment = segment_of(job, member);
    if (segment.parent == 0) continue;
    const CommSegments& comms = job.logs[static_cast<size_t>(member.log)].comms;
    const int parent = open_segment(comms, segment.parent, member.segment);
    if (parent >= 0) return key_text(key_of(comms, parent));
  }
  return {};
}

}  // namespace

void build_communicators(Job& job) {
  const Groups groups = group_members(job);
  struct Found {
    Communicator comm;
    std::string key;
    std::string parent;
  };
  std::vector<Found> found;
  for (const auto& [key, members] : groups) {
    if (members.empty()) continue;
    found.push_back(
        {make_communicator(job, key, members), key_text(key), parent_key(job, key, members)});
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tuple(-a.comm.nranks, a.comm.inferred) <
           std::tuple(-b.comm.nranks, b.comm.inferred);
  });
  std::map<std::string, int> index;
  int inferred = 0;
  for (size_t c = 0; c < found.size(); ++c) {
    index[found[c].key] = static_cast<int>(c);
    found[c].comm.id =
        found[c].comm.inferred ? fmt::format("inferred-{}", ++inferred) : found[c].key;
  }
  for (Found& entry : found) {
    const auto parent = index.find(entry.parent);
    if (parent != index.end()) entry.comm.parent = parent->second;
    job.communicators.push_back(std::move(entry.comm));
  }
}

}  // namespace ncclog
