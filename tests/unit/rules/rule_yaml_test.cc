#include "rules/rule_yaml.h"

#include <gtest/gtest.h>

#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

std::string yaml_error(std::string_view yaml) {
  return error_of([&] { read_yaml(yaml, "a.yaml"); });
}

TEST(RuleNode, KnowsThePlaceOfKeysAndValues) {
  const RuleNode root = read_yaml("id: x\ncheck:\n  - one\n  - {two: 2}\n", "a.yaml");
  ASSERT_EQ(root.entries.size(), 2u);
  EXPECT_EQ(root.entries[1].place, (Place{2, 1}));
  const RuleNode& check = root.entries[1].value;
  ASSERT_EQ(check.items.size(), 2u);
  EXPECT_EQ(check.items[0].place, (Place{3, 5}));
  EXPECT_EQ(check.items[1].entries[0].place, (Place{4, 6}));
  EXPECT_EQ(check.items[1].find("two")->text, "2");
  EXPECT_EQ(check.items[1].find("three"), nullptr);
}

struct BrokenYaml {
  const char* yaml;
  const char* message;
};

constexpr BrokenYaml kBroken[] = {
    {"", "a.yaml:1:1: the file is empty"},
    {"a: 1\nb: 2\na: 3\n", "a.yaml:3:1: the key 'a' stands twice"},
    {"a: &x 1\n", "a.yaml:1:4: rule files have no anchors and aliases"},
    {"[a]: 1\n", "a.yaml:1:1: a key must be text"},
    {"a: 1\n---\nb: 2\n", "a.yaml:3:1: one file holds one rule, here a second document begins"},
};

TEST(RuleNode, RefusesWhatNoRuleNeeds) {
  for (const BrokenYaml& row : kBroken) EXPECT_EQ(yaml_error(row.yaml), row.message) << row.yaml;
}

TEST(RuleNode, SaysWhereYamlIsBroken) {
  const std::string message = yaml_error("a: 1\nb: [1, 2\nc: 3\n");
  EXPECT_EQ(message.substr(0, 18), "a.yaml:3:2: not YA") << message;
}

TEST(RuleNode, CompactFormKeepsTheTreeAndItsPlaces) {
  const RuleNode root =
      read_yaml("id: x\nempty:\nlist: [a, \"\", [b]]\nmap: {k: 'v: w'}\n", "a.yaml");
  EXPECT_EQ(read_compact(write_compact(root)), root);
}

TEST(RuleNode, CompactFormCutAnywhereIsAnError) {
  const std::string bytes = write_compact(read_yaml("id: x\nlist: [a, {b: c}]\n", "a.yaml"));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(error_of([&] { read_compact(bytes.substr(0, size)); }),
              "the compact form of a rule is damaged")
        << size;
  }
  EXPECT_NE(error_of([&] { read_compact(bytes + "x"); }), "");
}

TEST(RuleNode, FlowTextQuotesWhatYamlWouldMisread) {
  const RuleNode root = read_yaml("{all: [{event: a, as: b}, {line: 'x: \"y\"'}], no: }", "a.yaml");
  EXPECT_EQ(flow_text(root), R"({all: [{event: a, as: b}, {line: "x: \"y\""}], no: ~})");
}

}  // namespace
}  // namespace ncclog::testing
