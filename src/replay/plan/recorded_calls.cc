#include "replay/plan/recorded_calls.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "base/collectives.h"
#include "base/text.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

/// The members that `suits` holds of, of communicators with at least two of them.
template <typename Suits>
std::vector<Membership> members_with(const Job& job, Suits suits) {
  std::vector<Membership> result;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    std::vector<Membership> members;
    std::set<int> numbers;
    for (size_t r = 0; r < comm.ranks.size(); ++r) {
      const CommRank& rank = comm.ranks[r];
      if (rank.rank < 0 || rank.process < 0 || !suits(comm, rank)) continue;
      // Of two that say they are the same rank, the first one.
      if (!numbers.insert(rank.rank).second) continue;
      members.push_back({static_cast<int>(c), static_cast<int>(r)});
    }
    if (members.size() >= 2) result.insert(result.end(), members.begin(), members.end());
  }
  return result;
}

bool made_calls(const Job& job, const CommRank& rank) {
  const CollectiveCalls* calls = calls_of(job, rank);
  return calls != nullptr && calls->total > 0;
}

using Members = std::vector<Membership>::const_iterator;

CallWindow window_around(const CallWindow& common, uint64_t last) {
  return {common.from > last ? common.from - last : 0, common.to + kBeyond};
}

/// The windows of one communicator's members.
void add_communicator(const Job& job, Members begin, Members end, uint64_t last,
                      CallWindows& windows) {
  const Communicator& comm = job.communicators[begin->communicator];
  uint64_t least = std::numeric_limits<uint64_t>::max();
  std::map<int, Membership> by_rank;
  for (auto member = begin; member != end; ++member) {
    const CommRank& rank = rank_of(job, *member);
    least = std::min(least, calls_of(job, rank)->collectives.size());
    by_rank[rank.rank] = *member;
  }
  // How many collectives all of them made alike, and up to where a difference of them may be. It
  // may be known to lie in a wide stretch only; what is kept of it stays bounded.
  constexpr uint64_t kWidest = 4096;
  CallWindow common{least, least};
  if (comm.difference) {
    common.from = std::min(least, comm.difference->index);
    common.to = std::min(std::max(comm.difference->at_most, common.from), common.from + kWidest);
  }
  const auto messages = [&](const Membership& of, int peer, bool receives) {
    const auto& peers = calls_of(job, rank_of(job, of))->peers.all;
    const auto found = peers.find(peer);
    if (found == peers.end()) return uint64_t{0};
    return receives ? found->second.received.count : found->second.sent.count;
  };
  const auto add_messages = [&](int sender, int receiver) {
    const Membership& from = by_rank.at(sender);
    const Membership& to = by_rank.at(receiver);
    const uint64_t sent = messages(from, receiver, false);
    const uint64_t received = messages(to, sender, true);
    if (sent + received == 0) return;
    const uint64_t met = std::min(sent, received);
    windows[from].sent[receiver] = windows[to].received[sender] = window_around({met, met}, last);
  };
  for (const auto& [own, member] : by_rank) {
    windows[member].collectives = window_around(common, last);
    for (const auto& [peer, totals] : calls_of(job, rank_of(job, member))->peers.all) {
      if (!by_rank.contains(peer)) continue;
      add_messages(own, peer);
      add_messages(peer, own);
    }
  }
}

}  // namespace

const CommRank& rank_of(const Job& job, const Membership& member) {
  return job.communicators[member.communicator].ranks[member.member];
}

std::vector<Membership> covered_members(const Job& job) {
  for (const CallCoverage wanted : {CallCoverage::Counted, CallCoverage::AtLeast}) {
    auto members = members_with(job, [&](const Communicator& comm, const CommRank& rank) {
      return call_coverage(job, comm, rank) == wanted;
    });
    if (std::ranges::any_of(members, [&](const Membership& member) {
          return made_calls(job, rank_of(job, member));
        })) {
      return members;
    }
  }
  return members_with(
      job, [&](const Communicator&, const CommRank& rank) { return made_calls(job, rank); });
}

CallWindows call_windows(const Job& job, const std::vector<Membership>& members, uint64_t last) {
  CallWindows windows;
  for (auto begin = members.begin(); begin != members.end();) {
    const auto end = std::find_if(begin, members.end(), [&](const Membership& member) {
      return member.communicator != begin->communicator;
    });
    add_communicator(job, begin, end, last, windows);
    begin = end;
  }
  return windows;
}

