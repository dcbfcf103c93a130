// Does NCCL's RAS service confirm what the lines of calls say?
//
//   AllReduce operation counts: 7 ranks 29, rank 5 28; the lines name rank 5      → confirmed
//   rank 5 launched 31, the others as many as their logs show; its log shows 28   → contradicted
//
//   Missing communicator data from 1 job process; process 6004 on node 10.4.1.3    → incomplete
//   Missing communicator data from 255 ranks, of communicators with 2              → no such ranks
//
// The answer is of the moment in which somebody asked, and counts of a healthy job differ by a few.
// So a lower count alone names nobody; a higher count than a log shows, where those of other ranks
// are what their logs show, proves that this log lacks lines.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/facts/fact.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

/// Operations of one function that each rank of a communicator launched.
struct RasCounts {
  int communicator = -1;  ///< Into Job::communicators.
  std::string function;
  std::map<int, int64_t> launched;  ///< By rank; those that RAS names, or that are all others.
};

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

/// What the last answer says of operation counts, by communicator and function.
using CountStatements =
    std::map<std::pair<std::string, std::string>, std::vector<const RasStatement*>>;

CountStatements last_statements(const Job& job) {
  constexpr std::string_view kCounts = " operation counts";
  CountStatements result;
  for (const RasStatement& statement : job.ras_reports.back().statements) {
    if (statement.problem != "MISMATCH" || !statement.what.ends_with(kCounts)) continue;
    const std::string function = statement.what.substr(0, statement.what.size() - kCounts.size());
    result[{statement.communicator, function}].push_back(&statement);
  }
  return result;
}

RasCounts read_counts(const Job& job, int communicator, const std::string& function,
                      const std::vector<const RasStatement*>& statements) {
  RasCounts counts{communicator, function, {}};
  std::vector<const RasStatement*> unlisted;
  for (const RasStatement* statement : statements) {
    if (statement->members.empty()) unlisted.push_back(statement);
    const auto value = parse_int(statement->value);
    for (const RasMember& member : statement->members) {
      if (value && member.rank >= 0) counts.launched[member.rank] = *value;
    }
  }
  // Ranks that RAS does not list are of the one group that is too large to be listed.
  const int nranks = nth_communicator(job, communicator).nranks;
  if (unlisted.size() != 1 || nranks <= 0) return counts;
  const auto value = parse_int(unlisted.front()->value);
  const auto lacking = static_cast<int64_t>(nranks) - static_cast<int64_t>(counts.launched.size());
  if (!value || unlisted.front()->count != lacking) return counts;
  for (int rank = 0; rank < nranks; ++rank) counts.launched.try_emplace(rank, *value);
  return counts;
}

/// What the last answer says of the communicators that the logs know.
std::vector<RasCounts> last_counts(const Job& job) {
  std::vector<RasCounts> result;
  if (job.ras_reports.empty() || job.runs > 1) return result;
  for (const auto& [key, statements] : last_statements(job)) {
    const int communicator = communicator_of(job, key.first);
    if (communicator < 0) continue;
    result.push_back(read_counts(job, communicator, key.second, statements));
  }
  return result;
}

/// Calls of a function that a rank's log shows; nullopt if the log need not show all.
std::optional<int64_t> shown_calls(const Job& job, const Communicator& comm, const CommRank& rank,
                                   std::string_view function) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr || calls->by_signature.other > 0) return std::nullopt;
  if (call_coverage(job, comm, rank) != CallCoverage::Counted) return std::nullopt;
  int64_t shown = 0;
  for (const auto& [call, count] : calls->by_signature.all) {
    if (call.op.view() == function) shown += static_cast<int64_t>(count);
  }
  return shown;
}

