#include "diagnose/outcome/stacks_apart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/rank_stacks.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/line/prefix.h"
#include "log/stack_lines.h"

namespace ncclog {
namespace {

using Members = std::vector<const RankStacks*>;

/// What it did last.
std::string last_words(const RankStacks& one) {
  return one.refused ? "not answering" : one.stacks.back().words;
}

/// By what they do last, the odd ones first.
std::vector<std::pair<std::string, Members>> by_place(const Job& job) {
  std::map<std::string, Members> alike;
  for (const RankStacks& one : rank_stacks(job)) alike[last_words(one)].push_back(&one);
  std::vector<std::pair<std::string, Members>> places(alike.begin(), alike.end());
  std::ranges::stable_sort(places, {}, [](const auto& place) { return place.second.size(); });
  return places;
}

std::string places_words(const std::vector<std::pair<std::string, Members>>& places) {
  std::vector<std::string> words;
  for (const auto& [place, who] : places) {
    words.push_back(fmt::format("{} {}", stacks_phrase(who), place));
  }
  return few_of(words, kMostNamed, "; ");
}

/// A sentence to put behind another.
FactValue stacks_told(const Job& job, const Instance&) {
  const auto places = by_place(job);
  if (places.empty()) return unknown();
  return yes(fmt::format(" The stacks show where they stood: {}.", places_words(places)));
}

/// Steps were printed behind the last stack of an input: the job went on.
bool steps_went_on(const Job& job) {
  std::map<uint32_t, SourceRef> last;
  for (const RankStacks& one : rank_stacks(job)) {
    if (one.stacks.empty()) continue;
    const SourceRef where = one.stacks.back().own().shown.where;
    const JobUnit* const unit = unit_of(job, where);
    if (unit != nullptr) last[unit->input] = std::max(last[unit->input], where);
  }
  return std::ranges::any_of(job.clocks, [&](const InputClock& clock) {
    const auto stack = last.find(clock.input);
    return stack != last.end() && clock.last.back() > stack->second;
  });
}

/// Its last two stacks have the same line of its own.
bool kept_line(const RankStacks& one) {
  return one.stacks.size() >= 2 &&
         one.stacks.back().own().is_same_place(one.stacks[one.stacks.size() - 2].own());
}

/// Likewise, or the same function, which is not that of `place`: long work goes from line to line.
bool stayed_away(const RankStacks& one, const StackFrame& place) {
  if (one.stacks.size() < 2 || kept_line(one)) return one.stacks.size() >= 2;
  const StackFrame& last = one.stacks.back().own();
  const StackFrame& before = one.stacks[one.stacks.size() - 2].own();
  return last.function == before.function && last.file == before.file &&
         last.function != "<module>" && last.function != place.function;
}

bool waits(const RankStacks& one) {
  if (one.refused) return false;
  const Stands stands = one.stacks.back().stands;
  return stands == Stands::Waits || stands == Stands::WaitsGpu;
}

/// Some who have not come, and the others, who wait.
struct Apart {
  Members odd;
  Members others;

