#include "replay/settings_kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "base/text.h"
#include "replay/run_reading.h"

namespace ncclog {
namespace {

using Values = std::map<std::string, std::string>;

/// What all ranks have in that run. Of settings that differ between ranks the first rank's.
Values values_in_force(const ReplayOutcome& outcome, const RunOutcome& run) {
  Values values(outcome.settings.begin(), outcome.settings.end());
  for (const auto& [name, value] : run.settings) values[name] = value;
  return values;
}

struct OwnSetting {
  std::string_view name;
  std::string_view value;  ///< Empty: any.
  bool for_pseudo_hosts;   ///< Only where there are some.
};

constexpr OwnSetting kOwnSettings[] = {
    {"NCCL_DEBUG", "", false},          {"NCCL_DEBUG_SUBSYS", "", false},
    {"NCCL_NVLS_ENABLE", "0", false},   {"NCCL_NET", "Socket", true},
    {"NCCL_SOCKET_IFNAME", "lo", true}, {"NCCL_MNNVL_ENABLE", "0", true}};

/// True for what every replay, or every one with pseudo-hosts, has.
bool is_own(const ReplayOutcome& outcome, const std::string& name, const std::string& value) {
  return std::any_of(std::begin(kOwnSettings), std::end(kOwnSettings), [&](const OwnSetting& own) {
    const bool applies = !own.for_pseudo_hosts || outcome.pseudo_hosts > 1;
    return applies && own.name == name && (own.value.empty() || own.value == value);
  });
}

bool plans_to_set(const ReplayPlan& plan, const std::string& name) {
  return std::any_of(plan.settings.begin(), plan.settings.end(), [&](const PlannedSetting& each) {
    return each.left_out.empty() && each.name == name;
  });
}

bool is_varied(const RunOutcome& run, const std::string& name) {
  return std::any_of(run.settings.begin(), run.settings.end(),
                     [&](const auto& setting) { return setting.first == name; });
}

std::string text_of(const std::string& name, const std::string& value) {
  return fmt::format("{}={}", printable(name), printable(value));
}

void add_recorded(const PlannedSetting& setting, const Values& values, SettingsKept& kept) {
  const auto found = values.find(setting.name);
  const bool is_set = found != values.end();
  const bool is_same = is_set && found->second == setting.value;
  const std::string text = text_of(setting.name, setting.value);
  if (!setting.left_out.empty() && !is_same) {
    kept.changed.push_back(fmt::format("{} is not set: {}", text, printable(setting.left_out)));
  } else if (setting.left_out.empty() && setting.ranks.empty() && is_set && !is_same) {
    kept.changed.push_back(fmt::format("{}: recorded {}, replayed {}", printable(setting.name),
                                       printable(setting.value), printable(found->second)));
  } else {
    kept.held.push_back(text);
  }
}

}  // namespace

SettingsKept settings_kept(const ReplayPlan& plan, const ReplayOutcome& outcome,
                           const RunOutcome& run) {
  const Values values = values_in_force(outcome, run);
  SettingsKept kept;
  for (const PlannedSetting& setting : plan.settings) add_recorded(setting, values, kept);
  std::vector<std::string> added;
  for (const auto& [name, value] : outcome.settings) {
    const bool told = plans_to_set(plan, name) || is_varied(run, name);
    if (!name.starts_with("NCCL_") || told || is_own(outcome, name, value)) continue;
    const std::string text = text_of(name, value);
    const bool is_held = std::find(kept.held.begin(), kept.held.end(), text) != kept.held.end();
    if (!is_held) added.push_back(text);
  }
  if (!added.empty()) kept.changed.push_back("set for the replay: " + join(added, ", "));
  const std::string varied = variation_text(run);
  if (!varied.empty()) kept.changed.push_back("set for the trial: " + varied);
  return kept;
}

}  // namespace ncclog
