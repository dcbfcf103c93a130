#include "rules/load_rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rules/rule_tools.h"
#include "support/temp_dir.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

std::string load_error(const std::string& yaml, const std::string& path = "rules/a/my-rule.yaml") {
  return error_of([&] { load_rule(yaml, path); });
}

std::string when_error(const std::string& when) {
  return load_error(rule_yaml("my-rule", when), "my-rule.yaml");
}

struct RefusedRule {
  const char* text;
  const char* message;
};

constexpr RefusedRule kWhen[] = {
    {"{event: shm_attach_faild}",
     "my-rule.yaml:6:15: unknown event 'shm_attach_faild' | did you mean 'shm_attach_failed'?"},
    {"{event: shm_attach_failed, where: {sizes: 0}}",
     "my-rule.yaml:6:42: unknown field 'sizes' of event shm_attach_failed | did you mean 'size'?"},
    {"{event: shm_attach_failed, where: {size: small}}",
     "my-rule.yaml:6:48: expected a number, found 'small'"},
    {"{event: shm_attach_failed, where: {error: {contain: No}}}",
     "my-rule.yaml:6:50: unknown key 'contain' | did you mean 'contains'?"},
    {"{event: shm_attach_failed, where: {size: {at_least: x}}}",
     "my-rule.yaml:6:59: expected a number, found 'x'"},
    {"{event: shm_attach_failed, where: {error: {empty: maybe}}}",
     "my-rule.yaml:6:57: expected true or false, found 'maybe'"},
    {"{event: shm_attach_failed, where: {error: {field: sice}}}",
     "my-rule.yaml:6:57: unknown field 'sice' of event shm_attach_failed | did you mean 'size'?"},
    {"{event: shm_attach_failed, in: jop}",
     "my-rule.yaml:6:38: unknown reach 'jop' | did you mean 'job'?"},
    {"{event: shm_attach_failed, count: {atleast: 2}}",
     "my-rule.yaml:6:42: unknown key 'atleast' | did you mean 'at_least'?"},
    {"{event: shm_attach_failed, wher: {size: 0}}",
     "my-rule.yaml:6:34: unknown key 'wher' | did you mean 'where'?"},
    {"{event: channel_connected}",
     "my-rule.yaml:6:15: single lines of channel_connected are not kept | ask a fact about them"},
    {"{fact: job.host_cout, at_least: 2}",
     "my-rule.yaml:6:14: unknown fact 'job.host_cout' | did you mean 'job.host_count'?"},
    {"{fact: job.host_count}",
     "my-rule.yaml:6:7: what must the fact job.host_count be? | use equals, at_least, at_most"},
    {"{fact: job.host_count, is: true}",
     "my-rule.yaml:6:30: 'is' does not apply to the fact job.host_count | use equals, at_least, "
     "at_most"},
    {"{fact: communicator.few_channels, is: true}",
     "my-rule.yaml:6:14: a rule per job cannot ask for communicator.few_channels, a fact of each "
     "communicator | per: communicator"},
    {"{each: kernel_evnt}",
     "my-rule.yaml:6:14: unknown table or event 'kernel_evnt' | did you mean 'kernel_event'?"},
    {"{each: kernel_event, where: {kinds: xid}}",
     "my-rule.yaml:6:36: unknown field 'kinds' of table kernel_event | did you mean 'kind'?"},
    {"{each: kernel_event, by: level}",
     "my-rule.yaml:6:32: unknown field 'level' of table kernel_event | known: kind, code, class, "
     "means, "
     "unit, link, host, bus_id, rank, pid, who, concerns, known_death, when, text"},
    {"{each: kernel_event, words: 'Xid {code'}",
     "my-rule.yaml:6:35: a '{' of the words has no partner"},
    {"{each: kernel_event, words: 'Xid [{code}'}",
     "my-rule.yaml:6:35: a '[' of the words has no partner"},
    {"{each: kernel_event, words: '{alike} others'}",
     "my-rule.yaml:6:35: unknown field 'alike' of table kernel_event | known: kind, code, class, "
     "means, "
     "unit, link, host, bus_id, rank, pid, who, concerns, known_death, when, text"},
    {"{each: kernel_event, at: place}", "my-rule.yaml:6:7: 'at' stands beside 'odd'"},
    {"{each: channel_connected}",
     "my-rule.yaml:6:14: single lines of channel_connected are not kept | ask a fact about them"},
    {"{all: [{each: xid, as: x}, {event: peer_closed, as: x}]}",
     "my-rule.yaml:6:34: the label 'x' stands for lines of two kinds"},
    {"{line: '['}", "my-rule.yaml:6:14: not a regular expression of RE2: missing ]: ["},
    {"{evnt: shm_attach_failed}",
     "my-rule.yaml:6:8: unknown condition 'evnt' | did you mean 'event'?"},
    {"{all: []}", "my-rule.yaml:6:13: expected a list of conditions, found none"},
    {"{all: {event: peer_closed}}",
     "my-rule.yaml:6:13: expected a list of conditions, found a map | quote a text that holds "
     "': ', else YAML reads a map"},
    {"{all: [{event: peer_closed}], none: [{event: peer_closed}]}",
     "my-rule.yaml:6:37: unknown key 'none' | known: all"},
    {"{all: [{event: peer_closed, as: x}, {event: connect_failed, as: x}]}",
     "my-rule.yaml:6:43: the label 'x' stands for lines of two kinds"},
    {"{event: shm_attach_failed, where: {size: {above: 3 apples}}}",
     "my-rule.yaml:6:56: expected a number, found '3 apples'"},
    {"{sequence: [{event: peer_closed}]}", "my-rule.yaml:6:18: a sequence has two lines at least"},
    {"{sequence: [{event: peer_closed}, {fact: job.host_count, at_least: 2}]}",
     "my-rule.yaml:6:41: a sequence is made of lines | use event or line"},
    {"{sequence: [{event: peer_closed, in: job}, {event: peer_closed}]}",
     "my-rule.yaml:6:40: unknown key 'in' | known: event, where, as"},
    {"{sequence: [{event: peer_closed}, {event: connect_failed}], unles: {event: shm_note}}",
     "my-rule.yaml:6:67: unknown key 'unles' | did you mean 'unless'?"},
};

