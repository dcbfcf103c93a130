// Rules joined to a rulebook: which one counts, in which order they are judged, what they share.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/fnv.h"
#include "base/text.h"
#include "log/known_messages.h"
#include "rules/load_rules.h"

namespace ncclog {
namespace {

using RulesById = std::map<std::string, Rule, std::less<>>;

[[noreturn]] void fail_at(const Rule& rule, Place place, const std::string& what,
                          const std::string& hint = {}) {
  throw Error(what, fmt::format("{}:{}:{}", rule.path, place.line, place.column), hint);
}

RulesById by_id(std::vector<Rule>&& rules) {
  RulesById result;
  for (Rule& rule : rules) {
    const auto known = result.find(rule.id);
    if (known != result.end() && known->second.builtin == rule.builtin) {
      throw Error(fmt::format("the id '{}' stands twice", rule.id), rule.path,
                  fmt::format("it is also in {}", known->second.path));
    }
    std::string id = rule.id;
    result.insert_or_assign(std::move(id), std::move(rule));
  }
  return result;
}

/// Calls `use` for every condition of type T below `condition`, itself included.
template <typename T, typename Node>
void for_each_condition(Node& condition, const std::function<void(T&)>& use) {
  if (auto* found = std::get_if<std::remove_const_t<T>>(&condition.what)) use(*found);
  for_each_member(condition, [&](auto& inner) { for_each_condition<T>(inner, use); });
}

void require_id(const RulesById& rules, const Rule& rule, Place place, const std::string& id) {
  if (rules.contains(id)) return;
  std::vector<std::string_view> known;
  for (const auto& [name, other] : rules) known.push_back(name);
  const auto near = nearest_name(id, known);
  fail_at(rule, place, fmt::format("unknown rule '{}'", id),
          near ? fmt::format("did you mean '{}'?", *near) : "");
}

void require_ids(const RulesById& rules, const Rule& rule) {
  for (const std::string& id : rule.explains) require_id(rules, rule, rule.explains_place, id);
  for (const std::string& id : rule.explains_same_ranks) {
    require_id(rules, rule, rule.explains_same_ranks_place, id);
  }
  for (const std::string& id : rule.related) require_id(rules, rule, rule.related_place, id);
  for_each_condition<const FindingCondition>(rule.when, [&](const FindingCondition& asked) {
    require_id(rules, rule, asked.place, asked.rule);
  });
}

/// Puts rules behind those whose findings they ask for.
class EvaluationOrder {
 public:
  explicit EvaluationOrder(RulesById& rules) : rules_(rules) {}

  std::vector<Rule> take() {
    for (auto& [id, rule] : rules_) place(id, rule);
    std::vector<Rule> result;
    for (const std::string& id : order_) result.push_back(std::move(rules_.at(id)));
    return result;
  }

 private:
  enum class State { Open, Begun, Placed };

  void place(const std::string& id, const Rule& rule) {
    State& state = states_[id];
    if (state == State::Placed) return;
    state = State::Begun;
    for_each_condition<const FindingCondition>(rule.when, [&](const FindingCondition& asked) {
      if (states_[asked.rule] == State::Begun) {
        fail_at(rule, asked.place,
                fmt::format("'{}' and '{}' each ask for the other's finding", id, asked.rule));
      }
      place(asked.rule, rules_.at(asked.rule));
    });
    states_[id] = State::Placed;
    order_.push_back(id);
  }

  RulesById& rules_;
  std::map<std::string, State> states_;
  std::vector<std::string> order_;
};

std::vector<std::string> number_line_patterns(std::vector<Rule>& rules) {
  std::vector<std::string> patterns;
  for (Rule& rule : rules) {
    for_each_condition<LineCondition>(rule.when, [&](LineCondition& line) {
      line.number = static_cast<int>(patterns.size());
      patterns.push_back(line.pattern.text());
    });
  }
  return patterns;
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

void require_rules(const RulesById& rules, const std::vector<Overlay>& overlays) {
  for (const Overlay& overlay : overlays) {
    Rule place;
    place.path = overlay.path;
    require_id(rules, place, overlay.place, overlay.rule);
  }
}

}  // namespace

Rulebook make_rulebook(std::vector<Rule> rules) {
  return make_rulebook(std::move(rules), {}, Date{});
}

Rulebook make_rulebook(std::vector<Rule> rules, std::vector<Overlay> overlays, Date today) {
  RulesById unique = by_id(std::move(rules));
  for (const auto& [id, rule] : unique) require_ids(unique, rule);
  require_rules(unique, overlays);
  Rulebook rulebook;
  for (Overlay& overlay : overlays) {
    (overlay.until < today ? rulebook.ended : rulebook.overlays).push_back(std::move(overlay));
  }
  rulebook.hash = hash_of(unique, rulebook.overlays);
  rulebook.rules = EvaluationOrder(unique).take();
  rulebook.line_patterns = number_line_patterns(rulebook.rules);
  return rulebook;
}

const Rule* find_rule(const Rulebook& rulebook, std::string_view id) {
  const auto found = std::find_if(rulebook.rules.begin(), rulebook.rules.end(),
                                  [&](const Rule& rule) { return rule.id == id; });
  return found == rulebook.rules.end() ? nullptr : &*found;
}

}  // namespace ncclog
