#include "rules/load_rules.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iterator>
#include <utility>

#include "base/hash.h"
#include "base/posix.h"
#include "base/text.h"
#include "log/known_messages.h"
#include "rules/load_condition.h"

namespace ncclog {

Severity severity_of(const RuleNode& node) { return enum_of<Severity>(node, "severity"); }

namespace {

Confidence confidence_of(const RuleNode& node) { return enum_of<Confidence>(node, "confidence"); }

// What stands under the keys of a rule.

/// A rule while it is read: what its conditions define serves the keys after `when`.
struct RuleLoad {
  Rule rule;
  ConditionNames names;
};

void load_id(const RuleNode& node, RuleLoad& to) {
  const std::string& id = scalar_of(node, "an id");
  if (!is_rule_id(id)) {
    fail_at(node.place, fmt::format("'{}' is no id", id),
            "ids are words in lower case, joined by '-'");
  }
  if (id != std::filesystem::path(to.rule.path).stem()) {
    fail_at(node.place, fmt::format("the id '{}' is not the file's name", id),
            fmt::format("name the file {}.yaml", id));
  }
  to.rule.id = id;
}

void load_needs(const RuleNode& node, RuleLoad& to) {
  for (const std::string& name : scalars_of(node, "a list of coverage questions")) {
    const Fact* question = find_fact(name, coverage_facts());
    if (question == nullptr) {
      fail_unknown(node.place, "need '{}'", name, names_of(coverage_facts()));
    }
    to.rule.needs.push_back(question);
  }
}

void load_blame(const RuleNode& node, RuleLoad& to) {
  if (node.type == RuleNode::Type::Sequence) {
    for (const RuleNode& item : node.items) load_blame(item, to);
    return;
  }
  Blame& blame = to.rule.blame.emplace_back();
  if (node.type == RuleNode::Type::Scalar) {
    constexpr Blame::Type kTypes[] = {Blame::Type::Reporters, Blame::Type::Facts,
                                      Blame::Type::Nobody};
    Names known = {"reporters", "facts", "none"};
    std::ranges::copy(keys_of(to.names.labels), std::back_inserter(known));
    const size_t word = word_of(node, "blame", known);
    blame.type = word < std::size(kTypes) ? kTypes[word] : Blame::Type::Speakers;
    if (blame.type == Blame::Type::Speakers) blame.label = node.text;
    return;
  }
  only_keys(node, {"pid", "host", "ranks"});
  const RuleNode::Entry& entry = entries_of(node, "whom to blame").front();
  const std::string& field = scalar_of(entry.value, "LABEL.FIELD");
  blame.type = entry.key == "pid"    ? Blame::Type::Pid
               : entry.key == "host" ? Blame::Type::Host
                                     : Blame::Type::Ranks;
  blame.field = load_labelled_field(entry.value.place, field, to.names);
  blame.label = field.substr(0, field.find('.'));
}

/// host: {fact: host.shm_small, alone: warning, confidence: likely, refutes: reason}
constexpr MapKey<HostClause> kHostKeys[] = {
    {"fact", true,
     [](auto& node, auto& clause) {
       const std::string& name = scalar_of(node, "a fact of a host");
       clause.fact = find_fact(name);
       if (clause.fact != nullptr && clause.fact->scope == Scope::Host) return;
       Names known;
       for (const Fact& each : all_facts()) {
         if (each.scope == Scope::Host) known.push_back(each.name);
       }
       fail_unknown(node.place, "fact of a host '{}'", name, known);
     }},
    {"alone", false, [](auto& node, auto& clause) { clause.alone = severity_of(node); }},
    {"confidence", false,
     [](auto& node, auto& clause) { clause.confidence = confidence_of(node); }},
    {"refutes", false,
     [](auto& node, auto& clause) {
       clause.refutes =
           enum_of<HostClause::Refutes>(node, "refutes", {"finding", "reason", "nothing"});
     }},
};

/// A log, or a map of one and what it shows.
Example load_example(const RuleNode& node, const Names& keys) {
  Example example{.place = node.place};
  const RuleNode* log = node.find("log");
  // A map without one is a log that lacks its quotes.
  example.log = scalar_of(log != nullptr ? *log : node, "a log");
  only_keys(node, keys);
  const std::pair<std::string_view, std::string_view Example::*> texts[] = {
      {"name", &Example::name}, {"ranks", &Example::ranks}, {"says", &Example::says}};
  for (const auto& [key, text] : texts) {
    if (const RuleNode* value = node.find(key)) example.*text = scalar_of(*value, "a text");
  }
  return example;
}

constexpr MapKey<Rule> kExampleKeys[] = {
    {"fires", true,
     [](auto& node, auto& rule) {
       for (const RuleNode& item : items_of(node, "a list of logs")) {
         rule.fires.push_back(load_example(item, {"log", "name", "ranks", "says"}));
       }
     }},
    {"quiet", true,
     [](auto& node, auto& rule) {
       for (const RuleNode& item : items_of(node, "a list of logs")) {
         rule.quiet.push_back(load_example(item, {"log", "name"}));
       }
     }},
};

template <auto member>
void load_texts(const RuleNode& node, RuleLoad& to) {
  // "fix: []" says that there is none, and is no mistake.
  const bool is_empty = node.type == RuleNode::Type::Sequence && node.items.empty();
  if (!is_empty) to.rule.*member = scalars_of(node, "a list of texts");
}

bool flag_of(const RuleNode& node, std::string_view key) {
  return enum_of<bool>(node, key, {"false", "true"});
}

constexpr MapKey<RuleLoad> kKeys[] = {
    {"id", true, load_id},
    {"title", true, [](auto& node, auto& to) { to.rule.title = scalar_of(node, "a title"); }},
    {"severity", true, [](auto& node, auto& to) { to.rule.severity = severity_of(node); }},
    {"confidence", true, [](auto& node, auto& to) { to.rule.confidence = confidence_of(node); }},
    {"role", true, [](auto& node, auto& to) { to.rule.role = enum_of<Role>(node, "role"); }},
    {"per", false,
     [](auto& node, auto& to) {
       to.rule.per = enum_of<Scope>(node, "scope");
       to.names.per = to.rule.per;
     }},
    {"needs", false, load_needs},
    {"when", true, [](auto& node, auto& to) { to.rule.when = load_condition(node, to.names); }},
    {"host", false,
     [](auto& node, auto& to) {
       read_map(node, "what reports of hosts say", kHostKeys, to.rule.host);
     }},
    {"blame", false, load_blame},
    {"message", true, [](auto& node, auto& to) { to.rule.message = load_message(node, to.names); }},
    {"headline", false,
     [](auto& node, auto& to) { to.rule.headline = load_message(node, to.names); }},
    {"why", false, [](auto& node, auto& to) { to.rule.why = scalar_of(node, "a text"); }},
    {"check", false, load_texts<&Rule::check>},
    {"fix", false, load_texts<&Rule::fix>},
    {"do_not", false, load_texts<&Rule::do_not>},
    {"references", false, load_texts<&Rule::references>},
    {"explains", false, load_texts<&Rule::explains>},
    {"explains_same_ranks", false, load_texts<&Rule::explains_same_ranks>},
    {"witness", false, [](auto& node, auto& to) { to.rule.witness = scalar_of(node, "a text"); }},
    {"related", false, load_texts<&Rule::related>},
    {"examples", false,
     [](auto& node, auto& to) {
       read_map(node, "examples that fire and examples that stay quiet", kExampleKeys, to.rule);
     }},
    {"last_resort", false,
     [](auto& node, auto& to) { to.rule.last_resort = flag_of(node, "last_resort"); }},
    {"halves_bandwidth", false,
     [](auto& node, auto& to) { to.rule.halves_bandwidth = flag_of(node, "halves_bandwidth"); }},
    {"harmless", false,
     [](auto& node, auto& to) { to.rule.is_harmless = flag_of(node, "harmless"); }},
    {"tells_end", false,
     [](auto& node, auto& to) { to.rule.tells_end = flag_of(node, "tells_end"); }},
    {"of_all_runs", false,
     [](auto& node, auto& to) { to.rule.of_all_runs = flag_of(node, "of_all_runs"); }},
};

static_assert(std::size(kKeys) <= kMostNamesListed, "the hint for an unknown key lists them all");

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

// Shared names, replaced before a rule is loaded.

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

/// Replaces names below nodes of a file, by at most kMostNodes nodes in all.
struct Replacement {
  const SharedNames& names;
  size_t put_in = 0;  ///< Nodes that stand for names so far.

