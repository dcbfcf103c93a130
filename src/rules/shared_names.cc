#include "rules/shared_names.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "rules/load_condition.h"
#include "rules/node_reader.h"

namespace ncclog {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// "x" of the scalar $x; empty: it is none.
std::string_view list_name(const RuleNode& node) {
  const std::string_view text = node.text;
  if (node.type != RuleNode::Type::Scalar || !text.starts_with('$')) return {};
  return is_name(text.substr(1)) ? text.substr(1) : std::string_view();
}

void move_to(RuleNode& node, Place place) {
  node.place = place;
  for (RuleNode& item : node.items) move_to(item, place);
  for (RuleNode::Entry& entry : node.entries) {
    entry.place = place;
    move_to(entry.value, place);
  }
}

using NodesByName = std::map<std::string, RuleNode, std::less<>>;

RuleNode named_node(const RuleFile& file, Place place, const NodesByName& nodes,
                    std::string_view what, std::string_view name) {
  const auto found = nodes.find(name);
  if (found == nodes.end()) {
    Names known;
    for (const auto& [other, node] : nodes) known.push_back(other);
    fail_unknown(file, place, fmt::format("{} '{{}}'", what), name, known);
  }
  RuleNode copy = found->second;
  move_to(copy, place);
  return copy;
}

/// Replaces names below a node of `file`.
class Replacement {
 public:
  Replacement(const RuleFile& file, const SharedNames& names) : file_(file), names_(names) {}

  void operator()(RuleNode& node, bool holds_conditions) const {
    if (!list_name(node).empty()) node = list_of(node);
    if (holds_conditions && is_use(node)) node = condition_of(node);
    std::vector<RuleNode> items;
    for (RuleNode& item : node.items) {
      if (list_name(item).empty()) {
        (*this)(item, holds_conditions);
        items.push_back(std::move(item));
      } else {
        RuleNode list = list_of(item);
        std::move(list.items.begin(), list.items.end(), std::back_inserter(items));
      }
    }
    node.items = std::move(items);
    for (RuleNode::Entry& entry : node.entries) {
      (*this)(entry.value, holds_conditions && entry.key != "where");
    }
  }

 private:
  static bool is_use(const RuleNode& node) { return node.find("use") != nullptr; }

  RuleNode list_of(const RuleNode& node) const {
    return named_node(file_, node.place, names_.lists, "list", list_name(node));
  }

  RuleNode condition_of(const RuleNode& node) const {
    only_keys(file_, node, {"use"});
    const RuleNode& name = *node.find("use");
    return named_node(file_, name.place, names_.conditions, "condition",
                      scalar_of(file_, name, "the name of a condition"));
  }

  const RuleFile& file_;
  const SharedNames& names_;
};

void require_name(const RuleFile& file, const RuleNode::Entry& entry) {
  if (is_name(entry.key)) return;
  fail_at(file, entry.place, fmt::format("'{}' is no name", entry.key),
          "names are words in lower case, joined by '_'");
}

/// Where in the file the mistake is, as the error says it.
Place place_of(const RuleFile& file, const Error& error) {
  const auto parts = split(std::string_view(error.where()).substr(file.path.size()), ':');
  if (parts.size() != 3) return {};
  return {static_cast<uint32_t>(parse_int(parts[1]).value_or(0)),
          static_cast<uint32_t>(parse_int(parts[2]).value_or(0))};
}

bool is_before(Place a, Place b) {
  return std::pair(a.line, a.column) < std::pair(b.line, b.column);
}

/// A condition must fit rules of some scope. Which facts it may ask for depends on the scope, so
/// the mistake is the one that is found last in the file.
void require_condition(const RuleFile& file, const RuleNode& node) {
  std::optional<Error> latest;
  for (size_t scope = 0; scope < scope_names().size(); ++scope) {
    try {
      ConditionNames names{static_cast<Scope>(scope), {}};
      load_condition(file, node, names);
      return;
    } catch (const Error& error) {
      if (!latest || is_before(place_of(file, *latest), place_of(file, error))) latest = error;
    }
  }
  throw Error(*latest);
}

void load_list(const RuleFile& file, const RuleNode::Entry& entry, SharedNames& names) {
  require_name(file, entry);
  RuleNode list = entry.value;
  Replacement(file, names)(list, false);
  for (const RuleNode& item : items_of(file, list, "a list of values")) {
    scalar_of(file, item, "a value");
  }
  names.lists.insert_or_assign(entry.key, std::move(list));
}

void load_named_condition(const RuleFile& file, const RuleNode::Entry& entry, SharedNames& names) {
  require_name(file, entry);
  RuleNode condition = entry.value;
  Replacement(file, names)(condition, true);
  require_condition(file, condition);
  names.conditions.insert_or_assign(entry.key, std::move(condition));
}

}  // namespace

bool is_shared_names(const RuleNode& root) {
  return root.find("lists") != nullptr || root.find("conditions") != nullptr;
}

void load_shared_names(const RuleFile& file, SharedNames& names) {
  only_keys(file, file.root, {"lists", "conditions"});
  if (const RuleNode* lists = file.root.find("lists")) {
    for (const RuleNode::Entry& entry : entries_of(file, *lists, "lists by name")) {
      load_list(file, entry, names);
    }
  }
  if (const RuleNode* conditions = file.root.find("conditions")) {
    for (const RuleNode::Entry& entry : entries_of(file, *conditions, "conditions by name")) {
      load_named_condition(file, entry, names);
    }
  }
}

void replace_shared_names(RuleFile& file, const SharedNames& names) {
  const Replacement replace(file, names);
  for (RuleNode::Entry& entry : file.root.entries) {
    if (entry.key == "message" || entry.key == "examples") continue;
    replace(entry.value, entry.key == "when");
  }
}

}  // namespace ncclog
