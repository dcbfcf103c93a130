// Values of flags that somebody always wants, in a file.
//
//   threads = 4                         for every command that has --threads
//   color = "never"
//
//   [analyze]                           for this command alone
//   fail-on = "warning"
//   rules = ["/etc/ncclog/site-rules"]
//
//   [rules.test]                        for `ncclog rules test`
//
// The format is TOML: keys are names of flags without their dashes; values are texts, whole numbers,
// true, false, and lists of them. Whatever is not understood is refused with its line: a setting that
// silently does nothing is worse than none.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/command_table.h"

namespace ncclog {

struct ConfigEntry {
  std::string section;              ///< "analyze", "rules test"; above all sections: empty.
  std::string key;                  ///< "fail-on".
  std::vector<std::string> values;  ///< "true" and "false" for switches.
  int line = 0;                     ///< From 1.
};

struct ConfigFile {
  std::string path;  ///< Empty: there is none.
  std::vector<ConfigEntry> entries;
};

/// Takes a file's text apart. Throws Error with path:line, and the column of what is no TOML.
ConfigFile parse_config(std::string_view text, const std::string& path);

/// The file that `--config` names in `arguments`, else NCCLOG_CONFIG (an empty name: none), else
/// ncclog/config.toml below XDG_CONFIG_HOME or ~/.config, if it is there. Throws Error if a file
/// that was named cannot be read.
ConfigFile find_config(const std::vector<std::string>& arguments);

// Which flags does a configuration file set, and what is in force?
//
//   color = "never"      → every command's --color, as if it had been typed first
//   ncclog --show-config analyze
//   →   color         never                 /home/ana/.config/ncclog/config.toml:2

/// Gives its values to the flags of `root` and the commands below it, as if they had been typed
/// first: call it before parsing. Throws Error with path:line for keys, sections and values that
/// make no sense, and the nearest name that does.
void apply_config(const ConfigFile& config, const CommandRow& root);

/// What --show-config prints: the file, and of each flag of `command` its value and where that
/// comes from. Call it after parsing.
std::string describe_config(const ConfigFile& config, const CommandRow& command);

}  // namespace ncclog
