#include "diagnose/calls/rank_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/calls/memberships.h"
#include "log/event.h"
#include "log/line/header.h"
#include "log/messages.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

/// Number of a member in the job, else in the communicator.
int number_of(const Job& job, const CommRank& rank) {
  if (rank.process < 0) return rank.rank;
  const int number = nth_process(job, rank.process).rank;
  return number >= 0 ? number : rank.rank;
}

/// By peer, and whether they were received.
using Counts = std::map<std::pair<int, bool>, uint64_t>;

/// By log and segment.
using TapeCounts = std::map<std::pair<int, int>, Counts>;

/// The calls of all segments in their order; nullptr: they are counted by different kinds of lines,
/// or not all are kept. Owned by the log.
const CallTape* whole_tape(const SpeakerLog& log) {
  std::optional<bool> by_traces;
  for (const CommSegment& segment : log.comms.all) {
    if (calls_of(segment).total == 0) continue;
    const bool traces = is_told_by_traces(segment);
    if (by_traces && *by_traces != traces) return nullptr;
    by_traces = traces;
  }
  if (!by_traces) return nullptr;
  const CallTape& tape = *by_traces ? log.traces->tape : log.calls->tape;
  return tape.kept() == tape.total() ? &tape : nullptr;
}

/// Of the logs that tell more than is counted.
TapeCounts tape_counts(const Job& job) {
  TapeCounts counts;
  for (size_t log = 0; log < job.logs.size(); ++log) {
    const bool has_other_peers = std::ranges::any_of(
        job.logs[log].comms.all,
        [](const CommSegment& segment) { return calls_of(segment).peers.other > 0; });
    const CallTape* tape = has_other_peers ? whole_tape(job.logs[log]) : nullptr;
    if (tape == nullptr) continue;
    std::vector<uint64_t> by_entry(tape->entries().size());
    for (const uint16_t id : tape->calls()) ++by_entry[id];
    for (size_t id = 0; id < by_entry.size(); ++id) {
      const auto& [segment, call] = tape->entries()[id];
      const Operation operation = call.op.operation();
      if (!traits_of(operation).is_message()) continue;
      const bool receives = operation == Operation::Recv;
      counts[{static_cast<int>(log), segment}][{call.root, receives}] += by_entry[id];
    }
  }
  return counts;
}

/// nullptr: they are not kept.
const Counts* counts_on_tape(const Job& job, const CommRank& rank) {
  const TapeCounts& counts = job.answers.of<&tape_counts>(job);
  const auto found = counts.find({rank.log, rank.segment});
  return found == counts.end() ? nullptr : &found->second;
}

/// As they are counted for the lowest peers; nullptr: for this one they are not.
const PeerMessages* counted_messages(const CollectiveCalls& calls, int peer, bool receives) {
  static const PeerMessages kNone;
  const auto known = calls.peers.all.find(peer);
  if (known != calls.peers.all.end()) {
    return receives ? &known->second.received : &known->second.sent;
  }
  // Of the peers that are not counted all are higher than those that are.
  const bool are_none = calls.peers.other == 0 || peer < calls.peers.all.rbegin()->first;
  return are_none ? &kNone : nullptr;
}

/// Those whose calls are counted, by log and segment.
using Members = std::map<std::pair<int, int>, MemberCalls>;

Members counted_members(const Job& job) {
  Members members;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    for (const CommRank& rank : comm.ranks) {
      if (rank.rank < 0 || call_coverage(job, comm, rank) != CallCoverage::Counted) continue;
      members[{rank.log, rank.segment}] = {static_cast<int>(c), &rank, calls_of(job, rank)};
    }
  }
  return members;
}

std::optional<RankCall> read_entry(const CallTape::Entry& entry, const MemberCalls& member) {
  RankCall call{.line = {.communicator = member.communicator}, .op = entry.call.op};
  const Operation operation = entry.call.op.operation();
  if (!traits_of(operation).is_point_to_point()) return call;
  // One-sided operations have no other end that prints a line.
  if (!traits_of(operation).is_message() || entry.call.root < 0) return std::nullopt;
  const bool sends = operation == Operation::Send;
  call.receives = !sends;
  call.line.sender = sends ? member.rank->rank : entry.call.root;
  call.line.receiver = sends ? entry.call.root : member.rank->rank;
  return call;
}

