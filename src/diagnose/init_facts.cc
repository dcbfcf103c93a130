// Who is missing in an initialisation that hangs, and where did it stop?
//
//   job.rank_missing_at_init = yes, rank 3: "ranks 0-2 of 4 wait in communicator 0x51; rank 3 …"
//   job.init_partial         = yes, ranks 6-7: "ranks 0-5 of 8 printed Init COMPLETE …"
//   job.init_stalled         = yes: "all 4 ranks … printed Init START and none of them COMPLETE"
//
// A job that starts looks the same, so each of these is said only where something shows that the
// job stopped, and ends with that. The same without such evidence is job.*_perhaps. Both are
// answered for one run at a time.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "diagnose/deaths.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/first_exception.h"
#include "diagnose/first_warning.h"
#include "diagnose/init_progress.h"
#include "diagnose/stop_evidence.h"
#include "diagnose/within_runs.h"
#include "log/header.h"
#include "log/line_time.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr size_t kMostNamed = 3;

const Process& process_at(const Job& job, int process) {
  return job.processes[static_cast<size_t>(process)];
}

std::vector<int> numbers_of(const std::vector<InitRank>& ranks) {
  std::vector<int> numbers;
  for (const InitRank& rank : ranks) {
    if (rank.rank >= 0) numbers.push_back(rank.rank);
  }
  return numbers;
}

/// "ranks 0-2", or "3 processes" where ranks are not known.
std::string ranks_of(const std::vector<InitRank>& ranks) {
  const std::vector<int> numbers = numbers_of(ranks);
  if (numbers.size() == ranks.size()) return ranks_phrase(numbers);
  return fmt::format("{} process{}", ranks.size(), ranks.size() == 1 ? "" : "es");
}

std::string_view verb(size_t count, std::string_view one, std::string_view several) {
  return count == 1 ? one : several;
}

/// "ranks 0-2 of 4".
std::string share_of(const UnfinishedInit& init, const std::vector<InitRank>& ranks) {
  if (init.nranks < 0) return ranks_of(ranks);
  return fmt::format("{} of {}", ranks_of(ranks), init.nranks);
}

/// "communicator 0x51"; "NCCL" where no line names one.
std::string name_of(const Job& job, const UnfinishedInit& init) {
  if (init.communicator < 0) return "NCCL";
  return "communicator " + job.communicators[static_cast<size_t>(init.communicator)].id;
}

/// "node-b, pid 77, GPU 3".
std::string place_of(const Process& process) {
  std::vector<std::string> parts;
  if (!process.host.empty()) parts.push_back(printable(to_valid_utf8(process.host)));
  if (process.pid >= 0) parts.push_back(fmt::format("pid {}", process.pid));
  if (process.cuda_dev >= 0) parts.push_back(fmt::format("GPU {}", process.cuda_dev));
  return join(parts, ", ");
}

/// `its last line, at 12:00:03, is "Bootstrap : Using eth0:10.0.0.1<0>"`.
std::string last_words(const Process& process) {
  constexpr size_t kMost = 100;
  std::string_view message = trim(parse_header(process.last_text).message);
  if (message.empty()) message = trim(process.last_text);
  const bool cut = message.size() > kMost;
  const LineTime time = time_of_line(process.last_text);
  const std::string when = time.known() ? fmt::format(", at {},", printable(time.text)) : "";
  return fmt::format("its last line{} is \"{}{}\"", when,
                     printable(to_valid_utf8(message.substr(0, kMost))), cut ? "…" : "");
}

/// "rank 3 (node-b, pid 77)".
std::string name_and_place(const Job& job, const InitRank& rank) {
  const std::string who = rank.rank >= 0 ? fmt::format("rank {}", rank.rank) : "one process";
  const std::string place = rank.process < 0 ? "" : place_of(process_at(job, rank.process));
  return place.empty() ? who : fmt::format("{} ({})", who, place);
}

/// What each of them said last: "rank 3 (node-b, pid 77): its last line is …; and 2 more".
std::string each_last_words(const Job& job, const std::vector<InitRank>& ranks) {
  std::vector<std::string> parts;
  for (const InitRank& rank : ranks) {
    if (rank.process < 0) continue;
    if (parts.size() == kMostNamed) break;
    parts.push_back(fmt::format("{}: {}", name_and_place(job, rank),
                                last_words(process_at(job, rank.process))));
  }
  if (parts.size() < ranks.size() && !parts.empty()) {
    parts.push_back(fmt::format("and {} more", ranks.size() - parts.size()));
  }
  return join(parts, "; ");
}

