// The database that `ncclog export` makes, and answers out of one.

#pragma once

#include "app/console.h"
#include "app/exit_status.h"
#include "app/options.h"

namespace ncclog {

/// Writes the file `options.output`. Throws Error if there is none or it cannot be written.
ExitStatus export_database(const ExportOptions& options, Console& console);

/// Answers `options.sql`. Only the tables that it reads are filled, so the logs are read no more
/// often than that takes. Throws Error.
ExitStatus answer_sql(const ExportOptions& options, Console& console);

}  // namespace ncclog
