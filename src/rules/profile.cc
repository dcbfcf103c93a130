#include "rules/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr size_t kNamedInMessage = 3;

std::string version_of(const RuleNode& node) {
  const std::string& text = scalar_of(node, "a version");
  for (const std::string_view part : split(text, '.')) {
    const auto number = parse_int(part);
    if (part.empty() || !number || *number < 0) {
      fail_at(node.place, fmt::format("expected a version such as 2.18, found '{}'", text));
    }
  }
  return text;
}

template <typename Limit, typename Read>
void read_limits(const RuleNode& node, std::string_view what, Read read, Limit& at_least,
                 Limit& at_most) {
  entries_of(node, what);
  only_keys(node, {"at_least", "at_most"});
  if (const RuleNode* limit = node.find("at_least")) at_least = read(*limit);
  if (const RuleNode* limit = node.find("at_most")) at_most = read(*limit);
}

Expected read_expected(Fit fit, const RuleNode& node) {
  Expected expected;
  switch (fit) {
    case Fit::IsOne:
    case Fit::BeginsAsOne:
    case Fit::HoldsOne:
    case Fit::IsNone:
      expected.texts = scalars_of(node, "a text or a list of them");
      break;
    case Fit::Limits:
      if (node.type == RuleNode::Type::Scalar) {
        expected.at_least = expected.at_most = number_of(node);
        break;
      }
      read_limits(node, "a number or its limits", number_of, expected.at_least, expected.at_most);
      break;
    case Fit::YesOrNo:
      expected.yes = bool_of(node);
      break;
    case Fit::Version:
      read_limits(node, "limits such as {at_least: 2.18}", version_of, expected.version_at_least,
                  expected.version_at_most);
      break;
  }
  return expected;
}

Expectation read_expectation(const RuleNode& node) {
  Expectation expectation;
  for (const RuleNode::Entry& entry : entries_of(node, "an expectation")) {
    if (entry.key == "severity") {
      expectation.severity = severity_of(entry.value);
      continue;
    }
    const ExpectedFact* fact = find_expected(entry.key);
    if (fact == nullptr) {
      Names known = {"severity"};
      for (const ExpectedFact& each : expected_facts()) known.push_back(each.fact.name);
      fail_unknown(entry.place, "expectation '{}'", entry.key, known);
    }
    if (expectation.fact != nullptr) {
      fail_at(entry.place, fmt::format("'{}' is a second expectation", entry.key),
              "begin each one with '- '");
    }
    expectation.fact = fact;
    expectation.expected = read_expected(fact->fit, entry.value);
    expectation.text = fmt::format("{}: {}", entry.key, flow_text(entry.value));
  }
  if (expectation.fact == nullptr) fail_at(node.place, "an expectation has only a severity");
  return expectation;
}

void add_parties(const Profile& checked, const Job& job, Finding& finding) {
  std::set<std::string> hosts;
  std::set<int> ranks;
  std::set<SourceRef> lines;
  for (const Expectation& expectation : checked.expectations) {
    for (const int process : expectation.outcome.processes) {
      const Process& who = job.processes[process];
      if (!who.host.empty()) hosts.insert(who.host);
      if (who.rank >= 0) ranks.insert(who.rank);
    }
    for (const Evidence& line : expectation.outcome.evidence) {
      if (!lines.insert(line.where).second) continue;
      if (finding.evidence.size() < Finding::kMaxEvidence) finding.evidence.push_back(line);
    }
  }
  finding.evidence_omitted = lines.size() - finding.evidence.size();
  std::ranges::sort(finding.evidence, {}, &Evidence::where);
  finding.hosts.assign(hosts.begin(), hosts.end());
  finding.ranks.assign(ranks.begin(), ranks.end());
  if (!finding.ranks.empty()) finding.subject.rank = finding.ranks.front();
  if (finding.hosts.size() == 1) finding.subject.host = finding.hosts.front();
}

}  // namespace

Profile load_profile(const RuleFile& file) {
  static constexpr MapKey<Profile> kKeysOfProfile[] = {
      {"name", true, [](auto& node, auto& to) { to.name = scalar_of(node, "a name"); }},
      {"title", true, [](auto& node, auto& to) { to.title = scalar_of(node, "a title"); }},
      {"references", false,
       [](auto& node, auto& to) { to.references = scalars_of(node, "references"); }},
      {"expect", true,
       [](auto& node, auto& to) {
         for (const RuleNode& item : items_of(node, "a list of expectations")) {
           to.expectations.push_back(read_expectation(item));
         }
       }},
  };
  Profile profile;
  in_file(file.path, [&] { read_map(file.root, "a profile", kKeysOfProfile, profile); });
  return profile;
}

Profile find_profile(const std::string& name_or_path) {
  for (const EmbeddedFile& file : shipped_profiles()) {
    if (file.path == name_or_path + ".yaml") {
      const std::string path = "src/rules/profiles/" + std::string(file.path);
      return load_profile({path, read_yaml(file.text, path)});
    }
  }
  std::error_code error;
  if (std::filesystem::is_regular_file(name_or_path, error)) {
    return load_profile(read_rule_file(name_or_path));
  }
  Names names;
  for (const EmbeddedFile& file : shipped_profiles()) {
    names.push_back(file.path.substr(0, file.path.find('.')));
  }
  throw Error(fmt::format("neither a profile nor a file: '{}'", printable(name_or_path)),
              "--expect", hint_for(name_or_path, names, "'ncclog expect list' names the profiles"));
}

Profile check_profile(Profile profile, const Job& job) {
  for (Expectation& expectation : profile.expectations) {
    expectation.outcome = test_fact(*expectation.fact, expectation.expected, job);
    expectation.word = outcome_word(expectation.outcome);
    if (!expectation.outcome.known()) {
      expectation.how_to_capture = expectation.fact->fact.how_to_capture(job);
    }
  }
  return profile;
}

std::optional<Finding> profile_finding(const Profile& checked, const Job& job) {
  Finding finding;  // An info, until something worse is broken.
  std::vector<std::string> parts;
  for (const Expectation& expectation : checked.expectations) {
    if (expectation.word != "broken") continue;
    finding.severity = std::min(finding.severity, expectation.severity);
    parts.push_back(fmt::format("{}, but {}", expectation.text, expectation.outcome.what));
  }
  if (parts.empty()) return std::nullopt;
  const size_t named = std::min(parts.size(), kNamedInMessage);
  std::string message = fmt::format("The job is not as profile {} expects: {}", checked.name,
                                    join({parts.data(), named}, "; "));
  if (parts.size() > named) message += fmt::format("; and {} more", parts.size() - named);
  finding.id = "expectation-broken";
  finding.confidence = Confidence::Certain;
  finding.role = Role::Advice;
  finding.title = "The job is not as its profile expects";
  finding.message = message + ".";
  finding.why =
      "A profile says what a job on this machine looks like when all is well; what "
      "differs is no fault by itself, but somebody expected something else.";
  finding.check = {"ncclog show channels LOGS; ncclog show topology LOGS    # what the job uses"};
  finding.fix = {"Repair what differs, or correct the profile where it describes another machine."};
  finding.do_not = {
      "Force paths by settings until the profile is met: it hides why NCCL chose "
      "others."};
  add_parties(checked, job, finding);
  return finding;
}

}  // namespace ncclog