/// Numbers the calls, of which the last of each line is the last that was made. `ranks`: who made
/// them, by kind.
void number_calls(const Job& job, const std::vector<const CommRank*>& ranks,
                  std::vector<RankCall>& calls) {
  // From the end: how many calls were made is known, the number of the first that is kept is not.
  std::map<CallEnd, uint64_t> left;
  auto place = left.end();
  for (RankCall& call : std::views::reverse(calls)) {
    // Most calls are of the same line as the one after them.
    if (place == left.end() || place->first != call.end()) {
      const auto [entry, is_new] = left.try_emplace(call.end(), 0);
      const CommRank& rank = *ranks[static_cast<size_t>(call.kind)];
      if (is_new) entry->second = calls_made(job, rank, call.end());
      place = entry;
    }
    call.index = place->second > 0 ? --place->second : 0;
  }
}

void add_log(const Job& job, int log, const Members& members, std::vector<RankProgram>& result) {
  const CallTape* tape = whole_tape(job.logs[static_cast<size_t>(log)]);
  if (tape == nullptr) return;
  std::vector<RankCall> made;          // By entry.
  std::vector<const CommRank*> ranks;  // Likewise; nullptr: the entry is in no program.
  for (const CallTape::Entry& entry : tape->entries()) {
    const auto member = members.find({log, entry.segment});
    auto call = member == members.end() ? std::nullopt : read_entry(entry, member->second);
    if (call) call->kind = static_cast<int>(made.size());
    ranks.push_back(call ? member->second.rank : nullptr);
    made.push_back(call.value_or(RankCall{}));
  }
  const std::vector<uint16_t> ids = tape->calls();
  std::map<Waiter, std::vector<RankCall>> calls;
  for (const uint16_t id : std::span(ids).last(std::min(ids.size(), kProgramCalls))) {
    if (ranks[id] != nullptr) calls[waiter_of(*ranks[id])].push_back(made[id]);
  }
  for (auto& [waiter, own] : calls) {
    number_calls(job, ranks, own);
    result.push_back({waiter, std::move(own)});
  }
}

std::vector<RankProgram> make_programs(const Job& job) {
  const Members members = counted_members(job);
  std::vector<RankProgram> programs;
  for (const Process& process : job.processes) {
    std::vector<int> logs;
    for (const size_t log : process.logs) {
      const SpeakerLog& one = job.logs[log];
      const bool has_calls = one.calls->tape.total() + one.traces->tape.total() > 0;
      if (has_calls) logs.push_back(static_cast<int>(log));
    }
    // The lines of two logs of one process have no common order.
    if (logs.size() == 1) add_log(job, logs.front(), members, programs);
  }
  return programs;
}

}  // namespace

int member_of(const Job& job, int communicator, int rank) {
  return member_of(nth_communicator(job, communicator), rank);
}

int member_of(const Communicator& comm, int rank) {
  const auto& ranks = comm.ranks;
  // Nearly always all are there.
  const auto place = static_cast<size_t>(std::max(rank, 0));
  const bool is_there = place < ranks.size() && ranks[place].rank == rank &&
                        (place == 0 || ranks[place - 1].rank < rank);
  const auto member =
      is_there ? ranks.begin() + rank : std::ranges::find(ranks, rank, &CommRank::rank);
  return member == ranks.end() ? -1 : static_cast<int>(member - ranks.begin());
}

static std::map<int, std::vector<std::pair<int, const CommRank*>>> find_memberships(
    const Job& job) {
  std::map<int, std::vector<std::pair<int, const CommRank*>>> by_process;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    for (const CommRank& rank : job.communicators[c].ranks)
      by_process[rank.process].emplace_back(static_cast<int>(c), &rank);
  }
  return by_process;
}

const std::vector<std::pair<int, const CommRank*>>& memberships_of(const Job& job, int process) {
  static const std::vector<std::pair<int, const CommRank*>> none;
  const auto& by_process = job.answers.of<&find_memberships>(job);
  const auto own = by_process.find(process);
  return own == by_process.end() ? none : own->second;
}

std::vector<MemberCalls> memberships(const Job& job, const Waiter& waiter) {
  std::vector<MemberCalls> result;
  for (const auto& [communicator, rank] : memberships_of(job, waiter.process)) {
    if (waiter_of(*rank) == waiter) result.push_back({communicator, rank, calls_of(job, *rank)});
  }
  return result;
}

std::string call_words(const CallSignature& call) {
  const std::string_view type = datatype_name(call.datatype);
  std::string words =
      fmt::format("{} of {} {}", to_valid_utf8(call.op.view()), call.count,
                  type.empty() ? fmt::format("datatype {}", call.datatype) : std::string(type));
  const Operation operation = call.op.operation();
  const OperationTraits& traits = traits_of(operation);
  if (traits.reduces()) words += fmt::format(" ({})", reduction_name(call.redop));
  if (traits.has_root()) words += fmt::format(", root {}", call.root);
  if (traits.is_message()) {
    words += fmt::format(" {} rank {}", operation == Operation::Send ? "to" : "from", call.root);
  }
  return words;
}

