// What is left to tell once processes and communicators are known.
//
//   Settings, versions, hosts, the size of the job, and who printed lines of which kind; the runs
//   of nccl-tests with their rows; whose the Flight Recorder's dumps are.

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "log/known_messages.h"
#include "log/line/words.h"
#include "log/messages.h"
#include "model/derive/steps.h"
#include "model/job.h"

namespace ncclog {
namespace {

// The job in a few words: settings, versions, hosts, size.

void build_environment(Job& job) {
  std::map<std::pair<std::string, std::string>, std::set<int>> settings;
  MessageReader<EnvSet> read;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    read.for_each(job, job.processes[p], [&](const EnvSet& set) {
      settings[{std::string(set.name), std::string(set.value)}].insert(static_cast<int>(p));
    });
  }
  for (const auto& [setting, processes] : settings) {
    job.environment.push_back(
        {setting.first, setting.second, {processes.begin(), processes.end()}});
  }
}

void build_versions(Job& job) {
  std::set<std::string> nccl;
  std::set<std::string> cuda;
  std::set<std::string> pytorch;
  for_each_message<NcclVersion>(job, [&](const NcclVersion& message) {
    // "12.4"; what another process wrote into the line may stand in it.
    if (message.cuda.find_first_not_of("0123456789.") != message.cuda.npos) return;
    nccl.emplace(message.version);
    cuda.emplace(message.cuda);
  });
  for_each_message<NcclException>(job, [&](const auto& message) { nccl.emplace(message.version); });
  for (const FlightRecorderDump& dump : job.flight_recorders) nccl.insert(dump.nccl_version);
  for_each_message<NcclInUse>(job, [&](const auto& message) { nccl.emplace(message.version); });
  for_each_message<C10dOptions>(job, [&](const C10dOptions& message) {
    std::string_view version = message.version;
    if (version.ends_with(',')) version.remove_suffix(1);
    nccl.emplace(version);
  });
  for_each_message<TorchVersionLine>(
      job, [&](const TorchVersionLine& message) { pytorch.emplace(message.version); });
  for (auto* versions : {&nccl, &cuda, &pytorch}) versions->erase("");
  // NCCL's own lines write it with more: "2.28.9+cuda13.0".
  if (nccl.empty()) {
    for (const RasReport& report : job.ras_reports) nccl.insert(report.nccl_version);
    nccl.erase("");
  }
  job.nccl_versions.assign(nccl.begin(), nccl.end());
  job.cuda_versions.assign(cuda.begin(), cuda.end());
  job.pytorch_versions.assign(pytorch.begin(), pytorch.end());
}

/// Those on which launchers saw tasks end: "srun: error: node-b: task 3: Killed"; else the one of the
/// shell's prompts, where it starts the ranks itself: "user@node-a:~$ mpirun -np 8 ./train".
std::set<std::string> hosts_around(const Job& job) {
  std::set<std::string> hosts;
  for_each_message<ProcessEnded>(job, [&](const auto& message) { hosts.emplace(message.host); });
  hosts.erase("");
  if (!hosts.empty()) return hosts;
  for_each_message<ShellCommand>(job, [&](const ShellCommand& message) {
    if (!holds_one_of(message.command, listed_words("starts-ranks"))) return;
    const bool is_here = !holds_one_of(message.command, listed_words("elsewhere"));
    hosts.emplace(is_here ? message.host : std::string_view());
  });
  const bool is_there = hosts.size() == 1 && !hosts.contains("");
  return is_there ? hosts : std::set<std::string>{};
}

/// What the last answer of RAS that knows says of the job's size; 0: none does.
int counted_by_ras(const Job& job, int64_t RasReport::*count) {
  int counted = 0;
  for (const RasReport& report : job.ras_reports) {
    const bool is_count = report.*count > 0 && report.*count <= INT32_MAX;
    if (is_count) counted = static_cast<int>(report.*count);
  }
  return counted;
}

/// Hosts as NCCL names them, and as tables of ranks do. Launchers and collectors have names of their
/// own for them (pods, services), so theirs count only where nothing else names one.
void build_hosts(Job& job) {
  std::set<std::string> hosts;
  for (const ListedRank& row : job.listed_ranks) {
    if (!row.host.empty()) hosts.insert(row.host);
  }
  std::set<std::string> named_by_prefix;
  for (const Process& process : job.processes) {
    if (!process.host.empty()) (process.pid >= 0 ? hosts : named_by_prefix).insert(process.host);
  }
  for (const JobInput& input : job.inputs) {
    if (!input.host.empty()) hosts.insert(input.host);
  }
  if (hosts.empty()) hosts = std::move(named_by_prefix);
  if (hosts.empty()) hosts = hosts_around(job);
  job.hosts.assign(hosts.begin(), hosts.end());
  job.nhosts = static_cast<int>(hosts.size());
  // RAS counts nodes and has no names for them.
  if (hosts.empty()) job.nhosts = counted_by_ras(job, &RasReport::nodes);
  // NCCL counts also the hosts of which there are no logs.
  const auto largest = std::ranges::max_element(
      job.communicators, [](const auto& a, const auto& b) { return a.nranks < b.nranks; });
  if (largest == job.communicators.end() || largest->nnodes <= 0) return;
  // Where all ranks are seen, their hosts are: NCCL counts two where one lets no rank reach another
  // but through the network. A GPU twice is one of another host of that name.
  std::set<std::pair<std::string_view, std::string_view>> gpus;
  for (const CommRank& rank : largest->ranks) {
    const bool is_placed = rank.process >= 0 && !nth_process(job, rank.process).host.empty();
    if (is_placed && !rank.bus_id.empty()) {
      gpus.emplace(nth_process(job, rank.process).host, rank.bus_id);
    }
  }
  const bool all_seen = std::cmp_equal(gpus.size(), largest->nranks);
  if (!all_seen) job.nhosts = largest->nnodes;
}

/// "--world-size 8" on a command line; 0 if it does not say.
int asked_world_size(std::string_view command) {
  constexpr std::string_view kFlags[] = {"--world-size", "--world_size"};
  for (const std::string_view flag : kFlags) {
    const size_t at = command.find(flag);
    if (at == command.npos) continue;
    const std::string_view rest = command.substr(std::min(at + flag.size() + 1, command.size()));
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    return static_cast<int>(parse_int(rest.substr(0, digits)).value_or(0));
  }
  return 0;
}

/// Size that launchers, rings and old releases announce; 0 if none does.
int announced_nranks(const Job& job) {
  int nranks = 0;
  const auto at_least = [&](int n) { nranks = std::max(nranks, n); };
  for_each_message<NranksAnnounced>(job, [&](const auto& message) { at_least(message.nranks); });
  for_each_message<NcclTestsRank>(job, [&](const auto& message) { at_least(message.rank + 1); });
  for_each_message<WorldSizePrinted>(job, [&](const auto& message) { at_least(message.nranks); });
  for_each_message<C10dOptions>(job, [&](const auto& message) { at_least(message.nranks); });
  for_each_message<BootstrapRankTwice>(job, [&](const auto& message) { at_least(message.nranks); });
  for_each_message<ShellCommand>(
      job, [&](const auto& message) { at_least(asked_world_size(message.command)); });
  return nranks;
}

/// Size that the groups of Flight Recorder dumps speak of; 0: there are none.
int recorded_nranks(const Job& job) {
  int nranks = 0;
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    for (const FlightRecorderGroup& group : dump.groups) {
      for (const int rank : group.ranks) nranks = std::max(nranks, rank + 1);
    }
  }
  return nranks;
}

