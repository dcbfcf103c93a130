#include "diagnose/facts/fact.h"

#include <fmt/format.h>

#include <climits>
#include <cmath>
#include <numeric>
#include <tuple>
#include <type_traits>

#include "base/sorting.h"
#include "base/text.h"
#include "log/event.h"
#include "log/line/scanner.h"
#include "log/wording/other_programs.h"

namespace ncclog {
namespace {

/// Processes by host, by rank, or each by itself; so are those without a host or rank, after the
/// others.
std::vector<Instance> groups_of_processes(const Job& job, Scope scope) {
  std::map<std::tuple<int, std::string, int>, Instance> groups;
  for (int p = 0; p < static_cast<int>(job.processes.size()); ++p) {
    const Process& process = nth_process(job, p);
    const std::string host = scope == Scope::Host ? process.host : std::string();
    const int rank = scope == Scope::Rank ? process.rank : -1;
    const bool is_named = rank >= 0 || !host.empty();
    const auto key = is_named ? std::tuple(rank, host, -1) : std::tuple(INT_MAX, host, p);
    Instance& group = groups.try_emplace(key, Instance{scope, {}, host, rank, -1}).first->second;
    group.processes.push_back(p);
  }
  std::vector<Instance> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

std::vector<Instance> communicators(const Job& job) {
  std::vector<Instance> result;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    Instance instance{Scope::Communicator, {}, {}, -1, static_cast<int>(c)};
    for (const CommRank& rank : job.communicators[c].ranks) {
      if (rank.process >= 0) instance.processes.push_back(rank.process);
    }
    std::ranges::sort(instance.processes);
    result.push_back(std::move(instance));
  }
  return result;
}

/// "rank 3", "pid 4711 on node-a", "a process".
std::string process_name(const Job& job, int process) {
  const Process& known = nth_process(job, process);
  if (known.rank >= 0) return fmt::format("rank {}", known.rank);
  if (known.pid < 0) return known.host.empty() ? "a process" : "a process on " + known.host;
  return fmt::format("pid {}{}{}", known.pid, known.host.empty() ? "" : " on ", known.host);
}

std::string pair_name(const Job& job, const Instance& pair) {
  const int a = nth_process(job, pair.processes[0]).rank;
  const int b = nth_process(job, pair.processes[1]).rank;
  if (a >= 0 && b >= 0) return fmt::format("ranks {} and {}", std::min(a, b), std::max(a, b));
  return process_name(job, pair.processes[0]) + " and " + process_name(job, pair.processes[1]);
}

constexpr double kShareThatCounts = 0.1;

/// Two runs never take equally long: of seconds only what is several times as much counts, and by
/// so much. Of GB/s what is lost beyond the noise between runs does.
bool are_alike(const Quantity& a, const Quantity& b) {
  const bool is_time = a.unit == "s";
  const double least = is_time ? 3 : 0.2;
  const double ratio = is_time ? 3 : 1.25;
  const auto [less, more] = std::minmax(a.value, b.value);
  return more - less < least || more < less * ratio;
}

bool are_alike(const Shares& a, const Shares& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    const double apart = share_of(x.second, a) - share_of(y.second, b);
    return x.first == y.first && std::abs(apart) <= kShareThatCounts;
  });
}

bool are_alike(const FactValue::Set& a, const FactValue::Set& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return ncclog::are_alike(x, y); });
}

template <typename T>
bool are_alike(const T& a, const T& b) {
  return a == b;
}

constexpr uint64_t kFarthest = 400;  ///< Lines between the phase's output and what came of it.
/// The same where training lines were too many to keep, so that some may stand between unseen.
constexpr uint64_t kFarthestUnseen = 40;

/// The last kept line of kind T before a place in the same stretch of input; nothing: there is none.
template <typename T>
Record last_before(const Job& job, SourceRef where) {
  Record last;
  for (const ReadRecord& read : records_of_kind(job, kKindIndex<T>).records) {
    const SourceRef there = read.where();
    if (there.unit != where.unit || !(there < where)) continue;
    if (!last || last.where < there) last = read.record();
  }
  return last;
}

