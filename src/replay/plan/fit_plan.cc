// What of a plan can be run: the calls to which the clean run comes, and the ranks for which there
// are GPUs.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"

namespace ncclog {

int usual_stream(const std::vector<PlannedCall>& calls, const PlannedCall& call) {
  const auto last = std::find_if(calls.rbegin(), calls.rend(), [&](const PlannedCall& other) {
    return other.communicator == call.communicator && is_message(other.op) == is_message(call.op);
  });
  return last == calls.rend() ? 0 : last->stream;
}

namespace {

/// Both sides make the same call: function, count, datatype, reduction and root; of a message its
/// size alone.
bool can_meet(const PlannedCall& a, const PlannedCall& b) {
  if (a.count != b.count || a.datatype != b.datatype) return false;
  if (is_message(a.op)) return true;
  // Reductions of the job's own have another number on each rank.
  const bool reduce_alike =
      !is_reduction(a.op) || reduction_name(a.redop) == reduction_name(b.redop);
  return a.op == b.op && reduce_alike && (!has_root(a.op) || a.root == b.root);
}

/// The calls of a plan's clean run.
struct CleanCalls {
  std::vector<RankProgram> programs;        ///< By rank of the plan; lines by its communicators.
  std::vector<std::vector<size_t>> places;  ///< Of their calls: into PlannedRank::calls.
};

/// Places in the plan have to make sense. No buffer holds what a rank sends itself.
CleanCalls clean_calls(const ReplayPlan& plan, bool buffers_sends) {
  CleanCalls clean;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    RankProgram& program = clean.programs.emplace_back();
    std::vector<size_t>& places = clean.places.emplace_back();
    for (size_t c = 0; c < plan.ranks[r].calls.size(); ++c) {
      const PlannedCall& planned = plan.ranks[r].calls[c];
      if (planned.made_in == MadeIn::Defect) continue;
      RankCall& call = program.calls.emplace_back();
      places.push_back(c);
      call.line.communicator = planned.communicator;
      call.receives = operation_of(planned.op) == Operation::Recv;
      if (is_message(planned.op)) {
        const auto& communicator = plan.communicators[planned.communicator];
        const int own = rank_in(communicator, static_cast<int>(r));
        call.line.sender = call.receives ? planned.root : own;
        call.line.receiver = call.receives ? own : planned.root;
      }
      call.index = planned.index;
      call.stream = planned.stream;
      call.group = planned.group;
      call.is_buffered = buffers_sends && operation_of(planned.op) == Operation::Send &&
                         call.line.sender != call.line.receiver;
    }
  }
  return clean;
}

const PlannedCall& call_at(const ReplayPlan& plan, const CleanCalls& clean,
                           const SimulatedCall& place) {
  return plan.ranks[place.program].calls[clean.places[place.program][place.call]];
}

/// How many have to come there.
size_t expected_at(const ReplayPlan& plan, const CallLine& line) {
  return line.is_message() ? 2 : plan.communicators[line.communicator].ranks.size();
}

/// The clean run as far as it comes.
Simulation carry_out(const ReplayPlan& plan, const CleanCalls& clean) {
  // A plan knows its streams and groups.
  return Simulation(clean.programs, true, [&](const MeetingKey& key, const auto& calls) {
    const PlannedCall& first = call_at(plan, clean, calls.front());
    return calls.size() == expected_at(plan, key.line) &&
           std::ranges::all_of(calls, [&](const SimulatedCall& call) {
             return can_meet(first, call_at(plan, clean, call));
           });
  });
}

// For which calls does the clean run of a plan wait at its end, and for whom?
//
//   rank 0: AllReduce(28)        rank 1: nothing more
//       → rank 1, AllReduce(28) as rank 0 makes it

/// Ranks of the plan that did not come to it; none where who came called different things.
std::set<int> absent_from(const ReplayPlan& plan, const CleanCalls& clean, const MeetingKey& key,
                          const Meeting& meeting) {
  const auto came = meeting.came();
  if (came.empty() || came.size() >= expected_at(plan, key.line)) return {};
  const auto& ranks = plan.communicators[key.line.communicator].ranks;
  std::set<int> absent(ranks.begin(), ranks.end());
  if (key.line.is_message()) absent = {ranks[key.line.sender], ranks[key.line.receiver]};
  for (const SimulatedCall& call : came) {
    absent.erase(static_cast<int>(call.program));
    if (!can_meet(call_at(plan, clean, came.front()), call_at(plan, clean, call))) return {};
  }
  return absent;
}

/// The call, or another one in its place, is among the rank's own.
bool makes(const PlannedRank& rank, const PlannedCall& awaited) {
  return std::ranges::any_of(rank.calls, [&](const PlannedCall& own) {
    if (own.communicator != awaited.communicator || own.index != awaited.index) return false;
    if (!is_message(own.op) && !is_message(awaited.op)) return true;
    return own.op == awaited.op && own.root == awaited.root;
  });
}

/// What those make who are awaited at a meeting: the call of those who came; of a message its other
/// end.
PlannedCall awaited_call(const ReplayPlan& plan, const CleanCalls& clean, const CallLine& line,
                         const Meeting& meeting) {
  PlannedCall call = call_at(plan, clean, meeting.came().front());
  if (!line.is_message()) return call;
  const bool has_sent = operation_of(call.op) == Operation::Send;
  call.op = name_of(message_end(has_sent));
  call.root = has_sent ? line.sender : line.receiver;
  call.send_offset = call.recv_offset = 0;
  return call;
}

/// A group that is made in parts would be another group: it goes to the defect run as a whole.
void keep_groups_whole(PlannedRank& rank) {
  std::set<int> moved;
  for (const PlannedCall& call : rank.calls) {
    if (call.group >= 0 && call.made_in == MadeIn::Defect) moved.insert(call.group);
  }
  for (PlannedCall& call : rank.calls) {
    if (moved.contains(call.group)) call.made_in = MadeIn::Defect;
  }
}

/// The clean run comes to the call at the front of what the plan tests. A message has several of
/// its number; the one that is meant is the missing rank's.
bool comes_to_front(const ReplayPlan& plan, bool buffers_sends) {
  const FrontLine& front = *plan.hypothesis.front;
  const bool by_message = plan.hypothesis.kind == DefectKind::Message;
  const std::vector<std::vector<bool>> completed = completed_calls(plan, buffers_sends);
  return std::ranges::any_of(front.missing, [&](int rank) {
    const auto r = static_cast<size_t>(rank);
    for (size_t c = 0; c < plan.ranks[r].calls.size(); ++c) {
      const PlannedCall& call = plan.ranks[r].calls[c];
      const bool is_added = !by_message || call.made_in == MadeIn::Clean;
      if (completed[r][c] && is_added && is_at(call, front, by_message)) return true;
    }
    return false;
  });
}

/// Inserts a call before what the rank does not come to, on the stream that it uses for such.
void insert_call(const std::vector<bool>& completed, PlannedCall call,
                 std::vector<PlannedCall>& calls) {
  size_t place = 0;
  while (place < calls.size() && (completed[place] || calls[place].made_in == MadeIn::Defect)) {
    ++place;
  }
  call.stream = usual_stream(calls, call);
  call.group = -1;
  call.made_in = MadeIn::Clean;
  calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(place), std::move(call));
}

