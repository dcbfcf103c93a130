// The job itself, as far as the logs tell it: what a page says besides findings.
//
//   Job                ranks 8 on 2 hosts, NCCL 2.28.9, connections P2P/CUMEM 24, NET/IB/GDRDMA 8
//   Ranks              6 init done, 2 not seen, 1 failed; a row for each
//   Time line          a lane for each process, and all milestones as a table
//   Inputs             what was read and what of it could not be used; how the job ended

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/iterations/iterations.h"
#include "diagnose/network/connections.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/progress.h"
#include "diagnose/outcome/rank_stacks.h"
#include "report/document/rank_drawings.h"
#include "report/document/report_document.h"
#include "report/graph/graph.h"
#include "report/perf/perf_report.h"
#include "report/tables/tables.h"

namespace ncclog {
namespace {

// Size, versions, hosts, network.

constexpr size_t kMaxNames = 8;

std::string some(const std::vector<std::string>& names) { return few_of(names, kMaxNames, ", "); }

using Counts = std::vector<std::pair<std::string, size_t>>;

Counts most_first(const std::map<std::string, size_t>& counts) {
  Counts sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& count) { return count.second; });
  return sorted;
}

std::string ranks_words(const Job& job) {
  if (!job.nranks) return {};
  std::string out = std::to_string(*job.nranks);
  if (job.nhosts > 0) out += fmt::format(" on {}", plural(job.nhosts, "host"));
  if (job.communicators.empty() || job.communicators.front().nranks != *job.nranks) return out;
  std::vector<int> unseen;
  for (const CommRank& rank : job.communicators.front().ranks) {
    if (rank.state == RankState::NotSeen && rank.rank >= 0) unseen.push_back(rank.rank);
  }
  return unseen.empty() ? out : out + "; no line of " + ranks_phrase(unseen);
}

/// "8: 4 on each host"; empty unless lines say which GPUs.
std::string gpus_words(const Job& job) {
  std::map<std::string, std::set<std::string>> by_host;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0 || rank.bus_id.empty()) continue;
      by_host[job.processes[rank.process].host].insert(rank.bus_id);
    }
  }
  if (by_host.empty()) return {};
  size_t all = 0;
  std::set<size_t> sizes;
  for (const auto& [host, gpus] : by_host) {
    all += gpus.size();
    sizes.insert(gpus.size());
  }
  if (by_host.size() == 1) return std::to_string(all);
  if (sizes.size() == 1) return fmt::format("{}: {} on each host", all, *sizes.begin());
  return fmt::format("{}: {} to {} on a host", all, *sizes.begin(), *sizes.rbegin());
}

std::string network_words(const Job& job) {
  const Network& network = job.network;
  if (network.name.empty() && network.plugin.empty()) return {};
  std::string name = network.name.empty() ? "not named" : network.name;
  if (network.plugin.empty()) return name;
  return name + (network.plugin == "internal" ? ", no plugin" : ", plugin " + network.plugin);
}

/// "mlx5_0 (IB), eth0"
std::string interfaces_words(const Job& job) {
  std::set<std::string> names;
  for (const Interface& interface : job.network.interfaces) {
    names.insert(interface.link.empty() ? interface.name
                                        : fmt::format("{} ({})", interface.name, interface.link));
  }
  return some({names.begin(), names.end()});
}

/// "P2P/CUMEM 24, NET/IB/GDRDMA 8": most frequent first.
std::string connections_words(const Job& job) {
  std::set<std::tuple<std::string, int, int>> connections;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.connections.all) {
      // "NET/IB/GDRDMA" for "NET/IB/3(5)/GDRDMA/Shared"; other paths as printed.
      const PathParts parts = parse_path(key.path);
      connections.emplace(
          parts.transport != Transport::NET
              ? key.path
              : fmt::format("NET/{}{}", parts.network, parts.gpudirect ? "/GDRDMA" : ""),
          key.src_rank, key.dst_rank);
    }
  }
  std::map<std::string, size_t> counts;
  for (const auto& [path, src, dst] : connections) ++counts[path];
  std::vector<std::string> words;
  for (const auto& [path, n] : most_first(counts)) words.push_back(fmt::format("{} {}", path, n));
  return some(words);
}

