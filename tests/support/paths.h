// Where do the tests find what they test? Known to the build, so tests run from any folder.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog::testing {

/// The root of the source tree.
std::filesystem::path source_dir();
/// The root of this build.
std::filesystem::path build_dir();
/// The executable under test.
std::filesystem::path ncclog_binary();
/// The cmake that configured this build.
std::filesystem::path cmake_command();
/// True if the program under test checks its memory: it is several times slower and larger then.
bool is_sanitized();
/// How many of so many seeds, or rounds, a test tries: a quarter where the program under test is
/// sanitized. Every build without sanitizers tries all.
uint64_t affordable(uint64_t seeds);
/// sample_logs/<name>/logs.
std::filesystem::path sample_logs(const std::filesystem::path& name);
/// The folders of sample_logs/ that have logs, sorted.
std::vector<std::string> sample_log_names();

/// A whole file, byte by byte. Throws std::runtime_error with the path if it cannot be read.
std::string read_file(const std::filesystem::path& path);
/// Makes the folders above `path` as needed. Throws std::runtime_error if it cannot be written.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace ncclog::testing
