#include "diagnose/fingerprints.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "log/messages.h"

namespace ncclog {
namespace {

std::string in_one_line(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split_blanks(text)) words.emplace_back(word);
  return printable(to_valid_utf8(join(words, " ")));
}

/// What PyTorch's own check says: "Op type: ALLREDUCEvs BARRIER", blanks as printed run together.
std::string difference_in(const FingerprintMismatch& seen) {
  return in_one_line(seen.differences.empty() ? seen.fingerprint : seen.differences);
}

/// "SequenceNumber=7, OpType=_ALLGATHER_BASE, TensorShape=[524288], TensorDtypes=Float": without
/// what all tensors of one job share.
std::string call_in(const std::string& fingerprint) {
  const std::string_view text = std::string_view(fingerprint);
  return in_one_line(text.substr(0, text.find(", TensorDeviceTypes=")));
}

/// What stands inside "CollectiveFingerPrint(…)": with the words around it where the line was not
/// printed by a Python exception.
std::string_view bare(std::string_view fingerprint) {
  constexpr std::string_view kBegin = "CollectiveFingerPrint(";
  if (fingerprint.starts_with(kBegin)) fingerprint.remove_prefix(kBegin.size());
  fingerprint = fingerprint.substr(0, fingerprint.find(").Collectives differ"));
  return fingerprint.ends_with(").") ? fingerprint.substr(0, fingerprint.size() - 2) : fingerprint;
}

/// What the reports say about one group.
struct Votes {
  std::map<int, std::string> calls;  ///< Fingerprints, by rank in the group.
  std::map<int, int> processes;      ///< Of those that reported, by rank in the group.
  bool contradict = false;           ///< A rank is said to call two things: several calls.
  bool own_numbers = true;           ///< Every reporter's rank in the group is its rank in the job.

  void add(int rank, std::string_view fingerprint) {
    const auto [known, is_new] = calls.try_emplace(rank, bare(fingerprint));
    contradict |= !is_new && known->second != bare(fingerprint);
  }
};

Votes votes_of(const Job& job) {
  Votes votes;
  for_each_said<FingerprintMismatch>(job, [&](const Said<FingerprintMismatch>& said) {
    const FingerprintMismatch& seen = said.message;
    votes.add(seen.rank, seen.fingerprint);
    votes.add(seen.other_rank, seen.other_fingerprint);
    // It reports the first one that differs.
    for (int r = 0; r < std::min(seen.rank, seen.other_rank); ++r) votes.add(r, seen.fingerprint);
    votes.processes[seen.rank] = said.process;
    const int rank = rank_of(job, said.process, said.header);
    votes.own_numbers &= rank < 0 || rank == seen.rank;
  });
  return votes;
}

/// The ranks that do not call what more than half of all do; empty: no such half is known.
std::vector<int> outvoted(const Votes& votes, const Job& job) {
  if (votes.contradict || votes.calls.size() < 3) return {};
  std::map<std::string_view, size_t> counts;
  for (const auto& [rank, call] : votes.calls) ++counts[call];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  // Ranks that no report tells of might all be on the other side.
  const auto nranks =
      static_cast<size_t>(std::max(votes.own_numbers ? job.nranks.value_or(0) : 0, 0));
  if (2 * most->second <= std::max(votes.calls.size(), nranks)) return {};
  std::vector<int> odd;
  for (const auto& [rank, call] : votes.calls) {
    if (call != most->first) odd.push_back(rank);
  }
  return odd;
}

/// Adds the ranks, as far as the job knows them.
void blame_odd(const Job& job, const Votes& votes, const std::vector<int>& odd, FactValue& value) {
  for (const int rank : odd) {
    const auto process = votes.processes.find(rank);
    const bool reports = process != votes.processes.end() &&
                         job.processes[static_cast<size_t>(process->second)].rank >= 0;
    if (reports) {
      value.processes.push_back(process->second);
    } else if (votes.own_numbers) {
      const int known = process_of_rank(job, rank);
      if (known >= 0) {
        value.processes.push_back(known);
      } else {
        value.ranks.push_back(rank);
      }
    }
  }
}

std::string odd_words(const Votes& votes, const std::vector<int>& odd) {
  const std::string& call = votes.calls.at(odd.front());
  const auto others = std::find_if(votes.calls.begin(), votes.calls.end(), [&](const auto& entry) {
    return std::count(odd.begin(), odd.end(), entry.first) == 0;
  });
  const bool alike =
      std::all_of(odd.begin(), odd.end(), [&](int rank) { return votes.calls.at(rank) == call; });
  const std::string what = alike ? call_in(call) : "something else";
  return fmt::format("PyTorch's check: {}{} called {}, the other {} ranks {}", ranks_phrase(odd),
                     votes.own_numbers ? "" : " of its group", what,
                     votes.calls.size() - odd.size(), call_in(others->second));
}

void add_pytorch(const Job& job, FactValue& value) {
  std::string first;
  for_each_said<FingerprintMismatch>(job, [&](const Said<FingerprintMismatch>& said) {
    value.evidence.push_back(evidence_of(said.record));
    if (!first.empty()) return;
    first = fmt::format("PyTorch's check compared ranks {} and {}: {}", said.message.rank,
                        said.message.other_rank, difference_in(said.message));
  });
  if (first.empty()) return;
  value.value = true;
  const Votes votes = votes_of(job);
  const std::vector<int> odd = outvoted(votes, job);
  value.what = odd.empty() ? first : odd_words(votes, odd);
  blame_odd(job, votes, odd, value);
}

void add_nccl(const Job& job, FactValue& value) {
  for_each_said<MismatchReported>(job, [&](const Said<MismatchReported>& said) {
    if (said.message.text.find("Mismatched") == std::string_view::npos) return;
    value.evidence.push_back(evidence_of(said.record));
    value.value = true;
    if (!value.what.empty()) return;
    value.what = fmt::format("NCCL noticed it at and around rank {}", said.message.rank);
  });
}

}  // namespace

FactValue mismatch_noticed(const Job& job, const Instance&) {
  FactValue value;
  add_pytorch(job, value);
  add_nccl(job, value);
  return value;
}

}  // namespace ncclog
