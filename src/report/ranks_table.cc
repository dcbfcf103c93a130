// Which rank is the stuck one? A row per rank, the ones that never spoke included.
//
//   rank  host         pid   gpu  state     calls  note                     last_at
//      1  gpu-node-01  1608    1  complete     26  3 fewer collectives than most  logs/nccl.1608:51
//      2                          not_seen         no line of it was found

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "diagnose/call_fronts.h"
#include "report/tables.h"

namespace ncclog {
namespace {

/// What a process says about its rank in the communicator that stands for the job.
struct Membership {
  const Communicator* comm = nullptr;
  const CommRank* rank = nullptr;
};

/// The largest communicator of which the process is a member; communicators come largest first.
Membership membership_of(const Job& job, int process) {
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process == process) return {&comm, &rank};
    }
  }
  return {};
}

/// "8 more collectives than most": what makes a rank worth a look.
std::string calls_note(const Job& job, const Membership& in) {
  if (in.comm == nullptr || !in.comm->calls) return {};
  const auto usual = static_cast<int64_t>(usual_collectives(job, *in.comm));
  const int64_t more = static_cast<int64_t>(collectives_of(job, *in.rank)) - usual;
  if (more == 0) return {};
  return fmt::format("{} {} collective{} than most", std::abs(more), more < 0 ? "fewer" : "more",
                     std::abs(more) == 1 ? "" : "s");
}

std::string note_of(const Job& job, const Process& process, const Membership& in) {
  std::string calls = calls_note(job, in);
  if (!process.cut) return calls;
  return calls.empty() ? "file is cut" : calls + ", file is cut";
}

std::string place(const Job& job, SourceRef where) {
  const FileLine at = file_line(job, where);
  return at.path.empty() ? std::string() : fmt::format("{}:{}", at.path, at.line);
}

std::vector<Cell> process_row(const Job& job, const Process& process, const CommRank* rank,
                              const Membership& in) {
  const bool counted = in.comm != nullptr && in.comm->calls.has_value();
  const int gpu = rank == nullptr ? process.cuda_dev : rank->cuda_dev;
  const std::string& bus_id = rank == nullptr ? process.bus_id : rank->bus_id;
  return {number_cell(rank == nullptr ? process.rank : rank->rank),
          text_cell(process.host),
          number_cell(process.pid),
          number_cell(gpu),
          text_cell(bus_id),
          text_cell(to_string(in.rank == nullptr ? RankState::Unknown : in.rank->state)),
          counted ? number_cell(static_cast<int64_t>(in.rank->calls)) : Cell(),
          text_cell(note_of(job, process, in)),
          text_cell(place(job, process.last)),
          text_cell(process.last_text)};
}

std::vector<Cell> unseen_row(const CommRank& rank) {
  return {number_cell(rank.rank),
          Cell(),
          Cell(),
          Cell(),
          Cell(),
          text_cell(to_string(rank.state)),
          Cell(),
          text_cell("no line of it was found"),
          Cell(),
          Cell()};
}

/// A process that drives several ranks has a row for each of them.
void add_process_rows(const Job& job, int index, Table& table) {
  const Process& process = job.processes[static_cast<size_t>(index)];
  const Membership in = membership_of(job, index);
  if (in.comm == nullptr || process.rank >= 0) {
    table.rows.push_back(process_row(job, process, nullptr, in));
    return;
  }
  for (const CommRank& rank : in.comm->ranks) {
    if (rank.process == index) {
      table.rows.push_back(process_row(job, process, &rank, {in.comm, &rank}));
    }
  }
}

/// Ranks of the whole job that no line names, unless something else speaks for them.
void add_unseen_rows(const Job& job, Table& table) {
  std::set<int> spoken;
  for (const Process& process : job.processes) spoken.insert(process.rank);
  if (job.communicators.empty()) return;
  for (const CommRank& rank : job.communicators.front().ranks) {
    if (rank.state == RankState::NotSeen && !spoken.contains(rank.rank)) {
      table.rows.push_back(unseen_row(rank));
    }
  }
}

int64_t rank_order(const std::vector<Cell>& row) {
  const auto* rank = std::get_if<int64_t>(&row.front());
  return rank == nullptr ? INT64_MAX : *rank;
}

}  // namespace

Table ranks_table(const Job& job) {
  Table table{.name = "ranks",
              .columns = {"rank", "host", "pid", "gpu", "bus_id", "state", "calls", "note",
                          "last_at", "last_line"}};
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (!process.has_nccl && process.rank < 0 && process.pid < 0) continue;
    add_process_rows(job, static_cast<int>(p), table);
  }
  add_unseen_rows(job, table);
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return rank_order(a) < rank_order(b); });
  if (table.rows.empty()) table.notes.push_back("No line names a rank or a process.");
  return table;
}

}  // namespace ncclog