std::string differing_fields(const CallSignature& a, const CallSignature& b) {
  std::vector<std::string> fields;
  const auto add = [&](bool differs, std::string_view name) {
    if (differs) fields.emplace_back(name);
  };
  add(a.op != b.op, "function");
  add(a.count != b.count, "count");
  add(a.datatype != b.datatype, "datatype");
  add(comparable(a).redop != comparable(b).redop, "reduction");
  add(a.root != b.root, "root");
  return join(fields, ", ");
}

std::string communicator_words(const Job& job, int communicator) {
  const Communicator& comm = nth_communicator(job, communicator);
  if (comm.nranks < 0) return fmt::format("communicator {}", comm.id);
  return fmt::format("communicator {} ({} ranks)", comm.id, comm.nranks);
}

std::string members_words(const Job& job, int communicator, const std::vector<int>& members) {
  std::vector<int> numbers;
  for (const int m : members) {
    const auto& ranks = nth_communicator(job, communicator).ranks;
    numbers.push_back(number_of(job, ranks[static_cast<size_t>(m)]));
  }
  const bool all_known = std::ranges::all_of(numbers, [](int number) { return number >= 0; });
  if (all_known) return ranks_phrase(numbers);
  return plural(std::ssize(members), "process");
}

std::string name_and_place(const Job& job, int process, int rank, int cuda_dev,
                           std::string_view unnamed) {
  std::vector<std::string> place;
  if (process >= 0) {
    const Process& one = nth_process(job, process);
    if (rank < 0) rank = one.rank;
    if (!one.host.empty()) place.push_back(printable(to_valid_utf8(one.host)));
    if (one.pid >= 0) place.push_back(fmt::format("pid {}", one.pid));
    if (cuda_dev >= 0) place.push_back(fmt::format("GPU {}", cuda_dev));
  }
  const std::string who = rank >= 0 ? fmt::format("rank {}", rank) : std::string(unnamed);
  return place.empty() ? who : fmt::format("{} ({})", who, join(place, ", "));
}

std::string waiter_words(const Job& job, const Waiter& waiter) {
  return name_and_place(job, waiter.process, -1, waiter.cuda_dev);
}

Evidence last_line(const Job& job, int process) {
  const Process& speaker = nth_process(job, process);
  return {speaker.last, std::string(last_text(job, speaker))};
}

Evidence start_line(const Job& job, const CommRank& rank) {
  Evidence line = last_line(job, rank.process);
  const SourceRef started = segment_of(job, rank).started;
  const Process& process = nth_process(job, rank.process);
  for_each_record(job, process, kKindIndex<CommInit>, [&](const Record& record) {
    if (record.where == started) line = evidence_of(record);
  });
  return line;
}

std::string line_words(std::string_view line, size_t most) {
  std::string_view message = trim(parse_header(line).message);
  if (message.empty()) message = trim(line);
  const bool is_cut = message.size() > most;
  return printable(to_valid_utf8(message.substr(0, most))) + (is_cut ? "…" : "");
}

std::string when_words(std::string_view line) {
  const LineTime time = time_of_line(line);
  return time.known() ? fmt::format(", at {}", printable(time.text)) : std::string();
}

std::string last_call_words(const Job& job, const Waiter& waiter, Evidence* line) {
  MemberCalls last;
  for (const MemberCalls& membership : memberships(job, waiter)) {
    if (membership.calls == nullptr || membership.calls->total == 0) continue;
    if (last.calls == nullptr || last.calls->last < membership.calls->last) last = membership;
  }
  if (last.calls == nullptr) return {};
  if (line != nullptr) *line = {last.calls->last, {}};
  std::string words = fmt::format("{} on {}", call_words(last.calls->last_call),
                                  communicator_words(job, last.communicator));
  const LineTime time = find_line_time(last.calls->last_stamp);
  if (time.known()) words += fmt::format(", at {}", printable(time.text));
  return words;
}

void blame(const Job& job, const Waiter& waiter, FactValue& value) {
  if (waiter.process < 0) return;
  value.processes.push_back(waiter.process);
  if (nth_process(job, waiter.process).rank >= 0) return;
  // A process that drives several ranks has none itself: the rank is that of its GPU in the largest
  // communicator.
  for (const MemberCalls& membership : memberships(job, waiter)) {
    if (membership.rank->rank < 0) continue;
    value.ranks.push_back(membership.rank->rank);
    return;
  }
}

