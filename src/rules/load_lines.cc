#include "rules/load_lines.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "log/messages.h"
#include "rules/condition_keys.h"
#include "rules/load_tests.h"

namespace ncclog {
namespace {

const Names kReaches(reach_names().begin(), reach_names().end());

/// Kinds of which only sums are kept (model/shard/shard.cc): a log holds millions of such lines.
bool is_summed_up(const Kind& kind) {
  return kind.index == kKindIndex<CollectiveCall> || kind.index == kKindIndex<ChannelConnected>;
}

CountTest load_count_of(const RuleFile& file, const RuleNode& condition) {
  const RuleNode* count = condition.find("count");
  return count != nullptr ? load_count(file, *count) : CountTest{};
}

std::optional<LifePhase> load_phase(const RuleFile& file, const RuleNode& condition) {
  const RuleNode* phase = condition.find("phase");
  if (phase == nullptr) return std::nullopt;
  const Names known(life_phase_names().begin(), life_phase_names().end());
  return static_cast<LifePhase>(word_of(file, *phase, "phase", known));
}

/// "20 s", "500 ms"
std::optional<double> parse_seconds(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr Unit kUnits[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = parse_decimal(text.substr(0, end));
  const std::string_view name = trim(text.substr(end));
  for (const Unit& unit : kUnits) {
    if (number && unit.name == name) return *number * unit.seconds;
  }
  return std::nullopt;
}

/// "3 calls", "20 s"
Window load_window(const RuleFile& file, const RuleNode& node) {
  const std::string& text = scalar_of(file, node, "a distance: 3 calls, 20 s");
  const auto words = split_blanks(text);
  Window window;
  if (words.size() == 2 && (words[1] == "calls" || words[1] == "call")) {
    const auto calls = parse_int(words[0]);
    if (calls && *calls >= 0) {
      window.calls = static_cast<uint64_t>(*calls);
      return window;
    }
  }
  constexpr double kMostSeconds = 366.0 * 24 * 3600;
  const auto seconds = parse_seconds(text);
  if (!seconds || *seconds > kMostSeconds) {
    fail_at(file, node.place, fmt::format("'{}' is no distance", text), "3 calls, 20 s, 500 ms");
  }
  window.nanoseconds = static_cast<int64_t>(*seconds * 1e9);
  return window;
}

Condition load_line_of_sequence(const RuleFile& file, const RuleNode& node, ConditionNames& names) {
  entries_of(file, node, "a condition");
  Condition condition;
  if (node.find("event") != nullptr) {
    condition.what = load_event(file, node, names, {"event", "where", "phase", "as"});
  } else if (node.find("line") != nullptr) {
    condition.what = load_line(file, node, names, {"line", "phase", "as"});
  } else {
    fail_at(file, node.place, "a sequence is made of lines", "use event or line");
  }
  condition.place = node.place;
  condition.text = flow_text(node);
  return condition;
}

}  // namespace

const Kind& load_kind(const RuleFile& file, Place place, const std::string& name) {
  const Kind* kind = find_kind(name);
  if (kind == nullptr) {
    Names known;
    for (const Kind& candidate : all_kinds()) known.push_back(candidate.name);
    fail_unknown(file, place, "event '{}'", name, known);
  }
  if (is_summed_up(*kind)) {
    fail_at(file, place, fmt::format("single lines of {} are not kept", name),
            "ask a fact about them");
  }
  return *kind;
}

void add_label(const RuleFile& file, Place place, const std::string& label, LabelMeaning meaning,
               ConditionNames& names) {
  const auto [known, is_new] = names.labels.try_emplace(label, meaning);
  if (is_new) return;
  LabelMeaning& earlier = known->second;
  if (earlier.kind != meaning.kind) {
    fail_at(file, place, fmt::format("the label '{}' stands for lines of two kinds", label));
  }
  std::move(meaning.patterns.begin(), meaning.patterns.end(), std::back_inserter(earlier.patterns));
}

std::string load_label(const RuleFile& file, const RuleNode& condition,
                       std::string_view otherwise) {
  const RuleNode* as = condition.find("as");
  return as != nullptr ? scalar_of(file, *as, "a label") : std::string(otherwise);
}

Reach load_reach(const RuleFile& file, const RuleNode& condition) {
  const RuleNode* in = condition.find("in");
  if (in == nullptr) return Reach::Instance;
  return static_cast<Reach>(word_of(file, *in, "reach", kReaches));
}

EventCondition load_event(const RuleFile& file, const RuleNode& node, ConditionNames& names,
                          const Names& keys) {
  only_keys(file, node, keys);
  EventCondition event;
  const RuleNode& name = required(file, node, "event");
  event.kind = &load_kind(file, name.place, scalar_of(file, name, "the name of a message kind"));
  if (const RuleNode* where = node.find("where"))
    event.where = load_where(file, *where, *event.kind);
  event.phase = load_phase(file, node);
  event.reach = load_reach(file, node);
  event.count = load_count_of(file, node);
  event.label = load_label(file, node, event.kind->name);
  const LabelMeaning meaning{event.kind, {}};
  add_label(file, node.place, event.label, meaning, names);
  add_label(file, node.place, std::string(event.kind->name), meaning, names);
  return event;
}

LineCondition load_line(const RuleFile& file, const RuleNode& node, ConditionNames& names,
                        const Names& keys) {
  only_keys(file, node, keys);
  LineCondition line;
  line.pattern = load_pattern(file, required(file, node, "line"));
  line.phase = load_phase(file, node);
  line.reach = load_reach(file, node);
  line.count = load_count_of(file, node);
  line.label = load_label(file, node, "line");
  add_label(file, node.place, line.label, {nullptr, {line.pattern}}, names);
  return line;
}

SequenceCondition load_sequence(const RuleFile& file, const RuleNode& node, ConditionNames& names) {
  only_keys(file, node, keys_of_condition("sequence"));
  SequenceCondition sequence;
  const RuleNode& list = *node.find("sequence");
  for (const RuleNode& item : items_of(file, list, "a list of conditions")) {
    sequence.of.push_back(load_line_of_sequence(file, item, names));
  }
  if (sequence.of.size() < 2) fail_at(file, list.place, "a sequence has two lines at least");
  if (const RuleNode* unless = node.find("unless")) {
    ConditionNames hidden{names.per, {}};
    sequence.unless.push_back(load_line_of_sequence(file, *unless, hidden));
  }
  if (const RuleNode* within = node.find("within")) sequence.within = load_window(file, *within);
  sequence.reach = load_reach(file, node);
  return sequence;
}

}  // namespace ncclog
