#include "diagnose/perf/measured/measurement.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/facts/fact.h"

namespace ncclog {
namespace {

/// By how much factors of the operation grow towards many ranks; 0: not at all.
double limit_of_factor(Operation op) {
  constexpr int kMany = 1 << 30;
  const double limit = bus_factor(op, kMany);
  return bus_factor(op, 2) < limit * 0.75 ? std::round(limit) : 0;
}

/// The ranks for which the operation's factor is between the two.
RankRange ranks_by_factor(double limit, double least, double most) {
  // factor = limit * (n - 1) / n; n = limit / (limit - factor).
  constexpr double kSlack = 1e-7;
  constexpr double kMost = RankRange::kMost;
  RankRange range;
  if (least >= limit) return {.least = 1, .most = 0};
  if (least > 0) {
    const double ranks = limit / (limit - least * (1 - kSlack));
    range.least = static_cast<int>(std::clamp(std::ceil(ranks), 1.0, kMost));
  }
  if (most * (1 + kSlack) < limit) {
    const double ranks = limit / (limit - std::max(most, 0.0) * (1 + kSlack));
    range.most = static_cast<int>(std::clamp(std::floor(ranks), 0.0, kMost));
  }
  return range;
}

// Which operation was tested?
//
//   # Collective test starting: all_reduce_perf      by name; 2.17 and later print it
//   $ mpirun -np 16 ./build/sendrecv_perf …          by the command (model/derive/summary.cc)
//   16384  512  float  none  -1 …  logs/alltoall.log by the columns, and the file's name between
//                                                    those that the columns allow

Operation op_of_test(std::string_view test) {
  // Programs may have more behind the name: "_perf_mpi". Files of rccl-tests name the operation.
  const Operation found = operation_of(test.substr(0, test.find("_perf")), AliasSource::Test);
  return found == Operation::Unknown ? operation_of(test) : found;
}

/// The row of the largest size that has elements; nullptr: there is none.
const NcclTestsRow* largest_row(const NcclTestsRun& run) {
  const auto row = std::ranges::max_element(run.rows, {}, &NcclTestsRow::size);
  return row == run.rows.end() || row->size <= 0 ? nullptr : &*row;
}

/// Bytes of an element, by the names of nccl-tests, rccl-tests and PyTorch; 0: unknown.
int64_t element_bytes(std::string_view datatype) {
  constexpr std::string_view kByWidth[] = {
      "int8 uint8 char f8e4m3 f8e5m2 fp8_e4m3 fp8_e5m2 fp8e4m3 fp8e5m2",
      "half float16 fp16 bfloat16 bf16", "float float32 int int32 uint32",
      "double float64 int64 uint64"};
  int64_t width = 1;
  for (const std::string_view names : kByWidth) {
    if (std::ranges::count(split_blanks(names), datatype) > 0) return width;
    width *= 2;
  }
  return 0;
}

/// By how much the size of a row exceeds its count; 0: it does not say, 1: they are the same.
/// nccl-tests prints the count of each rank where ranks have parts of the whole.
int ranks_by_count(const NcclTestsRow& row) {
  const int64_t width = element_bytes(row.datatype);
  constexpr int64_t kMostElements = int64_t{1} << 56;
  if (width == 0 || row.count <= 0 || row.count > kMostElements || row.size <= 0) return 0;
  const int64_t ranks = row.size / (row.count * width);
  const bool is_whole = ranks > 0 && ranks * row.count * width == row.size;
  return is_whole && ranks < RankRange::kMost ? static_cast<int>(ranks) : 0;
}

/// busbw by algbw, of the row with most bandwidth; 0: none.
double ratio_of(const NcclTestsRun& run) {
  double best = 0;
  double ratio = 0;
  for (const NcclTestsRow& row : run.rows) {
    for (const NcclTestsValues* values : {&row.out_of_place, &row.in_place}) {
      const double algbw = parse_decimal(values->algbw).value_or(0);
      const double busbw = parse_decimal(values->busbw).value_or(0);
      if (algbw <= best || busbw <= 0) continue;
      best = algbw;
      ratio = busbw / algbw;
    }
  }
  return ratio;
}

using Ops = std::vector<Operation>;

/// The operations that print such columns.
Ops ops_by_columns(const NcclTestsRun& run) {
  const NcclTestsRow* row = largest_row(run);
  if (row == nullptr) return {};
  const bool reduces = !row->redop.empty() && row->redop != "none";
  const bool has_parts = ranks_by_count(*row) > 1;
  const bool has_root = row->root >= 0;
  using enum Operation;
  if (reduces && has_root) return {Reduce};
  if (reduces && has_parts) return {ReduceScatter};
  if (has_root) return has_parts ? Ops{Scatter, Gather} : Ops{Broadcast};
  if (has_parts) return {AllGather, AlltoAll};
  if (!reduces) return {};
  // The factor of two ranks is 1, as that of messages, whatever their number.
  constexpr double kAboveOne = 1.02;
  if (ratio_of(run) >= kAboveOne) return {AllReduce};
  const bool checks_one_way = row->in_place.wrong == "N/A" && row->out_of_place.wrong != "N/A";
  if (run.nranks > 2 || checks_one_way) return {SendRecv};
  return {AllReduce, SendRecv};
}

/// What the name of the file says that holds `where`.
Operation op_in_path(const Job& job, SourceRef where) {
  std::string path = file_line(job, where).path;
  path.erase(0, path.rfind('/') + 1);
  std::erase_if(path, [](char c) { return c == '_' || c == '-' || c == '.'; });
  path = lower_case(path);
  for (const OperationAlias& row : kOperationAliases) {
    if (row.is_used_by(AliasSource::File) && path.find(row.text) != path.npos) return row.operation;
  }
  return Operation::Unknown;
}

Operation op_of(const Job& job, const NcclTestsRun& run) {
  if (!run.test.empty()) return op_of_test(run.test);
  const Ops ops = ops_by_columns(run);
  if (ops.empty()) return Operation::Unknown;
  const Operation named = op_in_path(job, run.first);
  return std::ranges::find(ops, named) != ops.end() ? named : ops.front();
}

// How many ranks, on how many hosts?

/// The ranks whose bandwidth is printed: those of the first group, where there are several.
std::vector<NcclTestsPlace> measured_places(const NcclTestsRun& run) {
  std::vector<NcclTestsPlace> places;
  for (const NcclTestsPlace& place : run.places) {
    if (place.group == run.places.front().group) places.push_back(place);
  }
  return places;
}

/// All ranks of the test are listed: people quote the last one or two.
bool are_all_listed(const NcclTestsRun& run) {
  std::set<int> ranks;
  for (const NcclTestsPlace& place : run.places) ranks.insert(place.rank);
  return !ranks.empty() && *ranks.begin() == 0 && std::cmp_equal(*ranks.rbegin() + 1, ranks.size());
}

void count_ranks(const NcclTestsRun& run, Measurement& measurement) {
  const bool are_all = are_all_listed(run);
  const int listed = static_cast<int>(are_all ? measured_places(run).size() : 0);
  const NcclTestsRow* row = largest_row(run);
  const bool has_parts = bus_factor(measurement.op, 2) == 0.5;
  const int by_count = row != nullptr && has_parts ? ranks_by_count(*row) : 0;
  std::vector<RankRange> ranges;
  for (const NcclTestsRow& each : run.rows) {
    for (const NcclTestsValues* values : {&each.out_of_place, &each.in_place}) {
      ranges.push_back(ranks_by_row(measurement.op, each.size, values->time, values->busbw));
    }
  }
  // What all rows together allow; those that tell most go first, as others may contradict them.
  std::ranges::stable_sort(ranges, {}, [](const RankRange& one) { return one.most - one.least; });
  RankRange range;
  for (const RankRange& one : ranges) range.narrow_to(one);
  const int last = run.nranks;
  if (by_count > 0 && range.holds(by_count)) {
    measurement.nranks = by_count;
  } else if (listed > 0 && range.holds(listed)) {
    measurement.nranks = listed;
  } else if (last > 0 && range.holds(last)) {
    measurement.nranks = last;  // The last one that is quoted is mostly the last one.
  } else {
    set_ranks_by_rows(range, measurement);
    if (measurement.nranks < 0 && last > 0) measurement.nranks = last;
  }
}

/// "0000:52:00": with its domain, so that it names one GPU of a host. The bus alone, as older
/// releases print it, is the same for several GPUs of some machines: "0x01", "0x00".
bool names_one_gpu(std::string_view bus_id) { return std::ranges::count(bus_id, ':') >= 2; }

/// Two ranks on the same GPU of one host. Equal pids, or ones far apart, are of two machines with
/// the same name: what one launcher starts on one host it starts at once.
bool share_a_gpu(const NcclTestsPlace& a, const NcclTestsPlace& b) {
  constexpr int64_t kStartedTogether = 1000;
  const bool is_same = a.host == b.host && a.bus_id == b.bus_id && names_one_gpu(a.bus_id);
  if (!is_same || a.rank == b.rank) return false;
  if (a.pid == b.pid) return a.device == b.device && a.pid >= 0;
  return std::abs(a.pid - b.pid) <= kStartedTogether;
}

/// The number of hosts where the end of the list alone is quoted: the last rank is on the last GPU
/// of the last host. -1: its device does not tell, as where each process sees one GPU.
int hosts_by_last_rank(const NcclTestsRun& run, int nranks) {
  const auto last = std::ranges::max_element(run.places, {}, &NcclTestsPlace::rank);
  if (last == run.places.end() || last->rank + 1 != nranks || last->device < 1) return -1;
  const int per_host = last->device + 1;
  return nranks % per_host == 0 ? nranks / per_host : -1;
}

void add_places(const NcclTestsRun& run, Measurement& measurement) {
  std::set<std::string> hosts;
  std::set<std::string> gpus;
  std::map<std::pair<std::string, std::string>, std::vector<const NcclTestsPlace*>> by_gpu;
  const std::vector<NcclTestsPlace> places = run.places.empty() ? run.places : measured_places(run);
  for (const NcclTestsPlace& place : places) {
    hosts.insert(place.host);
    gpus.insert(place.gpu);
    by_gpu[{place.host, place.bus_id}].push_back(&place);
  }
  gpus.erase("");
  measurement.hosts.assign(hosts.begin(), hosts.end());
  measurement.gpus.assign(gpus.begin(), gpus.end());
  size_t namesakes = 1;  // Machines of one name, by their GPUs.
  for (const auto& [gpu, ranks] : by_gpu) {
    for (size_t i = 1; i < ranks.size(); ++i) {
      measurement.shares_gpu |= share_a_gpu(*ranks[i - 1], *ranks[i]);
    }
    if (names_one_gpu(gpu.second)) namesakes = std::max(namesakes, ranks.size());
  }
  if (places.empty()) return;
  if (!are_all_listed(run)) {
    measurement.nhosts = hosts_by_last_rank(run, measurement.nranks);
    // Some of the hosts are not the hosts.
    if (measurement.nhosts != static_cast<int>(hosts.size())) measurement.hosts.clear();
  } else if (hosts.size() == 1 && !measurement.shares_gpu) {
    measurement.nhosts = static_cast<int>(namesakes);
  } else {
    measurement.nhosts = static_cast<int>(hosts.size());
  }
}

// The rows.

MeasuredValue value_of(const NcclTestsValues& printed) {
  const auto number = [](const std::string& text) { return parse_decimal(text).value_or(-1); };
  return {number(printed.time), number(printed.algbw), number(printed.busbw)};
}

/// Releases before 2.0 print milliseconds: the size by the time is a thousandth of the bandwidth.
void bring_to_microseconds(int64_t bytes, MeasuredValue& value) {
  if (value.time_us <= 0 || value.algbw <= 0 || bytes <= 0) return;
  const double times = value.algbw / (static_cast<double>(bytes) / value.time_us / 1e3);
  if (times < 0.002) value.time_us *= 1e3;
}

MeasuredPoint point_of(const NcclTestsRow& row) {
  MeasuredPoint point = {.where = row.where, .text = row.text, .bytes = row.size};
  point.out_of_place = value_of(row.out_of_place);
  point.in_place = value_of(row.in_place);
  bring_to_microseconds(row.size, point.out_of_place);
  bring_to_microseconds(row.size, point.in_place);
  for (const NcclTestsValues* values : {&row.out_of_place, &row.in_place}) {
    const int64_t wrong = nccl_tests_wrong_values(values->wrong);
    constexpr int64_t kMost = int64_t{1} << 60;
    if (wrong >= 0) point.wrong = std::max<int64_t>(point.wrong, 0) + std::min(wrong, kMost);
  }
  return point;
}

Measurement measurement_of(const Job& job, const NcclTestsRun& run) {
  Measurement measurement;
  measurement.name = run.test;
  measurement.op = op_of(job, run);
  std::set<std::string> datatypes;
  for (const NcclTestsRow& row : run.rows) datatypes.insert(row.datatype);
  measurement.datatype = fmt::format("{}", fmt::join(datatypes, ", "));
  measurement.process = run.process;
  measurement.first = run.first;
  measurement.settings = run.environment;
  count_ranks(run, measurement);
  add_places(run, measurement);
  for (const NcclTestsRow& row : run.rows) measurement.points.push_back(point_of(row));
  measurement.wrong = std::max<int64_t>(run.out_of_bounds, 0);
  measurement.mean_busbw = parse_decimal(run.busbw).value_or(-1);
  measurement.is_mean_alone = run.rows.empty();
  if (measurement.is_mean_alone) {
    measurement.points.push_back({.where = run.busbw_line,
                                  .text = fmt::format("# Avg bus bandwidth    : {}", run.busbw),
                                  .out_of_place = {.busbw = measurement.mean_busbw}});
  }
  return measurement;
}

// Processes that measured alone.
//
//   eight times "#  Rank  0 Group  0 …", eight tables with busbw 0: nccl-tests built without MPI

using PidOnHost = std::pair<std::string, int64_t>;

/// Joins tables of one rank, which tell nothing one by one.
void join_lone_processes(const Job& job, std::vector<Measurement>& all) {
  std::set<PidOnHost> alone;
  for (const NcclTestsRun& run : job.nccl_tests) {
    for (const NcclTestsPlace& place : run.places) {
      if (run.nranks == 1) alone.emplace(place.host, place.pid);
    }
  }
  std::map<std::string, size_t> first;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].nranks != 1 || all[i].by != MeasuredBy::NcclTests) continue;
    const auto [known, is_first] = first.try_emplace(all[i].name, i);
    Measurement& one = all[known->second];
    one.lone_processes = std::max(1, static_cast<int>(alone.size()));
    one.nhosts = 1;
    one.shares_gpu = false;
    if (is_first) continue;
    std::ranges::move(all[i].points, std::back_inserter(one.points));
    all[i].points.clear();
  }
  std::erase_if(all, [](const Measurement& one) { return one.points.empty(); });
}