/// "1 of 8 ranks, 4 of 2 ranks": largest first.
std::string communicators_words(const Job& job) {
  std::map<int, size_t, std::greater<>> by_size;
  for (const Communicator& comm : job.communicators) ++by_size[comm.nranks];
  std::vector<std::string> words;
  for (const auto& [nranks, n] : by_size) {
    words.push_back(nranks < 0 ? fmt::format("{} of unknown size", n)
                               : fmt::format("{} of {}", n, plural(nranks, "rank")));
  }
  return some(words);
}

}  // namespace

KeyValues job_shape(const Job& job) {
  std::string cuda = some(job.cuda_versions);  // "13.0, driver 13.0"
  const std::string drivers = some(driver_versions(job));
  if (!drivers.empty()) cuda += (cuda.empty() ? "driver " : ", driver ") + drivers;
  KeyValues shape{.rows = {{"ranks", ranks_words(job)},
                           {"GPUs", gpus_words(job)},
                           {"hosts", some(job.hosts)},
                           {std::string(library_name(job)), some(job.nccl_versions)},
                           {"CUDA", cuda},
                           {"PyTorch", some(job.pytorch_versions)},
                           {"network", network_words(job)},
                           {"interfaces", interfaces_words(job)},
                           {"connections", connections_words(job)},
                           {"communicators", communicators_words(job)}}};
  std::erase_if(shape.rows, [](const Labelled& row) { return row.text.empty(); });
  return shape;
}

