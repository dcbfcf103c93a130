// Which ranks called something else: by sources that show calls one by one, and then by lines, of
// which hashes of prefixes are kept?
//
//   default_pg, collective 20: ranks 0-2 AllReduce of 1048576 Float, rank 3 of 524288
//   watchdogs, SeqNum 29: ranks 0-4 ALLREDUCE, rank 5 gave up on a BROADCAST

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
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

/// The first and the last place at which two sequences may begin to differ.
using DifferentPlaces = std::pair<uint64_t, uint64_t>;

/// Ranks whose sequences are equal, and one of these sequences.
struct Alike {
  const CommRank* rank = nullptr;  ///< The first of them.
  const CallSequence* calls = nullptr;
  std::vector<int> members;
  bool is_torn = false;  ///< Lines are lost from all of them: only what they show counts.
  /// Of one rank, where its lines go on behind some that are lost as most ranks' do, and where they
  /// do not, by the calls of most.
  std::vector<CallGap> gaps;
  std::optional<DifferentPlaces> difference = {};

  /// Which of its calls is that of most ranks' number `index`, behind the gaps before it.
  uint64_t own(uint64_t index) const {
    uint64_t number = index;
    for (const CallGap& gap : gaps) {
      if (gap.index <= index) number -= static_cast<uint64_t>(gap.lost);
    }
    return number;
  }
};