// On which communicator?
//
//   node-a:41:41 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 8 … - Init COMPLETE
//   # all_reduce_perf, 8 ranks: its rows stand behind     → that one, if no other of 8 ranks does

/// By communicator, the first line about it that the logs hold; line 0: none.
std::vector<SourceRef> communicator_begins(const Job& job) {
  std::vector<SourceRef> begins;
  for (const Communicator& comm : job.communicators) {
    SourceRef& begin = begins.emplace_back();
    for (const CommRank& rank : comm.ranks) {
      if (rank.log < 0 || rank.segment < 0) continue;
      const CommSegment& segment = segment_of(job, rank);
      for (const SourceRef where : {segment.started, segment.completed}) {
        if (where.is_known() && (!begin.is_known() || where < begin)) begin = where;
      }
    }
  }
  return begins;
}

/// What `begins` holds is that of communicator_begins; where tables stand in several files, `alone`
/// is false, and a communicator of another file is taken for another run's.
int communicator_of(const Job& job, const std::vector<SourceRef>& begins, bool alone,
                    const Measurement& measurement) {
  std::vector<int> of_that_size;
  std::vector<int> within;
  for (size_t i = 0; i < job.communicators.size(); ++i) {
    const Communicator& comm = job.communicators[i];
    const bool fits = measurement.nranks > 0 ? comm.nranks == measurement.nranks : i == 0;
    if (!fits) continue;
    const bool is_same_file = input_number(job, begins[i]) == input_number(job, measurement.first);
    if (alone || is_same_file) of_that_size.push_back(static_cast<int>(i));
    // It began between the first line about the test and the last row.
    const bool is_within = begins[i].is_known() && is_same_file && measurement.first < begins[i] &&
                           begins[i] < measurement.points.back().where;
    if (is_within) within.push_back(static_cast<int>(i));
  }
  if (!within.empty()) return within.front();
  return of_that_size.size() == 1 ? of_that_size.front() : -1;
}

