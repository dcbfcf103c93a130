#include "rules/overlay.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "rules/load_condition.h"
#include "rules/load_rules.h"

namespace ncclog {
namespace {

Date load_date(const RuleFile& file, const RuleNode& node) {
  const std::string& text = scalar_of(file, node, "a day");
  const auto date = parse_date(text);
  if (!date) fail_at(file, node.place, fmt::format("'{}' is no day", text), "write 2027-01-31");
  return *date;
}

void load_change(const RuleFile& file, const RuleNode& entry, Overlay& overlay) {
  const RuleNode* suppress = entry.find("suppress");
  const RuleNode* severity = entry.find("severity");
  if ((suppress != nullptr) == (severity != nullptr)) {
    fail_at(file, entry.place, "an entry has either 'suppress: true' or 'severity'");
  }
  if (severity != nullptr) {
    overlay.severity = severity_of(file, *severity);
  } else if (!bool_of(file, *suppress)) {
    fail_at(file, suppress->place, "an entry that suppresses nothing can be left out");
  }
}

void load_whom(const RuleFile& file, const RuleNode& where, Overlay& overlay) {
  entries_of(file, where, "hosts or ranks");
  only_keys(file, where, {"host", "rank"});
  if (const RuleNode* host = where.find("host")) {
    overlay.host = load_value_tests(file, *host, FieldType::Text);
  }
  if (const RuleNode* rank = where.find("rank")) {
    overlay.rank = load_value_tests(file, *rank, FieldType::Integer);
  }
}

Overlay load_overlay(const RuleFile& file, const RuleNode& entry) {
  entries_of(file, entry, "an entry of an overlay");
  only_keys(file, entry, {"rule", "suppress", "severity", "where", "reason", "until"});
  Overlay overlay;
  const RuleNode& rule = required(file, entry, "rule");
  overlay.rule = scalar_of(file, rule, "the id of a rule");
  overlay.place = rule.place;
  overlay.path = file.path;
  overlay.text = flow_text(entry);
  overlay.where = fmt::format("{}:{}:{}", file.path, entry.place.line, entry.place.column);
  load_change(file, entry, overlay);
  if (const RuleNode* where = entry.find("where")) load_whom(file, *where, overlay);
  const RuleNode& reason = required(file, entry, "reason");
  overlay.reason = trim(scalar_of(file, reason, "a reason"));
  if (overlay.reason.empty()) fail_at(file, reason.place, "the reason is empty");
  overlay.until = load_date(file, required(file, entry, "until"));
  return overlay;
}

}  // namespace

std::optional<Date> parse_date(std::string_view text) {
  const auto parts = split(text, '-');
  if (text.size() != 10 || parts.size() != 3 || parts[0].size() != 4 || parts[1].size() != 2) {
    return std::nullopt;
  }
  if (text.find_first_not_of("0123456789-") != text.npos) return std::nullopt;
  const auto number = [&](size_t i) { return static_cast<int>(parse_int(parts[i]).value_or(0)); };
  const Date date{number(0), number(1), number(2)};
  const std::chrono::year_month_day day{std::chrono::year(date.year),
                                        std::chrono::month(static_cast<unsigned>(date.month)),
                                        std::chrono::day(static_cast<unsigned>(date.day))};
  return day.ok() && date.year > 0 ? std::optional(date) : std::nullopt;
}

std::string to_string(Date date) {
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

Date date_of(int64_t seconds) {
  constexpr int64_t kLatest = 253402300799;  // The end of the year 9999.
  const std::chrono::sys_seconds time{
      std::chrono::seconds(std::clamp<int64_t>(seconds, 0, kLatest))};
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(time)};
  return {static_cast<int>(day.year()), static_cast<int>(static_cast<unsigned>(day.month())),
          static_cast<int>(static_cast<unsigned>(day.day()))};
}

bool is_overlay_file(const RuleNode& root) { return root.find("overlay") != nullptr; }

std::vector<Overlay> load_overlays(const RuleFile& file) {
  only_keys(file, file.root, {"overlay"});
  std::vector<Overlay> overlays;
  for (const RuleNode& entry : items_of(file, *file.root.find("overlay"), "a list of entries")) {
    overlays.push_back(load_overlay(file, entry));
  }
  return overlays;
}

bool matches(const Overlay& overlay, const std::vector<std::string>& hosts,
             const std::vector<int>& ranks) {
  const auto means_host = [&](const std::string& host) {
    return passes(FactValue{.value = host}, overlay.host);
  };
  const auto means_rank = [&](int rank) {
    return passes(FactValue{.value = int64_t{rank}}, overlay.rank);
  };
  if (!overlay.host.empty() &&
      (hosts.empty() || !std::all_of(hosts.begin(), hosts.end(), means_host))) {
    return false;
  }
  return overlay.rank.empty() ||
         (!ranks.empty() && std::all_of(ranks.begin(), ranks.end(), means_rank));
}

}  // namespace ncclog
