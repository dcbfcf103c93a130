// Where do ranks' sequences of calls begin to differ, by their lines?
//
// Of a sequence only hashes of prefixes and the last few hundred calls are kept (model/calls.h), so
// the place is found by halving: first between checkpoints, then among the calls that are kept or
// read again.

#include <algorithm>
#include <map>
#include <utility>

#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

/// Ranks whose sequences are equal, and one of these sequences.
struct Alike {
  const CommRank* rank = nullptr;  ///< The first of them.
  const CallSequence* calls = nullptr;
  std::vector<int> members;
};

/// Of the ranks whose calls are covered.
std::vector<Alike> group_alike(const Job& job, const Communicator& comm) {
  std::map<std::pair<uint64_t, uint64_t>, Alike> groups;
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    const CommRank& rank = comm.ranks[r];
    if (call_coverage(job, comm, rank) == CallCoverage::Unknown) continue;
    const CallSequence& calls = calls_of(job, rank)->collectives;
    Alike& group = groups[{calls.size(), calls.hash()}];
    if (group.members.empty()) group = {&rank, &calls, {}};
    group.members.push_back(static_cast<int>(r));
  }
  std::vector<Alike> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

/// The last checkpoint at or before call `index`; `alike` has calls.
const CallCheckpoint& checkpoint_before(const Alike& alike, uint64_t index) {
  return *std::prev(
      std::ranges::upper_bound(alike.calls->checkpoints(), index, {}, &CallCheckpoint::index));
}

/// The calls [from, to) as far as they are kept, or can be read again from the checkpoint before
/// them.
std::vector<PlacedCall> calls_between(const Alike& alike, uint64_t from, uint64_t to,
                                      const CallReader& reader) {
  std::vector<PlacedCall> calls;
  if (from >= alike.calls->kept_from()) {
    for (uint64_t i = from; i < to; ++i) calls.push_back(*alike.calls->call(i));
  } else if (reader) {
    const CallCheckpoint& point = checkpoint_before(alike, from);
    calls = reader(*alike.rank, point.where, to - point.index);
    const uint64_t skipped = std::min<uint64_t>(from - point.index, calls.size());
    calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(skipped));
  }
  return calls;
}

/// Hash of a prefix, read again from the checkpoint before it if need be. Nothing is kept between
/// calls: a stretch is at most what lies between two checkpoints.
std::optional<uint64_t> prefix_hash(const Alike& alike, uint64_t length, const CallReader& reader) {
  if (const auto known = alike.calls->prefix_hash(length)) return known;
  if (!reader || length > alike.calls->size()) return std::nullopt;
  const CallCheckpoint& point = checkpoint_before(alike, length);
  const std::vector<PlacedCall> calls = calls_between(alike, point.index, length, reader);
  if (calls.size() != length - point.index) return std::nullopt;
  uint64_t hash = point.hash;
  for (const PlacedCall& call : calls) hash = extended_hash(hash, call.call);
  return hash;
}

/// Whether two sequences begin with the same `length` calls; nullopt: it is not known.
std::optional<bool> begin_alike(const Alike& a, const Alike& b, uint64_t length,
                                const CallReader& reader) {
  const auto hash_a = prefix_hash(a, length, reader);
  const auto hash_b = prefix_hash(b, length, reader);
  return hash_a && hash_b ? std::optional(*hash_a == *hash_b) : std::nullopt;
}

/// The range in which two sequences first differ; nullopt if the shorter one begins the longer one.
std::optional<std::pair<uint64_t, uint64_t>> difference_between(const Alike& a, const Alike& b,
                                                                const CallReader& reader) {
  uint64_t same = 0;
  uint64_t different = std::min(a.calls->size(), b.calls->size());
  if (begin_alike(a, b, different, reader).value_or(false)) return std::nullopt;
  // Bisects over the lengths at which hashes are at hand. Prefixes of the length `different`
  // differ, or are not known to be alike.
  std::vector<uint64_t> lengths = {std::max(a.calls->kept_from(), b.calls->kept_from())};
  for (const CallCheckpoint& point : a.calls->checkpoints()) lengths.push_back(point.index);
  for (const CallCheckpoint& point : b.calls->checkpoints()) lengths.push_back(point.index);
  std::ranges::sort(lengths);
  std::erase_if(lengths, [&](uint64_t length) {
    return length >= different || (!reader && !begin_alike(a, b, length, reader).has_value());
  });
  const auto differing = std::ranges::partition_point(
      lengths, [&](uint64_t length) { return begin_alike(a, b, length, reader).value_or(false); });
  if (differing != lengths.begin()) same = *std::prev(differing);
  if (differing != lengths.end()) different = *differing;
  const std::vector<PlacedCall> calls_a = calls_between(a, same, different, reader);
  const std::vector<PlacedCall> calls_b = calls_between(b, same, different, reader);
  for (size_t i = 0; i < std::min(calls_a.size(), calls_b.size()); ++i) {
    if (comparable(calls_a[i].call) != comparable(calls_b[i].call)) return {{same + i, same + i}};
  }
  return {{same, std::max(same, different - 1)}};
}

/// Who called what at `index`; empty where the calls of somebody cannot be told.
std::vector<CallCamp> camps_at(const std::vector<Alike>& groups, uint64_t index,
                               const CallReader& reader) {
  std::map<CallSignature, std::map<int, PlacedCall>> calls;
  for (const Alike& group : groups) {
    if (group.calls->size() <= index) continue;
    const std::vector<PlacedCall> there = calls_between(group, index, index + 1, reader);
    if (there.empty()) return {};
    for (const int member : group.members) {
      calls[comparable(there.front().call)][member] = there.front();
    }
  }
  return camps_of(calls);
}

std::optional<FirstDifference> first_difference(const std::vector<Alike>& groups,
                                                const CallReader& reader) {
  std::optional<FirstDifference> first;
  // The longest sequence stands last; all others are held against it.
  for (size_t i = 0; i + 1 < groups.size(); ++i) {
    const auto range = difference_between(groups.back(), groups[i], reader);
    // The earliest difference of all pairs is that of the communicator.
    if (!range || (first && first->index <= range->first)) continue;
    first = FirstDifference{range->first, range->second, {}};
  }
  if (first && first->is_exact()) first->camps = camps_at(groups, first->index, reader);
  return first;
}

}  // namespace

void find_differences(Job& job, const CallReader& reader) {
  for (Communicator& comm : job.communicators) {
    if (comm.difference && comm.difference->is_exact()) continue;
    comm.difference = first_difference(group_alike(job, comm), reader);
  }
}

}  // namespace ncclog
