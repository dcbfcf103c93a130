// Any bytes as a configuration file, and as a list of hosts.

#include <set>

#include "app/cluster/host_list.h"
#include "app/command_table.h"
#include "app/configuration_file.h"
#include "base/error.h"
#include "fuzz/fuzz.h"
#include "rules/rule.h"

namespace ncclog::fuzz {

namespace {

/// What flags of each sort fill.
struct Filled {
  bool quiet = false;
  std::string output;
  std::vector<std::string> rules;
  int threads = 0;
  Severity fail_on = Severity::Error;
};

void add_flags(CommandRow& command, Filled& filled) {
  add_flag(command, "", "-q,--quiet", filled.quiet, "Less.");
  add_flag(command, "", "-o,--output FILE", filled.output, "Where.");
  add_flag(command, "", "--rules PATH", filled.rules, "More.");
  add_number(command, "", "--threads N", {0, 4096}, filled.threads, "Workers.");
  add_choice(command, "", "--fail-on", filled.fail_on,
             in_order<Severity>({"error", "warning", "info"}), "When.");
}

}  // namespace

void fuzz_configuration(std::string_view bytes) {
  try {
    const ConfigFile config = parse_config(bytes, "config.toml");
    for (const ConfigEntry& entry : config.entries) require(entry.line > 0);
    Filled filled;
    CommandRow root;
    add_flags(root, filled);
    CommandRow& analyze = add_command(root, "analyze", "Judges.");
    add_flags(analyze, filled);
    add_flags(add_command(analyze, "test", "Tries."), filled);
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
