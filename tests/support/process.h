// What does a command print, and how does it end? The tests' view of the program as a user has it.
//
//   Outcome out = run_command({.arguments = {"ncclog", "--version"}});
//   EXPECT_EQ(out.exit_code, 0);

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ncclog::testing {

struct Command {
  std::vector<std::string> arguments;  ///< The first one is the program, a path or a name in PATH.
  std::string standard_input;
  /// The input comes, or ends where there is none, once standard error holds this: what the command
  /// waits for may be what is told while it waits. Empty: at once.
  std::string until_told;
  std::string folder;  ///< Where it runs; empty: where the test runs.
  /// Added to the test's own environment, or replacing what stands there.
  std::vector<std::pair<std::string, std::string>> environment;
};

struct Outcome {
  std::string standard_output;
  std::string standard_error;
  int exit_code = -1;     ///< As a shell gives it: 128 + N after signal N, 127 if it did not start.
  long peak_rss_kib = 0;  ///< Largest resident set of the process.
  double seconds = 0;     ///< Wall clock.
  double cpu_seconds = 0;  ///< User and system time, of all threads.
};

/// Runs `command` to its end. Throws std::runtime_error only if no process can be made.
Outcome run_command(const Command& command);

/// While it lives, writing to a process that has ended without reading ends nobody. Afterwards it is
/// as before, for the tests that share this process.
class IgnoredSigpipe {
 public:
  IgnoredSigpipe();
  ~IgnoredSigpipe();
  IgnoredSigpipe(const IgnoredSigpipe&) = delete;
  IgnoredSigpipe& operator=(const IgnoredSigpipe&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace ncclog::testing
