// Are the settings of a plan such as a replay may take?

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "replay/plan_complaints.h"
#include "replay/planned_settings.h"

namespace ncclog {
namespace {

constexpr size_t kLongestName = 128;
constexpr size_t kLongestValue = 4096;

std::string place_of_setting(size_t setting) { return fmt::format("settings[{}]", setting); }

bool is_name(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; };
  return !name.empty() && name.size() <= kLongestName && !is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), fits);
}

bool has_control_character(std::string_view value) {
  return std::any_of(value.begin(), value.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

/// What is set in a way that a shell, a log or NCCL would read otherwise.
void check_text(const PlannedSetting& setting, const std::string& where,
                PlanComplaints& complaints) {
  if (!is_name(setting.name)) {
    complaints.refuse(
        where + ".name",
        fmt::format("'{}' is no name of a variable",
                    printable(std::string_view(setting.name).substr(0, kLongestName))));
  }
  if (has_control_character(setting.value)) {
    complaints.refuse(where + ".value", "it holds a line end or another control character");
  } else if (setting.value.size() > kLongestValue) {
    complaints.refuse(where + ".value",
                      fmt::format("it is longer than {} characters", kLongestValue));
  }
}

/// What a replay must not take over from anywhere, whoever wrote the plan.
void check_harm(const PlannedSetting& setting, const std::string& where,
                PlanComplaints& complaints) {
  const std::string_view reason =
      is_name(setting.name) ? why_left_out(setting.name, setting.value) : std::string_view();
  if (reason.empty()) return;
  complaints.refuse(where + ".name",
                    fmt::format("a replay does not set {}: {}", setting.name, reason),
                    "take it out, or say in \"left_out\" why it is not set");
}

void check_ranks(const PlannedSetting& setting, const ReplayPlan& plan, const std::string& where,
                 PlanComplaints& complaints) {
  for (const int rank : setting.ranks) {
    if (rank >= 0 && static_cast<size_t>(rank) < plan.ranks.size()) continue;
    complaints.refuse(where + ".ranks", fmt::format("there is no ranks[{}]", rank));
  }
}

/// Which setting gives a rank a variable.
class GivenValues {
 public:
  /// The setting that gives the rank another value of the same name; nullopt: none does.
  std::optional<size_t> conflict(const ReplayPlan& plan, size_t setting, int rank) {
    const PlannedSetting& given = plan.settings[setting];
    const auto [first, is_new] = by_name_and_rank_.emplace(std::pair(given.name, rank), setting);
    if (is_new || plan.settings[first->second].value == given.value) return std::nullopt;
    return first->second;
  }

 private:
  std::map<std::pair<std::string, int>, size_t> by_name_and_rank_;
};

std::vector<int> ranks_of(const PlannedSetting& setting, const ReplayPlan& plan) {
  if (!setting.ranks.empty()) return setting.ranks;
  std::vector<int> all;
  for (size_t r = 0; r < plan.ranks.size(); ++r) all.push_back(static_cast<int>(r));
  return all;
}

void check_conflicts(const ReplayPlan& plan, PlanComplaints& complaints) {
  GivenValues given;
  for (size_t s = 0; s < plan.settings.size() && !complaints.is_full(); ++s) {
    if (!plan.settings[s].left_out.empty()) continue;
    for (const int rank : ranks_of(plan.settings[s], plan)) {
      const auto other = given.conflict(plan, s, rank);
      if (!other) continue;
      complaints.refuse(place_of_setting(s), fmt::format("{} has another value on ranks[{}] by {}",
                                                         printable(plan.settings[s].name), rank,
                                                         place_of_setting(*other)));
      break;
    }
  }
}

}  // namespace

void check_settings(const ReplayPlan& plan, PlanComplaints& complaints) {
  for (size_t s = 0; s < plan.settings.size() && !complaints.is_full(); ++s) {
    const PlannedSetting& setting = plan.settings[s];
    const std::string where = place_of_setting(s);
    check_ranks(setting, plan, where, complaints);
    if (!setting.left_out.empty()) continue;
    check_text(setting, where, complaints);
    check_harm(setting, where, complaints);
  }
  check_conflicts(plan, complaints);
}

}  // namespace ncclog
