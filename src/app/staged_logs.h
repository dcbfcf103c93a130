// A run's inputs as plain text in a folder, with or without the names in them.
//
//   /home/alice/run7/nccl.gpu-n41.313.txt.gz   →   FOLDER/logs/nccl.host-1.313.txt

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/job.h"
#include "report/anonymise.h"
#include "report/leak_check.h"

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

}  // namespace ncclog
