#include "model/library_name.h"

#include "log/messages.h"

namespace ncclog {
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
    for_each_record(job, job.processes[static_cast<size_t>(process)], kKindIndex<NcclVersion>,
                    [&](const Record& record) {
                      is_it |= record.text.find("RCCL version") != record.text.npos;
                    });
    if (is_it) return true;
  }
  return false;
}

}  // namespace ncclog
