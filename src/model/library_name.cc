#include "model/library_name.h"

#include "log/messages.h"

namespace ncclog {

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
