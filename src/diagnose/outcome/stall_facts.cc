// What do the logs of a job show that no watchdog ended?
//
//   steps 0.1 s apart, 22 s of nothing, SIGTERM     → job.stalled_before_end = yes
//   steps 0.4 s apart, SIGTERM 0.4 s later          → job.ended_at_work = yes
//   communicators complete, calls, and then nothing → job.ends_at_work = yes: "of 4 processes …"
//
// The first is a hang that somebody ended; the second is no fault of the job. The third may be
// either, or a copy of a log that goes on.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "diagnose/call_waits.h"
#include "diagnose/call_words.h"
#include "diagnose/entered_words.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/silence.h"
#include "diagnose/stop_evidence.h"
#include "diagnose/within_runs.h"

namespace ncclog {
namespace {

FactValue stalled_before_end(const Job& job, const Instance&) {
  const auto stop = stop_evidence(job);
  if (!stop || stop->by != StopBy::Silence) return unknown();
  const std::optional<Silence>& silence = silence_before_end(job);
  return yes(fmt::format("nothing was printed for {}, where work had shown every {}; then {}",
                         duration_words(silence->nanoseconds), duration_words(silence->usual),
                         silence->ended),
             {silence->last, silence->end});
}

/// Somebody ended it, and nothing shows that it had failed or stood still.
FactValue ended_at_work(const Job& job, const Instance&) {
  const auto stop = stop_evidence(job);
  if (!stop || stop->by != StopBy::Ended) return unknown();
  if (outcome_of(job).job.state != EndState::Stopped) return unknown();
  const std::optional<Silence>& silence = silence_before_end(job);
  std::string what = stop->what;
  if (silence && silence->usual > 0) {
    what += fmt::format("; its last sign of life is {} older, where work had shown every {}",
                        duration_words(silence->nanoseconds), duration_words(silence->usual));
  }
  return yes(std::move(what), {stop->line});
}

/// How it is known that the job stood still, where no watchdog says so: the end of a sentence.
FactValue hung_silently(const Job& job, const Instance&) {
  const auto stop = stop_evidence(job);
  const bool is_silent = stop && (stop->by == StopBy::Silence || stop->by == StopBy::Stated);
  return is_silent ? yes("; " + stop->what, {stop->line}) : unknown();
}

bool is_closed(const Waits& waits) {
  return waits.unmatched.empty() &&
         std::none_of(waits.fronts.begin(), waits.fronts.end(),
                      [](const CallFront& front) { return front.is_open(); });
}

/// What the calls say of a hang that the user saw.
FactValue stated_hung(const Job& job, const Instance&) {
  const auto stop = stop_evidence(job);
  if (!stop || stop->by != StopBy::Stated) return unknown();
  const Waits& waits = find_waits(job);
  const std::string entered = is_closed(waits) ? entered_words(job, waits.fronts) : "";
  return yes(entered.empty() ? "these logs do not show the calls of all ranks" : entered,
             {stop->line});
}

/// Somebody ended it, and the lines do not show that it was at work until then: they carry no
/// times, or it had been silent for longer than before and not for long enough.
bool was_perhaps_still(const Job& job) {
  if (outcome_of(job).job.state != EndState::Stopped) return false;
  const std::optional<Silence>& silence = silence_before_end(job);
  return !silence || !silence->is_usual;
}

/// A log that ends inside a line was copied while somebody wrote, or lost its end: who is behind
/// there may have gone on.
bool is_any_cut(const Job& job) {
  return std::any_of(job.processes.begin(), job.processes.end(),
                     [](const Process& process) { return process.cut; });
}

/// Nothing says that it came to an end by itself, and nothing shows that it worked up to its end.
FactValue ends_at_work(const Job& job, const Instance&) {
  if (job.stated && *job.stated != StatedOutcome::Hung) return no();
  const auto stop = stop_evidence(job);
  if (stop && stop->by == StopBy::Ended && was_perhaps_still(job)) {
    return yes(fmt::format("The job was ended from outside ({}), and these lines do not show "
                           "whether it still worked then",
                           stop->what),
               {stop->line});
  }
  if (stop && stop->by != StopBy::Stated) return no();
  if (outcome_of(job).job.state != EndState::Unfinished || is_any_cut(job)) return unknown();
  size_t open = 0;
  for (const EndOf& end : outcome_of(job).processes) open += end.state == EndState::Unfinished;
  return yes(
      fmt::format("The logs of {} process{} end in the middle of the work, and nothing says why",
                  open, open == 1 ? "" : "es"));
}

std::string unmatched_words(const Job& job, const UnmatchedMessages& messages) {
  const auto one = [&](int rank) { return members_words(job, messages.communicator, {rank}); };
  return fmt::format("{} had sent {} messages to {}, which had received {}", one(messages.sender),
                     messages.sent, one(messages.receiver), messages.received);
}

/// Messages of which only one end is there when the logs end.
FactValue messages_open(const Job& job, const Instance&) {
  const Waits& waits = find_waits(job);
  std::vector<std::string> phrases;
  constexpr size_t kMostNamed = 4;
  for (const UnmatchedMessages& messages : waits.unmatched) {
    if (messages.sizes_differ) continue;
    if (phrases.size() < kMostNamed) phrases.push_back(unmatched_words(job, messages));
  }
  if (phrases.empty()) return unknown();
  // It goes on behind what is said of collectives.
  const bool goes_on = std::any_of(waits.fronts.begin(), waits.fronts.end(),
                                   [](const CallFront& front) { return front.is_open(); });
  return yes((goes_on ? "; " : "") + join(phrases, "; "));
}

constexpr std::array kFacts = {
    Fact{
        "job.ended_at_work", Scope::Job, FactType::Bool,
        "Somebody ended the job from outside, and nothing shows that it had failed or stood still.",
        ended_at_work},
    Fact{"job.ends_at_work", Scope::Job, FactType::Bool,
         "The job's communicators were complete, and no line says that it came to an end by "
         "itself, or "
         "was at work when somebody ended it.",
         within_runs<ends_at_work>},
    Fact{"job.hung_silently", Scope::Job, FactType::Bool,
         "The job stood still, by the silence before its end or as the user says; no watchdog said "
         "it.",
         hung_silently},
    Fact{"job.messages_open", Scope::Job, FactType::Bool,
         "Where the logs end, a Send lacks its Recv, or a Recv its Send.",
         within_runs<messages_open>},
    Fact{"job.stalled_before_end", Scope::Job, FactType::Bool,
         "Somebody ended the job after a silence far longer than its rhythm.", stalled_before_end},
    Fact{"job.stated_hung", Scope::Job, FactType::Bool,
         "The user says that the job hung, and no line says that anybody gave up or failed.",
         within_runs<stated_hung>},
};

}  // namespace

std::span<const Fact> stall_facts() { return kFacts; }

}  // namespace ncclog