namespace {

// Seats.

/// Processes that hold several ranks of one communicator.
std::set<int> processes_with_several(const Job& job, const std::vector<Membership>& members) {
  std::set<std::pair<int, int>> seen;
  std::set<int> several;
  for (const Membership& member : members) {
    const int process = rank_of(job, member).process;
    if (!seen.emplace(member.communicator, process).second) several.insert(process);
  }
  return several;
}

/// A process, and its GPU where it holds several ranks.
using SeatKey = std::pair<int, int>;

SeatKey seat_key(const CommRank& rank, const std::set<int>& several) {
  return {rank.process, several.contains(rank.process) ? rank.cuda_dev : -1};
}

/// Who is a member, by communicator.
using MembersOf = std::map<int, std::set<SeatKey>>;

/// `wanted` with the parents that they can be split off, parents first: those that are there with
/// all members of the child.
std::vector<int> with_parents(const Job& job, const MembersOf& members,
                              const std::vector<int>& wanted) {
  std::vector<int> order;
  std::set<int> placed;
  for (const int communicator : wanted) {
    std::vector<int> line;
    for (int c = communicator; c >= 0 && members.contains(c) && placed.insert(c).second;) {
      line.push_back(c);
      const int parent = job.communicators[c].parent;
      const auto above = members.find(parent);
      const bool can_split =
          above != members.end() && std::ranges::includes(above->second, members.at(c));
      c = can_split ? parent : -1;
    }
    order.insert(order.end(), line.rbegin(), line.rend());
  }
  return order;
}

/// The rank that a seat has in the communicator of all ranks, else as its process is called.
int recorded_rank(const Job& job, const Seat& seat, const std::vector<Membership>& of) {
  for (const Membership& member : of) {
    const Communicator& comm = job.communicators[member.communicator];
    if (job.nranks && comm.nranks == *job.nranks) return rank_of(job, member).rank;
  }
  return seat.cuda_dev >= 0 ? -1 : job.processes[seat.process].rank;
}

}  // namespace

int PlanSeats::place_of(int communicator) const {
  const auto found = std::ranges::find(communicators, communicator);
  return found == communicators.end() ? -1 : static_cast<int>(found - communicators.begin());
}

std::vector<int> PlanSeats::ranks_of(const Job& job, int communicator) const {
  std::vector<std::pair<int, int>> ranks;
  const auto begin = seat_of.lower_bound({communicator, -1});
  for (auto at = begin; at != seat_of.end() && at->first.communicator == communicator; ++at) {
    ranks.emplace_back(rank_of(job, at->first).rank, at->second);
  }
  std::ranges::sort(ranks);
  std::vector<int> result;
  for (const auto& [rank, seat] : ranks) result.push_back(seat);
  return result;
}

int PlanSeats::number_of(int communicator, int rank) const {
  const auto found = numbers.find({communicator, rank});
  return found == numbers.end() ? -1 : found->second;
}

PlanSeats plan_seats(const Job& job, const std::vector<Membership>& members,
                     const std::vector<int>& wanted) {
  const std::set<int> several = processes_with_several(job, members);
  MembersOf members_of;
  for (const Membership& member : members) {
    members_of[member.communicator].insert(seat_key(rank_of(job, member), several));
  }
  PlanSeats result;
  result.communicators = with_parents(job, members_of, wanted);
  std::map<SeatKey, std::vector<Membership>> by_seat;
  for (const Membership& member : members) {
    if (result.place_of(member.communicator) < 0) continue;
    by_seat[seat_key(rank_of(job, member), several)].push_back(member);
  }
  std::vector<std::pair<Seat, const std::vector<Membership>*>> sorted;
  for (const auto& [key, of] : by_seat) {
    Seat seat{key.first, key.second, -1};
    seat.recorded_rank = recorded_rank(job, seat, of);
    sorted.emplace_back(seat, &of);
  }
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
    return std::tuple(a.first.recorded_rank < 0, a.first.recorded_rank) <
           std::tuple(b.first.recorded_rank < 0, b.first.recorded_rank);
  });
  for (const auto& [seat, of] : sorted) {
    for (const Membership& member : *of) {
      result.seat_of[member] = static_cast<int>(result.seats.size());
    }
    result.seats.push_back(seat);
  }
  // Members are sorted by communicator and, within it, by rank.
  std::map<int, int> counted;
  for (const auto& [member, seat] : result.seat_of) {
    result.numbers[{member.communicator, rank_of(job, member).rank}] =
        counted[member.communicator]++;
  }
  return result;
}

