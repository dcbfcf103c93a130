#include "replay/plan_programs.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "diagnose/call_sizes.h"
#include "log/nccl_names.h"
#include "replay/call_shape.h"

namespace ncclog {
namespace {

constexpr uint64_t kBoundary = 256;  ///< PlannedCall's offsets count from such a boundary.

/// Where the rank's own part stands in the larger buffer, in bytes.
uint64_t own_part(const RecordedCall& call, int rank) {
  const auto size = static_cast<uint64_t>(datatype_bytes(call.call.datatype).value_or(0));
  return static_cast<uint64_t>(rank) * static_cast<uint64_t>(call.call.count) * size;
}

bool is_in_place(const RecordedCall& call, int rank) {
  const std::string_view op = call.call.op.view();
  if (is_message(op) || call.sendbuff == 0 || call.recvbuff == 0) return false;
  const bool is_on_root = rank == call.call.root;
  if (op == "AllGather" || (op == "Gather" && is_on_root)) {
    return call.recvbuff + own_part(call, rank) == call.sendbuff;
  }
  if (op == "ReduceScatter" || (op == "Scatter" && is_on_root)) {
    return call.sendbuff + own_part(call, rank) == call.recvbuff;
  }
  return call.sendbuff == call.recvbuff;
}

/// Behind such a boundary, whole elements of it: pointers of torn lines may point anywhere.
int offset_of(uint64_t pointer, int datatype) {
  const auto size = static_cast<uint64_t>(datatype_bytes(datatype).value_or(1));
  const uint64_t offset = pointer % kBoundary;
  return static_cast<int>(offset - offset % size);
}

/// A rank's calls while they are put together.
class Program {
 public:
  /// `rank`: the number of who made it, in the call's communicator.
  void add(const RecordedCall& recorded, int rank, PlannedCall call) {
    call.stream = static_cast<int>(
        streams_.try_emplace(recorded.stream, static_cast<int>(streams_.size())).first->second);
    const bool to_itself = is_message(call.op) && recorded.call.root == rank;
    keys_.push_back({recorded.group, recorded.op_count, to_itself});
    calls_.push_back(std::move(call));
  }

  /// The calls with their groups. Says in `programs` what groups rest on where no line tells them.
  /// `counting`: communicators whose opCount counts.
  std::vector<PlannedCall> take(bool has_groups, const std::set<int>& counting,
                                PlanPrograms& programs) {
    int groups = 0;
    for (size_t begin = 0; begin < calls_.size();) {
      size_t end = has_groups ? end_of_group(begin) : end_of_batch(begin);
      if (!has_groups && end - begin > 1 && !shows_group(counting, begin, end)) {
        programs.ungrouped = true;
        end = begin + 1;
      }
      if (end - begin > 1) {
        programs.guessed_groups |= !has_groups;
        for (size_t c = begin; c < end; ++c) calls_[c].group = groups;
        ++groups;
      }
      begin = end;
    }
    return std::move(calls_);
  }

 private:
  struct Key {
    int64_t group = -1;
    uint64_t op_count = 0;
    bool to_itself = false;  ///< A message whose peer is the rank that makes it.
  };

  /// Whether messages of one opCount are seen to be a group: opCount counts, or a rank sends to
  /// itself, which no rank can outside of a group.
  bool shows_group(const std::set<int>& counting, size_t begin, size_t end) const {
    return counting.contains(calls_[begin].communicator) ||
           std::any_of(keys_.begin() + static_cast<std::ptrdiff_t>(begin),
                       keys_.begin() + static_cast<std::ptrdiff_t>(end),
                       [](const Key& key) { return key.to_itself; });
  }

  size_t end_of_group(size_t begin) const {
    size_t end = begin + 1;
    if (keys_[begin].group < 0) return end;
    while (end < calls_.size() && keys_[end].group == keys_[begin].group) ++end;
    return end;
  }

  /// Messages on one communicator and stream with one opCount, each peer at most once a direction.
  size_t end_of_batch(size_t begin) const {
    size_t end = begin;
    std::set<std::pair<bool, int>> seen;
    while (end < calls_.size() && is_message(calls_[end].op) && goes_with(begin, end) &&
           seen.emplace(calls_[end].op == "Send", calls_[end].root).second) {
      ++end;
    }
    return end == begin ? begin + 1 : end;
  }

  bool goes_with(size_t first, size_t other) const {
    return calls_[first].communicator == calls_[other].communicator &&
           calls_[first].stream == calls_[other].stream &&
           keys_[first].op_count == keys_[other].op_count;
  }

  std::map<uint64_t, int> streams_;
  std::vector<PlannedCall> calls_;
  std::vector<Key> keys_;  ///< Of each call.
};

/// The communicators whose opCount tells messages apart. It may stand still: NCCL 2.28 over NVLink
/// prints 0 all along, and then equal ones mean nothing.
std::set<int> counting_communicators(const RecordedCalls& recorded, const PlanSeats& seats) {
  std::set<int> counting;
  for (const auto& [process, calls] : recorded.by_process) {
    std::map<int, uint64_t> first;
    for (const RecordedCall& call : calls) {
      if (!is_message(call.call.op.view())) continue;
      const int communicator = seats.place_of(call.by.communicator);
      const auto [known, is_new] = first.try_emplace(communicator, call.op_count);
      if (!is_new && known->second != call.op_count) counting.insert(communicator);
    }
  }
  return counting;
}

}  // namespace

bool can_be_planned(const CallSignature& call) {
  return is_replayable(call.op.view()) && call.count >= 0 && datatype_bytes(call.datatype) &&
         (!is_reduction(call.op.view()) || call.redop >= 0) &&
         ((!has_root(call.op.view()) && !is_message(call.op.view())) || call.root >= 0);
}

PlannedCall planned_call(const Job& job, const PlanSeats& seats, const RecordedCall& call) {
  const std::string_view op = call.call.op.view();
  PlannedCall planned;
  planned.communicator = seats.place_of(call.by.communicator);
  planned.index = call.index;
  planned.op = op;
  planned.count = call.call.count;
  planned.datatype = call.call.datatype;
  planned.redop = is_reduction(op) ? comparable(call.call).redop : 0;
  const bool is_rooted = has_root(op) || is_message(op);
  planned.root =
      is_rooted ? std::max(0, seats.number_of(call.by.communicator, call.call.root)) : -1;
  planned.in_place = is_in_place(call, rank_of(job, call.by).rank);
  planned.send_offset = offset_of(call.sendbuff, call.call.datatype);
  planned.recv_offset = offset_of(call.recvbuff, call.call.datatype);
  return planned;
}

PlanPrograms plan_programs(const Job& job, const RecordedCalls& recorded, const PlanSeats& seats) {
  PlanPrograms programs;
  std::vector<Program> of_seats(seats.seats.size());
  for (const auto& [process, calls] : recorded.by_process) {
    for (const RecordedCall& call : calls) {
      if (seats.place_of(call.by.communicator) < 0) continue;
      if (!can_be_planned(call.call)) {
        ++programs.not_replayable;
        continue;
      }
      programs.counts_bytes |=
          may_count_bytes({call.call.op, call.call.datatype}, job.nccl_versions);
      of_seats[static_cast<size_t>(seats.seat_of.at(call.by))].add(call, rank_of(job, call.by).rank,
                                                                   planned_call(job, seats, call));
    }
  }
  const std::set<int> counting = counting_communicators(recorded, seats);
  for (Program& program : of_seats) {
    programs.by_seat.push_back(program.take(recorded.has_groups, counting, programs));
  }
  return programs;
}

}  // namespace ncclog