  void operator()(RuleNode& node, bool holds_conditions) {
    if (const auto name = list_name(node); !name.empty()) {
      node = named(names.lists, "list", name, node.place);
    }
    const RuleNode* use = holds_conditions ? node.find("use") : nullptr;
    if (use != nullptr) {
      only_keys(node, {"use"});
      const std::string& name = scalar_of(*use, "the name of a condition");
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
      fail_unknown(place, fmt::format("{} '{{}}'", what), name, keys_of(nodes));
    }
    RuleNode result = found->second;
    put_in += move_to(result, place);
    if (put_in > kMostNodes) {
      fail_at(place, fmt::format("names stand for more than {} values here", kMostNodes),
              "let names stand for fewer values, or for fewer other names");
    }
    return result;
  }
};

void load_named(const RuleNode::Entry& entry, bool is_list, Replacement& replace,
                SharedNames& names) {
  if (!is_name(entry.key)) {
    fail_at(entry.place, fmt::format("'{}' is no name", entry.key),
            "names are words in lower case, joined by '_'");
  }
  RuleNode node = entry.value;
  replace(node, !is_list);
  if (is_list) {
    for (const RuleNode& item : items_of(node, "a list of values")) scalar_of(item, "a value");
  } else {
    ConditionNames any_rule;
    load_condition(node, any_rule);
  }
  (is_list ? names.lists : names.conditions).insert_or_assign(entry.key, std::move(node));
}

// Overlays: what a site changes about findings that it knows.

/// The entry's place and text are those of its node.
constexpr MapKey<Overlay> kOverlayKeys[] = {
    {"rule", true,
     [](auto& node, auto& overlay) {
       overlay.rule = scalar_of(node, "the id of a rule");
       overlay.place = node.place;
     }},
    {"suppress", false,
     [](auto& node, auto&) {
       if (!bool_of(node)) fail_at(node.place, "an entry that suppresses nothing can be left out");
     }},
    {"severity", false, [](auto& node, auto& overlay) { overlay.severity = severity_of(node); }},
    {"where", false,
     [](auto& node, auto& overlay) {
       static constexpr MapKey<Overlay> kWhere[] = {
           {"host", false,
            [](auto& hosts, auto& to) { to.host = load_value_tests(hosts, FieldType::Text); }},
           {"rank", false,
            [](auto& ranks, auto& to) { to.rank = load_value_tests(ranks, FieldType::Integer); }}};
       read_map(node, "hosts or ranks", kWhere, overlay);
     }},
    {"reason", true,
     [](auto& node, auto& overlay) {
       overlay.reason = trim(scalar_of(node, "a reason"));
       if (overlay.reason.empty()) fail_at(node.place, "the reason is empty");
     }},
    {"until", true,
     [](auto& node, auto& overlay) {
       overlay.until = scalar_of(node, "a day");
       if (!is_day(overlay.until)) {
         fail_at(node.place, fmt::format("'{}' is no day", overlay.until), "write 2027-01-31");
       }
     }},
};

// What several files say together.

/// Calls `load`; its Error is one of the set.
void attempt(RuleSet& set, const std::function<void()>& load) {
  try {
    load();
  } catch (const Error& error) {
    set.problems.push_back(error);
  }
}

constexpr std::string_view kLists = "lists.yaml";

RuleFile builtin_file(const EmbeddedRule& file, bool with_examples) {
  std::string_view bytes = file.text;
  const uint64_t hash = take_varint(bytes);
  RuleFile result{"rules/" + std::string(file.path), read_compact(bytes), true, hash};
  if (with_examples) result.root.entries.push_back({"examples", {}, read_compact(file.examples)});
  return result;
}

Rulebook load(const std::vector<std::string>& paths, std::string_view today, bool with_examples) {
  RuleSet set;
  if (!paths.empty()) {
    set = read_rule_set(paths, builtin_shared_names());
    if (!set.problems.empty()) throw set.problems.front();
  }
  std::vector<Rule> rules;
  for (const EmbeddedRule& file : embedded_rules()) {
    if (file.path != kLists) rules.push_back(load_rule(builtin_file(file, with_examples)));
  }
  std::move(set.rules.begin(), set.rules.end(), std::back_inserter(rules));
  return make_rulebook(std::move(rules), std::move(set.overlays), today);
}

// Rules joined to a rulebook: which one counts, in which order they are judged, what they share.

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

/// Throws Error at the place of the id.
void require_id(const RulesById& rules, Place place, const std::string& id) {
  if (!rules.contains(id)) fail_unknown(place, "rule '{}'", id, keys_of(rules));
}

void require_ids(const RulesById& rules, const Rule& rule) {
  const std::pair<std::string_view, const std::vector<std::string>&> lists[] = {
      {"explains", rule.explains},
      {"explains_same_ranks", rule.explains_same_ranks},
      {"related", rule.related}};
  for (const auto& [key, ids] : lists) {
    for (const std::string& id : ids) require_id(rules, rule.source->find(key)->place, id);
  }
  for_each_condition<const FindingCondition>(rule.when, [&](const FindingCondition& asked) {
    require_id(rules, asked.place, asked.rule);
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
      in_file(rule.path, [&] {
        fail_at(asked.place,
                fmt::format("'{}' and '{}' each ask for the other's finding", rule.id, asked.rule));
      });
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

bool is_rule_id(std::string_view id) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !id.empty() && id.front() != '-' && id.back() != '-' && std::ranges::all_of(id, is_part) &&
         id.find("--") == id.npos;
}

std::span<const std::string_view> rule_keys() {
  static const Names kNames = names_of(kKeys);
  return kNames;
}

uint64_t rule_hash(const RuleNode& root) { return hash_node(kFnvBasis, root); }

Rule load_rule(RuleFile file) {
  RuleLoad load{.names = {.per = Scope::Job, .is_checked = file.builtin}};
  Rule& rule = load.rule;
  rule.path = file.path;
  rule.builtin = file.builtin;
  rule.hash = file.hash ? *file.hash : rule_hash(file.root);
  rule.source = std::make_shared<const RuleNode>(std::move(file.root));
  in_file(rule.path, [&] {
    read_map(*rule.source, "a rule", kKeys, load);
    // Built-in rules are read without them where nobody asks.
    if (!rule.builtin) required(*rule.source, "examples");
  });
  return std::move(rule);
}

Rule load_rule(std::string_view yaml, const std::string& path) {
  return load_rule(RuleFile{path, read_yaml(yaml, path), false});
}

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

bool is_shared_names(const RuleNode& root) {
  return root.find("lists") != nullptr || root.find("conditions") != nullptr;
}

void load_shared_names(const RuleFile& file, SharedNames& names) {
  in_file(file.path, [&] {
    only_keys(file.root, {"lists", "conditions"});
    Replacement replace{names};
    for (const std::string_view key : {"lists", "conditions"}) {
      const RuleNode* named = file.root.find(key);
      if (named == nullptr) continue;
      for (const RuleNode::Entry& entry : entries_of(*named, fmt::format("{} by name", key))) {
        load_named(entry, key == "lists", replace, names);
      }
    }
  });
}

void replace_shared_names(RuleFile& file, const SharedNames& names) {
  Replacement replace{names};
  in_file(file.path, [&] {
    for (RuleNode::Entry& entry : file.root.entries) {
      if (entry.key == "message" || entry.key == "examples") continue;
      replace(entry.value, entry.key == "when");
    }
  });
}

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
  std::vector<Overlay> overlays;
  in_file(file.path, [&] {
    only_keys(file.root, {"overlay"});
    for (const RuleNode& entry : items_of(*file.root.find("overlay"), "a list of entries")) {
      Overlay& overlay = overlays.emplace_back();
      overlay.path = file.path;
      overlay.text = flow_text(entry);
      overlay.where = fmt::format("{}:{}:{}", file.path, entry.place.line, entry.place.column);
      constexpr std::string_view kEntry = "an entry of an overlay";
      // What the entry does comes before what is wrong with its other keys, and behind a misspelt
      // one, which may be this one.
      entries_of(entry, kEntry);
      only_keys(entry, names_of(kOverlayKeys));
      if ((entry.find("suppress") != nullptr) == (entry.find("severity") != nullptr)) {
        fail_at(entry.place, "an entry has either 'suppress: true' or 'severity'");
      }
      read_map(entry, kEntry, kOverlayKeys, overlay);
    }
  });
  return overlays;
}

RuleSet read_rule_set(const std::vector<std::string>& paths, SharedNames shared) {
  RuleSet set;
  std::vector<RuleFile> rules;
  std::vector<std::string> files;
  for (const std::string& path : paths)
    std::ranges::move(find_rule_files(path), std::back_inserter(files));
  set.files = files.size();
  for (const std::string& path : files) {
    attempt(set, [&] {
      RuleFile file = read_rule_file(path);
      if (is_shared_names(file.root)) {
        load_shared_names(file, shared);
      } else if (is_overlay_file(file.root)) {
        std::ranges::move(load_overlays(file), std::back_inserter(set.overlays));
      } else {
        rules.push_back(std::move(file));
      }
    });
  }
  // Only now: a rule may use names of files that stand behind its own.
  for (RuleFile& file : rules) {
    attempt(set, [&] {
      replace_shared_names(file, shared);
      set.rules.push_back(load_rule(std::move(file)));
    });
  }
  return set;
}

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

Rulebook make_rulebook(std::vector<Rule> rules, std::vector<Overlay> overlays,
                       std::string_view today) {
  RulesById unique = by_id(std::move(rules));
  for (const auto& [id, rule] : unique) in_file(rule.path, [&] { require_ids(unique, rule); });
  Rulebook rulebook;
  for (Overlay& overlay : overlays) {
    in_file(overlay.path, [&] { require_id(unique, overlay.place, overlay.rule); });
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
