// What NCCL's RAS service tells of calls: how many operations of a function each rank had launched
// when it was asked.
//
//   #0-0 (cf264af53edbe986) MISMATCH: rank 3 has launched up to operation 6649, the others 6650
//
// Only ranks that differ are told, and of groups of more than ten ranks only how many they are.

#include <algorithm>
#include <map>

#include "base/text.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

/// The only communicator of that id; -1 if there is none or a pointer that came back.
int communicator_of(const Job& job, const std::string& hash) {
  const auto wanted = parse_hex(hash);
  int found = -1;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    if (comm.inferred || !wanted || parse_hex(comm.id) != wanted) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(c);
  }
  return found;
}

/// Counts by rank; those that RAS names, or that are all others.
std::map<int, uint64_t> launched_by_rank(const std::vector<const RasStatement*>& statements,
                                         int nranks) {
  std::map<int, uint64_t> launched;
  std::vector<const RasStatement*> unlisted;
  const auto count_in = [](const RasStatement& statement) -> std::optional<uint64_t> {
    const auto value = parse_int(statement.value);
    return value && *value >= 0 ? std::optional(static_cast<uint64_t>(*value)) : std::nullopt;
  };
  for (const RasStatement* statement : statements) {
    if (statement->members.empty()) unlisted.push_back(statement);
    const auto count = count_in(*statement);
    for (const RasMember& member : statement->members) {
      if (count && member.rank >= 0) launched[member.rank] = *count;
    }
  }
  // Ranks that RAS does not list are of the one group that is too large to be listed.
  if (unlisted.size() != 1 || nranks <= 0) return launched;
  const auto count = count_in(*unlisted.front());
  const auto lacking = static_cast<int64_t>(nranks) - static_cast<int64_t>(launched.size());
  if (!count || unlisted.front()->count != lacking) return launched;
  for (int rank = 0; rank < nranks; ++rank) launched.try_emplace(rank, *count);
  return launched;
}

}  // namespace

OperationCounts operation_counts(const RasReport& report) {
  constexpr std::string_view kCounts = " operation counts";
  OperationCounts result;
  for (const RasStatement& statement : report.statements) {
    if (statement.problem != "MISMATCH" || !statement.what.ends_with(kCounts)) continue;
    const std::string function = statement.what.substr(0, statement.what.size() - kCounts.size());
    result[{statement.communicator, function}].push_back(&statement);
  }
  return result;
}

std::vector<CallAccount> ras_accounts(const Job& job) {
  std::vector<CallAccount> accounts;
  if (job.ras_reports.empty() || job.runs > 1) return accounts;
  for (const auto& [key, statements] : operation_counts(job.ras_reports.back())) {
    CallAccount account{.source = CallSource::Ras, .function = key.second};
    account.communicator = communicator_of(job, key.first);
    if (account.communicator < 0) continue;
    const Communicator& comm = nth_communicator(job, account.communicator);
    const auto launched = launched_by_rank(statements, comm.nranks);
    account.unseen = std::max(0, comm.nranks - static_cast<int>(launched.size()));
    std::map<int, int> process_of;
    for (const CommRank& rank : comm.ranks) process_of[rank.rank] = rank.process;
    for (const auto& [number, count] : launched) {
      const auto process = process_of.find(number);
      account.ranks.push_back({.rank = number,
                               .process = process == process_of.end() ? -1 : process->second,
                               .coverage = CallCoverage::Counted,
                               .entered = count});
    }
    accounts.push_back(std::move(account));
  }
  return accounts;
}

}  // namespace ncclog
