// Message files that are named when the program runs (--messages, `ncclog messages check`).

#pragma once

#include <string>
#include <vector>

namespace ncclog {

/// Adds the kinds of these files, and of the *.messages files in these folders, to the built-in
/// ones; returns how many files that were. Called before anything is read. Throws Error with file,
/// line and column, and adds nothing, if one is wrong.
size_t use_message_files(const std::vector<std::string>& paths);

}  // namespace ncclog