/// Lets the ranks that are missing at the front make the next call in which others wait for them;
/// where the front is a message, only a message. nullopt: nobody waits for them any more.
std::optional<PlannedCall> add_awaited_call(ReplayPlan& plan, bool buffers_sends) {
  const std::vector<int>& missing = plan.hypothesis.front->missing;
  const std::set<int> late(missing.begin(), missing.end());
  const CleanCalls clean = clean_calls(plan, buffers_sends);
  const Simulation simulation = carry_out(plan, clean);
  std::optional<PlannedCall> next;
  std::set<int> makers;
  for (const auto& [key, meeting] : simulation.meetings()) {
    if (plan.hypothesis.kind == DefectKind::Message && !key.line.is_message()) continue;
    const std::set<int> absent = absent_from(plan, clean, key, meeting);
    if (absent.empty() || !std::ranges::includes(late, absent)) continue;
    const PlannedCall call = awaited_call(plan, clean, key.line, meeting);
    // One call at a time: with it others may come to their ends for whom nobody waits then.
    if (next && call != *next) continue;
    for (const int rank : absent) {
      if (makes(plan.ranks[rank], call)) continue;
      next = call;
      makers.insert(rank);
    }
  }
  const std::vector<std::vector<bool>> completed = completed_calls(plan, buffers_sends);
  for (const int rank : makers) insert_call(completed[rank], *next, plan.ranks[rank].calls);
  return next;
}

