// What does somebody see who runs a command in a terminal?
//
//   TerminalRun run = run_in_terminal({.arguments = {"ncclog", "analyze", "-"}, .pieces = {...}});
//   run.seen has everything that came to the terminal, escape codes included.

#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ncclog::testing {

struct TerminalCommand {
  std::vector<std::string> arguments;  ///< The first one is the program.
  std::vector<std::string> pieces;     ///< Of standard input, a pipe, one after the other.
  /// Its input goes on until the terminal shows this, or a minute long. Empty: it ends at once.
  std::string until_seen;
  std::function<void()> before_end;  ///< Called before its input ends, if there is one.
  int columns = 80;
  bool output_too = false;  ///< Standard output is the terminal as well; else it is kept apart.
  std::vector<std::pair<std::string, std::string>> environment;  ///< TERM is xterm anyhow.
};

struct TerminalRun {
  std::string seen;    ///< By the terminal.
  std::string output;  ///< Standard output, if it was kept apart.
  int exit_code = -1;  ///< As a shell gives it.
};

/// False where no pseudo-terminal can be made, as in a root without /dev/pts.
bool has_terminals();

/// Runs the command to its end. Throws std::runtime_error only if no terminal can be made.
TerminalRun run_in_terminal(const TerminalCommand& command);

}  // namespace ncclog::testing
