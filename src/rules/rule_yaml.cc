#include "rules/rule_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {

// Trees as text: the compact form that the build embeds, and the one line that people read.

namespace {

/// Nesting of the compact form that is still read; rules need fewer than ten levels.
constexpr int kMaxDepth = 64;

/// Takes a node's members to the end of `out`; what its type lacks is empty, and takes a byte.
struct CompactWriter {
  std::string out;

  void number(auto number) { append_varint(out, static_cast<uint64_t>(number)); }
  void size(const auto& of) { number(of.size()); }
  void text(const std::string& text) {
    size(text);
    out += text;
  }
};

/// Takes a node's members from the front of `bytes`.
struct CompactReader {
  std::string_view bytes;

  [[noreturn]] static void fail() { throw Error("the compact form of a rule is damaged"); }

  void number(auto& number) {
    if (bytes.empty()) fail();
    number = static_cast<std::remove_reference_t<decltype(number)>>(take_varint(bytes));
  }
  void size(auto& of) {
    uint64_t n = 0;
    number(n);
    if (n > bytes.size()) fail();  // Each of them takes a byte at least.
    of.resize(n);
  }
  void text(std::string& text) {
    uint64_t n = 0;
    number(n);
    if (n > bytes.size()) fail();
    text = bytes.substr(0, n);
    bytes.remove_prefix(n);
  }
};

/// The compact form, written and read: both pass over all members in this order.
void pass_place(auto& codec, auto& place) {
  codec.number(place.line);
  codec.number(place.column);
}

void pass_node(auto& codec, auto& node, int depth = 0) {
  if (depth > kMaxDepth) CompactReader::fail();
  codec.number(node.type);
  if (node.type > RuleNode::Type::Map) CompactReader::fail();
  pass_place(codec, node.place);
  codec.text(node.text);
  codec.size(node.items);
  for (auto& item : node.items) pass_node(codec, item, depth + 1);
  codec.size(node.entries);
  for (auto& entry : node.entries) {
    codec.text(entry.key);
    pass_place(codec, entry.place);
    pass_node(codec, entry.value, depth + 1);
  }
}

bool is_plain(std::string_view text) {
  return !text.empty() && text.find_first_of(":#{}[],&*!|>'\"%@`\n") == text.npos &&
         text.front() != '-' && text.front() != '?' && text.front() != ' ' && text.back() != ' ';
}

void put_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? std::string_view("\\n") : std::string_view(&c, 1);
  }
  out += '"';
}

void put_flow(const RuleNode& node, std::string& out) {
  if (node.type == RuleNode::Type::Null) {
    out += '~';
  } else if (node.type == RuleNode::Type::Scalar && is_plain(node.text)) {
    out += node.text;
  } else if (node.type == RuleNode::Type::Scalar) {
    put_quoted(node.text, out);
  } else {
    const bool is_map = node.type == RuleNode::Type::Map;
    const char* between = is_map ? "{" : "[";
    if (node.items.empty() && node.entries.empty()) out += between;
    for (const RuleNode& item : node.items) {
      out += std::exchange(between, ", ");
      put_flow(item, out);
    }
    for (const RuleNode::Entry& entry : node.entries) {
      out += std::exchange(between, ", ");
      out += entry.key;
      out += ": ";
      put_flow(entry.value, out);
    }
    out += is_map ? '}' : ']';
  }
}

}  // namespace

const RuleNode* RuleNode::find(std::string_view key) const {
  const auto entry = std::ranges::find(entries, key, &Entry::key);
  return entry == entries.end() ? nullptr : &entry->value;
}

bool RuleNode::operator==(const RuleNode& other) const {
  return type == other.type && place == other.place && text == other.text && items == other.items &&
         entries == other.entries;
}

std::string write_compact(const RuleNode& node) {
  CompactWriter writer;
  pass_node(writer, node);
  return std::move(writer.out);
}

RuleNode read_compact(std::string_view bytes) {
  CompactReader reader{bytes};
  RuleNode node;
  pass_node(reader, node);
  if (!reader.bytes.empty()) CompactReader::fail();
  return node;
}

std::string flow_text(const RuleNode& node) {
  std::string text;
  text.reserve(256);
  put_flow(node, text);
  return text;
}

// From YAML to the tree of a rule file. Anchors and aliases are refused: a rule needs none, and
// a few of them can stand for more text than there is memory.

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
    open(mark, anchor, RuleNode::Type::Sequence);
  }

  void OnSequenceEnd() override { open_.pop_back(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, RuleNode::Type::Map);
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

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, RuleNode::Type type) {
    refuse(mark, anchor);
    open_.push_back({add({.type = type, .place = place_of(mark)}), true});
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