/// Ranks that lines name: by prefix, or as the root that others wait for; those that have a file,
/// and, beside others, tasks that a launcher saw end.
std::set<int> ranks_named(const Job& job) {
  std::set<int> ranks;
  for (const Process& process : job.processes) ranks.insert(process.rank);
  for_each_message<StoreWaitFailed>(job, [&](const auto& message) {
    ranks.insert(message.rank);
    ranks.insert(message.root);
  });
  for (const JobInput& input : job.inputs) ranks.insert(input.rank);
  ranks.erase(-1);
  if (ranks.size() < 2) return ranks;
  for_each_message<ProcessEnded>(job, [&](const auto& message) { ranks.insert(message.rank); });
  ranks.erase(-1);
  return ranks;
}

/// The size that lines tell; 0: none does.
int find_told_nranks(const Job& job) {
  int nranks = 0;
  for (const Communicator& comm : job.communicators) nranks = std::max(nranks, comm.nranks);
  if (nranks <= 0) nranks = std::max(announced_nranks(job), recorded_nranks(job));
  return nranks > 0 ? nranks : counted_by_ras(job, &RasReport::nranks);
}

std::optional<int> count_ranks(const Job& job) {
  if (const int told = told_nranks(job); told > 0) return told;
  // Processes that speak in an excerpt do not tell how many there are. Ranks without a gap do,
  // unless it is one voice.
  const std::set<int> named = ranks_named(job);
  const bool is_whole = named.size() > 1 && *named.begin() == 0 &&
                        *named.rbegin() + 1 == static_cast<int>(named.size());
  return is_whole ? std::optional(*named.rbegin() + 1) : std::nullopt;
}

