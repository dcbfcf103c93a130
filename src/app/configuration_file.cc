#include "app/configuration_file.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

/// Takes one line apart, from left to right.
class LineParser {
 public:
  LineParser(std::string_view text, std::string where) : rest_(text), where_(std::move(where)) {}

  bool is_at_end() {
    rest_ = trim(rest_);
    return rest_.empty() || rest_.front() == '#';
  }

  bool takes(char wanted) {
    rest_ = trim(rest_);
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Letters, digits, "-", "_" and "."; throws if there are none.
  std::string word(std::string_view expected) {
    rest_ = trim(rest_);
    size_t length = 0;
    while (length < rest_.size() && is_of_word(rest_[length])) ++length;
    if (length == 0) refuse(expected);
    const std::string taken(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return taken;
  }

  /// A text in quotes, or a bare word.
  std::string value() {
    rest_ = trim(rest_);
    const bool is_quoted = !rest_.empty() && (rest_.front() == '"' || rest_.front() == '\'');
    return is_quoted ? quoted() : bare();
  }

  [[noreturn]] void refuse(std::string_view expected) const {
    throw Error(fmt::format("expected {}, found '{}'", expected, printable(rest_)), where_,
                "write it like: fail-on = \"warning\"");
  }

 private:
  static bool is_of_word(char c) { return is_word(c) || c == '-' || c == '.'; }

  std::string quoted() {
    const char quote = rest_.front();
    std::string text;
    for (size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == quote) {
        rest_.remove_prefix(i + 1);
        return text;
      }
      const bool is_escape = quote == '"' && rest_[i] == '\\' && i + 1 < rest_.size();
      text += rest_[is_escape ? ++i : i];
    }
    refuse("a closing quote");
  }

  std::string bare() {
    const std::string text = word("a value");
    if (text == "true" || text == "false" || parse_int(text)) return text;
    throw Error(fmt::format("text needs quotes: {}", printable(text)), where_,
                fmt::format("write \"{}\"", printable(text)));
  }

  std::string_view rest_;
  std::string where_;
};

/// "rules.test" → "rules test".
std::string section_of(LineParser& line) {
  std::string name = line.word("a command's name");
  std::replace(name.begin(), name.end(), '.', ' ');
  if (!line.takes(']')) line.refuse("']'");
  if (!line.is_at_end()) line.refuse("the end of the line");
  return name;
}

std::vector<std::string> values_of(LineParser& line) {
  if (!line.takes('[')) return {line.value()};
  std::vector<std::string> values;
  while (!line.takes(']')) {
    values.push_back(line.value());
    if (line.takes(',')) continue;
    if (!line.takes(']')) line.refuse("',' or ']'");
    break;
  }
  return values;
}

std::string read_whole(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (std::filesystem::is_directory(path, error) || !file) {
    throw Error("cannot read the configuration file", path,
                "--config and NCCLOG_CONFIG name a file; an empty name means none");
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// What `--config` says, last one first; the parser itself comes too late for that.
std::optional<std::string> named_config(const std::vector<std::string>& arguments) {
  constexpr std::string_view kJoined = "--config=";
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  for (size_t i = static_cast<size_t>(end - arguments.begin()); i-- > 0;) {
    if (arguments[i].starts_with(kJoined)) return arguments[i].substr(kJoined.size());
    if (arguments[i] == "--config" && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return environment("NCCLOG_CONFIG");
}

}  // namespace

std::string usual_config_path() {
  const auto config_home = environment("XDG_CONFIG_HOME");
  const auto home = environment("HOME");
  if (config_home && config_home->starts_with('/')) return *config_home + "/ncclog/config.toml";
  return home && !home->empty() ? *home + "/.config/ncclog/config.toml" : std::string();
}

std::string place(const ConfigFile& config, int line) {
  return fmt::format("{}:{}", config.path, line);
}

ConfigFile parse_config(std::string_view text, const std::string& path) {
  ConfigFile config{path, {}};
  std::string section;
  int number = 0;
  for (std::string_view content : split(text, '\n')) {
    if (content.ends_with('\r')) content.remove_suffix(1);
    LineParser line(content, place(config, ++number));
    if (line.is_at_end()) continue;
    if (line.takes('[')) {
      section = section_of(line);
      continue;
    }
    ConfigEntry entry{section, line.word("the name of a flag"), {}, number};
    if (!line.takes('=')) line.refuse("'='");
    entry.values = values_of(line);
    if (!line.is_at_end()) line.refuse("the end of the line");
    config.entries.push_back(std::move(entry));
  }
  return config;
}

ConfigFile find_config(const std::vector<std::string>& arguments) {
  if (const auto named = named_config(arguments)) {
    return named->empty() ? ConfigFile() : parse_config(read_whole(*named), *named);
  }
  const std::string path = usual_config_path();
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return {};
  return parse_config(read_whole(path), path);
}

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
