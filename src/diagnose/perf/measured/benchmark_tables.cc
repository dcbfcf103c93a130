// What benchmarks of PyTorch programs measured: those of ml-engineering, DeepSpeed and PARAM, and
// tables of other scripts whose columns their headings name.
//
//   The average bandwidth of all_reduce over 8 ranks (5 warmups / 20 trials):
//   |   64MiB | 341.20GBps | 194.97GBps |       → a Measurement of AllReduce with a point at 64 MiB
//
//   0 data size: 4.0 GB
//    duration: 1.2750 sec
//    busbw: 49.4118  Gbps                       → the same with 6.18 GB/s: these are gigabits
//
// Units are brought to those of nccl-tests: GB/s, and the size that its algorithm bandwidth is
// about. DeepSpeed's throughput is twice that bandwidth for all_reduce, and its all_gather counts
// what one rank sends, so the algorithm bandwidth is computed here from size and time.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/perf/measured/headed_row.h"
#include "diagnose/perf/measured/measurement.h"
#include "log/known_messages.h"
#include "log/messages.h"

namespace ncclog {
namespace {

double number_said(std::string_view text) { return parse_decimal(text).value_or(-1); }

struct SizeUnit {
  std::string_view name;
  double bytes;
};

constexpr double kKibi = 1024;
constexpr double kMebi = kKibi * kKibi;
constexpr double kGibi = kMebi * kKibi;

/// Of ml-engineering's benchmarks: the binary units are named so.
constexpr SizeUnit kExactUnits[] = {{"KiB", kKibi}, {"MiB", kMebi}, {"GiB", kGibi}, {"iB", 1},
                                    {"KB", 1e3},    {"MB", 1e6},    {"GB", 1e9},    {"B", 1}};

/// Of DeepSpeed, which divides by 1024.
constexpr SizeUnit kBinaryUnits[] = {
    {"KB", kKibi}, {"MB", kMebi}, {"GB", kGibi}, {"TB", kGibi* kKibi}, {"B", 1}};

/// "32KiB", "512.0 MB" in bytes; -1: no size.
template <size_t n>
int64_t bytes_in(std::string_view size, const SizeUnit (&units)[n]) {
  const size_t end = std::min(size.find_first_not_of("0123456789."), size.size());
  const auto number = parse_decimal(size.substr(0, end));
  const auto* unit = std::ranges::find(units, trim(size.substr(end)), &SizeUnit::name);
  constexpr double kMost = 1e18;
  if (!number || unit == std::end(units) || *number * unit->bytes > kMost) return -1;
  return std::llround(*number * unit->bytes);
}

/// Bus bandwidth in GB/s of a number that may be in gigabits: of the two readings that one is right
/// with which the operation's factor is between a half and two.
double busbw_of(double printed, int64_t bytes, double time_us) {
  const double algbw = algbw_of(bytes, time_us);
  if (printed < 0 || algbw <= 0) return printed < 0 ? -1 : printed / kBits;
  constexpr double kBetween = 2.8;  // Factors reach 2, and 8 times the least of them is 4.
  return printed / algbw < kBetween ? printed : printed / kBits;
}

// Takes the lines of one process in order.
//
// Invariant: rows belong to the measurement that was opened last; without one, a row opens it.

class BenchmarkReader {
 public:
  explicit BenchmarkReader(int process) : process_(process) {}

  void add(const Record& record) {
    const Message message = parse_message(record);
    if (message.kind == nullptr || message.kind->library != Library::Benchmark) return;
    record_ = record;
    const bool is_between = message.kind->index == kKindIndex<BandwidthColumns> ||
                            message.kind->index == kKindIndex<RunHosts>;
    if (!is_between) title_.clear();
    take_one_of<BenchPayload, BenchDuration, BenchResult, BenchAverage, BenchHeading, BenchBusbw,
                TorchBenchRow, DsBenchHeading, DsBenchRow, DsCommsHeading, DsCommsOp, DsCommsRow,
                DsCommOp, ParamRow, OsuTitle, P2pMatrix, BandwidthColumns, BandwidthRow,
                BandwidthLine>(message);
  }

  /// What was measured; the trials of this process among it go to `trials`.
  std::vector<Measurement> take(std::vector<Measurement>& trials) {
    finish_trials();
    for (const size_t place : trials_) trials.push_back(std::move(all_[place]));
    const auto is_empty = [](const Measurement& one) { return one.points.empty(); };
    std::erase_if(trials, is_empty);
    std::erase_if(all_, is_empty);
    return std::move(all_);
  }