/// One pass over the plan; true if something was moved or removed.
bool settle_once(ReplayPlan& plan, bool buffers_sends) {
  for (PlannedRank& rank : plan.ranks) keep_groups_whole(rank);
  const std::vector<std::vector<bool>> completed = completed_calls(plan, buffers_sends);
  bool changed = false;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    std::vector<PlannedCall> kept;
    for (size_t c = 0; c < plan.ranks[r].calls.size(); ++c) {
      PlannedCall& call = plan.ranks[r].calls[c];
      const bool is_unmet = !completed[r][c] && call.made_in != MadeIn::Defect;
      changed |= is_unmet;
      if (is_unmet && call.made_in == MadeIn::Clean) continue;
      if (is_unmet) call.made_in = MadeIn::Defect;
      kept.push_back(std::move(call));
    }
    plan.ranks[r].calls = std::move(kept);
  }
  return changed;
}

/// Adds calls until the clean run comes to the end of the call at the front, and so do those whose
/// groups it or its other end are in, or nobody waits any more. Gives how many others than that call
/// were added, 64 at most.
uint64_t extend_clean_run(ReplayPlan& plan, bool buffers_sends) {
  constexpr int kMostRounds = 64;
  const auto settles_at_front = [&] {
    if (!comes_to_front(plan, buffers_sends)) return false;
    ReplayPlan settled = plan;
    settle_clean_run(settled, buffers_sends);
    return comes_to_front(settled, buffers_sends);
  };
  uint64_t others = 0;
  for (int round = 0; round < kMostRounds && !settles_at_front(); ++round) {
    const std::optional<PlannedCall> added = add_awaited_call(plan, buffers_sends);
    if (!added) break;
    const bool by_message = plan.hypothesis.kind == DefectKind::Message;
    others += is_at(*added, *plan.hypothesis.front, by_message) ? 0 : 1;
  }
  return others;
}

}  // namespace

ReplayPlan numbered_by_order(ReplayPlan plan) {
  for (PlannedRank& rank : plan.ranks) {
    // By communicator and, of messages, function and peer.
    std::map<std::tuple<int, std::string_view, int>, uint64_t> made;
    for (PlannedCall& call : rank.calls) {
      if (call.made_in == MadeIn::Defect) continue;
      const bool has_peer = is_message(call.op);
      const std::string_view op = has_peer ? std::string_view(call.op) : "";
      call.index = made[{call.communicator, op, has_peer ? call.root : -1}]++;
    }
  }
  return plan;
}

std::vector<std::vector<bool>> completed_calls(const ReplayPlan& plan, bool buffers_sends) {
  const CleanCalls clean = clean_calls(plan, buffers_sends);
  const Simulation simulation = carry_out(plan, clean);
  std::vector<std::vector<bool>> result;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    const std::vector<PlannedCall>& calls = plan.ranks[r].calls;
    std::vector<bool>& completed = result.emplace_back(calls.size(), false);
    std::set<int> open;  // Groups: they end as a whole.
    for (uint32_t c = 0; c < clean.places[r].size(); ++c) {
      const size_t at = clean.places[r][c];
      completed[at] = simulation.has_ended({static_cast<uint32_t>(r), c});
      if (!completed[at] && calls[at].group >= 0) open.insert(calls[at].group);
    }
    for (const size_t at : clean.places[r]) {
      if (open.contains(calls[at].group)) completed[at] = false;
    }
  }
  return result;
}