/// "rank 3 (node-b, pid 77) did not: its last line is …", or "ranks 3,4 did not; rank 3 (…): …".
std::string who_did_not(const Job& job, const std::vector<InitRank>& ranks, std::string_view what) {
  if (ranks.size() == 1) {
    const std::string who = name_and_place(job, ranks.front());
    if (ranks.front().process < 0) return fmt::format("{} {}", who, what);
    return fmt::format("{} {}: {}", who, what, last_words(process_at(job, ranks.front().process)));
  }
  const std::string last = each_last_words(job, ranks);
  return fmt::format("{} {}{}{}", ranks_of(ranks), what, last.empty() ? "" : "; ", last);
}

/// The line with which a rank began: its START, else the last line of its process.
Evidence line_of(const Job& job, const UnfinishedInit& init, const InitRank& rank) {
  const Process& process = process_at(job, rank.process);
  Evidence line{process.last, process.last_text};
  if (init.communicator < 0) return line;
  const Communicator& comm = job.communicators[static_cast<size_t>(init.communicator)];
  const auto member = std::find_if(comm.ranks.begin(), comm.ranks.end(),
                                   [&](const CommRank& one) { return one.rank == rank.rank; });
  if (member == comm.ranks.end() || member->process != rank.process) return line;
  const SourceRef started = job.logs[static_cast<size_t>(member->log)]
                                .comms.all[static_cast<size_t>(member->segment)]
                                .started;
  for_each_record(job, process, kKindIndex<CommInit>, [&](const Record& record) {
    if (record.where == started) line = evidence_of(record);
  });
  return line;
}

/// What one initialisation adds to an answer.
struct Part {
  std::string what;
  std::vector<InitRank> guilty;
  std::vector<Evidence> lines;
};

/// nullopt: nothing of that kind.
using Describe = std::optional<Part> (*)(const Job&, const UnfinishedInit&);

std::vector<Evidence> last_lines(const Job& job, const std::vector<InitRank>& ranks) {
  std::vector<Evidence> lines;
  for (const InitRank& rank : ranks) {
    if (rank.process < 0) continue;
    const Process& process = process_at(job, rank.process);
    lines.push_back({process.last, process.last_text});
  }
  return lines;
}

std::string waiting_phrase(const Job& job, const UnfinishedInit& init) {
  return fmt::format("{} began to initialise {} and {}", share_of(init, init.waiting),
                     name_of(job, init), verb(init.waiting.size(), "waits", "wait"));
}

std::string unseen_note(const UnfinishedInit& init) {
  if (init.unseen.empty()) return {};
  return fmt::format("; nothing in these logs tells how far {} came", ranks_of(init.unseen));
}

std::optional<Part> describe_missing(const Job& job, const UnfinishedInit& init) {
  if (!init.complete.empty() || init.missing.empty()) return std::nullopt;
  Part part;
  part.what = fmt::format("{}, but {}{}", waiting_phrase(job, init),
                          who_did_not(job, init.missing, "did not begin"), unseen_note(init));
  part.guilty = init.missing;
  part.lines = last_lines(job, init.missing);
  part.lines.push_back(line_of(job, init, init.waiting.front()));
  return part;
}

std::optional<Part> describe_unseen(const Job& job, const UnfinishedInit& init) {
  if (!init.complete.empty() || init.unseen_host.empty()) return std::nullopt;
  Part part;
  part.what = fmt::format("{}; no line of {} is in these logs, though its host seems to be {}",
                          waiting_phrase(job, init), ranks_of(init.unseen),
                          printable(to_valid_utf8(init.unseen_host)));
  part.guilty = init.unseen;
  part.lines = {line_of(job, init, init.waiting.front())};
  return part;
}

std::optional<Part> describe_partial(const Job& job, const UnfinishedInit& init) {
  if (init.complete.empty() || init.waiting.size() >= init.complete.size() ||
      !connects_at_init(job)) {
    return std::nullopt;
  }
  Part part;
  part.what = fmt::format("{} printed Init COMPLETE of {}, but {}", share_of(init, init.complete),
                          name_of(job, init), who_did_not(job, init.waiting, "did not"));
  part.what += unseen_note(init);
  part.guilty = init.waiting;
  part.lines = last_lines(job, init.waiting);
  return part;
}

