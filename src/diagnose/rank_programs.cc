#include "diagnose/rank_programs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "diagnose/message_counts.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

/// A member of a communicator whose calls are counted.
struct Member {
  int communicator = -1;
  const CommRank* rank = nullptr;
};

/// By log and segment.
using Members = std::map<std::pair<int, int>, Member>;

Members counted_members(const Job& job) {
  Members members;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    for (const CommRank& rank : comm.ranks) {
      if (rank.rank < 0 || call_coverage(job, comm, rank) != CallCoverage::Counted) continue;
      members[{rank.log, rank.segment}] = {static_cast<int>(c), &rank};
    }
  }
  return members;
}

bool has_calls(const SpeakerLog& log) {
  return log.calls.tape.total() + log.traces.tape.total() > 0;
}

std::optional<RankCall> read_entry(const CallTape::Entry& entry, const Member& member) {
  RankCall call{.line = {.communicator = member.communicator}, .op = entry.call.op};
  if (!is_point_to_point(entry.call.op)) return call;
  const bool sends = entry.call.op == "Send";
  if ((!sends && entry.call.op != "Recv") || entry.call.root < 0) return std::nullopt;
  call.receives = !sends;
  call.line.sender = sends ? member.rank->rank : entry.call.root;
  call.line.receiver = sends ? entry.call.root : member.rank->rank;
  return call;
}

/// Numbers the calls, of which the last of each line is the last that was made.
void number_calls(const Job& job, const std::vector<const CommRank*>& by_call,
                  std::vector<RankCall>& calls) {
  std::map<std::tuple<CallLine, bool>, uint64_t> left;
  for (size_t i = calls.size(); i-- > 0;) {
    RankCall& call = calls[i];
    const auto [entry, is_new] = left.try_emplace({call.line, call.receives}, 0);
    if (is_new) entry->second = calls_made(job, *by_call[i], call.line, call.receives);
    call.index = entry->second > 0 ? --entry->second : 0;
  }
}

struct Draft {
  std::vector<RankCall> calls;
  std::vector<const CommRank*> ranks;  ///< Of each call.
};

void add_log(const Job& job, int log, const Members& members, std::vector<RankProgram>& result) {
  const CallTape* tape = whole_tape(job.logs[static_cast<size_t>(log)]);
  if (tape == nullptr) return;
  const std::vector<uint16_t> ids = tape->calls();
  std::map<Waiter, Draft> drafts;
  for (size_t i = ids.size() - std::min(ids.size(), kProgramCalls); i < ids.size(); ++i) {
    const CallTape::Entry& entry = tape->entries()[ids[i]];
    const auto member = members.find({log, entry.segment});
    if (member == members.end()) continue;
    auto call = read_entry(entry, member->second);
    if (!call) continue;
    call->kind = ids[i];
    Draft& draft = drafts[waiter_of(*member->second.rank)];
    draft.calls.push_back(*call);
    draft.ranks.push_back(member->second.rank);
  }
  for (auto& [waiter, draft] : drafts) {
    number_calls(job, draft.ranks, draft.calls);
    result.push_back({waiter, std::move(draft.calls)});
  }
}

std::vector<RankProgram> make_programs(const Job& job) {
  const Members members = counted_members(job);
  std::vector<RankProgram> programs;
  for (const Process& process : job.processes) {
    std::vector<int> logs;
    for (const size_t log : process.logs) {
      if (has_calls(job.logs[log])) logs.push_back(static_cast<int>(log));
    }
    if (logs.size() == 1) add_log(job, logs.front(), members, programs);
  }
  return programs;
}

}  // namespace

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

uint64_t calls_made(const Job& job, const CommRank& rank, const CallLine& line, bool receives) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr) return 0;
  if (!line.is_message()) return calls->collectives.size();
  const int peer = receives ? line.sender : line.receiver;
  return message_count(job, rank, peer, receives).value_or(MessageCount{}).count;
}

}  // namespace ncclog