/// Lines of kind T may have been printed that were not kept.
template <typename T>
bool is_full(const Job& job) {
  return !records_of_kind(job, kKindIndex<T>).full.empty();
}

/// A bar's title, or the line itself.
std::string title_of(const Record& record) {
  const Event event = parse_record(record);
  const std::string_view text = trim(event.header.message);
  const TqdmBar bar = parse_progress_bar(text);
  return to_valid_utf8(bar.length > 0 ? bar.title : text.substr(0, 80));
}

}  // namespace

std::vector<Instance> instances_of(const Job& job, Scope scope) {
  switch (scope) {
    case Scope::Job:
      return {job_instance(job)};
    case Scope::Host:
    case Scope::Process:
    case Scope::Rank:
      return groups_of_processes(job, scope);
    case Scope::Communicator:
      return communicators(job);
    case Scope::RankPair:
      return rank_pairs(job);
  }
  return {};
}

Instance job_instance(const Job& job) {
  Instance instance;
  instance.processes.resize(job.processes.size());
  std::iota(instance.processes.begin(), instance.processes.end(), 0);
  return instance;
}

std::string name_of(const Job& job, const Instance& instance) {
  switch (instance.scope) {
    case Scope::Job:
      return "the job";
    case Scope::Host:
      return instance.host.empty() ? "a host" : instance.host;
    case Scope::Process:
      return process_name(job, instance.processes.front());
    case Scope::Rank:
      return instance.rank >= 0 ? fmt::format("rank {}", instance.rank)
                                : process_name(job, instance.processes.front());
    case Scope::Communicator:
      return "communicator " + nth_communicator(job, instance.communicator).id;
    case Scope::RankPair:
      return pair_name(job, instance);
  }
  return {};
}

std::string few_of(const std::vector<std::string>& parts, size_t most, std::string_view separator) {
  if (parts.size() <= most) return join(parts, separator);
  return fmt::format("{} and {} more", join(std::span(parts).first(most), separator),
                     parts.size() - most);
}

void AnswerParts::add(std::string word, Evidence line, int process) {
  if (said.insert(word).second) words.push_back(std::move(word));
  evidence.push_back(std::move(line));
  if (process >= 0) processes.push_back(process);
}

void AnswerParts::add_new(std::string word, Evidence line) {
  if (!said.contains(word)) add(std::move(word), std::move(line));
}

FactValue AnswerParts::answer(FactValue otherwise, std::string_view separator, size_t most) {
  if (words.empty()) return otherwise;
  sort_and_drop_repeats(processes);
  return yes(few_of(words, most, separator), std::move(evidence), std::move(processes));
}

std::span<const Fact> all_facts() {
  static const std::vector<Fact> facts = [] {
    std::vector<Fact> all;
    for (const std::span<const Fact> table :
         {job_facts(),        end_facts(),          rendezvous_facts(),    outcome_facts(),
          error_facts(),      interface_facts(),    connection_facts(),    setting_facts(),
          host_facts(),       pci_facts(),          odd_facts(),           hang_facts(),
          proxy_facts(),      mismatch_facts(),     early_end_facts(),     init_facts(),
          recorder_facts(),   watchdog_facts(),     watchdog_call_facts(), ras_facts(),
          perf_facts(),       node_set_facts(),     late_facts(),          transfer_facts(),
          report_facts(),     host_network_facts(), stack_facts(),         nccl_tests_facts(),
          gpu_memory_facts(), gpu_map_facts(),      port_list_facts(),     p2p_matrix_facts()}) {
      all.insert(all.end(), table.begin(), table.end());
    }
    std::ranges::sort(all, {}, &Fact::name);
    return all;
  }();
  return facts;
}

std::span<const JobTable> job_tables() {
  static const JobTable kTables[] = {kernel_event_table(), named_failure_table(),
                                     port_counter_table(), rank_conflict_table(),
                                     setting_remark_table()};
  return kTables;
}

