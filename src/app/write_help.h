// What `--help` prints: commands by task, flags by what they are about, in the width of a terminal.
//
//   usage: ncclog show [FLAG...] TABLE PATH...
//
//   Print one table of what the logs say.
//
//   Output:
//     --format text|json|csv  text for people, json or csv for scripts

#pragma once

#include <string>

#include "app/command_table.h"
#include "app/console.h"

namespace ncclog {

/// Columns of a help text where the terminal does not say otherwise.
inline constexpr int kHelpColumns = 80;

/// The help of one command. Examples and tables stay as they are; all else fits `columns`, at least
/// 40.
std::string write_help(const CommandRow& command, int columns = kHelpColumns);

/// Columns for help on that console: its own, if it is narrower.
int help_columns(const Console& console);

/// The help of a declared command.
std::string help_text(const CLI::App& command, const Console& console);

/// "Says what …" with a capital and a full stop: a help line as a sentence.
std::string as_sentence(std::string_view help);

/// "--format text|json": a flag as it is typed, with its names; "PATH..." for an argument.
std::string typed_flag(const FlagRow& flag);

/// The flag's help with its default, where that is known and not said anyhow.
std::string help_of(const FlagRow& flag);

}  // namespace ncclog
