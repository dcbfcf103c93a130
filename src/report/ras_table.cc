// What did NCCL's RAS service find wrong? One row per statement, communicators without one as well.
//
//   communicator      problem   what                        value  count  ranks  members
//   cf264af53edbe986  MISMATCH  AllReduce operation counts  6650      26
//   cf264af53edbe986  MISMATCH  AllReduce operation counts  6649       6  0-5    10.1.2.3:48307, …

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/tables.h"

namespace ncclog {
namespace {

constexpr size_t kMembersShown = 4;

std::string place(const Job& job, SourceRef where) {
  const FileLine at = file_line(job, where);
  if (at.path.empty() || where.line == 0) return at.path;
  return fmt::format("{}:{}", at.path, at.line);
}

std::string ranks_of(const RasStatement& statement) {
  std::vector<int> ranks;
  for (const RasMember& member : statement.members) {
    if (member.rank >= 0) ranks.push_back(member.rank);
  }
  return ranges_text(std::move(ranks));
}

/// "10.1.2.3 pid 48307 GPU 3, …"
std::string members_of(const RasStatement& statement) {
  std::string text;
  for (size_t i = 0; i < std::min(kMembersShown, statement.members.size()); ++i) {
    const RasMember& member = statement.members[i];
    if (member.node.empty() && member.pid < 0) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} pid {}", member.node, member.pid);
    if (!member.gpu.empty()) text += " GPU " + member.gpu;
  }
  if (statement.members.size() > kMembersShown) {
    text += fmt::format(" and {} more", statement.members.size() - kMembersShown);
  }
  return text;
}

std::vector<Cell> statement_row(const Job& job, const RasReport& report,
                                const RasStatement& statement) {
  return {text_cell(statement.communicator), text_cell(statement.problem),
          text_cell(statement.what),         text_cell(statement.value),
          number_cell(statement.count),      text_cell(ranks_of(statement)),
          text_cell(members_of(statement)),  text_cell(place(job, report.where))};
}

/// Communicators of which RAS has nothing to tell but that they are there.
std::vector<Cell> communicators_row(const Job& job, const RasReport& report,
                                    const RasCommunicators& group) {
  return {text_cell(group.hash),
          text_cell(group.errors),
          text_cell(fmt::format("{} of {} ranks",
                                group.count == 1 ? "communicator" : "communicators", group.nranks)),
          text_cell(group.status),
          number_cell(group.count),
          Cell(),
          Cell(),
          text_cell(place(job, report.where))};
}

void add_notes(const RasReport& report, Table& table) {
  if (report.timeouts > 0) {
    table.notes.push_back(fmt::format(
        "RAS did not get all answers in time ({} timeouts): what it lacks may be its own fault.",
        report.timeouts));
  }
}

}  // namespace

Table ras_table(const Job& job) {
  Table table{
      .name = "ras",
      .columns = {"communicator", "problem", "what", "value", "count", "ranks", "members", "at"}};
  for (const RasReport& report : job.ras_reports) {
    for (const RasCommunicators& group : report.communicators) {
      table.rows.push_back(communicators_row(job, report, group));
    }
    for (const RasStatement& statement : report.statements) {
      table.rows.push_back(statement_row(job, report, statement));
    }
    add_notes(report, table);
  }
  table.notes.push_back(
      job.ras_reports.empty()
          ? "No answer of NCCL's RAS service was found. 'ncclras -v' on a host of a running job "
            "(NCCL 2.24 and later) prints one; save it beside the logs."
          : "Counts grow while RAS asks rank after rank, so ranks of a healthy job may differ by a "
            "few: ask twice and compare.");
  return table;
}

}  // namespace ncclog