std::string fact_text(const FactValue& value) {
  if (const bool* yes = std::get_if<bool>(&value.value)) return *yes ? "yes" : "no";
  if (const int64_t* number = std::get_if<int64_t>(&value.value)) return std::to_string(*number);
  if (const std::string* text = std::get_if<std::string>(&value.value)) return *text;
  return "unknown";
}

bool are_alike(const FactValue& a, const FactValue& b) {
  return std::visit(
      [](const auto& x, const auto& y) {
        if constexpr (std::is_same_v<decltype(x), decltype(y)>) return are_alike(x, y);
        return false;
      },
      a.value, b.value);
}

double share_of(int64_t count, const Shares& all) {
  double whole = 0;
  for (const auto& [what, n] : all) whole += static_cast<double>(n);
  return static_cast<double>(count) / whole;
}

std::string ranks_phrase(const std::vector<int>& ranks) {
  if (ranks.empty()) return {};
  const bool one = std::ranges::count(ranks, ranks.front()) == std::ssize(ranks);
  return (one ? "rank " : "ranks ") + short_ranges(ranks);
}

std::string processes_phrase(const Job& job, const std::vector<int>& processes) {
  std::vector<int> ranks;
  for (const int process : processes) ranks.push_back(nth_process(job, process).rank);
  if (std::ranges::count(ranks, -1) == 0) return ranks_phrase(ranks);
  return plural(std::ssize(processes), "process");
}

/// By number of ranks, how many communicators were inferred.
static std::map<int, size_t> count_inferred(const Job& job) {
  std::map<int, size_t> inferred;
  for (const Communicator& comm : job.communicators) {
    if (comm.inferred) ++inferred[comm.nranks];
  }
  return inferred;
}

bool may_mix_others(const Job& job, const Communicator& comm) {
  return comm.inferred && job.answers.of<&count_inferred>(job).at(comm.nranks) > 1;
}

bool are_ordered(const Job& job, SourceRef a, SourceRef b) {
  if (a.unit == b.unit) return true;
  const JobUnit* first = unit_of(job, a);
  const JobUnit* second = unit_of(job, b);
  return first != nullptr && second != nullptr && first->input == second->input;
}

std::optional<int64_t> nanoseconds_between(std::string_view from, std::string_view to) {
  const LineTime a = time_of_line(from);
  const LineTime b = time_of_line(to);
  if (!a.known() || !b.known() || a.has_zone != b.has_zone) return std::nullopt;
  if (a.year != b.year && a.year != 0 && b.year != 0) return std::nullopt;
  if (b.nanoseconds < a.nanoseconds) return std::nullopt;
  return b.nanoseconds - a.nanoseconds;
}

std::string clock_of(std::string_view line) {
  constexpr std::string_view kForm = "00:00:00";
  const std::string_view time = time_of_line(line).text;
  const auto fits = [](char c, char form) { return form == '0' ? is_digit(c) : c == form; };
  for (size_t at = 0; at + kForm.size() <= time.size(); ++at) {
    const std::string_view clock = time.substr(at, kForm.size());
    if (std::ranges::equal(clock, kForm, fits)) return std::string(clock);
  }
  return {};
}

FactValue rare_phase_before(const Job& job, const Evidence& line) {
  const std::string_view title = parse_header(line.text).prefix.progress_title;
  if (is_eval_title(title)) return yes(std::string(title), {line});

  const Record rare = last_before<EvalProgress>(job, line.where);
  if (!rare) return unknown();
  for (const Record& training :
       {last_before<ProgressBar>(job, line.where), last_before<IterationLine>(job, line.where)}) {
    if (training && rare.where < training.where) return unknown();
  }
  const uint64_t distance = line.where.line - rare.where.line;
  const bool may_be_unseen = is_full<ProgressBar>(job) || is_full<IterationLine>(job);
  const uint64_t farthest = may_be_unseen ? kFarthestUnseen : kFarthest;
  if (distance > farthest && !is_full<EvalProgress>(job)) return unknown();
  return yes(title_of(rare), {evidence_of(rare)});
}

}  // namespace ncclog
