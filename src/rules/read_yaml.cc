// From YAML to the tree of a rule file. Anchors and aliases are refused: a rule needs none, and
// a few of them can stand for more text than there is memory.

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <utility>

#include "base/error.h"
#include "rules/rule_node.h"

namespace ncclog {
namespace {

Place place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<uint32_t>(mark.line + 1), static_cast<uint32_t>(mark.column + 1)};
}

[[noreturn]] void fail(const std::string& path, Place place, const std::string& what,
                       const std::string& hint = {}) {
  throw Error(what, fmt::format("{}:{}:{}", path, place.line, place.column), hint);
}

/// Builds the tree while yaml-cpp reads: its own node type keeps no duplicate keys and follows
/// aliases. The inheritance is the interface of that library.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& path) : path_(path) {}

  RuleNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse(mark, anchor);
    add({.type = RuleNode::Type::Null, .place = place_of(mark)});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, 1); }

  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse(mark, anchor);
    if (expects_key()) {
      add_key(value, place_of(mark));
    } else {
      add({.type = RuleNode::Type::Scalar, .place = place_of(mark), .text = value});
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse(mark, anchor);
    open_.push_back({add({.type = RuleNode::Type::Sequence, .place = place_of(mark)}), true});
  }

  void OnSequenceEnd() override { open_.pop_back(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse(mark, anchor);
    open_.push_back({add({.type = RuleNode::Type::Map, .place = place_of(mark)}), true});
  }

  void OnMapEnd() override { open_.pop_back(); }

 private:
  /// A collection that is not closed yet. Its node does not move: its parent's list grows only
  /// after it is closed.
  struct Open {
    RuleNode* node = nullptr;
    bool value_done = true;  ///< Of a map: the last key has its value.
  };

  void refuse(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) fail(path_, place_of(mark), "rule files have no anchors and aliases");
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node->type == RuleNode::Type::Map &&
           open_.back().value_done;
  }

  void add_key(const std::string& key, Place place) {
    RuleNode& map = *open_.back().node;
    if (map.find(key) != nullptr) fail(path_, place, fmt::format("the key '{}' stands twice", key));
    map.entries.push_back({key, place, {}});
    open_.back().value_done = false;
  }

  RuleNode* add(RuleNode&& node) {
    if (expects_key()) fail(path_, node.place, "a key must be text");
    RuleNode* to = &root_;
    if (!open_.empty()) {
      Open& parent = open_.back();
      if (parent.node->type == RuleNode::Type::Map) {
        to = &parent.node->entries.back().value;
        parent.value_done = true;
      } else {
        to = &parent.node->items.emplace_back();
      }
    }
    *to = std::move(node);
    return to;
  }

  const std::string& path_;
  RuleNode root_;
  std::vector<Open> open_;
};

}  // namespace

RuleNode read_yaml(std::string_view yaml, const std::string& path) {
  TreeBuilder builder(path);
  try {
    std::istringstream stream{std::string(yaml)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) fail(path, {1, 1}, "the file is empty");
    RuleNode root = builder.take_root();
    TreeBuilder rest(path);
    if (parser.HandleNextDocument(rest)) {
      fail(path, rest.take_root().place, "one file holds one rule, here a second document begins");
    }
    return root;
  } catch (const YAML::Exception& error) {
    fail(path, place_of(error.mark), fmt::format("not YAML: {}", error.msg),
         "quote texts that hold ': ', ' #' or begin with one of [{&*!|>'\"%@`");
  }
}

}  // namespace ncclog
