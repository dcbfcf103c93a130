#include "diagnose/perf/measurement.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "log/nccl_names.h"

namespace ncclog {
namespace {

struct TestedOp {
  std::string_view test;
  std::string_view op;
};

/// By the name of the program, without "_perf" and what is added behind it ("_perf_mpi").
constexpr TestedOp kTestedOps[] = {
    {"all_gather", "AllGather"},
    {"all_reduce", "AllReduce"},
    {"all_reduce_bias", "AllReduce"},
    {"all_to_all", "AlltoAll"},
    {"alltoall", "AlltoAll"},
    {"alltoallv", "AlltoAllv"},
    {"broadcast", "Broadcast"},
    {"gather", "Gather"},
    {"hypercube", "AllGather"},
    {"reduce", "Reduce"},
    {"reduce_scatter", "ReduceScatter"},
    {"scatter", "Scatter"},
    {"sendrecv", "SendRecv"},
};

std::string_view op_of_test(std::string_view test) {
  const auto found =
      std::ranges::find(kTestedOps, test.substr(0, test.find("_perf")), &TestedOp::test);
  return found == std::end(kTestedOps) ? std::string_view() : found->op;
}

/// A printed number; negative: "N/A", empty, or no number.
double printed_value(const std::string& text) {
  if (text.empty() || !is_digit(text.front())) return -1;
  return std::strtod(text.c_str(), nullptr);
}

MeasuredValue value_of(const NcclTestsValues& printed) {
  return {printed_value(printed.time), printed_value(printed.algbw), printed_value(printed.busbw)};
}

MeasuredPoint point_of(const NcclTestsRow& row) {
  MeasuredPoint point = {.where = row.where, .text = row.text, .bytes = row.size};
  point.out_of_place = value_of(row.out_of_place);
  point.in_place = value_of(row.in_place);
  for (const NcclTestsValues* values : {&row.out_of_place, &row.in_place}) {
    const int64_t wrong = nccl_tests_wrong_values(values->wrong);
    if (wrong >= 0) point.wrong = std::max<int64_t>(point.wrong, 0) + wrong;
  }
  return point;
}

void add_ranks(const NcclTestsRun& run, Measurement& measurement) {
  std::set<std::string> hosts;
  std::set<std::string> gpus;
  for (const NcclTestsPlace& place : run.places) {
    hosts.insert(place.host);
    gpus.insert(place.gpu);
  }
  measurement.nranks = run.nranks;
  measurement.hosts.assign(hosts.begin(), hosts.end());
  measurement.gpus.assign(gpus.begin(), gpus.end());
  if (!hosts.empty()) measurement.nhosts = static_cast<int>(hosts.size());
}

Measurement measurement_of(const NcclTestsRun& run) {
  Measurement measurement;
  measurement.name = run.test;
  measurement.op = op_of_test(run.test);
  measurement.process = run.process;
  measurement.first = run.first;
  add_ranks(run, measurement);
  for (const NcclTestsRow& row : run.rows) measurement.points.push_back(point_of(row));
  if (!run.rows.empty()) measurement.datatype = run.rows.front().datatype;
  measurement.mean_busbw = printed_value(run.busbw);
  measurement.mean_line = run.busbw_line;
  return measurement;
}

std::vector<Measurement> derive_measurements(const Job& job) {
  std::vector<Measurement> all;
  for (const NcclTestsRun& run : job.nccl_tests) {
    if (!run.rows.empty()) all.push_back(measurement_of(run));
  }
  return all;
}

}  // namespace

const std::vector<Measurement>& measurements(const Job& job) {
  return job.answers.of<&derive_measurements>(job);
}

}  // namespace ncclog
