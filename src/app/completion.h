// What shells complete: commands, flags, and values where they can be listed.
//
//   ncclog show ra<TAB>              → ranks ras
//   ncclog analyze --format=j<TAB>   → json
//   ncclog count --by op,r<TAB>      → op,rank
//   ncclog explain shm<TAB>          → shm-no-space …
//
// The script of a shell asks the program, which reads its own declarations:
//
//   ncclog __complete expect ''      →   list<TAB>the profiles that ncclog brings along
//                                        show<TAB>the text of one of them, …
//   ncclog __complete analyze a.lo   →   :files
//
// The words are those before the cursor, the last one as far as it is typed. What is offered may
// begin with other letters than that word: each shell picks by its own rules. A line that begins
// with ":" says what the shell adds.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/command_table.h"

namespace ncclog {

/// The word that asks for completions instead of naming a command; no help lists it.
inline constexpr std::string_view kCompleteCommand = "__complete";

/// What may stand in place of the last of `words`, one a line, with a tab and what it is where that
/// can be said. ":files", ":folders": such names, too; ":more": a word may go on with ",".
std::string completions(const CommandRow& root, std::span<const std::string> words);

/// The script for "bash", "zsh" or "fish"; nullopt for others. Valid for the whole program.
std::optional<std::string_view> completion_script(std::string_view shell);

}  // namespace ncclog