// Which lines of nccl-tests belong to one run?
//
//   version, program, settings, ranks, headings, rows, sums, end: a run's lines come in this order.
//
// A line that belongs before what was read last begins the next run. Lines of other programs may
// stand between; what two processes print into one file without prefixes cannot be told apart.

/// In the order in which a run prints them. The program's name stands at both ends.
constexpr uint16_t kParts[] = {kKindIndex<NcclTestsVersion>,   kKindIndex<NcclTestsProgram>,
                               kKindIndex<NcclTestsConfig>,    kKindIndex<NcclTestsRank>,
                               kKindIndex<NcclTestsResult>,    kKindIndex<NcclTestsOutOfBounds>,
                               kKindIndex<NcclTestsBandwidth>, kKindIndex<NcclTestsProgram>};

/// Place in kParts; nullopt: the line is of none.
std::optional<size_t> part_of(const Message& message) {
  const auto* part = std::ranges::find(kParts, message.kind->index);
  if (part == std::end(kParts)) return std::nullopt;
  const bool is_end = *part == kKindIndex<NcclTestsProgram> &&
                      read_message<NcclTestsProgram>(message).phase != "starting";
  return is_end ? std::size(kParts) - 1 : static_cast<size_t>(part - std::begin(kParts));
}

NcclTestsRow row_of(const NcclTestsResult& said, const Record& record) {
  const auto values = [](auto time, auto algbw, auto busbw, auto wrong) {
    return NcclTestsValues{std::string(time), std::string(algbw), std::string(busbw),
                           std::string(wrong)};
  };
  return {
      .where = record.where,
      .text = record.text(),
      .size = said.size,
      .count = said.count,
      .datatype = std::string(said.datatype),
      .redop = std::string(said.redop),
      .root = said.root,
      .out_of_place = values(said.time, said.algbw, said.busbw, said.wrong),
      .in_place =
          values(said.time_in_place, said.algbw_in_place, said.busbw_in_place, said.wrong_in_place),
  };
}

/// Whether a row has the columns below that heading. One that was cut between two of them, or has
/// lost its end, has not; in place alone is how replayed traces are measured.
bool has_columns(const NcclTestsRow& row, std::string_view heading) {
  if (heading.empty()) return true;
  const auto words = split_blanks(heading);
  const auto ways = std::ranges::count(words, "busbw");
  const bool has_errors = std::ranges::any_of(
      words, [](std::string_view word) { return word == "#wrong" || word == "error"; });
  const bool one = row.out_of_place.time.empty() != row.in_place.time.empty();
  const NcclTestsValues& values = row.in_place.time.empty() ? row.out_of_place : row.in_place;
  const bool fits = ways == (one ? 1 : 2) || (ways == 2 && row.out_of_place.time.empty());
  const bool may_have_root = row.root < 0 || std::ranges::count(words, "root") > 0;
  return fits && may_have_root && has_errors == !values.wrong.empty();
}

