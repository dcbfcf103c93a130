#include "diagnose/calls/recorder_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diagnose/calls/call_verdict.h"
#include "diagnose/outcome/stop_evidence.h"

namespace ncclog {
namespace {

/// Own rank and peer inside the group: "nccl:recv 0<-1" is of 0 and 1.
std::optional<std::pair<int64_t, int64_t>> ends_of(std::string_view name) {
  const size_t arrow = name.find_first_of("<-");
  const size_t own = name.find_last_of(' ', arrow) + 1;
  const auto rank = parse_int(name.substr(own, arrow - own));
  const auto peer = arrow < name.size() ? parse_int(name.substr(arrow + 2)) : std::nullopt;
  if (!rank || !peer) return std::nullopt;
  return std::pair(*rank, *peer);
}

/// One end's messages with a peer of a group, oldest first.
struct PairMessages {
  const FlightRecorderDump* dump = nullptr;
  std::vector<const FlightRecorderEntry*> calls;

  static bool receives(const FlightRecorderEntry& call) {
    return recorded_operation(call.profiling_name) == Operation::Recv;
  }
  /// The first one that is not complete.
  size_t head() const {
    const auto is_open = [](const auto* call) { return call->state != RecordedState::Completed; };
    return static_cast<size_t>(std::ranges::find_if(calls, is_open) - calls.begin());
  }
  size_t count(bool received) const {
    return static_cast<size_t>(std::ranges::count_if(
        calls, [&](const auto* call) { return receives(*call) == received; }));
  }
  /// Its other end's place among the peer's calls, or behind them.
  size_t place_at(const PairMessages& peer, size_t message) const {
    const bool received = receives(*calls[message]);
    const auto like =
        std::ranges::count_if(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(message),
                              [&](const auto* call) { return receives(*call) == received; });
    size_t at = 0;
    for (auto left = like; at < peer.calls.size(); ++at) {
      if (receives(*peer.calls[at]) != received && left-- == 0) break;
    }
    return at;
  }
  bool waits_for(const PairMessages& peer) const {
    return count(true) == peer.count(false) && head() < calls.size() &&
           peer.head() < place_at(peer, head()) && place_at(peer, head()) < peer.calls.size();
  }
};

/// By group, own rank and peer inside it.
using Pairs = std::map<std::tuple<std::string, int64_t, int64_t>, PairMessages>;

Pairs recorded_pairs(const Job& job) {
  Pairs pairs;
  std::set<std::string> unclear = {""};  // Groups of which some dump tells too little.
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    std::set<std::string> begun;
    for (const FlightRecorderEntry& call : dump.entries) {
      const std::string_view name = call.profiling_name;
      if (name.find("coalesced") != name.npos) unclear.insert(call.group);
      if (!traits_of(recorded_operation(name)).is_message()) continue;
      // The ring may have lost those before.
      if (begun.insert(call.group).second && call.p2p_seq_id != 1) unclear.insert(call.group);
      const auto ends = ends_of(name);
      if (!ends) continue;
      PairMessages& pair = pairs[{call.group, ends->first, ends->second}];
      if (pair.dump != nullptr && pair.dump != &dump) unclear.insert(call.group);
      pair.dump = &dump;
      pair.calls.push_back(&call);
    }
  }
  std::erase_if(pairs, [&](const auto& pair) { return unclear.contains(std::get<0>(pair.first)); });
  return pairs;
}

/// How many messages a rank made with a peer.
struct Count {
  int64_t sent = 0;
  int64_t received = 0;
};
/// By group, own global rank and that of the peer.
using MessageCounts = std::map<std::tuple<std::string, int, int>, Count>;

/// The global rank of a rank inside a group; -1: the dump does not tell.
int global_rank(const FlightRecorderDump& dump, const std::string& name, int64_t place) {
  const auto group = std::ranges::find(dump.groups, name, &FlightRecorderGroup::name);
  if (group == dump.groups.end() || place < 0) return -1;
  return std::cmp_less(place, group->ranks.size()) ? group->ranks[static_cast<size_t>(place)] : -1;
}

/// A rank's messages between two collectives of a group.
struct Stretch {
  bool is_whole = false;  ///< The dump holds the collective at either end.
  MessageCounts counts;
};

Stretch stretch_of(const FlightRecorderDump& dump, const std::string& group, uint64_t begin) {
  Stretch stretch;
  bool is_inside = false;
  for (const FlightRecorderEntry& call : dump.entries) {
    const Operation operation = recorded_operation(call.profiling_name);
    if (traits_of(operation).is_message()) {
      const auto ends = is_inside ? ends_of(call.profiling_name) : std::nullopt;
      if (!ends) continue;
      Count& count = stretch.counts[{call.group, global_rank(dump, call.group, ends->first),
                                     global_rank(dump, call.group, ends->second)}];
      ++(operation == Operation::Recv ? count.received : count.sent);
    } else if (call.group == group && traits_of(operation).is_collective()) {
      if (std::cmp_equal(call.collective_seq_id, begin)) is_inside = true;
      if (std::cmp_equal(call.collective_seq_id, begin + 1)) {
        stretch.is_whole = is_inside;
        return stretch;
      }
    }
  }
  return stretch;
}

/// Who made fewer messages than its peers made with it, by global rank.
struct Shortage {
  std::map<int, int64_t> by_rank;  ///< Messages that lack.
  std::set<int> peers;             ///< Who made the others' half of them.
};

/// nullopt: some dump does not hold the stretch behind that collective.
std::optional<Shortage> shortage_in(const CallAccount& account, uint64_t begin) {
  MessageCounts all;
  for (const LedgerRank& rank : account.ranks) {
    Stretch stretch = stretch_of(*rank.dump, account.group, begin);
    if (!stretch.is_whole) return std::nullopt;
    all.merge(stretch.counts);
  }
  Shortage shortage;
  for (const auto& [key, own] : all) {
    const auto& [group, rank, peer] = key;
    const auto other = all.find({group, peer, rank});
    const Count others = other == all.end() ? Count() : other->second;
    const int64_t lacking = std::max<int64_t>(0, others.received - own.sent) +
                            std::max<int64_t>(0, others.sent - own.received);
    const int64_t spare = std::max<int64_t>(0, own.received - others.sent) +
                          std::max<int64_t>(0, own.sent - others.received);
    if (lacking > 0) shortage.by_rank[rank] += lacking;
    if (spare > 0) shortage.peers.insert(rank);
    // A peer that has no message of the pair at all lacks as many.
    if (other == all.end() && spare > 0) shortage.by_rank[peer] += spare;
  }
  return shortage;
}

}  // namespace