 private:
  /// What the lines belong to that come now.
  enum class Table { None, Trials, Torch, DeepSpeed, Summary, Stragglers, Param, Headed };

  template <typename... Kinds>
  void take_one_of(const Message& message) {
    const auto take_if = [&]<typename Kind>(const Kind*) {
      if (message.kind->index == kKindIndex<Kind>) take(read_message<Kind>(message));
    };
    (take_if(static_cast<const Kinds*>(nullptr)), ...);
  }

  Measurement& open(Table table, MeasuredBy by, std::string_view name, Operation op,
                    int nranks = -1) {
    finish_trials();
    table_ = table;
    payload_ = -1;
    Measurement& fresh = all_.emplace_back();
    fresh.by = by;
    fresh.name = name;
    fresh.op = op;
    fresh.nranks = nranks > 0 ? nranks : -1;
    fresh.process = process_;
    fresh.first = record_.where;
    return fresh;
  }

  void add_point(int64_t bytes, double time_us, double busbw, double algbw = -1) {
    if (busbw < 0) return;
    MeasuredPoint& point = all_.back().points.emplace_back();
    point.where = record_.where;
    point.text = record_.text();
    point.bytes = bytes;
    point.out_of_place = {time_us, algbw >= 0 ? algbw : algbw_of(bytes, time_us), busbw};
  }

  // all_reduce_bench.py in its first form: each rank prints each trial.

  void open_trials() {
    open(Table::Trials, MeasuredBy::TorchBench, kAllReduceBench, Operation::AllReduce);
    trials_.push_back(all_.size() - 1);
  }

  void take(const BenchPayload& said) {
    const double gigabytes = number_said(said.gigabytes);
    const int64_t bytes = std::llround(std::clamp(gigabytes, -1.0, 1e6) * 1e9);
    const bool goes_on =
        table_ == Table::Trials && (all_.back().points.empty() || payload_ == bytes);
    if (!goes_on) open_trials();
    payload_ = bytes > 0 ? bytes : -1;
  }

  void take(const BenchDuration& said) { seconds_ = said.seconds; }

  void take(const BenchResult& said) {
    const double seconds = number_said(seconds_);
    if (table_ != Table::Trials) open_trials();
    const double busbw = number_said(said.busbw);
    // Ranks write at once, so the duration that stands before may be another rank's. Those of one
    // trial differ by less than the count of ranks could show; the most frequent answer wins.
    if (payload_ > 0 && seconds > 0 && busbw > 0) {
      const double factor = busbw / kBits * seconds * 1e9 / static_cast<double>(payload_);
      constexpr double kOfMany = 1.9999;  // The factor of 20,000 ranks.
      if (factor < kOfMany) ++ranks_seen_[static_cast<int>(std::lround(2 / (2 - factor)))];
    }
    add_point(payload_, seconds > 0 ? seconds * 1e6 : -1, busbw < 0 ? -1 : busbw / kBits);
    seconds_ = {};
  }

  void take(const BenchAverage& said) {
    if (table_ != Table::Trials) open_trials();
    const double busbw = number_said(said.busbw);
    if (busbw < 0) return;
    all_.back().mean_busbw = busbw / kBits;
    add_point(payload_, -1, busbw / kBits);
  }

  /// Settles how many ranks the trials were of.
  void finish_trials() {
    const auto most =
        std::ranges::max_element(ranks_seen_, {}, [](const auto& seen) { return seen.second; });
    size_t all = 0;
    for (const auto& [ranks, times] : ranks_seen_) all += times;
    if (most != ranks_seen_.end() && 2 * most->second > all) {
      set_ranks_by_rows({most->first, most->first}, all_.back());
    }
    ranks_seen_.clear();
    seconds_ = {};
  }

  // ml-engineering's tables.

  void take(const BenchHeading& said) {
    const Operation op = operation_of_torch(said.op);
    open(Table::Torch, MeasuredBy::TorchBench,
         op == Operation::AllReduce ? kAllReduceBench : "torch-dist-bench.py", op, said.nranks);
    payload_ = bytes_in(said.payload, kExactUnits);
  }

  /// A row without a heading opens a table.
  void need_torch_table() {
    if (table_ == Table::Torch) return;
    open(Table::Torch, MeasuredBy::TorchBench, kAllReduceBench, Operation::Unknown);
  }

