// Which communicators there were, and how far each of their ranks came.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "log/messages.h"
#include "model/build_steps.h"
#include "model/comm_groups.h"

namespace ncclog {
namespace {

/// Ranks not seen that are listed, over all communicators: a torn line may print any nranks.
constexpr int kMaxUnseenRanks = 1 << 18;

/// The process reported an error on its way up after this initialisation began.
bool failed_after(const Job& job, const Process& process, SourceRef started) {
  bool failed = false;
  for_each_record(job, process, kKindIndex<ErrorTrace>,
                  [&](const Record& record) { failed |= started < record.where; });
  return failed;
}

RankState state_of(const Job& job, const CommMember& member) {
  const CommSegment& segment = segment_of(job, member);
  if (segment.end == CommFate::Aborted) return RankState::Aborted;
  if (segment.end == CommFate::Destroyed) return RankState::Destroyed;
  if (segment.completed.line != 0) return RankState::Complete;
  if (segment.started.line == 0) return RankState::Unknown;
  const Process& process = job.processes[static_cast<size_t>(member.process)];
  return failed_after(job, process, segment.started) ? RankState::Failed : RankState::Started;
}

CommRank rank_of(const Job& job, const CommMember& member) {
  const CommSegment& segment = segment_of(job, member);
  CommRank rank;
  rank.rank = segment.rank;
  rank.process = member.process;
  rank.cuda_dev = segment.cuda_dev;
  rank.bus_id = segment.bus_id;
  rank.state = state_of(job, member);
  rank.calls = calls_of(segment).total;
  rank.key = segment.key;
  rank.log = member.log;
  rank.segment = member.segment;
  return rank;
}

/// Lists the ranks that no line shows, if every line that was seen names its rank and there is
/// `room` for them.
void add_unseen_ranks(Communicator& comm, int& room) {
  if (comm.nranks <= 0 || comm.nranks > room) return;
  std::set<int> seen;
  for (const CommRank& rank : comm.ranks) seen.insert(rank.rank);
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

void sort_ranks(Communicator& comm) {
  std::stable_sort(comm.ranks.begin(), comm.ranks.end(), [](const CommRank& a, const CommRank& b) {
    return std::tuple(a.rank < 0, a.rank) < std::tuple(b.rank < 0, b.rank);
  });
}

Communicator make_communicator(const Job& job, const CommGroup& group) {
  Communicator comm;
  comm.inferred = group.comm_id == 0;
  comm.is_child = group.is_child;
  std::set<std::string> hosts;
  for (const CommMember& member : group.members) {
    const CommSegment& segment = segment_of(job, member);
    comm.nranks = std::max(comm.nranks, segment.nranks);
    comm.nnodes = std::max(comm.nnodes, segment.nnodes);
    comm.child_count = std::max(comm.child_count, segment.child_count);
    comm.color = std::max(comm.color, segment.color);
    hosts.insert(job.processes[static_cast<size_t>(member.process)].host);
    comm.ranks.push_back(rank_of(job, member));
    if (calls_of(segment).total > 0) {
      comm.calls = std::max(comm.calls.value_or(0), calls_of(segment).total);
    }
  }
  hosts.erase("");
  comm.hosts.assign(hosts.begin(), hosts.end());
  return comm;
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

/// "0x9c1b2f0a77d01e55", or "inferred-1" with the next number.
std::string id_of(const CommGroup& group, int& inferred) {
  if (group.comm_id != 0) return fmt::format("{:#x}", group.comm_id);
  return fmt::format("inferred-{}", ++inferred);
}

}  // namespace

void build_communicators(Job& job) {
  const std::vector<CommGroup> groups = group_segments(job);
  std::vector<std::pair<Communicator, size_t>> found;
  for (size_t g = 0; g < groups.size(); ++g) {
    found.emplace_back(make_communicator(job, groups[g]), g);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.first.nranks, a.first.inferred) <
           std::tuple(-b.first.nranks, b.first.inferred);
  });
  std::vector<int> place_of_group(groups.size());
  for (size_t c = 0; c < found.size(); ++c) place_of_group[found[c].second] = static_cast<int>(c);
  int inferred = 0;
  int room = kMaxUnseenRanks;
  for (auto& [comm, g] : found) {
    comm.id = id_of(groups[g], inferred);
    if (groups[g].parent >= 0) comm.parent = place_of_group[static_cast<size_t>(groups[g].parent)];
    add_unseen_ranks(comm, room);
    sort_ranks(comm);
    job.communicators.push_back(std::move(comm));
  }
  add_known_gpus(job.communicators);
}

}  // namespace ncclog
