// What can be typed? Every command with its arguments and flags, as rows of one table.
//
//   add_flag(analyze, kOutput, "-o,--output FILE", options.output, "write this file instead")
//   → FlagRow{.names = {"-o", "--output"}, .value = "FILE", .group = "Output", …}
//
// The rows are declared in the commands' own files and are the only list: the parser, help, man
// pages, completions and configuration files are made of them, so a flag that is declared stands
// everywhere. What a shell can complete follows from the name of the value: "text|json" is one of
// these words, "op,size" any of them with commas between, FILE a file, RULE a rule's id, and so on.

#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/output.h"
#include "model/job.h"
#include "report/tables/table.h"
#include "report/tables/tables.h"

namespace ncclog {

/// What flags are about, as help groups them.
inline constexpr const char* kInputFlags = "Input";
inline constexpr const char* kJudgingFlags = "Judging";
inline constexpr const char* kPlanFlags = "Plan";
inline constexpr const char* kCountingFlags = "Counting";
inline constexpr const char* kOutputFlags = "Output";
inline constexpr const char* kFurtherFlags = "Options";
inline constexpr const char* kGeneralFlags = "General";  ///< Those that every command has.

/// A flag, or an argument without a name.
struct FlagRow {
  std::vector<std::string> names;  ///< "-q", "--quiet"; of an argument: empty.
  std::string value;               ///< "FILE", "text|json"; empty: the flag takes none.
  std::string help;                ///< One sentence, without a full stop.
  std::string group;               ///< "Output": what it is about.
  std::string fallback;            ///< Value where the flag is not given; empty: not known.
  bool repeats = false;            ///< More than one value makes sense.
  std::string needs;               ///< "--bundle": makes no sense without that flag.
  bool is_hidden = false;          ///< Taken, and named nowhere: an older name of something.
  /// Takes what was typed or stands in a configuration file; of a switch "true" or "false". Throws
  /// Error for a value that the flag does not know. Empty: of --help only.
  std::function<void(const std::vector<std::string>& values)> set;
  std::vector<std::string> typed;  ///< On the command line that was parsed.
};

/// Carries out a command whose options are parsed. Throws Error if that cannot be done.
using RunCommand = std::function<ExitStatus(Console& console)>;

struct CommandRow {
  std::string path;  ///< "rules new"; of ncclog itself: empty.
  std::string help;  ///< One line.
  std::string task;  ///< What the command is for, as the overview groups them; empty: an older
                     ///< name, which works and is listed nowhere.
  bool is_further = false;  ///< Below ncclog: listed by 'help all' only.
  std::vector<FlagRow> arguments;
  std::vector<FlagRow> flags;
  std::string notes;  ///< Examples, tables, exit status: headings with indented lines, paragraphs.
  std::vector<CommandRow> commands;  ///< Those below it, such as "rules new" below "rules".
  RunCommand run;                    ///< Empty: help is printed.
};

// Declaring: what is typed fills `target`, which must live as long as the row is used. `typed` is
// "-o,--output FILE": the names, and after a blank what the value is called.

/// A flag or an argument whose values `set` takes.
FlagRow& add_flag_by(CommandRow& command, const char* group, std::string_view typed,
                     std::function<void(const std::string& value)> set, std::string help);
FlagRow& add_row(std::vector<FlagRow>& rows, const char* group, std::string_view typed,
                 std::string help);

/// Lets a row fill a switch, a text, or a list, for which it takes several values.
template <typename Target>
FlagRow& fill_by(FlagRow& row, Target& target) {
  row.repeats = std::is_same_v<Target, std::vector<std::string>>;
  row.set = [&target](const std::vector<std::string>& values) {
    if constexpr (std::is_same_v<Target, bool>) {
      target = values.front() == "true";
    } else if constexpr (std::is_same_v<Target, std::string>) {
      target = values.front();
    } else {
      target = values;
    }
  };
  return row;
}

/// A list may be given several times, with one value each.
template <typename Target>
FlagRow& add_flag(CommandRow& command, const char* group, std::string_view typed, Target& target,
                  std::string help) {
  return fill_by(add_row(command.flags, group, typed, std::move(help)), target);
}

/// A list takes all that follow.
template <typename Target>
FlagRow& add_argument(CommandRow& command, const char* name, Target& target, std::string help) {
  return fill_by(add_row(command.arguments, "", " " + std::string(name), std::move(help)), target);
}

/// A command below `above`.
CommandRow& add_command(CommandRow& above, std::string_view name, std::string help);

/// Options that live as long as the row, with which `run` carries the command out.
template <typename Options>
Options& options_of(CommandRow& command,
                    ExitStatus (*run)(const Options& options, Console& console)) {
  const auto options = std::make_shared<Options>();
  command.run = [options, run](Console& console) { return run(*options, console); };
  return *options;
}

/// The numbers that a flag takes.
struct NumberRange {
  int64_t least = 0;
  int64_t most = 0;
};

/// The number that `word` is. Throws Error "--gpus: not a number from 2 to 1048576: '0'".
int64_t number_in(NumberRange range, const std::string& flag, const std::string& word);

/// `target` can hold every number of the range.
template <typename Number>
FlagRow& add_number(CommandRow& command, const char* group, std::string_view typed,
                    NumberRange range, Number& target, std::string help) {
  const std::string flag(typed.substr(0, typed.find(' ')));
  const auto set = [flag, range, &target](const std::string& word) {
    target = static_cast<Number>(number_in(range, flag, word));
  };
  return add_flag_by(command, group, typed, set, std::move(help));
}

/// A word that a flag takes, and what it means.
template <typename Value>
struct Choice {
  std::string_view word;
  Value value;
};

/// The place of `word` in `words`. Throws Error "--format: unknown value 'jsn'", "did you mean
/// 'json'?".
size_t place_of_choice(const std::vector<std::string_view>& words, const std::string& flag,
                       const std::string& word);

template <typename Choices>
std::vector<std::string_view> words_of(const Choices& choices) {
  std::vector<std::string_view> words;
  for (const auto& choice : choices) words.push_back(choice.word);
  return words;
}

/// The values of an enum by their words, which stand in its order.
template <typename Value>
std::vector<Choice<Value>> in_order(
    const std::vector<std::string_view>& words = words_of_enum<Value>()) {
  std::vector<Choice<Value>> choices;
  for (const std::string_view word : words) {
    choices.push_back({word, static_cast<Value>(choices.size())});
  }
  return choices;
}

/// Kinds of a thing, such as the formats of reports, by name; they must outlive the row.
template <typename Kinds>
auto choices_of(const Kinds& kinds) {
  std::vector<Choice<decltype(&*std::begin(kinds))>> choices;
  for (const auto& kind : kinds) choices.push_back({kind.name, &kind});
  return choices;
}

/// What of a command's notes lists kinds: "  ranks            one row per rank", below `heading`.
template <typename Kinds, typename Name, typename Help>
std::string list_of(const Kinds& kinds, std::string_view heading, Name name, Help help) {
  std::string list = std::string(heading) + "\n";
  for (const auto& kind : kinds) {
    list += fmt::format("  {:<17}{}\n", std::invoke(name, kind), std::invoke(help, kind));
  }
  return list + "\n";
}

/// `target` is of the choices' type or an optional of it.
template <typename Target, typename Choices>
FlagRow& add_choice(CommandRow& command, const char* group, const std::string& flag, Target& target,
                    const Choices& choices, std::string help) {
  const auto set = [flag, &target, choices](const std::string& word) {
    target = std::begin(choices)[place_of_choice(words_of(choices), flag, word)].value;
  };
  FlagRow& row = add_flag_by(command, group, flag, set, std::move(help));
  for (const auto& choice : choices) {
    row.value += (row.value.empty() ? "" : "|") + std::string(choice.word);
    if (target == choice.value) row.fallback = choice.word;
  }
  return row;
}

// Looking things up.

/// "--format"; of a flag with a short name only: that one; of an argument: its value.
const std::string& main_name(const FlagRow& flag);

/// Whether `name` is the "--no-anonymise" of a switch that is also "--anonymise".
bool turns_off(const FlagRow& flag, std::string_view name);

/// "rules new" of the row "rules new"; "ncclog" where `path` is empty is left out.
std::string typed_name(const CommandRow& command);

/// "new" of the row "rules new": what is typed last.
std::string_view last_word(const CommandRow& command);

/// "ncclog analyze [FLAG...] PATH...".
std::string usage(const CommandRow& command);

/// The row of that path, "rules new"; nullptr if there is none. Lives as `root`.
const CommandRow* find_command(const CommandRow& root, std::string_view path);

/// All rows that stand for something to run or to read about, `root` first, depth first.
std::vector<const CommandRow*> all_commands(const CommandRow& root);
std::vector<const CommandRow*> all_commands(CommandRow&& root) = delete;

/// The words of "text|json" or "op,size"; of RULE, TABLE and PROFILE those that are built in; empty
/// where anything may stand.
std::vector<std::string> value_words(const FlagRow& flag);

// Options that several commands have, and the flags that fill them.
//
//   ncclog analyze --threads 4 --rules site-rules logs/
//   → InputOptions{.paths = {"logs/"}, .threads = 4}, rules {"site-rules"}
//
// They hold what the user typed, before anything is looked at. Options of one command stand in its
// own file. What concerns tables by name is at the end, as several commands need it.

/// What and how to read; part of every command that reads logs.
struct InputOptions {
  std::vector<std::string> paths;           ///< Files, folders, patterns, "-"; empty: a mistake.
  int threads = 0;                          ///< 0: one per processor.
  std::optional<StatedOutcome> stated;      ///< How the job ended, of commands that judge it.
  std::vector<std::string> expected_hosts;  ///< On which it ran; empty: not said.
};

/// Standard output as a flag names it.
inline constexpr const char* kStandardOutput = "-";

enum class TableFormat { Text, Json, Csv, Jsonl };

void add_input_flags(CommandRow& command, InputOptions& input);
void add_outcome_flag(CommandRow& command, InputOptions& input);
void add_expected_hosts_flag(CommandRow& command, InputOptions& input);
/// `rules` are files and folders that add to the built-in rules.
void add_rules_flag(CommandRow& command, std::vector<std::string>& rules);
void add_color_flag(CommandRow& command, ColorChoice& color);
/// For commands whose answer is text or JSON.
void add_text_or_json_flag(CommandRow& command, bool& is_json);

/// The table of that name. Throws Error, naming the command `where` and what it could have meant,
/// if there is none; `also` are further names that the command knows.
const TableKind& chosen_table(std::string_view name, std::string_view where,
                              std::span<const std::string_view> also = {});

/// Writes the table while its rows are made; text, which is cut to the width of a terminal, needs
/// all of them first.
void print_table(Table table, TableFormat format, ColorChoice color, Console& console);

}  // namespace ncclog
