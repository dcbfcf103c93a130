// Which ranks called something else: by sources that show calls one by one, and then by lines, of
// which hashes of prefixes are kept?
//
//   default_pg, collective 20: ranks 0-2 AllReduce of 1048576 Float, rank 3 of 524288
//   watchdogs, SeqNum 29: ranks 0-4 ALLREDUCE, rank 5 gave up on a BROADCAST

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "log/event.h"
#include "log/known_messages.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

/// What all ranks have to agree on. -1 or empty: they need not, or the source does not say.
struct AgreedCall {
  std::string_view function;
  int64_t in = -1;
  int64_t out = -1;
  std::string_view size;  ///< As a watchdog prints it.
  std::string_view dtype;

  auto operator<=>(const AgreedCall&) const = default;
};

AgreedCall agreed_call(const LedgerCall& call) {
  if (call.work != nullptr) return {.function = call.work->op, .size = call.work->size};
  if (call.entry == nullptr) return {.function = call.op};
  const FlightRecorderEntry& entry = *call.entry;
  AgreedCall agreed{.function = function_of(entry), .dtype = dtype_of(entry)};
  constexpr std::string_view kMayDiffer[] = {"_oop", "sparse"};
  if (holds_one_of(entry.profiling_name, kMayDiffer)) return agreed;
  const AgreedSizes sizes = agreed_sizes(find_recorded_alias(entry.profiling_name));
  if (sizes.in) agreed.in = element_count(entry.input_sizes);
  if (sizes.out) agreed.out = element_count(entry.output_sizes);
  return agreed;
}

/// A rank, as its place in the account, with its call of one number.
struct Caller {
  int rank = -1;
  const LedgerCall* call = nullptr;
  AgreedCall agreed;
};

/// What a source does not say of the call of one rank is not compared with other calls of that
/// function.
void drop_unsaid(std::vector<Caller>& callers) {
  const auto drop_where_any = [&](auto member, const auto& nothing) {
    std::set<std::string_view> unsaid;
    for (const Caller& caller : callers) {
      if (caller.agreed.*member == nothing) unsaid.insert(caller.agreed.function);
    }
    for (Caller& caller : callers) {
      if (unsaid.contains(caller.agreed.function)) caller.agreed.*member = nothing;
    }
  };
  drop_where_any(&AgreedCall::in, -1);
  drop_where_any(&AgreedCall::out, -1);
  drop_where_any(&AgreedCall::size, std::string_view());
  drop_where_any(&AgreedCall::dtype, std::string_view());
}

bool made_the_same(const std::vector<Caller>& callers) {
  return std::ranges::all_of(
      callers, [&](const Caller& caller) { return caller.agreed == callers.front().agreed; });
}

/// The ranks that made the call of that number. Empty if that of one of them cannot be told: a dump
/// lacks it, or a watchdog names two, so that groups are mixed.
std::vector<Caller> callers_of(const CallAccount& account, uint64_t number) {
  std::vector<Caller> callers;
  for (size_t r = 0; r < account.ranks.size(); ++r) {
    const LedgerRank& rank = account.ranks[r];
    const auto [begin, end] = std::ranges::equal_range(rank.calls, number, {}, &LedgerCall::number);
    const bool has_entered = rank.coverage != CallCoverage::Unknown && rank.entered >= number;
    const bool must_show = account.source == CallSource::Recorder && has_entered;
    if (end - begin > 1 || (begin == end && must_show)) return {};
    // A desync report need not say what was called.
    const bool is_told =
        begin != end && (begin->entry != nullptr || begin->work != nullptr || !begin->op.empty());
    if (is_told) callers.push_back({static_cast<int>(r), &*begin, agreed_call(*begin)});
  }
  drop_unsaid(callers);
  return callers;
}

std::vector<LedgerCamp> camps_of_callers(const std::vector<Caller>& callers) {
  std::map<AgreedCall, std::map<int, const LedgerCall*>> by_call;
  for (const Caller& caller : callers) by_call[caller.agreed][caller.rank] = caller.call;
  return camps_of(by_call);
}

/// "function, size" of the calls of the first two camps.
std::string differing_fields(const std::vector<LedgerCamp>& camps) {
  const AgreedCall a = agreed_call(*camps[0].call);
  const AgreedCall b = agreed_call(*camps[1].call);
  const auto differ = [](auto x, auto y, auto nothing) {
    return x != nothing && y != nothing && x != y;
  };
  std::vector<std::string> fields;
  if (a.function != b.function) fields.emplace_back("function");
  if (differ(a.in, b.in, -1) || differ(a.out, b.out, -1)) fields.emplace_back("size");
  if (differ(a.dtype, b.dtype, std::string_view())) fields.emplace_back("dtype");
  return join(fields, ", ");
}