/// Adds what a line of one of the parts says.
void add_part(const Message& message, const Record& record, NcclTestsRun& run) {
  switch (message.kind->index) {
    case kKindIndex<NcclTestsVersion>:
      run.version = read_message<NcclTestsVersion>(message).version;
      break;
    case kKindIndex<NcclTestsProgram>:
      run.test = read_message<NcclTestsProgram>(message).test;
      break;
    case kKindIndex<NcclTestsConfig>: {
      const auto said = read_message<NcclTestsConfig>(message);
      run.min_bytes = said.min_bytes;
      run.max_bytes = said.max_bytes;
      run.iters = said.iters;
      run.validation = said.validation;
      break;
    }
    case kKindIndex<NcclTestsRank>: {
      const auto said = read_message<NcclTestsRank>(message);
      run.nranks = std::max(run.nranks, said.rank + 1);
      run.places.push_back({said.rank, said.group, said.pid, std::string(said.host), said.device,
                            std::string(said.bus_id), std::string(said.gpu)});
      break;
    }
    case kKindIndex<NcclTestsResult>:
      run.rows.push_back(row_of(read_message<NcclTestsResult>(message), record));
      break;
    case kKindIndex<NcclTestsOutOfBounds>:
      run.out_of_bounds = read_message<NcclTestsOutOfBounds>(message).count;
      run.out_of_bounds_line = record.where;
      break;
    case kKindIndex<NcclTestsBandwidth>: {
      const auto said = read_message<NcclTestsBandwidth>(message);
      run.busbw = said.busbw;
      run.busbw_line = record.where;
      run.below_expected = said.verdict == "FAILED";
      break;
    }
    default:
      break;
  }
}

/// The program in a command: "mpirun -np 8 ./build/all_reduce_perf -b 8" → "all_reduce_perf".
std::string_view program_in(std::string_view command) {
  for (std::string_view word : split_blanks(command)) {
    word = word.substr(word.rfind('/') + 1);
    if (word.ends_with("_perf") || word.ends_with("_perf_mpi")) return word;
  }
  return {};
}

/// Runs whose output does not name the test are named by the last command before them.
void name_by_command(const SpeakerLog& log, NcclTestsRun& run) {
  if (!run.test.empty()) return;
  for (const Record& record : log.records.kept(kKindIndex<ShellCommand>)) {
    if (record.where.unit != run.first.unit || !(record.where < run.first)) continue;
    const Event event = parse_record(record);
    const std::string_view program = program_in(read_message<ShellCommand>(event.message).command);
    if (!program.empty()) run.test = program;
  }
}

/// Bus bandwidth by algorithm bandwidth of the row with most of it; 0: none is large enough to tell.
double factor_of(std::span<const NcclTestsRow> rows) {
  double most = 10;  // Printed with two decimals: a thousandth at least.
  double factor = 0;
  for (const NcclTestsRow& row : rows) {
    const double algbw = parse_decimal(row.out_of_place.algbw).value_or(0);
    if (algbw <= most) continue;
    most = algbw;
    factor = parse_decimal(row.out_of_place.busbw).value_or(0) / algbw;
  }
  return factor;
}