/// Members whose logs show fewer calls than RAS counted, where of all others RAS counted no more
/// than their logs show, and of some exactly that.
std::vector<int> lacking_members(const Job& job, const RasCounts& counts) {
  const Communicator& comm = nth_communicator(job, counts.communicator);
  std::vector<int> lacking;
  size_t equal = 0;
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    const auto launched = counts.launched.find(comm.ranks[r].rank);
    const auto shown = shown_calls(job, comm, comm.ranks[r], counts.function);
    if (launched == counts.launched.end() || !shown) continue;
    if (launched->second > *shown) lacking.push_back(static_cast<int>(r));
    if (launched->second == *shown) ++equal;
  }
  return equal > lacking.size() ? lacking : std::vector<int>{};
}

FactValue ras_contradicts(const Job& job, const Instance&) {
  for (const RasCounts& counts : last_counts(job)) {
    const std::vector<int> lacking = lacking_members(job, counts);
    if (lacking.empty()) continue;
    const Communicator& comm = nth_communicator(job, counts.communicator);
    const CommRank& first = comm.ranks[static_cast<size_t>(lacking.front())];
    FactValue value = yes(fmt::format(
        "RAS counted {} {} of {} on {}, whose log shows {}", counts.launched.at(first.rank),
        to_valid_utf8(counts.function), members_words(job, counts.communicator, {lacking.front()}),
        communicator_words(job, counts.communicator),
        *shown_calls(job, comm, first, counts.function)));
    if (lacking.size() > 1) value.what += fmt::format("; and {} ranks more", lacking.size() - 1);
    value.communicator = comm.id;
    return value;
  }
  return no();
}

/// "2 ranks (12,13) 641", as far as RAS lists them.
std::string count_words(const RasStatement& statement) {
  std::vector<int> ranks;
  for (const RasMember& member : statement.members) {
    if (member.rank >= 0) ranks.push_back(member.rank);
  }
  std::ranges::sort(ranks);
  const std::string value = to_valid_utf8(statement.value);
  const bool all_listed = static_cast<int64_t>(ranks.size()) >= statement.count;
  if (!ranks.empty() && all_listed) return fmt::format("{} {}", ranks_phrase(ranks), value);
  return fmt::format("{} {}", plural(statement.count, "rank"), value);
}

/// What the last answer says of operations that ranks launched. It accuses nobody: those with more
/// wait as likely as those with less are late.
FactValue ras_mismatch(const Job& job, const Instance&) {
  if (job.ras_reports.empty()) return unknown();
  std::vector<std::string> phrases;
  for (const auto& [key, statements] : last_statements(job)) {
    std::vector<std::string> counts;
    for (const RasStatement* statement : statements) counts.push_back(count_words(*statement));
    phrases.push_back(fmt::format("{} on communicator {}: {}", to_valid_utf8(key.second),
                                  to_valid_utf8(key.first), join(counts, ", ")));
  }
  return phrases.empty() ? no() : yes(join(phrases, "; "));
}

/// "process 6004 on node 10.4.1.3 (GPU 0)", "rank 1 (process 6004 on node 10.4.1.3, GPU 0)".
std::string member_words(const RasMember& member) {
  std::vector<std::string> parts;
  if (member.pid >= 0) parts.push_back(fmt::format("process {}", member.pid));
  if (!member.node.empty()) parts.push_back("on node " + printable(to_valid_utf8(member.node)));
  std::string place = join(parts, " ");
  const std::string gpu = member.gpu.empty() ? "" : "GPU " + printable(to_valid_utf8(member.gpu));
  if (member.rank < 0) return gpu.empty() ? place : fmt::format("{} ({})", place, gpu);
  if (!gpu.empty()) place += place.empty() ? gpu : ", " + gpu;
  return place.empty() ? fmt::format("rank {}", member.rank)
                       : fmt::format("rank {} ({})", member.rank, place);
}

/// "communicator b33c: no data from 1 rank: rank 1 (process 6004 on node 10.4.1.3, GPU 0)".
std::string lacking_words(const RasStatement& statement) {
  constexpr size_t kMost = 3;
  const bool of_job = statement.communicator.empty();
  std::string words = of_job ? "" : "communicator " + to_valid_utf8(statement.communicator) + ": ";
  words += statement.problem == "DEAD" ? "no way to reach " : "no data from ";
  words += plural(statement.count, of_job ? "process" : "rank");
  std::vector<std::string> members;
  for (const RasMember& member : statement.members) members.push_back(member_words(member));
  return members.empty() ? words : fmt::format("{}: {}", words, few_of(members, kMost, ", "));
}