/// The numbers of which two ranks or more show their call, ascending; of the Recorder those that
/// stand behind the oldest that some dump still holds.
std::set<uint64_t> compared_numbers(const CallAccount& account) {
  constexpr uint64_t kMostCompared = uint64_t{1} << 20;
  std::set<uint64_t> once;
  std::set<uint64_t> numbers;
  uint64_t from = 1;
  for (const LedgerRank& rank : account.ranks) {
    const bool forgets = account.source == CallSource::Recorder && !rank.calls.empty();
    if (forgets) from = std::max(from, rank.calls.front().number);
  }
  for (const LedgerRank& rank : account.ranks) {
    for (const LedgerCall& call : rank.calls) {
      const bool is_in = call.number >= from && call.number - from <= kMostCompared;
      if (is_in && !once.insert(call.number).second) numbers.insert(call.number);
    }
  }
  return numbers;
}

// Where do ranks' sequences of calls begin to differ, by their lines?
//
// Of a sequence only hashes of prefixes and the last few hundred calls are kept (model/calls.h), so
// the place is found by halving: first between checkpoints, then among the calls that are kept or
// read again.

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

/// The lines of each camp's call there and of its next one, with the calls before them; empty where
/// one of them is not kept, or where messages and missing beginnings leave no numbers to compare.
std::map<SourceRef, uint64_t> numbered_lines(const Job& job, const Communicator& comm) {
  std::map<SourceRef, uint64_t> lines;
  for (const CallCamp& camp : comm.difference->camps) {
    const CollectiveCalls& calls =
        *calls_of(job, comm.ranks[static_cast<size_t>(camp.members.front())]);
    if (calls.first_op_count != 0 || calls.total != calls.collectives.size()) return {};
    // Calls of a group share one opCount, so that of the next call must be another one.
    for (uint64_t at = comm.difference->index; at < comm.difference->index + 2; ++at) {
      const PlacedCall* call = calls.collectives.call(at);
      if (call == nullptr) return {};
      lines[call->where] = at;
    }
  }
  return lines;
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

bool is_anchored(const CallAccount& account, uint64_t number) {
  if (number == 1 || account.source != CallSource::Recorder) return true;
  const std::vector<Caller> before = callers_of(account, number - 1);
  return !before.empty() && made_the_same(before) &&
         std::ranges::all_of(before, [&](const Caller& caller) {
           return caller.call->entry->op_id == before.front().call->entry->op_id;
         });
}

std::optional<LedgerDifference> first_difference(const CallAccount& account) {
  if (!account.is_numbered_alike) return std::nullopt;
  std::optional<uint64_t> last;
  for (const uint64_t number : compared_numbers(account)) {
    const std::vector<Caller> callers = callers_of(account, number);
    // Behind calls that a dump lacks, none can be compared.
    const bool is_gap = callers.empty() || (last && *last + 1 != number);
    if (is_gap && account.source == CallSource::Recorder) return std::nullopt;
    last = number;
    if (callers.empty() || made_the_same(callers)) continue;
    // What differs and yet completed on all ranks is not what they wait in.
    const bool all_completed = std::ranges::all_of(
        callers, [](const Caller& caller) { return caller.call->state == CallState::Completed; });
    if (all_completed || !is_anchored(account, number)) return std::nullopt;
    LedgerDifference difference{number, camps_of_callers(callers), {}};
    difference.fields = differing_fields(difference.camps);
    return difference;
  }
  return std::nullopt;
}

void find_differences(Job& job, const CallReader& reader) {
  for (Communicator& comm : job.communicators) {
    if (comm.difference && comm.difference->is_exact()) continue;
    comm.difference = first_difference(group_alike(job, comm), reader);
  }
}

void number_differences(Job& job, const TextsOfLines& read_texts) {
  std::map<FirstDifference*, std::map<SourceRef, uint64_t>> wanted;
  std::set<SourceRef> places;
  for (Communicator& comm : job.communicators) {
    if (!comm.difference || !comm.difference->is_exact()) continue;
    const auto& lines = wanted[&*comm.difference] = numbered_lines(job, comm);
    for (const auto& [where, before] : lines) places.insert(where);
  }
  if (places.empty()) return;
  const std::map<SourceRef, std::string> texts = read_texts({places.begin(), places.end()});
  for (const auto& [difference, lines] : wanted) {
    const auto is_numbered = [&](const auto& line) {
      const auto text = texts.find(line.first);
      if (text == texts.end()) return false;
      const auto call = read_call(parse_event(text->second, all_wordings()));
      return call && call->op_count == line.second;
    };
    difference->is_numbered = !lines.empty() && std::ranges::all_of(lines, is_numbered);
  }
}

}  // namespace ncclog