/// Tables without headings that stand one behind the other: sizes begin again, and the factor between
/// the bandwidths is that of another number of ranks. What heads the first one is of no other.
void split_by_ranks(NcclTestsRun run, std::vector<NcclTestsRun>& runs) {
  constexpr double kSame = 0.005;
  const std::span<const NcclTestsRow> rows = run.rows;
  std::vector<size_t> begins = {0};
  double factor = 0;  // Of the rows since then.
  for (size_t at = 0; at < rows.size();) {
    size_t end = at + 1;
    while (end < rows.size() && rows[end].size >= rows[end - 1].size) ++end;
    const double own = factor_of(rows.subspan(at, end - at));
    if (at > 0 && own > 0 && factor > 0 && std::abs(own - factor) > kSame) begins.push_back(at);
    if (own > 0) factor = own;
    at = end;
  }
  for (size_t n = 0; n < begins.size(); ++n) {
    NcclTestsRun part = run;
    const size_t end = n + 1 < begins.size() ? begins[n + 1] : rows.size();
    part.rows.assign(rows.begin() + static_cast<std::ptrdiff_t>(begins[n]),
                     rows.begin() + static_cast<std::ptrdiff_t>(end));
    if (n > 0) {
      part.first = part.rows.front().where;
      part.nranks = NcclTestsRun().nranks;
      part.places.clear();
    }
    if (n + 1 < begins.size()) part.busbw.clear();
    runs.push_back(std::move(part));
  }
}

std::vector<NcclTestsRun> runs_of(const SpeakerLog& log) {
  std::vector<NcclTestsRun> runs;
  std::string heading;     ///< Of the table whose rows come.
  bool is_headed = false;  ///< Behind rows: those to come are of another table.
  size_t last = 0;
  for (const Record record : log.benchmarks->kept) {
    const Event event = parse_record(record);
    if (event.message.kind == nullptr) continue;
    if (event.message.kind->name == "nccl_tests_columns") {
      const std::string_view columns = event.message.field("columns");
      if (!columns.empty()) {
        heading = columns;
        is_headed = !runs.empty() && !runs.back().rows.empty();
      }
    }
    const auto part = part_of(event.message);
    if (!part) continue;
    const bool repeats =
        kParts[*part] == kKindIndex<NcclTestsRank> || kParts[*part] == kKindIndex<NcclTestsResult>;
    const bool is_row = kParts[*part] == kKindIndex<NcclTestsResult>;
    const bool goes_on = (*part > last || (*part == last && repeats)) &&
                         !(is_row && std::exchange(is_headed, false));
    if (runs.empty() || !goes_on) runs.push_back({.first = record.where});
    last = *part;
    add_part(event.message, record, runs.back());
    std::vector<NcclTestsRow>& rows = runs.back().rows;
    if (!rows.empty() && rows.back().where == record.where && !has_columns(rows.back(), heading)) {
      rows.pop_back();
    }
  }
  std::vector<NcclTestsRun> by_ranks;
  for (NcclTestsRun& run : runs) {
    name_by_command(log, run);
    split_by_ranks(std::move(run), by_ranks);
  }
  return by_ranks;
}

// Whose dump is this? A dump names a rank of PyTorch; the log names processes by NCCL's ranks.
//
// The two are the same number where the job's largest communicator is as large as the dump's
// largest group, the world: both are then made by all ranks in the same order.

int process_of(const Job& job, const FlightRecorderDump& dump) {
  size_t world = 0;
  for (const FlightRecorderGroup& group : dump.groups) world = std::max(world, group.ranks.size());
  if (dump.rank < 0 || world == 0 || job.communicators.empty()) return -1;
  const bool is_world = std::cmp_equal(job.communicators.front().nranks, world);
  return is_world ? process_of_rank(job, dump.rank) : -1;
}

// Puts the lines of ncclras answers together.
//
//   NCCL version 2.28.9 compiled with CUDA 13.0     begins a report
//   Communicator ranks have different status        heads what follows
//   Rank 3 has status INIT -- GPU 3 managed by …    a statement about one rank
//
// An answer may stand alone in a file or among the lines of a log; people also quote a part of one,
// and several parts in a row: what an answer says once begins the next one where it comes again.

/// What sets ranks apart, from whichever field a line has: "6649", "0", "INIT", "System error".
template <typename Said>
std::string value_of(const Said& said) {
  if (said.operation >= 0) return std::to_string(said.operation);
  if (!said.idle.empty()) return "0";
  return std::string(said.status.empty() ? said.error : said.status);
}

