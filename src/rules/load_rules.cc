#include "rules/load_rules.h"

#include <algorithm>

#include "rules/condition_keys.h"
#include "rules/load_condition.h"
#include "rules/node_reader.h"

namespace ncclog {
namespace {

const Names kKeys = {"id",
                     "title",
                     "severity",
                     "confidence",
                     "role",
                     "per",
                     "needs",
                     "when",
                     "blame",
                     "message",
                     "why",
                     "check",
                     "fix",
                     "do_not",
                     "references",
                     "explains",
                     "explains_same_ranks",
                     "related",
                     "examples",
                     "last_resort",
                     "halves_bandwidth",
                     "of_all_runs"};

/// "shm-no-space" for "rules/shm/shm-no-space.yaml".
std::string_view id_of_path(std::string_view path) {
  path.remove_prefix(std::min(path.rfind('/') + 1, path.size()));
  return path.substr(0, path.rfind('.'));
}

std::string load_id(const RuleFile& file, const RuleNode& node) {
  const std::string& id = scalar_of(file, node, "an id");
  if (!is_rule_id(id)) {
    fail_at(file, node.place, fmt::format("'{}' is no id", id),
            "ids are words in lower case, joined by '-'");
  }
  if (id != id_of_path(file.path)) {
    fail_at(file, node.place, fmt::format("the id '{}' is not the file's name", id),
            fmt::format("name the file {}.yaml", id));
  }
  return id;
}

std::string optional_text(const RuleFile& file, const RuleNode& root, std::string_view key) {
  const RuleNode* node = root.find(key);
  return node != nullptr ? scalar_of(file, *node, "a text") : std::string();
}

std::vector<std::string> optional_texts(const RuleFile& file, const RuleNode& root,
                                        std::string_view key) {
  const RuleNode* node = root.find(key);
  if (node == nullptr) return {};
  // "fix: []" says that there is none, and is no mistake.
  if (node->type == RuleNode::Type::Sequence && node->items.empty()) return {};
  return scalars_of(file, *node, "a list of texts");
}

std::vector<const CoverageQuestion*> load_needs(const RuleFile& file, const RuleNode& root) {
  std::vector<const CoverageQuestion*> needs;
  const RuleNode* node = root.find("needs");
  if (node == nullptr) return needs;
  for (const std::string& name : scalars_of(file, *node, "a list of coverage questions")) {
    const CoverageQuestion* question = find_coverage_question(name);
    if (question == nullptr) {
      Names known;
      for (const CoverageQuestion& known_one : coverage_questions())
        known.push_back(known_one.name);
      fail_unknown(file, node->place, "need '{}'", name, known);
    }
    needs.push_back(question);
  }
  return needs;
}

Blame load_blame_word(const RuleFile& file, const RuleNode& node, const ConditionNames& names) {
  if (node.text == "reporters") return {Blame::Type::Reporters, {}, {}};
  if (node.text == "facts") return {Blame::Type::Facts, {}, {}};
  if (node.text == "none") return {Blame::Type::Nobody, {}, {}};
  if (names.labels.contains(node.text)) return {Blame::Type::Speakers, node.text, {}};
  Names known = {"reporters", "facts", "none"};
  for (const auto& [label, meaning] : names.labels) known.push_back(label);
  fail_unknown(file, node.place, "blame '{}'", node.text, known);
}

Blame load_blame(const RuleFile& file, const RuleNode& root, const ConditionNames& names) {
  const RuleNode* node = root.find("blame");
  if (node == nullptr) return {};
  if (node->type == RuleNode::Type::Scalar) return load_blame_word(file, *node, names);
  only_keys(file, *node, {"pid", "host"});
  const RuleNode::Entry& entry = entries_of(file, *node, "whom to blame").front();
  LabelledField field = load_labelled_field(file, entry.value.place,
                                            scalar_of(file, entry.value, "LABEL.FIELD"), names);
  const Blame::Type type = entry.key == "pid" ? Blame::Type::Pid : Blame::Type::Host;
  return {type, std::move(field.label), field.field};
}

std::vector<Example> load_examples_of(const RuleFile& file, const RuleNode& examples,
                                      std::string_view key) {
  const RuleNode& list = required(file, examples, key);
  std::vector<Example> result;
  for (const RuleNode& item : items_of(file, list, "a list of logs")) {
    result.push_back({scalar_of(file, item, "a log"), item.place});
  }
  return result;
}

void load_examples(const RuleFile& file, Rule& rule) {
  const RuleNode& examples = required(file, file.root, "examples");
  entries_of(file, examples, "examples that fire and examples that stay quiet");
  only_keys(file, examples, {"fires", "quiet"});
  rule.fires = load_examples_of(file, examples, "fires");
  rule.quiet = load_examples_of(file, examples, "quiet");
}

uint64_t hash_text(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return (hash ^ 0xFFu) * 0x100000001b3u;
}

uint64_t hash_node(uint64_t hash, const RuleNode& node) {
  hash = hash_text(hash * 31 + static_cast<uint64_t>(node.type), node.text);
  for (const RuleNode& item : node.items) hash = hash_node(hash, item);
  for (const RuleNode::Entry& entry : node.entries) {
    if (entry.key == "examples") continue;
    hash = hash_node(hash_text(hash, entry.key), entry.value);
  }
  return hash;
}

void load_texts(const RuleFile& file, Rule& rule) {
  const RuleNode& root = file.root;
  rule.title = scalar_of(file, required(file, root, "title"), "a title");
  rule.why = optional_text(file, root, "why");
  rule.check = optional_texts(file, root, "check");
  rule.fix = optional_texts(file, root, "fix");
  rule.do_not = optional_texts(file, root, "do_not");
  rule.references = optional_texts(file, root, "references");
  rule.explains = optional_texts(file, root, "explains");
  if (const RuleNode* explains = root.find("explains")) rule.explains_place = explains->place;
  rule.explains_same_ranks = optional_texts(file, root, "explains_same_ranks");
  if (const RuleNode* explains = root.find("explains_same_ranks")) {
    rule.explains_same_ranks_place = explains->place;
  }
  rule.related = optional_texts(file, root, "related");
  if (const RuleNode* related = root.find("related")) rule.related_place = related->place;
}

void load_grades(const RuleFile& file, Rule& rule) {
  const RuleNode& root = file.root;
  if (const RuleNode* last_resort = root.find("last_resort")) {
    rule.last_resort = word_of(file, *last_resort, "last_resort", {"false", "true"}) == 1;
  }
  if (const RuleNode* halves = root.find("halves_bandwidth")) {
    rule.halves_bandwidth = word_of(file, *halves, "halves_bandwidth", {"false", "true"}) == 1;
  }
  if (const RuleNode* all = root.find("of_all_runs")) {
    rule.of_all_runs = word_of(file, *all, "of_all_runs", {"false", "true"}) == 1;
  }
  rule.severity = static_cast<Severity>(
      word_of(file, required(file, root, "severity"), "severity", {"error", "warning", "info"}));
  rule.confidence = static_cast<Confidence>(word_of(
      file, required(file, root, "confidence"), "confidence", {"certain", "likely", "possible"}));
  rule.role = static_cast<Role>(
      word_of(file, required(file, root, "role"), "role", {"cause", "symptom", "advice"}));
  if (const RuleNode* per = root.find("per")) {
    rule.per = static_cast<Scope>(
        word_of(file, *per, "scope", Names(per_names().begin(), per_names().end())));
  }
}

}  // namespace

bool is_rule_id(std::string_view id) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !id.empty() && id.front() != '-' && id.back() != '-' &&
         std::all_of(id.begin(), id.end(), is_part) && id.find("--") == id.npos;
}

std::span<const std::string_view> rule_keys() { return kKeys; }

Rule load_rule(const RuleFile& file) {
  const RuleNode& root = file.root;
  entries_of(file, root, "a rule");
  only_keys(file, root, kKeys);
  Rule rule;
  rule.path = file.path;
  rule.builtin = file.builtin;
  rule.id = load_id(file, required(file, root, "id"));
  load_grades(file, rule);
  load_texts(file, rule);
  rule.needs = load_needs(file, root);
  ConditionNames names{rule.per, {}};
  const RuleNode& when = required(file, root, "when");
  rule.when = load_condition(file, when, names);
  rule.when_text = flow_text(when);
  rule.blame = load_blame(file, root, names);
  const RuleNode& message = required(file, root, "message");
  rule.message = load_message(file, message, names);
  rule.message_text = message.text;
  load_examples(file, rule);
  rule.hash = hash_node(0xcbf29ce484222325u, root);
  return rule;
}

Rule load_rule(std::string_view yaml, const std::string& path) {
  return load_rule(RuleFile{path, read_yaml(yaml, path), false});
}

}  // namespace ncclog