namespace {

// Where each communicator stands, and each rank.

/// Communicators at which ranks differ or some are ahead come first.
Section fronts_section(const Job& job) {
  Section section{.heading = "Where each communicator stands", .id = "fronts"};
  Table table = fronts_table(job);
  if (table.rows.empty()) return section;
  std::vector<std::vector<Cell>> open;
  std::vector<std::vector<Cell>> closed;
  size_t row = 0;  // Both come in the same order.
  for (const CallFront& front : call_fronts(job)) {
    const auto& comm = job.communicators[front.communicator];
    const bool is_open = front.is_open() || comm.difference;
    (is_open ? open : closed).push_back(std::move(table.rows[row++]));
  }
  if (open.empty()) {
    table.notes.push_back("No rank is seen ahead of another.");
  } else {
    table.notes.push_back(
        "So it is where the logs end: who went on after others gave up stands ahead of them. "
        "Ranks are a few calls apart in any job that runs.");
  }
  table.rows = std::move(open);
  table.rows.insert(table.rows.end(), closed.begin(), closed.end());
  section.blocks.push_back(std::move(table));
  return section;
}

size_t column_of(const Table& table, std::string_view name) {
  return static_cast<size_t>(std::ranges::find(table.columns, name) - table.columns.begin());
}

/// Keeps `most` of them: those that tell something before others, in their order.
template <typename T, typename IsTelling>
void keep_telling(std::vector<T>& all, size_t most, IsTelling is_telling) {
  const auto telling = static_cast<size_t>(std::ranges::count_if(all, is_telling));
  size_t telling_left = most;
  size_t others_left = most - std::min(most, telling);
  std::erase_if(all, [&](const T& each) {
    size_t& left = is_telling(each) ? telling_left : others_left;
    return left == 0 || left-- == 0;
  });
}

/// `main`: the verdict's finding; nullptr: there is none.
Section ranks_section(const Job& job, const Finding* main) {
  constexpr size_t kMaxRanks = 300;
  Section section{.heading = "Ranks", .id = "ranks", .folds = true};
  Table table = ranks_table(job);
  if (!table.rows.empty()) {
    const size_t state = column_of(table, "state");
    const size_t note = column_of(table, "note");
    std::map<std::string, size_t> counts;
    for (const auto& row : table.rows) ++counts[cell_text(row[state])];
    const Counts states = most_first(counts);
    const size_t all = table.rows.size();
    RankGrid grid = rank_grid(job, table, main);
    if (all > kMaxRanks) {
      // Those with a note or a rare state before others.
      keep_telling(table.rows, kMaxRanks, [&](const std::vector<Cell>& row) {
        return cell_text(row[state]) != states.front().first || !cell_text(row[note]).empty();
      });
      table.notes.push_back(fmt::format(
          "{} of {} ranks are shown, those unlike most first; 'ncclog show ranks' lists all.",
          table.rows.size(), all));
    }
    KeyValues tally{.tally = true};
    for (const auto& [word, count] : states) {
      tally.rows.push_back({std::to_string(count), column_heading(word)});
    }
    std::map<RankGrid::State, size_t> counts_of;
    for (const RankGrid::Host& host : grid.hosts) {
      for (const RankGrid::Cell& cell : host.cells) counts_of[cell.state] += cell.count;
    }
    for (const auto& [how, count] : counts_of) {
      // The others are among the states of the initialisation.
      if (how > RankGrid::State::Failed) continue;
      tally.rows.push_back({std::to_string(count), std::string(to_string(how))});
    }
    section.blocks.push_back(std::move(tally));
    section.blocks.push_back(Figure{"ranks by host", std::move(grid), std::move(table)});
    return section;
  }
  section.blocks.push_back(std::move(table));
  return section;
}

// What connects the ranks.

Section transports_section(const Job& job) {
  Section section{.heading = "Transports", .id = "transports", .folds = true};
  const RankPaths paths = rank_paths(job);
  if (!paths.pairs.empty()) {
    TransportMatrix matrix = transport_matrix(paths);
    if (matrix.names.size() > TransportMatrix::kMaxRows) {
      section.blocks.push_back(Paragraph{
          fmt::format("The matrix is left out: {} hosts. 'ncclog show channels' lists connections.",
                      matrix.names.size())});
    } else {
      section.blocks.push_back(Paragraph{
          matrix.by_host ? fmt::format("{} ranks, so rows and columns are hosts.", matrix.ranks)
                         : "From each rank (row) to each rank (column)."});
      section.blocks.push_back(Figure{"transport matrix", std::move(matrix), channels_table(job)});
    }
  }
  if (paths.torn > 0) {
    section.blocks.push_back(Paragraph{fmt::format(
        "{} of processes whose lines are torn: left out.", plural(paths.torn, "connection"))});
  }
  if (paths.unplaced > 0) {
    section.blocks.push_back(Paragraph{fmt::format(
        "{} left out: the log names ranks of several communicators alike, and does not tell which "
        "process is at the other end.",
        paths.unplaced == 1 ? "1 connection is"
                            : fmt::format("{} connections are", paths.unplaced))});
  }
  return section;
}

Section drawing_section(std::string heading, std::string id, Drawing drawing) {
  Section section{.heading = std::move(heading), .id = std::move(id), .folds = true};
  if (drawing.graphs.empty()) return section;
  for (const std::string& note : drawing.notes) section.blocks.push_back(Paragraph{note});
  for (Graph& graph : drawing.graphs) {
    Section part{.heading = graph.title, .folds = true};
    for (const std::string& remark : graph.remarks) part.blocks.push_back(Paragraph{remark});
    part.blocks.push_back(Figure{.name = graph.title, .drawing = std::move(graph), .table = {}});
    section.parts.push_back(std::move(part));
  }
  return section;
}

// What the processes call in each iteration.

constexpr size_t kMaxBars = 48;
constexpr size_t kMaxSingleBars = 24;  ///< Of more iterations, neighbours that are alike share one.

/// One iteration, or neighbours that call the same.
struct Iterations {
  int64_t first = 0;
  int64_t last = 0;
  const IterationPattern* pattern = nullptr;  ///< Never nullptr.
};

/// By iteration; neighbours that call the same share a bar where there are many.
std::vector<Iterations> charted_iterations(const JobIterations& found) {
  std::vector<Iterations> ranges;
  uint64_t all = 0;
  for (const IterationPattern& pattern : found.patterns) {
    for (const auto& [first, last] : pattern.iterations) {
      ranges.push_back({first, last, &pattern});
      all += static_cast<uint64_t>(last - first) + 1;
    }
  }
  std::ranges::stable_sort(
      ranges, [](const Iterations& a, const Iterations& b) { return a.first < b.first; });
  if (all > kMaxSingleBars) return ranges;
  std::vector<Iterations> rows;
  for (const Iterations& range : ranges) {
    if (range.pattern->together > 1) {
      rows.push_back(range);
      continue;
    }
    for (int64_t i = range.first; i <= range.last; ++i) rows.push_back({i, i, range.pattern});
  }
  return rows;
}

Figure iterations_figure(const std::vector<Iterations>& rows) {
  std::vector<Bar> bars;
  Table table{.name = "iterations", .columns = {"iterations", "calls", "in_all", "processes"}};
  for (const auto& [first, last, pattern] : rows) {
    const std::string label =
        first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
    uint64_t all = 0;
    for (const auto& [op, n] : pattern->calls) all += n;
    bars.push_back({label, {pattern->calls.begin(), pattern->calls.end()}});
    table.add(label, calls_text(pattern->calls), all, pattern->processes);
  }
  return {"calls of a process by iteration", std::move(bars), std::move(table)};
}

/// Sentences about the iterations and bars of their calls by operation; without blocks where
/// nothing that was called can be told apart into iterations.
Section iterations_section(const Job& job) {
  Section section{.heading = "Calls by iteration", .id = "iterations", .folds = true};
  const JobCalls calls = job_calls(job);
  const auto found = find_iterations(job, calls, {});
  if (!found || !is_loop(*found)) return section;
  for (const std::string& sentence : iteration_text(job, calls, *found)) {
    section.blocks.push_back(Paragraph{sentence});
  }
  std::vector<Iterations> rows = charted_iterations(*found);
  const size_t all = rows.size();
  rows.resize(std::min(all, kMaxBars));
  section.blocks.push_back(iterations_figure(rows));
  if (all > kMaxBars) {
    section.blocks.push_back(Paragraph{fmt::format(
        "{} more bars are left out; `ncclog count --by iteration,op` lists all.", all - kMaxBars)});
  }
  return section;
}

// Settings that NCCL reports.

/// Those whose value differs between processes first.
Section settings_section(const Job& job) {
  Section section{.heading = "Settings that NCCL reports", .id = "settings", .folds = true};
  if (job.environment.empty()) return section;
  std::set<int> reporting;
  std::map<std::string_view, std::pair<size_t, size_t>> by_name;  // Values, and who reports them.
  for (const EnvironmentSetting& setting : job.environment) {
    reporting.insert(setting.processes.begin(), setting.processes.end());
    auto& [values, processes] = by_name[setting.name];
    ++values;
    processes += setting.processes.size();
  }
  const size_t all = reporting.size();
  Table same = environment_table(job);  // A row for each setting, in the same order.
  Table differing{.name = same.name, .columns = same.columns};
  std::vector<std::vector<Cell>> rows = std::exchange(same.rows, {});
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& [values, processes] = by_name[job.environment[i].name];
    (values > 1 || processes < all ? differing : same).rows.push_back(std::move(rows[i]));
  }
  if (differing.rows.empty()) {
    section.blocks = {
        Paragraph{all == 1
                      ? "One process reports settings."
                      : fmt::format("The same in all {} processes that report settings.", all)},
        std::move(same)};
    return section;
  }
  section.parts.push_back({"Not the same everywhere", {std::move(differing)}});
  if (!same.rows.empty()) section.parts.push_back({"The same everywhere", {std::move(same)}});
  return section;
}

