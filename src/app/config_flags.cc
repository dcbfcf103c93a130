#include "app/config_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

std::string path_of(const CLI::App& app) {
  if (app.get_parent() == nullptr) return {};
  const std::string above = path_of(*app.get_parent());
  return above.empty() ? app.get_name() : above + " " + app.get_name();
}

/// `app` and all below it.
std::vector<CLI::App*> all_apps(CLI::App& app) {
  std::vector<CLI::App*> all = {&app};
  for (CLI::App* below : app.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::App* each : all_apps(*below)) all.push_back(each);
  }
  return all;
}

/// Flags that do one thing at once make no sense in a file.
bool is_configurable(const CLI::Option& option) {
  constexpr std::string_view kNever[] = {"help", "version", "config", "show-config"};
  if (!option.nonpositional() || option.get_lnames().empty()) return false;
  return std::find(std::begin(kNever), std::end(kNever), option.get_lnames().front()) ==
         std::end(kNever);
}

CLI::Option* option_of(CLI::App& app, const std::string& key) {
  for (CLI::Option* option : app.get_options([](CLI::Option*) { return true; })) {
    const auto& names = option->get_lnames();
    const bool is_meant = std::find(names.begin(), names.end(), key) != names.end();
    if (is_meant && is_configurable(*option)) return option;
  }
  return nullptr;
}

[[noreturn]] void refuse_key(const ConfigFile& config, const ConfigEntry& entry, CLI::App& root) {
  std::vector<std::string> keys;
  for (CLI::App* app : all_apps(root)) {
    if (!entry.section.empty() && path_of(*app) != entry.section) continue;
    for (CLI::Option* option : app->get_options([](CLI::Option*) { return true; })) {
      if (is_configurable(*option)) keys.push_back(option->get_lnames().front());
    }
  }
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  const auto nearest = nearest_name(entry.key, views);
  const std::string whose = entry.section.empty() ? "" : " of " + entry.section;
  throw Error(fmt::format("unknown key '{}'{}", printable(entry.key), whose),
              place(config, entry.line),
              nearest ? fmt::format("did you mean '{}'?", *nearest)
                      : "keys are names of flags; 'ncclog COMMAND --help' lists them");
}

[[noreturn]] void refuse_section(const ConfigFile& config, const ConfigEntry& entry,
                                 CLI::App& root) {
  std::vector<std::string> paths;
  for (const CLI::App* app : all_apps(root)) paths.push_back(path_of(*app));
  const std::vector<std::string_view> views(paths.begin() + 1, paths.end());
  const auto nearest = nearest_name(entry.section, views);
  throw Error(
      fmt::format("no command '{}'", printable(entry.section)), place(config, entry.line),
      nearest ? fmt::format("did you mean '{}'?", *nearest) : "'ncclog --help' lists the commands");
}

/// As if the values had been typed; what is typed later replaces them.
void give(CLI::Option& option, const ConfigEntry& entry, const ConfigFile& config) {
  const bool is_switch = option.get_items_expected_max() == 0;
  const bool is_word = entry.values.size() == 1;
  const std::string where = fmt::format("{}: {}", place(config, entry.line), entry.key);
  if (is_switch && !(is_word && (entry.values[0] == "true" || entry.values[0] == "false"))) {
    throw Error("is on or off", where, "write true or false");
  }
  if (is_switch && entry.values[0] == "false") return;
  try {
    for (const std::string& value : entry.values) option.add_result(value);
    option.run_callback();
    option.clear();
  } catch (const Error& error) {
    throw Error(error.what(), where, error.hint());
  } catch (const CLI::ParseError&) {
    throw Error(fmt::format("cannot be '{}'", printable(join(entry.values, ", "))), where,
                fmt::format("it takes {}", option.get_type_name()));
  }
}

bool is_meant(const ConfigEntry& entry, const CLI::App& app) {
  return entry.section.empty() || entry.section == path_of(app);
}