/// What NCCL's lines add about the communicator.
void add_communicator(const Job& job, const std::vector<SourceRef>& begins, bool alone,
                      Measurement& measurement) {
  measurement.communicator = communicator_of(job, begins, alone, measurement);
  if (measurement.communicator < 0) return;
  const Communicator& comm = nth_communicator(job, measurement.communicator);
  if (measurement.nranks < 0) measurement.nranks = comm.nranks;
  std::set<std::string> hosts;
  for (const CommRank& rank : comm.ranks) {
    if (rank.process >= 0) hosts.insert(nth_process(job, rank.process).host);
  }
  hosts.erase("");
  const bool are_all = is_all_seen(comm) && comm.nranks > 0;
  if (measurement.hosts.empty() && are_all) measurement.hosts.assign(hosts.begin(), hosts.end());
  if (comm.nnodes > 0) {
    measurement.nhosts = comm.nnodes;
  } else if (measurement.nhosts < 0 && are_all && !hosts.empty()) {
    measurement.nhosts = static_cast<int>(hosts.size());
  }
}

// On which hosts, where the table does not say? A heading above it may.
//
//   Latency and bandwidth for nodes node1 node2

/// Measurements that name none get those of the heading right above them. `all` in input order.
void add_hosts_of_headings(const Job& job, std::vector<Measurement>& all) {
  constexpr uint64_t kFarthest = 100;  // Lines: a table of latencies may stand between.
  constexpr int kMostTables = 2;       // Bandwidth one way and both ways.
  struct Heading {
    std::set<std::string> hosts;
    uint64_t line = 0;
    int tables = 0;
  };
  std::map<std::pair<int64_t, SourceRef>, Heading> headings;
  for (const SpeakerLog& log : job.logs) {
    for (const Record record : log.benchmarks->kept) {
      if (record.kind() != kKindIndex<RunHosts>) continue;
      const Message message = parse_message(record);
      const auto said = read_message<RunHosts>(message);
      headings.emplace(std::pair(input_number(job, record.where), record.where),
                       Heading{{std::string(said.first), std::string(said.second)},
                               file_line(job, record.where).line});
    }
  }
  for (Measurement& one : all) {
    const int64_t input = input_number(job, one.first);
    const auto behind = headings.lower_bound({input, one.first});
    if (behind == headings.begin() || std::prev(behind)->first.first != input) continue;
    Heading& heading = std::prev(behind)->second;
    const auto count = static_cast<int>(heading.hosts.size());
    const bool is_below = ++heading.tables <= kMostTables &&
                          file_line(job, one.first).line - heading.line <= kFarthest;
    const bool fits = one.hosts.empty() && !one.in_training && count > 1 &&
                      (one.nhosts < 0 || one.nhosts == count) &&
                      (one.nranks < 0 || one.nranks >= count);
    if (!is_below || !fits) continue;
    one.hosts.assign(heading.hosts.begin(), heading.hosts.end());
    one.nhosts = count;
  }
}

