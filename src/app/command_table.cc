#include "app/command_table.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>

#include "app/options.h"
#include "base/text.h"
#include "rules/load_rules.h"
#include "rules/profile.h"

namespace ncclog {
namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// CLI11 names a positional argument without a type by the name that it was declared with.
std::string value_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const bool has_type = !type.empty() && type != "TEXT";
  if (option.get_positional() && !has_type) return option.get_name(true, false);
  return option.get_items_expected_max() == 0 ? std::string() : option.get_type_name();
}

FlagRow row_of(const CLI::Option& option) {
  FlagRow row;
  row.names = names_of(option);
  row.value = value_of(option);
  row.help = option.get_description();
  row.group = option.get_group();
  row.fallback = option.get_default_str();
  row.repeats = option.get_items_expected_max() > 1 ||
                option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  return row;
}

CommandRow row_of(const CLI::App& app, const std::string& above) {
  const bool is_root = app.get_parent() == nullptr;
  CommandRow row;
  row.path = is_root ? std::string() : above + (above.empty() ? "" : " ") + app.get_name();
  row.help = app.get_description();
  row.task = app.get_group();
  row.notes = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? row.arguments : row.flags).push_back(row_of(*option));
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    row.commands.push_back(row_of(*below, row.path));
  }
  return row;
}

struct KindRow {
  std::string_view value;
  ArgumentKind kind;
};

/// What the names of values promise.
constexpr KindRow kKinds[] = {
    {"PATH", ArgumentKind::File},       {"FILE", ArgumentKind::File},
    {"GOOD", ArgumentKind::File},       {"BAD", ArgumentKind::File},
    {"DIR", ArgumentKind::Folder},      {"FOLDER", ArgumentKind::Folder},
    {"RULE", ArgumentKind::Rule},       {"TABLE", ArgumentKind::Table},
    {"PROFILE", ArgumentKind::Profile}, {"COMMAND", ArgumentKind::Command},
};

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const TableKind& kind : table_kinds()) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : shipped_profiles()) {
    names.emplace_back(file.path.substr(0, file.path.rfind('.')));
  }
  return names;
}

std::vector<std::string> rule_ids() {
  std::vector<std::string> ids;
  for (const Rule& rule : load_rulebook({}).rules) ids.push_back(rule.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<std::string> split_words(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, separator)) words.emplace_back(word);
  return words;
}

bool is_heading(std::span<const std::string_view> lines, size_t at) {
  return lines[at].ends_with(':') && at + 1 < lines.size() && lines[at + 1].starts_with("  ");
}

}  // namespace

CommandRow command_table(const CLI::App& app) {
  std::string above;
  for (const CLI::App* each = app.get_parent(); each != nullptr; each = each->get_parent()) {
    if (each->get_parent() == nullptr) break;
    above = above.empty() ? each->get_name() : each->get_name() + " " + above;
  }
  return row_of(app, above);
}

const std::string& main_name(const FlagRow& flag) {
  return flag.names.empty() ? flag.value : flag.names.back();
}

std::string typed_name(const CommandRow& command) {
  return command.path.empty() ? "ncclog" : "ncclog " + command.path;
}

std::string last_word(const CommandRow& command) {
  return command.path.substr(command.path.rfind(' ') + 1);
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
  for (const CommandRow* command : all_commands(root)) {
    if (command->path == path) return command;
  }
  return nullptr;
}

std::vector<const CommandRow*> all_commands(const CommandRow& root) {
  std::vector<const CommandRow*> all = {&root};
  for (const CommandRow& below : root.commands) {
    for (const CommandRow* command : all_commands(below)) all.push_back(command);
  }
  return all;
}

std::vector<std::string> flag_groups(const CommandRow& command) {
  std::vector<std::string> groups;
  for (const FlagRow& flag : command.flags) {
    const bool known = std::find(groups.begin(), groups.end(), flag.group) != groups.end();
    if (!known) groups.push_back(flag.group);
  }
  return groups;
}

ArgumentKind argument_kind(const FlagRow& flag) {
  if (flag.value.empty()) return ArgumentKind::None;
  if (flag.value.find('|') != std::string::npos) return ArgumentKind::Word;
  if (flag.value.find(',') != std::string::npos) return ArgumentKind::WordList;
  for (const KindRow& row : kKinds) {
    if (row.value == flag.value) return row.kind;
  }
  return ArgumentKind::Text;
}

std::vector<std::string> value_words(const FlagRow& flag) {
  switch (argument_kind(flag)) {
    case ArgumentKind::Word:
      return split_words(flag.value, '|');
    case ArgumentKind::WordList:
      return split_words(flag.value, ',');
    case ArgumentKind::Rule:
      return rule_ids();
    case ArgumentKind::Table:
      return table_names();
    case ArgumentKind::Profile:
      return profile_names();
    default:
      return {};
  }
}

std::vector<NoteBlock> note_blocks(std::string_view notes) {
  const std::vector<std::string_view> lines = split(notes, '\n');
  std::vector<NoteBlock> blocks;
  bool is_new = true;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (trim(line).empty()) {
      is_new = true;
    } else if (is_heading(lines, i)) {
      blocks.push_back({.heading = std::string(line.substr(0, line.size() - 1))});
      is_new = false;
    } else if (line.starts_with("  ")) {
      if (blocks.empty()) blocks.emplace_back();
      blocks.back().lines.emplace_back(line);
    } else if (is_new || !blocks.back().heading.empty()) {
      blocks.push_back({.lines = {std::string(line)}});
      is_new = false;
    } else {
      blocks.back().lines.back() += " " + std::string(line);
    }
  }
  return blocks;
}

}  // namespace ncclog