/// Whether the flag knows those words. What stands above all sections is for the flags that do:
/// `format = "csv"` says nothing to a command that writes none.
bool knows(const CLI::Option& option, const ConfigEntry& entry) {
  if (!entry.section.empty()) return true;
  const bool is_switch = option.get_items_expected_max() == 0;
  if (is_switch)
    return entry.values.size() == 1 && (entry.values[0] == "true" || entry.values[0] == "false");
  const std::string type = option.get_type_name();
  if (type.find('|') == std::string::npos) return true;
  const std::vector<std::string_view> words = split(type, '|');
  return std::all_of(entry.values.begin(), entry.values.end(), [&](const std::string& value) {
    return std::find(words.begin(), words.end(), value) != words.end();
  });
}

/// The flags that the entry is for.
std::vector<std::pair<const CLI::App*, CLI::Option*>> options_for(
    const ConfigEntry& entry, const std::vector<CLI::App*>& apps) {
  std::vector<std::pair<const CLI::App*, CLI::Option*>> options;
  for (CLI::App* app : apps) {
    CLI::Option* option = is_meant(entry, *app) ? option_of(*app, entry.key) : nullptr;
    if (option != nullptr) options.emplace_back(app, option);
  }
  return options;
}

/// The value of a flag, for people.
std::string value_text(const CLI::Option& option, const ConfigEntry* entry) {
  if (option.count() > 0) return join(option.results(), ", ");
  if (entry != nullptr) return join(entry->values, ", ");
  if (option.get_items_expected_max() == 0) return "false";
  return option.get_default_str().empty() ? "-" : option.get_default_str();
}

std::string source_text(const CLI::Option& option, const ConfigEntry* entry,
                        const ConfigFile& config) {
  if (option.count() > 0) return "command line";
  return entry != nullptr ? place(config, entry->line) : "default";
}

/// One line a flag: name, value, source.
std::string flag_lines(const ConfigFile& config, const CLI::App& command) {
  struct Line {
    std::string name, value, source;
  };
  std::vector<Line> lines;
  int widest = 0;
  for (const CLI::Option* option : command.get_options()) {
    if (!is_configurable(*option)) continue;
    const ConfigEntry* entry = entry_for(config, command, *option);
    lines.push_back({option->get_lnames().front(), printable(value_text(*option, entry)),
                     printable(source_text(*option, entry, config))});
    widest = std::max(widest, display_width(lines.back().value));
  }
  std::string out;
  for (const Line& line : lines) {
    out += fmt::format("  {:<14}{}  {}\n", line.name, pad(line.value, widest), line.source);
  }
  return out;
}

}  // namespace

void apply_config(const ConfigFile& config, CLI::App& root) {
  const std::vector<CLI::App*> apps = all_apps(root);
  for (const ConfigEntry& entry : config.entries) {
    const bool is_command = std::any_of(apps.begin(), apps.end(),
                                        [&](const CLI::App* app) { return is_meant(entry, *app); });
    if (!is_command) refuse_section(config, entry, root);
    const auto options = options_for(entry, apps);
    if (options.empty()) refuse_key(config, entry, root);
    const bool is_known = std::any_of(options.begin(), options.end(),
                                      [&](const auto& each) { return knows(*each.second, entry); });
    for (const auto& [app, option] : options) {
      // A word that no flag knows is given to all of them, so that one refuses it.
      if (!is_known || entry_for(config, *app, *option) == &entry) give(*option, entry, config);
    }
  }
}

const ConfigEntry* entry_for(const ConfigFile& config, const CLI::App& command,
                             const CLI::Option& option) {
  const ConfigEntry* found = nullptr;
  for (const ConfigEntry& entry : config.entries) {
    const auto& names = option.get_lnames();
    const bool is_named = std::find(names.begin(), names.end(), entry.key) != names.end();
    if (!is_named || !is_meant(entry, command) || !knows(option, entry)) continue;
    // A command's own section goes before what stands above all sections, the last before others.
    if (found == nullptr || found->section.empty() || !entry.section.empty()) found = &entry;
  }
  return found;
}

std::string describe_config(const ConfigFile& config, const CLI::App& command) {
  const std::string usual = usual_config_path();
  std::string out =
      config.path.empty()
          ? fmt::format("no configuration file{}\n", usual.empty() ? "" : "; one would be " + usual)
          : fmt::format("configuration file: {}\n", printable(config.path));
  return out + flag_lines(config, command);
}

}  // namespace ncclog
