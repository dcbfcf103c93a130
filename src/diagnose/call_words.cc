#include "diagnose/call_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "log/line_time.h"
#include "log/nccl_names.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

bool has_root(const OpName& op) {
  return op == "Broadcast" || op == "Reduce" || op == "Gather" || op == "Scatter";
}

bool reduces(const OpName& op) {
  return op == "AllReduce" || op == "Reduce" || op == "ReduceScatter";
}

std::string datatype_words(int datatype) {
  const std::string_view name = datatype_name(datatype);
  return name.empty() ? fmt::format("datatype {}", datatype) : std::string(name);
}

/// Number of a member in the job, else in the communicator.
int number_of(const Job& job, const CommRank& rank) {
  if (rank.process < 0) return rank.rank;
  const int number = job.processes[static_cast<size_t>(rank.process)].rank;
  return number >= 0 ? number : rank.rank;
}

/// The member of a communicator that `waiter` is, with the calls it made there.
struct Membership {
  int communicator = -1;
  const CommRank* rank = nullptr;
  const CollectiveCalls* calls = nullptr;
};

std::vector<Membership> memberships(const Job& job, const Waiter& waiter) {
  std::vector<Membership> result;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    for (const CommRank& rank : job.communicators[c].ranks) {
      if (waiter_of(rank) != waiter) continue;
      result.push_back({static_cast<int>(c), &rank, calls_of(job, rank)});
    }
  }
  return result;
}

}  // namespace

std::string call_words(const CallSignature& call) {
  std::string words = fmt::format("{} of {} {}", to_valid_utf8(call.op.view()), call.count,
                                  datatype_words(call.datatype));
  if (reduces(call.op)) words += fmt::format(" ({})", reduction_name(call.redop));
  if (has_root(call.op)) words += fmt::format(", root {}", call.root);
  if (call.op == "Send") words += fmt::format(" to rank {}", call.root);
  if (call.op == "Recv") words += fmt::format(" from rank {}", call.root);
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
  const Communicator& comm = job.communicators[static_cast<size_t>(communicator)];
  if (comm.nranks < 0) return fmt::format("communicator {}", comm.id);
  return fmt::format("communicator {} ({} ranks)", comm.id, comm.nranks);
}

std::string members_words(const Job& job, int communicator, const std::vector<int>& members) {
  std::vector<int> numbers;
  for (const int m : members) {
    const auto& ranks = job.communicators[static_cast<size_t>(communicator)].ranks;
    numbers.push_back(number_of(job, ranks[static_cast<size_t>(m)]));
  }
  const bool all_known =
      std::all_of(numbers.begin(), numbers.end(), [](int number) { return number >= 0; });
  if (all_known) return ranks_phrase(numbers);
  return fmt::format("{} {}", members.size(), members.size() == 1 ? "process" : "processes");
}

std::string waiter_words(const Job& job, const Waiter& waiter) {
  if (waiter.process < 0) return "a process";
  const Process& process = job.processes[static_cast<size_t>(waiter.process)];
  std::vector<std::string> parts;
  if (!process.host.empty()) parts.push_back(to_valid_utf8(process.host));
  if (process.pid >= 0) parts.push_back(fmt::format("pid {}", process.pid));
  if (waiter.cuda_dev >= 0) parts.push_back(fmt::format("GPU {}", waiter.cuda_dev));
  const std::string name =
      process.rank >= 0 ? fmt::format("rank {}", process.rank) : std::string("a process");
  return parts.empty() ? name : fmt::format("{} ({})", name, join(parts, ", "));
}

std::string last_call_words(const Job& job, const Waiter& waiter, Evidence* line) {
  Membership last;
  for (const Membership& membership : memberships(job, waiter)) {
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
  if (job.processes[static_cast<size_t>(waiter.process)].rank >= 0) return;
  // A process that drives several ranks has none itself: the rank is that of its GPU in the largest
  // communicator.
  for (const Membership& membership : memberships(job, waiter)) {
    if (membership.rank->rank < 0) continue;
    value.ranks.push_back(membership.rank->rank);
    return;
  }
}

}  // namespace ncclog
