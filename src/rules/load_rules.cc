#include "rules/load_rules.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/hash.h"
#include "base/posix.h"
#include "base/text.h"
#include "log/known_messages.h"
#include "rules/load_condition.h"

namespace ncclog {

Severity severity_of(const RuleFile& file, const RuleNode& node) {
  return static_cast<Severity>(word_of(file, node, "severity", {"error", "warning", "info"}));
}

namespace {

const Names kKeys = split_blanks(
    "id title severity confidence role per needs when host blame message why check fix do_not "
    "references explains explains_same_ranks related examples last_resort halves_bandwidth "
    "of_all_runs");

Confidence confidence_of(const RuleFile& file, const RuleNode& node) {
  return static_cast<Confidence>(
      word_of(file, node, "confidence", {"certain", "likely", "possible"}));
}

std::string load_id(const RuleFile& file, const RuleNode& node) {
  const std::string& id = scalar_of(file, node, "an id");
  if (!is_rule_id(id)) {
    fail_at(file, node.place, fmt::format("'{}' is no id", id),
            "ids are words in lower case, joined by '-'");
  }
  if (id != std::filesystem::path(file.path).stem()) {
    fail_at(file, node.place, fmt::format("the id '{}' is not the file's name", id),
            fmt::format("name the file {}.yaml", id));
  }
  return id;
}

std::vector<std::string> optional_texts(const RuleFile& file, const RuleNode& root,
                                        std::string_view key) {
  const RuleNode* node = root.find(key);
  if (node == nullptr) return {};
  // "fix: []" says that there is none, and is no mistake.
  if (node->type == RuleNode::Type::Sequence && node->items.empty()) return {};
  return scalars_of(file, *node, "a list of texts");
}

std::vector<const Fact*> load_needs(const RuleFile& file, const RuleNode& root) {
  std::vector<const Fact*> needs;
  const RuleNode* node = root.find("needs");
  if (node == nullptr) return needs;
  for (const std::string& name : scalars_of(file, *node, "a list of coverage questions")) {
    const Fact* question = find_fact(name, coverage_facts());
    if (question == nullptr) {
      fail_unknown(file, node->place, "need '{}'", name, names_of(coverage_facts()));
    }
    needs.push_back(question);
  }
  return needs;
}

Blame load_blame(const RuleFile& file, const RuleNode& root, const ConditionNames& names) {
  const RuleNode* node = root.find("blame");
  if (node == nullptr) return {};
  if (node->type == RuleNode::Type::Scalar) {
    constexpr Blame::Type kTypes[] = {Blame::Type::Reporters, Blame::Type::Facts,
                                      Blame::Type::Nobody};
    Names known = {"reporters", "facts", "none"};
    std::ranges::copy(keys_of(names.labels), std::back_inserter(known));
    const size_t word = word_of(file, *node, "blame", known);
    if (word < std::size(kTypes)) return {.type = kTypes[word]};
    return {.type = Blame::Type::Speakers, .label = node->text};
  }
  only_keys(file, *node, {"pid", "host"});
  const RuleNode::Entry& entry = entries_of(file, *node, "whom to blame").front();
  LabelledField field = load_labelled_field(file, entry.value.place,
                                            scalar_of(file, entry.value, "LABEL.FIELD"), names);
  const Blame::Type type = entry.key == "pid" ? Blame::Type::Pid : Blame::Type::Host;
  return {type, std::move(field.label), field.field};
}

/// host: {fact: host.shm_small, alone: warning, confidence: likely, refutes: reason}
HostClause load_host_clause(const RuleFile& file, const RuleNode& root) {
  HostClause clause;
  const RuleNode* node = root.find("host");
  if (node == nullptr) return clause;
  entries_of(file, *node, "what reports of hosts say");
  only_keys(file, *node, {"fact", "alone", "confidence", "refutes"});
  const RuleNode& fact = required(file, *node, "fact");
  const std::string& name = scalar_of(file, fact, "a fact of a host");
  clause.fact = find_fact(name);
  if (clause.fact == nullptr || clause.fact->scope != Scope::Host) {
    Names known;
    for (const Fact& each : all_facts()) {
      if (each.scope == Scope::Host) known.push_back(each.name);
    }
    fail_unknown(file, fact.place, "fact of a host '{}'", name, known);
  }
  if (const RuleNode* alone = node->find("alone")) clause.alone = severity_of(file, *alone);
  if (const RuleNode* confidence = node->find("confidence")) {
    clause.confidence = confidence_of(file, *confidence);
  }
  if (const RuleNode* refutes = node->find("refutes")) {
    clause.refutes = static_cast<HostClause::Refutes>(
        word_of(file, *refutes, "refutes", {"finding", "reason", "nothing"}));
  }
  return clause;
}

/// A log, or a map of one and what it shows.
Example load_example(const RuleFile& file, const RuleNode& node, const Names& keys) {
  Example example{.place = node.place};
  const RuleNode* log = node.find("log");
  // A map without one is a log that lacks its quotes.
  example.log = scalar_of(file, log != nullptr ? *log : node, "a log");
  only_keys(file, node, keys);
  const std::pair<std::string_view, std::string_view Example::*> texts[] = {
      {"name", &Example::name}, {"ranks", &Example::ranks}, {"says", &Example::says}};
  for (const auto& [key, text] : texts) {
    const RuleNode* value = node.find(key);
    if (value != nullptr) example.*text = scalar_of(file, *value, "a text");
  }
  return example;
}

void load_examples(const RuleFile& file, Rule& rule) {
  const RuleNode& examples = required(file, *rule.source, "examples");
  entries_of(file, examples, "examples that fire and examples that stay quiet");
  only_keys(file, examples, {"fires", "quiet"});
  const auto load = [&](std::string_view key, const Names& keys, std::vector<Example>& to) {
    for (const RuleNode& item : items_of(file, required(file, examples, key), "a list of logs")) {
      to.push_back(load_example(file, item, keys));
    }
  };
  load("fires", {"log", "name", "ranks", "says"}, rule.fires);
  load("quiet", {"log", "name"}, rule.quiet);
}

uint64_t hash_node(uint64_t hash, const RuleNode& node) {
  hash = fnv_text(hash * 31 + static_cast<uint64_t>(node.type), node.text);
  for (const RuleNode& item : node.items) hash = hash_node(hash, item);
  for (const RuleNode::Entry& entry : node.entries) {
    // Examples prove a rule and change nothing that it finds.
    if (entry.key == "examples") continue;
    hash = hash_node(fnv_text(hash, entry.key), entry.value);
  }
  return hash;
}

using Texts = std::vector<std::string>;

constexpr std::pair<std::string_view, Texts Rule::*> kTextLists[] = {
    {"check", &Rule::check},       {"fix", &Rule::fix},
    {"do_not", &Rule::do_not},     {"references", &Rule::references},
    {"explains", &Rule::explains}, {"explains_same_ranks", &Rule::explains_same_ranks},
    {"related", &Rule::related},
};

/// Ids of other rules.
constexpr std::span kIdLists = std::span(kTextLists).last(3);

constexpr std::pair<std::string_view, bool Rule::*> kFlags[] = {
    {"last_resort", &Rule::last_resort},
    {"halves_bandwidth", &Rule::halves_bandwidth},
    {"of_all_runs", &Rule::of_all_runs},
};

void load_grades(const RuleFile& file, Rule& rule) {
  const RuleNode& root = *rule.source;
  for (const auto& [key, flag] : kFlags) {
    const RuleNode* node = root.find(key);
    if (node != nullptr) rule.*flag = word_of(file, *node, key, {"false", "true"}) == 1;
  }
  rule.severity = severity_of(file, required(file, root, "severity"));
  rule.confidence = confidence_of(file, required(file, root, "confidence"));
  rule.role = static_cast<Role>(
      word_of(file, required(file, root, "role"), "role", {"cause", "symptom", "advice"}));
  const Names scopes(scope_names().begin(), scope_names().end());
  const RuleNode* per = root.find("per");
  if (per != nullptr) rule.per = static_cast<Scope>(word_of(file, *per, "scope", scopes));
}

}  // namespace

bool is_rule_id(std::string_view id) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !id.empty() && id.front() != '-' && id.back() != '-' && std::ranges::all_of(id, is_part) &&
         id.find("--") == id.npos;
}