  bool is_sound() const { return !odd.empty() && are_few(odd.size(), others.size()); }
};

/// The others wait in calls that need everybody. Who waits for the GPU may do so at any moment of a
/// job that runs: that counts where it lasts, or where the job is known to have stopped.
std::optional<Apart> apart_from_call(const Job& job) {
  Apart apart;
  size_t for_gpu = 0;
  bool is_told = true;
  for (const RankStacks& one : rank_stacks(job)) {
    (waits(one) ? apart.others : apart.odd).push_back(&one);
    if (one.refused) continue;
    const MainStack& last = one.stacks.back();
    for_gpu += last.stands == Stands::WaitsGpu ? 1 : 0;
    is_told &= last.stands != Stands::Unclear;
  }
  if (!apart.is_sound()) return std::nullopt;
  // Stages of a pipeline wait for messages while their groups wait in collectives.
  const bool are_mostly_in_calls = is_told && 2 * for_gpu < apart.others.size();
  bool waits_for_ranks = for_gpu == 0 || are_mostly_in_calls;
  // One against one, at a line of its own: either may be where most are.
  waits_for_ranks &= is_told || apart.others.size() > 1;
  const StackFrame& place = apart.others.front()->stacks.back().own();
  const bool has_lasted =
      std::ranges::all_of(apart.others, [](const auto* one) { return kept_line(*one); }) &&
      std::ranges::all_of(apart.odd, [&](const auto* one) { return stayed_away(*one, place); });
  const bool is_over = any_said<PythonStackTimer>(job) || stop_evidence(job).has_value();
  return waits_for_ranks || has_lasted || is_over ? std::optional(apart) : std::nullopt;
}

/// All others stood still at one line of their own, which may wait for the GPU: in two stacks, or
/// when the job is known to have stood still and the odd ones did what needs nobody.
std::optional<Apart> apart_from_line(const Job& job) {
  std::map<std::tuple<std::string_view, std::string_view, int>, Members> places;
  const std::vector<RankStacks>& all = rank_stacks(job);
  for (const RankStacks& one : all) {
    if (one.refused) return std::nullopt;
    const StackFrame& own = one.stacks.back().own();
    places[{own.file, own.function, own.line}].push_back(&one);
  }
  const Members& others = std::ranges::max_element(places, {}, [](const auto& place) {
                            return place.second.size();
                          })->second;
  if (others.size() < 2) return std::nullopt;
  const StackFrame& place = others.front()->stacks.back().own();
  Apart apart{.others = others};
  const bool is_over = stood_still(job);
  for (const RankStacks& one : all) {
    const MainStack& last = one.stacks.back();
    const bool works = last.stands == Stands::Works;
    if (last.own().is_same_place(place)) {
      if (works || !(is_over || kept_line(one))) return std::nullopt;
      continue;
    }
    if (last.stands == Stands::Waits) return std::nullopt;
    if (!(works && is_over) && !stayed_away(one, place)) return std::nullopt;
    apart.odd.push_back(&one);
  }
  return apart.is_sound() ? std::optional(apart) : std::nullopt;
}

/// "rank 2 was in the data loader (train.py:13) while ranks 0,1,3 were waiting in all_reduce
/// (train.py:88)".
FactValue rank_stuck(const Job& job, const Instance&) {
  // In a library that no row knows somebody may wait as well as work: an idle server does.
  const auto is_unclear = [](const RankStacks& one) {
    if (one.is_pasted) return true;
    if (one.refused) return false;
    const MainStack& last = one.stacks.back();
    return last.stands == Stands::Unclear && last.is_in_library;
  };
  const std::vector<RankStacks>& all = rank_stacks(job);
  if (all.size() < 2 || steps_went_on(job) || std::ranges::any_of(all, is_unclear)) {
    return unknown();
  }
  auto apart = apart_from_call(job);
  if (!apart) apart = apart_from_line(job);
  if (!apart) return unknown();
  FactValue value = yes("");
  std::map<std::string, Members> odd;
  for (const RankStacks* one : apart->odd) {
    odd[last_words(*one)].push_back(one);
    if (one->refused) {
      value.evidence.push_back(*one->refused);
    } else {
      const MainStack& last = one->stacks.back();
      value.evidence.push_back(last.frames[last.telling_place].shown);
      if (last.telling_place != last.own_place) value.evidence.push_back(last.own().shown);
    }
    const bool has_rank = one->process >= 0 && nth_process(job, one->process).rank >= 0;
    blame(has_rank || one->rank < 0 ? one->process : -1, one->rank, value);
  }
  std::vector<std::string> words;
  for (const auto& [place, who] : odd) {
    words.push_back(
        fmt::format("{} {} {}", stacks_phrase(who), who.size() == 1 ? "was" : "were", place));
  }
  std::map<std::string, size_t> others;
  for (const RankStacks* one : apart->others) ++others[last_words(*one)];
  const auto most =
      std::ranges::max_element(others, {}, [](const auto& other) { return other.second; });
  const std::string there =
      others.size() == 1 ? most->first
                         : fmt::format("elsewhere, {} of them {}", most->second, most->first);
  value.what =
      fmt::format("{} while {} {} {}", few_of(words, kMostNamed, ", "),
                  stacks_phrase(apart->others), apart->others.size() == 1 ? "was" : "were", there);
  return value;
}

/// A function of NCCL, or of MPI, whose calls wait for other ranks, too.
bool is_of_collectives(const StackLine& line) {
  constexpr std::string_view kBegins[] = {"nccl", "MPI", "PMPI_", "ompi_"};
  return std::ranges::any_of(kBegins,
                             [&](auto begin) { return line.function.starts_with(begin); }) ||
         line.function == "persistentThread" ||
         (line.file.starts_with("libnccl") && line.function != "??");
}

/// Threads of all stacks, and where they are in NCCL or MPI.
struct ThreadsInCalls {
  int64_t threads = 0;
  /// "persistentThread", "ncclStrongStreamSynchronize of ncclCommAbort": the innermost function and the
  /// call of which it is.
  std::set<std::string> calls;
  bool has_native = false;  ///< A frame of C or C++ is among them.
};

ThreadsInCalls threads_in_calls(std::span<const SpeakerLog> logs) {
  ThreadsInCalls found;
  std::string innermost;  // Of the thread at hand: where it is, and of which call.
  std::string outermost;
  const auto note_thread = [&] {
    if (innermost.empty()) return;
    found.calls.insert(innermost == outermost ? innermost
                                              : fmt::format("{} of {}", innermost, outermost));
    innermost.clear();
  };
  for (const SpeakerLog& log : logs) {
    if (!log.stack_lines) continue;
    bool is_open = false;
    bool is_first = true;
    note_thread();
    for (const Record record : *log.stack_lines) {
      const std::string text = record.text();
      const StackLine line = parse_stack_line(text, parse_prefix(text).length);
      if (line.kind == StackLine::Kind::Thread) note_thread();
      // An excerpt may begin in the middle of a stack.
      const bool begins_cut = is_first && line.kind == StackLine::Kind::Frame && line.is_native;
      is_first = false;
      found.has_native |= line.is_native;
      if (line.kind == StackLine::Kind::Thread || begins_cut) {
        ++found.threads;
        is_open = true;
      }
      if (!is_open || line.kind != StackLine::Kind::Frame || !is_of_collectives(line)) continue;
      if (innermost.empty()) innermost = line.function;
      outermost = line.function;
    }
  }
  note_thread();
  return found;
}

/// A thread of NCCL's own, which waits by design, or one that is in no call from outside.
bool is_servant(const std::string& call) {
  constexpr std::string_view kServants[] = {"roxy", "ncclRas", "bootstrap"};
  return call.find(" of ") == call.npos || holds_one_of(call, kServants);
}

/// Where threads of the one log are in calls of NCCL or MPI, but for those of NCCL's own that wait by
/// design; empty: nowhere, or there are several logs, and whose the threads are is not known.
std::string calls_in(const Job& job) {
  if (job.logs.size() > 1) return {};
  std::set<std::string> calls = threads_in_calls(job.logs).calls;
  std::erase_if(calls, is_servant);
  return few_of({calls.begin(), calls.end()}, kMostNamed, ", ");
}

constexpr std::array kStackFacts = {
    // Where the main threads stood as their stacks show it: a sentence.
    job_fact("job.rank_stacks", stacks_told),
    // Few had not come to where all others waited.
    comparing_fact("job.rank_stuck_by_stacks", rank_stuck),
};

}  // namespace

std::string stacks_summary(const Job& job) {
  const auto places = by_place(job);
  if (places.empty()) return {};
  Members all;
  for (const RankStacks& one : rank_stacks(job)) all.push_back(&one);
  if (all.size() == 1) {
    const std::string calls = calls_in(job);
    return fmt::format("the stack of {}, {}, alone accuses nobody{}", stacks_phrase(all),
                       places.front().first,
                       calls.empty() ? "" : "; a thread of it is in " + calls);
  }
  if (places.size() == 1) {
    return fmt::format("the stacks of {} are alike and accuse nobody: {}", stacks_phrase(all),
                       places.front().first);
  }
  // A headline has no room for files and lines, of which "show stacks" tells.
  std::vector<std::string> words;
  for (const auto& [place, who] : places)
    words.push_back(fmt::format("{} {}", who.size(), place.substr(0, place.rfind(" ("))));
  return fmt::format("stacks of {} differ: {}; they accuse nobody", stacks_phrase(all),
                     few_of(words, 2, ", "));
}

std::string threads_summary(const Job& job) {
  if (!rank_stacks(job).empty()) return {};
  const ThreadsInCalls found = threads_in_calls(job.logs);
  if (found.threads == 0 || (found.calls.empty() && !found.has_native)) return {};
  if (found.calls.empty()) {
    return fmt::format(
        "Stacks of {}, no main one and nothing of NCCL among them: they accuse nobody.",
        plural(found.threads, "thread"));
  }
  const std::vector<std::string> names(found.calls.begin(), found.calls.end());
  if (found.threads == 1 && !is_servant(names.front())) {
    return fmt::format(
        "The stack of one thread, in {}, alone accuses nobody: it may wait for others.",
        names.front());
  }
  return fmt::format(
      "Stacks of {}, of no main one, in {}: they accuse nobody, and an idle proxy waits by design.",
      plural(found.threads, "thread"), few_of(names, kMostNamed, ", "));
}

std::span<const Fact> stack_facts() { return kStackFacts; }

}  // namespace ncclog
