// The schema accepts every rule file of the project and of the manual, and refuses mistakes that an
// editor should underline.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "report/report.h"
#include "rules/load_rules.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

using nlohmann::json;

const json& rule_json_schema() {
  static const json kSchema = json::parse(rule_schema(load_rulebook()));
  return kSchema;
}

/// A plain scalar as YAML's core schema understands it. Quoted ones look the same here, and the
/// schema takes text wherever it takes numbers, but for the few that must be numbers.
json scalar_of(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto number = parse_int(text)) return *number;
  return text;
}

json json_of(const RuleNode& node) {
  if (node.type == RuleNode::Type::Scalar) return scalar_of(node.text);
  if (node.type == RuleNode::Type::Sequence) {
    json list = json::array();
    for (const RuleNode& item : node.items) list.push_back(json_of(item));
    return list;
  }
  json map = json::object();
  for (const RuleNode::Entry& entry : node.entries) map[entry.key] = json_of(entry.value);
  return map;
}

std::vector<std::string> errors_of(const std::string& yaml) {
  return schema_errors(rule_json_schema(), json_of(read_yaml(yaml, "my-rule.yaml")));
}

using Texts = std::vector<std::string>;

TEST(RuleSchema, KnowsTheKeysThatARuleMayHave) {
  Texts described;
  for (const auto& [key, value] : rule_json_schema()["$defs"]["rule"]["properties"].items()) {
    described.push_back(key);
  }
  Texts known(rule_keys().begin(), rule_keys().end());
  std::ranges::sort(known);
  EXPECT_EQ(described, known);
}

TEST(RuleSchema, AcceptsEveryRuleFileOfTheProject) {
  for (const std::string& file : find_rule_files((source_dir() / "rules").string())) {
    EXPECT_EQ(errors_of(read_file(file)), Texts{}) << file;
  }
}

TEST(RuleSchema, AcceptsEveryExampleOfTheManual) {
  const std::string manual = read_file(source_dir() / "rules" / "README.md");
  const std::string fence = "```yaml\n";
  for (size_t at = manual.find(fence); at != manual.npos; at = manual.find(fence, at)) {
    at += fence.size();
    const std::string block = manual.substr(at, manual.find("```", at) - at);
    EXPECT_EQ(errors_of(block), Texts{}) << block;
  }
}

struct Change {
  const char* from;
  const char* to;
};

constexpr Change kMistakes[] = {
    {"severity: error", "severity: eror"},
    {"title:", "titel:"},
    {"event: peer_closed", "event: peer_close"},
    {"event: peer_closed", "evnt: peer_closed"},
    {"event: peer_closed", "event: peer_closed, where: {pear: n1}"},
    {"event: peer_closed", "event: peer_closed, where: {peer: {contain: n1}}"},
    {"event: peer_closed", "event: peer_closed, in: jop"},
    {"event: peer_closed", "fact: job.host_cout, at_least: 2"},
    {"event: peer_closed", "fact: job.host_count, at_least: two"},
    {"role: cause", "role: cause\nneeds: [netwrk]"},
    {"role: cause", "role: cause\nper: nothing"},
    {"examples: {fires: [a], quiet: [b]}", "examples: {fires: [a]}"},
};

TEST(RuleSchema, RefusesMisspeltNamesAndWrongShapes) {
  const std::string valid = rule_yaml("my-rule", "{event: peer_closed}");
  EXPECT_EQ(errors_of(valid), Texts{});
  for (const Change& change : kMistakes) {
    std::string yaml = valid;
    const size_t at = yaml.find(change.from);
    ASSERT_NE(at, yaml.npos) << change.from;
    yaml.replace(at, std::string_view(change.from).size(), change.to);
    EXPECT_NE(errors_of(yaml), Texts{}) << yaml;
  }
}

TEST(RuleSchema, KnowsOverlaysAndSharedNames) {
  EXPECT_EQ(errors_of("overlay: [{rule: nic, suppress: true, reason: A, until: 2027-01-31}]"),
            Texts{});
  EXPECT_NE(errors_of("overlay: [{rule: nic, suppress: true, until: 2027-01-31}]"), Texts{});
  EXPECT_NE(errors_of("overlay: [{rule: nic, reason: A, until: 2027-01-31}]"), Texts{});
  EXPECT_EQ(errors_of("lists: {a: [b, 1]}\nconditions: {c: {event: peer_closed}}"), Texts{});
  EXPECT_NE(errors_of("conditions: {c: {event: peer_close}}"), Texts{});
}

}  // namespace
}  // namespace ncclog::testing
