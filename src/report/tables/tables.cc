#include "report/tables/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "report/json/json_fields.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

/// How many ranks of the communicator are in that state.
int64_t state_count(const Communicator& comm, RankState state) {
  return std::ranges::count(comm.ranks, state, &CommRank::state);
}

// The rows of those tables that `ncclog show` does not have, a cell for each column of the table of
// that name.

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
    if (!take(cells(name, value))) return;
  }
}

void each_finding_row(const Report& report, const RowTaker& take) {
  int64_t number = 0;
  for (const Finding& finding : report.diagnosis.findings) {
    const Subject& subject = finding.subject;
    if (!take(cells(++number, finding.id, to_string(finding.severity),
                    to_string(finding.confidence), to_string(finding.role), finding.title,
                    finding.message, finding.why, subject.host, subject.rank, subject.pid,
                    subject.communicator, finding.hosts, finding.ranks,
                    finding.evidence.size() + finding.evidence_omitted)))
      return;
  }
}

void each_evidence_row(const Report& report, const RowTaker& take) {
  for (const Finding& finding : report.diagnosis.findings) {
    int64_t number = 0;
    for (const Evidence& evidence : finding.evidence) {
      const FileLine at = file_line(report.job, evidence.where);
      if (!take(cells(finding.id, ++number, at.path,
                      at.line == 0 ? std::nullopt : std::optional(at.line), evidence.text)))
        return;
    }
  }
}

void each_advice_row(const Report& report, const RowTaker& take) {
  for (const Finding& finding : report.diagnosis.findings) {
    const std::pair<std::string_view, const std::vector<std::string>*> kLists[] = {
        {"check", &finding.check},
        {"fix", &finding.fix},
        {"do_not", &finding.do_not},
        {"reference", &finding.references},
        {"explains", &finding.explains}};
    for (const auto& [what, texts] : kLists) {
      int64_t number = 0;
      for (const std::string& text : *texts) {
        if (!take(cells(finding.id, what, ++number, text))) return;
      }
    }
  }
}

void each_not_judged_row(const Report& report, const RowTaker& take) {
  for (const NotJudged& gap : report.diagnosis.not_judged) {
    if (!take(cells(gap.question, gap.reason, gap.how_to_capture))) return;
  }
}

void each_input_row(const Report& report, const RowTaker& take) {
  for (const JobInput& input : report.job.inputs) {
    if (!take(cells(input.path, input.format, input.bytes, input.lines, to_string(input.status),
                    input.note, input.host, input.pid)))
      return;
  }
}

void each_loss_row(const Report& report, const RowTaker& take) {
  const LossTable& losses = report.job.losses;
  for (size_t i = 0; i < losses.counts.size(); ++i) {
    if (losses.counts[i] == 0) continue;
    const LossRow& loss = kLossRows[i];
    if (!take(cells(loss.name, loss.severity, losses.counts[i], loss.meaning, loss.advice))) return;
  }
}

void each_communicator_row(const Report& report, const RowTaker& take) {
  const Job& job = report.job;
  for (const Communicator& comm : job.communicators) {
    if (!take(cells(comm.id, parent_id(job, comm), comm.nranks, comm.nnodes, comm.hosts.size(),
                    comm.color, comm.calls, state_count(comm, RankState::NotSeen),
                    state_count(comm, RankState::Started), state_count(comm, RankState::Complete),
                    state_count(comm, RankState::Failed), state_count(comm, RankState::Destroyed),
                    state_count(comm, RankState::Aborted), comm.inferred)))
      return;
  }
}

void each_member_row(const Report& report, const RowTaker& take) {
  const Job& job = report.job;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      const Process& process = process_at(job, rank.process);
      if (!take(cells(comm.id, rank.rank, process.host, process.pid, process.rank, rank.cuda_dev,
                      rank.bus_id, to_string(rank.state), rank.calls)))
        return;
    }
  }
}

void each_environment_row(const Report& report, const RowTaker& take) {
  const Job& job = report.job;
  for (const EnvironmentSetting& setting : job.environment) {
    for (const int p : setting.processes) {
      const Process& process = process_at(job, p);
      if (!take(cells(setting.name, setting.value, process.host, process.pid, process.rank)))
        return;
    }
  }
}

void each_collective_row(const Report& report, const RowTaker& take) {
  const std::vector<CountBy> by = {CountBy::Comm, CountBy::Rank, CountBy::Op};
  const JobCalls calls = job_calls(report.job);
  count_table(report.job, calls, nullptr, by, false).each_row(take);
}

void each_iteration_row(const Report& report, const RowTaker& take) {
  const std::vector<CountBy> by = {CountBy::Iteration, CountBy::Op};
  const JobCalls calls = job_calls(report.job);
  const auto iterations = find_iterations(report.job, calls, {});
  if (iterations) count_table(report.job, calls, &*iterations, by, false).each_row(take);
}

constexpr Column kColumns[] = {
#include "report/tables/columns.inc"
};

using Stream = void (*)(const Report& report, const RowTaker& take);
using Build = Table (*)(const Job& job);
using Indexes = std::array<std::string_view, 3>;

/// How the rows of a table come about, and by which columns a database finds them.
struct TableRow {
  std::string_view name;
  Stream stream;
  Build build;
  std::string_view older_name;
  Indexes indexes;
};

constexpr TableRow kRows[] = {
#include "report/tables/tables.inc"
};

