#include "diagnose/call_departures.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "model/call_coverage.h"

namespace ncclog {
namespace {

/// What a communicator is to one of its ranks: its size, and its number among those of this size.
struct CommRole {
  int nranks = -1;
  int number = 0;

  auto operator<=>(const CommRole&) const = default;
};

/// A call in a rank's program.
struct Step {
  CommRole role;
  CallSignature call;  ///< Comparable.
  int communicator = -1;
  const PlacedCall* placed = nullptr;  ///< Owned by the job.

  auto what() const { return std::tie(role, call); }
};

struct Program {
  Waiter waiter;
  std::vector<Step> steps;
};

/// One communicator of a rank.
struct Membership {
  int communicator = -1;
  int log = -1;
  int segment = -1;
  const CallSequence* calls = nullptr;
};

using Memberships = std::map<Waiter, std::vector<Membership>>;

/// The communicators on which each rank made collectives that are all kept and known.
Memberships memberships_of(const Job& job) {
  Memberships result;
  std::map<Waiter, bool> is_partly_known;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    for (const CommRank& rank : comm.ranks) {
      const CollectiveCalls* calls = calls_of(job, rank);
      if (calls == nullptr) continue;
      const Waiter waiter = waiter_of(rank);
      const bool is_known = call_coverage(job, comm, rank) == CallCoverage::Counted &&
                            calls->collectives.kept_from() == 0;
      is_partly_known[waiter] |= !is_known;
      if (calls->collectives.size() == 0) continue;
      result[waiter].push_back({static_cast<int>(c), rank.log, rank.segment, &calls->collectives});
    }
  }
  std::erase_if(result, [&](const auto& entry) { return is_partly_known[entry.first]; });
  return result;
}

Program program_of(const Job& job, const Waiter& waiter, std::vector<Membership> of) {
  std::sort(of.begin(), of.end(), [](const Membership& a, const Membership& b) {
    return std::tie(a.log, a.segment) < std::tie(b.log, b.segment);
  });
  Program program{waiter, {}};
  std::map<int, int> numbers;
  for (const Membership& member : of) {
    const int nranks = job.communicators[static_cast<size_t>(member.communicator)].nranks;
    const CommRole role{nranks, numbers[nranks]++};
    for (uint64_t i = 0; i < member.calls->size(); ++i) {
      const PlacedCall* placed = member.calls->call(i);
      program.steps.push_back({role, comparable(placed->call), member.communicator, placed});
    }
  }
  std::stable_sort(program.steps.begin(), program.steps.end(),
                   [](const Step& a, const Step& b) { return a.placed->where < b.placed->where; });
  return program;
}

constexpr size_t kMostAhead = 64;  ///< Calls that a rank may make after it departed, at most.

using Class = std::vector<const Program*>;

bool is_same(const Step& a, const Step& b) { return a.what() == b.what(); }

/// The program made that step before.
bool did_before(const Program& program, size_t at) {
  const auto end = program.steps.begin() + static_cast<long>(at);
  return std::any_of(program.steps.begin(), end,
                     [&](const Step& step) { return is_same(step, *end); });
}

/// Both made the same two calls, one the other way round.
bool is_swapped(const Program& a, const Program& b, size_t at) {
  return a.steps.size() > at + 1 && b.steps.size() > at + 1 &&
         is_same(a.steps[at], b.steps[at + 1]) && is_same(a.steps[at + 1], b.steps[at]);
}

Departure departure(const Program& odd, const Program& usual, size_t at, size_t others) {
  const Step& step = odd.steps[at];
  const Step& instead = usual.steps[at];
  return {odd.waiter,           step.communicator, *step.placed,
          instead.communicator, *instead.placed,   others};
}

/// Where ranks that were alike so far part: adds those that departed there.
void judge_parting(const std::vector<Class>& camps, size_t at, Departures& result) {
  const auto fewer = [](const Class& a, const Class& b) { return a.size() < b.size(); };
  const Class& many = *std::max_element(camps.begin(), camps.end(), fewer);
  size_t all = 0;
  for (const Class& camp : camps) all += camp.size();
  const bool is_majority = many.size() >= 2 && 2 * many.size() > all;
  const Program& usual = *many.front();
  for (const Class& camp : camps) {
    for (const Program* odd : camp) {
      if (&camp == &many || odd->steps.size() - at > kMostAhead) continue;
      const bool swapped = is_swapped(*odd, usual, at);
      if (is_majority) {
        const bool is_known = swapped || did_before(usual, at);
        auto& list = is_known ? result.odd : result.unheard_of;
        list.push_back(departure(*odd, usual, at, many.size()));
      } else if (swapped && result.undecided.empty()) {
        result.undecided = {departure(usual, *odd, at, 1), departure(*odd, usual, at, 1)};
      }
    }
  }
}

/// The ranks of one class that have a step `at`, by what it is.
std::vector<Class> camps_at(const Class& alike, size_t at) {
  std::vector<Class> camps;
  for (const Program* program : alike) {
    if (program->steps.size() <= at) continue;
    const auto camp = std::find_if(camps.begin(), camps.end(), [&](const Class& other) {
      return is_same(other.front()->steps[at], program->steps[at]);
    });
    if (camp == camps.end()) {
      camps.push_back({program});
    } else {
      camp->push_back(program);
    }
  }
  return camps;
}

}  // namespace

Departures find_departures(const Job& job) {
  std::vector<Program> programs;
  for (auto& [waiter, of] : memberships_of(job)) {
    programs.push_back(program_of(job, waiter, std::move(of)));
  }
  Class all;
  for (const Program& program : programs) all.push_back(&program);
  std::vector<Class> classes = {std::move(all)};
  Departures result;
  for (size_t at = 0; !classes.empty(); ++at) {
    std::vector<Class> next;
    for (const Class& alike : classes) {
      std::vector<Class> camps = camps_at(alike, at);
      if (camps.size() > 1) judge_parting(camps, at, result);
      std::move(camps.begin(), camps.end(), std::back_inserter(next));
    }
    classes = std::move(next);
  }
  std::sort(result.odd.begin(), result.odd.end(),
            [](const Departure& a, const Departure& b) { return a.waiter < b.waiter; });
  return result;
}

}  // namespace ncclog