std::optional<uint64_t> message_count(const Job& job, const CommRank& rank, int peer,
                                      bool receives) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr) return 0;
  if (const PeerMessages* counted = counted_messages(*calls, peer, receives)) return counted->count;
  const Counts* counts = counts_on_tape(job, rank);
  if (counts == nullptr) return std::nullopt;
  const auto found = counts->find({peer, receives});
  return found == counts->end() ? 0 : found->second;
}

std::optional<uint64_t> message_sizes(const Job& job, const CommRank& rank, int peer,
                                      bool receives) {
  const CollectiveCalls* calls = calls_of(job, rank);
  const PeerMessages* counted =
      calls == nullptr ? nullptr : counted_messages(*calls, peer, receives);
  return counted == nullptr ? std::nullopt : std::optional(counted->hash);
}

std::vector<int> message_peers(const Job& job, const CommRank& rank) {
  std::vector<int> peers;
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr) return peers;
  for (const auto& [peer, totals] : calls->peers.all) peers.push_back(peer);
  const Counts* counts = calls->peers.other == 0 ? nullptr : counts_on_tape(job, rank);
  if (counts == nullptr) return peers;
  for (const auto& [end, count] : *counts) {
    if (end.first > peers.back()) peers.push_back(end.first);
  }
  return peers;
}

bool has_unknown_peers(const Job& job, const CommRank& rank) {
  const CollectiveCalls* calls = calls_of(job, rank);
  return calls != nullptr && calls->peers.other > 0 && counts_on_tape(job, rank) == nullptr;
}

const std::vector<RankProgram>& rank_programs(const Job& job) {
  return job.answers.of<&make_programs>(job);
}

const RankProgram* program_of(const Job& job, const Waiter& waiter) {
  const std::vector<RankProgram>& all = rank_programs(job);
  const auto own = std::ranges::find(all, waiter, &RankProgram::waiter);
  return own == all.end() ? nullptr : &*own;
}

std::vector<int> kinds_of(const RankProgram& program) {
  std::vector<int> kinds;
  kinds.reserve(program.calls.size());
  for (const RankCall& call : program.calls) kinds.push_back(call.kind);
  return kinds;
}

uint64_t calls_made(const Job& job, const CommRank& rank, const CallEnd& end) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr) return 0;
  if (!end.line.is_message()) return calls->collectives.size();
  const int peer = end.receives ? end.line.sender : end.line.receiver;
  return message_count(job, rank, peer, end.receives).value_or(0);
}

StepPast past_of_step(std::span<const int> steps, size_t at, size_t end, size_t context,
                      size_t times) {
  StepPast result;
  size_t others = 0;
  const auto before = [&](size_t place) { return steps.subspan(place - context, context); };
  for (size_t t = context; t < end; ++t) {
    if (!std::ranges::equal(before(t), before(at))) continue;
    if (steps[t] == steps[at]) return {Past::Same, 0};
    // Several steps have followed there, so that a third one proves nothing.
    if (others > 0 && steps[t] != steps[result.usual]) return {};
    result.usual = t;
    ++others;
  }
  if (others >= times) result.past = Past::Other;
  return result;
}

Past past_at(std::span<const int> steps, size_t at) {
  if (at < kStepContext) return Past::Unknown;
  // A run of equal steps is one sight of them, however long it is.
  return past_of_step(steps, at, at - kStepContext + 1).past;
}

std::optional<bool> leaves_past(std::span<const int> steps) {
  // An iteration or a few: what was odd long before the end did not stop the job.
  constexpr size_t kLookedAt = 96;
  std::optional<bool> answer;
  for (size_t at = steps.size() - std::min(steps.size(), kLookedAt); at < steps.size(); ++at) {
    const Past past = past_at(steps, at);
    if (past == Past::Other) return true;
    if (past == Past::Same) answer = false;
  }
  return answer;
}

Simulation::Simulation(const std::vector<RankProgram>& programs, bool streams_are_known,
                       const IsComplete& is_complete)
    : programs_(programs) {
  for (size_t p = 0; p < programs.size(); ++p) add_program(static_cast<uint32_t>(p));
  for (auto& [key, meeting] : meetings_) meeting.is_complete = is_complete(key, meeting.calls);
  streams_are_known ? run_forward() : spread_doubt();
}

std::span<const uint32_t> Simulation::Queue::batch(size_t number) const {
  const size_t end = number + 1 < batches.size() ? batches[number + 1] : calls.size();
  return std::span(calls).subspan(batches[number], end - batches[number]);
}

