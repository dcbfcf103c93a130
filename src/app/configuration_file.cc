#include "app/configuration_file.h"

// It asserts what a mistake in a file breaks, "[$x]", and then reports the mistake all the same.
#define TOML_ASSERT(condition) static_assert(true)

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

/// What `--config` says, last one first; the parser itself comes too late for that.
std::optional<std::string> named_config(const std::vector<std::string>& arguments) {
  constexpr std::string_view kJoined = "--config=";
  const auto end = std::ranges::find(arguments, "--");
  for (size_t i = static_cast<size_t>(end - arguments.begin()); i-- > 0;) {
    if (arguments[i].starts_with(kJoined)) return arguments[i].substr(kJoined.size());
    if (arguments[i] == "--config" && i + 1 < arguments.size()) return arguments[i + 1];
  }
  // An empty one says that there shall be none.
  const char* const value = std::getenv("NCCLOG_CONFIG");
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// Where a file of one's own would lie; empty if there is no home.
std::string usual_config_path() {
  const std::string config_home = environment_variable("XDG_CONFIG_HOME");
  const std::string home = environment_variable("HOME");
  if (config_home.starts_with('/')) return config_home + "/ncclog/config.toml";
  return home.empty() ? home : home + "/.config/ncclog/config.toml";
}

/// "/home/ana/.config/ncclog/config.toml:3".
std::string place(const ConfigFile& config, int line) {
  return fmt::format("{}:{}", config.path, line);
}

constexpr const char* kQuotesHint = "a text needs quotes: fail-on = \"warning\"";

/// As it would be typed.
std::string typed_value(const toml::node& value, const std::string& where) {
  if (const auto* text = value.as_string()) return text->get();
  if (const auto* number = value.as_integer()) return std::to_string(number->get());
  if (const auto* is_on = value.as_boolean()) return is_on->get() ? "true" : "false";
  throw Error("neither a text nor a whole number, true or false", where, kQuotesHint);
}

/// Adds what stands in `table`, which is that section: "[rules.test]" is a table in a table.
void add_entries(const toml::table& table, const std::string& section, ConfigFile& config) {
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    const int line = static_cast<int>(key.source().begin.line);
    if (const auto* inner = value.as_table()) {
      add_entries(*inner, section.empty() ? name : section + " " + name, config);
      continue;
    }
    ConfigEntry entry{section, name, {}, line};
    const std::string where = place(config, line);
    if (const auto* list = value.as_array()) {
      for (const toml::node& item : *list) entry.values.push_back(typed_value(item, where));
    } else {
      entry.values.push_back(typed_value(value, where));
    }
    config.entries.push_back(std::move(entry));
  }
}

}  // namespace

ConfigFile parse_config(std::string_view text, const std::string& path) {
  ConfigFile config{path, {}};
  try {
    add_entries(toml::parse(text), "", config);
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    throw Error(printable(error.description()),
                fmt::format("{}:{}", place(config, static_cast<int>(at.line)), at.column),
                kQuotesHint);
  }
  // A table knows its keys by the alphabet; of two that may fit a flag, the later one counts.
  std::ranges::stable_sort(config.entries, {}, &ConfigEntry::line);
  return config;
}

ConfigFile find_config(const std::vector<std::string>& arguments) {
  const auto named = named_config(arguments);
  const std::string path = named.value_or(usual_config_path());
  std::error_code error;
  if (path.empty() || (!named && !std::filesystem::exists(path, error))) return {};
  const auto text = read_whole_file(path);
  if (text) return parse_config(*text, path);
  throw Error("cannot read the configuration file", path,
              "--config and NCCLOG_CONFIG name a file; an empty name means none");
}