std::vector<Measurement> derive_measurements(const Job& job) {
  std::vector<Measurement> all = benchmark_measurements(job);
  const bool are_quoted =
      std::ranges::all_of(job.nccl_tests, [](const NcclTestsRun& run) { return run.rows.empty(); });
  for (const NcclTestsRun& run : job.nccl_tests) {
    const bool is_mean_alone = are_quoted && parse_decimal(run.busbw).value_or(0) > 0;
    if (!run.rows.empty() || is_mean_alone) all.push_back(measurement_of(job, run));
  }
  join_lone_processes(job, all);
  if (all.empty()) return all;
  const std::vector<SourceRef> begins = communicator_begins(job);
  std::set<int64_t> files;
  for (const Measurement& measurement : all) files.insert(input_number(job, measurement.first));
  for (Measurement& measurement : all) {
    add_communicator(job, begins, files.size() == 1, measurement);
  }
  std::ranges::stable_sort(all, {}, &Measurement::first);
  add_hosts_of_headings(job, all);
  return all;
}

}  // namespace

void RankRange::narrow_to(const RankRange& other) {
  const RankRange both = {std::max(least, other.least), std::min(most, other.most)};
  if (!both.is_empty()) *this = both;
}

int likeliest_in(const RankRange& range) {
  if (range.is_empty() || !range.is_bounded()) return -1;
  const int middle = range.least + (range.most - range.least) / 2;
  for (int whole = 4096; whole >= 2; whole /= 2) {
    const int below = middle / whole * whole;
    const int above = below + whole;
    const int nearest = middle - below <= above - middle ? below : above;
    for (const int candidate : {nearest, below, above}) {
      if (range.holds(candidate) && candidate > 0) return candidate;
    }
  }
  return middle;
}

