#include "diagnose/driver_versions.h"

#include <fmt/format.h>

#include <set>

#include "log/messages.h"
#include "log/read_message.h"

namespace ncclog {

std::vector<std::string> driver_versions(const Job& job) {
  std::set<int> found;
  for (const Process& process : job.processes) {
    for_each_record(job, process, kKindIndex<CudaDriverVersion>, [&](const Record& record) {
      const Event event = parse_record(record);
      const int version = read_message<CudaDriverVersion>(event.message).version;
      if (version > 0) found.insert(version);
    });
  }
  std::vector<std::string> versions;
  for (const int version : found) {
    versions.push_back(fmt::format("{}.{}", version / 1000, version % 1000 / 10));
  }
  return versions;
}

}  // namespace ncclog
