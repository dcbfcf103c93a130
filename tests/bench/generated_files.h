// Generated logs as files: one for all ranks, one for each, and packed as people keep them.
//
//   collectives.log        collectives.log.gz, .bgz, .zst, .frames.zst, .xz, .bz2
//   nccl.gpu-0512.44096      the name that NCCL_DEBUG_FILE=nccl.%h.%p gives
//
// Packing is left to the tools that people have, so that the files are what those tools write.

#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "bench/log_generator.h"

namespace ncclog::testing {

/// Writes one log with all ranks. Throws std::runtime_error if the file cannot be written.
void write_log_file(const std::filesystem::path& file, const LogOptions& options);

/// Writes one file for each rank, each of about `options.bytes`, all with the same number of calls,
/// into `folder`, which is made. Throws std::runtime_error if a file cannot be written.
void write_rank_files(const std::filesystem::path& folder, const LogOptions& options);

/// A way to pack a file, with a tool and its usual level.
struct Packing {
  std::string_view suffix;
  std::string_view tool;
  std::string_view command;  ///< For sh; reads "$1", writes to standard output.
};

inline constexpr Packing kPackings[] = {
    {".gz", "gzip", "gzip -6 -c \"$1\""},
    {".bgz", "bgzip", "bgzip -c \"$1\""},
    {".zst", "zstd", "zstd -q -3 -c \"$1\""},
    {".frames.zst", "zstd", "split -b 16M --filter='zstd -q -3 -c' \"$1\""},
    {".xz", "xz", "xz -1 -c \"$1\""},
    {".bz2", "bzip2", "bzip2 -c \"$1\""},
};

/// True if a program of that name is in PATH.
bool has_tool(std::string_view name);

/// Packs `file` into a new file beside it and returns its path; nullopt if the tool is not there.
/// Throws std::runtime_error if the tool fails.
std::optional<std::filesystem::path> pack_file(const std::filesystem::path& file,
                                               const Packing& packing);

}  // namespace ncclog::testing
