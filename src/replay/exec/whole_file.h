// Files that are read at once, and written at once or not at all.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace ncclog {

/// What is in the file; nullopt: there is none, or it cannot be read.
std::optional<std::string> read_whole_file(const std::filesystem::path& path);

/// Puts the text in the place of what was there; who reads the file meanwhile sees the one or the
/// other. Throws Error.
void write_whole_file(const std::filesystem::path& path, const std::string& text);

}  // namespace ncclog
