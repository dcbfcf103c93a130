// What the program says about how it is used: help, man pages, completions in shells.
//
//   ncclog show --help          usage: ncclog show [FLAG...] TABLE PATH...
//   man ncclog-show             .TH NCCLOG-SHOW 1 …
//   ncclog show ra<TAB>         ranks ras
//
// All of it is made of the command table (app/command_table.h), so a flag that is declared stands
// in all three.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_table.h"
#include "app/output.h"
#include "base/built_in.h"

namespace ncclog {

// What `--help` prints: commands by task, flags by what they are about, in the width of a terminal.
//
//   usage: ncclog show [FLAG...] TABLE PATH...
//
//   Print one table of what the logs say.
//
//   Output:
//     --format text|json|csv  text for people, json or csv for scripts

/// Columns of a help text where the terminal does not say otherwise.
inline constexpr int kHelpColumns = 80;

/// Which commands an overview lists: those that most people need, or all.
enum class Listed { First, All };

/// The help of one command. Examples and tables stay as they are; all else fits `columns`, at least
/// 40.
std::string write_help(const CommandRow& command, int columns = kHelpColumns,
                       Listed listed = Listed::First);

/// The pages behind `ncclog help TOPIC`, as they lie in src/app/pages/: "limits.md" and its text.
std::span<const EmbeddedFile> help_pages();

/// The files of src/app/texts: what stands below a command's flags (examples, exit status), scripts
/// of shells, and what ncclog(1) says for all commands.
std::span<const EmbeddedFile> help_texts();

/// The one of that name, "analyze.txt" or "ncclog.bash"; nullopt: none is called so.
std::optional<std::string_view> text_of(std::string_view name);

/// "limits" of "limits.md".
std::string_view topic_of(const EmbeddedFile& page);

/// A page as a terminal shows it: paragraphs and lists in that width, tables in columns without
/// rules, no marks of Markdown but backquotes. Indented lines stay as they are.
std::string page_on_screen(std::string_view markdown, int columns);

/// The word that stands for all commands where one could be named.
inline constexpr std::string_view kAllCommands = "all";

/// Columns for help on that console: its own, if it is narrower.
int help_columns(const Console& console);

/// "--format text|json": a flag as it is typed, with its names; "PATH..." for an argument.
std::string typed_flag(const FlagRow& flag);

// Man pages, made of what is declared: ncclog(1), ncclog-analyze(1), ncclog-rules(1), …
//
//   .TH NCCLOG-SHOW 1 "" "ncclog 1.0.0" "User Commands"
//   .SH NAME
//   ncclog\-show \- print one table of what the logs say
//
// A page says what --help says, as roff with the man macros, clean under `man --warnings` and
// `mandoc -T lint`. Commands below a command, such as `rules new`, are sections of its page.

struct ManPage {
  std::string name;  ///< "ncclog-show"; its file is ncclog-show.1.
  std::string text;
};

/// The page of ncclog itself first, then one for each command of `root`. `day` is "2026-11-21",
/// when that version was made.
std::vector<ManPage> write_man_pages(const CommandRow& root, std::string_view version,
                                     std::string_view day);

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

/// The word that asks for completions instead of naming a command; no help lists it.
inline constexpr std::string_view kCompleteCommand = "__complete";

/// What may stand in place of the last of `words`, one a line, with a tab and what it is where that
/// is known. ":files", ":folders": such names, too; ":more": a word may go on with ",".
std::string completions(const CommandRow& root, std::span<const std::string> words);

}  // namespace ncclog
