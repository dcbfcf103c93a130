#include "rules/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace ncclog {
namespace {

/// It stands there as a word of its own.
bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      return true;
  }
  return false;
}

/// Sorted hosts as Slurm writes them: "gpu-node-[01-02],login1"; "its hosts" where that is long.
std::string host_list(const std::vector<std::string>& hosts) {
  struct Group {
    std::string_view stem;    ///< What stands before the number.
    std::string_view ending;  ///< What stands behind it: ".cluster".
    std::vector<std::string_view> numbers;
  };
  constexpr size_t kMostGroups = 32;
  constexpr size_t kMostBytes = 200;
  std::vector<Group> groups;
  for (const std::string_view host : hosts) {
    // A domain has no numbers of hosts.
    const size_t end = std::min(host.find('.'), host.size());
    size_t begin = end;
    while (begin > 0 && is_digit(host[begin - 1])) --begin;
    const std::string_view stem = host.substr(0, begin);
    const auto known = std::ranges::find_if(groups, [&](const Group& group) {
      return group.stem == stem && group.ending == host.substr(end) && begin < end &&
             group.numbers.front().size() == end - begin;
    });
    Group& group =
        known != groups.end() ? *known : groups.emplace_back(Group{stem, host.substr(end), {}});
    group.numbers.push_back(host.substr(begin, end - begin));
    if (groups.size() > kMostGroups) return "its hosts";
  }
  std::vector<std::string> parts;
  for (const auto& [stem, ending, numbers] : groups) {
    std::vector<std::string> ranges;
    for (size_t first = 0, last = 0; first < numbers.size(); first = ++last) {
      const auto number = [&](size_t i) { return parse_int(numbers[i]); };
      while (last + 1 < numbers.size() && number(last) && number(last + 1) == *number(last) + 1)
        ++last;
      ranges.emplace_back(numbers[first]);
      if (last > first) ranges.back() += fmt::format("-{}", numbers[last]);
    }
    const std::string list = join(ranges, ",");
    parts.push_back(
        fmt::format("{}{}{}", stem, numbers.size() > 1 ? "[" + list + "]" : list, ending));
  }
  std::string text = join(parts, ",");
  return text.size() > kMostBytes ? "its hosts" : text;
}

/// As Check::where.
std::string place_of_check(std::string_view run, std::string_view why, const Finding& finding) {
  constexpr std::string_view kOfLogs[] = {"LOGS", "SCRIPTS"};
  constexpr std::string_view kOfClusters[] = {"aws",   "kubectl",  "mpirun", "ncclog",
                                              "sacct", "scontrol", "sinfo",  "srun"};
  constexpr std::string_view kOfAll[] = {"every host", "each host", "all hosts"};
  const auto runs = [&](std::string_view word) { return has_word(run, word); };
  const auto says = [&](std::string_view words) { return why.find(words) != why.npos; };
  const bool is_of_cluster =
      equals_one_of(run.substr(0, run.find(' ')), kOfClusters) && !run.starts_with("ncclog doctor");
  if (is_of_cluster || std::ranges::any_of(kOfLogs, runs)) return "here";
  if (finding.hosts.empty() || std::ranges::any_of(kOfAll, says)) return "every host of the job";
  return host_list(finding.hosts);
}

}  // namespace

std::vector<Check> find_checks(const Finding& finding) {
  constexpr std::string_view kBetween = "    # ";
  std::vector<Check> checks;
  for (const std::string_view text : finding.check) {
    const size_t at = text.find(kBetween);
    if (at == text.npos) {
      checks.push_back({.why = std::string(text)});
      continue;
    }
    const std::string_view run = text.substr(0, at);
    const std::string_view why = text.substr(at + kBetween.size());
    checks.push_back({std::string(run), std::string(why), place_of_check(run, why, finding)});
  }
  return checks;
}

}  // namespace ncclog
