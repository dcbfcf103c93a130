#include "diagnose/calls/uncompared.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "diagnose/calls/who_waits.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

/// By CallDoubt; empty: they are compared.
constexpr std::string_view kWhy[] = {"",
                                     "no line shows them",
                                     "lines are torn",
                                     "Ray left lines out",
                                     "its pid may have had two lives",
                                     "lines stand in several inputs",
                                     "the first lines are missing",
                                     "which communicator is theirs is not told",
                                     "",
                                     "the file ends early"};
static_assert(std::size(kWhy) == static_cast<size_t>(CallDoubt::Cut) + 1);

/// By why they were not compared, the ranks in the job; -1: one that is not known.
std::map<std::string_view, std::set<int>> uncompared_ranks(const Job& job) {
  std::map<std::string_view, std::set<int>> result;
  for (const Communicator& comm : job.communicators) {
    if (!comm.calls || comm.nranks == 1) continue;
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0) continue;
      const auto reason = kWhy[static_cast<size_t>(call_doubt(job, comm, rank))];
      if (!reason.empty()) result[reason].insert(nth_process(job, rank.process).rank);
    }
  }
  return result;
}

}  // namespace

std::string uncompared_words(const Job& job) {
  if (ranks_contradict_each_other(job) || !find_waits(job).unmatched.empty())
    return "calls of ranks differ, or lines of them are lost";
  const auto uncompared = uncompared_ranks(job);
  if (uncompared.empty()) return {};
  const auto& [reason, ranks] = *uncompared.begin();
  const std::string whose = *ranks.begin() < 0
                                ? std::string("some processes")
                                : ranks_phrase(std::vector<int>(ranks.begin(), ranks.end()));
  return fmt::format("the calls of {} were not compared ({})", whose, reason);
}

}  // namespace ncclog
