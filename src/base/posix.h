// What the system lends: descriptors, temporary folders, whole files, the host's name, processes.
//
//   const TemporaryFolder folder(temp_directory_path() / "ncclog-", refusal)    /tmp/ncclog-Xk2f9a
//   const Pipe pipe("sacct");
//   start_process({.arguments = {"sacct", "-j", "7"}, .output = pipe.write.get()})
//
// What an object holds goes back when the object goes.

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/leftovers.h"

namespace ncclog {

/// Gives back what a library of C made: std::unique_ptr<archive, FreedBy<archive_write_free>>.
template <auto kFree>
struct FreedBy {
  void operator()(auto* made) const { (void)kFree(made); }
};

/// A file descriptor, closed when it goes.
class Descriptor {
 public:
  /// -1: none.
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }

  /// False: the system could not write everything; errno says why.
  bool close();

 private:
  int number_;
};

/// Both ends of a pipe, which no started program inherits.
struct Pipe {
  /// Throws Error if none can be made; `where` says for whom.
  explicit Pipe(const std::string& where);

  Descriptor read;
  Descriptor write;
};

/// A new folder that only this user may enter. Invariant: it is there as long as the object is, and
/// gone afterwards unless it is kept; also where a signal ends the process.
class TemporaryFolder {
 public:
  /// `beginning` is its path without the last letters. Throws `refusal` if it cannot be made.
  TemporaryFolder(const std::filesystem::path& beginning, const Error& refusal);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void keep() {
    is_kept_ = true;
    leftover_ = {};
  }

 private:
  std::filesystem::path path_;
  bool is_kept_ = false;
  Leftover leftover_;
};

/// One under the system's temporary folder (TMPDIR). Throws Error if it cannot be made.
TemporaryFolder new_temporary_folder();

/// Makes another folder the process's working directory, so that reports name what is in it by
/// short paths. Invariant: the one before is restored.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& path)
      : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(path);
  }
  ~WorkingFolder() {
    std::error_code ignored;
    std::filesystem::current_path(before_, ignored);
  }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  std::filesystem::path before_;
};

/// What is in the file; nullopt: it cannot be read.
std::optional<std::string> read_whole_file(const std::filesystem::path& path);

/// The same; throws Error if it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// The value of a variable of this process's environment; empty: it is not set, or empty.
std::string environment_variable(const std::string& name);

/// All of them, "NAME=VALUE" each.
std::vector<std::string> environment_variables();

/// As the system calls this host; "localhost" if it has no name.
std::string host_name();

/// A program to be started. Only the three standard streams reach it, and SIGPIPE ends it although
/// this process ignores that.
struct NewProcess {
  std::vector<std::string> arguments;  ///< Its name first.
  std::string program;  ///< Path of the executable; empty: the name, looked up by PATH.
  std::vector<std::string> environment;  ///< "NAME=VALUE" each; empty: that of this process.
  bool has_input = false;                ///< It reads what this process would; else nothing.
  int output = -1;               ///< Descriptor for its standard output; -1: that of this process.
  int error = -1;                ///< The same for its standard error.
  int inherited = -1;            ///< One more descriptor that it gets; -1: none.
  std::optional<sigset_t> held;  ///< Signals that it holds; nullopt: those that this process holds.
  bool leads_group = false;      ///< Of processes: what the terminal sends does not reach it.
  int end_with_us = 0;  ///< Signal that the kernel sends it when this process ends; 0: none.
};

/// Its pid; -1: the program cannot be started, errno says why. By fork(), because posix_spawn() cannot
/// do `end_with_us`.
pid_t start_process(const NewProcess& start);

}  // namespace ncclog