std::vector<int> host_groups(const Job& job, const PlanSeats& seats) {
  std::map<int, std::string> host_ids;
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name != "NCCL_HOSTID") continue;
    for (const int process : setting.processes) host_ids[process] = setting.value;
  }
  std::map<std::pair<bool, std::string>, int> numbers;
  std::vector<int> groups;
  for (const Seat& seat : seats.seats) {
    const auto id = host_ids.find(seat.process);
    const bool has_id = id != host_ids.end();
    const std::pair key(has_id, has_id ? id->second : job.processes[seat.process].host);
    groups.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
  }
  return groups;
}

namespace {

// The calls, by their lines.

/// "… [nranks=8] stream 0x5581aa30": the pointer at the end of a COLL line.
uint64_t stream_of(std::string_view message) {
  constexpr std::string_view kWord = " stream ";
  const size_t at = message.rfind(kWord);
  if (at == std::string_view::npos) return 0;
  return parse_hex(trim(message.substr(at + kWord.size()))).value_or(0);
}

void read_buffers(const Event& event, bool is_trace, RecordedCall& call) {
  if (is_trace) {
    const auto line = read_message<CallTrace>(event.message);
    call.sendbuff = line.sendbuff.value;
    call.recvbuff = line.recvbuff.value;
    call.stream = line.stream.value;
  } else {
    const auto line = read_message<CollectiveCall>(event.message);
    call.sendbuff = line.sendbuff.value;
    call.recvbuff = line.recvbuff.value;
    call.op_count = line.op_count.value;
    call.stream = stream_of(event.header.message);
  }
  // A message has one buffer, and releases differ in where they print that of Send.
  if (is_message(call.call.op.view())) {
    const uint64_t buffer = call.sendbuff != 0 ? call.sendbuff : call.recvbuff;
    const bool sends = call.call.op.operation() == Operation::Send;
    call.sendbuff = sends ? buffer : 0;
    call.recvbuff = sends ? 0 : buffer;
  }
}

}  // namespace

CallRecorder::CallRecorder(const Job& job, const CallWindows& windows) {
  std::map<std::pair<int, int>, Membership> of;
  for (const auto& [member, window] : windows) {
    const CommRank& rank = rank_of(job, member);
    of[{rank.log, rank.segment}] = member;
    recorded_.members.push_back(member);
  }
  for (size_t log = 0; log < job.logs.size(); ++log) add_speaker(job, log, of, windows);
}

void CallRecorder::add_speaker(const Job& job, size_t log,
                               const std::map<std::pair<int, int>, Membership>& of,
                               const CallWindows& windows) {
  const SpeakerLog& spoken = job.logs[log];
  const auto& all = spoken.comms.all;
  if (spoken.speaker.pid < 0 || !spoken.unplaced.empty()) return;
  for (size_t place = 0; place < all.size(); ++place) {
    const auto found = of.find({static_cast<int>(log), static_cast<int>(place)});
    if (found == of.end()) continue;
    const CommRank& rank = rank_of(job, found->second);
    const CommSegment& segment = segment_of(job, rank);
    Speaker& speaker = speakers_[{std::string_view(spoken.speaker.host), spoken.speaker.pid}];
    speaker.process = rank.process;
    Cursor& cursor = speaker.cursors[{segment.comm, life_of(all, place)}];
    cursor.member = found->second;
    cursor.by_traces = is_told_by_traces(segment);
    const MemberWindows& wanted = windows.at(found->second);
    cursor.collectives.wanted = wanted.collectives;
    for (const auto& [peer, window] : wanted.sent) cursor.sent[peer].wanted = window;
    for (const auto& [peer, window] : wanted.received) cursor.received[peer].wanted = window;
  }
}

void CallRecorder::follow_lives(Speaker& speaker, const Message& message) {
  CommSegments& lives = speaker.lives;
  const uint16_t kind = message.kind->index;
  if (kind == kKindIndex<CommInit>) lives.add({0, 1}, read_message<CommInit>(message));
  if (kind == kKindIndex<CommEnd>) lives.add({0, 1}, read_message<CommEnd>(message));
  if (kind == kKindIndex<CommLayout>) lives.add(read_message<CommLayout>(message));
  if (kind == kKindIndex<CallInit>) lives.add({0, 1}, read_message<CallInit>(message));
  if (kind == kKindIndex<CommAnnounced>) {
    lives.add({0, 1}, read_message<CommAnnounced>(message));
  }
}

void CallRecorder::follow_groups(Speaker& speaker, int64_t thread, std::string_view function) {
  Group& group = speaker.groups[thread];
  recorded_.has_groups = true;
  if (function == "ncclGroupStart") {
    if (group.depth++ == 0) group.number = groups_++;
  } else if (group.depth > 0) {
    --group.depth;
  }
}

