// Rows of the tests of facts that name somebody: a log, the answer, and who is guilty.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "support/fact_of.h"

namespace ncclog::testing {

/// "yes", "no" or "unknown", and behind it the ranks that the fact identifies: "yes 3".
inline std::string guilty_answer(std::string_view fact, std::string_view log) {
  const Job job = job_from_text(log);
  const FactValue value = find_fact(fact)->ask(job, job_instance(job));
  std::vector<int> ranks = value.ranks;
  for (const int process : value.processes) {
    const int rank = job.processes[static_cast<size_t>(process)].rank;
    if (rank >= 0 || value.ranks.empty()) ranks.push_back(rank);
  }
  return fact_text(value) + (ranks.empty() ? "" : " " + ranges_text(ranks));
}

struct GuiltyCase {
  std::string_view what;
  std::string_view fact;
  std::string log;
  std::string_view answer;
};

}  // namespace ncclog::testing
