// Any bytes as a script, an nccl.conf or a YAML file that sets variables, and what is said about
// the settings.

#include "log/settings.h"

#include "diagnose/settings/lint.h"
#include "fuzz/fuzz.h"
#include "import/import.h"

namespace ncclog::fuzz {
namespace {

void check(const std::vector<Setting>& settings, std::string_view bytes) {
  for (const Setting& setting : settings) {
    require(setting.name.size() <= bytes.size() && setting.value.size() <= bytes.size());
    require(setting.line <= bytes.size() + 1);
  }
}

}  // namespace

void fuzz_settings(std::string_view bytes) {
  check(read_shell_settings(bytes).settings, bytes);
  check(read_shell_settings(bytes).handed_on, bytes);
  check(read_conf_settings(bytes), bytes);
}

void fuzz_yaml_settings(std::string_view bytes) { check(read_yaml_settings(bytes).value, bytes); }

void fuzz_lint(std::string_view bytes) {
  const std::vector<Setting> settings = read_shell_settings(bytes).settings;
  LintContext context;
  context.hosts = {{"node-a", {"lo", "eth0", "ib0"}, {"mlx5_0", "mlx5_1"}}};
  for (const Remark& remark : lint(settings, context)) require(remark.setting < settings.size());
}

}  // namespace ncclog::fuzz