// What was read, and what of it could not be used.

/// "17 files", "9 files in an archive".
std::string files_text(const Job& job) {
  const auto archives = static_cast<size_t>(
      std::ranges::count_if(job.inputs, [](const JobInput& input) { return input.is_archive; }));
  std::string files = plural(job.inputs.size() - archives, "file");
  if (archives == 0) return files;
  return fmt::format("{}, unpacking {}", files, plural(archives, "archive"));
}

/// Ranks that some line speaks for, or whose own file is there, of those that the job has; nullopt:
/// not known, or all.
std::optional<size_t> ranks_seen(const Job& job) {
  if (job.communicators.empty() || !job.flight_recorders.empty()) return std::nullopt;
  const std::vector<CommRank>& ranks = job.communicators.front().ranks;
  const auto seen = static_cast<size_t>(std::ranges::count_if(ranks, [&](const CommRank& rank) {
    return rank.process >= 0 || file_of_rank(job, rank.rank) != nullptr ||
           process_of_rank(job, rank.rank) >= 0;
  }));
  const auto all = static_cast<size_t>(job.nranks.value_or(0));
  return ranks.size() == all && seen > 0 && seen < all ? std::optional(seen) : std::nullopt;
}

/// ", of which rank 3 is silent", where the own file of a rank is empty and no stack shows it.
std::string silent_words(const Job& job) {
  std::set<int> shown;
  for (const RankStacks& one : rank_stacks(job)) shown.insert(one.rank);
  std::vector<int> silent;
  for (const JobInput& input : job.inputs) {
    const bool is_empty = input.rank >= 0 && input.lines == 0;
    if (is_empty && !shown.contains(input.rank)) silent.push_back(input.rank);
  }
  std::ranges::sort(silent);
  if (silent.empty()) return {};
  return fmt::format(", of which {} {} silent", ranks_phrase(silent),
                     silent.size() == 1 ? "is" : "are");
}

