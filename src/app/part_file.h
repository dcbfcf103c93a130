// A large output: written bit by bit, there whole or not at all.
//
//   PartFile file("job.db");   →  job.db.4711-0.part is written
//   file.keep();               →  is job.db now; without that, nothing is left of it
//
// What is there already and is no regular file (/dev/stdout, a pipe) is written to as it is. For
// texts that are made before they are written, app/output_file.h is simpler.

#pragma once

#include <functional>
#include <string>

#include "app/console.h"
#include "app/exit_status.h"

namespace ncclog {

/// Where the bytes of a file go until all of them are there.
class PartFile {
 public:
  /// `path` has passed check_output_file().
  explicit PartFile(std::string path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  /// What is to be written. Nothing is there, unless the path names something special.
  const std::string& part() const { return part_; }

  /// Gives the file its name. Throws Error.
  void keep();

 private:
  std::string path_;  ///< Links followed.
  std::string part_;  ///< `path_` itself where that is something special.
};

/// Runs a command whose standard output goes to `path`; to `console` if that is empty or "-". What
/// it says on standard error goes to `console`. Throws Error if the file cannot be written.
ExitStatus run_into(const std::string& path, Console& console,
                    const std::function<ExitStatus(Console& console)>& command);

}  // namespace ncclog
