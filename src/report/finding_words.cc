#include "report/finding_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "base/text.h"

namespace ncclog {

std::string_view verdict_word(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::Problem:
      return "PROBLEM";
    case VerdictStatus::Suspicious:
      return "SUSPICIOUS";
    case VerdictStatus::Clean:
      return "CLEAN";
    case VerdictStatus::NothingFound:
      return "NOTHING FOUND";
    case VerdictStatus::CannotJudge:
      return "CANNOT JUDGE";
  }
  return "CANNOT JUDGE";
}

const Finding* find_finding(const Report& report, std::string_view id) {
  for (const Finding& finding : report.diagnosis.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

std::vector<const Finding*> consequences(const Report& report, const Finding& cause) {
  std::set<std::string> ids = {cause.id};
  std::vector<std::string> open = cause.explains;
  while (!open.empty()) {
    const std::string id = open.back();
    open.pop_back();
    const Finding* finding = find_finding(report, id);
    if (finding == nullptr || !ids.insert(id).second) continue;
    open.insert(open.end(), finding->explains.begin(), finding->explains.end());
  }
  std::vector<const Finding*> list;
  for (const Finding& finding : report.diagnosis.findings) {
    if (finding.id != cause.id && ids.contains(finding.id)) list.push_back(&finding);
  }
  return list;
}

std::vector<const Finding*> independent_findings(const Report& report, const Finding* main) {
  std::set<std::string> explained;
  for (const Finding& finding : report.diagnosis.findings) {
    for (const Finding* follower : consequences(report, finding)) explained.insert(follower->id);
  }
  std::vector<const Finding*> list;
  for (const Finding& finding : report.diagnosis.findings) {
    if (&finding != main && !explained.contains(finding.id)) list.push_back(&finding);
  }
  return list;
}

std::string subject_words(const Finding& finding) {
  constexpr size_t kMaxHosts = 6;
  std::string out;
  if (!finding.ranks.empty()) {
    out =
        fmt::format("rank{} {}", finding.ranks.size() == 1 ? "" : "s", ranges_text(finding.ranks));
  }
  if (finding.hosts.empty()) return out;
  const std::span<const std::string> hosts(finding.hosts);
  out += (!out.empty()        ? " on "
          : hosts.size() == 1 ? "host "
                              : "hosts ") +
         join(hosts.first(std::min(hosts.size(), kMaxHosts)), ", ");
  if (hosts.size() > kMaxHosts) out += fmt::format(" and {} more", hosts.size() - kMaxHosts);
  return out;
}

std::string named_with_ranks(const Finding& finding) {
  if (finding.ranks.empty()) return finding.id;
  return fmt::format("{} ({} {})", finding.id, finding.ranks.size() == 1 ? "rank" : "ranks",
                     ranges_text(finding.ranks));
}

std::string_view beyond_headline(std::string_view headline, std::string_view message) {
  const auto differs =
      std::mismatch(headline.begin(), headline.end(), message.begin(), message.end());
  const auto same = static_cast<size_t>(differs.second - message.begin());
  const std::string_view rest = message.substr(same);
  if (same == 0 || !(rest.empty() || rest[0] == '.' || message[same - 1] == '.')) return message;
  return trim(rest.substr(rest.starts_with('.') ? 1 : 0));
}

bool is_command(std::string_view item) {
  return !item.empty() && !(item[0] >= 'A' && item[0] <= 'Z') && !item.ends_with('.');
}

}  // namespace ncclog
