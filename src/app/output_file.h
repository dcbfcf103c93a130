// Writing a file that the user named: whole or not at all, and never over one of the logs.
//
//   ncclog report logs/ --md reports/hang.md
//   → reports/.ncclog-4711-0 is written, synced and renamed to reports/hang.md

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ncclog {

/// Throws Error if a file of that path cannot be written or is one of `inputs` (paths as
/// find_inputs gives them; "-" is what standard input is redirected from), however it is spelt.
/// Called before long work, so that nobody waits for nothing.
void check_output_file(const std::string& path, std::span<const std::string> inputs);

/// Throws Error if both are one file, however they are spelt: "is `what`". Nothing if one of them
/// is none, or "-".
void check_other_file(const std::string& path, const std::string& read, std::string_view what);

/// The same place for "x" and "./x", and for links to one file.
std::string same_place(const std::string& path);

/// Writes the file beside its place and moves it there: who reads the path sees the old file or all
/// of the new one. Devices and pipes are written as they are, links followed. Throws Error if it
/// cannot be written; the old file is then still there.
void write_output_file(const std::string& path, std::string_view text);

/// The same for what only its owner may read. What stands at the path has to be a file, or nothing.
void write_private_file(const std::string& path, std::string_view text);

}  // namespace ncclog
