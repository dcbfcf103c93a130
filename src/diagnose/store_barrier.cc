#include "diagnose/store_barrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/first_exception.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// What the ranks say of the creation of one group.
struct Barrier {
  int world_size = -1;
  int joined = -1;  ///< As the last that counted them says.
  std::set<int> came;
  std::set<int> waited;
  bool timed_out = false;
  bool passed = false;
  std::vector<Evidence> lines;
};

template <typename T>
void add_waits(const Job& job, bool timed_out, std::map<std::string, Barrier>& barriers) {
  for_each_said<T>(job, [&](const Said<T>& said) {
    Barrier& barrier = barriers[std::string(said.message.key)];
    barrier.world_size = std::max(barrier.world_size, said.message.world_size);
    barrier.joined = std::max(barrier.joined, said.message.joined);
    barrier.came.insert(said.message.rank);
    barrier.waited.insert(said.message.rank);
    barrier.timed_out |= timed_out;
    barrier.lines.push_back(evidence_of(said.record));
  });
}

std::map<std::string, Barrier> barriers_of(const Job& job) {
  std::map<std::string, Barrier> barriers;
  add_waits<StoreBarrierTimeout>(job, true, barriers);
  add_waits<StoreBarrierWait>(job, false, barriers);
  for_each_said<StoreBarrierJoined>(job, [&](const Said<StoreBarrierJoined>& said) {
    const auto known = barriers.find(std::string(said.message.key));
    if (known != barriers.end()) known->second.came.insert(said.message.rank);
  });
  for_each_said<StoreBarrierPassed>(job, [&](const Said<StoreBarrierPassed>& said) {
    const auto known = barriers.find(std::string(said.message.key));
    if (known != barriers.end()) known->second.passed = true;
  });
  return barriers;
}

/// Nobody was let through, and nothing of the job follows the last wait. Where more ranks are
/// counted than there are, the store still holds a count of an earlier start.
bool is_stuck(const Job& job, const Barrier& barrier) {
  if (barrier.passed || barrier.joined < 0 || barrier.joined >= barrier.world_size) return false;
  if (barrier.timed_out) return true;
  const auto last =
      std::max_element(barrier.lines.begin(), barrier.lines.end(),
                       [](const Evidence& a, const Evidence& b) { return a.where < b.where; });
  return job.communicators.empty() && !went_on(job, last->where);
}

/// Which ranks have no line of it, where these are just as many as lack: else lines are missing.
std::string absent_words(const Barrier& barrier) {
  std::vector<int> absent;
  const auto lacking = static_cast<size_t>(barrier.world_size - barrier.joined);
  for (int rank = 0; rank < barrier.world_size && absent.size() <= lacking; ++rank) {
    if (!barrier.came.contains(rank)) absent.push_back(rank);
  }
  if (absent.size() != lacking) return "which, these logs do not show";
  return fmt::format("{} {} no line of it here", ranks_phrase(absent),
                     absent.size() == 1 ? "has" : "have");
}

}  // namespace

FactValue store_barrier_absent(const Job& job, const Instance&) {
  for (const auto& [key, barrier] : barriers_of(job)) {
    if (!is_stuck(job, barrier)) continue;
    const int lacking = barrier.world_size - barrier.joined;
    return yes(fmt::format("{} of {} ranks {}, while {} waited; {}", lacking, barrier.world_size,
                           barrier.timed_out ? "never came" : "had not come when these logs end",
                           ranks_phrase({barrier.waited.begin(), barrier.waited.end()}),
                           absent_words(barrier)),
               barrier.lines);
  }
  return unknown();
}

}  // namespace ncclog