TEST(LoadRules, NamesWhatIsWrongInAConditionAndTheNearestName) {
  for (const RefusedRule& row : kWhen) EXPECT_EQ(when_error(row.text), row.message) << row.text;
}

constexpr RefusedRule kMessages[] = {
    {"{nobody}", "unknown placeholder 'nobody' | known: subject, ranks, hosts, communicator"},
    {"{peer_closed.pear}", "unknown field 'pear' of event peer_closed | did you mean 'peer'?"},
    {"{hidden.peer}", "unknown label 'hidden' | known: closed, peer_closed"},
    {"{job.host_cout}", "unknown fact 'job.host_cout' | did you mean 'job.host_count'?"},
    {"{peers|one|#}", "unknown label 'peers' | known: closed, peer_closed"},
    {"{closed|one}", "'closed|one' is no plural | {LABEL|one line|# lines}"},
    {"{subject", "a brace of the message has no partner | write {{ and }} for braces"},
    {"subject}", "a brace of the message has no partner | write {{ and }} for braces"},
};

TEST(LoadRules, RefusesPlaceholdersThatNothingFills) {
  const std::string when =
      "{all: [{event: peer_closed, as: closed}, {none: [{event: peer_closed, as: hidden}]}]}";
  for (const RefusedRule& row : kMessages) {
    EXPECT_EQ(load_error(rule_yaml("my-rule", when, "", row.text), "my-rule.yaml"),
              std::string("my-rule.yaml:7:10: ") + row.message)
        << row.text;
  }
}

