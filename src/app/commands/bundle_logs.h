// The logs in a bundle: copied without the names in them, cut down to lines that show the same.
//
//   /home/alice/run7/nccl.gpu-n41.313.txt.gz   → FOLDER/logs/nccl.host-1.313.txt, its text
//   1,048,576 lines of calls, 8 ranks          → the last 512 calls of each communicator

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/job.h"
#include "report/anonymise/anonymise.h"
#include "report/anonymise/leak_check.h"
#include "report/report.h"

namespace ncclog {

/// One input and where it was put.
struct StagedLog {
  std::string path;      ///< Below the folder: "logs/nccl.host-1.313.txt".
  std::string left_out;  ///< Why it was not, in one sentence; empty: it was.
  uint64_t bytes = 0;    ///< Of the staged text.
};

/// Everything in the job and in the texts of its inputs that names somebody.
Identities find_identities_of(const Job& job, std::span<const std::string> inputs);

/// Gives the texts of `inputs` and their names to `check`, as they came.
void read_for_leaks(std::span<const std::string> inputs, LeakCheck& check);

/// Writes the texts of `inputs` below `folder`, replaced by `anonymiser` if there is one. In input
/// order. Throws Error if a file cannot be written.
std::vector<StagedLog> stage_logs(std::span<const std::string> inputs, const Anonymiser* anonymiser,
                                  const std::filesystem::path& folder);

// The lines of a run's logs that its findings need.
//
//   1,048,576 lines of calls, 8 ranks      → the last 512 calls of each communicator on all ranks
//   90,000 times the same WARN             → the first 2,048 and the last 256 of its kind
//   80,000 lines of a training script      → those around evidence, and the ends of the file
//
// Who waits for whom, and who called something else, follows from comparing ranks. So calls are
// left out at the beginning only, as many on each rank of a communicator, and of messages as many
// at the one end as at the other: where ranks begin to differ stays, and by how much. Whether it
// was enough is for the caller to find out, by reading the excerpt as a log.

/// How much is kept.
struct ExcerptSize {
  uint64_t calls = 512;  ///< The last ones of each communicator, and of each pair's messages.
  size_t first = 2048;   ///< Of each kind of line of each process.
  size_t last = 256;     ///< The same, from the end.
  size_t end = 200;      ///< Lines at the end of each file, whatever they say.
};

/// What was kept of one log.
struct ExcerptLog {
  std::string path;                                 ///< As in the report's job.
  uint64_t lines = 0;                               ///< Of the whole log.
  std::vector<std::pair<uint64_t, uint64_t>> kept;  ///< First and last line of each stretch.
};

/// Writes what is kept of the logs of `report`, which lie below `from` under the paths that its job
/// names, to files of the same paths below `to`. Documents are copied. `matcher` is that of the
/// report's rules.
std::vector<ExcerptLog> write_excerpt(const Report& report, const LineMatcher& matcher,
                                      const ExcerptSize& size, const std::filesystem::path& from,
                                      const std::filesystem::path& to);

}  // namespace ncclog