/// The table of that name, as columns.table has it: first what it is, then its columns.
constexpr TableKind kind_of(const TableRow& row) {
  const auto is_other = [&](const Column& column) { return column.table != row.name; };
  const Column* first = std::ranges::find(kColumns, row.name, &Column::table);
  const Column* last = std::find_if(first, std::end(kColumns), is_other);
  return {row.name,   first->help, {first + 1, last}, row.indexes,
          row.stream, row.build,   row.older_name};
}

constexpr auto kTables = [] {
  std::array<TableKind, std::size(kRows)> tables;
  std::ranges::transform(kRows, tables.begin(), kind_of);
  return tables;
}();

}  // namespace

std::string TableKind::sql_name() const {
  std::string word(name);
  std::ranges::replace(word, '-', '_');
  return word;
}

std::string TableKind::sql_help() const {
  return build != nullptr ? fmt::format("as 'show {}'", name) : std::string(help);
}

void TableKind::each_row(const Report& report, const RowTaker& take) const {
  if (stream != nullptr) stream(report, take);
  if (build != nullptr) build(report.job).each_row(take);
}

std::span<const TableKind> all_tables() { return kTables; }

std::span<const TableKind> table_kinds() {
  constexpr auto kIsShown = [](const TableKind& kind) { return kind.build != nullptr; };
  const auto* const first = std::ranges::find_if(kTables, kIsShown);
  return {first, std::find_if_not(first, std::end(kTables), kIsShown)};
}

const TableKind* find_table_kind(std::string_view name) {
  const auto shown = table_kinds();
  const auto found = std::ranges::find(shown, name, &TableKind::name);
  return found == shown.end() ? nullptr : &*found;
}

const TableKind* find_sql_table(std::string_view name) {
  const std::string word = lower_case(name);
  const auto found = std::ranges::find_if(kTables, [&](const TableKind& kind) {
    return kind.sql_name() == word || (!word.empty() && kind.older_name == word);
  });
  return found == std::end(kTables) ? nullptr : found;
}

std::string table_schema() {
  Json rows = Json::object();
  Json names = Json::array();
  Json kinds = Json::array();
  for (const TableKind& kind : kTables) {
    if (!kind.has_rows()) continue;
    const bool is_shown = kind.build != nullptr;
    Json columns = Json::object();
    Json required = Json::array();
    for (const Column& column : kind.columns) {
      const std::string key(is_shown ? column.name : column.sql_name());
      const std::string_view type = column.type == "TEXT"   ? "string"
                                    : column.type == "REAL" ? "number"
                                                            : "integer";
      columns[key] = {{"type", {type, "null"}}, {"description", column.help}};
      required.push_back(key);
    }
    const std::string name = is_shown ? std::string(kind.name) : kind.sql_name();
    rows[name] = closed_object(std::move(columns), std::move(required));
    if (!is_shown) continue;
    names.push_back(name);
    kinds.push_back({{"properties",
                      {{"table", {{"const", name}}},
                       {"rows", {{"type", "array"}, {"items", {{"$ref", "#/$defs/" + name}}}}}}}});
  }
  kinds.push_back({{"properties", {{"table", {{"not", {{"enum", std::move(names)}}}}}}}});
  Json properties = {{"schema", type::constant<"ncclog.table/1">()},
                     {"table", type::text()},
                     {"rows", {{"type", "array"}, {"items", {{"type", "object"}}}}},
                     {"notes", type::list<type::text>()}};
  Json schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"$id", "urn:ncclog:table:1"},
      {"title", "ncclog.table/1"},
      {"description",
       "What `ncclog show TABLE --format json` prints. Other tables (of `count`, `rules list`, "
       "answers "
       "to --sql) have the columns that were asked for. A line of `ncclog export TABLE` as JSON "
       "Lines is of the definition of that name. Null: the log does not say."}};
  schema.update(closed_object(std::move(properties), {"schema", "table", "rows", "notes"}));
  schema["anyOf"] = std::move(kinds);
  schema["$defs"] = std::move(rows);
  return schema.dump(2) + "\n";
}

Table table_of(std::string_view name) {
  const auto kind = std::ranges::find(kTables, name, &TableKind::name);
  Table table{.name = std::string(name)};
  for (const Column& column : kind->columns) table.columns.emplace_back(column.name);
  return table;
}

const Process& process_at(const Job& job, int process) {
  static const Process kUnknown;
  return process < 0 ? kUnknown : job.processes[process];
}

std::string_view parent_id(const Job& job, const Communicator& comm) {
  return comm.parent < 0 ? std::string_view() : job.communicators[comm.parent].id;
}

const TableKind& events_table() { return *find_sql_table("events"); }

const TableKind& documentation_table() { return *find_sql_table("documentation"); }

void each_documentation_row(const RowTaker& take) {
  for (const TableKind& table : kTables) {
    const Cell name = text_cell(table.sql_name());
    if (!take(cells(name, Cell(), Cell(), table.sql_help()))) return;
    for (const Column& column : table.columns) {
      if (!take(cells(name, column.sql_name(), column.type, column.help))) return;
    }
  }
}

std::string tables_text(int width) {
  const TextStyle style{.width = width};
  std::string text;
  for (const TableKind& table : kTables) {
    if (!text.empty()) text += "\n";
    text += hang(fmt::format("{:<18}", table.sql_name()), table.sql_help(), style);
    for (const Column& column : table.columns) {
      text +=
          hang(fmt::format("  {:<16}{:<9}", column.sql_name(), column.type), column.help, style);
    }
  }
  return text;
}

}  // namespace ncclog
