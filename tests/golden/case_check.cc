#include "golden/case_check.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "rules/headline.h"

namespace ncclog::testing {
namespace {

using nlohmann::json;
using Complaints = std::vector<std::string>;

std::vector<std::string> ids_of(const json& expectation) {
  const json& finding = expectation.at("finding");
  if (finding.is_array()) return finding.get<std::vector<std::string>>();
  return {finding.get<std::string>()};
}

const json* find_finding(const json& report, const std::vector<std::string>& ids) {
  for (const json& finding : report.at("findings")) {
    if (std::ranges::count(ids, finding.at("id").get<std::string>()) > 0) return &finding;
  }
  return nullptr;
}

bool is_loud(const json& finding) { return finding.at("severity") != "info"; }

bool is_health(const json& expectation) { return expectation.at("finding") == "healthy"; }

json sorted(json list) {
  std::sort(list.begin(), list.end());
  return list;
}

std::string named(const json& finding) {
  return finding.at("severity").get<std::string>() + " " + finding.at("id").get<std::string>();
}

void check_health(const json& report, Complaints& complaints) {
  const json& status = report.at("verdict").at("status");
  // A healthy log need not show the end of its job.
  if (status != "clean" && status != "nothing_found")
    complaints.push_back("healthy, but the verdict is " + status.dump());
  for (const json& finding : report.at("findings")) {
    if (is_loud(finding)) complaints.push_back("healthy, but " + named(finding));
  }
}

void check_expectation(const json& expectation, const json& report, Complaints& complaints) {
  auto ids = ids_of(expectation);
  const json* finding = find_finding(report, ids);
  if (finding == nullptr) {
    complaints.push_back("missed " + join(ids, " or "));
    return;
  }
  for (const char* key : {"ranks", "hosts"}) {
    if (!expectation.contains(key)) continue;
    const json& got = finding->at(key);
    if (sorted(got) == sorted(expectation.at(key))) continue;
    complaints.push_back(finding->at("id").get<std::string>() + " names " + key + " " + got.dump() +
                         ", not " + expectation.at(key).dump());
  }
}

void check_absent(const json& expected, const json& report, Complaints& complaints) {
  for (const json& id : expected.value("expect_absent", json::array())) {
    const json* finding = find_finding(report, {id.get<std::string>()});
    if (finding != nullptr && is_loud(*finding)) complaints.push_back("wrongly " + named(*finding));
  }
}

/// "2.19.3" for "2.19.3+cuda12.3", lower case: how it was built is not what a case is about.
json comparable(const json& value) {
  if (!value.is_string()) return value;
  auto text = value.get<std::string>();
  text = text.substr(0, text.find('+'));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

json first_of(const json& list) { return list.empty() ? json() : list.front(); }

void check_facts(const json& expected, const json& report, Complaints& complaints) {
  const json& job = report.at("job");
  const std::pair<const char*, json> known[] = {{"nranks", job.at("nranks")},
                                                {"nnodes", job.at("nhosts")},
                                                {"nccl_version", first_of(job.at("nccl_versions"))},
                                                {"net", job.at("network").at("name")}};
  const json facts = expected.value("facts", json::object());
  for (const auto& [name, got] : known) {
    if (!facts.contains(name) || comparable(facts.at(name)) == comparable(got)) continue;
    complaints.push_back(std::string(name) + " is " + got.dump() + ", not " +
                         facts.at(name).dump());
  }
}

/// A problem's headline is one of the findings that the case is about.
void check_headline(const json& expected, const json& report, Complaints& complaints) {
  const json& verdict = report.at("verdict");
  if (verdict.at("status") != "problem") return;
  std::vector<std::string> known;
  for (const json& expectation : expected.at("expect")) {
    if (!expectation.value("must", false) || is_health(expectation)) continue;
    for (std::string& id : ids_of(expectation)) known.push_back(std::move(id));
  }
  const json finding = verdict.value("finding", json());
  const bool is_known =
      finding.is_string() && std::ranges::count(known, finding.get<std::string>()) > 0;
  if (known.empty() || is_known) return;
  complaints.push_back("headed by " + finding.dump() + ", not by " + join(known, " or "));
}

/// Headlines can be pasted into a chat, and name what they are about.
void check_words(const json& report, Complaints& complaints) {
  std::vector<std::string> headlines = {report.at("verdict").value("headline", "")};
  for (const json& finding : report.at("findings")) {
    headlines.push_back(finding.value("headline", ""));
  }
  for (const std::string& headline : headlines) {
    const auto characters =
        std::ranges::count_if(headline, [](char c) { return (c & 0xC0) != 0x80; });
    if (characters > static_cast<std::ptrdiff_t>(kMaxHeadline)) {
      complaints.push_back("more than a headline: " + headline);
    }
    const std::string_view word = empty_word(headline);
    if (!word.empty()) complaints.push_back("names nothing: " + headline);
  }
}

}  // namespace

Complaints check_case(const json& expected, const json& report) {
  Complaints complaints;
  for (const json& expectation : expected.at("expect")) {
    if (!expectation.value("must", false)) continue;
    if (is_health(expectation)) {
      check_health(report, complaints);
    } else {
      check_expectation(expectation, report, complaints);
    }
  }
  check_headline(expected, report, complaints);
  check_absent(expected, report, complaints);
  check_facts(expected, report, complaints);
  check_words(report, complaints);
  return complaints;
}

}  // namespace ncclog::testing