  void take(const TorchBenchRow& said) {
    need_torch_table();
    const int64_t bytes = said.payload.empty() ? payload_ : bytes_in(said.payload, kExactUnits);
    const double algbw = number_said(said.algbw);
    // Latencies are of single calls and bandwidths of several: the time is taken from the latter.
    const double time = algbw > 0 && bytes > 0 ? static_cast<double>(bytes) / algbw / 1e3 : -1;
    add_point(bytes, time, number_said(said.busbw), algbw);
  }

  void take(const BenchBusbw& said) {
    need_torch_table();
    add_point(payload_, -1, number_said(said.busbw));
  }

  // DeepSpeed's benchmarks.

  void take(const DsBenchHeading& said) {
    open(Table::DeepSpeed, MeasuredBy::DeepSpeed, "ds_bench", operation_of_torch(said.op),
         said.nranks);
  }

  void take(const DsBenchRow& said) {
    if (table_ != Table::DeepSpeed) {
      open(Table::DeepSpeed, MeasuredBy::DeepSpeed, "ds_bench", Operation::Unknown);
    }
    const size_t x = said.shape.find('x');
    const auto elements = parse_int(said.shape.substr(0, x));
    const auto width = parse_int(said.shape.substr(x + 1));
    constexpr int64_t kMost = int64_t{1} << 50;
    if (!elements || !width || *elements < 0 || *elements > kMost || *width < 1 || *width > 16) {
      return;
    }
    int64_t bytes = *elements * *width;
    if (all_.back().op == Operation::AllGather) {
      // DeepSpeed counts what one rank gives, nccl-tests what all have in the end.
      const int nranks = all_.back().nranks;
      const bool is_known = nranks > 0 && bytes > 0 && bytes <= (int64_t{1} << 58) / nranks;
      bytes = is_known ? bytes * nranks : -1;
    }
    const double time = number_said(said.time) * (said.time_unit == "ms" ? 1e3 : 1);
    add_point(bytes, time, busbw_of(number_said(said.busbw), bytes, time));
  }

  // DeepSpeed's comms logger: calls of a training.

  void take(const DsCommsHeading& said) {
    finish_trials();
    const bool is_bandwidth = said.columns.find("busbw") != said.columns.npos;
    table_ = is_bandwidth ? Table::Summary : Table::Stragglers;
    in_summary_ = false;
  }

  void take(const DsCommsOp& said) {
    if (table_ != Table::Summary) return;
    open(Table::Summary, MeasuredBy::DeepSpeed, kCommsLogger, operation_of_torch(said.op))
        .in_training = true;
    in_summary_ = true;
  }

  void take(const DsCommsRow& said) {
    if (table_ != Table::Summary || !in_summary_) return;
    const std::string size = std::string(said.size) + " " + std::string(said.size_unit);
    add_call(bytes_in(size, kBinaryUnits), number_said(said.time), number_said(said.busbw));
  }

  void take(const DsCommOp& said) {
    const Operation op = operation_of_torch(trim(said.op));
    const auto [known, is_new] = verbose_.try_emplace(op, all_.size());
    if (is_new) open(Table::None, MeasuredBy::DeepSpeed, kCommsLogger, op).in_training = true;
    // Rows are added to the last one.
    std::swap(all_[known->second], all_.back());
    add_call(bytes_in(trim(said.size), kBinaryUnits), number_said(said.time),
             number_said(said.busbw));
    std::swap(all_[known->second], all_.back());
  }

  void add_call(int64_t bytes, double milliseconds, double gigabits) {
    if (gigabits < 0) return;
    const bool gathers = all_.back().op == Operation::AllGather;
    const double time = milliseconds > 0 ? milliseconds * 1e3 : -1;
    add_point(gathers ? -1 : bytes, time, gigabits / kBits);
  }

  // PARAM.

  void take(const ParamRow& said) {
    const Operation op = operation_of_torch(said.op);
    const bool goes_on =
        table_ == Table::Param && all_.back().op == op && all_.back().datatype == said.datatype;
    if (!goes_on) open(Table::Param, MeasuredBy::TorchBench, "PARAM", op).datatype = said.datatype;
    add_point(said.size, number_said(said.time), number_said(said.busbw), number_said(said.algbw));
  }

  // Tables of other scripts.

  void take(const OsuTitle& said) {
    constexpr size_t kLongest = 64;
    title_ = "OSU " + to_valid_utf8(said.title.substr(0, kLongest));
  }

  /// Its rows are copies, and no calls.
  void take(const P2pMatrix&) {
    finish_trials();
    table_ = Table::None;
    columns_.clear();
  }

