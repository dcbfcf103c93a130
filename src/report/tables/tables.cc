#include "report/tables/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/iterations/call_counts.h"
#include "report/tables/count_table.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

using Row = std::vector<Cell>;

Cell ranks_cell(const std::vector<int>& ranks) { return text_cell(ranges_text(ranks)); }

/// How many ranks of the communicator are in that state.
Cell state_count(const Communicator& comm, RankState state) {
  uint64_t n = 0;
  for (const CommRank& rank : comm.ranks) n += rank.state == state ? 1 : 0;
  return count_cell(n);
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
    const std::pair<std::string_view, const std::vector<std::string>*> kLists[] = {
        {"check", &finding.check},
        {"fix", &finding.fix},
        {"do_not", &finding.do_not},
        {"reference", &finding.references},
        {"explains", &finding.explains}};
    for (const auto& [what, texts] : kLists) {
      int64_t number = 0;
      for (const std::string& text : *texts) {
        if (!take(Row{text_cell(finding.id), text_cell(what), ++number, text_cell(text)})) return;
      }
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
      const Row row = {text_cell(comm.id),           number_cell(rank.rank),
                       host_cell(job, rank.process), pid_cell(job, rank.process),
                       rank_cell(job, rank.process), number_cell(rank.cuda_dev),
                       text_cell(rank.bus_id),       text_cell(to_string(rank.state)),
                       count_cell(rank.calls)};
      if (!take(row)) return;
    }
  }
}

