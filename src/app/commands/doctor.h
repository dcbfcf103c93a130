// ncclog doctor: what this host, another root or a record shows of what the rules name.
//
//   ncclog doctor                         this host
//   ncclog doctor --record n41.host       … and all that was read, for a bug report
//   ncclog doctor --root n41.host         the same findings, elsewhere
//   ncclog analyze LOGS --with-host n41.host

#pragma once

#include <string>
#include <vector>

#include "model/companions/host_report.h"

namespace ncclog {

/// The reports in a file: one of a record, any number of a JSON report of doctor or analyze. Throws
/// Error if it is neither.
std::vector<HostReport> load_host_reports(const std::string& path);

/// True for a file "NAME.host" that is a record. Beside logs, it is one of a host of the job.
bool is_host_record(const std::string& path);

}  // namespace ncclog