std::string inputs_line(const Job& job) {
  std::string out =
      fmt::format("Read {} from {}", plural(job.losses.lines, "line"), files_text(job));
  // Lines without a pid may be of any process, so they are not counted as one.
  const auto processes =
      std::ranges::count_if(job.processes, [](const Process& process) { return process.pid >= 0; });
  if (const auto seen = ranks_seen(job)) {
    out += fmt::format(": {} of {} ranks seen", *seen, *job.nranks);
  } else if (job.nranks) {
    out += fmt::format(": {}", plural(*job.nranks, "rank"));
  } else if (processes > 0) {
    out += fmt::format(": {} {}", processes, processes == 1 ? "process" : "processes");
  }
  if (job.nhosts > 0) {
    // NCCL counts hosts of which there is no line, too.
    const bool is_part =
        ranks_seen(job) && !job.hosts.empty() && std::cmp_less(job.hosts.size(), job.nhosts);
    out += fmt::format("{} on {}{}", job.nranks || processes > 0 ? "" : ": processes",
                       is_part ? fmt::format("{} of ", job.hosts.size()) : "",
                       plural(job.nhosts, "host"));
  }
  out += silent_words(job);
  if (!job.nccl_versions.empty())
    out += fmt::format(", {} {}", library_name(job), join(job.nccl_versions, ", "));
  if (!job.network.name.empty()) out += ", network " + job.network.name;
  return out + ".";
}

/// Inputs of one fate, the first ones by name: " Cut: logs/a.gz, logs/b.gz and 6 more. The …".
std::string odd_inputs(const Job& job, InputStatus status, std::string_view word,
                       size_t most_names) {
  std::vector<std::string> names;
  std::string note;
  for (const JobInput& input : job.inputs) {
    if (input.status != status) continue;
    names.push_back(input.path);
    if (note.empty()) note = input.note;
  }
  if (names.empty()) return {};
  const std::string out = fmt::format(" {} {}", word, few_of(names, most_names, ", "));
  return note.empty() ? out + "." : fmt::format("{}. {}", out, note);
}

