// Do the framework and NCCL call a process by the same rank?
//
//   [default1]:node-a:88:91 [1] NCCL INFO ncclCommInitRank comm 0x5a rank 1 nranks 4 …
//   [default1]:[rank3]:[E105 09:14:02.007718211 ProcessGroupNCCL.cpp:632] …
//       → job.rank_conflicts = yes, "node-a, pid 88: rank 3 to the framework, rank 1 to NCCL"
//
// The two are joined by pid, by the launcher's number or by the file of a rank (model's work), so a
// process that has a voice of another rank is one of which both cannot be right.

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"

namespace ncclog {
namespace {

std::string conflict_phrase(const Process& process, int said) {
  return fmt::format("{}, pid {}: rank {} to the framework, rank {} to NCCL", process.host,
                     process.pid, said, process.rank);
}

FactValue rank_conflicts(const Job& job, const Instance&) {
  constexpr size_t kMostNames = 4;
  std::vector<std::string> phrases;
  FactValue value = yes({});
  for (const Process& process : job.processes) {
    if (process.rank < 0 || process.pid < 0) continue;
    for (const size_t log : process.logs) {
      const SpeakerLog& voice = job.logs[log];
      if (voice.speaker.rank < 0 || voice.speaker.rank == process.rank) continue;
      phrases.push_back(conflict_phrase(process, voice.speaker.rank));
      value.evidence.push_back({voice.last, voice.last_text});
    }
  }
  if (phrases.empty()) return no();
  const size_t more = phrases.size() > kMostNames ? phrases.size() - kMostNames : 0;
  phrases.resize(phrases.size() - more);
  value.what = join(phrases, "; ") + (more > 0 ? fmt::format(" and {} more", more) : "");
  return value;
}

constexpr std::array kFacts = {
    Fact{"job.rank_conflicts", Scope::Job, FactType::Bool,
         "The framework's prefix and NCCL's lines give one process different ranks.",
         rank_conflicts},
};

}  // namespace

std::span<const Fact> rank_facts() { return kFacts; }

}  // namespace ncclog
