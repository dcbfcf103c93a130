// From paths to a part: what analysing them would need, to be merged with that of other hosts.
//
//   ncclog scan logs/ -o n7.part            reads all of logs/
//   ncclog scan logs/ -o n7.part --update   reads what came since the last time

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/read/read_units.h"
#include "part/part.h"

namespace ncclog {

/// What there is to scan.
struct ScanTask {
  std::span<const std::string> inputs;  ///< Paths as find_inputs gives them.
  std::string host;                     ///< This host's name.
  const LoadedPart* before = nullptr;   ///< An earlier scan, of which what still holds is kept.
};

/// What a scan came to.
struct ScanResult {
  uint64_t inputs = 0;
  uint64_t partial = 0;     ///< Of those: cut or unreadable.
  uint64_t read_bytes = 0;  ///< On the disk; what was kept of an earlier scan is not read.
};

/// Scans the inputs and gives the bytes of the part to `write`.
ScanResult scan(const ScanTask& task, const ReadSettings& settings,
                const std::function<void(std::string_view bytes)>& write);

/// The same as a part that is ready to be merged; its host is empty.
LoadedPart scan_in_memory(std::span<const std::string> inputs, const ReadSettings& settings);

/// A part that is read as an input. nullopt: it cannot be used, and `problem` says why, a clause.
std::optional<LoadedPart> read_part(UnitReader& input, const LineMatcher& matcher,
                                    std::string& problem);

/// The same of the file at `path`; throws Error if it cannot be used.
LoadedPart read_part_file(const std::string& path, const LineMatcher& matcher);

/// The units in which the file at `path` is scanned, numbered from 1 as those of its input alone.
std::vector<Unit> units_of_scan(const std::string& path, uint64_t unit_bytes);

/// By what the file at `path` is known again; nullopt if it is no regular file.
std::optional<FileStamp> stamp_of(const std::string& path);

}  // namespace ncclog
