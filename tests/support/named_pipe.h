// How does a test learn that another process has come to a place? That process writes into a named
// pipe, so nobody sleeps and looks again.
//
//   NamedPipe ready(folder.path() / "ready");     sh: echo >ready
//   EXPECT_TRUE(ready.wait());                    a minute without a word is a failure

#pragma once

#include <filesystem>
#include <string>

namespace ncclog::testing {

/// A pipe that this process reads, and others open by its path; who writes waits until somebody
/// reads. Invariant: the file exists as long as the object does.
class NamedPipe {
 public:
  /// Throws std::runtime_error if there is something of that name.
  explicit NamedPipe(const std::filesystem::path& path);
  ~NamedPipe();
  NamedPipe(const NamedPipe&) = delete;
  NamedPipe& operator=(const NamedPipe&) = delete;

  const std::string& path() const { return path_; }

  /// Waits for so many bytes. False if they do not come.
  bool wait(int bytes = 1);
  /// Waits until all who write, and have not closed it, are gone. False if somebody stays.
  bool wait_for_end();

  /// For sh: says that it is here, and waits for a signal.
  std::string tell_and_wait() const;

 private:
  /// Bytes read, at most one; 0: nobody writes any more; below: nothing comes.
  int take();

  std::string path_;
  int end_ = -1;  ///< For reading; opened by who waits first.
};

}  // namespace ncclog::testing
