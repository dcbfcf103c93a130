// A folder that a test may fill, gone when the test ends.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ncclog::testing {

/// Invariant: the folder exists as long as the object does.
class TempDir {
 public:
  /// Throws std::runtime_error if no folder can be made under the system's temporary folder.
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file below the folder, with the folders above it; returns its whole path.
  std::string add(const std::filesystem::path& name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

}  // namespace ncclog::testing