/// Takes the lines in order. Invariant: statements belong to the report that is open; without an
/// open report every line is left alone.
class RasTextReader {
 public:
  void add(const Record& line) {
    const Message message = parse_record(line).message;
    if (message.kind == nullptr) return;
    const uint16_t kind = message.kind->index;
    if (kind == kKindIndex<RasClientVersion>) {
      begin(line.where, read_message<RasClientVersion>(message).version);
    } else if (begins_part(message)) {
      begin(line.where, {});
    }
    if (reports_.empty()) return;
    take_one_of<RasClientCuda, RasCommunicatorRow, RasProblem, RasNoAnswer, RasDead, RasDifference,
                RasErrors, RasRanks, RasRank, RasProcess, RasPeerEvent, RasLateAnswers>(message);
  }

  std::vector<RasReport> take() {
    for (RasReport& report : reports_) find_world(report);
    return std::move(reports_);
  }

 private:
  template <typename... Kinds>
  void take_one_of(const Message& message) {
    const auto take_if = [&]<typename Kind>(const Kind*) {
      if (message.kind->index == kKindIndex<Kind>) take(read_message<Kind>(message));
    };
    (take_if(static_cast<const Kinds*>(nullptr)), ...);
  }

  /// The line begins an answer that is quoted without its head: from the table, from a problem or
  /// from a process on, or it says again what the open answer has said.
  bool begins_part(const Message& message) const {
    const bool is_first = reports_.empty();
    switch (message.kind->index) {
      case kKindIndex<RasCommunicatorRow>: {
        const int group = read_message<RasCommunicatorRow>(message).group;
        return is_first || (group == 0 && !reports_.back().communicators.empty());
      }
      case kKindIndex<RasProblem>: {
        const auto said = read_message<RasProblem>(message);
        return is_first || states(said.communicator, said.problem);
      }
      case kKindIndex<RasNoAnswer>:
        return is_first || (read_message<RasNoAnswer>(message).of.starts_with("job") &&
                            states("", "INCOMPLETE"));
      case kKindIndex<RasDead>:
        return is_first || states("", "DEAD");
      case kKindIndex<RasPeerEvent>:
        return is_first || !reports_.back().communicators.empty();
      default:
        return false;
    }
  }

  bool states(std::string_view communicator, std::string_view problem) const {
    return std::ranges::any_of(reports_.back().statements, [&](const RasStatement& statement) {
      return statement.communicator == communicator && statement.problem == problem;
    });
  }

  /// Where one row's communicators have each all GPUs of their group, and no other row is as large,
  /// their ranks are the job's.
  static void find_world(RasReport& report) {
    const auto largest =
        std::ranges::max_element(report.communicators, {}, &RasCommunicators::nranks);
    if (largest == report.communicators.end() || largest->ranks_in_group > largest->nranks) return;
    const bool is_only = std::ranges::none_of(report.communicators, [&](const auto& row) {
      return &row != &*largest &&
             (row.nranks == largest->nranks || row.ranks_in_group > largest->nranks);
    });
    if (!is_only) return;
    report.nranks = largest->nranks;
    report.nodes = largest->nodes;
    for (const RasStatement& statement : report.statements) {
      if (statement.nranks != report.nranks) continue;
      std::ranges::copy(statement.members, std::back_inserter(report.world));
    }
    std::ranges::stable_sort(report.world, {}, [](const RasMember& member) {
      return std::tie(member.pid, member.node, member.gpu);
    });
  }

  void begin(SourceRef where, std::string_view version) {
    if (reports_.size() == kMaxRasReports) reports_.erase(reports_.begin());
    RasReport& report = reports_.emplace_back();
    report.where = where;
    report.nccl_version = version;
    head({});
    members_ = 0;
  }

  void take(const RasClientCuda& cuda) {
    reports_.back().cuda_runtime = cuda.runtime;
    reports_.back().cuda_driver = cuda.driver;
  }

