#include "rules/shared_names.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "rules/condition_keys.h"
#include "rules/load_condition.h"
#include "rules/node_reader.h"

namespace ncclog {
namespace {

/// Names of names grow by powers, so a short file could ask for more than there is memory.
constexpr size_t kMostNodes = 20'000;

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

size_t count_nodes(const RuleNode& node) {
  size_t nodes = 1;
  for (const RuleNode& item : node.items) nodes += count_nodes(item);
  for (const RuleNode::Entry& entry : node.entries) nodes += count_nodes(entry.value);
  return nodes;
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

const RuleNode& find_named(const RuleFile& file, Place place, const NodesByName& nodes,
                           std::string_view what, std::string_view name) {
  const auto found = nodes.find(name);
  if (found != nodes.end()) return found->second;
  Names known;
  for (const auto& [other, node] : nodes) known.push_back(other);
  fail_unknown(file, place, fmt::format("{} '{{}}'", what), name, known);
}

/// Replaces names below nodes of `file`, by at most kMostNodes nodes in all.
class Replacement {
 public:
  Replacement(const RuleFile& file, const SharedNames& names) : file_(file), names_(names) {}

  void operator()(RuleNode& node, bool holds_conditions) {
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

  RuleNode list_of(const RuleNode& node) {
    return copy(find_named(file_, node.place, names_.lists, "list", list_name(node)), node.place);
  }

  RuleNode condition_of(const RuleNode& node) {
    only_keys(file_, node, {"use"});
    const RuleNode& name = *node.find("use");
    return copy(find_named(file_, name.place, names_.conditions, "condition",
                           scalar_of(file_, name, "the name of a condition")),
                name.place);
  }

  RuleNode copy(const RuleNode& named, Place place) {
    nodes_ += count_nodes(named);
    if (nodes_ > kMostNodes) {
      fail_at(file_, place, fmt::format("names stand for more than {} values here", kMostNodes),
              "let names stand for fewer values, or for fewer other names");
    }
    RuleNode result = named;
    move_to(result, place);
    return result;
  }

  const RuleFile& file_;
  const SharedNames& names_;
  size_t nodes_ = 0;  ///< Put in for names so far.
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
  for (size_t scope = 0; scope < per_names().size(); ++scope) {
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

void load_list(const RuleFile& file, const RuleNode::Entry& entry, Replacement& replace,
               SharedNames& names) {
  require_name(file, entry);
  RuleNode list = entry.value;
  replace(list, false);
  for (const RuleNode& item : items_of(file, list, "a list of values")) {
    scalar_of(file, item, "a value");
  }
  names.lists.insert_or_assign(entry.key, std::move(list));
}

void load_named_condition(const RuleFile& file, const RuleNode::Entry& entry, Replacement& replace,
                          SharedNames& names) {
  require_name(file, entry);
  RuleNode condition = entry.value;
  replace(condition, true);
  require_condition(file, condition);
  names.conditions.insert_or_assign(entry.key, std::move(condition));
}

}  // namespace

bool is_shared_names(const RuleNode& root) {
  return root.find("lists") != nullptr || root.find("conditions") != nullptr;
}

void load_shared_names(const RuleFile& file, SharedNames& names) {
  only_keys(file, file.root, {"lists", "conditions"});
  Replacement replace(file, names);
  if (const RuleNode* lists = file.root.find("lists")) {
    for (const RuleNode::Entry& entry : entries_of(file, *lists, "lists by name")) {
      load_list(file, entry, replace, names);
    }
  }
  if (const RuleNode* conditions = file.root.find("conditions")) {
    for (const RuleNode::Entry& entry : entries_of(file, *conditions, "conditions by name")) {
      load_named_condition(file, entry, replace, names);
    }
  }
}

void replace_shared_names(RuleFile& file, const SharedNames& names) {
  Replacement replace(file, names);
  for (RuleNode::Entry& entry : file.root.entries) {
    if (entry.key == "message" || entry.key == "examples") continue;
    replace(entry.value, entry.key == "when");
  }
}

}  // namespace ncclog
