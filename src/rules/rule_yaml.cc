#include "rules/rule_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace ncclog {

// Trees as text: the compact form that the build embeds, and the one line that people read.

namespace {

/// Nesting of the compact form that is still read; rules need fewer than ten levels.
constexpr int kMaxDepth = 64;

void put_number(std::string& out, uint64_t number) {
  while (number >= 0x80) {
    out += static_cast<char>(number | 0x80);
    number >>= 7;
  }
  out += static_cast<char>(number);
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

void put_place(std::string& out, Place place) {
  put_number(out, place.line);
  put_number(out, place.column);
}

void put_node(std::string& out, const RuleNode& node) {
  put_number(out, static_cast<uint64_t>(node.type));
  put_place(out, node.place);
  if (node.type == RuleNode::Type::Scalar) put_text(out, node.text);
  if (node.type == RuleNode::Type::Sequence) {
    put_number(out, node.items.size());
    for (const RuleNode& item : node.items) put_node(out, item);
  }
  if (node.type == RuleNode::Type::Map) {
    put_number(out, node.entries.size());
    for (const RuleNode::Entry& entry : node.entries) {
      put_text(out, entry.key);
      put_place(out, entry.place);
      put_node(out, entry.value);
    }
  }
}

/// Takes values from the front of `bytes`.
class CompactReader {
 public:
  explicit CompactReader(std::string_view bytes) : bytes_(bytes) {}

  RuleNode node(int depth = 0) {
    if (depth > kMaxDepth) fail();
    RuleNode node;
    const uint64_t type = number();
    if (type > static_cast<uint64_t>(RuleNode::Type::Map)) fail();
    node.type = static_cast<RuleNode::Type>(type);
    node.place = place();
    if (node.type == RuleNode::Type::Scalar) node.text = text();
    if (node.type == RuleNode::Type::Sequence) items(node, depth);
    if (node.type == RuleNode::Type::Map) entries(node, depth);
    return node;
  }

  bool at_end() const { return bytes_.empty(); }

  [[noreturn]] static void fail() { throw Error("the compact form of a rule is damaged"); }

 private:
  uint64_t number() {
    uint64_t result = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      if (bytes_.empty()) fail();
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      result |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return result;
    }
    fail();
  }

  /// A number of things of which each takes a byte at least.
  size_t count() {
    const uint64_t n = number();
    if (n > bytes_.size()) fail();
    return static_cast<size_t>(n);
  }

  std::string text() {
    const size_t size = count();
    std::string result(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return result;
  }

  Place place() {
    const auto line = static_cast<uint32_t>(number());
    return {line, static_cast<uint32_t>(number())};
  }

  void items(RuleNode& node, int depth) {
    const size_t n = count();
    node.items.reserve(n);
    for (size_t i = 0; i < n; ++i) node.items.push_back(this->node(depth + 1));
  }

  void entries(RuleNode& node, int depth) {
    const size_t n = count();
    node.entries.reserve(n);
    for (size_t i = 0; i < n; ++i) {
      RuleNode::Entry& entry = node.entries.emplace_back();
      entry.key = text();
      entry.place = place();
      entry.value = this->node(depth + 1);
    }
  }

  std::string_view bytes_;
};

bool is_plain(std::string_view text) {
  return !text.empty() && text.find_first_of(":#{}[],&*!|>'\"%@`\n") == text.npos &&
         text.front() != '-' && text.front() != '?' && text.front() != ' ' && text.back() != ' ';
}

void put_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out += '"';
}

void put_flow(std::string& out, const RuleNode& node);

/// Each item behind the one before and a comma.
template <typename Items, typename Put>
void put_items(std::string& out, std::string_view brackets, const Items& items, Put put) {
  out += brackets[0];
  const size_t begin = out.size();
  for (const auto& item : items) {
    if (out.size() > begin) out += ", ";
    put(item);
  }
  out += brackets[1];
}

void put_flow(std::string& out, const RuleNode& node) {
  switch (node.type) {
    case RuleNode::Type::Null:
      out += '~';
      return;
    case RuleNode::Type::Scalar:
      is_plain(node.text) ? void(out += node.text) : put_quoted(out, node.text);
      return;
    case RuleNode::Type::Sequence:
      return put_items(out, "[]", node.items, [&](const RuleNode& item) { put_flow(out, item); });
    case RuleNode::Type::Map:
      return put_items(out, "{}", node.entries, [&](const RuleNode::Entry& entry) {
        out += entry.key;
        out += ": ";
        put_flow(out, entry.value);
      });
  }
}

}  // namespace

const RuleNode* RuleNode::find(std::string_view key) const {
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& candidate) { return candidate.key == key; });
  return entry == entries.end() ? nullptr : &entry->value;
}

bool RuleNode::operator==(const RuleNode& other) const {
  return type == other.type && place == other.place && text == other.text && items == other.items &&
         entries == other.entries;
}

std::string write_compact(const RuleNode& node) {
  std::string out;
  put_node(out, node);
  return out;
}

RuleNode read_compact(std::string_view bytes) {
  CompactReader reader(bytes);
  RuleNode node = reader.node();
  if (!reader.at_end()) CompactReader::fail();
  return node;
}

std::string flow_text(const RuleNode& node) {
  std::string out;
  put_flow(out, node);
  return out;
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
