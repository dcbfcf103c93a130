#include "diagnose/iterations/call_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/facts/job_facts.h"

namespace ncclog {
namespace {

// Which row does a call count in?
//
//   AllGather of rank 3 in iteration 7, by iteration and operation → row "7 AllGather"
//
// A training makes the same calls in a million iterations. So iterations in which no process
// changes what it calls share a row, which says how many they are.

/// CountKey::order of what has no place of its own.
constexpr int64_t kNowhere = std::numeric_limits<int64_t>::max();

/// A communicator by name, and by its size among the others of that size.
struct CommName {
  CountKey id{kNowhere, ""};
  CountKey size{kNowhere, ""};
};

/// Calls that are alike in everything that may be asked for.
struct CallFact {
  int process = -1;  ///< Into Job::processes; -1: a dump of its own.
  int rank = -1;
  std::string host;
  CommName comm;
  CountKey iteration{kNowhere, ""};
  int64_t iterations = 1;  ///< As CountRow::iterations.
  CountKey pattern{kNowhere, ""};
  OpName op;
  std::optional<uint64_t> size;  ///< Bytes of one call.
};

CountKey key_of(const CallFact& fact, CountBy dimension) {
  switch (dimension) {
    case CountBy::Op:
      return {0, fact.op.text()};
    case CountBy::Size:
      if (!fact.size) return {-1, ""};
      return {static_cast<int64_t>(*fact.size), std::to_string(*fact.size)};
    case CountBy::Comm:
      return fact.comm.id;
    case CountBy::CommSize:
      return fact.comm.size;
    case CountBy::Rank:
      return {fact.process >= 0 ? fact.process : kNowhere,
              fact.rank >= 0 ? std::to_string(fact.rank) : ""};
    case CountBy::Host:
      return {0, fact.host};
    case CountBy::Iteration:
      return fact.iteration;
    case CountBy::StepPattern:
      return fact.pattern;
  }
  return {};
}

/// Adds facts up to rows.
class CountRows {
 public:
  /// `by` must outlive the rows.
  explicit CountRows(const std::vector<CountBy>& by) : by_(by) {}

  bool wants(CountBy dimension) const { return std::ranges::count(by_, dimension) > 0; }

  void add(const CallFact& fact, const CallSum& sum) {
    if (sum.calls == 0) return;
    std::vector<CountKey> keys;
    for (const CountBy dimension : by_) keys.push_back(key_of(fact, dimension));
    Row& row = rows_[std::move(keys)];
    row.sum.add(sum);
    row.iterations = fact.iterations;
    row.processes.insert({fact.process, fact.rank});
  }

  /// Sorted by their keys.
  std::vector<CountRow> take() const {
    std::vector<CountRow> rows;
    for (const auto& [keys, row] : rows_) {
      rows.push_back(
          {keys, row.processes.begin()->first, row.sum, row.processes.size(), row.iterations});
    }
    return rows;
  }

 private:
  struct Row {
    CallSum sum;
    int64_t iterations = 1;
    std::set<std::pair<int, int>> processes;  ///< Process and rank.
  };

  const std::vector<CountBy>& by_;
  std::map<std::vector<CountKey>, Row> rows_;
};

/// The iterations at which some process begins to call something else.
std::set<int64_t> changes_of(const JobIterations& iterations) {
  std::set<int64_t> changes;
  for (const ProcessIterations& process : iterations.processes) {
    for (const IterationRun& run : process.runs) {
      changes.insert(run.first);
      // Iterations that cannot be told apart stand where the first of them stands.
      changes.insert(run.together > 1 ? run.first + 1 : run.last + 1);
    }
  }
  return changes;
}

constexpr int64_t kBefore = std::numeric_limits<int64_t>::min();
constexpr int64_t kAfter = std::numeric_limits<int64_t>::max() - 1;

std::optional<uint64_t> sum_of(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  if (!a || !b || *a > std::numeric_limits<uint64_t>::max() - *b) return std::nullopt;
  return *a + *b;
}

std::optional<uint64_t> times(std::optional<uint64_t> a, uint64_t n) {
  if (!a || (n > 0 && *a > std::numeric_limits<uint64_t>::max() / n)) return std::nullopt;
  return *a * n;
}

/// First and last of each range of iterations.
using IterationRanges = std::vector<std::pair<int64_t, int64_t>>;

std::string ranges_words(const IterationRanges& iterations) {
  constexpr size_t kMost = 6;
  std::vector<std::string> ranges;
  for (const auto& [first, last] : iterations) {
    if (ranges.size() == kMost) {
      ranges.push_back("...");
      break;
    }
    ranges.push_back(range_text(first, last));
  }
  return join(ranges, ",");
}

/// What processes call in iterations, and which iterations these are.
using PatternNames = std::map<IterationCalls, CountKey>;

PatternNames names_of(const JobIterations& iterations) {
  std::map<IterationCalls, IterationRanges> joined;
  for (const IterationPattern& pattern : iterations.patterns) {
    IterationRanges& ranges = joined[pattern];
    ranges.insert(ranges.end(), pattern.iterations.begin(), pattern.iterations.end());
  }
  PatternNames names;
  for (auto& [calls, ranges] : joined) {
    std::ranges::sort(ranges);
    names[calls] = {ranges.front().first, ranges_words(ranges)};
  }
  return names;
}

/// Counts the calls of one process.
class ProcessCount {
 public:
  ProcessCount(const Job& job, const ProcessCalls& calls, const std::vector<CommName>& comms,
               CountRows& rows)
      : job_(job), calls_(calls), log_(job.logs[calls.log]), comms_(comms), rows_(rows) {
    const Process& process = nth_process(job, calls.process);
    fact_.process = calls.process;
    fact_.rank = process.rank;
    fact_.host = process.host;
    at_least_ = process.cut || process.torn;
  }

