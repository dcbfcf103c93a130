#include "report/sql_rows.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/call_counts.h"
#include "report/count_table.h"
#include "report/report.h"

namespace ncclog {
namespace {

using Row = std::vector<Cell>;

Cell count_cell(uint64_t count) { return static_cast<int64_t>(count); }

Cell ranks_cell(const std::vector<int>& ranks) { return text_cell(ranges_text(ranks)); }

const Process* process_at(const Job& job, int index) {
  return index < 0 ? nullptr : &job.processes[static_cast<size_t>(index)];
}

/// Its host, pid and global rank: three cells.
void add_process(const Process* process, Row& row) {
  row.push_back(process == nullptr ? Cell() : text_cell(process->host));
  row.push_back(process == nullptr ? Cell() : number_cell(process->pid));
  row.push_back(process == nullptr ? Cell() : number_cell(process->rank));
}

/// How many ranks of the communicator are in that state.
Cell state_count(const Communicator& comm, RankState state) {
  uint64_t n = 0;
  for (const CommRank& rank : comm.ranks) n += rank.state == state ? 1 : 0;
  return count_cell(n);
}

/// Numbers the texts of one list from 1. False once nobody wants more.
bool take_advice(const Finding& finding, std::string_view what,
                 const std::vector<std::string>& texts, const RowTaker& take) {
  for (size_t i = 0; i < texts.size(); ++i) {
    const Row row = {text_cell(finding.id), text_cell(what), count_cell(i + 1),
                     text_cell(texts[i])};
    if (!take(row)) return false;
  }
  return true;
}

}  // namespace

void each_job_row(const Report& report, const RowTaker& take) {
  const Job& job = report.job;
  const Verdict& verdict = report.diagnosis.verdict;
  const std::pair<std::string_view, std::string> kFacts[] = {
      {"verdict", std::string(to_string(verdict.status))},
      {"headline", verdict.headline},
      {"finding", verdict.finding},
      {"nccl_versions", join(job.nccl_versions, " ")},
      {"cuda_versions", join(job.cuda_versions, " ")},
      {"pytorch_versions", join(job.pytorch_versions, " ")},
      {"nranks", job.nranks ? std::to_string(*job.nranks) : std::string()},
      {"nhosts", std::to_string(job.nhosts)},
      {"hosts", join(job.hosts, " ")},
      {"network", job.network.name},
      {"network_plugin", job.network.plugin},
      {"lines", std::to_string(job.losses.lines)},
      {"ncclog_version", report.tool.version},
      {"rulebook", report.tool.rulebook}};
  for (const auto& [name, value] : kFacts) {
    if (!take(Row{text_cell(name), text_cell(value)})) return;
  }
}

void each_finding_row(const Report& report, const RowTaker& take) {
  int64_t number = 0;
  for (const Finding& finding : report.diagnosis.findings) {
    const Subject& subject = finding.subject;
    const Row row = {++number,
                     text_cell(finding.id),
                     text_cell(to_string(finding.severity)),
                     text_cell(to_string(finding.confidence)),
                     text_cell(to_string(finding.role)),
                     text_cell(finding.title),
                     text_cell(finding.message),
                     text_cell(finding.why),
                     text_cell(subject.host),
                     number_cell(subject.rank),
                     number_cell(subject.pid),
                     text_cell(subject.communicator),
                     text_cell(join(finding.hosts, " ")),
                     ranks_cell(finding.ranks),
                     count_cell(finding.evidence.size() + finding.evidence_omitted)};
    if (!take(row)) return;
  }
}

void each_evidence_row(const Report& report, const RowTaker& take) {
  for (const Finding& finding : report.diagnosis.findings) {
    int64_t number = 0;
    for (const Evidence& evidence : finding.evidence) {
      const FileLine at = file_line(report.job, evidence.where);
      const Row row = {text_cell(finding.id), ++number, text_cell(at.path),
                       at.line == 0 ? Cell() : count_cell(at.line), text_cell(evidence.text)};
      if (!take(row)) return;
    }
  }
}

void each_advice_row(const Report& report, const RowTaker& take) {
  for (const Finding& finding : report.diagnosis.findings) {
    if (!take_advice(finding, "check", finding.check, take) ||
        !take_advice(finding, "fix", finding.fix, take) ||
        !take_advice(finding, "do_not", finding.do_not, take) ||
        !take_advice(finding, "reference", finding.references, take) ||
        !take_advice(finding, "explains", finding.explains, take)) {
      return;
    }
  }
}

void each_not_judged_row(const Report& report, const RowTaker& take) {
  for (const NotJudged& gap : report.diagnosis.not_judged) {
    const Row row = {text_cell(gap.question), text_cell(gap.reason), text_cell(gap.how_to_capture)};
    if (!take(row)) return;
  }
}

void each_input_row(const Report& report, const RowTaker& take) {
  for (const JobInput& input : report.job.inputs) {
    const Row row = {text_cell(input.path),
                     text_cell(input.format),
                     count_cell(input.bytes),
                     count_cell(input.lines),
                     text_cell(to_string(input.status)),
                     text_cell(input.note),
                     text_cell(input.host),
                     number_cell(input.pid)};
    if (!take(row)) return;
  }
}

void each_loss_row(const Report& report, const RowTaker& take) {
  const LossTable& losses = report.job.losses;
  for (size_t i = 0; i < losses.counts.size(); ++i) {
    if (losses.counts[i] == 0) continue;
    const LossRow& loss = loss_rows()[i];
    const Row row = {text_cell(loss.name), text_cell(to_string(loss.severity)),
                     count_cell(losses.counts[i]), text_cell(loss.meaning), text_cell(loss.advice)};
    if (!take(row)) return;
  }
}

void each_communicator_row(const Report& report, const RowTaker& take) {
  const Job& job = report.job;
  for (const Communicator& comm : job.communicators) {
    const Cell parent = comm.parent < 0
                            ? Cell()
                            : text_cell(job.communicators[static_cast<size_t>(comm.parent)].id);
    const Row row = {text_cell(comm.id),
                     parent,
                     number_cell(comm.nranks),
                     number_cell(comm.nnodes),
                     count_cell(comm.hosts.size()),
                     number_cell(comm.color),
                     comm.calls ? count_cell(*comm.calls) : Cell(),
                     state_count(comm, RankState::NotSeen),
                     state_count(comm, RankState::Started),
                     state_count(comm, RankState::Complete),
                     state_count(comm, RankState::Failed),
                     state_count(comm, RankState::Destroyed),
                     state_count(comm, RankState::Aborted),
                     count_cell(comm.inferred ? 1 : 0)};
    if (!take(row)) return;
  }
}

void each_member_row(const Report& report, const RowTaker& take) {
  const Job& job = report.job;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      Row row = {text_cell(comm.id), number_cell(rank.rank)};
      add_process(process_at(job, rank.process), row);
      row.insert(row.end(), {number_cell(rank.cuda_dev), text_cell(rank.bus_id),
                             text_cell(to_string(rank.state)), count_cell(rank.calls)});
      if (!take(row)) return;
    }
  }
}

void each_environment_row(const Report& report, const RowTaker& take) {
  const Job& job = report.job;
  for (const EnvironmentSetting& setting : job.environment) {
    for (const int process : setting.processes) {
      Row row = {text_cell(setting.name), text_cell(setting.value)};
      add_process(process_at(job, process), row);
      if (!take(row)) return;
    }
  }
}

void each_collective_row(const Report& report, const RowTaker& take) {
  const std::vector<CountBy> by = {CountBy::Comm, CountBy::Rank, CountBy::Op};
  const JobCalls calls = job_calls(report.job);
  count_stream(report.job, calls, nullptr, by).each_row(take);
}

void each_iteration_row(const Report& report, const RowTaker& take) {
  const std::vector<CountBy> by = {CountBy::Iteration, CountBy::Op};
  const JobCalls calls = job_calls(report.job);
  const auto iterations = find_iterations(report.job, calls, {});
  if (iterations) count_stream(report.job, calls, &*iterations, by).each_row(take);
}

}  // namespace ncclog
