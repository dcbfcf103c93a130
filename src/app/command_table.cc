#include "app/command_table.h"

#include <algorithm>

#include "app/cluster/host_list.h"
#include "base/error.h"
#include "base/text.h"
#include "rules/load_rules.h"
#include "rules/profile.h"

namespace ncclog {
FlagRow& add_row(std::vector<FlagRow>& rows, const char* group, std::string_view typed,
                 std::string help) {
  const size_t blank = std::min(typed.find(' '), typed.size());
  FlagRow& row = rows.emplace_back();
  if (blank > 0) {
    const auto names = split(typed.substr(0, blank), ',');
    row.names.assign(names.begin(), names.end());
  }
  row.value = trim(typed.substr(blank));
  row.help = std::move(help);
  row.group = group;
  return row;
}

FlagRow& add_flag_by(CommandRow& command, const char* group, std::string_view typed,
                     std::function<void(const std::string& value)> set, std::string help) {
  FlagRow& row = add_row(command.flags, group, typed, std::move(help));
  row.set = [set = std::move(set)](const std::vector<std::string>& values) { set(values.front()); };
  return row;
}

CommandRow& add_command(CommandRow& above, std::string_view name, std::string help) {
  CommandRow& row = above.commands.emplace_back();
  row.path = above.path + (above.path.empty() ? "" : " ") + std::string(name);
  row.help = std::move(help);
  row.task = above.task;
  return row;
}

int64_t number_in(NumberRange range, const std::string& flag, const std::string& word) {
  const auto number = parse_int(word);
  if (number && *number >= range.least && *number <= range.most) return *number;
  throw Error(
      fmt::format("not a number from {} to {}: '{}'", range.least, range.most, printable(word)),
      flag);
}

size_t place_of_choice(const std::vector<std::string_view>& words, const std::string& flag,
                       const std::string& word) {
  const auto found = std::ranges::find(words, word);
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  throw Error(fmt::format("unknown value '{}'", printable(word)), flag, hint_for(word, words));
}

const std::string& main_name(const FlagRow& flag) {
  for (const std::string& name : flag.names) {
    if (name.starts_with("--")) return name;
  }
  return flag.names.empty() ? flag.value : flag.names.back();
}

bool turns_off(const FlagRow& flag, std::string_view name) {
  constexpr std::string_view kNo = "--no-";
  if (!name.starts_with(kNo)) return false;
  const std::string other = "--" + std::string(name.substr(kNo.size()));
  return std::ranges::find(flag.names, other) != flag.names.end();
}

std::string typed_name(const CommandRow& command) {
  return command.path.empty() ? "ncclog" : "ncclog " + command.path;
}

std::string_view last_word(const CommandRow& command) {
  return std::string_view(command.path).substr(command.path.rfind(' ') + 1);
}

std::string usage(const CommandRow& command) {
  std::string text = typed_name(command);
  if (!command.commands.empty()) text += " COMMAND";
  text += " [FLAG...]";
  for (const FlagRow& argument : command.arguments) {
    text += " " + argument.value + (argument.repeats ? "..." : "");
  }
  return text;
}

const CommandRow* find_command(const CommandRow& root, std::string_view path) {
  const std::vector<const CommandRow*> all = all_commands(root);
  const auto found = std::ranges::find(all, path, &CommandRow::path);
  return found == all.end() ? nullptr : *found;
}

std::vector<const CommandRow*> all_commands(const CommandRow& root) {
  std::vector<const CommandRow*> all = {&root};
  for (const CommandRow& below : root.commands) {
    for (const CommandRow* command : all_commands(below)) all.push_back(command);
  }
  return all;
}

std::vector<std::string> value_words(const FlagRow& flag) {
  for (const char separator : {'|', ','}) {
    if (flag.value.find(separator) == std::string::npos) continue;
    const auto words = split(flag.value, separator);
    return {words.begin(), words.end()};
  }
  std::vector<std::string> words;
  if (flag.value == "RULE") {
    for (const Rule& rule : load_rulebook({}).rules) words.push_back(rule.id);
    std::ranges::sort(words);
  } else if (flag.value == "TABLE") {
    for (const TableKind& kind : table_kinds()) words.emplace_back(kind.name);
  } else if (flag.value == "PROFILE") {
    for (const EmbeddedFile& file : shipped_profiles()) {
      words.emplace_back(file.path.substr(0, file.path.rfind('.')));
    }
  }
  return words;
}

void add_input_flags(CommandRow& command, InputOptions& input) {
  add_argument(command, "PATH", input.paths, "log files, folders, quoted patterns, '-' for stdin");
  add_number(command, kInputFlags, "--threads N", {1, 1024}, input.threads,
             "how many threads read; the report does not depend on it");
}

void add_outcome_flag(CommandRow& command, InputOptions& input) {
  add_choice(command, kJudgingFlags, "--outcome", input.stated, in_order<StatedOutcome>(),
             "what you saw of the job's end, which its logs may not tell: hung (their end is where "
             "it stood still), crashed, slow, finished");
}

void add_expected_hosts_flag(CommandRow& command, InputOptions& input) {
  const auto add = [&input](const std::string& list) {
    for (std::string& host : expand_host_list(list, "--expect-hosts")) {
      input.expected_hosts.push_back(std::move(host));
    }
  };
  add_flag_by(command, kJudgingFlags, "--expect-hosts LIST", add,
              "hosts on which the job ran, as Slurm writes them, n[01-16]: those without lines are "
              "said to be unknown");
}

void add_rules_flag(CommandRow& command, std::vector<std::string>& rules) {
  add_flag(command, kJudgingFlags, "--rules DIR", rules,
           "a folder or file of rules that add to the built-in ones or, "
           "with the same id, replace them, and of overlays; may be repeated");
}

void add_color_flag(CommandRow& command, ColorChoice& color) {
  add_choice(command, kOutputFlags, "--color", color,
             in_order<ColorChoice>({"auto", "always", "never"}),
             "colour: on a terminal unless NO_COLOR is set (auto), always, never");
}

void add_text_or_json_flag(CommandRow& command, bool& is_json) {
  add_choice(command, kOutputFlags, "--format", is_json, in_order<bool>({"text", "json"}),
             "text for people, json for scripts");
}

const TableKind& chosen_table(std::string_view name, std::string_view where,
                              std::span<const std::string_view> also) {
  const TableKind* kind = find_table_kind(name);
  if (kind != nullptr) return *kind;
  std::vector<std::string_view> names(also.begin(), also.end());
  for (const TableKind& known : table_kinds()) names.push_back(known.name);
  const std::string what =
      name.empty() ? "no table named" : fmt::format("no table '{}'", printable(name));
  throw Error(what, std::string(where), hint_for(name, names));
}

void print_table(Table table, TableFormat format, ColorChoice color, Console& console) {
  const auto take = [&console](std::string_view text) {
    console.out += text;
    return console.pass_on();
  };
  if (format == TableFormat::Text) {
    table.keep_rows();
    if (console.quiet) {
      take(fmt::format("{}: {}\n", table.name, plural(std::ssize(table.rows), "row")));
      return;
    }
    take(write_table_text(table, console.style(color), /*fit=*/console.is_terminal));
  } else {
    constexpr void (*kWriters[])(const Table&, const TextTaker&) = {
        write_table_json, write_table_csv, write_table_jsonl};
    kWriters[static_cast<size_t>(format) - 1](table, take);
  }
}

}  // namespace ncclog
