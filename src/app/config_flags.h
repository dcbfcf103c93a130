// Which flags does a configuration file set, and what is in force?
//
//   color = "never"      → every command's --color, as if it had been typed first
//   ncclog --show-config analyze
//   →   color         never                 /home/ana/.config/ncclog/config.toml:2

#pragma once

#include <string>

#include "app/config_file.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ncclog {

/// Gives its values to the options of `root` and the commands below it, as if they had been typed
/// first: call it before parsing. Throws Error with path:line for keys, sections and values that
/// make no sense, and the nearest name that does.
void apply_config(const ConfigFile& config, CLI::App& root);

/// The entry that `option` of `command` got its value from; nullptr if from none.
const ConfigEntry* entry_for(const ConfigFile& config, const CLI::App& command,
                             const CLI::Option& option);

/// What --show-config prints: the file, and of each flag of `command` its value and where that
/// comes from. Call it after parsing.
std::string describe_config(const ConfigFile& config, const CLI::App& command);

}  // namespace ncclog
