#include "diagnose/outcome/exit_reports.h"

#include <fmt/format.h>

#include <tuple>

#include "base/text.h"
#include "diagnose/outcome/first_failure.h"

namespace ncclog {
namespace {

/// A row of torchrun's tables of failures that names a rank.
struct FailureRow {
  SourceRef where;
  size_t number = 0;  ///< Among all rows, process by process.
  int rank = -1;
};

std::vector<FailureRow> find_rank_rows(const Job& job) {
  std::vector<FailureRow> rows;
  for_each_said<FailureRank>(job, [&](const Said<FailureRank>& row) {
    rows.push_back({row.where(), rows.size(), row.message.rank});
  });
  std::ranges::sort(rows, {},
                    [](const FailureRow& row) { return std::pair(row.where, row.number); });
  return rows;
}

/// The rank in torchrun's table of failures, which stands above the exit code; -1: none does.
int rank_above(const std::vector<FailureRow>& rows, SourceRef where) {
  constexpr uint64_t kRowsAbove = 3;
  const FailureRow* last = nullptr;
  for (auto row = std::ranges::lower_bound(rows, where, {}, &FailureRow::where);
       row != rows.begin();) {
    const SourceRef at = (--row)->where;
    if (at.unit != where.unit || where.line - at.line > kRowsAbove) break;
    if (last == nullptr || last->number < row->number) last = &*row;
  }
  return last == nullptr ? -1 : last->rank;
}

}  // namespace

/// Processes that speak.
struct Speakers {
  size_t all = 0;
  /// By input, how many there are in it, and the rank of all of them; none where they differ.
  std::map<uint32_t, std::pair<size_t, std::optional<int>>> by_input;
};

static Speakers find_speakers(const Job& job) {
  Speakers speakers;
  for (const Process& process : job.processes) {
    if (!process.has_nccl && process.rank < 0) continue;
    ++speakers.all;
    std::set<uint32_t> inputs;
    for (const SourceRef where : {process.first, process.last}) {
      if (const JobUnit* unit = unit_of(job, where)) inputs.insert(unit->input);
    }
    for (const uint32_t input : inputs) {
      auto& [count, rank] = speakers.by_input.try_emplace(input, 0, process.rank).first->second;
      ++count;
      if (rank != process.rank) rank.reset();
    }
  }
  return speakers;
}

int rank_of_file(const Job& job, SourceRef where) {
  const JobUnit* unit = unit_of(job, where);
  if (unit == nullptr) return -1;
  const Speakers& speakers = job.answers.of<&find_speakers>(job);
  const auto here = speakers.by_input.find(unit->input);
  if (here == speakers.by_input.end()) return -1;
  const auto& [count, rank] = here->second;
  // A file beside which there is none may be of a launcher whose workers do not all speak.
  return rank && count < speakers.all ? *rank : -1;
}

int ExitReport::signal() const {
  struct Name {
    std::string_view begin;
    int signal;
  };
  constexpr Name kNames[] = {
      {"Killed", 9},    {"Out Of Memory", 9}, {"SIGKILL", 9},     {"Segmentation fault", 11},
      {"Segfault", 11}, {"SIGSEGV", 11},      {"Bus error", 7},   {"SIGBUS", 7},
      {"Aborted", 6},   {"SIGABRT", 6},       {"Terminated", 15}, {"SIGTERM", 15},
      {"Hangup", 1},    {"Interrupt", 2},     {"Quit", 3},
  };
  if (!exitcode) {
    const auto name = std::ranges::find_if(
        kNames, [&](const Name& each) { return ended.status.starts_with(each.begin); });
    return name != std::end(kNames) ? name->signal : ended.signal;
  }
  // Python negates the signal, a shell adds 128.
  if (*exitcode < 0) return -*exitcode;
  return *exitcode > 128 && *exitcode < 192 ? *exitcode - 128 : 0;
}

bool ExitReport::is_requested() const {
  constexpr int kRequests[] = {1, 2, 3, 15};
  return exitcode == kTimeLimit || std::ranges::find(kRequests, signal()) != std::end(kRequests);
}

std::string ExitReport::words() const {
  if (exitcode == kTimeLimit)
    return fmt::format("was ended at its time limit (exit code {})", kTimeLimit);
  if (exitcode && signal() > 0)
    return fmt::format("ended with exit code {} ({})", *exitcode, signal_name(signal()));
  if (exitcode) return fmt::format("ended with exit code {}", *exitcode);
  if (!ended.status.empty()) return "ended: " + to_valid_utf8(ended.status.substr(0, 64));
  return ended.signal < 0 ? "" : fmt::format("ended: signal {}", ended.signal);
}

static std::vector<ExitReport> find_exit_reports(const Job& job) {
  std::vector<ExitReport> reports;
  for_each_said<ProcessEnded>(job, [&](const auto& said) {
    constexpr std::string_view kExited = "Exited with exit code ";
    std::optional<int> exitcode;
    if (said.message.status.starts_with(kExited)) {
      const auto code = parse_int(said.message.status.substr(kExited.size()));
      if (code && std::in_range<int>(*code)) exitcode = static_cast<int>(*code);
    }
    reports.push_back({said.message, exitcode, said.record()});
  });
  for_each_said<FailureSignal>(job, [&](const auto& said) {
    const FailureSignal& row = said.message;
    reports.push_back(
        {{.pid = row.pid, .status = row.name, .signal = row.signal}, std::nullopt, said.record()});
  });
  const auto add_code = [&](int exitcode, int64_t pid, int rank, const Record& record) {
    reports.push_back(
        {{.pid = pid, .rank = rank, .host = listed_host(job, pid)}, exitcode, record});
  };
  for_each_said<WorkerFailed>(job, [&](const auto& said) {
    add_code(said.message.exitcode, said.message.pid, -1, said.record());
  });
  const std::vector<FailureRow> rows = find_rank_rows(job);
  for_each_said<FailureExitcode>(job, [&](const auto& said) {
    add_code(said.message.exitcode, said.message.pid, rank_above(rows, said.where()),
             said.record());
  });
  for_each_said<ProcessExited>(job, [&](const auto& said) {
    // What a program that is not named did while the work went on ended nobody.
    const bool is_named = said.message.pid >= 0 || said.message.rank >= 0;
    if (!is_named && went_on(job, said.where())) return;
    add_code(said.message.exitcode, said.message.pid, said.message.rank, said.record());
  });
  std::ranges::stable_sort(reports, {}, [](const ExitReport& exit) { return exit.record.where; });
  // MPICH and Open MPI print who and how on two lines.
  constexpr uint64_t kLinesApart = 3;
  const ExitReport* who = nullptr;
  for (ExitReport& exit : reports) {
    if (exit.words().empty()) who = &exit;
    const bool is_nameless = exit.ended.pid < 0 && exit.ended.rank < 0 &&
                             exit.ended.tasks.empty() && exit.ended.command.empty() &&
                             !exit.words().empty();
    if (who == nullptr || !is_nameless || who->record.where.unit != exit.record.where.unit ||
        exit.record.where.line - who->record.where.line > kLinesApart) {
      continue;
    }
    std::tie(exit.ended.pid, exit.ended.rank, exit.ended.host) =
        std::tie(who->ended.pid, who->ended.rank, who->ended.host);
  }
  for (ExitReport& exit : reports) {
    const bool is_coded = exit.exitcode && exit.ended.pid < 0 && exit.ended.rank < 0;
    if (is_coded) exit.ended.rank = rank_of_file(job, exit.record.where);
  }
  return reports;
}

std::vector<ExitReport> exit_reports(const Job& job) {
  return job.answers.of<&find_exit_reports>(job);
}

static std::map<uint64_t, SourceRef> find_first_failed_exits(const Job& job) {
  std::map<uint64_t, SourceRef> first;
  for (const ExitReport& exit : exit_reports(job)) {
    const int signal = exit.signal();
    const bool is_own = signal > 0 ? signal != 9 : exit.exitcode.value_or(0) > 0;
    if (is_own && !exit.is_requested()) first.emplace(exit.record.where.unit, exit.record.where);
  }
  return first;
}

const std::map<uint64_t, SourceRef>& first_failed_exits(const Job& job) {
  return job.answers.of<&find_first_failed_exits>(job);
}

}  // namespace ncclog
