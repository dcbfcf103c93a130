// Any bytes as a configuration file, and as a list of hosts.

#include "app/command_line.h"

#include <set>

#include "app/cluster/host_list.h"
#include "app/configuration_file.h"
#include "base/error.h"
#include "fuzz/fuzz.h"

namespace ncclog::fuzz {

void fuzz_configuration(std::string_view bytes) {
  try {
    const ConfigFile config = parse_config(bytes, "config.toml");
    for (const ConfigEntry& entry : config.entries) require(entry.line > 0);
    const CommandRow root = declared_commands();
    apply_config(config, root);
    describe_config(config, root);
  } catch (const Error& error) {
    require(!std::string_view(error.what()).empty());
  }
}

void fuzz_host_list(std::string_view bytes) {
  try {
    const std::vector<std::string> hosts = expand_host_list(bytes, "--hosts");
    require(!hosts.empty() && hosts.size() <= kMostHosts);
    require(std::set<std::string>(hosts.begin(), hosts.end()).size() == hosts.size());
    for (const std::string& host : hosts) require(is_host_name(host));
  } catch (const Error& error) {
    require(!std::string_view(error.what()).empty());
  }
}

}  // namespace ncclog::fuzz
