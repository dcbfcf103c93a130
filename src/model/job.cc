#include "model/job.h"

#include <algorithm>

#include "base/text.h"
#include "log/messages.h"

namespace ncclog {

std::string_view to_string(RankState state) {
  // In the order of the enum.
  constexpr std::string_view kNames[] = {"not_seen",  "started", "complete", "failed",
                                         "destroyed", "aborted", "unknown"};
  return kNames[static_cast<size_t>(state)];
}

int64_t nccl_tests_wrong_values(std::string_view printed) {
  if (const auto count = parse_int(printed)) return *count;
  // "%g" of a large count; the errors of old releases have small exponents.
  const size_t exponent = printed.find("e+");
  if (exponent == printed.npos || !is_digit(printed.front())) return -1;
  const auto digits = parse_int(printed.substr(exponent + 2));
  if (!digits || *digits < 6 || *digits > 17) return -1;
  int64_t value = printed.front() - '0';
  for (int64_t i = 0; i < *digits; ++i) value *= 10;
  return value;
}

FileLine file_line(const Job& job, SourceRef where) {
  const JobUnit* unit = unit_of(job, where);
  if (unit == nullptr) return {};
  return {job.inputs[unit->input].path, unit->first_line + where.line - 1};
}

const JobUnit* unit_of(const Job& job, SourceRef where) {
  const auto unit = std::ranges::lower_bound(job.units, where.unit, {}, &JobUnit::number);
  return unit == job.units.end() || unit->number != where.unit ? nullptr : &*unit;
}

const InitSection* init_section(const Job& job, const CommRank& rank) {
  if (rank.log < 0 || rank.section < 0) return nullptr;
  return &job.logs[static_cast<size_t>(rank.log)].inits.all()[static_cast<size_t>(rank.section)];
}

bool is_torn(const Job& job) {
  return std::ranges::any_of(job.logs, [](const SpeakerLog& log) { return log.torn; });
}

int process_of_rank(const Job& job, int rank) {
  if (rank < 0) return -1;
  return only_process(job, [&](const Process& process) { return process.rank == rank; });
}

int process_of_pid(const Job& job, int64_t pid) {
  if (pid < 0) return -1;
  return only_process(job, [&](const Process& process) { return process.pid == pid; });
}

const CommSegment& segment_of(const Job& job, const CommRank& rank) {
  return job.logs[static_cast<size_t>(rank.log)].comms.all[static_cast<size_t>(rank.segment)];
}

int life_of(const std::vector<CommSegment>& all, size_t place) {
  return static_cast<int>(
      std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(place),
                    [&](const CommSegment& other) { return other.comm == all[place].comm; }));
}

namespace {

struct PrinterMark {
  std::string_view mark;
  std::string_view name;
};

/// What stands in the lines of a library: its messages' first words, or its source files.
constexpr PrinterMark kMarks[] = {
    {"NET/OFI", "aws-ofi-nccl"},
    {"nccl_ofi_", "aws-ofi-nccl"},
    {"nccl_net_ofi", "aws-ofi-nccl"},
    {"sharp_plugin", "nccl-rdma-sharp-plugins"},
    {"ucx_plugin", "nccl-rdma-sharp-plugins"},
    {"ucx_rma_plugin", "nccl-rdma-sharp-plugins"},
    {"NET/UCX", "nccl-rdma-sharp-plugins"},
    {"NCCL Inspector", "NCCL inspector"},
    {"inspector_plugin", "NCCL inspector"},
    {"/hipify/", "RCCL"},
    {"RCCL", "RCCL"},
    {"MSCCL", "RCCL"},
};

}  // namespace

std::string_view printer_of(std::string_view line) {
  for (const PrinterMark& row : kMarks) {
    if (line.find(row.mark) != line.npos) return row.name;
  }
  return {};
}

bool is_rccl(const Job& job) {
  if (job.processes_by_kind.size() != all_kinds().size()) return false;  // Nothing was read.
  for (const Kind& kind : all_kinds()) {
    if (kind.library == Library::Rccl && !job.processes_by_kind[kind.index].empty()) return true;
  }
  for (const int process : job.processes_by_kind[kKindIndex<NcclVersion>]) {
    bool is_it = false;
    for_each_record(job, nth_process(job, process), kKindIndex<NcclVersion>,
                    [&](const Record& record) {
                      is_it |= record.rest->text.find("RCCL version") != std::string::npos;
                    });
    if (is_it) return true;
  }
  return false;
}

}  // namespace ncclog