/// Of the ranks whose calls are covered, and of those from whose lines some are lost.
std::vector<Alike> group_alike(const Job& job, const Communicator& comm) {
  std::map<std::pair<uint64_t, uint64_t>, Alike> groups;
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    const CommRank& rank = comm.ranks[r];
    const CallDoubt doubt = call_doubt(job, comm, rank);
    const bool is_torn = doubt == CallDoubt::Torn;
    const bool is_covered = is_torn || doubt == CallDoubt::None || doubt == CallDoubt::Cut;
    const CollectiveCalls* own = is_covered ? calls_of(job, rank) : nullptr;
    if (own == nullptr || (is_torn && own->total == 0)) continue;
    const CallSequence& calls = own->collectives;
    Alike& group = groups[{calls.size(), calls.hash()}];
    if (group.members.empty()) group = {&rank, &calls, {}, is_torn, {}};
    group.is_torn &= is_torn;
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

/// A place in each of two sequences.
struct Places {
  uint64_t a = 0;
  uint64_t b = 0;
};

/// The range, by places in `a`, in which two sequences first differ from these places on; nullopt if
/// one of them only ends earlier.
std::optional<DifferentPlaces> difference_between(const Alike& a, const Alike& b, Places from,
                                                  const CallReader& reader) {
  uint64_t same = 0;
  uint64_t different = std::min(a.calls->size() - from.a, b.calls->size() - from.b);
  const auto before_a = prefix_hash(a, from.a, reader);
  const auto before_b = prefix_hash(b, from.b, reader);
  // Whether they go on with the same `length` calls; nullopt: it is not known.
  const auto begin_alike = [&](uint64_t length) -> std::optional<bool> {
    const auto all_a = prefix_hash(a, from.a + length, reader);
    const auto all_b = prefix_hash(b, from.b + length, reader);
    if (!before_a || !before_b || !all_a || !all_b) return std::nullopt;
    return *all_a - joined_hash(*before_a, 0, length) == *all_b - joined_hash(*before_b, 0, length);
  };
  if (begin_alike(different).value_or(false)) return std::nullopt;
  // Bisects over the lengths at which hashes are at hand. Stretches of the length `different`
  // differ, or are not known to be alike.
  std::vector<uint64_t> lengths;
  const auto add = [&](uint64_t place, uint64_t begin) {
    if (place >= begin) lengths.push_back(place - begin);
  };
  add(std::max(a.calls->kept_from() + from.b, b.calls->kept_from() + from.a), from.a + from.b);
  for (const CallCheckpoint& point : a.calls->checkpoints()) add(point.index, from.a);
  for (const CallCheckpoint& point : b.calls->checkpoints()) add(point.index, from.b);
  std::ranges::sort(lengths);
  std::erase_if(lengths, [&](uint64_t length) {
    return length >= different || (!reader && !begin_alike(length).has_value());
  });
  const auto differing = std::ranges::partition_point(
      lengths, [&](uint64_t length) { return begin_alike(length).value_or(false); });
  if (differing != lengths.begin()) same = *std::prev(differing);
  if (differing != lengths.end()) different = *differing;
  const auto calls_a = calls_between(a, from.a + same, from.a + different, reader);
  const auto calls_b = calls_between(b, from.b + same, from.b + different, reader);
  for (size_t i = 0; i < std::min(calls_a.size(), calls_b.size()); ++i) {
    if (comparable(calls_a[i].call) == comparable(calls_b[i].call)) continue;
    return {{from.a + same + i, from.a + same + i}};
  }
  return {{from.a + same, from.a + std::max(same, different - 1)}};
}

// Does a rank's log only lack lines there, or hold some twice, or in another order?
//
//   most ranks:  A B C D E F G H        rank 3:  A B D E F G H      C is lost
//                                       rank 5:  A B B C D E F G H  B stands there twice
//                                       rank 6:  A C B D E F G H    moved
//
// A call that the rank really left out, or made once too often, looks alike, but for what follows:
// ranks that call different things at one place go no further than their hosts run ahead. So a gap
// is only where calls go on alike for some time behind it, and where nobody else says that the ranks
// stand at that place (stand_there). The cost: the calls between two checkpoints.

constexpr uint64_t kMostLost = 16;
constexpr uint64_t kMostMoved = 32;
constexpr size_t kMostGaps = 4;
/// Where more ranks differ, each in its own way, damage is everywhere, and each would be read again.
constexpr std::ptrdiff_t kMostLoners = 4;
constexpr uint64_t kFewest = 3;  ///< Calls behind one line that is lost or stands there twice;
constexpr uint64_t kMany = 16;   ///< behind several, or such as stand in another order.

std::vector<CallSignature> signatures(const Alike& alike, uint64_t from, uint64_t most,
                                      const CallReader& reader) {
  std::vector<CallSignature> result;
  const uint64_t to = std::min(alike.calls->size(), from + most);
  if (from >= to) return result;
  for (const PlacedCall& placed : calls_between(alike, from, to, reader))
    result.push_back(comparable(placed.call));
  return result;
}

/// How the calls of one rank, `b`, behind the place where they differ from those of most, `a`, go on
/// alike for longest; both begin a little before it. nullopt: not for long. That a call or two fit is
/// enough where all are known to have gone on from there: `later`, or together to the end, `over`.
std::optional<CallGap> gap_in(std::span<const CallSignature> a, std::span<const CallSignature> b,
                              size_t before, bool later, bool over) {
  std::optional<CallGap> best;
  size_t longest = 0;
  const auto add = [&](size_t skip_a, size_t skip_b, size_t wanted, const CallGap& gap) {
    const auto rest_a = a.subspan(std::min(a.size(), skip_a));
    const auto rest_b = b.subspan(std::min(b.size(), skip_b));
    const auto alike =
        static_cast<size_t>(std::ranges::mismatch(rest_a, rest_b).in1 - rest_a.begin());
    const auto [shorter, longer] = std::minmax({rest_a.size(), rest_b.size()});
    const bool is_to_end = alike > 0 && alike == shorter && (later || (over && shorter == longer));
    if (alike <= longest || (alike < wanted && !is_to_end)) return;
    longest = alike;
    best = gap;
  };
  for (size_t lines = 1; lines <= kMostLost; ++lines) {
    const size_t wanted = lines == 1 ? kFewest : kMany;
    const auto number = static_cast<int64_t>(lines);
    add(before + lines, before, wanted, {.lost = number});
    const bool is_twice =
        lines <= before && before + lines <= b.size() &&
        std::ranges::equal(b.subspan(before, lines), b.subspan(before - lines, lines));
    if (is_twice) add(before, before + lines, wanted, {.lost = -number});
  }
  for (size_t window = 2; window <= kMostMoved && !best; ++window) {
    const bool is_same =
        std::min(a.size(), b.size()) >= before + window &&
        std::ranges::is_permutation(a.subspan(before, window), b.subspan(before, window));
    if (is_same) add(before + window, before + window, kMany, {.index = window, .lost = 0});
  }
  return best;
}

/// Whether watchdogs gave up on the call at which the rank goes its own way, so that they stand there
/// and no line is lost, or on a later one, or the rank's own on another call than `own`, which its
/// lines have there; nullopt: on none.
std::optional<bool> stand_there(const Job& job, const Communicator& comm, int process,
                                uint64_t index, const CallSignature& own) {
  for (const CallAccount& account : call_ledger(job, CallSource::Watchdog)) {
    const auto number = given_up(account);
    const bool is_of_it =
        account.communicator >= 0 && &job.communicators[account.communicator] == &comm;
    if (!is_of_it || !number || *number <= index) continue;
    const auto rank = std::ranges::find(account.ranks, process, &LedgerRank::process);
    const LedgerCall* call = rank == account.ranks.end() ? nullptr : rank->call(*number);
    const bool is_other =
        call != nullptr && call->work != nullptr &&
        !is_call_of_work(own, call->work->op, call->work->numel_in, call->work->numel_out);
    return *number == index + 1 && !is_other;
  }
  return std::nullopt;
}

/// Fills in where the rank's lines go on as those of most, and where they do not.
void align(const Job& job, const Communicator& comm, const Alike& most, Alike& one,
           const CallReader& reader) {
  Places from;
  while (one.gaps.size() < kMostGaps) {
    one.difference = difference_between(most, one, from, reader);
    if (!one.difference) return;
    const auto [index, last] = *one.difference;
    if (index != last) return;
    from = {index, index - from.a + from.b};
    const uint64_t before = std::min({from.a, from.b, kMostLost});
    constexpr uint64_t kLooked = 2 * kMostLost + kMostMoved + kMany;
    const auto usual = signatures(most, from.a - before, before + kLooked, reader);
    const auto own = signatures(one, from.b - before, before + kLooked, reader);
    if (own.size() <= before) return;
    const auto stand = stand_there(job, comm, one.rank->process, index, own[before]);
    if (stand.value_or(false)) return;
    const bool is_over = segment_of(job, *most.rank).end == CommFate::Destroyed &&
                         segment_of(job, *one.rank).end == CommFate::Destroyed;
    auto gap = gap_in(usual, own, before, stand.has_value(), is_over);
    if (!gap) return;
    const uint64_t moved = gap->index;
    gap->member = one.members.front();
    gap->index = index;
    one.gaps.push_back(*gap);
    from.a += moved + static_cast<uint64_t>(std::max<int64_t>(gap->lost, 0));
    from.b += moved + static_cast<uint64_t>(std::max<int64_t>(-gap->lost, 0));
  }
}

/// What a rank from whose log lines are lost calls differently is no loss, if both go on alike
/// behind it for some time. Of two from which lines are lost, nobody knows whose are.
bool is_made_there(const Alike& most, const Alike& torn, const CallReader& reader) {
  if (most.is_torn) return false;
  const uint64_t index = torn.difference->first;
  const auto usual = signatures(most, index + 1, kMany, reader);
  const auto own = signatures(torn, torn.own(index) + 1, kMany, reader);
  return torn.difference->second == index && usual.size() == kMany && usual == own;
}

/// Aligns each rank that is alone with its calls to those of most, and lets those from whose logs
/// lines are lost go, where that may be all that differs.
void align_loners(const Job& job, const Communicator& comm, std::vector<Alike>& groups,
                  const CallReader& reader) {
  const auto found = std::ranges::max_element(groups, {}, [](const Alike& group) {
    return std::tuple(group.members.size(), !group.is_torn, group.calls->size());
  });
  if (found == groups.end()) return;
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): groups are erased below.
  const Alike most = *found;
  const auto is_loner = [&](const Alike& group) {
    return group.members != most.members && (group.members.size() == 1 || group.is_torn);
  };
  if (std::ranges::count_if(groups, is_loner) > kMostLoners) {
    std::erase_if(groups, [](const Alike& group) { return group.is_torn; });
    return;
  }
  std::erase_if(groups, [&](Alike& group) {
    if (is_loner(group)) align(job, comm, most, group, reader);
    return group.is_torn && group.difference && !is_made_there(most, group, reader);
  });
}