std::string lost_rows(const LossTable& losses) {
  std::string out;
  for (size_t i = 0; i < losses.counts.size(); ++i) {
    const LossRow& row = kLossRows[i];
    const bool is_input = row.name.starts_with("input_");
    if (losses.counts[i] == 0 || is_input || row.severity == "info") continue;
    const std::string_view meaning = row.meaning.substr(0, row.meaning.find_last_not_of('.') + 1);
    out += fmt::format(" {} ({}×). {}", meaning, losses.counts[i], row.advice);
  }
  return out;
}

/// The first columns of a table of the database, under these names.
Table first_columns(const Report& report, std::string_view name, std::vector<std::string> columns) {
  Table table{.name = std::string(name), .columns = std::move(columns)};
  find_sql_table(name)->each_row(report, [&](std::span<const Cell> cells) {
    const auto shown = cells.first(table.columns.size());
    table.rows.emplace_back(shown.begin(), shown.end());
    return true;
  });
  return table;
}

// How the job ended.

constexpr EndState kStates[] = {EndState::Finished, EndState::Failed, EndState::Stopped,
                                EndState::Unfinished, EndState::Unknown};

std::string processes_words(const Job& job) {
  const JobOutcome& outcome = outcome_of(job);
  std::array<size_t, std::size(kStates)> counts{};
  size_t all = 0;
  bool are_others = false;
  for (size_t p = 0; p < outcome.processes.size(); ++p) {
    if (!is_named(job.processes[p])) continue;
    are_others |= !job.processes[p].has_nccl;
    if (!job.processes[p].has_nccl) continue;
    ++counts[static_cast<size_t>(outcome.processes[p].state)];
    ++all;
  }
  const auto count_of = [&](EndState state) { return counts[static_cast<size_t>(state)]; };
  // Processes that ended as the job did, or of which nothing is known, add nothing to its sentence.
  size_t unlike = all - count_of(EndState::Unknown);
  if (outcome.job.state != EndState::Unknown) unlike -= count_of(outcome.job.state);
  if (all < 2 || unlike == 0) return {};
  // The end of the job is then that of a process of which NCCL says nothing.
  const bool is_elsewhere = are_others && count_of(outcome.job.state) == 0;
  std::vector<std::string> parts;
  for (const EndState state : kStates) {
    const size_t count = count_of(state);
    if (count == 0) continue;
    parts.push_back(parts.empty()
                        ? fmt::format("{} of {} {} {}", count, all,
                                      is_elsewhere ? "processes with lines of NCCL" : "processes",
                                      to_string(state))
                        : fmt::format("{} {}", count, to_string(state)));
  }
  return join(parts, ", ");
}

/// ". The last line, log.txt:15: \"[batching] Collecting statistics\"": of one output of which nothing
/// is known but steps; that it came no further may tell more than anything else. Empty: of any other.
std::string last_line_words(const Job& job) {
  const SpeakerLog* last = nullptr;
  std::set<int64_t> inputs;
  for (const SpeakerLog& log : job.logs) {
    if (log.last.line == 0) continue;
    inputs.insert(log.speaker.input);
    if (last == nullptr || last->last < log.last) last = &log;
  }
  const bool is_of_program = job.losses.recognised == 0 || prints_steps(job);
  const bool has_nccl =
      std::ranges::any_of(job.processes, [](const Process& process) { return process.has_nccl; });
  if (!is_of_program || has_nccl || inputs.size() != 1 || last->stack_lines) return {};
  const std::string words = excerpt_of(last->last_text);
  const std::string place = place_name(job, last->last);
  if (words.empty() || place.empty()) return {};
  return fmt::format(". The last line, {}: \"{}\"", place, words);
}

}  // namespace