  bool is_lower_bound() const { return at_least_; }

  void add_all() {
    for (size_t s = 0; s < log_.comms.all.size(); ++s) {
      fact_.comm = comms_[s];
      add_segment(calls_of(log_.comms.all[s]));
    }
    for (const CommSegment& segment : log_.unplaced) {
      fact_.comm = {};
      add_segment(calls_of(segment));
    }
  }

  void add_iterations(const ProcessIterations& found, const PatternNames& patterns,
                      const std::set<int64_t>& changes) {
    add_counts(found.before, {kBefore, "before"}, {kBefore, "before"}, 1);
    for (const IterationRun& run : found.runs) {
      const CountKey pattern = pattern_of(found, run, patterns);
      if (run.together > 1 || !rows_.wants(CountBy::Iteration)) {
        const auto times = run.together > 1 ? 1 : run.last - run.first + 1;
        add_counts(found.counts[run.calls], {run.first, range_text(run.first, run.last)}, pattern,
                   static_cast<uint64_t>(times));
        continue;
      }
      // Stretches in which no process changes what it calls.
      int64_t last = run.first - 1;
      while (last < run.last) {
        const int64_t first = last + 1;
        const auto next = changes.upper_bound(first);
        last = next == changes.end() ? run.last : std::min(run.last, *next - 1);
        fact_.iterations = last - first + 1;
        add_counts(found.counts[run.calls], {first, std::to_string(first)}, pattern, 1);
      }
      fact_.iterations = 1;
    }
    add_counts(found.after, {kAfter, "after"}, {kAfter, "after"}, 1);
  }

 private:
  VolumeKey volume_of(const CallSignature& call) const { return {call.op, call.datatype}; }

  /// `elements` as printed, in `calls` calls.
  CallSum sum_of_calls(const VolumeKey& key, uint64_t calls,
                       std::optional<uint64_t> elements) const {
    CallSum sum{calls, elements, std::nullopt, at_least_};
    if (elements) sum.bytes = bytes_of(*elements, key.datatype);
    if (may_count_bytes(key, job_.nccl_versions)) sum.elements = std::nullopt;
    return sum;
  }

  void add_segment(const CollectiveCalls& calls) {
    auto rest = calls.volumes.all;
    for (const auto& [call, n] : calls.by_signature.all) {
      if (!rows_.wants(CountBy::Size)) break;
      const VolumeKey key = volume_of(call);
      const auto count = static_cast<uint64_t>(std::max<int64_t>(0, call.count));
      const auto elements = times(count, n);
      fact_.op = call.op;
      fact_.size = call.count < 0 ? std::nullopt : bytes_of(count, call.datatype);
      rows_.add(fact_, sum_of_calls(key, n, elements));
      const auto volume = rest.find(key);
      if (volume == rest.end()) continue;
      volume->second.calls -= std::min(volume->second.calls, n);
      volume->second.elements -= std::min(volume->second.elements, elements.value_or(0));
    }
    fact_.size = std::nullopt;
    for (const auto& [key, volume] : rest) {
      fact_.op = key.op;
      rows_.add(fact_, sum_of_calls(key, volume.calls, volume.elements));
    }
    if (rows_.wants(CountBy::Size)) return;
    fact_.op = OpName();  // Of these nothing is kept.
    rows_.add(fact_, {calls.volumes.other, std::nullopt, std::nullopt, at_least_});
  }

