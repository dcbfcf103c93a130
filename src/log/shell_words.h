// A shell script as simple commands: words without their quotes, and where each stands.
//
//   export A="x y" \        → export | A=x y | B=$C (expands)
//     B=$C   # why          → a comment is none
//   if a; then b 'c;d'; fi  → if a | then b c;d | fi
//
// This is what is needed to see which variables a script sets, no shell: nothing is expanded,
// nothing is run. Every text is a script; what is never closed ends with the text.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

struct ShellWord {
  std::string text;      ///< Without quotes and backslashes.
  uint64_t line = 0;     ///< Where it begins, from 1.
  bool expands = false;  ///< It holds '$' or '`' that a shell would replace.
};

using ShellCommandWords = std::vector<ShellWord>;

/// Calls `use(words)` for each simple command that has words, in order. Commands end at line ends,
/// ';', '|', '&' and parentheses. Lines of here-documents count as commands. `#SBATCH` and its like
/// are given as a command whose first word is "#SBATCH", and so is the ";;" of `case`.
void for_each_command(std::string_view script,
                      const std::function<void(const ShellCommandWords& words)>& use);

}  // namespace ncclog