TEST(LoadRules, KnowsWhatPatternsCapture) {
  const auto error = [](const std::string& pattern, const std::string& message) {
    return load_error(rule_yaml("my-rule", "{line: '" + pattern + "'}", "", message),
                      "my-rule.yaml");
  };
  EXPECT_EQ(error("rail (?P<rail>x)", "{line.rail}"), "");
  EXPECT_EQ(error("rail (?P<rail>x)", "{line.rails}"),
            "my-rule.yaml:7:10: unknown capture 'rails' | did you mean 'rail'?");
  EXPECT_EQ(error("rail", "{line.rail}"),
            "my-rule.yaml:7:10: the pattern captures nothing as 'rail' | name a part of it: "
            "(?P<rail>…)");
}

constexpr RefusedRule kBlame[] = {
    {"everyone",
     "my-rule.yaml:9:8: unknown blame 'everyone' | known: reporters, facts, none, "
     "end, process_ended"},
    {"{pit: end.pid}", "my-rule.yaml:9:9: unknown key 'pit' | did you mean 'pid'?"},
    {"{pid: end.pit}",
     "my-rule.yaml:9:14: unknown field 'pit' of event process_ended | did you mean 'pid'?"},
};

TEST(LoadRules, ChecksWhomARuleBlames) {
  for (const RefusedRule& row : kBlame) {
    EXPECT_EQ(load_error(rule_yaml("my-rule", "{event: process_ended, as: end}",
                                   std::string("blame: ") + row.text),
                         "my-rule.yaml"),
              row.message);
  }
}

/// `from` replaced by `to` in a valid rule.
struct Change {
  const char* from;
  const char* to;
  const char* message;
};

constexpr Change kChanges[] = {
    {"severity", "sevrity",
     "rules/a/my-rule.yaml:3:1: unknown key 'sevrity' | did you mean 'severity'?"},
    {"severity: error", "severity: error\ntags: [net]",
     "rules/a/my-rule.yaml:4:1: unknown key 'tags' | known: id, title, severity, confidence, role, "
     "per, needs, when, host, blame, message, headline, why, check, fix, do_not, references, "
     "explains, explains_same_ranks, witness, related, examples, last_resort, halves_bandwidth, "
     "harmless, tells_end, of_all_runs"},
    {"severity: error", "severity: eror",
     "rules/a/my-rule.yaml:3:11: unknown severity 'eror' | did you mean 'error'?"},
    {"role: cause\n", "", "rules/a/my-rule.yaml:1:1: the key 'role' is missing"},
    {"confidence: likely", "confidence: [likely]",
     "rules/a/my-rule.yaml:4:13: expected confidence, found a list"},
    {"id: my-rule", "id: My_rule",
     "rules/a/my-rule.yaml:1:5: 'My_rule' is no id | ids are words in lower case, joined by '-'"},
    {"id: my-rule", "id: my-role",
     "rules/a/my-rule.yaml:1:5: the id 'my-role' is not the file's name | name the file "
     "my-role.yaml"},
    {"examples: {fires: [a], quiet: [b]}\n", "",
     "rules/a/my-rule.yaml:1:1: the key 'examples' is missing"},
    {", quiet: [b]", "", "rules/a/my-rule.yaml:8:11: the key 'quiet' is missing"},
    {"fires: [a]", "fires: []", "rules/a/my-rule.yaml:8:19: expected a list of logs, found none"},
    {"fires: [a]", "fires: [{log: a, rank: 1}]",
     "rules/a/my-rule.yaml:8:29: unknown key 'rank' | did you mean 'ranks'?"},
    {"fires: [a]", "fires: [{a: b}]",
     "rules/a/my-rule.yaml:8:20: expected a log, found a map | quote a text that holds ': ', else "
     "YAML reads a map"},
    {"quiet: [b]", "quiet: [{log: b, ranks: 1}]",
     "rules/a/my-rule.yaml:8:41: unknown key 'ranks' | known: log, name"},
    {"role: cause\n", "role: cause\nper: hosts\n",
     "rules/a/my-rule.yaml:6:6: unknown scope 'hosts' | did you mean 'host'?"},
    {"role: cause\n", "role: cause\nneeds: [netwok]\n",
     "rules/a/my-rule.yaml:6:8: unknown need 'netwok' | did you mean 'network'?"},
    {"role: cause\n", "role: cause\nfix:\n  - do: that\n",
     "rules/a/my-rule.yaml:7:5: expected a text, found a map | quote a text that holds ': ', else "
     "YAML reads a map"},
};