bool clean_run_ends(const ReplayPlan& plan, bool buffers_sends) {
  const std::vector<std::vector<bool>> completed = completed_calls(plan, buffers_sends);
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    for (size_t c = 0; c < plan.ranks[r].calls.size(); ++c) {
      if (plan.ranks[r].calls[c].made_in != MadeIn::Defect && !completed[r][c]) return false;
    }
  }
  return true;
}

void settle_clean_run(ReplayPlan& plan, bool buffers_sends) {
  // A call whose group does not end is taken from others that met it.
  while (settle_once(plan, buffers_sends)) {
  }
}

void fit_calls(ReplayPlan& plan, PlanMaking& making) {
  const Hypothesis& hypothesis = plan.hypothesis;
  if (making.extends_clean_run) making.awaited = extend_clean_run(plan, making.buffers_sends);
  settle_clean_run(plan, making.buffers_sends);
  making.clean_run_ends_before =
      making.has_to_reach && !any_call(plan, [&](const PlannedCall& call) {
        const bool by_message = hypothesis.kind == DefectKind::Message;
        return is_at(call, *hypothesis.front, by_message) && call.made_in != MadeIn::Defect;
      });
  if (hypothesis.kind != DefectKind::None && hypothesis.kind != DefectKind::Stall) return;
  for (PlannedRank& rank : plan.ranks) {
    making.unmet += std::erase_if(
        rank.calls, [](const PlannedCall& call) { return call.made_in == MadeIn::Defect; });
  }
}

namespace {

/// Ranks of the plan that are roots of the collective at the front, of the clean run first.
std::vector<int> roots_at_front(const ReplayPlan& plan) {
  std::vector<int> roots;
  if (!plan.hypothesis.front || plan.hypothesis.kind == DefectKind::Message) return roots;
  const FrontLine& front = *plan.hypothesis.front;
  const auto& members = plan.communicators[front.communicator].ranks;
  for (const MadeIn mode : {MadeIn::Clean, MadeIn::Defect}) {
    for (const PlannedRank& rank : plan.ranks) {
      for (const PlannedCall& call : calls_in(rank, mode)) {
        const bool is_meant = is_at(call, front, false) && has_root(call.op) && call.root >= 0;
        if (!is_meant || static_cast<size_t>(call.root) >= members.size()) continue;
        const int root = members[call.root];
        if (!is_among(roots, root)) roots.push_back(root);
      }
    }
  }
  return roots;
}

/// Ranks chosen so far, and what tells how much another one adds to them.
struct Choice {
  const ReplayPlan& plan;
  std::vector<std::vector<int>> communicators_of;  ///< By rank.
  /// Of the communicator of which ranks are kept first: the one that stands still, else the
  /// largest.
  std::vector<int> members;
  std::set<int> kept;
  std::set<int> hosts;          ///< Of the kept ranks.
  std::set<int> communicators;  ///< With a kept rank.
};

Choice begin_choice(const ReplayPlan& plan) {
  Choice choice{.plan = plan, .communicators_of = std::vector<std::vector<int>>(plan.ranks.size())};
  const auto& front = plan.hypothesis.front;
  for (size_t c = 0; c < plan.communicators.size(); ++c) {
    const std::vector<int>& ranks = plan.communicators[c].ranks;
    for (const int rank : ranks) choice.communicators_of[rank].push_back(static_cast<int>(c));
    const bool is_central = front ? static_cast<size_t>(front->communicator) == c
                                  : ranks.size() > choice.members.size();
    if (is_central) choice.members = ranks;
  }
  return choice;
}

void keep(Choice& choice, int rank) {
  if (!choice.kept.insert(rank).second) return;
  choice.hosts.insert(choice.plan.ranks[rank].host_group);
  const std::vector<int>& of_rank = choice.communicators_of[rank];
  choice.communicators.insert(of_rank.begin(), of_rank.end());
}

/// The rank came to the call in question as it should.
bool is_witness(const ReplayPlan& plan, int rank) {
  const auto& front = plan.hypothesis.front;
  return front && is_among(front->entered, rank) && !is_among(plan.hypothesis.diverged, rank);
}

/// Higher is better: a witness of the test, on another host, who shares communicators.
auto merit(const Choice& choice, int rank) {
  const ReplayPlan& plan = choice.plan;
  const std::vector<int>& of_rank = choice.communicators_of[rank];
  const bool diverged = is_among(plan.hypothesis.diverged, rank);
  const bool other_host = !choice.hosts.contains(plan.ranks[rank].host_group);
  const auto shared =
      std::ranges::count_if(of_rank, [&](int c) { return choice.communicators.contains(c); });
  return std::tuple(is_among(choice.members, rank), is_witness(plan, rank), !diverged, other_host,
                    shared, -rank);
}

}  // namespace