  /// Elements of one call of a kind on the tape. Messages of all sizes are one kind there; where
  /// the process sent but one size, it is that.
  std::optional<uint64_t> elements_of(const CallTape::Entry& entry) const {
    if (entry.call.count >= 0) return static_cast<uint64_t>(entry.call.count);
    if (entry.segment < 0) return std::nullopt;
    const CollectiveCalls& calls = calls_of(log_.comms.all[entry.segment]);
    if (calls.by_signature.other > 0) return std::nullopt;
    std::optional<uint64_t> only;
    for (const auto& [call, n] : calls.by_signature.all) {
      const bool same = call.op == entry.call.op && call.datatype == entry.call.datatype &&
                        call.root == entry.call.root && call.count >= 0;
      if (!same) continue;
      const auto count = static_cast<uint64_t>(call.count);
      if (only && *only != count) return std::nullopt;
      only = count;
    }
    return only;
  }

  void add_counts(const CallCounts& counts, const CountKey& iteration, const CountKey& pattern,
                  uint64_t iterations) {
    fact_.iteration = iteration;
    fact_.pattern = pattern;
    for (const auto& [id, n] : counts) {
      const CallTape::Entry& entry = calls_.track->tape.entries()[id];
      const auto elements = elements_of(entry);
      fact_.comm = entry.segment < 0 ? CommName() : comms_[entry.segment];
      fact_.op = entry.call.op;
      fact_.size = elements ? bytes_of(*elements, entry.call.datatype) : std::nullopt;
      rows_.add(fact_, sum_of_calls(volume_of(entry.call), n * iterations,
                                    times(elements, n * iterations)));
    }
  }

  CountKey pattern_of(const ProcessIterations& found, const IterationRun& run,
                      const PatternNames& patterns) const {
    const auto name =
        patterns.find({by_operation(calls_, found.counts[run.calls]), run.together, run.cut_short});
    return name == patterns.end() ? CountKey{kNowhere - 2, "unlike most processes"} : name->second;
  }

  const Job& job_;
  const ProcessCalls& calls_;
  const SpeakerLog& log_;
  const std::vector<CommName>& comms_;
  CountRows& rows_;
  CallFact fact_;
  bool at_least_ = false;
};

/// By log and segment: which communicator it is.
std::vector<std::vector<CommName>> comm_names(const Job& job) {
  std::vector<std::vector<CommName>> names;
  for (const SpeakerLog& log : job.logs) names.emplace_back(log.comms.all.size());
  std::map<int, size_t> alike;
  for (const Communicator& comm : job.communicators) ++alike[comm.nranks];
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    std::string size = comm.nranks < 0 ? "unknown size" : fmt::format("{} ranks", comm.nranks);
    if (alike[comm.nranks] > 1) size = fmt::format("{} x {}", alike[comm.nranks], size);
    const CommName name{{static_cast<int64_t>(c), comm.id}, {-int64_t{comm.nranks}, size}};
    for (const CommRank& rank : comm.ranks) {
      if (rank.log < 0 || rank.segment < 0) continue;
      names[rank.log][rank.segment] = name;
    }
  }
  return names;
}

/// Elements and bytes of a recorded call, in the sense of NCCL's count: of the tensors that are
/// sent, or of those that are received where the count is about these. PyTorch records the parts
/// of all peers together for AlltoAll, Gather and Scatter, so those stay unknown.
CallSum sum_of_entry(const FlightRecorderEntry& entry, Operation operation, bool at_least) {
  CallSum sum{1, 0, 0, at_least};
  const OperationTraits& traits = traits_of(operation);
  if (!traits.has_kernel() && !traits.is_message()) {
    sum.elements = sum.bytes = std::nullopt;
    return sum;
  }
  const bool received = traits.counts_received();
  const TensorSizes& tensors = received ? entry.output_sizes : entry.input_sizes;
  const auto& types = received ? entry.output_dtypes : entry.input_dtypes;
  for (size_t t = 0; t < tensors.size(); ++t) {
    std::optional<uint64_t> elements = 1;
    for (const int64_t size : tensors[t]) {
      elements = times(elements, static_cast<uint64_t>(std::max<int64_t>(0, size)));
    }
    const auto bytes = t < types.size() ? torch_type_bytes(types[t]) : std::nullopt;
    sum.elements = sum_of(sum.elements, elements);
    sum.bytes =
        sum_of(sum.bytes, bytes ? times(elements, static_cast<uint64_t>(*bytes)) : std::nullopt);
  }
  return sum;
}

/// Counts dumps of processes that have no other source.
void add_dumps(const Job& job, const JobCalls& calls, CountRows& rows, CallCountTable& table) {
  std::set<int> counted;
  std::set<int> ranks;
  for (const ProcessCalls& process : calls.processes) {
    counted.insert(process.process);
    ranks.insert(nth_process(job, process.process).rank);
  }
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    // Where ranks of the logs are unknown, one of them may be this dump's process.
    const bool is_process = dump.process >= 0 && !counted.contains(dump.process);
    const bool is_other =
        dump.process < 0 && dump.rank >= 0 && !ranks.contains(-1) && !ranks.contains(dump.rank);
    if (dump.entries.empty() || !(is_process || is_other)) continue;
    if (is_process) counted.insert(dump.process);
    ranks.insert(dump.rank);
    const int64_t first = dump.entries.front().record_id;
    const bool at_least = first != 0;
    CallFact fact;
    fact.process = dump.process;
    fact.rank = dump.rank;
    if (dump.process >= 0) fact.host = nth_process(job, dump.process).host;
    for (const FlightRecorderEntry& entry : dump.entries) {
      const Operation operation = recorded_operation(entry.profiling_name);
      const bool is_known = operation != Operation::Unknown;
      fact.op = is_known ? name_of(operation) : std::string_view(entry.profiling_name);
      fact.comm.id = {kNowhere - 1, entry.description.empty() ? entry.group : entry.description};
      fact.comm.size = fact.comm.id;
      const CallSum sum = sum_of_entry(entry, operation, at_least);
      fact.size = sum.bytes;
      rows.add(fact, sum);
    }
    ++table.dump_processes;
    table.cut_processes += at_least ? 1 : 0;
  }
}

}  // namespace