std::span<const std::string_view> rule_keys() { return kKeys; }

uint64_t rule_hash(const RuleNode& root) { return hash_node(kFnvBasis, root); }

Rule load_rule(RuleFile file) {
  Rule rule;
  rule.source = std::make_shared<const RuleNode>(std::move(file.root));
  const RuleNode& root = *rule.source;
  entries_of(file, root, "a rule");
  only_keys(file, root, kKeys);
  rule.path = file.path;
  rule.builtin = file.builtin;
  rule.id = load_id(file, required(file, root, "id"));
  load_grades(file, rule);
  rule.title = scalar_of(file, required(file, root, "title"), "a title");
  if (const RuleNode* why = root.find("why")) rule.why = scalar_of(file, *why, "a text");
  for (const auto& [key, texts] : kTextLists) rule.*texts = optional_texts(file, root, key);
  rule.needs = load_needs(file, root);
  ConditionNames names{rule.per, {}};
  rule.when = load_condition(file, required(file, root, "when"), names);
  rule.host = load_host_clause(file, root);
  rule.blame = load_blame(file, root, names);
  rule.message = load_message(file, required(file, root, "message"), names);
  // Built-in rules are read without them where nobody asks.
  if (!rule.builtin || root.find("examples") != nullptr) load_examples(file, rule);
  rule.hash = file.hash ? *file.hash : rule_hash(root);
  return rule;
}

