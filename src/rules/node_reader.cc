#include "rules/node_reader.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

std::string_view name_of(RuleNode::Type type) {
  switch (type) {
    case RuleNode::Type::Null:
      return "nothing";
    case RuleNode::Type::Scalar:
      return "a text";
    case RuleNode::Type::Sequence:
      return "a list";
    case RuleNode::Type::Map:
      return "a map";
  }
  return "";
}

[[noreturn]] void fail_type(const RuleFile& file, const RuleNode& node, std::string_view what) {
  const bool colon = node.type == RuleNode::Type::Map && node.entries.size() == 1;
  fail_at(file, node.place, fmt::format("expected {}, found {}", what, name_of(node.type)),
          colon ? "quote a text that holds ': ', else YAML reads a map" : "");
}

}  // namespace

void fail_at(const RuleFile& file, Place place, const std::string& what, const std::string& hint) {
  throw Error(what, fmt::format("{}:{}:{}", file.path, place.line, place.column), hint);
}

void fail_unknown(const RuleFile& file, Place place, std::string_view what, std::string_view name,
                  const Names& known) {
  constexpr size_t kFew = 16;
  std::string hint;
  if (const auto near = nearest_name(name, known)) {
    hint = fmt::format("did you mean '{}'?", *near);
  } else if (!known.empty() && known.size() <= kFew) {
    hint = fmt::format("known: {}", fmt::join(known, ", "));
  }
  fail_at(file, place, fmt::format("unknown {}", fmt::format(fmt::runtime(what), name)), hint);
}

const std::string& scalar_of(const RuleFile& file, const RuleNode& node, std::string_view what) {
  if (node.type != RuleNode::Type::Scalar) fail_type(file, node, what);
  return node.text;
}

std::vector<std::string> scalars_of(const RuleFile& file, const RuleNode& node,
                                    std::string_view what) {
  if (node.type == RuleNode::Type::Scalar) return {node.text};
  std::vector<std::string> texts;
  for (const RuleNode& item : items_of(file, node, what)) {
    texts.push_back(scalar_of(file, item, "a text"));
  }
  return texts;
}

int64_t number_of(const RuleFile& file, const RuleNode& node) {
  const std::string& text = scalar_of(file, node, "a number");
  const auto number = parse_int(text);
  if (!number) fail_at(file, node.place, fmt::format("expected a number, found '{}'", text));
  return *number;
}

bool bool_of(const RuleFile& file, const RuleNode& node) {
  const std::string& text = scalar_of(file, node, "true or false");
  if (text != "true" && text != "false") {
    fail_at(file, node.place, fmt::format("expected true or false, found '{}'", text));
  }
  return text == "true";
}

const std::vector<RuleNode>& items_of(const RuleFile& file, const RuleNode& node,
                                      std::string_view what) {
  if (node.type != RuleNode::Type::Sequence) fail_type(file, node, what);
  if (node.items.empty()) fail_at(file, node.place, fmt::format("expected {}, found none", what));
  return node.items;
}

const std::vector<RuleNode::Entry>& entries_of(const RuleFile& file, const RuleNode& node,
                                               std::string_view what) {
  if (node.type != RuleNode::Type::Map) fail_type(file, node, what);
  if (node.entries.empty()) fail_at(file, node.place, fmt::format("expected {}, found none", what));
  return node.entries;
}

void only_keys(const RuleFile& file, const RuleNode& map, const Names& known) {
  for (const RuleNode::Entry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    fail_unknown(file, entry.place, "key '{}'", entry.key, known);
  }
}

const RuleNode& required(const RuleFile& file, const RuleNode& map, std::string_view key) {
  const RuleNode* node = map.find(key);
  if (node == nullptr) fail_at(file, map.place, fmt::format("the key '{}' is missing", key));
  return *node;
}

size_t word_of(const RuleFile& file, const RuleNode& node, std::string_view what,
               const Names& names) {
  const std::string& text = scalar_of(file, node, what);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    fail_unknown(file, node.place, fmt::format("{} '{{}}'", what), text, names);
  }
  return static_cast<size_t>(found - names.begin());
}

}  // namespace ncclog
