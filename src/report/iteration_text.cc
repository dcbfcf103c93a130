#include "report/iteration_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

constexpr size_t kRangesShown = 8;
constexpr size_t kOddShown = 8;
constexpr size_t kDepartingShown = 6;
constexpr size_t kDeparturesKept = 10000;

std::string range_text(int64_t first, int64_t last) {
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

/// "iteration 0", "iterations 1-5, 7".
std::string iterations_text(const std::vector<std::pair<int64_t, int64_t>>& ranges) {
  std::vector<std::string> parts;
  for (const auto& [first, last] : ranges) {
    if (parts.size() == kRangesShown) {
      parts.push_back(fmt::format("and {} more ranges", ranges.size() - kRangesShown));
      break;
    }
    parts.push_back(range_text(first, last));
  }
  const bool one = ranges.size() == 1 && ranges[0].first == ranges[0].second;
  return (one ? "iteration " : "iterations ") + join(parts, ", ");
}

/// "+ 1 Broadcast, - 1 AllReduce"; empty if nothing differs.
std::string difference_text(const OpCounts& calls, const OpCounts& usual) {
  std::set<std::string> ops;
  for (const auto& [op, n] : calls) ops.insert(op);
  for (const auto& [op, n] : usual) ops.insert(op);
  const auto count = [](const OpCounts& counts, const std::string& op) {
    const auto found = counts.find(op);
    return found == counts.end() ? uint64_t{0} : found->second;
  };
  std::vector<std::string> parts;
  for (const std::string& op : ops) {
    const uint64_t here = count(calls, op);
    const uint64_t there = count(usual, op);
    if (here > there) parts.push_back(fmt::format("+ {} {}", here - there, op));
    if (here < there) parts.push_back(fmt::format("- {} {}", there - here, op));
  }
  return join(parts, ", ");
}

bool only_adds(const OpCounts& calls, const OpCounts& usual) {
  return std::all_of(usual.begin(), usual.end(), [&](const auto& entry) {
    const auto found = calls.find(entry.first);
    return found != calls.end() && found->second >= entry.second;
  });
}

std::string process_text(const Job& job, int index) {
  const Process& process = job.processes[static_cast<size_t>(index)];
  if (process.rank >= 0) return fmt::format("rank {}", process.rank);
  return fmt::format("pid {} on {}", process.pid, process.host);
}

class Text {
 public:
  Text(const Job& job, const JobCalls& calls, const JobIterations& found)
      : job_(job), calls_(calls), found_(found) {
    for (const IterationPattern& pattern : found.patterns) {
      for (const auto& [first, last] : pattern.iterations) ranges_[first] = {last, &pattern};
    }
  }

  std::vector<std::string> take() {
    for (const ProcessIterations& process : found_.processes) {
      find_departures(process, departures_);
    }
    add_cut();
    add_certainty();
    add_patterns();
    add_departing();
    add_outside();
    return std::move(all_);
  }

 private:
  size_t processes_by(CutBy by) const {
    return static_cast<size_t>(
        std::count_if(found_.processes.begin(), found_.processes.end(),
                      [&](const ProcessIterations& process) { return process.by == by; }));
  }

  void add_cut() {
    const size_t aligned = processes_by(CutBy::MarkerAligned);
    const size_t raw = processes_by(CutBy::Marker);
    const std::string marker = found_.preset.empty()
                                   ? std::string("the marker that was asked for")
                                   : fmt::format("the lines of preset '{}'", found_.preset);
    const std::string drift = fmt::format(
        "That is one process's clock: when it ticks, others have made up to {} too many, or have "
        "up to {} still to make",
        plural(found_.ahead, "call"), found_.behind);
    if (aligned > 0) {
      all_.push_back(fmt::format(
          "Iterations begin at {}. {}; each process is cut where its own calls begin anew.", marker,
          drift));
    }
    if (raw > 0 && found_.exact) {
      all_.push_back(fmt::format("Iterations are cut exactly at {}. {}.", marker, drift));
    } else if (raw > 0) {
      all_.push_back(fmt::format("In {} nothing repeats itself: {} cut where they stand.",
                                 plural(raw, "process"), marker));
    }
  }

  /// How much of their calls the repeats explain, in processes that are cut by them alone.
  void add_certainty() {
    std::map<size_t, size_t> periods;
    size_t least = 0;
    size_t most = 0;
    double covered = 1;
    size_t processes = 0;
    for (const ProcessIterations& process : found_.processes) {
      if (process.by != CutBy::Period || process.repeats == 0) continue;
      least = processes == 0 ? process.repeats : std::min(least, process.repeats);
      most = std::max(most, process.repeats);
      const auto total = static_cast<double>(calls_.processes[process.calls].track->tape.kept());
      covered = std::min(covered, static_cast<double>(process.repeats * process.period) / total);
      ++periods[process.period];
      ++processes;
    }
    if (processes == 0) return;
    const auto usual =
        std::max_element(periods.begin(), periods.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    all_.push_back(fmt::format(
        "{} {} no marker in {} own {}: iterations are the calls that {} over and over. {} calls "
        "repeat {} times in one piece; that is {}% of a process's calls or more.",
        plural(processes, "process"), processes == 1 ? "has" : "have",
        processes == 1 ? "its" : "their", processes == 1 ? "file" : "files",
        processes == 1 ? "it makes" : "they make", usual->first,
        range_text(static_cast<int64_t>(least), static_cast<int64_t>(most)),
        static_cast<int>(100 * covered)));
  }

  void add_patterns() {
    const IterationPattern& usual = found_.patterns[usual_pattern(found_.patterns)];
    const bool one =
        usual.iterations.size() == 1 && usual.iterations[0].first == usual.iterations[0].second;
    all_.push_back(fmt::format("{} {}: {}{}{}.", iterations_text(usual.iterations),
                               one                  ? "calls"
                               : usual.together > 1 ? "call together"
                                                    : "are identical",
                               calls_text(usual.calls), in_processes(usual),
                               usual.cut_short ? ", and the calls end there" : ""));
    int64_t first = usual.iterations.front().first;
    for (const IterationPattern& pattern : found_.patterns) {
      first = std::min(first, pattern.iterations.front().first);
    }
    size_t shown = 0;
    for (const IterationPattern& pattern : found_.patterns) {
      if (&pattern == &usual) continue;
      if (++shown > kOddShown) continue;
      add_odd(pattern, usual, first);
    }
    if (shown > kOddShown) {
      all_.push_back(
          fmt::format("{} more kinds of iterations are left out here.", shown - kOddShown));
    }
  }

  /// True if a process calls something else in one of those iterations.
  bool is_departed_from(const IterationPattern& pattern) const {
    return std::any_of(departures_.begin(), departures_.end(), [&](const auto& entry) {
      return std::any_of(
          pattern.iterations.begin(), pattern.iterations.end(), [&](const auto& range) {
            return entry.first.first <= range.second && range.first <= entry.first.last;
          });
    });
  }

  std::string in_processes(const IterationPattern& pattern) const {
    const bool all_alike = pattern.processes == pattern.present;
    if (all_alike && is_departed_from(pattern)) {
      return fmt::format(" in most of {}", plural(pattern.present, "process"));
    }
    if (all_alike) {
      return fmt::format(" in {}{}", pattern.present == 1 ? "" : "each of ",
                         plural(pattern.present, "process"));
    }
    return fmt::format(" in {} of {}", pattern.processes, plural(pattern.present, "process"));
  }

  void add_odd(const IterationPattern& pattern, const IterationPattern& usual, int64_t first) {
    const std::string iterations = iterations_text(pattern.iterations);
    const bool one = iterations.starts_with("iteration ");
    const bool fewer = pattern.present < usual.present;
    const std::string where = fewer ? in_processes(pattern) : "";
    if (pattern.together > 1) {
      all_.push_back(fmt::format("{} cannot be told apart: together {}{}.", iterations,
                                 calls_text(pattern.calls), where));
      return;
    }
    const std::string difference = difference_text(pattern.calls, usual.calls);
    if (difference.empty()) {
      if (fewer) all_.push_back(fmt::format("{}: the same{}.", iterations, where));
      return;
    }
    const bool later = pattern.iterations.front().first != first;
    const bool adds = later && only_adds(pattern.calls, usual.calls);
    all_.push_back(fmt::format("{} {}: {}{}{}{}.", iterations, one ? "differs" : "differ",
                               difference, where, adds ? " (a checkpoint or an evaluation?)" : "",
                               pattern.cut_short ? "; the calls end there" : ""));
  }

  /// What a process calls unlike most in some iterations.
  struct Departure {
    int64_t first = 0;
    int64_t last = 0;
    std::string difference;

    auto operator<=>(const Departure&) const = default;
  };

  void find_departures(const ProcessIterations& process,
                       std::map<Departure, std::vector<int>>& departures) const {
    const ProcessCalls& calls = calls_.processes[process.calls];
    for (const IterationRun& run : process.runs) {
      const OpCounts own = by_operation(calls, process.counts[run.calls]);
      // A run may reach over iterations in which most processes do different things.
      auto range = ranges_.upper_bound(run.first);
      if (range != ranges_.begin()) --range;
      for (; range != ranges_.end() && range->first <= run.last; ++range) {
        const auto& [last, pattern] = range->second;
        const bool same = own == pattern->calls && run.cut_short == pattern->cut_short;
        if (last < run.first || same || departures.size() > kDeparturesKept) continue;
        std::string difference = difference_text(own, pattern->calls);
        if (difference.empty()) difference = "the same calls";
        if (run.cut_short) difference += "; its calls end there";
        departures[{std::max(range->first, run.first), std::min(last, run.last), difference}]
            .push_back(calls.process);
      }
    }
  }

  /// "rank 5", "ranks 0-3 (4 processes)", "2 processes (pid 41 on node-a, …)".
  std::string processes_text(const std::vector<int>& processes) const {
    std::vector<int> ranks;
    for (const int p : processes) ranks.push_back(job_.processes[static_cast<size_t>(p)].rank);
    const bool known = std::all_of(ranks.begin(), ranks.end(), [](int rank) { return rank >= 0; });
    if (known) return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", ranges_text(ranks));
    const std::string first = process_text(job_, processes.front());
    return processes.size() == 1
               ? first
               : fmt::format("{} and {} more processes", first, processes.size() - 1);
  }

  void add_departing() {
    size_t shown = 0;
    for (const auto& [departure, processes] : departures_) {
      if (++shown > kDepartingShown) break;
      all_.push_back(fmt::format("{} unlike most processes in {}: {}.", processes_text(processes),
                                 iterations_text({{departure.first, departure.last}}),
                                 departure.difference));
    }
    if (departures_.size() > kDepartingShown) {
      all_.push_back(fmt::format(
          "{} more differences between processes are left out here; --by step-pattern,rank,op "
          "shows all.",
          departures_.size() - kDepartingShown));
    }
  }

  /// What most processes call outside of their iterations.
  void add_outside() {
    std::map<std::pair<OpCounts, OpCounts>, size_t> outside;
    for (const ProcessIterations& process : found_.processes) {
      if (process.runs.empty()) continue;
      const ProcessCalls& calls = calls_.processes[process.calls];
      ++outside[{by_operation(calls, process.before), by_operation(calls, process.after)}];
    }
    const auto usual =
        std::max_element(outside.begin(), outside.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (usual == outside.end()) return;
    all_.push_back(fmt::format("before the first iteration: {}; behind the last one: {}{}.",
                               calls_text(usual->first.first), calls_text(usual->first.second),
                               outside.size() > 1 ? "; in most processes" : ""));
    if (found_.unsplit > 0) {
      all_.push_back(fmt::format("In {} no iteration was found; its calls are \"before\".",
                                 plural(found_.unsplit, "process")));
    }
  }

  const Job& job_;
  const JobCalls& calls_;
  const JobIterations& found_;
  /// What most processes call: by first iteration of a range, its last one and the pattern.
  std::map<int64_t, std::pair<int64_t, const IterationPattern*>> ranges_;
  std::map<Departure, std::vector<int>> departures_;  ///< With the processes that depart so.
  std::vector<std::string> all_;
};

}  // namespace

std::string calls_text(const OpCounts& calls) {
  std::vector<std::pair<std::string, uint64_t>> sorted(calls.begin(), calls.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [op, n] : sorted) parts.push_back(fmt::format("{} {}", n, op));
  return parts.empty() ? "no calls" : join(parts, ", ");
}

std::vector<std::string> iteration_text(const Job& job, const JobCalls& calls,
                                        const JobIterations& found) {
  return Text(job, calls, found).take();
}

}  // namespace ncclog
