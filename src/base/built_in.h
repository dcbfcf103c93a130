// What the build put into the executable: which ncclog it is, and files of the source tree.
//
//   1.0.0 (4218094)
//   {"network/socket-instead-of-ib.yaml", "id: socket-instead-of-ib\n…"}

#pragma once

#include <string_view>

namespace ncclog {

/// "1.0.0", as the project is released; reports carry this one.
std::string_view version();

/// "1.0.0 (4218094)" with the commit it was built from; without git just the version.
std::string_view full_version();

/// "2026-11-21", the day of that commit; empty where it is not known.
std::string_view version_day();

/// Both views live as long as the program.
struct EmbeddedFile {
  std::string_view path;  ///< Relative to the folder that was embedded, with '/'.
  std::string_view text;  ///< What it holds, in the form its reader wants.
};

}  // namespace ncclog