std::string range_text(int64_t first, int64_t last) {
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

bool may_count_bytes(const VolumeKey& key, const std::vector<std::string>& versions) {
  if (key.datatype != 0) return false;
  if (!traits_of(key.op.operation()).may_count_bytes()) return false;
  return versions.empty() || std::ranges::any_of(versions, [](const std::string& version) {
           return compare_releases(version, "2.7.3") >= 0 &&
                  compare_releases(version, "2.21.5") <= 0;
         });
}

std::optional<uint64_t> bytes_of(uint64_t elements, int datatype) {
  const auto size = datatype_bytes(datatype);
  if (!size) return std::nullopt;
  const auto bytes = static_cast<uint64_t>(*size);
  if (elements > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / bytes) {
    return std::nullopt;
  }
  return elements * bytes;
}

std::optional<int> torch_type_bytes(std::string_view name) {
  // c10/core/ScalarType.h.
  static constexpr std::pair<std::string_view, int> kRows[] = {
      {"Byte", 1},        {"Char", 1},         {"Short", 2},           {"Int", 4},
      {"Long", 8},        {"Half", 2},         {"Float", 4},           {"Double", 8},
      {"ComplexHalf", 4}, {"ComplexFloat", 8}, {"ComplexDouble", 16},  {"Bool", 1},
      {"BFloat16", 2},    {"Float8_e5m2", 1},  {"Float8_e4m3fn", 1},   {"UInt16", 2},
      {"UInt32", 4},      {"UInt64", 8},       {"Float8_e5m2fnuz", 1}, {"Float8_e4m3fnuz", 1},
  };
  const auto* found = std::ranges::find(kRows, name, [](const auto& row) { return row.first; });
  return found == std::end(kRows) ? std::nullopt : std::optional(found->second);
}

void CallSum::add(const CallSum& more) {
  calls += more.calls;
  elements = sum_of(elements, more.elements);
  bytes = sum_of(bytes, more.bytes);
  at_least |= more.at_least;
}

CallCountTable count_calls(const Job& job, const JobCalls& calls, const JobIterations* iterations,
                           const std::vector<CountBy>& by) {
  CallCountTable table;
  CountRows rows(by);
  const bool by_iteration = rows.wants(CountBy::Iteration) || rows.wants(CountBy::StepPattern);
  const std::vector<std::vector<CommName>> comms = comm_names(job);
  if (!by_iteration) iterations = nullptr;
  const PatternNames patterns = iterations != nullptr ? names_of(*iterations) : PatternNames();
  const std::set<int64_t> changes =
      iterations != nullptr ? changes_of(*iterations) : std::set<int64_t>();
  for (size_t i = 0; i < calls.processes.size(); ++i) {
    const ProcessCalls& process = calls.processes[i];
    ProcessCount count(job, process, comms[process.log], rows);
    if (iterations != nullptr) {
      count.add_iterations(iterations->processes[i], patterns, changes);
    } else {
      count.add_all();
    }
    ++(process.traces ? table.trace_processes : table.coll_processes);
    table.cut_processes += count.is_lower_bound() ? 1 : 0;
    const CallTape& tape = process.track->tape;
    table.unkept_processes += tape.kept() < tape.total() ? 1 : 0;
    table.unkept_calls += tape.total() - tape.kept();
  }
  add_dumps(job, calls, rows, table);
  table.rows = rows.take();
  return table;
}

}  // namespace ncclog
