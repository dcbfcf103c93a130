// What can be typed? Commands and flags as they are declared, for all who describe them: help, man
// pages, completions, configuration files.
//
//   ncclog analyze [FLAG...] PATH...
//   → CommandRow{.path = "analyze", .arguments = {PATH...}, .flags = {--format text|json, ...}}
//
// The declarations (app/options.cc and the commands' own files) are the only list. Everything here
// is read off them, so a flag that is declared stands everywhere. What a shell can complete is told
// by the name of the value: "text|json" is one of these words, "op,size" any of them with commas
// between, FILE a file, RULE a rule's id, and so on.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI
namespace ncclog {

/// The group of the flags that every command has.
inline constexpr const char* kGeneralFlags = "General";

/// A flag, or an argument without a name.
struct FlagRow {
  std::vector<std::string> names;  ///< "-q", "--quiet"; of an argument: empty.
  std::string value;               ///< "FILE", "text|json"; empty: the flag takes none.
  std::string help;                ///< One sentence, without a full stop.
  std::string group;               ///< "Output": what it is about.
  std::string fallback;            ///< Value where the flag is not given; empty: not known.
  bool repeats = false;            ///< More than one value makes sense.
};

struct CommandRow {
  std::string path;  ///< "rules new"; of ncclog itself: empty.
  std::string help;  ///< One line.
  std::string task;  ///< What the command is for, as the overview groups them.
  std::vector<FlagRow> arguments;
  std::vector<FlagRow> flags;
  std::string notes;  ///< Examples, tables, exit status: headings with indented lines, paragraphs.
  std::vector<CommandRow> commands;  ///< Those below it, such as "rules new" below "rules".
};

/// The command and everything below it, in the order of the declarations.
CommandRow command_table(const CLI::App& app);

/// "--format"; of a flag with a short name only: that one; of an argument: its value.
const std::string& main_name(const FlagRow& flag);

/// "rules new" of the row "rules new"; "ncclog" where `path` is empty is left out.
std::string typed_name(const CommandRow& command);

/// "new" of the row "rules new": what is typed last.
std::string last_word(const CommandRow& command);

/// "ncclog analyze [FLAG...] PATH...".
std::string usage(const CommandRow& command);

/// The row of that path, "rules new"; nullptr if there is none. Lives as `root`.
const CommandRow* find_command(const CommandRow& root, std::string_view path);

/// All rows that stand for something to run or to read about, `root` first, depth first.
std::vector<const CommandRow*> all_commands(const CommandRow& root);
std::vector<const CommandRow*> all_commands(CommandRow&& root) = delete;

/// Titles of flags by group, in the order in which help and man pages show them.
std::vector<std::string> flag_groups(const CommandRow& command);

/// How a shell completes a value.
enum class ArgumentKind { None, Word, WordList, File, Folder, Rule, Table, Profile, Command, Text };

ArgumentKind argument_kind(const FlagRow& flag);

/// The words of "text|json" or "op,size"; for rules, tables and profiles those that are built in;
/// empty for other kinds.
std::vector<std::string> value_words(const FlagRow& flag);

/// A piece of a command's notes.
struct NoteBlock {
  std::string heading;             ///< "Examples"; empty: a paragraph.
  std::vector<std::string> lines;  ///< Below the heading, as they are; or the paragraph's, joined.
};

/// `notes` taken apart. A line that ends with ":" before indented ones is a heading; indented lines
/// stay as they are; neighbouring lines of a paragraph become one.
std::vector<NoteBlock> note_blocks(std::string_view notes);

}  // namespace ncclog