namespace {

bool is_switch(const FlagRow& flag) { return flag.value.empty(); }

/// Flags that do one thing at once make no sense in a file.
bool is_configurable(const FlagRow& flag) {
  constexpr std::string_view kNever[] = {"--help", "--version", "--config", "--show-config"};
  const std::string& name = main_name(flag);
  return std::ranges::find(kNever, name) == std::end(kNever);
}

/// "fail-on" of --fail-on.
std::string_view key_of(const FlagRow& flag) { return std::string_view(main_name(flag)).substr(2); }

bool is_meant(const ConfigEntry& entry, const CommandRow& command) {
  return entry.section.empty() || entry.section == command.path;
}

bool is_meant(const ConfigEntry& entry, const FlagRow& flag) {
  const auto& names = flag.names;
  return is_configurable(flag) && std::ranges::find(names, "--" + entry.key) != names.end();
}

/// Whether the flag knows those words. What stands above all sections is for the flags that do:
/// `format = "csv"` says nothing to a command that writes none.
bool knows(const FlagRow& flag, const ConfigEntry& entry) {
  if (!entry.section.empty()) return true;
  const bool is_word = flag.value.find('|') != std::string::npos;
  if (!is_switch(flag) && !is_word) return true;
  const std::vector<std::string> words =
      is_word ? value_words(flag) : std::vector<std::string>{"true", "false"};
  if (is_switch(flag) && entry.values.size() != 1) return false;
  return std::ranges::all_of(entry.values, [&](const std::string& value) {
    return std::ranges::find(words, value) != words.end();
  });
}

/// The entry that `flag` of `command` got its value from; nullptr if from none.
const ConfigEntry* entry_for(const ConfigFile& config, const CommandRow& command,
                             const FlagRow& flag) {
  const ConfigEntry* found = nullptr;
  for (const ConfigEntry& entry : config.entries) {
    if (!is_meant(entry, flag) || !is_meant(entry, command) || !knows(flag, entry)) continue;
    // A command's own section goes before what stands above all sections, the last before others.
    if (found == nullptr || found->section.empty() || !entry.section.empty()) found = &entry;
  }
  return found;
}

/// As if the values had been typed; what is typed later replaces them.
void give(const FlagRow& flag, const ConfigEntry& entry, const ConfigFile& config) {
  const std::string where = fmt::format("{}: {}", place(config, entry.line), entry.key);
  const bool is_one = entry.values.size() == 1;
  const bool is_on = is_one && entry.values[0] == "true";
  if (is_switch(flag) && !is_on && !(is_one && entry.values[0] == "false")) {
    throw Error("is on or off", where, "write true or false");
  }
  if (!is_one && !flag.repeats) {
    throw Error(fmt::format("cannot be '{}'", printable(join(entry.values, ", "))), where,
                fmt::format("it takes {}", flag.value));
  }
  try {
    if (!is_switch(flag)) return flag.set(entry.values);
    flag.set({is_on != turns_off(flag, "--" + entry.key) ? "true" : "false"});
  } catch (const Error& error) {
    throw Error(error.what(), where, error.hint());
  }
}

}  // namespace

void apply_config(const ConfigFile& config, const CommandRow& root) {
  const std::vector<const CommandRow*> commands = all_commands(root);
  for (const ConfigEntry& entry : config.entries) {
    std::vector<std::string_view> paths;
    std::vector<std::string_view> keys;  // Of the commands that are meant.
    std::vector<std::pair<const CommandRow*, const FlagRow*>> meant;
    bool is_known = false;
    for (const CommandRow* command : commands) {
      if (command != &root) paths.push_back(command->path);
      if (!is_meant(entry, *command)) continue;
      for (const FlagRow& flag : command->flags) {
        if (is_configurable(flag)) keys.push_back(key_of(flag));
        if (!is_meant(entry, flag)) continue;
        meant.emplace_back(command, &flag);
        is_known = is_known || knows(flag, entry);
      }
    }
    if (keys.empty()) {
      throw Error(fmt::format("no command '{}'", printable(entry.section)),
                  place(config, entry.line),
                  hint_for(entry.section, paths, "'ncclog --help' lists the commands"));
    }
    if (meant.empty()) {
      const std::string whose = entry.section.empty() ? "" : " of " + entry.section;
      throw Error(
          fmt::format("unknown key '{}'{}", printable(entry.key), whose), place(config, entry.line),
          hint_for(entry.key, keys, "keys are names of flags; 'ncclog COMMAND --help' lists them"));
    }
    for (const auto& [command, flag] : meant) {
      // A word that no flag knows is given to all of them, so that one refuses it.
      if (!is_known || entry_for(config, *command, *flag) == &entry) give(*flag, entry, config);
    }
  }
}

std::string describe_config(const ConfigFile& config, const CommandRow& command) {
  const std::string usual = usual_config_path();
  std::string out =
      config.path.empty()
          ? fmt::format("no configuration file{}\n", usual.empty() ? "" : "; one would be " + usual)
          : fmt::format("configuration file: {}\n", printable(config.path));
  struct Row {
    std::string name, value, source;
  };
  std::vector<Row> lines;
  int widest = 0;
  for (const FlagRow& flag : command.flags) {
    if (!is_configurable(flag)) continue;
    const ConfigEntry* entry = entry_for(config, command, flag);
    Row row{std::string(key_of(flag)), flag.fallback.empty() ? "-" : flag.fallback, "default"};
    if (is_switch(flag)) row.value = "false";
    if (entry != nullptr) row = {row.name, join(entry->values, ", "), place(config, entry->line)};
    if (!flag.typed.empty()) row = {row.name, join(flag.typed, ", "), "command line"};
    row.value = printable(row.value);
    widest = std::max(widest, display_width(row.value));
    lines.push_back(std::move(row));
  }
  for (const Row& line : lines) {
    out +=
        fmt::format("  {:<14}{}  {}\n", line.name, pad(line.value, widest), printable(line.source));
  }
  return out;
}

}  // namespace ncclog