  void take(const BandwidthColumns& said) {
    finish_trials();
    table_ = Table::None;
    columns_ = said.columns;
    table_title_ = std::exchange(title_, {});
  }

  void take(const BandwidthRow& said) {
    if (columns_.empty()) return;
    add_row(read_headed_row(columns_, said.cells), table_title_);
  }

  void take(const BandwidthLine& said) {
    add_row(read_labelled_row(record_.text(), said.size, said.busbw), {});
  }

  /// `title`: what stands above the table; empty: nothing.
  void add_row(const HeadedRow& row, std::string_view title) {
    // Rows whose sizes do not rise are runs of different settings, each for itself.
    const bool goes_on = table_ == Table::Headed && all_.back().op == row.op &&
                         (row.nranks < 0 || all_.back().nranks == row.nranks) &&
                         all_.back().points.back().bytes < row.bytes;
    if (!goes_on)
      open(Table::Headed, MeasuredBy::Table, title.empty() ? "a benchmark" : title, row.op,
           row.nranks);
    MeasuredPoint& point = all_.back().points.emplace_back();
    point.where = record_.where;
    point.text = record_.text();
    point.bytes = row.bytes;
    point.out_of_place = row.value;
  }

  static constexpr std::string_view kAllReduceBench = "all_reduce_bench.py";
  static constexpr std::string_view kCommsLogger = "DeepSpeed's comms logger";

  int process_ = -1;
  Record record_;  ///< The line that is taken.
  std::vector<Measurement> all_;
  std::vector<size_t> trials_;  ///< Into all_.
  Table table_ = Table::None;
  std::string columns_;                  ///< The heading that came last.
  std::string table_title_;              ///< Of the table below it; empty: none.
  std::string title_;                    ///< Of the table whose heading comes next.
  int64_t payload_ = -1;                 ///< Bytes of each trial, where rows do not say.
  bool in_summary_ = false;              ///< An operation was named below the heading.
  std::string seconds_;                  ///< Of the duration before, as printed.
  std::map<int, size_t> ranks_seen_;     ///< How often a trial allows so many ranks.
  std::map<Operation, size_t> verbose_;  ///< By operation: into all_.
};

/// Where a launcher tells whose line is whose, each rank's trials are read for themselves, and
/// rank 0 alone says of how many bytes they are.
void join_trials(std::vector<Measurement>&& trials, std::vector<Measurement>& all) {
  const auto has_payload = [](const Measurement& one) { return one.points.front().bytes > 0; };
  const auto with = std::ranges::count_if(trials, has_payload);
  const auto first = std::ranges::find_if(trials, has_payload);
  for (Measurement& one : trials) {
    const bool joins = with == 1 && &one != &*first && one.process != first->process;
    if (!joins) continue;
    for (MeasuredPoint& point : one.points) {
      point.bytes = first->points.front().bytes;
      first->points.push_back(std::move(point));
    }
    one.points.clear();
  }
  for (Measurement& one : trials) {
    if (!one.points.empty()) all.push_back(std::move(one));
  }
}

/// What a heading would have said, from the two bandwidths of the rows: a quoted table has none.
void add_what_rows_tell(Measurement& one) {
  constexpr double kRounding = 0.005;  // The fewest decimals are two.
  constexpr double kAboveOne = 1.02;   // No other operation has such a factor.
  const MeasuredPoint& best = *std::ranges::max_element(one.points, {}, &MeasuredPoint::busbw);
  if (one.op == Operation::Unknown && best.out_of_place.algbw > 0 &&
      best.busbw() > kAboveOne * best.out_of_place.algbw) {
    one.op = Operation::AllReduce;
  }
  if (one.nranks > 0 || one.in_training) return;
  RankRange range;
  for (const MeasuredPoint& point : one.points) {
    range.narrow_to(ranks_by_ratio(one.op, point.out_of_place.algbw, point.busbw(), kRounding));
  }
  set_ranks_by_rows(range, one);
}

}  // namespace

std::vector<Measurement> benchmark_measurements(const Job& job) {
  std::vector<Measurement> all;
  std::vector<Measurement> trials;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    for (const size_t log : job.processes[p].logs) {
      BenchmarkReader reader(static_cast<int>(p));
      for (const Record record : job.logs[log].benchmarks->kept) reader.add(record);
      std::ranges::move(reader.take(trials), std::back_inserter(all));
    }
  }
  join_trials(std::move(trials), all);
  for (Measurement& one : all) add_what_rows_tell(one);
  return all;
}

}  // namespace ncclog
