// What a site changes about findings that it knows: another severity, or not to be told.
//
//   overlay:
//     - {rule: socket-instead-of-ib, suppress: true, where: {host: [lab1, lab2]},
//        reason: The lab has no RDMA., until: 2027-01-31}
//     - {rule: nic-down, severity: info, reason: Ticket 4711., until: 2026-12-24}
//
// An entry has a reason and a last day. After that day it is not applied, and the report says so. A
// suppressed finding is never dropped in silence: the report lists it with the reason.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/finding.h"
#include "rules/pattern.h"
#include "rules/rule_yaml.h"

namespace ncclog {

struct RuleFile;

/// A day of the calendar.
struct Date {
  int year = 0;  ///< 0: before every day that people write.
  int month = 0;
  int day = 0;

  auto operator<=>(const Date&) const = default;
};

/// "2027-01-31", if there is such a day.
std::optional<Date> parse_date(std::string_view text);
std::string to_string(Date date);

/// The day, UTC, that `seconds` after 1970 is in.
Date date_of(int64_t seconds);

/// One entry of an overlay file.
struct Overlay {
  std::string rule;
  std::optional<Severity> severity;  ///< Nothing: the finding is suppressed.
  std::vector<ValueTest> host;       ///< Empty: any host.
  std::vector<ValueTest> rank;       ///< Empty: any rank.
  std::string reason;
  Date until;         ///< The last day on which it is applied.
  std::string where;  ///< "site.yaml:3:5": the entry's place.
  Place place;        ///< Of the rule's id.
  std::string path;
  std::string text;  ///< The entry in one line of YAML.
};

/// True if the tree is a file of overlays, and no rule.
bool is_overlay_file(const RuleNode& root);

/// The entries of an overlay file. Throws Error; ids of rules are checked by make_rulebook.
std::vector<Overlay> load_overlays(const RuleFile& file);

/// True if the overlay means everybody whom a finding names. With conditions on hosts or ranks it
/// means no finding that names nobody.
bool matches(const Overlay& overlay, const std::vector<std::string>& hosts,
             const std::vector<int>& ranks);

}  // namespace ncclog