std::string outcome_text(const Job& job) {
  const EndOf& end = outcome_of(job).job;
  std::string text = fmt::format("Ended: {}", to_string(end.state));
  if (end.state == EndState::Unknown) {
    text += "; these logs do not show how" + last_line_words(job);
  } else if (!end.what.empty()) {
    text += "; " + end.what;
  }
  const std::string place =
      end.evidence.empty() ? std::string() : place_name(job, end.evidence.front().where);
  if (!place.empty()) text += fmt::format(" ({})", place);
  const std::string processes = processes_words(job);
  text += processes.empty() ? "." : fmt::format(". {}.", processes);
  if (job.stated) text += fmt::format(" You say: {}.", to_string(*job.stated));
  return text;
}

std::vector<Section> job_sections(const Job& job, const Finding* main) {
  constexpr size_t kMaxGraphs = 12;
  Section shape{.heading = "Job", .id = "job"};
  const std::vector<Milestone> dated = dated_milestones(job);
  KeyValues known = job_shape(job);
  const std::string time = time_words(dated);
  if (!time.empty()) known.rows.insert(known.rows.begin(), {"time", time});
  if (!known.rows.empty()) shape.blocks.push_back(std::move(known));
  Section communicators{.heading = "Communicators", .id = "communicators", .folds = true};
  if (!job.communicators.empty()) communicators.blocks.push_back(communicators_table(job));
  std::vector<Section> all = {
      std::move(shape),
      fronts_section(job),
      ranks_section(job, main),
      time_section(job, dated, main),
      std::move(communicators),
      transports_section(job),
      perf_section(job),
      drawing_section("Rings and trees", "graphs", channels_drawing(job, kMaxGraphs)),
      drawing_section("Devices of the hosts", "devices", topology_drawing(job, kMaxGraphs / 2)),
      iterations_section(job),
      settings_section(job)};
  std::erase_if(
      all, [](const Section& section) { return section.blocks.empty() && section.parts.empty(); });
  return all;
}

/// On a screen, losses are named only where they matter to a reader.
Section inputs_section(const Report& report, Reader reader) {
  const Job& job = report.job;
  Section section;
  if (reader != Reader::Page) {
    section.blocks.push_back(
        Paragraph{inputs_line(job) + odd_inputs(job, InputStatus::Unreadable, "Unreadable:", 3) +
                  odd_inputs(job, InputStatus::Cut, "Cut:", 3) +
                  odd_inputs(job, InputStatus::Skipped, "Skipped:", 1) + lost_rows(job.losses)});
  } else {
    const LossTable& losses = job.losses;
    section = {.heading = "Inputs",
               .blocks = {Paragraph{inputs_line(job)}},
               .id = "inputs",
               .folds = true};
    section.blocks.push_back(Paragraph{
        fmt::format("{}: {} understood, {} of NCCL with an unknown wording, {} of other programs, "
                    "{} unreadable.",
                    plural(losses.lines, "line"), losses.recognised, losses.unrecognised,
                    losses.foreign, losses.unreadable)});
    section.blocks.push_back(
        first_columns(report, "losses", {"loss", "severity", "count", "meaning", "advice"}));
    // What could not be read whole is what one looks for, so it comes first.
    Table inputs =
        first_columns(report, "inputs", {"path", "format", "bytes", "lines", "status", "note"});
    std::ranges::stable_partition(inputs.rows,
                                  [](const auto& row) { return cell_text(row[4]) != "whole"; });
    section.parts.push_back({.heading = plural(job.inputs.size(), "input"),
                             .blocks = {std::move(inputs)},
                             .folds = job.inputs.size() > 12});
  }
  if (report.diagnosis.runs.empty()) {
    const EndState state = outcome_of(job).job.state;
    const bool is_open = state == EndState::Unfinished || state == EndState::Unknown;
    // What is a remark in a job that goes on is the reason where it stood still.
    const bool may_tell =
        is_open && !job.stated && report.diagnosis.verdict.status == VerdictStatus::Suspicious;
    section.blocks.push_back(
        Paragraph{outcome_text(job) +
                  (may_tell ? " If you saw how, add --outcome hung, crashed or finished." : "")});
  }
  return section;
}

}  // namespace ncclog