/// Something failed by itself, so nobody wonders why the others wait.
bool is_explained(const Job& job) {
  return !deaths(job).empty() || !first_exceptions(job).empty() ||
         std::any_of(job.processes.begin(), job.processes.end(),
                     [&](const Process& process) { return reports_own_failure(job, process); });
}

std::optional<Part> describe_stalled(const Job& job, const UnfinishedInit& init) {
  const bool all_wait = init.waiting.size() == static_cast<size_t>(std::max(init.nranks, 0));
  if (!all_wait || is_explained(job)) return std::nullopt;
  Part part;
  part.what = fmt::format("all {} ranks of {} printed Init START and none of them COMPLETE; {}",
                          init.nranks, name_of(job, init), each_last_words(job, init.waiting));
  for (const InitRank& rank : init.waiting) part.lines.push_back(line_of(job, init, rank));
  return part;
}

/// Why it is more than a job that starts. Where some completed, a file may be cut that was once
/// longer: there it takes a failure, not just an end.
std::optional<StopEvidence> stop_of(const Job& job, const UnfinishedInit& init) {
  auto stop = stop_evidence(job);
  if (!init.complete.empty()) return stop && stop->by != StopBy::Ended ? stop : std::nullopt;
  return stop ? stop : long_wait(job, line_of(job, init, init.waiting.front()));
}

void blame(const std::vector<InitRank>& ranks, bool of_all, FactValue& value) {
  for (const InitRank& rank : ranks) {
    if (rank.process >= 0) value.processes.push_back(rank.process);
    if (of_all && rank.rank >= 0) value.ranks.push_back(rank.rank);
  }
}

/// Joins what `describe` says about the initialisations that did, or did not, stop for sure.
FactValue answer(const Job& job, Describe describe, bool stopped) {
  FactValue value = yes({});
  std::vector<std::string> parts;
  std::optional<StopEvidence> shown;
  for (const UnfinishedInit& init : unfinished_inits(job)) {
    auto part = describe(job, init);
    if (!part) continue;
    auto stop = stop_of(job, init);
    if (stop.has_value() != stopped) continue;
    parts.push_back(std::move(part->what));
    blame(part->guilty, init.of_all, value);
    for (Evidence& line : part->lines) value.evidence.push_back(std::move(line));
    if (!shown) shown = std::move(stop);
  }
  if (parts.empty()) return unknown();
  if (parts.size() > kMostNamed) {
    parts[kMostNamed] = fmt::format("{} more like these", parts.size() - kMostNamed);
    parts.resize(kMostNamed + 1);
  }
  value.what = join(parts, "; and ");
  if (shown) {
    value.what += fmt::format(". The job stopped: {}", shown->what);
    value.evidence.push_back(std::move(shown->line));
  }
  return value;
}

template <Describe describe>
FactValue surely(const Job& job, const Instance&) {
  return answer(job, describe, true);
}

template <Describe describe>
FactValue perhaps(const Job& job, const Instance&) {
  return answer(job, describe, false);
}

constexpr std::array kFacts = {
    Fact{
        "job.init_partial", Scope::Job, FactType::Bool,
        "Before 2.22: some ranks completed an initialisation, others did not, and the job stopped.",
        within_runs<surely<describe_partial>>},
    Fact{"job.init_partial_perhaps", Scope::Job, FactType::Bool,
         "The same where nothing shows that the job stopped.",
         within_runs<perhaps<describe_partial>>},
    Fact{"job.init_stalled", Scope::Job, FactType::Bool,
         "All ranks began an initialisation, none completed it, nothing failed, and the job "
         "stopped.",
         within_runs<surely<describe_stalled>>},
    Fact{"job.init_stalled_perhaps", Scope::Job, FactType::Bool,
         "The same where nothing shows that the job stopped.",
         within_runs<perhaps<describe_stalled>>},
    Fact{"job.rank_missing_at_init", Scope::Job, FactType::Bool,
         "Ranks wait in an initialisation that others, whose lines are there, did not begin, and "
         "the "
         "job stopped.",
         within_runs<surely<describe_missing>>},
    Fact{"job.rank_missing_at_init_perhaps", Scope::Job, FactType::Bool,
         "The same where nothing shows that the job stopped.",
         within_runs<perhaps<describe_missing>>},
    Fact{"job.rank_unseen_at_init", Scope::Job, FactType::Bool,
         "All but one rank wait in an initialisation, no line of that one is there though its "
         "host's "
         "are, and the job stopped.",
         within_runs<surely<describe_unseen>>},
};

}  // namespace

std::span<const Fact> init_facts() { return kFacts; }

}  // namespace ncclog