std::vector<int> kept_ranks(const ReplayPlan& plan, int gpus) {
  const auto most = static_cast<size_t>(std::max(0, gpus));
  const Hypothesis& hypothesis = plan.hypothesis;
  Choice choice = begin_choice(plan);
  // Of the message in question both ends: where nobody is named, either of them may have diverged.
  if (most >= 2 && hypothesis.kind == DefectKind::Message && hypothesis.front) {
    for (const std::vector<int>* ends : {&hypothesis.front->missing, &hypothesis.front->entered}) {
      if (!ends->empty()) keep(choice, ends->front());
    }
  }
  for (const int rank : hypothesis.diverged) {
    const bool is_room = choice.kept.size() < std::max<size_t>(1, most / 2);
    if (is_room && is_among(choice.members, rank)) keep(choice, rank);
  }
  // One place is left to a rank that entered the call in question.
  for (const int root : roots_at_front(plan)) {
    const bool is_witnessed =
        is_witness(plan, root) ||
        std::ranges::any_of(choice.kept, [&](int rank) { return is_witness(plan, rank); });
    if (choice.kept.size() + (is_witnessed ? 0 : 1) < most) keep(choice, root);
  }
  while (choice.kept.size() < std::min(most, plan.ranks.size())) {
    int best = -1;
    for (int rank = 0; rank < static_cast<int>(plan.ranks.size()); ++rank) {
      if (choice.kept.contains(rank)) continue;
      if (best < 0 || merit(choice, best) < merit(choice, rank)) best = rank;
    }
    keep(choice, best);
  }
  return {choice.kept.begin(), choice.kept.end()};
}

namespace {

// What is left of a plan when only some of its ranks are kept.
//
//   ranks 0 and 5 of 8   → they become 0 and 1, and rank 0 stands for the six that made its calls
//
// Calls keep their order and their numbers. Communicators with fewer than two kept ranks go, with
// their calls; so do messages to ranks that are not kept; a root that is not kept becomes the
// lowest rank. What is lost is among the plan's losses.

/// A plan that becomes smaller.
struct Shrinking {
  const ReplayPlan& plan;
  std::map<int, int> ranks;          ///< Of those that are kept: their new number by the old one.
  std::map<int, int> communicators;  ///< Likewise.
  ReplayPlan result;
  /// What went with the ranks that are not kept, as plan_words.table calls it.
  std::map<std::string, uint64_t> lost = {{"gone", 0}, {"calls", 0}, {"messages", 0}, {"roots", 0}};
  /// Ranks of the job that no kept rank stands for; -1: one that is not known.
  std::vector<int> alone = {};