double rounding_of(std::string_view printed) {
  const size_t exponent_at = std::min(printed.find_first_of("eE"), printed.size());
  const std::string_view digits = printed.substr(0, exponent_at);
  const size_t point = digits.find('.');
  const auto decimals = point == digits.npos ? 0 : static_cast<int>(digits.size() - point - 1);
  std::string_view power = printed.substr(std::min(exponent_at + 1, printed.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  const auto exponent = parse_int(power).value_or(0);
  return 0.5 *
         std::pow(10.0, static_cast<double>(std::clamp<int64_t>(exponent, -300, 300)) - decimals);
}

RankRange ranks_by_row(Operation op, int64_t bytes, std::string_view time, std::string_view busbw) {
  const double limit = limit_of_factor(op);
  const auto microseconds = parse_decimal(time);
  const auto gigabytes = parse_decimal(busbw);
  if (limit == 0 || bytes <= 0 || !microseconds || !gigabytes || *microseconds <= 0) return {};
  const double unsure_time = rounding_of(time);
  const double unsure_busbw = rounding_of(busbw);
  if (unsure_time >= *microseconds) return {};
  // busbw = factor * bytes / time
  const double size = static_cast<double>(bytes) / 1e3;
  return ranks_by_factor(limit, (*gigabytes - unsure_busbw) * (*microseconds - unsure_time) / size,
                         (*gigabytes + unsure_busbw) * (*microseconds + unsure_time) / size);
}

RankRange ranks_by_ratio(Operation op, double algbw, double busbw, double rounding) {
  const double limit = limit_of_factor(op);
  if (limit == 0 || busbw < 0 || algbw <= rounding) return {};
  return ranks_by_factor(limit, (busbw - rounding) / (algbw + rounding),
                         (busbw + rounding) / (algbw - rounding));
}

void set_ranks_by_rows(const RankRange& range, Measurement& measurement) {
  measurement.nranks = likeliest_in(range);
  measurement.nranks_by_ratio = measurement.nranks > 0;
}

int64_t input_number(const Job& job, SourceRef where) {
  const JobUnit* unit = unit_of(job, where);
  return unit == nullptr ? -1 : static_cast<int64_t>(unit->input);
}

const std::vector<Measurement>& measurements(const Job& job) {
  return job.answers.of<&derive_measurements>(job);
}

}  // namespace ncclog