/// Of whom the last answer has nothing. The service itself may be late or wrong, so nobody is
/// called dead.
FactValue ras_incomplete(const Job& job, const Instance&) {
  if (job.ras_reports.empty()) return unknown();
  constexpr size_t kMost = 3;
  const RasReport& report = job.ras_reports.back();
  int64_t most_ranks = -1;
  for (const RasCommunicators& row : report.communicators) {
    most_ranks = std::max(most_ranks, row.nranks);
  }
  // More ranks than any communicator of the answer has, or a rank that none has: in such an answer
  // the service itself is wrong.
  const auto is_impossible = [&](const RasStatement& statement) {
    const auto is_unknown = [&](const RasMember& member) { return member.rank >= most_ranks; };
    return !statement.communicator.empty() && most_ranks > 0 &&
           (statement.count > most_ranks || std::ranges::any_of(statement.members, is_unknown));
  };
  std::vector<std::string> phrases;
  std::string doubt;
  for (const RasStatement& statement : report.statements) {
    const bool lacks = statement.problem == "DEAD" ||
                       (statement.problem == "INCOMPLETE" && statement.what == "communicator data");
    if (!lacks) continue;
    if (!is_impossible(statement)) {
      phrases.push_back(lacking_words(statement));
    } else if (doubt.empty()) {
      doubt = fmt::format(
          ". It also misses {} ranks of {}, and no communicator of its table has more than {}: "
          "that part is an error of the service",
          statement.count, to_valid_utf8(statement.communicator), most_ranks);
    }
  }
  if (phrases.empty() && doubt.empty()) return no();
  if (phrases.empty()) phrases.push_back("what it lacks cannot be");
  return yes(few_of(phrases, kMost, "; ") + doubt);
}

FactValue ras_agrees(const Job& job, const Instance& instance) {
  const std::vector<RasCounts> all = last_counts(job);
  if (all.empty()) return unknown();
  const FactValue missing = find_fact("job.rank_missing_in_collective")->ask(job, instance);
  if (!missing.known()) return unknown();
  for (const RasCounts& counts : all) {
    const Communicator& comm = nth_communicator(job, counts.communicator);
    const bool knows_all = counts.launched.size() == static_cast<size_t>(std::max(comm.nranks, 0));
    std::map<int64_t, std::vector<int>> ranks;
    for (const auto& [rank, count] : counts.launched) ranks[count].push_back(rank);
    if (ranks.size() != 2 || !knows_all || comm.id != missing.communicator) continue;
    const auto& [fewer, behind] = *ranks.begin();
    std::vector<int> named;  // In the communicator.
    for (const CommRank& rank : comm.ranks) {
      if (std::ranges::count(missing.processes, rank.process) > 0) named.push_back(rank.rank);
    }
    std::ranges::sort(named);
    if (named != behind) continue;
    return yes(
        fmt::format(". NCCL's RAS service counted the same: {} {} of the ranks named, {} of "
                    "the others",
                    fewer, to_valid_utf8(counts.function), ranks.rbegin()->first));
  }
  return unknown();
}

constexpr std::array kRasFacts = {
    // NCCL's RAS service counted fewer operations of exactly the ranks that the lines of
    // calls name; `what` is a sentence to put behind another.
    job_fact("job.ras_agrees", ras_agrees),
    // NCCL's RAS service counted more operations of a rank than its log shows, and as
    // many as the logs show of others.
    job_fact("job.ras_contradicts", ras_contradicts),
    // NCCL's RAS service had no data of processes or ranks when it was asked.
    job_fact("job.ras_incomplete", ras_incomplete),
    // NCCL's RAS service found ranks of a communicator that launched different numbers
    // of an operation.
    job_fact("job.ras_mismatch", ras_mismatch),
};

}  // namespace

std::span<const Fact> ras_facts() { return kRasFacts; }

}  // namespace ncclog