  void take(const RasCommunicatorRow& row) {
    std::vector<RasCommunicators>& list = reports_.back().communicators;
    if (list.size() == kMaxRasStatements) return;
    list.push_back({.count = row.communicators,
                    .nodes = row.nodes,
                    .ranks_per_node = std::string(row.ranks_per_node),
                    .nranks = row.nranks,
                    .ranks_in_group = row.ranks_in_group,
                    .status = std::string(row.status),
                    .errors = std::string(row.errors)});
  }

  void take(const RasProblem& problem) {
    const auto& rows = reports_.back().communicators;
    const auto row = static_cast<size_t>(problem.group);
    head({.communicator = std::string(problem.communicator),
          .nranks = row < rows.size() ? rows[row].nranks : -1,
          .problem = std::string(problem.problem)});
  }

  void take(const RasPeerEvent& event) {
    head({.problem = "DEAD", .what = "unreachable"});
    state({}, 1);
    add_member({-1, event.pid, std::string(event.node), std::string(event.gpus)});
  }

  void take(const RasNoAnswer& lacking) {
    if (lacking.of.starts_with("job")) head({.problem = "INCOMPLETE"});
    heading_.what = "communicator data";
    state({}, lacking.count);
  }

  void take(const RasDead& dead) {
    head({.problem = "DEAD", .what = "unreachable"});
    state({}, dead.count);
  }

  void take(const RasDifference& difference) {
    heading_.what = difference.what;
    is_stated_ = false;
  }

  void take(const RasErrors& errors) {
    heading_.what = std::string(errors.what) + " error";
    is_stated_ = false;
  }

  void take(const RasRanks& said) { state(value_of(said), said.count); }

  void take(const RasRank& said) {
    std::string value = value_of(said);
    if (!value.empty()) state(std::move(value), 1);
    add_member({said.rank, said.pid, std::string(said.node), std::string(said.gpu)});
  }

  void take(const RasProcess& said) {
    add_member({-1, said.pid, std::string(said.node), std::string(said.gpus)});
  }

  void take(const RasLateAnswers& late) { reports_.back().timeouts = late.count; }

  void head(RasStatement heading) {
    heading_ = std::move(heading);
    is_stated_ = false;
  }

  /// Adds a statement about `count` ranks or processes; those that are listed below become members.
  void state(std::string value, int64_t count) {
    std::vector<RasStatement>& list = reports_.back().statements;
    is_stated_ = list.size() < kMaxRasStatements;
    if (!is_stated_) return;
    list.push_back(heading_);
    list.back().value = std::move(value);
    list.back().count = count;
  }

  void add_member(RasMember member) {
    if (!is_stated_ || members_ == kMaxRasMembers) return;
    ++members_;
    reports_.back().statements.back().members.push_back(std::move(member));
  }

  std::vector<RasReport> reports_;  ///< The last one is open, if there is any.
  RasStatement heading_;            ///< What the next statements are about.
  bool is_stated_ = false;          ///< The last statement is about heading_ and takes members.
  size_t members_ = 0;              ///< Of the open report.
};

}  // namespace

int told_nranks(const Job& job) { return job.answers.of<&find_told_nranks>(job); }

void build_summary(Job& job) {
  build_environment(job);
  build_versions(job);
  build_hosts(job);
  job.nranks = count_ranks(job);
}

void build_nccl_tests(Job& job) {
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      for (NcclTestsRun& run : runs_of(job.logs[log])) {
        run.process = static_cast<int>(p);
        job.nccl_tests.push_back(std::move(run));
      }
    }
  }
  std::ranges::stable_sort(job.nccl_tests, {}, &NcclTestsRun::first);
}

void build_flight_recorders(Job& job) {
  for (FlightRecorderDump& dump : job.flight_recorders) dump.process = process_of(job, dump);
  std::ranges::stable_sort(job.flight_recorders, {}, [](const FlightRecorderDump& dump) {
    return std::tuple(dump.rank < 0, dump.rank);
  });
}

std::vector<RasReport> read_ras_text(const std::deque<OwnedRecord>& lines) {
  RasTextReader reader;
  for (const Record line : lines) reader.add(line);
  return reader.take();
}

}  // namespace ncclog