std::string frame_words(const FlightRecorderEntry& call) {
  if (call.frame.file.empty() || call.frame.line < 0) return {};
  return fmt::format("{}:{}", printable(call.frame.file), call.frame.line);
}

std::string recorded_words(const FlightRecorderEntry& call) {
  int64_t elements = element_count(call.input_sizes);
  if (elements < 0) elements = element_count(call.output_sizes);
  std::string words = to_valid_utf8(function_of(call));
  if (elements >= 0) words += fmt::format(" of {} {}", elements, to_valid_utf8(dtype_of(call)));
  return words;
}

std::string placed_words(const FlightRecorderEntry& call) {
  const std::string place = frame_words(call);
  return recorded_words(call) + (place.empty() ? place : ", at " + place);
}

std::string group_words(const CallAccount& account) {
  const std::string& name = account.description.empty() ? account.group : account.description;
  return fmt::format("process group {} ({} ranks)", to_valid_utf8(name), account.ranks.size());
}

FactValue recorder_circle(const Job& job, const Instance&) {
  const Pairs pairs = recorded_pairs(job);
  for (const auto& [key, own] : pairs) {
    const auto& [group, rank, peer] = key;
    const auto other = pairs.find({group, peer, rank});
    if (rank > peer || other == pairs.end()) continue;
    const PairMessages& others = other->second;
    if (!own.waits_for(others) || !others.waits_for(own)) continue;
    FactValue value = yes({});
    std::vector<std::string> words;
    for (const PairMessages* end : {&own, &others}) {
      const FlightRecorderEntry& call = *end->calls[end->head()];
      words.push_back(fmt::format("rank {} waits in {}", end->dump->rank, placed_words(call)));
      value.evidence.push_back({end->dump->where, to_valid_utf8(call.profiling_name)});
      blame(process_of_rank(job, end->dump->rank), end->dump->rank, value);
    }
    value.what = fmt::format(
        "by the Flight Recorder's dumps, {}, each for a call that the other makes only behind its "
        "own",
        join(words, " and "));
    return value;
  }
  return unknown();
}

FactValue recorder_messages_short(const Job& job, const Instance&) {
  for (const CallAccount& account : call_ledger(job, CallSource::Recorder)) {
    const LedgerCall* call = nullptr;
    const auto waits = [&](const LedgerRank& rank) {
      const bool is_last = rank.dump != nullptr && !rank.calls.empty() && rank.entered > 2 &&
                           rank.waits_in(rank.entered);
      if (is_last && call == nullptr) call = &rank.calls.back();
      return is_last && rank.entered == call->number;
    };
    if (account.ranks.size() < 2 || !account.is_numbered_alike) continue;
    if (!std::ranges::all_of(account.ranks, waits)) continue;
    const auto shortage = shortage_in(account, call->number - 1);
    const auto before = shortage_in(account, call->number - 2);
    if (!shortage || !before || shortage->by_rank.size() != 1 || !before->by_rank.empty()) continue;
    const auto [named, lacking] = *shortage->by_rank.begin();
    const auto rank = std::ranges::find(account.ranks, named, &LedgerRank::rank);
    if (rank == account.ranks.end()) continue;
    FactValue value = yes(
        fmt::format("all ranks wait in collective {} of {}, and before it rank {} made {} fewer "
                    "sends and receives than its peers made with it",
                    call->number, group_words(account), named, lacking),
        {{rank->dump->where, fmt::format("rank {}: waits in collective {}", named, call->number)}});
    for (const LedgerRank& peer : account.ranks) {
      if (!shortage->peers.contains(peer.rank)) continue;
      value.evidence.push_back({peer.dump->where, fmt::format("rank {}: made them", peer.rank)});
    }
    blame(process_of_rank(job, named), named, value);
    return value;
  }
  return unknown();
}

}  // namespace ncclog