TEST(LoadRules, NamesWhatIsWrongInTheRest) {
  for (const Change& change : kChanges) {
    std::string yaml = rule_yaml("my-rule", "{event: peer_closed}");
    yaml.replace(yaml.find(change.from), std::string(change.from).size(), change.to);
    EXPECT_EQ(load_error(yaml), change.message) << yaml;
  }
}

TEST(LoadRules, ReadsEveryPart) {
  const Rule rule = sample_rule("my-rule", "{event: peer_closed}",
                                "per: host\nneeds: [network, init]\nwhy: because\ncheck: [a, b]\n"
                                "fix: c\ndo_not: []\nreferences: [d]\nexplains: [e]\n",
                                "{subject} {{here}}");
  EXPECT_EQ(rule.severity, Severity::Error);
  EXPECT_EQ(rule.confidence, Confidence::Likely);
  EXPECT_EQ(rule.role, Role::Cause);
  EXPECT_EQ(rule.per, Scope::Host);
  ASSERT_EQ(rule.needs.size(), 2u);
  EXPECT_EQ(rule.needs[1]->name, "init");
  EXPECT_EQ(rule.check, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(rule.fix, (std::vector<std::string>{"c"}));
  EXPECT_TRUE(rule.do_not.empty());
  ASSERT_EQ(rule.message.size(), 2u);
  EXPECT_EQ(rule.message[1].text, " {here}");
  EXPECT_EQ(rule.fires.at(0).log, "a");
  EXPECT_EQ(rule.fires.at(0).name, "");
  EXPECT_EQ(rule.quiet.at(0).place, (Place{8, 32}));
  EXPECT_EQ(text_of(rule.when), "{event: peer_closed}");
}

TEST(LoadRules, ReadsWhatAnExampleShows) {
  std::string yaml = rule_yaml("my-rule", "{event: peer_closed}");
  yaml.replace(yaml.find("[a]"), 3, "[{name: one, log: a, ranks: 0-1, says: It}]");
  yaml.replace(yaml.find("[b]"), 3, "[{log: b, name: none}]");
  const Rule rule = load_rule(yaml, "my-rule.yaml");
  EXPECT_EQ(rule.fires.at(0).log, "a");
  EXPECT_EQ(rule.fires.at(0).name, "one");
  EXPECT_EQ(rule.fires.at(0).ranks, "0-1");
  EXPECT_EQ(rule.fires.at(0).says, "It");
  EXPECT_EQ(rule.quiet.at(0).log, "b");
  EXPECT_EQ(rule.quiet.at(0).name, "none");
}

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

std::vector<Overlay> overlays_of(const std::string& entries) {
  return load_overlays({"site.yaml", read_yaml("overlay:\n" + entries, "site.yaml"), false});
}

const std::string kTwoClosed =
    "n1:7:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n9<40123>\n"
    "n2:8:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n9<40124>\n";

constexpr const char* kToday = "2026-11-21";

/// What two rules and overlays make of kLog: one about closed connections, per process, and a last
/// resort.
Diagnosis diagnose_with(const std::string& entries) {
  std::vector<Rule> rules;
  rules.push_back(sample_rule("closed", "{event: peer_closed}", "per: process\n"));
  rules.push_back(sample_rule("unexplained", "{event: peer_closed}", "last_resort: true\n"));
  return diagnose(make_rulebook(std::move(rules), overlays_of(entries), kToday), kTwoClosed);
}

std::vector<std::string> told(const Diagnosis& diagnosis) {
  std::vector<std::string> out;
  for (const Finding& finding : diagnosis.findings) {
    out.push_back(finding.id + " " + std::string(to_string(finding.severity)) + " " +
                  (finding.hosts.empty() ? "" : finding.hosts.front()));
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST(Overlay, SuppressesAFindingAndKeepsItInTheReport) {
  const Diagnosis diagnosis =
      diagnose_with("  - {rule: closed, suppress: true, reason: Known., until: 2026-11-21}\n");
  EXPECT_EQ(told(diagnosis), Texts{});
  ASSERT_EQ(diagnosis.overlays.size(), 1u);
  EXPECT_EQ(diagnosis.overlays[0].finding.id, "closed");
  EXPECT_EQ(diagnosis.overlays[0].finding.hosts, (Texts{"n1", "n2"}));
  EXPECT_EQ(diagnosis.overlays[0].reason, "Known.");
  EXPECT_EQ(diagnosis.overlays[0].until, "2026-11-21");
  EXPECT_EQ(diagnosis.overlays[0].where, "site.yaml:2:5");
  EXPECT_EQ(diagnosis.verdict.status, VerdictStatus::NothingFound);
  EXPECT_EQ(diagnosis.verdict.headline, "No problem found but what overlays suppress; see there.");
}

TEST(Overlay, SuppressesOnTheHostsThatItMeansOnly) {
  const Diagnosis diagnosis = diagnose_with(
      "  - {rule: closed, suppress: true, where: {host: [n1, n7]}, reason: A, until: "
      "2027-01-31}\n");
  EXPECT_EQ(told(diagnosis), Texts{"closed error n2"});
  ASSERT_EQ(diagnosis.overlays.size(), 1u);
  EXPECT_EQ(diagnosis.overlays[0].finding.hosts, Texts{"n1"});
}

TEST(Overlay, ThatMeansNobodyHereChangesNothing) {
  for (const char* where : {"{host: n3}", "{rank: 0}", "{host: {starts_with: m}}"}) {
    const Diagnosis diagnosis =
        diagnose_with(std::string("  - {rule: closed, suppress: true, where: ") + where +
                      ", reason: A, until: 2027-01-31}\n");
    EXPECT_EQ(told(diagnosis), Texts{"closed error n1"}) << where;
    EXPECT_TRUE(diagnosis.overlays.empty()) << where;
  }
}

TEST(Overlay, ChangesTheSeverityAfterAllRulesAreJudged) {
  const Diagnosis diagnosis =
      diagnose_with("  - {rule: closed, severity: info, reason: A, until: 2027-01-31}\n");
  EXPECT_EQ(told(diagnosis), Texts{"closed info n1"});
  ASSERT_EQ(diagnosis.overlays.size(), 1u);
  EXPECT_EQ(diagnosis.overlays[0].finding.severity, Severity::Error);
  EXPECT_EQ(diagnosis.overlays[0].severity, Severity::Info);
}

TEST(Overlay, ThatHasEndedIsNotAppliedAndSaid) {
  const Diagnosis diagnosis =
      diagnose_with("  - {rule: closed, suppress: true, reason: Known., until: 2026-11-20}\n");
  EXPECT_EQ(told(diagnosis), Texts{"closed error n1"});
  ASSERT_EQ(diagnosis.ended_overlays.size(), 1u);
  EXPECT_EQ(diagnosis.ended_overlays[0].rule, "closed");
  EXPECT_EQ(diagnosis.ended_overlays[0].until, "2026-11-20");
}

struct RefusedEntry {
  const char* entry;
  const char* message;
};

constexpr RefusedEntry kWrong[] = {
    {"{rule: a, suppress: true, until: 2027-01-31}", "site.yaml:2:5: the key 'reason' is missing"},
    {"{rule: a, suppress: true, reason: B}", "site.yaml:2:5: the key 'until' is missing"},
    {"{rule: a, suppress: true, reason: B, until: 2027-02-30}",
     "site.yaml:2:49: '2027-02-30' is no day | write 2027-01-31"},
    {"{rule: a, reason: B, until: 2027-01-31}",
     "site.yaml:2:5: an entry has either 'suppress: true' or 'severity'"},
    {"{rule: a, suppress: true, severity: info, reason: B, until: 2027-01-31}",
     "site.yaml:2:5: an entry has either 'suppress: true' or 'severity'"},
    {"{rule: a}", "site.yaml:2:5: an entry has either 'suppress: true' or 'severity'"},
    {"{rule: a, suppress: true, severity: warn}",
     "site.yaml:2:5: an entry has either 'suppress: true' or 'severity'"},
    {"{rule: a, supress: true}",
     "site.yaml:2:15: unknown key 'supress' | did you mean 'suppress'?"},
    {"{rule: a, severity: warn, reason: B, until: 2027-01-31}",
     "site.yaml:2:25: unknown severity 'warn' | known: error, warning, info"},
    {"{rule: a, suppress: true, where: {hots: n1}, reason: B, until: 2027-01-31}",
     "site.yaml:2:39: unknown key 'hots' | known: host, rank"},
    {"{rule: a, suppress: true, where: {rank: x}, reason: B, until: 2027-01-31}",
     "site.yaml:2:45: expected a number, found 'x'"},
};

TEST(Overlay, IsCheckedWhenItIsLoaded) {
  for (const RefusedEntry& row : kWrong) {
    EXPECT_EQ(error_of([&] { overlays_of(std::string("  - ") + row.entry + "\n"); }), row.message)
        << row.entry;
  }
}

TEST(Overlay, NamesARuleThatExists) {
  EXPECT_EQ(error_of([] {
              diagnose_with("  - {rule: closd, suppress: true, reason: A, until: 2027-01-31}\n");
            }),
            "site.yaml:2:12: unknown rule 'closd' | did you mean 'closed'?");
}

TEST(Overlay, IsReadFromAFileBesideRules) {
  const TempDir dir;
  dir.add("known.yaml",
          "overlay:\n  - {rule: shm-no-space, severity: info, reason: A, until: 2026-01-31}\n");
  EXPECT_EQ(load_rulebook({dir.path().string()}).overlays.size(), 1u);
  EXPECT_EQ(load_rulebook({dir.path().string()}, kToday).ended.size(), 1u);
  EXPECT_NE(load_rulebook({dir.path().string()}).hash, load_rulebook().hash);
  EXPECT_TRUE(check_rules({dir.path().string()}).problems.empty());
}

struct Day {
  const char* text;
  bool exists;
};

constexpr Day kDays[] = {{"2027-01-31", true},  {"2028-02-29", true},  {"2027-02-29", false},
                         {"2027-13-01", false}, {"2027-1-31", false},  {"27-01-31", false},
                         {"2027-00-10", false}, {"0000-01-01", false}, {"2027-01-31 ", false},
                         {"", false},           {"20270-1-31", false}, {"2027-01--1", false}};

TEST(Overlay, DaysAreThoseOfTheCalendar) {
  for (const Day& day : kDays) EXPECT_EQ(is_day(day.text), day.exists) << day.text;
  EXPECT_EQ(day_of(0), "1970-01-01");
  EXPECT_EQ(day_of(1795219199), "2026-11-20");
  EXPECT_EQ(day_of(1795219200), "2026-11-21");
  EXPECT_EQ(day_of(-5), "1970-01-01");
  EXPECT_EQ(day_of(INT64_MAX), "9999-12-31");
}

}  // namespace
}  // namespace ncclog::testing