void Simulation::add_program(uint32_t program) {
  const std::vector<RankCall>& calls = programs_[program].calls;
  std::vector<Step>& steps = steps_.emplace_back();
  steps.reserve(calls.size());
  std::map<int, uint32_t> queue_of;  // By stream.
  auto entry = queue_of.end();
  // Calls of a line follow one another, so the meeting of the next is mostly the next in order.
  auto near = meetings_.begin();
  for (uint32_t c = 0; c < calls.size(); ++c) {
    if (entry == queue_of.end() || entry->first != calls[c].stream) {
      bool is_new = false;
      std::tie(entry, is_new) =
          queue_of.try_emplace(calls[c].stream, static_cast<uint32_t>(queues_.size()));
      if (is_new) queues_.push_back({.program = program, .calls = {}, .batches = {}});
    }
    Queue& queue = queues_[entry->second];
    const bool joins = calls[c].group >= 0 && !queue.calls.empty() &&
                       calls[queue.calls.back()].group == calls[c].group;
    if (!joins) queue.batches.push_back(queue.calls.size());
    queue.calls.push_back(c);
    const MeetingKey key{calls[c].line, calls[c].index};
    if (near == meetings_.end() || near->first != key) near = meetings_.try_emplace(near, key);
    Meeting& meeting = near++->second;
    meeting.calls.push_back({program, c});
    steps.push_back({&meeting, entry->second, static_cast<uint32_t>(queue.batches.size() - 1)});
  }
}

void Simulation::run_forward() {
  std::vector<uint32_t> ready(queues_.size());  // Queues whose head is to be begun.
  std::iota(ready.begin(), ready.end(), 0);
  while (!ready.empty()) {
    Queue& queue = queues_[ready.back()];
    ready.pop_back();
    if (queue.head == queue.batches.size()) continue;
    const std::span<const uint32_t> batch = queue.batch(queue.head);
    queue.open = batch.size();
    for (const uint32_t call : batch) begin({queue.program, call}, ready);
  }
}

void Simulation::begin(const SimulatedCall& call, std::vector<uint32_t>& ready) {
  Meeting& meeting = *step(call).meeting;
  const auto next = meeting.calls.begin() + static_cast<std::ptrdiff_t>(meeting.begun++);
  std::iter_swap(next, std::find(next, meeting.calls.end(), call));
  if (made(call).is_buffered) leave(call, ready);
  if (!meeting.has_ended()) return;
  for (const SimulatedCall& each : meeting.calls) {
    if (!made(each).is_buffered) leave(each, ready);
  }
}

/// The stream waits for the call no more.
void Simulation::leave(const SimulatedCall& call, std::vector<uint32_t>& ready) {
  const uint32_t number = step(call).queue;
  Queue& queue = queues_[number];
  if (--queue.open > 0) return;
  ++queue.head;
  ready.push_back(number);
}

void Simulation::spread_doubt() {
  for (Queue& queue : queues_) queue.head = queue.batches.size();
  std::vector<SimulatedCall> doubted;  // Calls that have perhaps not begun.
  // What a stream may wait in becomes its head; what is behind that has perhaps not begun.
  const auto halt = [&](const SimulatedCall& call) {
    const Step& at = step(call);
    Queue& queue = queues_[at.queue];
    if (at.batch >= queue.head || made(call).is_buffered) return;
    for (size_t b = at.batch + size_t{1}; b <= queue.head && b < queue.batches.size(); ++b) {
      for (const uint32_t behind : queue.batch(b)) doubted.push_back({queue.program, behind});
    }
    queue.head = at.batch;
  };
  for (const auto& [key, meeting] : meetings_) {
    if (!meeting.is_complete) std::for_each(meeting.calls.begin(), meeting.calls.end(), halt);
  }
  std::set<const Meeting*> spread;
  while (!doubted.empty()) {
    const Meeting* meeting = step(doubted.back()).meeting;
    doubted.pop_back();
    if (!spread.insert(meeting).second) continue;
    std::for_each(meeting->calls.begin(), meeting->calls.end(), halt);
  }
  for (auto& [key, meeting] : meetings_) {
    const auto awaited = std::stable_partition(
        meeting.calls.begin(), meeting.calls.end(), [&](const SimulatedCall& call) {
          return step(call).batch <= queues_[step(call).queue].head;
        });
    meeting.begun = static_cast<size_t>(awaited - meeting.calls.begin());
  }
}

}  // namespace ncclog
