#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rules/load_rules.h"
#include "rules/rule_tools.h"
#include "support/temp_dir.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

SharedNames names_of(const std::string& yaml) {
  SharedNames names;
  load_shared_names({"lists.yaml", read_yaml(yaml, "lists.yaml"), false}, names);
  return names;
}

const std::string kNames =
    "lists:\n"
    "  bridges: [docker0, cni0]\n"
    "  unroutable: [lo, $bridges]\n"
    "conditions:\n"
    "  on_bridge: {event: bootstrap_interface, where: {devices: $bridges}}\n"
    "  alone: {none: [{use: on_bridge}, {event: peer_closed}]}\n";

/// The rule's `when` after the names are replaced.
std::string replaced(const std::string& when) {
  RuleFile file{"my-rule.yaml", read_yaml(rule_yaml("my-rule", when), "my-rule.yaml"), false};
  replace_shared_names(file, names_of(kNames));
  return flow_text(*file.root.find("when"));
}

struct NamesRow {
  const char* in;
  const char* out;
};

constexpr NamesRow kReplaced[] = {
    {"{event: bootstrap_interface, where: {devices: $unroutable}}",
     "{event: bootstrap_interface, where: {devices: [lo, docker0, cni0]}}"},
    {"{event: bootstrap_interface, where: {devices: {not: [eth0, $bridges, eth1]}}}",
     "{event: bootstrap_interface, where: {devices: {not: [eth0, docker0, cni0, eth1]}}}"},
    {"{use: on_bridge}", "{event: bootstrap_interface, where: {devices: [docker0, cni0]}}"},
    {"{all: [{event: peer_closed}, {use: alone}]}",
     "{all: [{event: peer_closed}, {none: [{event: bootstrap_interface, where: {devices: "
     "[docker0, cni0]}}, {event: peer_closed}]}]}"},
    {"{event: env_set, where: {name: $HOME, value: $, use: x}}",
     "{event: env_set, where: {name: $HOME, value: $, use: x}}"},
};

TEST(SharedNames, StandForWhatTheyName) {
  for (const NamesRow& row : kReplaced) EXPECT_EQ(replaced(row.in), row.out);
}

TEST(SharedNames, StayAsTheyAreInMessagesAndExamples) {
  RuleFile file{"my-rule.yaml",
                read_yaml(rule_yaml("my-rule", "{use: alone}", "", "$bridges"), "my-rule.yaml"),
                false};
  replace_shared_names(file, names_of(kNames));
  EXPECT_EQ(file.root.find("message")->text, "$bridges");
}

constexpr NamesRow kUnknownNames[] = {
    {"{use: on_brige}",
     "my-rule.yaml:6:13: unknown condition 'on_brige' | did you mean 'on_bridge'?"},
    {"{event: bootstrap_interface, where: {devices: $brigdes}}",
     "my-rule.yaml:6:53: unknown list 'brigdes' | did you mean 'bridges'?"},
    {"{use: on_bridge, in: job}", "my-rule.yaml:6:24: unknown key 'in' | known: use"},
};

TEST(SharedNames, ThatNothingDefinesAreRefused) {
  for (const NamesRow& row : kUnknownNames) EXPECT_EQ(error_of([&] { replaced(row.in); }), row.out);
}

constexpr NamesRow kWrongFiles[] = {
    {"lists: {a: [b, $c], c: [d]}", "lists.yaml:1:16: unknown list 'c'"},
    {"lists: {Bad: [b]}",
     "lists.yaml:1:9: 'Bad' is no name | names are words in lower case, joined by '_'"},
    {"lists: {a: [[b]]}", "lists.yaml:1:13: expected a value, found a list"},
    {"conditions: {a: {event: peer_close}}",
     "lists.yaml:1:25: unknown event 'peer_close' | did you mean 'peer_closed'?"},
    {"conditions: {a: {all: [{fact: communicator.few_channels, is: true}, {evnt: peer_closed}]}}",
     "lists.yaml:1:70: unknown condition 'evnt' | did you mean 'event'?"},
    {"lists: {a: [b]}\nrules: {}",
     "lists.yaml:2:1: unknown key 'rules' | known: lists, conditions"},
};

TEST(SharedNames, AreCheckedWhereTheyAreDefined) {
  for (const NamesRow& row : kWrongFiles) EXPECT_EQ(error_of([&] { names_of(row.in); }), row.out);
}

/// Ten names, each a list of ten times the one above it.
std::string names_of_names() {
  std::string yaml = "lists:\n  l0: [docker0]\n";
  for (int i = 1; i <= 9; ++i) {
    yaml += fmt::format("  l{}: [", i);
    for (int j = 0; j < 10; ++j) yaml += fmt::format("{}$l{}", j == 0 ? "" : ", ", i - 1);
    yaml += "]\n";
  }
  return yaml;
}

TEST(SharedNames, ThatStandForMoreThanMemoryHoldsAreRefused) {
  EXPECT_EQ(error_of([] { names_of(names_of_names()); }),
            "lists.yaml:7:8: names stand for more than 20000 values here | let names stand for "
            "fewer values, or for fewer other names");
}

TEST(SharedNames, OfAGroupServeItsRulesAndGoBeforeTheBuiltInOnes) {
  const TempDir dir;
  dir.add("z-names.yaml",
          "lists: {mine: [docker0]}\nconditions: {rdma_present: {event: peer_closed}}");
  dir.add("a-rule.yaml", rule_yaml("a-rule",
                                   "{all: [{event: bootstrap_interface, where: {devices: $mine}}, "
                                   "{use: rdma_present}]}"));
  const Rulebook rulebook = load_rulebook({dir.path().string()});
  EXPECT_EQ(flow_text(*find_rule(rulebook, "a-rule")->when.node),
            "{all: [{event: bootstrap_interface, where: {devices: [docker0]}}, "
            "{event: peer_closed}]}");
  EXPECT_EQ(check_rules({dir.path().string()}).files, 2u);
  EXPECT_TRUE(builtin_shared_names().conditions.contains("rdma_present"));
}

}  // namespace
}  // namespace ncclog::testing
