// Folders for what is only needed while a command runs.

#pragma once

#include <filesystem>

namespace ncclog {

/// A new folder under the system's temporary one (TMPDIR), readable by its owner only. Invariant:
/// it is there as long as the object is, and gone afterwards.
class TemporaryFolder {
 public:
  /// Throws Error if none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Makes another folder the process's working directory, so that reports name what is in it by
/// short paths. Invariant: the one before is restored.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& path);
  ~WorkingFolder();
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  std::filesystem::path before_;
};

}  // namespace ncclog
