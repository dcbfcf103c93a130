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

FileLine file_line(const Job& job, SourceRef where) {
  const JobUnit* unit = unit_of(job, where);
  if (unit == nullptr) return {};
  return {job.inputs[unit->input].path, unit->first_line + where.line - 1};
}

const JobUnit* unit_of(const Job& job, SourceRef where) {
  const auto unit = std::ranges::lower_bound(job.units, where.unit, {}, &JobUnit::number);
  return unit == job.units.end() || unit->number != where.unit ? nullptr : &*unit;
}

namespace {

/// By key of the lists.
template <RecordLists SpeakerLog::*lists>
std::vector<RecordsOf> collect_records(const Job& job) {
  const auto each_list = [&](const auto& use) {
    for (int p = 0; p < static_cast<int>(job.processes.size()); ++p) {
      for (const size_t log : nth_process(job, p).logs) {
        for (const auto& [key, list] : job.logs[log].*lists) use(p, key, list);
      }
    }
  };
  std::vector<size_t> sizes;
  each_list([&](int, uint16_t key, const RecordList& list) {
    if (key >= sizes.size()) sizes.resize(key + size_t{1});
    sizes[key] += list.kept.size();
  });
  std::vector<RecordsOf> all(sizes.size());
  for (size_t key = 0; key < all.size(); ++key) all[key].records.reserve(sizes[key]);
  // Texts that came lately: to look for all of them would take longer than to read some twice.
  struct Known {
    const RecordText* text = nullptr;
    uint16_t key = 0;
    uint32_t number = 0;
  };
  std::vector<Known> known(4096);
  const auto note = [](std::vector<int>& processes, int process) {
    if (processes.empty() || processes.back() != process) processes.push_back(process);
  };
  each_list([&](int process, uint16_t key, const RecordList& list) {
    RecordsOf& of = all[key];
    if (list.full) note(of.full, process);
    if (list.total > list.kept.size()) note(of.repeated, process);
    for (const Record& record : list.kept) {
      Known& text = known[(record.rest->hash + key) % known.size()];
      if (text.text != record.rest.get() || text.key != key) {
        text = {record.rest.get(), key, static_cast<uint32_t>(of.texts.size())};
        of.texts.push_back(&record);
      }
      of.records.push_back({process, text.number, &record});
    }
  });
  return all;
}

const RecordsOf& nth_or_none(const std::vector<RecordsOf>& all, size_t key) {
  static const RecordsOf none;
  return key < all.size() ? all[key] : none;
}

}  // namespace

const RecordsOf& records_of_kind(const Job& job, uint16_t kind) {
  return nth_or_none(job.answers.of<&collect_records<&SpeakerLog::records>>(job), kind);
}

const RecordsOf& records_of_pattern(const Job& job, size_t pattern) {
  return nth_or_none(job.answers.of<&collect_records<&SpeakerLog::line_matches>>(job), pattern);
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
  const auto is_printed = [&](const Kind& kind) {
    return kind.library == Library::Rccl && !records_of_kind(job, kind.index).records.empty();
  };
  return std::ranges::any_of(all_kinds(), is_printed) ||
         std::ranges::any_of(records_of_kind(job, kKindIndex<NcclVersion>).texts,
                             [](const Record* record) {
                               return record->rest->text.find("RCCL version") != std::string::npos;
                             });
}

}  // namespace ncclog
