#include "replay/plan/recorded_calls.h"

#include <algorithm>
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

// The calls, by their lines.

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
    // "… [nranks=8] stream 0x5581aa30": the pointer at the end of a COLL line.
    constexpr std::string_view kWord = " stream ";
    const std::string_view message = event.header.message;
    const size_t at = message.rfind(kWord);
    if (at != message.npos)
      call.stream = parse_hex(trim(message.substr(at + kWord.size()))).value_or(0);
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

CallRecorder::CallRecorder(const Job& job, CallWindows windows) : windows_(std::move(windows)) {
  std::map<std::pair<int, int>, Cursor*> cursors;  // By log and segment.
  for (Cursor& cursor : windows_) {
    const CommRank& rank = rank_of(job, cursor.first);
    cursors[{rank.log, rank.segment}] = &cursor;
    recorded_.members.push_back(cursor.first);
  }
  for (const auto& [place, cursor] : cursors) {
    const auto& [log, segment_place] = place;
    const SpeakerLog& own = job.logs[log];
    if (own.speaker.pid < 0 || !own.unplaced.empty()) continue;
    const CommRank& rank = rank_of(job, cursor->first);
    const CommSegment& segment = segment_of(job, rank);
    Source& source = sources_[{std::string_view(own.speaker.host), own.speaker.pid}];
    source.process = rank.process;
    cursor->second.by_traces = is_told_by_traces(segment);
    source.cursors[{segment.comm, life_of(own.comms.all, static_cast<size_t>(segment_place))}] =
        cursor;
  }
}

void CallRecorder::follow_groups(Source& source, int64_t thread, std::string_view function) {
  std::vector<int64_t>& open = source.groups[thread];
  recorded_.has_groups = true;
  if (function == "ncclGroupStart") {
    open.push_back(open.empty() ? groups_++ : open.front());
  } else if (!open.empty()) {
    open.pop_back();
  }
}

CallRecorder::Cursor* CallRecorder::cursor_of(Source& source, const PrintedCall& call) {
  CommSegments& lives = source.lives;
  int place = lives.living_segment(call.comm);
  const bool is_known = place >= 0 && static_cast<size_t>(place) < source.by_place.size();
  if (is_known && source.by_place[place] != nullptr) return source.by_place[place];
  // The first call of a life is noted: by calls that were made one life is told from the next.
  place = lives.add_call({0, 1}, {}, call);
  if (static_cast<size_t>(place) >= source.by_place.size()) {
    source.by_place.resize(static_cast<size_t>(place) + 1, nullptr);
  }
  const auto found =
      source.cursors.find({call.comm, life_of(lives.all, static_cast<size_t>(place))});
  if (found == source.cursors.end()) return nullptr;
  return source.by_place[place] = found->second;
}

void CallRecorder::add_call(Source& source, const Event& event, const PrintedCall& call) {
  Cursor* cursor = cursor_of(source, call);
  if (cursor == nullptr || cursor->second.by_traces != call.is_trace) return;
  const Operation operation = call.call.op.operation();
  const OperationTraits& traits = traits_of(operation);
  // One-sided operations: no replay makes them, but the plan says how many were left out.
  if (traits.is_point_to_point() && !traits.is_message()) {
    ++recorded_.other_calls;
    return;
  }
  MemberWindows& wanted = cursor->second;
  CallWindow* window = &wanted.collectives;
  if (traits.is_message()) {
    auto& peers = operation == Operation::Send ? wanted.sent : wanted.received;
    const auto found = peers.find(call.call.root);
    if (found == peers.end()) return;
    window = &found->second;
  }
  const uint64_t index = window->made++;
  if (index < window->from) ++wanted.earlier;
  if (!window->holds(index)) return;
  RecordedCall recorded{.by = cursor->first, .index = index, .call = call.call};
  read_buffers(event, call.is_trace, recorded);
  const auto open = source.groups.find(event.header.tid);
  if (open != source.groups.end() && !open->second.empty()) recorded.group = open->second.front();
  recorded_.by_process[source.process].push_back(recorded);
}

RecordedCalls CallRecorder::take() {
  for (const auto& [member, wanted] : windows_) {
    if (wanted.earlier > 0) recorded_.earlier[member] = wanted.earlier;
  }
  return std::move(recorded_);
}

void CallRecorder::add(const Event& event) {
  const Message& message = event.message;
  if (message.kind == nullptr || event.header.pid < 0) return;
  const auto found = sources_.find({event.header.host, event.header.pid});
  if (found == sources_.end()) return;
  if (const auto call = read_call(event)) return add_call(found->second, event, *call);
  CommSegments& lives = found->second.lives;
  const uint16_t kind = message.kind->index;
  if (kind == kKindIndex<GroupMark>) {
    follow_groups(found->second, event.header.tid, read_message<GroupMark>(message).function);
  }
  if (kind == kKindIndex<CommInit>) lives.add({0, 1}, read_message<CommInit>(message));
  if (kind == kKindIndex<CommEnd>) lives.add({0, 1}, read_message<CommEnd>(message));
  if (kind == kKindIndex<CommLayout>) lives.add(read_message<CommLayout>(message));
  if (kind == kKindIndex<CallInit>) lives.add({0, 1}, read_message<CallInit>(message));
  if (kind == kKindIndex<CommAnnounced>) lives.add({0, 1}, read_message<CommAnnounced>(message));
}

void project_calls(const ReplayPlan& all, const PlanSeats& from, const PlanSeats& to,
                   ReplayPlan& plan) {
  for (size_t s = 0; s < to.seats.size(); ++s) {
    const auto before = std::ranges::find_if(from.seats, [&](const Seat& other) {
      return other.process == to.seats[s].process && other.cuda_dev == to.seats[s].cuda_dev;
    });
    if (before == from.seats.end()) continue;
    std::vector<PlannedCall>& kept = plan.ranks[s].calls;
    std::map<int, int> streams;
    std::map<int, int> sizes;  // Of groups.
    for (PlannedCall call : all.ranks[before - from.seats.begin()].calls) {
      call.communicator = to.place_of(from.communicators[call.communicator]);
      if (call.communicator < 0) continue;
      call.stream =
          streams.try_emplace(call.stream, static_cast<int>(streams.size())).first->second;
      ++sizes[call.group];
      kept.push_back(std::move(call));
    }
    for (PlannedCall& call : kept) {
      if (sizes[call.group] == 1) call.group = -1;
    }
  }
}

}  // namespace ncclog