void each_environment_row(const Report& report, const RowTaker& take) {
  const Job& job = report.job;
  for (const EnvironmentSetting& setting : job.environment) {
    for (const int process : setting.processes) {
      const Row row = {text_cell(setting.name), text_cell(setting.value), host_cell(job, process),
                       pid_cell(job, process), rank_cell(job, process)};
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

constexpr Column kJob[] = {
    {"name", "TEXT", "what: verdict, headline, nccl_versions, nranks, hosts, rulebook, …"},
    {"value", "TEXT", "several values stand with blanks between them"}};

constexpr Column kFindings[] = {
    {"number", "INTEGER", "from 1, causes before what follows from them"},
    {"finding", "TEXT", "id of the rule; each stands here once"},
    {"severity", "TEXT", "error, warning, info"},
    {"confidence", "TEXT", "certain, likely, possible"},
    {"role", "TEXT", "cause, symptom, advice"},
    {"title", "TEXT", "what the rule is about"},
    {"message", "TEXT", "what was found here"},
    {"why", "TEXT", "why that matters"},
    {"host", "TEXT", "the first that it is about"},
    {"rank", "INTEGER", "the first that it is about, in the whole job"},
    {"pid", "INTEGER", "the first that it is about"},
    {"communicator", "TEXT", "the first that it is about"},
    {"hosts", "TEXT", "all that it is about, with blanks between them"},
    {"ranks", "TEXT", "all that it is about, as 0-3,7"},
    {"lines", "INTEGER", "how many lines show it; the first are in the table evidence"}};

constexpr Column kEvidence[] = {{"finding", "TEXT", "as in findings"},
                                {"number", "INTEGER", "from 1, in input order"},
                                {"file", "TEXT", "path of the log"},
                                {"line", "INTEGER", "its number in the file, from 1"},
                                {"text", "TEXT", "the line"}};

constexpr Column kAdvice[] = {{"finding", "TEXT", "as in findings"},
                              {"what", "TEXT", "check, fix, do_not, reference, explains"},
                              {"number", "INTEGER", "from 1, in order"},
                              {"text", "TEXT", "a sentence, an address, or the id of a finding"}};

constexpr Column kNotJudged[] = {{"question", "TEXT", "what these logs cannot answer"},
                                 {"reason", "TEXT", "why not"},
                                 {"how_to_capture", "TEXT", "what makes the next log answer it"}};

constexpr Column kInputs[] = {
    {"file", "TEXT", "path as found; ARCHIVE!/NAME in an archive"},
    {"format", "TEXT", "plain, gzip, zstd, …, flight_recorder, ras"},
    {"bytes", "INTEGER", "on the disk; of a file in an archive, unpacked"},
    {"lines", "INTEGER", "that were read"},
    {"status", "TEXT", "whole, skipped, cut, unreadable"},
    {"note", "TEXT", "what is odd about it"},
    {"host", "TEXT", "of the process that wrote it, where that is certain"},
    {"pid", "INTEGER", "of the process that wrote it, where that is certain"}};

constexpr Column kLosses[] = {{"name", "TEXT", "way in which something was lost or misread"},
                              {"severity", "TEXT", "info, notice, data_loss, error"},
                              {"count", "INTEGER", "lines, inputs or records"},
                              {"meaning", "TEXT", "what it means"},
                              {"advice", "TEXT", "what helps"}};

constexpr Column kCommunicators[] = {
    {"communicator", "TEXT", "its commId; inferred-1, … where the log prints none"},
    {"parent", "TEXT", "the communicator that it was split from"},
    {"nranks", "INTEGER", "its size"},
    {"nnodes", "INTEGER", "nodes, as NCCL says"},
    {"nhosts", "INTEGER", "different hosts that were seen"},
    {"color", "INTEGER", "of the split"},
    {"calls", "INTEGER", "largest number of calls of one rank; NULL: none was logged"},
    {"not_seen", "INTEGER", "ranks of which no line was found"},
    {"started", "INTEGER", "ranks that began to initialise and did not say that they ended"},
    {"complete", "INTEGER", "ranks that said so"},
    {"failed", "INTEGER", "ranks whose initialisation failed"},
    {"destroyed", "INTEGER", "ranks that destroyed it"},
    {"aborted", "INTEGER", "ranks that aborted it"},
    {"inferred", "INTEGER", "1: put together without a commId"}};

constexpr Column kMembers[] = {{"communicator", "TEXT", "as in communicators"},
                               {"comm_rank", "INTEGER", "rank in that communicator"},
                               {"host", "TEXT", "where it runs"},
                               {"pid", "INTEGER", "of its process"},
                               {"rank", "INTEGER", "rank in the whole job"},
                               {"gpu", "INTEGER", "CUDA device of the process"},
                               {"bus_id", "TEXT", "of the GPU, as printed"},
                               {"state", "TEXT",
                                "not_seen, started, complete, failed, destroyed, aborted, "
                                "unknown"},
                               {"calls", "INTEGER", "that were logged"}};

constexpr Column kRanks[] = {
    {"rank", "INTEGER", "in the whole job"},
    {"host", "TEXT", "where it runs"},
    {"pid", "INTEGER", "of its process"},
    {"gpu", "INTEGER", "CUDA device of the process"},
    {"bus_id", "TEXT", "of the GPU, as printed"},
    {"state", "TEXT", "in its largest communicator, as in members"},
    {"calls", "INTEGER", "on its largest communicator; NULL: none was logged"},
    {"note", "TEXT", "what makes it worth a look"},
    {"last_at", "TEXT", "file:line of the last line it printed"},
    {"last_line", "TEXT", "that line"}};

constexpr Column kComms[] = {
    {"id", "TEXT", "the communicator"},
    {"parent", "TEXT", "the communicator that it was split from"},
    {"nranks", "INTEGER", "its size"},
    {"nhosts", "INTEGER", "different hosts that were seen"},
    {"calls", "INTEGER", "largest number of calls of one rank"},
    {"states", "TEXT", "how many ranks are in which state"},
    {"not_seen", "TEXT", "ranks of which no line was found"},
    {"odd_calls", "TEXT", "ranks of the job with another number of collectives than most"},
    {"hosts", "TEXT", "with blanks between them"}};

constexpr Column kFronts[] = {
    {"id", "TEXT", "the communicator"},
    {"nranks", "INTEGER", "its size"},
    {"front", "INTEGER", "how many collectives all its ranks entered"},
    {"next", "TEXT", "the collective that only some entered, or where they differ"},
    {"ahead", "TEXT", "ranks that entered it"},
    {"behind", "TEXT", "ranks that did not"},
    {"unknown", "TEXT", "ranks of which the logs do not tell"},
    {"last_of_behind", "TEXT", "what the first of those behind called last"}};

constexpr Column kEnv[] = {{"name", "TEXT", "variable, as NCCL reports it"},
                           {"value", "TEXT", "as printed"},
                           {"ranks", "TEXT", "that report it, as 0-3,7"},
                           {"processes", "INTEGER", "how many report it"}};

constexpr Column kEnvironment[] = {{"name", "TEXT", "variable, as NCCL reports it"},
                                   {"value", "TEXT", "as printed"},
                                   {"host", "TEXT", "of the process that reports it"},
                                   {"pid", "INTEGER", "of that process"},
                                   {"rank", "INTEGER", "of that process, in the whole job"}};

constexpr Column kNet[] = {{"host", "TEXT", "that named it"},
                           {"interface", "TEXT", "network interface or RDMA device"},
                           {"address", "TEXT", "as printed"},
                           {"port", "INTEGER", "of an RDMA device"},
                           {"link", "TEXT", "IB, RoCE, Ethernet"}};

constexpr Column kChannels[] = {{"src_rank", "INTEGER", "sender, in its communicator"},
                                {"dst_rank", "INTEGER", "receiver, in the same communicator"},
                                {"transport", "TEXT", "P2P, SHM, NET, COLLNET"},
                                {"path", "TEXT", "as printed behind via"},
                                {"channels", "INTEGER", "how many use it"},
                                {"which", "TEXT", "their numbers, as 0-3,7"},
                                {"hosts", "TEXT", "that announce it, with blanks between them"}};

constexpr Column kConnections[] = {
    {"host", "TEXT", "of the process that announces it"},
    {"pid", "INTEGER", "of that process"},
    {"rank", "INTEGER", "of that process, in the whole job"},
    {"direction", "TEXT", "send, receive"},
    {"src_rank", "INTEGER", "sender, in its communicator"},
    {"dst_rank", "INTEGER", "receiver, in the same communicator"},
    {"peer_host", "TEXT", "of the other end, where that is certain"},
    {"peer_pid", "INTEGER", "of the other end"},
    {"peer_rank", "INTEGER", "of the other end, in the whole job"},
    {"reach", "TEXT", "same_host, other_host"},
    {"transport", "TEXT", "P2P, SHM, NET, COLLNET"},
    {"network", "TEXT", "of NET: IB, Socket, …"},
    {"device", "INTEGER", "of NET: number of the NIC in NCCL's list"},
    {"proxy_rank", "INTEGER", "the rank whose NIC is used; NULL: its own"},
    {"gpudirect", "INTEGER", "1: the NIC reads or writes GPU memory"},
    {"path", "TEXT", "as printed behind via"},
    {"channels", "INTEGER", "how many use it"},
    {"which", "TEXT", "their numbers, as 0-3,7"},
    {"at", "TEXT", "file:line of the first line about it"}};

constexpr Column kTopology[] = {{"of", "TEXT", "host or communicator", "of_what"},
                                {"part", "TEXT", "GPU, NIC, path, ring, tree, …"},
                                {"name", "TEXT", "of the node, or channels of the graph"},
                                {"rank", "INTEGER", "that uses the GPU"},
                                {"on", "TEXT", "the node it is joined to", "hangs_on"},
                                {"link", "TEXT", "how, and GB/s"},
                                {"check", "TEXT", "of a check, where one was made", "verdict"},
                                {"detail", "TEXT", "everything else"}};

constexpr Column kTimeline[] = {{"rank", "INTEGER", "in the whole job"},
                                {"host", "TEXT", "where it runs"},
                                {"pid", "INTEGER", "of its process"},
                                {"time", "TEXT", "as printed"},
                                {"what", "TEXT", "init start, first call, WARN, …"},
                                {"detail", "TEXT", "what the line says"},
                                {"at", "TEXT", "file:line"}};

constexpr Column kUnknown[] = {{"count", "INTEGER", "lines of this shape"},
                               {"levels", "TEXT", "with blanks between them"},
                               {"printer", "TEXT", "plugin or library, where the line tells"},
                               {"shape", "TEXT", "the message with its numbers taken out"},
                               {"first", "TEXT", "file:line of the first"},
                               {"example", "TEXT", "that line"}};

constexpr Column kFlightRecorder[] = {
    {"rank", "INTEGER", "in the whole job"},
    {"group", "TEXT", "its name", "process_group"},
    {"group_name", "TEXT", "its description"},
    {"group_ranks", "TEXT", "as 0-3,7"},
    {"entries", "INTEGER", "of the group in the dump"},
    {"enqueued", "INTEGER", "number of the last collective; -1: none yet"},
    {"started", "INTEGER", "the same; -1 also where PyTorch records no starts"},
    {"completed", "INTEGER", "the same"},
    {"open_seq", "INTEGER", "number of the oldest that is not completed"},
    {"open_op", "TEXT", "which it is"},
    {"open_state", "TEXT", "scheduled, started"},
    {"open_input", "TEXT", "sizes of its tensors"},
    {"open_output", "TEXT", "the same"},
    {"open_dtypes", "TEXT", "their types"},
    {"open_frame", "TEXT", "who called it"},
    {"dump", "TEXT", "path of the dump"}};

constexpr Column kRas[] = {{"communicator", "TEXT", "as the service names it"},
                           {"problem", "TEXT", "MISMATCH, INCOMPLETE, …; NULL: none"},
                           {"what", "TEXT", "about what the statement is"},
                           {"value", "TEXT", "that the ranks have"},
                           {"count", "INTEGER", "ranks that have it"},
                           {"ranks", "TEXT", "as 0-3,7"},
                           {"members", "TEXT", "the first of them"},
                           {"at", "TEXT", "file:line"}};

constexpr Column kNcclTests[] = {{"run", "INTEGER", "from 1"},
                                 {"test", "TEXT", "all_reduce_perf, …"},
                                 {"size", "INTEGER", "bytes"},
                                 {"count", "INTEGER", "elements"},
                                 {"type", "TEXT", "datatype"},
                                 {"redop", "TEXT", "reduction"},
                                 {"root", "INTEGER", "NULL: has none"},
                                 {"time", "REAL", "microseconds, out of place"},
                                 {"algbw", "REAL", "GB/s"},
                                 {"busbw", "REAL", "GB/s"},
                                 {"wrong", "TEXT", "wrong values; N/A: not checked"},
                                 {"time_in_place", "REAL", "microseconds"},
                                 {"algbw_in_place", "REAL", "GB/s"},
                                 {"busbw_in_place", "REAL", "GB/s"},
                                 {"wrong_in_place", "TEXT", "as wrong"},
                                 {"at", "TEXT", "file:line"}};

constexpr Column kCollectives[] = {
    {"communicator", "TEXT", "as in communicators"},
    {"rank", "INTEGER", "in the whole job"},
    {"host", "TEXT", "where it runs"},
    {"pid", "INTEGER", "of its process"},
    {"op", "TEXT", "AllReduce, Send, …"},
    {"calls", "INTEGER", "entries of the host into it, not completions"},
    {"elements", "INTEGER", "sum of counts"},
    {"bytes", "INTEGER", "sum of counts times element size, as ncclog count explains"},
    {"bound", "TEXT", "at least: calls may be missing"}};

constexpr Column kIterations[] = {
    {"iteration", "INTEGER", "its number; text such as 3-4 where several cannot be told apart"},
    {"op", "TEXT", "AllReduce, Send, …"},
    {"calls", "INTEGER", "of all processes together"},
    {"elements", "INTEGER", "sum of counts"},
    {"bytes", "INTEGER", "sum of counts times element size"},
    {"processes", "INTEGER", "that made such calls"},
    {"bound", "TEXT", "at least: calls may be missing"}};

constexpr Column kEvents[] = {
    {"file", "TEXT", "path of the log or dump"},
    {"line", "INTEGER", "its number in the file, from 1; NULL: entry of a dump"},
    {"time", "TEXT", "as printed in front of the message"},
    {"host", "TEXT", "as the line says"},
    {"pid", "INTEGER", "as the line says"},
    {"tid", "INTEGER", "thread, as the line says"},
    {"cuda_dev", "INTEGER", "device of the thread; says nothing about the rank"},
    {"level", "TEXT", "VERSION, WARN, INFO, TRACE, CALL, ABORT"},
    {"kind", "TEXT", "which message it is; unrecognised: no wording fits"},
    {"fields", "TEXT", "what it says, as JSON: fields->>'rank'"},
    {"text", "TEXT", "of unrecognised lines: the message"},
    {"severity", "TEXT", "of a WARN: fatal, degraded, info"},
    {"origin", "TEXT", "of a WARN: system, user, internal, symptom"},
    {"meaning", "TEXT", "of a WARN: what it means for the job"}};

constexpr Column kDocumentation[] = {{"table_name", "TEXT", "a table of this database"},
                                     {"column_name", "TEXT", "NULL: about the table as a whole"},
                                     {"type", "TEXT", "of the column"},
                                     {"meaning", "TEXT", "what it holds"}};

/// Those of `show` stand side by side.
constexpr TableKind kTables[] = {
    {"job", "what the logs are about, and the verdict", kJob, {}, each_job_row},
    {"findings", "what the rules found", kFindings, {"finding"}, each_finding_row},
    {"evidence", "the lines that show a finding", kEvidence, {"finding"}, each_evidence_row},
    {"advice", "what to check, to change and not to do", kAdvice, {"finding"}, each_advice_row},
    {"not_judged", "what these logs cannot answer", kNotJudged, {}, each_not_judged_row},
    {"inputs", "the files that were read", kInputs, {}, each_input_row},
    {"losses", "what was lost or misread", kLosses, {}, each_loss_row},
    {"communicators", "each communicator, in numbers", kCommunicators, {}, each_communicator_row},
    {"members",
     "each rank of each communicator",
     kMembers,
     {"communicator", "rank"},
     each_member_row},
    {"environment", "each setting of each process", kEnvironment, {"name"}, each_environment_row},
    {"connections",
     "each connection as one end announces it",
     kConnections,
     {"src_rank, dst_rank", "transport"},
     each_connection_row},
    {"collectives",
     "calls by communicator, rank and operation",
     kCollectives,
     {"communicator", "rank, op"},
     each_collective_row},
    {"iterations",
     "calls by iteration and operation",
     kIterations,
     {"iteration"},
     each_iteration_row},
    {"events",
     "each line that is understood, and NCCL lines that are not",
     kEvents,
     {"kind", "host, pid", "level"}},
    {"ranks",
     "each rank: where it runs, its state, its calls, the last line it printed",
     kRanks,
     {"rank"},
     {},
     ranks_table},
    {"comms",
     "each communicator: size, ranks seen, their states, calls",
     kComms,
     {},
     {},
     communicators_table},
    {"fronts",
     "each communicator: the last call all ranks entered, who is ahead, who behind",
     kFronts,
     {},
     {},
     fronts_table},
    {"env",
     "each setting NCCL reports, with the ranks that report it",
     kEnv,
     {"name"},
     {},
     environment_table},
    {"net", "network, plugin and interfaces, by host", kNet, {}, {}, network_table},
    {"channels",
     "each connection: from rank, to rank, path, channels",
     kChannels,
     {"src_rank, dst_rank", "transport"},
     {},
     channels_table},
    {"topology",
     "devices of each host, rings and trees of each communicator",
     kTopology,
     {},
     {},
     topology_table},
    {"timeline",
     "what happened in each process, in order",
     kTimeline,
     {"rank"},
     {},
     timeline_table},
    {"unknown",
     "NCCL lines that no wording fits, by shape, to report them",
     kUnknown,
     {},
     {},
     unknown_table},
    {"flight-recorder",
     "each rank's progress by process group, from PyTorch's dumps",
     kFlightRecorder,
     {"rank"},
     {},
     flight_recorder_table},
    {"ras", "what NCCL's RAS service said about the running job", kRas, {}, {}, ras_table},
    {"nccl-tests",
     "each size that nccl-tests measured: times, bandwidths, wrong values",
     kNcclTests,
     {},
     {},
     nccl_tests_table},
    {"documentation", "this list", kDocumentation, {"table_name"}},
};

}  // namespace

std::string TableKind::sql_name() const {
  std::string word(name);
  std::replace(word.begin(), word.end(), '-', '_');
  return word;
}

std::string TableKind::sql_help() const {
  return build != nullptr ? fmt::format("as 'show {}'", name) : std::string(help);
}

void TableKind::each_row(const Report& report, const RowTaker& take) const {
  if (stream != nullptr) stream(report, take);
  if (build == nullptr) return;
  for (const auto& row : build(report.job).rows) {
    if (!take(row)) return;
  }
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
  const auto found = std::ranges::find(kTables, word, &TableKind::sql_name);
  return found == std::end(kTables) ? nullptr : found;
}

Table table_of(std::string_view name) {
  const auto kind = std::ranges::find(kTables, name, &TableKind::name);
  Table table{.name = std::string(name)};
  for (const Column& column : kind->columns) table.columns.emplace_back(column.name);
  return table;
}

Cell count_cell(uint64_t count) { return static_cast<int64_t>(count); }

Cell place_cell(const Job& job, SourceRef where) {
  const FileLine at = file_line(job, where);
  return text_cell(at.path.empty() || at.line == 0 ? at.path
                                                   : fmt::format("{}:{}", at.path, at.line));
}

Cell host_cell(const Job& job, int process) {
  return process < 0 ? Cell() : text_cell(job.processes[static_cast<size_t>(process)].host);
}

Cell pid_cell(const Job& job, int process) {
  return process < 0 ? Cell() : number_cell(job.processes[static_cast<size_t>(process)].pid);
}

Cell rank_cell(const Job& job, int process) {
  return process < 0 ? Cell() : number_cell(job.processes[static_cast<size_t>(process)].rank);
}

const TableKind& events_table() { return *find_sql_table("events"); }

const TableKind& documentation_table() { return *find_sql_table("documentation"); }

void each_documentation_row(const RowTaker& take) {
  for (const TableKind& table : kTables) {
    const Cell name = text_cell(table.sql_name());
    if (!take(Row{name, Cell(), Cell(), text_cell(table.sql_help())})) return;
    for (const Column& column : table.columns) {
      if (!take(Row{name, text_cell(column.sql_name()), text_cell(column.type),
                    text_cell(column.help)}))
        return;
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