Rule load_rule(std::string_view yaml, const std::string& path) {
  return load_rule(RuleFile{path, read_yaml(yaml, path), false});
}

// Rule files on disk and in the executable.

std::vector<std::string> find_files(const std::string& path, std::string_view what,
                                    const Names& endings) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(path, error)) return {path};
  if (!fs::is_directory(path, error)) {
    throw Error(fmt::format("no such file or folder of {}s", what), path);
  }
  std::vector<std::string> files;
  fs::recursive_directory_iterator entry(path, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    const std::string ending = entry->path().extension();
    if (equals_one_of(ending, endings) && entry->is_regular_file(ignored)) {
      files.push_back(entry->path());
    }
  }
  if (error) throw Error("the folder cannot be read: " + error.message(), path);
  if (files.empty()) {
    throw Error(fmt::format("no {} file (*{}) in this folder", what, endings.front()), path);
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> find_rule_files(const std::string& path) {
  return find_files(path, "rule", {".yaml", ".yml"});
}

RuleFile read_rule_file(const std::string& path) {
  return {path, read_yaml(read_file(path), path), false};
}

// Shared names, replaced before a rule is loaded.

namespace {

/// Names of names grow by powers, so a short file could ask for more than there is memory.
constexpr size_t kMostNodes = 20'000;

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// "x" of the scalar $x; empty: it is none.
std::string_view list_name(const RuleNode& node) {
  const std::string_view text = node.text;
  if (node.type != RuleNode::Type::Scalar || !text.starts_with('$')) return {};
  return is_name(text.substr(1)) ? text.substr(1) : std::string_view();
}

/// Gives the place to all that is below the node; how many nodes that are.
size_t move_to(RuleNode& node, Place place) {
  size_t nodes = 1;
  node.place = place;
  for (RuleNode& item : node.items) nodes += move_to(item, place);
  for (RuleNode::Entry& entry : node.entries) {
    entry.place = place;
    nodes += move_to(entry.value, place);
  }
  return nodes;
}

/// Replaces names below nodes of `file`, by at most kMostNodes nodes in all.
struct Replacement {
  const RuleFile& file;
  const SharedNames& names;
  size_t put_in = 0;  ///< Nodes that stand for names so far.

  void operator()(RuleNode& node, bool holds_conditions) {
    if (const auto name = list_name(node); !name.empty()) {
      node = named(names.lists, "list", name, node.place);
    }
    const RuleNode* use = holds_conditions ? node.find("use") : nullptr;
    if (use != nullptr) {
      only_keys(file, node, {"use"});
      const std::string& name = scalar_of(file, *use, "the name of a condition");
      node = named(names.conditions, "condition", name, use->place);
    }
    std::vector<RuleNode> items;
    for (RuleNode& item : node.items) {
      const bool is_list = !list_name(item).empty();
      (*this)(item, holds_conditions);
      if (is_list) {
        std::ranges::move(item.items, std::back_inserter(items));
      } else {
        items.push_back(std::move(item));
      }
    }
    node.items = std::move(items);
    for (RuleNode::Entry& entry : node.entries) {
      (*this)(entry.value, holds_conditions && entry.key != "where");
    }
  }

  /// What the name stands for, with the name's place.
  RuleNode named(const auto& nodes, std::string_view what, std::string_view name, Place place) {
    const auto found = nodes.find(name);
    if (found == nodes.end()) {
      fail_unknown(file, place, fmt::format("{} '{{}}'", what), name, keys_of(nodes));
    }
    RuleNode result = found->second;
    put_in += move_to(result, place);
    if (put_in > kMostNodes) {
      fail_at(file, place, fmt::format("names stand for more than {} values here", kMostNodes),
              "let names stand for fewer values, or for fewer other names");
    }
    return result;
  }
};

void load_named(const RuleFile& file, const RuleNode::Entry& entry, bool is_list,
                Replacement& replace, SharedNames& names) {
  if (!is_name(entry.key)) {
    fail_at(file, entry.place, fmt::format("'{}' is no name", entry.key),
            "names are words in lower case, joined by '_'");
  }
  RuleNode node = entry.value;
  replace(node, !is_list);
  if (is_list) {
    for (const RuleNode& item : items_of(file, node, "a list of values")) {
      scalar_of(file, item, "a value");
    }
  } else {
    ConditionNames any_rule;
    load_condition(file, node, any_rule);
  }
  (is_list ? names.lists : names.conditions).insert_or_assign(entry.key, std::move(node));
}

}  // namespace

bool is_shared_names(const RuleNode& root) {
  return root.find("lists") != nullptr || root.find("conditions") != nullptr;
}

void load_shared_names(const RuleFile& file, SharedNames& names) {
  only_keys(file, file.root, {"lists", "conditions"});
  Replacement replace{file, names};
  for (const std::string_view key : {"lists", "conditions"}) {
    const RuleNode* named = file.root.find(key);
    if (named == nullptr) continue;
    for (const RuleNode::Entry& entry : entries_of(file, *named, fmt::format("{} by name", key))) {
      load_named(file, entry, key == "lists", replace, names);
    }
  }
}

void replace_shared_names(RuleFile& file, const SharedNames& names) {
  Replacement replace{file, names};
  for (RuleNode::Entry& entry : file.root.entries) {
    if (entry.key == "message" || entry.key == "examples") continue;
    replace(entry.value, entry.key == "when");
  }
}

// Overlays: what a site changes about findings that it knows.

namespace {

void load_change(const RuleFile& file, const RuleNode& entry, Overlay& overlay) {
  const RuleNode* suppress = entry.find("suppress");
  const RuleNode* severity = entry.find("severity");
  if ((suppress != nullptr) == (severity != nullptr)) {
    fail_at(file, entry.place, "an entry has either 'suppress: true' or 'severity'");
  }
  if (severity != nullptr) {
    overlay.severity = severity_of(file, *severity);
  } else if (!bool_of(file, *suppress)) {
    fail_at(file, suppress->place, "an entry that suppresses nothing can be left out");
  }
}

Overlay load_overlay(const RuleFile& file, const RuleNode& entry) {
  entries_of(file, entry, "an entry of an overlay");
  only_keys(file, entry, {"rule", "suppress", "severity", "where", "reason", "until"});
  Overlay overlay;
  const RuleNode& rule = required(file, entry, "rule");
  overlay.rule = scalar_of(file, rule, "the id of a rule");
  overlay.place = rule.place;
  overlay.path = file.path;
  overlay.text = flow_text(entry);
  overlay.where = fmt::format("{}:{}:{}", file.path, entry.place.line, entry.place.column);
  load_change(file, entry, overlay);
  if (const RuleNode* where = entry.find("where")) {
    only_keys(file, *where, {"host", "rank"});
    for (const RuleNode::Entry& whom : entries_of(file, *where, "hosts or ranks")) {
      const bool is_host = whom.key == "host";
      (is_host ? overlay.host : overlay.rank) =
          load_value_tests(file, whom.value, is_host ? FieldType::Text : FieldType::Integer);
    }
  }
  const RuleNode& reason = required(file, entry, "reason");
  overlay.reason = trim(scalar_of(file, reason, "a reason"));
  if (overlay.reason.empty()) fail_at(file, reason.place, "the reason is empty");
  const RuleNode& until = required(file, entry, "until");
  overlay.until = scalar_of(file, until, "a day");
  if (!is_day(overlay.until)) {
    fail_at(file, until.place, fmt::format("'{}' is no day", overlay.until), "write 2027-01-31");
  }
  return overlay;
}

}  // namespace

bool is_day(std::string_view text) {
  const auto parts = split(text, '-');
  const bool has_form = parts.size() == 3 && parts[0].size() == 4 && parts[1].size() == 2 &&
                        parts[2].size() == 2 && text.find_first_not_of("0123456789-") == text.npos;
  if (!has_form) return false;
  const auto number = [&](size_t i) { return static_cast<int>(parse_int(parts[i]).value_or(0)); };
  const std::chrono::year_month_day day{std::chrono::year(number(0)),
                                        std::chrono::month(static_cast<unsigned>(number(1))),
                                        std::chrono::day(static_cast<unsigned>(number(2)))};
  return day.ok() && number(0) > 0;
}

std::string day_of(int64_t seconds) {
  constexpr int64_t kLatest = 253402300799;  // The end of the year 9999.
  return fmt::format("{:%F}", fmt::gmtime(std::time_t{std::clamp<int64_t>(seconds, 0, kLatest)}));
}

bool is_overlay_file(const RuleNode& root) { return root.find("overlay") != nullptr; }

std::vector<Overlay> load_overlays(const RuleFile& file) {
  only_keys(file, file.root, {"overlay"});
  std::vector<Overlay> overlays;
  for (const RuleNode& entry : items_of(file, *file.root.find("overlay"), "a list of entries")) {
    overlays.push_back(load_overlay(file, entry));
  }
  return overlays;
}

// What several files say together.

namespace {

/// Calls `load`; its Error goes to `on_error`.
template <typename Load>
void attempt(const OnRuleError& on_error, Load&& load) {
  try {
    load();
  } catch (const Error& error) {
    on_error(error);
  }
}

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    for (std::string& file : find_rule_files(path)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

RuleSet read_rule_set(const std::vector<std::string>& paths, SharedNames shared,
                      const OnRuleError& on_error) {
  RuleSet set;
  std::vector<RuleFile> rules;
  for (const std::string& path : files_of(paths)) {
    ++set.files;
    attempt(on_error, [&] {
      RuleFile file = read_rule_file(path);
      if (is_shared_names(file.root)) {
        load_shared_names(file, shared);
      } else if (is_overlay_file(file.root)) {
        std::vector<Overlay> overlays = load_overlays(file);
        std::move(overlays.begin(), overlays.end(), std::back_inserter(set.overlays));
      } else {
        rules.push_back(std::move(file));
      }
    });
  }
  // Only now: a rule may use names of files that stand behind its own.
  for (RuleFile& file : rules) {
    attempt(on_error, [&] {
      replace_shared_names(file, shared);
      set.rules.push_back(load_rule(std::move(file)));
    });
  }
  return set;
}

namespace {

constexpr std::string_view kLists = "lists.yaml";

RuleFile builtin_file(const EmbeddedRule& file, bool with_examples) {
  std::string_view bytes = file.text;
  const uint64_t hash = take_varint(bytes);
  RuleFile result{"rules/" + std::string(file.path), read_compact(bytes), true, hash};
  if (with_examples) {
    result.root.entries.push_back({"examples", {}, read_compact(file.examples)});
  }
  return result;
}

Rulebook load(const std::vector<std::string>& paths, std::string_view today, bool with_examples) {
  RuleSet set;
  if (!paths.empty()) {
    set = read_rule_set(paths, builtin_shared_names(), [](const Error& error) { throw error; });
  }
  std::vector<Rule> rules;
  for (const EmbeddedRule& file : embedded_rules()) {
    if (file.path != kLists) rules.push_back(load_rule(builtin_file(file, with_examples)));
  }
  std::move(set.rules.begin(), set.rules.end(), std::back_inserter(rules));
  return make_rulebook(std::move(rules), std::move(set.overlays), today);
}

}  // namespace

SharedNames builtin_shared_names() {
  SharedNames names;
  for (const EmbeddedRule& file : embedded_rules()) {
    if (file.path == kLists) load_shared_names(builtin_file(file, false), names);
  }
  return names;
}

Rulebook load_rulebook(const std::vector<std::string>& paths, std::string_view today) {
  return load(paths, today, false);
}

Rulebook load_rulebook_with_examples(const std::vector<std::string>& paths) {
  return load(paths, {}, true);
}

// Rules joined to a rulebook: which one counts, in which order they are judged, what they share.

namespace {

using RulesById = std::map<std::string, Rule, std::less<>>;

RulesById by_id(std::vector<Rule>&& rules) {
  RulesById result;
  for (Rule& rule : rules) {
    Rule& known = result[rule.id];
    if (!known.id.empty() && known.builtin == rule.builtin) {
      throw Error(fmt::format("the id '{}' stands twice", rule.id), rule.path,
                  fmt::format("it is also in {}", known.path));
    }
    known = std::move(rule);
  }
  return result;
}

/// Calls `use` for every condition of type T below `condition`, itself included.
template <typename T, typename Node>
void for_each_condition(Node& condition, const std::function<void(T&)>& use) {
  if (auto* found = std::get_if<std::remove_const_t<T>>(&condition.what)) use(*found);
  for_each_member(condition, [&](auto& inner) { for_each_condition<T>(inner, use); });
}

/// `path` and `place` are those of the id.
void require_id(const RulesById& rules, const std::string& path, Place place,
                const std::string& id) {
  if (!rules.contains(id)) fail_unknown({path, {}}, place, "rule '{}'", id, keys_of(rules));
}

void require_ids(const RulesById& rules, const Rule& rule) {
  for (const auto& [key, ids] : kIdLists) {
    for (const std::string& id : rule.*ids) {
      require_id(rules, rule.path, rule.source->find(key)->place, id);
    }
  }
  for_each_condition<const FindingCondition>(rule.when, [&](const FindingCondition& asked) {
    require_id(rules, rule.path, asked.place, asked.rule);
  });
}

/// Which rules stand in the order already, by id; false: some of those that they ask for do not.
using Placed = std::map<std::string, bool, std::less<>>;

/// Appends the rule's id behind those of the rules whose findings it asks for.
void place(const RulesById& rules, const Rule& rule, Placed& placed,
           std::vector<std::string>& order) {
  if (!placed.emplace(rule.id, false).second) return;
  for_each_condition<const FindingCondition>(rule.when, [&](const FindingCondition& asked) {
    const auto other = placed.find(asked.rule);
    if (other != placed.end() && !other->second) {
      fail_at({rule.path, {}}, asked.place,
              fmt::format("'{}' and '{}' each ask for the other's finding", rule.id, asked.rule));
    }
    place(rules, rules.at(asked.rule), placed, order);
  });
  placed[rule.id] = true;
  order.push_back(rule.id);
}

std::string hash_of(const RulesById& rules, const std::vector<Overlay>& overlays) {
  uint64_t hash = kFnvBasis;
  for (const auto& [id, rule] : rules) hash = fnv_step(hash, rule.hash);
  for (const Overlay& overlay : overlays) {
    for (const std::string& text : {overlay.rule, overlay.text}) hash = fnv_text(hash, text);
  }
  if (const uint64_t added = added_messages_hash(); added != 0) hash = fnv_step(hash, added);
  return fmt::format("{:016x}", hash);
}

}  // namespace

Rulebook make_rulebook(std::vector<Rule> rules, std::vector<Overlay> overlays,
                       std::string_view today) {
  RulesById unique = by_id(std::move(rules));
  for (const auto& [id, rule] : unique) require_ids(unique, rule);
  Rulebook rulebook;
  for (Overlay& overlay : overlays) {
    require_id(unique, overlay.path, overlay.place, overlay.rule);
    if (overlay.until < today) {
      rulebook.ended.push_back({overlay.rule, overlay.reason, overlay.until, overlay.where});
    } else {
      rulebook.overlays.push_back(std::move(overlay));
    }
  }
  rulebook.hash = hash_of(unique, rulebook.overlays);
  Placed placed;
  std::vector<std::string> order;
  for (const auto& [id, rule] : unique) place(unique, rule, placed, order);
  for (const std::string& id : order) rulebook.rules.push_back(std::move(unique.at(id)));
  for (Rule& rule : rulebook.rules) {
    for_each_condition<LineCondition>(rule.when, [&](LineCondition& line) {
      if (line.kind != nullptr) return;
      line.number = static_cast<int>(rulebook.line_patterns.size());
      rulebook.line_patterns.push_back(line.pattern.text());
    });
  }
  return rulebook;
}

const Rule* find_rule(const Rulebook& rulebook, std::string_view id) {
  const auto found = std::ranges::find(rulebook.rules, id, &Rule::id);
  return found == rulebook.rules.end() ? nullptr : &*found;
}

}  // namespace ncclog
