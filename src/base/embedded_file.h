// A file of the source tree that was made part of the executable at build time.
//
//   {"network/socket-instead-of-ib.yaml", "id: socket-instead-of-ib\n…"}

#pragma once

#include <string_view>

namespace ncclog {

/// Both views live as long as the program.
struct EmbeddedFile {
  std::string_view path;  ///< Relative to the folder that was embedded, with '/'.
  std::string_view text;  ///< What it holds, in the form its reader wants.
};

}  // namespace ncclog
