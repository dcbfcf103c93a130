#include "rules/load_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "rules/pattern.h"

namespace ncclog {

std::vector<KindNames> kind_names() {
  std::vector<KindNames> kinds;
  for (const Kind& kind : all_kinds()) {
    KindNames& names = kinds.emplace_back(KindNames{kind.name, {}});
    for (const Field& field : kind.fields) names.fields.push_back(field.name);
    for (const HeaderField& field : header_fields()) names.fields.push_back(field.name);
  }
  return kinds;
}

std::span<const std::string_view> reach_names() {
  static constexpr std::string_view kNames[] = {"job", "host"};
  return kNames;
}

namespace {

// Fields, facts and what their values must be.

/// Whose fields a condition names: a message kind's with those of the header, or a table's.
struct FieldOwner {
  std::string_view sort;  ///< "event" or "table"
  std::string_view name;
  std::span<const Field> fields;
  bool has_header = false;
};

FieldOwner owner_of(const Kind& kind) { return {"event", kind.name, kind.fields, true}; }
FieldOwner owner_of(const JobTable& table) { return {"table", table.name, table.fields, false}; }

/// The field of that name, the owner's own before the header's. Throws Error.
FieldRef load_field(Place place, const FieldOwner& owner, std::string_view name) {
  Names known;
  for (size_t i = 0; i < owner.fields.size(); ++i) {
    if (owner.fields[i].name == name) return {.index = i, .type = owner.fields[i].type};
    known.push_back(owner.fields[i].name);
  }
  for (const HeaderField& field : header_fields()) {
    if (!owner.has_header) break;
    if (field.name == name) return {.header = &field, .type = field.type};
    known.push_back(field.name);
  }
  fail_unknown(place, fmt::format("field '{{}}' of {} {}", owner.sort, owner.name), name, known);
}

/// The fact of that name, if a rule that is judged per `per` can ask for it. Throws Error.
const Fact& load_fact(Place place, std::string_view name, std::optional<Scope> per) {
  const Fact* fact = find_fact(name);
  if (fact == nullptr) fail_unknown(place, "fact '{}'", name, names_of(all_facts()));
  // Exactly one instance of the fact's scope must be around each of the rule's own.
  const Scope scope = fact->scope;
  const bool is_around = scope == Scope::Job || scope == per ||
                         (scope == Scope::Host && per == Scope::Rank) ||
                         ((scope == Scope::Host || scope == Scope::Rank) && per == Scope::Process);
  if (per && !is_around) {
    fail_at(place,
            fmt::format("a rule per {} cannot ask for {}, a fact of each {}", to_string(*per), name,
                        to_string(fact->scope)),
            fmt::format("per: {}", to_string(fact->scope)));
  }
  return *fact;
}

/// A regular expression; checked unless the file was checked before.
Pattern load_pattern(const RuleNode& node, const ConditionNames& names) {
  Pattern pattern(scalar_of(node, "a regular expression"));
  if (names.is_checked) return pattern;
  if (const std::string error = pattern.error(); !error.empty()) {
    fail_at(node.place, fmt::format("not a regular expression of RE2: {}", error));
  }
  return pattern;
}

bool is_value(FieldType type, std::string_view text) {
  if (type == FieldType::Integer) return parse_int(text).has_value();
  if (type == FieldType::Hex) return parse_hex(text).has_value();
  return true;
}

/// The values that a field is compared with; numbers where the field is one.
std::vector<std::string> values_of(const RuleNode& node, FieldType type) {
  std::vector<std::string> values = scalars_of(node, "a value or a list of values");
  for (const std::string& value : values) {
    if (is_value(type, value)) continue;
    fail_at(node.place, fmt::format("expected a number, found '{}'", value));
  }
  return values;
}

/// "1G", "64M".
bool is_size(std::string_view text) {
  return std::string_view("KMGTP").find(text.empty() ? ' ' : text.back()) != text.npos &&
         parse_int(text.substr(0, text.size() - 1)).value_or(-1) >= 0;
}

/// What stands behind a comparison.
enum class Operand { Values, Texts, Number, Pattern, YesOrNo, Field };

struct ComparisonRow {
  std::string_view name;
  Operator op;
  Operand operand;
};

constexpr ComparisonRow kComparisons[] = {
    {"not", Operator::Not, Operand::Values},
    {"contains", Operator::Contains, Operand::Texts},
    {"starts_with", Operator::StartsWith, Operand::Texts},
    {"ends_with", Operator::EndsWith, Operand::Texts},
    {"matches", Operator::Matches, Operand::Pattern},
    {"at_least", Operator::AtLeast, Operand::Number},
    {"at_most", Operator::AtMost, Operand::Number},
    {"above", Operator::Above, Operand::Number},
    {"below", Operator::Below, Operand::Number},
    {"empty", Operator::Empty, Operand::YesOrNo},
    {"field", Operator::SameAs, Operand::Field},
    {"equals", Operator::Equals, Operand::Values},
    {"is", Operator::Equals, Operand::YesOrNo},
};

/// Those that may stand in a map; facts have two more.
constexpr std::span kInMaps = std::span(kComparisons).first(11);

/// `entry` is named by one of kComparisons; only an owner has fields to compare with.
ValueTest load_comparison(const RuleNode::Entry& entry, FieldType type, const FieldOwner* owner,
                          const ConditionNames& names) {
  const ComparisonRow& row = *std::ranges::find(kComparisons, entry.key, &ComparisonRow::name);
  const RuleNode& value = entry.value;
  ValueTest test{.op = row.op};
  switch (row.operand) {
    case Operand::Values:
      test.values = values_of(value, type);
      break;
    case Operand::Texts:
      test.values = scalars_of(value, "a text or a list of texts");
      break;
    case Operand::Number:
      test.is_size = is_size(scalar_of(value, "a number or a size"));
      test.number = test.is_size ? static_cast<int64_t>(*parse_size(value.text)) : number_of(value);
      break;
    case Operand::Pattern:
      test.pattern = load_pattern(value, names);
      break;
    case Operand::YesOrNo: {
      const bool yes = bool_of(value);
      if (row.op == Operator::Equals) test.values = {yes ? "true" : "false"};
      if (row.op == Operator::Empty && !yes) test.op = Operator::NotEmpty;
      break;
    }
    case Operand::Field:
      test.other = load_field(value.place, *owner, scalar_of(value, "the name of a field"));
      break;
  }
  return test;
}

/// v, [v, w], or a map of comparisons.
std::vector<ValueTest> load_tests(const RuleNode& node, FieldType type, const FieldOwner* owner,
                                  const ConditionNames& names) {
  if (node.type != RuleNode::Type::Map) return {{.values = values_of(node, type)}};
  Names known = comparison_names();
  if (owner == nullptr) std::erase(known, "field");
  only_keys(node, known);
  std::vector<ValueTest> tests;
  for (const RuleNode::Entry& demand : entries_of(node, "a comparison")) {
    tests.push_back(load_comparison(demand, type, owner, names));
  }
  return tests;
}

/// The comparisons that stand beside `fact` in a condition: is, equals, at_least, …
std::vector<ValueTest> load_fact_tests(const RuleNode& condition, const Fact& fact,
                                       const ConditionNames& names) {
  const bool is_number = fact.type == FactType::Integer;
  const Names known = fact.type == FactType::Bool ? Names{"is"}
                      : is_number                 ? Names{"equals", "at_least", "at_most"}
                                                  : Names{"equals", "contains"};
  std::vector<ValueTest> tests;
  for (const RuleNode::Entry& entry : condition.entries) {
    if (entry.key == "fact") continue;
    if (std::ranges::find(known, entry.key) == known.end()) {
      fail_at(entry.place, fmt::format("'{}' does not apply to the fact {}", entry.key, fact.name),
              fmt::format("use {}", fmt::join(known, ", ")));
    }
    tests.push_back(
        load_comparison(entry, is_number ? FieldType::Integer : FieldType::Text, nullptr, names));
  }
  if (tests.empty()) {
    fail_at(condition.place, fmt::format("what must the fact {} be?", fact.name),
            fmt::format("use {}", fmt::join(known, ", ")));
  }
  return tests;
}

/// count: {at_least: 2}
void load_count(const RuleNode& condition, LineCondition& lines) {
  const RuleNode* count = condition.find("count");
  if (count == nullptr) return;
  entries_of(*count, "a count: {at_least: 2}");
  only_keys(*count, {"at_least", "at_most", "equals"});
  lines.least = 0;
  for (const RuleNode::Entry& bound : count->entries) {
    const int64_t number = number_of(bound.value);
    if (bound.key != "at_most") lines.least = std::max(lines.least, number);
    if (bound.key != "at_least") lines.most = std::min(lines.most, number);
  }
}

// Conditions about lines: event, line, sequence.

/// The kind of that name, if its single lines are kept. Throws Error.
const Kind& load_kind(Place place, const std::string& name) {
  const Kind* kind = find_kind(name);
  if (kind == nullptr) fail_unknown(place, "event '{}'", name, names_of(all_kinds()));
  // Of these only sums are kept (model/shard/shard.cc): a log holds millions of such lines.
  if (kind->index == kKindIndex<CollectiveCall> || kind->index == kKindIndex<ChannelConnected>) {
    fail_at(place, fmt::format("single lines of {} are not kept", name), "ask a fact about them");
  }
  return *kind;
}

/// Notes what a label stands for. Throws Error if it stands for something else already.
void add_label(Place place, const std::string& label, LabelMeaning meaning, ConditionNames& names) {
  const auto [known, is_new] = names.labels.try_emplace(label, meaning);
  if (is_new) return;
  LabelMeaning& earlier = known->second;
  if (earlier.kind != meaning.kind || earlier.is_gathered != meaning.is_gathered) {
    fail_at(place, fmt::format("the label '{}' stands for lines of two kinds", label));
  }
  std::move(meaning.patterns.begin(), meaning.patterns.end(), std::back_inserter(earlier.patterns));
}

/// Where a condition looks: instance where nothing is said.
Reach load_reach(const RuleNode& condition) {
  const RuleNode* in = condition.find("in");
  if (in == nullptr) return Reach::Instance;
  return static_cast<Reach>(
      word_of(*in, "reach", Names(reach_names().begin(), reach_names().end())));
}

/// where: {size: 0, error: {contains: No such file}}
std::vector<FieldTest> load_where(const RuleNode& condition, const FieldOwner& owner,
                                  const ConditionNames& names) {
  std::vector<FieldTest> demands;
  const RuleNode* where = condition.find("where");
  if (where == nullptr) return demands;
  for (const RuleNode::Entry& entry : entries_of(*where, "a map of fields")) {
    FieldTest& test = demands.emplace_back();
    test.field = load_field(entry.place, owner, entry.key);
    test.tests = load_tests(entry.value, test.field.type, &owner, names);
  }
  return demands;
}

/// {event: KIND, where, in, count, as} or {line: 'RE2', in, count, as}
LineCondition load_lines(const RuleNode& node, ConditionNames& names) {
  LineCondition lines;
  if (const RuleNode* name = node.find("event")) {
    lines.kind = &load_kind(name->place, scalar_of(*name, "the name of a message kind"));
    lines.where = load_where(node, owner_of(*lines.kind), names);
  } else {
    lines.pattern = load_pattern(required(node, "line"), names);
  }
  lines.reach = load_reach(node);
  load_count(node, lines);
  lines.label = lines.kind != nullptr ? lines.kind->name : "line";
  if (const RuleNode* as = node.find("as")) lines.label = scalar_of(*as, "a label");
  LabelMeaning meaning{lines.kind, {}};
  if (lines.kind == nullptr) meaning.patterns = {lines.pattern};
  add_label(node.place, lines.label, meaning, names);
  // Messages may use the kind's name even where the lines have a label of their own.
  if (lines.kind != nullptr) add_label(node.place, std::string(lines.kind->name), meaning, names);
  return lines;
}

/// For conditions whose lines nothing can quote.
ConditionNames without_labels(const ConditionNames& names) {
  return {.per = names.per, .is_checked = names.is_checked};
}

Condition load_line_of_sequence(const RuleNode& node, ConditionNames& names) {
  entries_of(node, "a condition");
  if (node.find("event") != nullptr) {
    only_keys(node, {"event", "where", "as"});
  } else if (node.find("line") != nullptr) {
    only_keys(node, {"line", "as"});
  } else {
    fail_at(node.place, "a sequence is made of lines", "use event or line");
  }
  return {load_lines(node, names), &node};
}

/// {sequence: […], unless, in}
SequenceCondition load_sequence(const RuleNode& node, ConditionNames& names) {
  SequenceCondition sequence;
  const RuleNode& list = *node.find("sequence");
  for (const RuleNode& item : items_of(list, "a list of conditions")) {
    sequence.of.push_back(load_line_of_sequence(item, names));
  }
  if (sequence.of.size() < 2) fail_at(list.place, "a sequence has two lines at least");
  if (const RuleNode* unless = node.find("unless")) {
    ConditionNames hidden = without_labels(names);
    sequence.unless.push_back(load_line_of_sequence(*unless, hidden));
  }
  sequence.reach = load_reach(node);
  return sequence;
}

FactCondition load_fact_condition(const RuleNode& node, ConditionNames& names) {
  const RuleNode& name = required(node, "fact");
  FactCondition condition;
  condition.fact = &load_fact(name.place, scalar_of(name, "the name of a fact"), names.per);
  condition.tests = load_fact_tests(node, *condition.fact, names);
  return condition;
}

// Rows: each.

/// "{alike}", "{common}", or a field of the owner.
MessagePart load_word(Place place, const FieldOwner& owner, std::string_view name, bool are_odd) {
  MessagePart part;
  if (are_odd && (name == "alike" || name == "common")) {
    part.type = name == "alike" ? MessagePart::Type::Alike : MessagePart::Type::Common;
    return part;
  }
  part.type = MessagePart::Type::Field;
  part.field = load_field(place, owner, name);
  return part;
}

/// "Xid {code}[ on {host}]"
std::vector<WordsClause> load_words(const RuleNode& node, const FieldOwner& owner, bool are_odd) {
  std::vector<WordsClause> clauses(1);
  std::string_view rest = scalar_of(node, "words with fields in braces");
  while (!rest.empty()) {
    WordsClause& clause = clauses.back();
    const size_t mark = std::min(rest.find_first_of("{}[]"), rest.size());
    if (mark > 0) clause.parts.emplace_back().text = rest.substr(0, mark);
    rest.remove_prefix(mark);
    if (rest.empty()) break;
    const char c = rest.front();
    const size_t end = c == '{' ? rest.find('}') : 0;
    const bool is_misplaced = c == '}' || end == rest.npos || (c == '[' && clause.is_optional) ||
                              (c == ']' && !clause.is_optional);
    if (is_misplaced) fail_at(node.place, fmt::format("a '{}' of the words has no partner", c));
    if (c == '{') {
      clause.parts.push_back(load_word(node.place, owner, rest.substr(1, end - 1), are_odd));
    } else {
      clauses.push_back({.is_optional = c == '['});
    }
    rest.remove_prefix(end + 1);
  }
  if (clauses.back().is_optional) fail_at(node.place, "a '[' of the words has no partner");
  return clauses;
}

/// {each: TABLE or KIND, where, by, odd, at, usual, differ, words, between, lines, as}
EachCondition load_each(const RuleNode& node, ConditionNames& names) {
  if (names.per.value_or(Scope::Job) != Scope::Job) {
    fail_at(node.place, fmt::format("a rule per {} cannot gather", to_string(*names.per)),
            "each looks at the whole job");
  }
  EachCondition each;
  const RuleNode& of = required(node, "each");
  const std::string& name = scalar_of(of, "the name of a table or a message kind");
  const auto table = std::ranges::find(job_tables(), name, &JobTable::name);
  if (table != job_tables().end()) {
    each.table = &*table;
  } else if (find_kind(name) == nullptr) {
    Names known = names_of(job_tables());
    std::ranges::copy(names_of(all_kinds()), std::back_inserter(known));
    fail_unknown(of.place, "table or event '{}'", name, known);
  } else {
    each.lines.kind = &load_kind(of.place, name);
  }
  const FieldOwner owner =
      each.table != nullptr ? owner_of(*each.table) : owner_of(*each.lines.kind);
  each.lines.where = load_where(node, owner, names);
  const std::pair<const char*, std::optional<FieldRef> EachCondition::*> fields[] = {
      {"by", &EachCondition::by}, {"odd", &EachCondition::odd}, {"differ", &EachCondition::differ}};
  for (const auto& [key, field] : fields) {
    const RuleNode* value = node.find(key);
    if (value != nullptr)
      each.*field = load_field(value->place, owner, scalar_of(*value, "a field"));
  }
  for (const std::string_view key : {"at", "usual"}) {
    if (node.find(key) != nullptr && !each.odd)
      fail_at(node.place, fmt::format("'{}' stands beside 'odd'", key));
  }
  if (const RuleNode* at = node.find("at")) each.at_place = word_of(*at, "place", {"place"}) == 0;
  if (const RuleNode* usual = node.find("usual"))
    each.usual = scalars_of(*usual, "a value or a list of values");
  if (const RuleNode* words = node.find("words"))
    each.words = load_words(*words, owner, each.odd.has_value());
  if (const RuleNode* between = node.find("between")) each.between = scalar_of(*between, "a text");
  if (const RuleNode* lines = node.find("lines"))
    each.most_lines = static_cast<size_t>(std::max<int64_t>(number_of(*lines), 1));
  each.lines.label = name;
  if (const RuleNode* as = node.find("as")) each.lines.label = scalar_of(*as, "a label");
  add_label(node.place, each.lines.label, {each.lines.kind, true, {}}, names);
  return each;
}

FindingCondition load_finding(const RuleNode& node, ConditionNames&) {
  const RuleNode& id = required(node, "finding");
  return {scalar_of(id, "the id of a rule"), id.place};
}

template <GroupCondition::Type type>
GroupCondition load_group(const RuleNode& node, ConditionNames& names) {
  // What stands under `none` matched nothing when the rule fires, so no message can quote it.
  ConditionNames hidden = without_labels(names);
  ConditionNames& inner = type == GroupCondition::Type::None ? hidden : names;
  GroupCondition group{type, {}};
  const RuleNode& members = node.entries.front().value;
  for (const RuleNode& item : items_of(members, "a list of conditions")) {
    group.of.push_back(load_condition(item, inner));
  }
  return group;
}

/// Makes a `what` of Condition by one of the functions above.
template <auto load>
void load_as(const RuleNode& node, ConditionNames& names, Condition& to) {
  to.what = load(node, names);
}

/// What the patterns of a label capture under that name.
FieldRef load_capture(Place place, const LabelMeaning& meaning, std::string_view name,
                      bool is_checked) {
  FieldRef field;
  field.group = name;
  if (is_checked) {
    field.patterns = meaning.patterns;
    return field;
  }
  std::vector<std::string> groups;
  for (const Pattern& pattern : meaning.patterns) {
    const auto names = pattern.group_names();
    if (std::ranges::find(names, name) != names.end()) field.patterns.push_back(pattern);
    groups.insert(groups.end(), names.begin(), names.end());
  }
  if (!field.patterns.empty()) return field;
  if (groups.empty()) {
    fail_at(place, fmt::format("the pattern captures nothing as '{}'", name),
            fmt::format("name a part of it: (?P<{}>…)", name));
  }
  fail_unknown(place, "capture '{}'", name, Names(groups.begin(), groups.end()));
}

// Messages: which placeholder stands for what.

constexpr std::pair<std::string_view, MessagePart::Type> kNamedParts[] = {
    {"subject", MessagePart::Type::Subject},
    {"ranks", MessagePart::Type::Ranks},
    {"hosts", MessagePart::Type::Hosts},
    {"communicator", MessagePart::Type::Communicator},
};

/// "job.rdma_evidence" and "job.rdma_evidence.what"; nullopt if a label must be meant.
std::optional<MessagePart> fact_part(Place place, std::string_view name,
                                     const ConditionNames& names) {
  const std::string_view scope = name.substr(0, name.find('.'));
  if (!equals_one_of(scope, words_of_enum<Scope>()) || names.labels.contains(scope))
    return std::nullopt;
  constexpr std::string_view kWhat = ".what";
  MessagePart part;
  part.type = MessagePart::Type::Fact;
  if (name.ends_with(kWhat)) {
    part.type = MessagePart::Type::FactWhat;
    name.remove_suffix(kWhat.size());
  }
  part.fact = &load_fact(place, name, names.per);
  return part;
}

/// "end|one process|# processes": the first form for one line of the label, else the second.
MessagePart load_plural(Place place, std::string_view text, const ConditionNames& names) {
  const auto forms = split(text, '|');
  if (forms.size() != 3) {
    fail_at(place, fmt::format("'{}' is no plural", text), "{LABEL|one line|# lines}");
  }
  if (!names.labels.contains(forms[0])) {
    fail_unknown(place, "label '{}'", forms[0], keys_of(names.labels));
  }
  MessagePart part;
  part.type = MessagePart::Type::Plural;
  part.text = forms[0];
  part.one = forms[1];
  part.many = forms[2];
  return part;
}

MessagePart load_placeholder(Place place, std::string_view name, const ConditionNames& names) {
  MessagePart part;
  for (const auto& [known, type] : kNamedParts) {
    part.type = type;
    if (known == name) return part;
  }
  if (name.find('|') != name.npos) return load_plural(place, name, names);
  if (auto fact = fact_part(place, name, names)) return *fact;
  if (name.find('.') == name.npos) {
    fail_unknown(place, "placeholder '{}'", name, {"subject", "ranks", "hosts", "communicator"});
  }
  part.text = name.substr(0, name.find('.'));
  const auto label = names.labels.find(part.text);
  if (label != names.labels.end() && label->second.is_gathered && name.ends_with(".what")) {
    part.type = MessagePart::Type::EachWhat;
    return part;
  }
  part.type = MessagePart::Type::Field;
  part.field = load_labelled_field(place, name, names);
  return part;
}

void add_text(std::vector<MessagePart>& parts, std::string_view text) {
  if (text.empty()) return;
  if (parts.empty() || parts.back().type != MessagePart::Type::Text) parts.emplace_back();
  parts.back().text += text;
}

}  // namespace

Names comparison_names() { return names_of(kInMaps); }

std::vector<ValueTest> load_value_tests(const RuleNode& node, FieldType type) {
  return load_tests(node, type, nullptr, {});
}

std::span<const ConditionSort> condition_sorts() {
  static const ConditionSort kSorts[] = {
      {"event", {"where", "in", "count", "as"}, load_as<load_lines>},
      {"fact", {"is", "equals", "at_least", "at_most", "contains"}, load_as<load_fact_condition>},
      {"each",
       {"where", "by", "odd", "at", "usual", "differ", "words", "between", "lines", "as"},
       load_as<load_each>},
      {"line", {"in", "count", "as"}, load_as<load_lines>},
      {"finding", {}, load_as<load_finding>},
      {"sequence", {"unless", "in"}, load_as<load_sequence>},
      {"all", {}, load_as<load_group<GroupCondition::Type::All>>},
      {"any", {}, load_as<load_group<GroupCondition::Type::Any>>},
      {"none", {}, load_as<load_group<GroupCondition::Type::None>>},
  };
  return kSorts;
}

Condition load_condition(const RuleNode& node, ConditionNames& names) {
  entries_of(node, "a condition");
  Names known;
  for (const ConditionSort& sort : condition_sorts()) {
    known.push_back(sort.name);
    if (node.find(sort.name) == nullptr) continue;
    Names keys = {sort.name};
    keys.insert(keys.end(), sort.beside.begin(), sort.beside.end());
    only_keys(node, keys);
    Condition condition{.node = &node};
    sort.load(node, names, condition);
    return condition;
  }
  const RuleNode::Entry& first = node.entries.front();
  fail_unknown(first.place, "condition '{}'", first.key, known);
}

std::string text_of(const Condition& condition) {
  const bool is_group = std::holds_alternative<GroupCondition>(condition.what);
  return is_group ? condition.node->entries.front().key : flow_text(*condition.node);
}

FieldRef load_labelled_field(Place place, std::string_view text, const ConditionNames& names) {
  const size_t dot = text.find('.');
  const std::string_view label = text.substr(0, dot);
  const auto known = names.labels.find(label);
  if (dot == text.npos || known == names.labels.end()) {
    fail_unknown(place, "label '{}'", label, keys_of(names.labels));
  }
  const LabelMeaning& meaning = known->second;
  const std::string_view name = text.substr(dot + 1);
  if (meaning.is_gathered) fail_unknown(place, fmt::format("'{{}}' of {}", label), name, {"what"});
  return meaning.kind != nullptr ? load_field(place, owner_of(*meaning.kind), name)
                                 : load_capture(place, meaning, name, names.is_checked);
}

std::vector<MessagePart> load_message(const RuleNode& node, const ConditionNames& names) {
  std::string_view rest = scalar_of(node, "a message");
  std::vector<MessagePart> parts;
  while (!rest.empty()) {
    const size_t brace = std::min(rest.find_first_of("{}"), rest.size());
    add_text(parts, rest.substr(0, brace));
    rest.remove_prefix(brace);
    if (rest.empty()) break;
    if (rest.starts_with("{{") || rest.starts_with("}}")) {
      add_text(parts, rest.substr(0, 1));
      rest.remove_prefix(2);
      continue;
    }
    const size_t end = rest.find('}');
    if (rest.front() == '}' || end == rest.npos) {
      fail_at(node.place, "a brace of the message has no partner", "write {{ and }} for braces");
    }
    parts.push_back(load_placeholder(node.place, rest.substr(1, end - 1), names));
    rest.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace ncclog