CallRecorder::Cursor* CallRecorder::cursor_of(Speaker& speaker, const PrintedCall& call) {
  CommSegments& lives = speaker.lives;
  int place = lives.living_segment(call.comm);
  const bool is_known = place >= 0 && static_cast<size_t>(place) < speaker.by_place.size();
  if (is_known && speaker.by_place[place] != nullptr) {
    return speaker.by_place[place];
  }
  // The first call of a life is noted: by calls that were made one life is told from the next.
  place = lives.add_call({0, 1}, {}, call);
  if (static_cast<size_t>(place) >= speaker.by_place.size()) {
    speaker.by_place.resize(static_cast<size_t>(place) + 1, nullptr);
  }
  const auto found =
      speaker.cursors.find({call.comm, life_of(lives.all, static_cast<size_t>(place))});
  if (found == speaker.cursors.end()) return nullptr;
  return speaker.by_place[place] = &found->second;
}

void CallRecorder::add_call(Speaker& speaker, const Event& event, const PrintedCall& call) {
  Cursor* cursor = cursor_of(speaker, call);
  if (cursor == nullptr || cursor->by_traces != call.is_trace) return;
  const Operation operation = call.call.op.operation();
  const OperationTraits& traits = traits_of(operation);
  // One-sided operations: no replay makes them, but the plan says how many were left out.
  if (traits.is_point_to_point() && !traits.is_message()) {
    ++recorded_.other_calls;
    return;
  }
  Sequence* sequence = &cursor->collectives;
  if (traits.is_message()) {
    auto& peers = operation == Operation::Send ? cursor->sent : cursor->received;
    const auto found = peers.find(call.call.root);
    if (found == peers.end()) return;
    sequence = &found->second;
  }
  const uint64_t index = sequence->made++;
  if (index < sequence->wanted.from) ++cursor->earlier;
  if (!sequence->wanted.holds(index)) return;
  RecordedCall recorded{.by = cursor->member, .index = index, .call = call.call};
  read_buffers(event, call.is_trace, recorded);
  const auto group = speaker.groups.find(event.header.tid);
  if (group != speaker.groups.end() && group->second.depth > 0) {
    recorded.group = group->second.number;
  }
  recorded_.by_process[speaker.process].push_back(recorded);
}

RecordedCalls CallRecorder::take() {
  for (const auto& [name, speaker] : speakers_) {
    for (const auto& [life, cursor] : speaker.cursors) {
      if (cursor.earlier > 0) recorded_.earlier[cursor.member] = cursor.earlier;
    }
  }
  return std::move(recorded_);
}

void CallRecorder::add(const Event& event) {
  if (event.message.kind == nullptr || event.header.pid < 0) return;
  const auto found = speakers_.find({event.header.host, event.header.pid});
  if (found == speakers_.end()) return;
  if (const auto call = read_call(event)) {
    add_call(found->second, event, *call);
  } else if (event.message.kind->index == kKindIndex<GroupMark>) {
    follow_groups(found->second, event.header.tid, read_message<GroupMark>(event.message).function);
  } else {
    follow_lives(found->second, event.message);
  }
}

namespace {

std::vector<PlannedCall> kept_calls(const std::vector<PlannedCall>& calls, const PlanSeats& from,
                                    const PlanSeats& to) {
  std::vector<PlannedCall> kept;
  std::map<int, int> streams;
  std::map<int, int> sizes;
  for (PlannedCall call : calls) {
    call.communicator = to.place_of(from.communicators[call.communicator]);
    if (call.communicator < 0) continue;
    call.stream = streams.try_emplace(call.stream, static_cast<int>(streams.size())).first->second;
    ++sizes[call.group];
    kept.push_back(std::move(call));
  }
  for (PlannedCall& call : kept) {
    if (sizes[call.group] == 1) call.group = -1;
  }
  return kept;
}

}  // namespace

void project_calls(const ReplayPlan& all, const PlanSeats& from, const PlanSeats& to,
                   ReplayPlan& plan) {
  for (size_t s = 0; s < to.seats.size(); ++s) {
    const auto before = std::ranges::find_if(from.seats, [&](const Seat& other) {
      return other.process == to.seats[s].process && other.cuda_dev == to.seats[s].cuda_dev;
    });
    if (before == from.seats.end()) continue;
    const auto rank = static_cast<size_t>(before - from.seats.begin());
    plan.ranks[s].calls = kept_calls(all.ranks[rank].calls, from, to);
  }
}

}  // namespace ncclog
