#include "model/first_difference.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "model/call_coverage.h"

namespace ncclog {
namespace {

/// Ranks whose sequences are equal, and one of these sequences.
struct Alike {
  SequenceName name;
  const CallSequence* calls = nullptr;
  std::vector<int> members;
};

std::vector<Alike> group_alike(const Job& job, const Communicator& comm,
                               const std::vector<int>& members) {
  std::map<std::pair<uint64_t, uint64_t>, Alike> groups;
  for (const int member : members) {
    const CommRank& rank = comm.ranks[static_cast<size_t>(member)];
    const CollectiveCalls* calls = calls_of(job, rank);
    if (calls == nullptr) continue;
    Alike& group = groups[{calls->collectives.size(), calls->collectives.hash()}];
    if (group.members.empty()) group = {{rank.log, rank.segment}, &calls->collectives, {}};
    group.members.push_back(member);
  }
  std::vector<Alike> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

/// The last checkpoint at or before call `index`; `of` has calls.
const CallCheckpoint& checkpoint_before(const Alike& of, uint64_t index) {
  const auto& points = of.calls->checkpoints();
  const auto after =
      std::upper_bound(points.begin(), points.end(), index,
                       [](uint64_t at, const CallCheckpoint& point) { return at < point.index; });
  return *std::prev(after);
}

/// Two sequences, and what reading them again adds. Nothing is kept between calls: a stretch is at
/// most what lies between two checkpoints.
class Comparison {
 public:
  Comparison(const Alike& a, const Alike& b, const CallReader& reader)
      : a_(a), b_(b), reader_(reader) {}

  /// The range in which they first differ; nullopt if the shorter one begins the longer one.
  std::optional<std::pair<uint64_t, uint64_t>> find() const {
    const uint64_t shorter = std::min(a_.calls->size(), b_.calls->size());
    if (alike(shorter).value_or(false)) return std::nullopt;
    uint64_t same = 0;
    uint64_t different = shorter;  // Prefixes of this length differ, or are not known to be alike.
    narrow(same, different);
    return scan(same, different);
  }

 private:
  std::optional<bool> alike(uint64_t length) const {
    const auto a = hash(a_, length);
    const auto b = hash(b_, length);
    if (!a || !b) return std::nullopt;
    return *a == *b;
  }

  /// Hash of a prefix, read again from the checkpoint before it if need be.
  std::optional<uint64_t> hash(const Alike& of, uint64_t length) const {
    if (const auto known = of.calls->prefix_hash(length)) return known;
    if (!reader_ || length > of.calls->size()) return std::nullopt;
    const CallCheckpoint& point = checkpoint_before(of, length);
    const std::vector<PlacedCall> calls = reader_(of.name, point.where, length - point.index);
    if (calls.size() != length - point.index) return std::nullopt;
    uint64_t hash = point.hash;
    for (const PlacedCall& call : calls) hash = extended_hash(hash, call.call);
    return hash;
  }

  /// Bisects over the lengths at which hashes are at hand.
  void narrow(uint64_t& same, uint64_t& different) const {
    std::vector<uint64_t> lengths = {std::max(a_.calls->kept_from(), b_.calls->kept_from())};
    for (const CallCheckpoint& point : a_.calls->checkpoints()) lengths.push_back(point.index);
    for (const CallCheckpoint& point : b_.calls->checkpoints()) lengths.push_back(point.index);
    std::sort(lengths.begin(), lengths.end());
    std::erase_if(lengths, [&](uint64_t length) {
      return length >= different || (!reader_ && !alike(length).has_value());
    });
    auto begin = lengths.begin();
    auto end = lengths.end();
    while (begin < end) {
      const auto middle = begin + (end - begin) / 2;
      if (alike(*middle).value_or(false)) {
        same = *middle;
        begin = middle + 1;
      } else {
        different = *middle;
        end = middle;
      }
    }
  }

  std::vector<PlacedCall> stretch(const Alike& of, uint64_t from, uint64_t to) const {
    std::vector<PlacedCall> calls;
    if (from >= of.calls->kept_from()) {
      for (uint64_t i = from; i < to; ++i) calls.push_back(*of.calls->call(i));
    } else if (reader_) {
      const CallCheckpoint& point = checkpoint_before(of, from);
      calls = reader_(of.name, point.where, to - point.index);
      const uint64_t skipped = std::min<uint64_t>(from - point.index, calls.size());
      calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(skipped));
    }
    return calls;
  }

  std::pair<uint64_t, uint64_t> scan(uint64_t same, uint64_t different) const {
    const std::vector<PlacedCall> a = stretch(a_, same, different);
    const std::vector<PlacedCall> b = stretch(b_, same, different);
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (comparable(a[i].call) != comparable(b[i].call)) return {same + i, same + i};
    }
    return {same, std::max(same, different - 1)};
  }

  const Alike& a_;
  const Alike& b_;
  const CallReader& reader_;
};

std::optional<PlacedCall> call_at(const Alike& of, uint64_t index, const CallReader& reader) {
  if (const PlacedCall* call = of.calls->call(index)) return *call;
  if (index >= of.calls->size() || !reader) return std::nullopt;
  const CallCheckpoint& point = checkpoint_before(of, index);
  const auto calls = reader(of.name, point.where, index - point.index + 1);
  if (calls.size() != index - point.index + 1) return std::nullopt;
  return calls.back();
}

/// Who called what at `index`; empty where the calls of somebody cannot be told.
std::vector<CallCamp> camps_at(const std::vector<Alike>& groups, uint64_t index,
                               const CallReader& reader) {
  std::map<CallSignature, CallCamp> camps;
  for (const Alike& group : groups) {
    if (group.calls->size() <= index) continue;
    const auto call = call_at(group, index, reader);
    if (!call) return {};
    CallCamp& camp = camps[comparable(call->call)];
    if (camp.members.empty() || group.members.front() < camp.members.front()) camp.call = *call;
    camp.members.insert(camp.members.end(), group.members.begin(), group.members.end());
    std::sort(camp.members.begin(), camp.members.end());
  }
  std::vector<CallCamp> result;
  for (auto& [call, camp] : camps) result.push_back(std::move(camp));
  std::stable_sort(result.begin(), result.end(), [](const CallCamp& a, const CallCamp& b) {
    if (a.members.size() != b.members.size()) return a.members.size() > b.members.size();
    return a.members < b.members;
  });
  return result;
}

}  // namespace

std::optional<FirstDifference> first_difference(const Job& job, const Communicator& comm,
                                                const std::vector<int>& members,
                                                const CallReader& reader) {
  const std::vector<Alike> groups = group_alike(job, comm, members);
  std::optional<FirstDifference> first;
  // The longest sequence stands last; all others are held against it.
  for (size_t i = 0; i + 1 < groups.size(); ++i) {
    const auto range = Comparison(groups.back(), groups[i], reader).find();
    if (!range || (first && first->index <= range->first)) continue;
    first = FirstDifference{range->first, range->second, {}};
  }
  if (first && first->is_exact()) first->camps = camps_at(groups, first->index, reader);
  return first;
}

void find_differences(Job& job, const CallReader& reader) {
  for (Communicator& comm : job.communicators) {
    if (comm.difference && comm.difference->is_exact()) continue;
    std::vector<int> members;
    for (size_t r = 0; r < comm.ranks.size(); ++r) {
      if (call_coverage(job, comm, comm.ranks[r]) == CallCoverage::Unknown) continue;
      members.push_back(static_cast<int>(r));
    }
    comm.difference = first_difference(job, comm, members, reader);
  }
}

}  // namespace ncclog
