#include "app/compare_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

using Rename = std::function<std::string(std::string_view)>;

/// What counts of a finding, by name.
struct Trait {
  std::string_view name;
  std::string value;

  bool operator==(const Trait&) const = default;
};

std::string hosts_text(std::vector<std::string> hosts, const Rename& rename) {
  for (std::string& host : hosts) host = rename(host);
  std::sort(hosts.begin(), hosts.end());
  return join(hosts, ",");
}

std::vector<Trait> traits_of(const Finding& finding, const Rename& rename) {
  const Subject& subject = finding.subject;
  std::vector<std::string> explains = finding.explains;
  std::sort(explains.begin(), explains.end());
  return {{"severity", std::string(to_string(finding.severity))},
          {"confidence", std::string(to_string(finding.confidence))},
          {"role", std::string(to_string(finding.role))},
          {"hosts", hosts_text(finding.hosts, rename)},
          {"ranks", ranges_text(finding.ranks)},
          {"subject", fmt::format("{}/{}/{}/{}", rename(subject.host), subject.rank, subject.pid,
                                  subject.communicator)},
          {"explains", join(explains, ",")}};
}

const Finding* find(const Diagnosis& diagnosis, std::string_view id) {
  for (const Finding& finding : diagnosis.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

void compare(const Finding& before, const Finding& after, const Rename& rename,
             std::vector<std::string>& differences) {
  const auto old_traits = traits_of(before, rename);
  const auto new_traits = traits_of(after, [](std::string_view host) { return std::string(host); });
  for (size_t i = 0; i < old_traits.size(); ++i) {
    if (old_traits[i] == new_traits[i]) continue;
    differences.push_back(fmt::format("{}: {} {}, was {}", after.id, new_traits[i].name,
                                      new_traits[i].value, old_traits[i].value));
  }
}

}  // namespace

std::vector<std::string> compare_findings(const Diagnosis& before, const Diagnosis& after,
                                          const Rename& rename) {
  std::vector<std::string> differences;
  if (before.verdict.status != after.verdict.status) {
    differences.push_back(fmt::format("verdict {}, was {}", to_string(after.verdict.status),
                                      to_string(before.verdict.status)));
  }
  for (const Finding& finding : before.findings) {
    const Finding* other = find(after, finding.id);
    if (other == nullptr) {
      differences.push_back(finding.id + ": is gone");
    } else {
      compare(finding, *other, rename, differences);
    }
  }
  for (const Finding& finding : after.findings) {
    if (find(before, finding.id) == nullptr) differences.push_back(finding.id + ": is new");
  }
  const auto same_id = [](const Finding& a, const Finding& b) { return a.id == b.id; };
  if (differences.empty() && !std::equal(before.findings.begin(), before.findings.end(),
                                         after.findings.begin(), after.findings.end(), same_id)) {
    differences.push_back("the findings stand in another order");
  }
  return differences;
}

}  // namespace ncclog