/// Who called what at `index`; empty where the calls of somebody cannot be told.
std::vector<CallCamp> camps_at(const std::vector<Alike>& groups, uint64_t index,
                               const CallReader& reader) {
  std::map<CallSignature, std::map<int, PlacedCall>> calls;
  for (const Alike& group : groups) {
    const uint64_t own = group.own(index);
    if (group.calls->size() <= own) continue;
    const std::vector<PlacedCall> there = calls_between(group, own, own + 1, reader);
    if (there.empty()) return {};
    for (const int member : group.members) {
      calls[comparable(there.front().call)][member] = there.front();
    }
  }
  return camps_of(calls);
}

/// Lines of calls, with how many calls stand before each.
using NumberedLines = std::map<SourceRef, uint64_t>;

/// Adds the lines of the rank's call number `index` and of those beside it; false where one of them
/// is not kept, or where messages and missing beginnings leave no numbers to compare.
bool add_numbered(const Job& job, const CommRank& rank, uint64_t index, NumberedLines& lines) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr || calls->first_op_count != 0 || calls->total != calls->collectives.size())
    return false;
  // Calls of a group share one opCount, so that of the next call must be another one. Numbers that
  // begin later are fewer than the calls, and say nothing of a line that is lost.
  for (uint64_t at = index - std::min<uint64_t>(index, 1); at < index + 2; ++at) {
    const PlacedCall* call = calls->collectives.call(at);
    if (call == nullptr) return false;
    lines[call->where] = at;
  }
  return true;
}