  std::vector<int> renamed(const std::vector<int>& old) const {
    std::vector<int> kept;
    for (const int rank : old) {
      if (const auto found = ranks.find(rank); found != ranks.end()) kept.push_back(found->second);
    }
    return kept;
  }
};

void shrink_communicators(Shrinking& s) {
  s.result.communicators.clear();
  for (size_t c = 0; c < s.plan.communicators.size(); ++c) {
    PlannedCommunicator comm = s.plan.communicators[c];
    comm.ranks = s.renamed(comm.ranks);
    if (comm.ranks.size() < 2) {
      ++s.lost["gone"];
      continue;
    }
    if (comm.parent >= 0) comm.parent = s.communicators.at(comm.parent);
    s.communicators[static_cast<int>(c)] = static_cast<int>(s.result.communicators.size());
    s.result.communicators.push_back(std::move(comm));
  }
}

/// The number in its smaller communicator of a rank of the old one; -1: it is not kept.
int new_root(const Shrinking& s, int communicator, int root) {
  const std::vector<int>& old_ranks = s.plan.communicators[communicator].ranks;
  if (root < 0 || static_cast<size_t>(root) >= old_ranks.size()) return -1;
  const auto rank = s.ranks.find(old_ranks[root]);
  if (rank == s.ranks.end()) return -1;
  const auto number = static_cast<size_t>(s.communicators.at(communicator));
  return rank_in(s.result.communicators[number], rank->second);
}

/// False if the call goes.
bool keep_call(Shrinking& s, PlannedCall& call) {
  const auto communicator = s.communicators.find(call.communicator);
  if (communicator == s.communicators.end()) {
    ++s.lost["calls"];
    return false;
  }
  const int root = new_root(s, call.communicator, call.root);
  const bool is_root_lost = call.root >= 0 && root < 0;
  if (is_root_lost && is_message(call.op)) {
    ++s.lost["messages"];
    return false;
  }
  if (is_root_lost) ++s.lost["roots"];
  if (call.root >= 0) call.root = std::max(0, root);
  call.communicator = communicator->second;
  return true;
}

void shrink_ranks(Shrinking& s) {
  s.result.ranks.clear();
  std::map<int, int> hosts;  // Numbered anew, by first use.
  for (const auto& [old_rank, new_rank] : s.ranks) {
    PlannedRank rank = s.plan.ranks[old_rank];
    std::vector<PlannedCall> calls;
    for (PlannedCall& call : rank.calls) {
      if (keep_call(s, call)) calls.push_back(std::move(call));
    }
    rank.host_group =
        hosts.try_emplace(rank.host_group, static_cast<int>(hosts.size())).first->second;
    rank.left_out += rank.calls.size() - calls.size();
    rank.calls = std::move(calls);
    s.result.ranks.push_back(std::move(rank));
  }
}

/// What ranks that may stand for each other have in common.
std::string program_text(const ReplayPlan& plan, const PlannedRank& rank) {
  std::string text;
  for (const PlannedCall& call : rank.calls) {
    const auto& comm = plan.communicators[call.communicator];
    text += fmt::format("{} {} {} {} {} {};", comm.recorded_nranks, call.op, call.count,
                        call.datatype, call.redop, static_cast<int>(call.made_in));
  }
  return text;
}

/// Of ranks that made the same calls the first one that is kept stands for those that are not.
void fold(Shrinking& s) {
  const auto is_kept = [&s](int rank) { return s.ranks.contains(rank); };
  std::map<std::string, std::vector<int>> by_program;
  for (size_t r = 0; r < s.plan.ranks.size(); ++r) {
    by_program[program_text(s.plan, s.plan.ranks[r])].push_back(static_cast<int>(r));
  }
  for (const auto& [text, ranks] : by_program) {
    const auto kept = std::ranges::find_if(ranks, is_kept);
    for (const int rank : ranks) {
      if (is_kept(rank)) continue;
      const PlannedRank& old = s.plan.ranks[rank];
      if (kept == ranks.end()) {
        s.alone.push_back(old.recorded_rank);
        continue;
      }
      auto& stands_for = s.result.ranks[s.ranks.at(*kept)].stands_for;
      stands_for.insert(stands_for.end(), old.stands_for.begin(), old.stands_for.end());
      if (old.recorded_rank >= 0) stands_for.push_back(old.recorded_rank);
    }
  }
  for (PlannedRank& rank : s.result.ranks) std::ranges::sort(rank.stands_for);
}

// What a plan loses that is replayed on fewer GPUs, in the sentences of its losses.
//
//   "8 ranks are replayed by 2: every communicator is smaller, and its rings and trees are others."
//   "No kept rank made the same calls as ranks 5."

/// One sentence each.
std::vector<std::string> loss_sentences(const Shrinking& s) {
  std::vector<int> known = s.alone;
  std::erase(known, -1);
  Telling telling{.table = kPlanWords, .conditions = {{"alone", !s.alone.empty()}}};
  telling.add("ranks", std::to_string(s.plan.ranks.size()));
  telling.add("kept", std::to_string(s.ranks.size()));
  telling.add("alone", known.empty() ? "some that are left out" : "ranks " + ranges_text(known));
  telling.add("communicators", std::to_string(s.plan.communicators.size()));
  for (const auto& [name, count] : s.lost) telling.add_count(name, count);
  return telling.say("shrunk");
}

/// The plan of the ranks `kept` of `plan`, ascending. The communicator that stands still has to
/// keep two of them.
ReplayPlan smaller_plan(const ReplayPlan& plan, const std::vector<int>& kept) {
  Shrinking s{.plan = plan, .ranks = {}, .communicators = {}, .result = plan};
  for (size_t k = 0; k < kept.size(); ++k) s.ranks[kept[k]] = static_cast<int>(k);
  shrink_communicators(s);
  shrink_ranks(s);
  fold(s);
  Hypothesis& hypothesis = s.result.hypothesis;
  hypothesis.diverged = s.renamed(hypothesis.diverged);
  if (hypothesis.front) {
    FrontLine& front = *hypothesis.front;
    front.communicator = s.communicators.at(front.communicator);
    front.entered = s.renamed(front.entered);
    front.missing = s.renamed(front.missing);
  }
  s.result.settings.clear();
  for (PlannedSetting setting : plan.settings) {
    const bool of_all = setting.ranks.empty();
    setting.ranks = s.renamed(setting.ranks);
    if (!of_all && setting.ranks.empty()) continue;
    if (setting.ranks.size() == kept.size()) setting.ranks.clear();
    s.result.settings.push_back(std::move(setting));
  }
  for (std::string& sentence : loss_sentences(s)) s.result.losses.push_back(std::move(sentence));
  return std::move(s.result);
}

/// True if both runs make the same calls; of the communicator that stands still, if one does.
bool runs_are_alike(const ReplayPlan& plan) {
  const auto is_elsewhere = [&](const PlannedCall& call) {
    const auto& front = plan.hypothesis.front;
    return front && call.communicator != front->communicator;
  };
  return std::ranges::all_of(plan.ranks, [&](const PlannedRank& rank) {
    std::vector<PlannedCall> clean = calls_in(rank, MadeIn::Clean);
    std::vector<PlannedCall> defect = calls_in(rank, MadeIn::Defect);
    for (auto* calls : {&clean, &defect}) {
      std::erase_if(*calls, is_elsewhere);
      for (PlannedCall& call : *calls) call.made_in = MadeIn::Both;
    }
    return clean == defect;
  });
}

}  // namespace

ReplayPlan shrink_plan(const ReplayPlan& plan, int gpus) {
  if (gpus < 2) refuse_plan("one-gpu");
  if (plan.ranks.size() <= static_cast<size_t>(gpus)) return plan;
  const auto with_ranks = [&plan](int most) { return smaller_plan(plan, kept_ranks(plan, most)); };
  ReplayPlan small = with_ranks(gpus);
  if (is_empty(small)) refuse_plan("calls-name-others", {{"gpus", std::to_string(gpus)}});
  if (!runs_are_alike(small) || runs_are_alike(plan)) return small;
  int enough = gpus + 1;
  while (runs_are_alike(with_ranks(enough))) ++enough;
  refuse_plan("runs-alike", {{"gpus", std::to_string(gpus)}, {"enough", std::to_string(enough)}});
}

}  // namespace ncclog
