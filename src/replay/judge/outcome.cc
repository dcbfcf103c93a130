#include "replay/judge/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/collectives.h"
#include "base/error.h"
#include "base/text.h"
#include "replay/plan/build_plan.h"

namespace ncclog {

std::string write_outcome(const ReplayOutcome& outcome) {
  return write_json_document(to_json_value(outcome));
}

ReplayOutcome parse_outcome(std::string_view text, const std::string& source) {
  return parse_json_as<ReplayOutcome>(text, source, "replay outcome");
}

bool is_of_a_refusal(const std::string& text) {
  try {
    const ReplayOutcome outcome = parse_outcome(text, "outcome.json");
    return !outcome.refused.empty() && outcome.runs.empty();
  } catch (const Error&) {
    return false;
  }
}

namespace {

/// Calls that can only be completed together: all collectives of a communicator, or all messages
/// from one rank to another. By rank of the plan, the places of each rank's calls in calls_in().
using MeetingCalls = std::map<int, std::vector<uint64_t>>;

/// The first call whose data are wrong: what came behind it was no longer as planned.
bool is_wrong(const RankOutcome& rank, uint64_t place) {
  const Verification& verified = rank.verified;
  return verified.wrong > 0 && verified.first && verified.first->call == place;
}

/// The first call of `meeting` that was not completed by all as it should; nullopt if nobody
/// stands.
std::optional<FrontLine> first_open(const ReplayPlan& plan, MadeIn mode,
                                    const MeetingCalls& meeting,
                                    const std::vector<RankOutcome>& ranks) {
  size_t longest = 0;
  bool stands = false;
  for (const auto& [rank, places] : meeting) {
    const RankOutcome& outcome = ranks[rank];
    longest = std::max(longest, places.size());
    stands = stands || std::ranges::any_of(places, [&](uint64_t place) {
               const bool is_open = place < outcome.entered && !is_completed(outcome, place);
               return is_open || is_wrong(outcome, place);
             });
  }
  if (!stands) return std::nullopt;
  for (size_t k = 0; k < longest; ++k) {
    FrontLine front{.index = k};  // Where nobody entered it, its number is not known.
    bool all_completed = true;
    for (const auto& [rank, places] : meeting) {
      const RankOutcome& outcome = ranks[rank];
      const bool is_made = k < places.size();
      all_completed = all_completed && is_made && is_completed(outcome, places[k]) &&
                      !is_wrong(outcome, places[k]);
      const bool has_entered = is_made && places[k] < outcome.entered;
      if (has_entered && front.entered.empty()) {
        front.index = calls_in(plan.ranks[rank], mode)[places[k]].index;
      }
      (has_entered ? front.entered : front.missing).push_back(rank);
    }
    if (!all_completed) return front;
  }
  return std::nullopt;
}

/// The collectives of a communicator, then its messages by sender and receiver.
std::map<CallLine, MeetingCalls> meetings_of(const ReplayPlan& plan, MadeIn mode,
                                             int communicator) {
  const std::vector<int>& ranks = plan.communicators[communicator].ranks;
  std::map<CallLine, MeetingCalls> meetings;
  for (const int rank : ranks) {
    const std::vector<PlannedCall> calls = calls_in(plan.ranks[rank], mode);
    for (size_t place = 0; place < calls.size(); ++place) {
      const PlannedCall& call = calls[place];
      if (call.communicator != communicator) continue;
      CallLine line{.communicator = communicator};
      if (is_message(call.op)) {
        if (call.root < 0 || call.root >= static_cast<int>(ranks.size())) continue;
        const bool sends = operation_of(call.op) == Operation::Send;
        line.sender = sends ? rank : ranks[call.root];
        line.receiver = sends ? ranks[call.root] : rank;
        // A message to oneself has both ends in one rank: its Send stands for it.
        if (line.sender == line.receiver && !sends) continue;
      }
      const auto [meeting, is_new] = meetings.try_emplace(line);
      if (is_new) {
        const std::vector<int> ends =
            line.is_message() ? std::vector{line.sender, line.receiver} : ranks;
        for (const int end : ends) meeting->second[end];
      }
      meeting->second[rank].push_back(place);
    }
  }
  return meetings;
}

}  // namespace

bool is_completed(const RankOutcome& rank, uint64_t place) {
  if (place < rank.completed) return true;
  if (place >= rank.entered || rank.open.empty() || place > rank.open.back()) return false;
  return std::ranges::find(rank.open, place) == rank.open.end();
}

std::optional<FrontLine> front_of(const ReplayPlan& plan, MadeIn mode, int communicator,
                                  const std::vector<RankOutcome>& ranks) {
  if (communicator < 0 || communicator >= static_cast<int>(plan.communicators.size()) ||
      ranks.size() != plan.ranks.size()) {
    return std::nullopt;
  }
  // Where a message is tested, a front of messages says more than one of collectives.
  const bool by_message = plan.hypothesis.kind == DefectKind::Message;
  std::optional<FrontLine> of_collectives;
  std::optional<FrontLine> of_messages;
  for (const auto& [line, meeting] : meetings_of(plan, mode, communicator)) {
    auto open = first_open(plan, mode, meeting, ranks);
    if (!open) continue;
    open->communicator = communicator;
    auto& front = line.is_message() ? of_messages : of_collectives;
    if (!front || (front->missing.empty() && !open->missing.empty())) front = std::move(open);
  }
  const bool use_messages = of_messages && (by_message || !of_collectives);
  return use_messages ? of_messages : of_collectives;
}

std::optional<FrontLine> front_line(const ReplayPlan& plan, MadeIn mode,
                                    const std::vector<RankOutcome>& ranks) {
  if (plan.hypothesis.front) {
    auto front = front_of(plan, mode, plan.hypothesis.front->communicator, ranks);
    if (front) return front;
  }
  for (size_t i = 0; i < plan.communicators.size(); ++i) {
    if (auto front = front_of(plan, mode, static_cast<int>(i), ranks)) return front;
  }
  return std::nullopt;
}

namespace {

// Places of calls.

const PlannedRank* rank_at(const ReplayPlan& plan, int rank) {
  const bool is_there = rank >= 0 && static_cast<size_t>(rank) < plan.ranks.size();
  return is_there ? &plan.ranks[rank] : nullptr;
}

/// Of the rank's call number `order` in that mode; nullopt: it makes fewer, or is no rank of the
/// plan.
std::optional<CallPlace> place_in(const ReplayPlan& plan, MadeIn mode, int rank, uint64_t order) {
  const PlannedRank* planned = rank_at(plan, rank);
  if (planned == nullptr) return std::nullopt;
  const std::vector<PlannedCall> calls = calls_in(*planned, mode);
  return order < calls.size() ? std::optional(place_of(calls[order])) : std::nullopt;
}

std::optional<CallPlace> first_defect(const ReplayPlan& plan) {
  for (const int number : plan.hypothesis.diverged) {
    const PlannedRank* rank = rank_at(plan, number);
    if (rank == nullptr) continue;
    const auto call = std::ranges::find_if(
        rank->calls, [](const auto& one) { return one.made_in != MadeIn::Both; });
    if (call != rank->calls.end()) return place_of(*call);
  }
  return std::nullopt;
}

/// The call at that place as ranks that behave make it; nullptr: nobody makes one.
const PlannedCall* call_of(const ReplayPlan& plan, const CallPlace& place) {
  const PlannedCall* found = nullptr;
  for (const PlannedRank& rank : plan.ranks) {
    for (const PlannedCall& call : rank.calls) {
      if (place_of(call) != place) continue;
      if (call.made_in != MadeIn::Defect) return &call;
      if (found == nullptr) found = &call;
    }
  }
  return found;
}

}  // namespace

CallPlace place_of(const PlannedCall& call) { return {call.communicator, call.index}; }

CallPlace place_of(const FrontLine& front) { return {front.communicator, front.index}; }

std::optional<FrontLine> expected_place(const ReplayPlan& plan) {
  if (plan.hypothesis.kind == DefectKind::None) return std::nullopt;
  if (plan.hypothesis.front) return plan.hypothesis.front;
  const std::optional<CallPlace> place = first_defect(plan);
  if (!place) return std::nullopt;
  return FrontLine{.communicator = place->communicator, .index = place->index};
}

std::optional<CallPlace> stop_of(const ReplayPlan& plan, const RunOutcome& run) {
  if (run.front) return place_of(*run.front);
  for (const RankOutcome& rank : run.ranks) {
    if (run.end != RunEnd::Failed || rank.error.empty()) continue;
    const uint64_t order = rank.open.empty() ? rank.completed : rank.open.front();
    if (const auto place = place_in(plan, run.mode, rank.rank, order)) return place;
  }
  // Of wrong elements the one whose rank makes the call earliest.
  std::optional<CallPlace> wrong;
  uint64_t earliest = 0;
  for (const RankOutcome& rank : run.ranks) {
    if (!rank.verified.first || (wrong && earliest <= rank.verified.first->call)) continue;
    const auto place = place_in(plan, run.mode, rank.rank, rank.verified.first->call);
    if (!place) continue;
    wrong = place;
    earliest = rank.verified.first->call;
  }
  return wrong;
}

std::string place_text(const ReplayPlan& plan, const CallPlace& place) {
  const bool is_known = place.communicator >= 0 &&
                        static_cast<size_t>(place.communicator) < plan.communicators.size();
  const std::string id = is_known ? printable(plan.communicators[place.communicator].id) : "?";
  const PlannedCall* call = call_of(plan, place);
  if (call == nullptr) return fmt::format("call {} of communicator {}", place.index + 1, id);
  return fmt::format("{}, {} {} of communicator {}", printable(call->op),
                     is_message(call->op) ? "message" : "call", place.index + 1, id);
}

std::string ranks_phrase(const ReplayPlan& plan, std::span<const int> ranks) {
  std::vector<int> recorded;
  std::vector<std::string> unnamed;
  for (const int number : ranks) {
    const PlannedRank* rank = rank_at(plan, number);
    if (rank != nullptr && rank->recorded_rank >= 0) {
      recorded.push_back(rank->recorded_rank);
    } else {
      unnamed.push_back(fmt::format("rank {} of the plan", number));
    }
  }
  std::ranges::sort(recorded);
  if (!recorded.empty()) {
    unnamed.insert(unnamed.begin(), fmt::format("rank{} {}", recorded.size() == 1 ? "" : "s",
                                                ranges_text(recorded)));
  }
  return join(unnamed, " and ");
}

namespace {

/// "reason" without its full stop, or what is said instead of nothing.
std::string clause(std::string_view reason, std::string_view otherwise) {
  const std::string shown = printable(trim(reason));
  if (shown.empty()) return std::string(otherwise);
  return shown.back() == '.' ? shown.substr(0, shown.size() - 1) : shown;
}

const GpuCheck* silent_gpu(const RunOutcome& run) {
  const auto found =
      std::ranges::find_if(run.gpus, [](const GpuCheck& gpu) { return !gpu.answers; });
  return found == run.gpus.end() ? nullptr : &*found;
}

/// A rank whose process the kernel does not let go: its GPU is not free.
const RankOutcome* lost_rank(const RunOutcome& run) {
  const auto found = std::ranges::find_if(
      run.ranks, [](const auto& rank) { return rank.end == ProcessEnd::Lost; });
  return found == run.ranks.end() ? nullptr : &*found;
}

/// Why a run tells nothing about the calls; empty: it does.
std::string why_useless(const RunOutcome& run) {
  if (run.end == RunEnd::NotStarted) return clause(run.reason, "its ranks could not be started");
  if (run.end == RunEnd::Died) return clause(run.reason, "one of its processes died");
  if (const RankOutcome* lost = lost_rank(run)) {
    return fmt::format("the process of one of its ranks (pid {}) could not be ended", lost->pid);
  }
  if (const GpuCheck* gpu = silent_gpu(run)) {
    return fmt::format("GPU {} did not answer after it: {}", gpu->gpu,
                       clause(gpu->error, "no reason is known"));
  }
  const bool has_called =
      run.end == RunEnd::Completed || run.end == RunEnd::Wrong || run.phase >= ReplayPhase::Enqueue;
  if (!has_called) {
    return fmt::format("it came to its end before any call ({}): {}", to_string(run.phase),
                       clause(run.reason, "no reason is known"));
  }
  const auto lacks_memory = [](const RankOutcome& rank) {
    return rank.error.find("out of memory") != std::string::npos;
  };
  if (run.end == RunEnd::Failed && std::ranges::any_of(run.ranks, lacks_memory)) {
    return clause(run.reason, "a GPU is out of memory");
  }
  return {};
}

/// True if the run came to its end where the job did: in a defect run that hung with the recorded
/// ranks or, where no front was recorded, at the defect.
bool is_as_recorded(const ReplayPlan& plan, const RunOutcome& run,
                    const std::optional<CallPlace>& stop) {
  const std::optional<FrontLine> expected = expected_place(plan);
  if (!expected || !stop || *stop != place_of(*expected)) return false;
  // In a clean run the diverged ranks come, too: who entered is another question there.
  const bool by_front = run.mode == MadeIn::Defect && run.end == RunEnd::Hung && run.front;
  if (!by_front || !plan.hypothesis.front) return true;
  return std::ranges::is_permutation(expected->entered, run.front->entered) &&
         std::ranges::is_permutation(expected->missing, run.front->missing);
}

std::string front_text(const ReplayPlan& plan, const RunOutcome& run) {
  const std::optional<CallPlace> stop = stop_of(plan, run);
  if (!stop) return {};
  std::string out = " at " + place_text(plan, *stop);
  if (!run.front) return out;
  if (!run.front->entered.empty()) out += ", entered by " + ranks_phrase(plan, run.front->entered);
  if (!run.front->missing.empty()) out += ", not by " + ranks_phrase(plan, run.front->missing);
  return out;
}

std::string verified_text(const Verification& all) {
  if (all.calls == 0) return "; no result was compared";
  std::string out = fmt::format("; {} results compared, {} elements, {}", all.calls, all.elements,
                                all.wrong == 0 ? "none wrong" : fmt::format("{} wrong", all.wrong));
  if (all.shape_only > 0) out += fmt::format("; {} ran without being compared", all.shape_only);
  return out;
}

/// "rank 0: element 17 of AllReduce, call 3 of communicator 0x9c…: expected 6, found 2".
std::string wrong_text(const ReplayPlan& plan, const RunOutcome& run) {
  for (const RankOutcome& rank : run.ranks) {
    if (!rank.verified.first) continue;
    const WrongElement& wrong = *rank.verified.first;
    const int number[] = {rank.rank};
    return fmt::format("; {}: element {}, expected {}, found {}", ranks_phrase(plan, number),
                       wrong.element, printable(wrong.expected), printable(wrong.found));
  }
  return {};
}

std::string end_text(const ReplayPlan& plan, const RunOutcome& run) {
  switch (run.end) {
    case RunEnd::Completed:
      return "completed" + verified_text(verified_by_all(run));
    case RunEnd::Hung:
      return fmt::format("hung in {}{}", to_string(run.phase), front_text(plan, run));
    case RunEnd::Failed:
      return fmt::format("failed in {}{}: {}", to_string(run.phase), front_text(plan, run),
                         clause(run.reason, "no reason is known"));
    case RunEnd::Wrong:
      return "completed with wrong data" + front_text(plan, run) +
             verified_text(verified_by_all(run)) + wrong_text(plan, run);
    case RunEnd::Died:
    case RunEnd::NotStarted:
      break;
  }
  return "useless: " + why_useless(run);
}

}  // namespace

bool leans_on_buffers(const ReplayPlan& plan) { return !clean_run_ends(plan); }

RunReading read_run(const ReplayPlan& plan, const RunOutcome* run) {
  RunReading reading;
  if (run == nullptr) return reading;
  reading.lost_gpu = silent_gpu(*run) != nullptr || lost_rank(*run) != nullptr;
  reading.why = why_useless(*run);
  if (!reading.why.empty()) {
    reading.shows = RunShows::Useless;
    return reading;
  }
  const Verification all = verified_by_all(*run);
  if (run->end == RunEnd::Completed && all.wrong == 0) {
    reading.shows = RunShows::Completed;
    reading.compared = all.calls > 0;
    return reading;
  }
  reading.stop = stop_of(plan, *run);
  const bool as_recorded = is_as_recorded(plan, *run, reading.stop);
  reading.shows = as_recorded ? RunShows::AsRecorded : RunShows::Elsewhere;
  const bool all_behave = run->mode == MadeIn::Clean || !has_defect(plan);
  if (!as_recorded && all_behave && leans_on_buffers(plan)) {
    reading.shows = RunShows::Useless;
    reading.why =
        "ranks send to each other before either of them receives, which NCCL does not promise to "
        "complete outside of a group, and no line of the record tells of groups";
  }
  return reading;
}

Verification verified_by_all(const RunOutcome& run) {
  Verification all;
  for (const RankOutcome& rank : run.ranks) {
    all.calls += rank.verified.calls;
    all.elements += rank.verified.elements;
    all.wrong += rank.verified.wrong;
    all.shape_only += rank.verified.shape_only;
  }
  return all;
}

std::string run_line(const ReplayPlan& plan, const RunOutcome& run) {
  const std::string varied = variation_text(run);
  std::string out = fmt::format("{}{}: {}", varied.empty() ? "" : varied + ", ",
                                to_string(run.mode), end_text(plan, run));
  const RunReading reading = read_run(plan, &run);
  if (reading.shows == RunShows::AsRecorded) {
    const bool as_recorded = stood_still_as_recorded(plan.hypothesis, run);
    out += as_recorded ? ": as recorded" : ": at the recorded call";
  }
  if (reading.shows == RunShows::Elsewhere && expected_place(plan)) out += ": not as recorded";
  return out;
}

std::string end_word(const Hypothesis& hypothesis, const RunOutcome& run, RunShows shows) {
  if (shows != RunShows::AsRecorded && shows != RunShows::Elsewhere) {
    return std::string(to_string(shows));
  }
  const bool is_wrong = run.end == RunEnd::Completed || run.end == RunEnd::Wrong;
  std::string end(to_string(is_wrong ? RunEnd::Wrong : run.end));
  if (hypothesis.kind == DefectKind::None) return end;
  if (shows == RunShows::Elsewhere) return end + "-elsewhere";
  return end + (stood_still_as_recorded(hypothesis, run) ? "-as-recorded" : "-at-the-call");
}

bool stood_still_as_recorded(const Hypothesis& hypothesis, const RunOutcome& run) {
  const bool like_the_job = run.mode == MadeIn::Defect || hypothesis.kind == DefectKind::Stall;
  return like_the_job && hypothesis.front && run.end == RunEnd::Hung;
}

const RunOutcome* find_run(const ReplayOutcome& outcome, MadeIn mode, std::string_view varied) {
  const auto found = std::find_if(
      outcome.runs.rbegin(), outcome.runs.rend(),
      [&](const RunOutcome& run) { return run.mode == mode && variation_text(run) == varied; });
  return found == outcome.runs.rend() ? nullptr : &*found;
}

std::string variation_text(const RunOutcome& run) {
  std::string out;
  for (const auto& [name, value] : run.settings) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", printable(name), printable(value));
  }
  return out;
}

}  // namespace ncclog
