#include "replay/dump_groups.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

/// Up to where the known ranks called alike: before what the verdict is about, if it differs there.
int64_t common_number(const DumpedGroup& dumped, const RecorderVerdict& verdict) {
  int64_t least = dumped.ranks.front()->enqueued;
  for (const RecordedRank* rank : dumped.ranks) least = std::min(least, rank->enqueued);
  const bool differs = verdict.kind == RecordedKind::Mismatch || verdict.kind == RecordedKind::Late;
  const bool is_meant = differs && dumped.group->name == verdict.group;
  return is_meant ? std::min(least, verdict.number - 1) : least;
}

}  // namespace

std::vector<DumpedGroup> dumped_groups(const std::vector<RecordedGroup>& groups,
                                       const RecorderVerdict& verdict, const PlanOptions& options) {
  std::vector<DumpedGroup> result;
  for (const RecordedGroup& group : groups) {
    DumpedGroup dumped{&group, known_ranks(group), {}};
    const bool is_wanted = !options.only_failing || group.name == verdict.group;
    if (dumped.ranks.empty() || !is_wanted) continue;
    dumped.window = dump_window(group, common_number(dumped, verdict), options.last);
    if (dumped.window.from <= dumped.window.to) result.push_back(std::move(dumped));
  }
  return result;
}

SeatOfRank seats_of_ranks(const std::vector<DumpedGroup>& groups) {
  SeatOfRank seats;
  for (const DumpedGroup& dumped : groups) {
    for (const RecordedRank* rank : dumped.ranks) seats[rank->rank] = -1;
  }
  int next = 0;
  for (auto& [rank, seat] : seats) seat = next++;
  return seats;
}

std::vector<int> seats_of(const SeatOfRank& seats, const std::vector<int>& ranks) {
  std::vector<int> result;
  for (const int rank : ranks) {
    const auto seat = seats.find(rank);
    if (seat != seats.end()) result.push_back(seat->second);
  }
  return result;
}

std::string communicator_of(const Job& job, const RecordedGroup& group) {
  if (group.communicator >= 0) return job.communicators[static_cast<size_t>(group.communicator)].id;
  return to_valid_utf8(group.description.empty() ? group.name : group.description);
}

}  // namespace ncclog
