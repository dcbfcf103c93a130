// The same run once more, on other hosts: everything that has another name or number in every run
// has another one, and nothing else changes.
//
//   gpu-node-01:14623:14723 [0] NCCL INFO … comm 0xbe0c370 … busId 60 commId 0x7790e3b02d99b5e4
//   → rack7-h01:64623:64723 [0] NCCL INFO … comm 0x1c2e0b4f0 … busId 160 commId 0x2d99…

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ncclog::testing {

/// Name and text of the files of a run.
using RunFiles = std::vector<std::pair<std::string, std::string>>;

/// The files below sample_logs/<name>/logs that are plain text, by name.
RunFiles sample_files(const std::string& name);

/// Renames `hosts`, and changes pids, pointers, ids of communicators, addresses, ports, bus ids and
/// dates in the files and their names. Names stay as unlike each other as they were, and their
/// order stays.
RunFiles renamed(const RunFiles& files, const std::vector<std::string>& hosts);

}  // namespace ncclog::testing
