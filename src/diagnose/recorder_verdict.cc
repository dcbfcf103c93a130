#include "diagnose/recorder_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnose/call_words.h"
#include "diagnose/fact_answers.h"
#include "diagnose/watchdog_records.h"

namespace ncclog {
namespace {

/// A work without a group is of the group of all ranks.
bool is_of(const TimedOutWork& work, const RecordedGroup& group) {
  if (work.in_unnamed_group) return false;
  if (!is_default_group(work.group)) return work.group == group.name;
  return is_default_group(group.name) || group.description == "default_pg";
}

/// Somebody waited in that call until a limit: a line says so, or a watchdog is done with the call
/// although it is open. Limits elsewhere prove nothing: the dumps may have been asked for long
/// before.
bool somebody_gave_up(const Job& job, const RecordedGroup& group, int64_t number) {
  const std::vector<TimedOutWork> works = timed_out_work(job);
  if (std::any_of(works.begin(), works.end(), [&](const TimedOutWork& work) {
        return work.seq == number && is_of(work, group);
      })) {
    return true;
  }
  return std::any_of(group.ranks.begin(), group.ranks.end(), [&](const RecordedRank& rank) {
    const FlightRecorderEntry* call = rank.call(number);
    return call != nullptr && is_open(*call) && call->retired.value_or(false);
  });
}

/// "train.py:54"; empty: the dump has no stacks.
std::string frame_words(const FlightRecorderEntry& call) {
  if (call.frame.file.empty() || call.frame.line < 0) return {};
  return fmt::format("{}:{}", printable(call.frame.file), call.frame.line);
}

std::string at_words(const FlightRecorderEntry& call) {
  const std::string place = frame_words(call);
  return place.empty() ? place : ", at " + place;
}

Evidence dump_of(const RecordedGroup& group, int rank, const std::string& words) {
  for (const RecordedRank& member : group.ranks) {
    if (member.rank == rank && member.dump != nullptr) return {member.dump->where, words};
  }
  return {};
}

/// "rank 5 (gpu-node-02, pid 14224, GPU 1)", as far as the log knows it.
std::string rank_words(const RecordedGroup& group, const Job& job, int rank) {
  for (const RecordedRank& member : group.ranks) {
    if (member.rank != rank || member.dump == nullptr || member.dump->process < 0) continue;
    const Process& process = job.processes[static_cast<size_t>(member.dump->process)];
    return waiter_words(job, {member.dump->process, process.cuda_dev});
  }
  return fmt::format("rank {}", rank);
}

std::string unknown_words(const RecordedFront& front) {
  if (front.unknown.empty()) return {};
  return fmt::format("; of {} there is no dump to compare", ranks_phrase(front.unknown));
}

/// "ranks 0-4 called collective 29 of process group …, AllReduce of 8 Float, and wait".
std::string ahead_words(const RecordedGroup& group, const RecordedFront& front) {
  return fmt::format("{} called collective {} of {}, {}{}", ranks_phrase(front.ahead), front.number,
                     group_words(group), recorded_words(*front.call), at_words(*front.call));
}

/// Those behind must be the few: where most ranks are, one rank has run ahead.
bool are_few(const RecordedFront& front) {
  return front.behind.size() < front.ahead.size() ||
         (front.behind.size() == 1 && front.ahead.size() == 1);
}

std::string late_words(const Job& job, const RecordedGroup& group, const RecordedFront& front) {
  constexpr size_t kMostNamed = 4;
  std::vector<std::string> names;
  for (const int rank : front.idle) {
    if (names.size() == kMostNamed) break;
    names.push_back(rank_words(group, job, rank));
  }
  if (front.idle.size() > kMostNamed)
    names.push_back(fmt::format("{} more", front.idle.size() - kMostNamed));
  return fmt::format(
      "{}; {} had completed the one before and called no more when its dump was written",
      ahead_words(group, front), join(names, ", "), front.number - 1);
}

/// "collective 20 of process group default_pg (4 ranks), at train.py:54 and train.py:50".
std::string place_of(const RecordedGroup& group, int64_t number,
                     const std::vector<const FlightRecorderEntry*>& calls) {
  constexpr size_t kMostPlaces = 3;
  std::vector<std::string> places;
  for (const FlightRecorderEntry* call : calls) {
    const std::string place = frame_words(*call);
    const bool known = std::find(places.begin(), places.end(), place) != places.end();
    if (!place.empty() && !known && places.size() < kMostPlaces) places.push_back(place);
  }
  return fmt::format("collective {} of {}{}{}", number, group_words(group),
                     places.empty() ? "" : ", at ", join(places, " and "));
}

RecorderVerdict late_verdict(const Job& job, const RecordedGroup& group,
                             const RecordedFront& front) {
  RecorderVerdict verdict{.kind = RecordedKind::Late,
                          .named = front.idle,
                          .what = late_words(job, group, front),
                          .place = place_of(group, front.number, {front.call}),
                          .communicator = group.communicator,
                          .number = front.number,
                          .group = group.name};
  verdict.dumps.push_back(dump_of(
      group, front.ahead.front(),
      fmt::format("collective {}: {}, not completed", front.number, recorded_words(*front.call))));
  verdict.dumps.push_back(dump_of(group, front.idle.front(),
                                  fmt::format("last collective {}, completed", front.number - 1)));
  return verdict;
}

/// Everybody outside the camp that more than half of the group's ranks are in.
std::vector<int> outvoted(const RecordedGroup& group, const RecordedDifference& difference) {
  std::vector<int> odd;
  if (2 * difference.camps.front().ranks.size() <= group.ranks.size()) return odd;
  for (size_t c = 1; c < difference.camps.size(); ++c) {
    const std::vector<int>& ranks = difference.camps[c].ranks;
    odd.insert(odd.end(), ranks.begin(), ranks.end());
  }
  std::sort(odd.begin(), odd.end());
  return odd;
}

std::string camps_words(const RecordedDifference& difference) {
  constexpr size_t kMostCamps = 4;
  std::vector<std::string> phrases;
  for (const RecordedCamp& camp : difference.camps) {
    if (phrases.size() == kMostCamps) break;
    phrases.push_back(fmt::format("{} called {}{}", ranks_phrase(camp.ranks),
                                  recorded_words(*camp.call), at_words(*camp.call)));
  }
  std::string words = join(phrases, ", ");
  if (difference.camps.size() > kMostCamps)
    words += fmt::format(" and {} other things", difference.camps.size() - kMostCamps);
  return words;
}

RecorderVerdict mismatch_verdict(const RecordedGroup& group, const RecordedDifference& difference) {
  const bool one_field = difference.fields.find(',') == std::string::npos;
  std::vector<const FlightRecorderEntry*> calls;
  for (const RecordedCamp& camp : difference.camps) calls.push_back(camp.call);
  RecorderVerdict verdict{.kind = RecordedKind::Mismatch,
                          .named = outvoted(group, difference),
                          .what = fmt::format("collective {} of {}: {} ({} {})", difference.number,
                                              group_words(group), camps_words(difference),
                                              difference.fields, one_field ? "differs" : "differ"),
                          .place = place_of(group, difference.number, calls),
                          .communicator = group.communicator,
                          .number = difference.number,
                          .group = group.name};
  for (const RecordedCamp& camp : difference.camps) {
    verdict.dumps.push_back(
        dump_of(group, camp.ranks.front(),
                fmt::format("collective {}: {}", difference.number, recorded_words(*camp.call))));
  }
  return verdict;
}

/// Larger groups first.
std::vector<const RecordedGroup*> by_size(const std::vector<RecordedGroup>& groups) {
  std::vector<const RecordedGroup*> result;
  for (const RecordedGroup& group : groups) result.push_back(&group);
  std::stable_sort(result.begin(), result.end(),
                   [](const auto* a, const auto* b) { return a->ranks.size() > b->ranks.size(); });
  return result;
}

bool last_is_open(const RecordedGroup& group, int64_t number) {
  return std::all_of(group.ranks.begin(), group.ranks.end(), [&](const RecordedRank& rank) {
    const FlightRecorderEntry* call = rank.call(number);
    return call != nullptr && is_open(*call);
  });
}

}  // namespace

RecorderVerdict recorder_verdict(const Job& job) {
  const std::vector<RecordedGroup> groups = recorded_groups(job);
  const std::vector<const RecordedGroup*> ordered = by_size(groups);
  for (const RecordedGroup* group : ordered) {
    if (const auto difference = recorded_difference(*group)) {
      return mismatch_verdict(*group, *difference);
    }
  }
  if (ordered.empty()) return {};
  for (const RecordedGroup* group : ordered) {
    const auto front = recorded_front(*group);
    if (!front || front->idle.empty() || !front->unknown.empty() || !are_few(*front)) continue;
    if (!somebody_gave_up(job, *group, front->number)) continue;
    return late_verdict(job, *group, *front);
  }
  const RecordedGroup& largest = *ordered.front();
  const int64_t number = recorded_by_all(largest);
  if (number == 0 || !last_is_open(largest, number)) return {};
  if (!somebody_gave_up(job, largest, number)) return {};
  const FlightRecorderEntry& last = *largest.ranks.front().call(number);
  return {.kind = RecordedKind::Entered,
          .what = fmt::format("all {} ranks called collective {} of {}, {}", largest.ranks.size(),
                              number, group_words(largest), recorded_words(last)),
          .place = place_of(largest, number, {&last}),
          .communicator = largest.communicator,
          .number = number,
          .group = largest.name};
}

std::string recorded_behind_words(const Job& job) {
  const std::vector<RecordedGroup> groups = recorded_groups(job);
  for (const RecordedGroup* group : by_size(groups)) {
    const auto front = recorded_front(*group);
    if (!front) continue;
    return fmt::format("{}, and {} had not when the dumps were written{}",
                       ahead_words(*group, *front), ranks_phrase(front->behind),
                       unknown_words(*front));
  }
  return {};
}

}  // namespace ncclog
