#include "diagnose/closed_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "diagnose/line_distance.h"
#include "log/known_messages.h"
#include "log/message_kind.h"

namespace ncclog {
namespace {

Proof gap(const Job& job, int process, std::string_view what) {
  Instance instance{Scope::Process, {process}, {}, -1, -1};
  return {false, fmt::format("{}: {}", name_of(job, instance), what)};
}

/// What NCCL prints while it makes its first communicator, whatever the job does afterwards.
bool belongs_to_init(const Kind& kind) {
  if (kind.source != Source::Nccl) return false;
  switch (kind.subsystem) {
    case Subsystem::Init:
    case Subsystem::Env:
    case Subsystem::Net:
    case Subsystem::Bootstrap:
    case Subsystem::Graph:
    case Subsystem::Nvls:
      return true;
    default:
      return false;
  }
}

/// Every wording is a WARN, which any NCCL_DEBUG prints that prints at all.
bool is_warning(const Kind& kind) {
  return std::all_of(kind.wordings.begin(), kind.wordings.end(),
                     [&](const Wording& wording) { return warning_of(wording) != nullptr; });
}

bool speaks_for_framework(const Job& job, const Process& process) {
  return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t log) {
    return std::any_of(
        job.logs[log].records.begin(), job.logs[log].records.end(),
        [](const auto& entry) { return all_kinds()[entry.first].source == Source::Framework; });
  });
}

/// Its kind of line would be in the log.
bool would_show(const Job& job, const Process& process, const Kind& kind) {
  if (kind.source == Source::Framework) return speaks_for_framework(job, process);
  if (kind.source != Source::Nccl || !process.has_nccl) return false;
  return is_warning(kind) || process.subsystems.test(static_cast<size_t>(kind.subsystem));
}

bool finished_an_init(const Job& job, const Process& process) {
  return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t log) {
    const auto& all = job.logs[log].comms.all;
    return std::any_of(all.begin(), all.end(), [](const CommSegment& segment) {
      return segment.started.line != 0 && segment.completed.line != 0;
    });
  });
}

bool has_unknown_lines(const Job& job, const Process& process) {
  return std::any_of(process.logs.begin(), process.logs.end(),
                     [&](size_t log) { return job.logs[log].unrecognised.total > 0; });
}

/// Kinds of the initialisation of which the process printed no line before `where` and one behind
/// it. Only there all processes take the same steps in the same order.
std::set<uint16_t> kinds_begun_after(const Job& job, const PrintedBy& line) {
  std::set<uint16_t> kinds;
  for (const size_t log : job.processes[static_cast<size_t>(line.process)].logs) {
    for (const auto& [kind, list] : job.logs[log].records) {
      if (list.kept.empty() || !belongs_to_init(all_kinds()[kind])) continue;
      const SourceRef first = list.kept.front().where;
      if (line.where < first && are_ordered(job, line.where, first)) kinds.insert(kind);
    }
  }
  return kinds;
}

/// The process printed a line of a kind that everybody else begins behind the line in question.
bool came_past(const Job& job, const Process& process, const std::vector<PrintedBy>& others) {
  if (others.empty()) return false;
  std::set<uint16_t> later = kinds_begun_after(job, others.front());
  for (const PrintedBy& other : others) {
    const std::set<uint16_t> of_next = kinds_begun_after(job, other);
    std::erase_if(later, [&](uint16_t kind) { return !of_next.contains(kind); });
  }
  return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t log) {
    const auto& records = job.logs[log].records;
    return std::any_of(later.begin(), later.end(),
                       [&](uint16_t kind) { return records.contains(kind); });
  });
}

/// Ranks that the layout line of a communicator counts on the host; nullopt: none is printed.
std::optional<int> ranks_of_host(const Job& job, const Instance& host) {
  std::optional<int> most;
  for (const int process : host.processes) {
    for (const size_t log : job.processes[static_cast<size_t>(process)].logs) {
      for (const CommSegment& segment : job.logs[log].comms.all) {
        if (segment.local_ranks > 0) most = std::max(most.value_or(0), segment.local_ranks);
      }
    }
  }
  return most;
}

size_t processes_with_nccl(const Job& job, const Instance& instance) {
  return static_cast<size_t>(std::count_if(
      instance.processes.begin(), instance.processes.end(),
      [&](int process) { return job.processes[static_cast<size_t>(process)].has_nccl; }));
}

Proof all_ranks_of(const Communicator& communicator) {
  if (communicator.nranks <= 0) return {false, "how many ranks there are is not printed"};
  std::vector<int> unseen;
  for (const CommRank& rank : communicator.ranks) {
    if (rank.process < 0) unseen.push_back(rank.rank);
  }
  const bool listed = communicator.ranks.size() == static_cast<size_t>(communicator.nranks);
  if (unseen.empty() && listed) return {true, {}};
  if (unseen.empty()) return {false, "not all ranks are known"};
  return {false, fmt::format("no line of rank{} {} is there", unseen.size() == 1 ? "" : "s",
                             ranges_text(unseen))};
}

Proof all_of_job(const Job& job) {
  if (job.communicators.empty()) return {false, "how many ranks there are is not printed"};
  return all_ranks_of(job.communicators.front());
}

}  // namespace

Proof silence_proves(const Job& job, int process, const Kind* kind,
                     const std::vector<PrintedBy>& others) {
  const Process& speaker = job.processes[static_cast<size_t>(process)];
  if (speaker.torn) {
    return gap(job, process, speaker.cut ? "its log is cut" : "its lines are torn or in doubt");
  }
  if (speaker.restarted) return gap(job, process, "its pid may have had two lives");
  if (job.losses.count(Loss::LineLeftOut) > 0) return {false, "Ray left lines out"};
  if (kind != nullptr && !would_show(job, speaker, *kind)) {
    return gap(job, process, "nothing shows that such lines were logged");
  }
  const bool may_be_placed = kind == nullptr ? !speaker.cut : belongs_to_init(*kind);
  if (may_be_placed && came_past(job, speaker, others)) return {true, {}};
  if (kind == nullptr) return gap(job, process, "where such a line would stand is not known");
  if (others.empty() && has_unknown_lines(job, speaker)) {
    return gap(job, process, "it printed lines that ncclog does not know");
  }
  if (speaker.cut) return gap(job, process, "its log is cut");
  if (!belongs_to_init(*kind) || finished_an_init(job, speaker)) return {true, {}};
  return gap(job, process, "it shows no whole initialisation");
}

Proof all_are_there(const Job& job, const Instance& instance) {
  switch (instance.scope) {
    case Scope::Job:
      return all_of_job(job);
    case Scope::Communicator:
      return all_ranks_of(job.communicators[static_cast<size_t>(instance.communicator)]);
    case Scope::Host: {
      const auto ranks = ranks_of_host(job, instance);
      if (ranks && processes_with_nccl(job, instance) >= static_cast<size_t>(*ranks)) {
        return {true, {}};
      }
      return all_of_job(job);
    }
    default:
      return {true, {}};
  }
}

}  // namespace ncclog
