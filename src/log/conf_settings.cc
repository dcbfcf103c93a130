#include "log/conf_settings.h"

#include "base/text.h"

namespace ncclog {

std::vector<Setting> read_conf_settings(std::string_view text) {
  std::vector<Setting> settings;
  uint64_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    const size_t equals = line.find('=');
    if (line.starts_with('#') || equals == line.npos) continue;
    Setting setting;
    setting.name = line.substr(0, equals);
    setting.value = line.substr(equals + 1);
    setting.line = number;
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace ncclog