/// Of each camp's call where the ranks differ; empty where one of them cannot be told.
NumberedLines numbered_lines(const Job& job, const Communicator& comm) {
  NumberedLines lines;
  if (!comm.difference || !comm.difference->is_exact()) return lines;
  for (const CallCamp& camp : comm.difference->camps) {
    const CommRank& rank = comm.ranks[camp.members.front()];
    if (!add_numbered(job, rank, comm.difference->index, lines)) return {};
  }
  return lines;
}

/// Of the calls of the rank where its log seems to lack some first, and of another rank's; empty as
/// above.
NumberedLines numbered_lines(const Job& job, const Communicator& comm, const CallGap& gap) {
  NumberedLines lines;
  if (!add_numbered(job, comm.ranks[gap.member], gap.index, lines)) return {};
  const bool is_any_whole = std::ranges::any_of(comm.ranks, [&](const CommRank& rank) {
    return call_coverage(job, comm, rank) == CallCoverage::Counted &&
           add_numbered(job, rank, gap.index, lines);
  });
  return is_any_whole ? lines : NumberedLines();
}

/// No line of the rank is lost there: it called something else than the others.
void take_for_difference(const Job& job, Communicator& comm, const CallGap& gap) {
  std::map<CallSignature, std::map<int, PlacedCall>> calls;
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    const int member = static_cast<int>(r);
    const bool is_own = member == gap.member;
    if (!is_own && call_coverage(job, comm, comm.ranks[r]) != CallCoverage::Counted) continue;
    const PlacedCall* call = calls_of(job, comm.ranks[r])->collectives.call(gap.index);
    if (call != nullptr) calls[comparable(call->call)][member] = *call;
  }
  std::erase_if(comm.gaps,
                [member = gap.member](const CallGap& one) { return one.member == member; });
  if (comm.difference && comm.difference->index <= gap.index) return;
  comm.difference = FirstDifference{gap.index, gap.index, camps_of(calls), true};
}

std::optional<FirstDifference> first_difference(const std::vector<Alike>& groups,
                                                const CallReader& reader) {
  std::optional<FirstDifference> first;
  const auto add = [&](const std::optional<DifferentPlaces>& range) {
    // The earliest difference of all pairs is that of the communicator.
    if (!range || (first && first->index <= range->first)) return;
    first = FirstDifference{range->first, range->second, {}};
  };
  const Alike* longest = nullptr;
  const auto is_whole = [](const Alike& group) { return !group.is_torn && group.gaps.empty(); };
  for (const Alike& group : groups) {
    if (is_whole(group) && (!longest || longest->calls->size() <= group.calls->size()))
      longest = &group;
  }
  // All others are held against the longest sequence.
  for (const Alike& group : groups) {
    if (&group == longest) continue;
    add(is_whole(group) ? difference_between(*longest, group, {}, reader) : group.difference);
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
    comm.gaps.clear();
    std::vector<Alike> groups = group_alike(job, comm);
    align_loners(job, comm, groups, reader);
    for (const Alike& group : groups)
      comm.gaps.insert(comm.gaps.end(), group.gaps.begin(), group.gaps.end());
    std::ranges::stable_sort(comm.gaps, {}, &CallGap::member);
    comm.difference = first_difference(groups, reader);
  }
  job.answers = {};  // What is told of calls rests on it.
}

void number_differences(Job& job, const TextsOfLines& read_texts) {
  std::set<SourceRef> places;
  for (const Communicator& comm : job.communicators) {
    for (const auto& [where, before] : numbered_lines(job, comm)) places.insert(where);
    for (const CallGap& gap : comm.gaps) {
      for (const auto& [where, before] : numbered_lines(job, comm, gap)) places.insert(where);
    }
  }
  if (places.empty()) return;
  const std::map<SourceRef, std::string> texts = read_texts({places.begin(), places.end()});
  const auto are_numbered = [&](const NumberedLines& lines) {
    return !lines.empty() && std::ranges::all_of(lines, [&](const auto& line) {
      const auto text = texts.find(line.first);
      if (text == texts.end()) return false;
      const auto call = read_call(parse_event(text->second, all_wordings()));
      return call && call->op_count == line.second;
    });
  };
  for (Communicator& comm : job.communicators) {
    if (comm.difference) comm.difference->is_numbered = are_numbered(numbered_lines(job, comm));
    const std::vector<CallGap> gaps = comm.gaps;
    for (const CallGap& gap : gaps) {
      if (are_numbered(numbered_lines(job, comm, gap))) take_for_difference(job, comm, gap);
    }
  }
  job.answers = {};
}

}  // namespace ncclog
