#include "app/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

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

}  // namespace ncclog
