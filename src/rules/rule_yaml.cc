#include "rules/rule_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace ncclog {

// Trees as text: the compact form that the build embeds, and the one line that people read.

namespace {

/// Nesting of the compact form that is still read; rules need fewer than ten levels.
constexpr int kMaxDepth = 64;

// The members of a node in one order: type, place, text, items, entries. What its type lacks is empty,
// and takes a byte.

void put_text(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out += text;
}

void put_place(std::string& out, Place place) {
  append_varint(out, place.line);
  append_varint(out, place.column);
}

void put_node(std::string& out, const RuleNode& node) {
  append_varint(out, static_cast<uint64_t>(node.type));
  put_place(out, node.place);
  put_text(out, node.text);
  append_varint(out, node.items.size());
  for (const RuleNode& item : node.items) put_node(out, item);
  append_varint(out, node.entries.size());
  for (const RuleNode::Entry& entry : node.entries) {
    put_text(out, entry.key);
    put_place(out, entry.place);
    put_node(out, entry.value);
  }
}

[[noreturn]] void fail_compact() { throw Error("the compact form of a rule is damaged"); }

uint64_t take_number(std::string_view& bytes) {
  if (bytes.empty()) fail_compact();
  return take_varint(bytes);
}

/// How many bytes, items or entries follow: each of them takes a byte at least.
size_t take_size(std::string_view& bytes) {
  const uint64_t size = take_number(bytes);
  if (size > bytes.size()) fail_compact();
  return size;
}

std::string take_text(std::string_view& bytes) {
  const size_t size = take_size(bytes);
  std::string text(bytes.substr(0, size));
  bytes.remove_prefix(size);
  return text;
}

Place take_place(std::string_view& bytes) {
  const auto line = static_cast<uint32_t>(take_number(bytes));
  return {line, static_cast<uint32_t>(take_number(bytes))};
}

void take_node(std::string_view& bytes, RuleNode& node, int depth) {
  if (depth > kMaxDepth) fail_compact();
  node.type = static_cast<RuleNode::Type>(take_number(bytes));
  if (node.type > RuleNode::Type::Map) fail_compact();
  node.place = take_place(bytes);
  node.text = take_text(bytes);
  node.items.resize(take_size(bytes));
  for (RuleNode& item : node.items) take_node(bytes, item, depth + 1);
  node.entries.resize(take_size(bytes));
  for (RuleNode::Entry& entry : node.entries) {
    entry.key = take_text(bytes);
    entry.place = take_place(bytes);
    take_node(bytes, entry.value, depth + 1);
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

// From YAML to the tree of a rule file. Anchors and aliases are refused: a rule needs none, and
// a few of them can stand for more text than there is memory.

Place place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<uint32_t>(mark.line + 1), static_cast<uint32_t>(mark.column + 1)};
}

/// Builds the tree while yaml-cpp reads: its own node type keeps no duplicate keys and follows
/// aliases. The inheritance is the interface of that library.
class TreeBuilder : public YAML::EventHandler {
 public:
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
  void refuse(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) fail_at(place_of(mark), "rule files have no anchors and aliases");
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, RuleNode::Type type) {
    refuse(mark, anchor);
    open_.push_back(add({.type = type, .place = place_of(mark)}));
  }

  bool expects_key() const {
    return !open_.empty() && open_.back()->type == RuleNode::Type::Map && !lacks_value_;
  }

  void add_key(const std::string& key, Place place) {
    RuleNode& map = *open_.back();
    if (map.find(key) != nullptr) fail_at(place, fmt::format("the key '{}' stands twice", key));
    map.entries.push_back({key, place, {}});
    lacks_value_ = true;
  }

  RuleNode* add(RuleNode&& node) {
    if (expects_key()) fail_at(node.place, "a key must be text");
    RuleNode* to = &root_;
    if (!open_.empty()) {
      RuleNode& parent = *open_.back();
      const bool is_map = parent.type == RuleNode::Type::Map;
      to = is_map ? &parent.entries.back().value : &parent.items.emplace_back();
      lacks_value_ = false;
    }
    *to = std::move(node);
    return to;
  }

  RuleNode root_;
  /// Collections that are not closed yet. Their nodes do not move: a parent's list grows only after
  /// they are closed.
  std::vector<RuleNode*> open_;
  bool lacks_value_ = false;  ///< A key of the innermost map was read, and not yet its value.
};

// Reading a tree strictly: what is not expected is an error with its place.

std::string_view name_of(RuleNode::Type type) {
  constexpr std::string_view kNames[] = {"nothing", "a text", "a list", "a map"};
  return kNames[static_cast<size_t>(type)];
}

[[noreturn]] void fail_type(const RuleNode& node, std::string_view what) {
  const bool colon = node.type == RuleNode::Type::Map && node.entries.size() == 1;
  fail_at(node.place, fmt::format("expected {}, found {}", what, name_of(node.type)),
          colon ? "quote a text that holds ': ', else YAML reads a map" : "");
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
  std::string bytes;
  put_node(bytes, node);
  return bytes;
}

RuleNode read_compact(std::string_view bytes) {
  RuleNode node;
  take_node(bytes, node, 0);
  if (!bytes.empty()) fail_compact();
  return node;
}

std::string flow_text(const RuleNode& node) {
  std::string text;
  text.reserve(256);
  put_flow(node, text);
  return text;
}

RuleNode read_yaml(std::string_view yaml, const std::string& path) {
  return in_file(path, [&] {
    try {
      std::istringstream stream{std::string(yaml)};
      YAML::Parser parser(stream);
      TreeBuilder builder;
      if (!parser.HandleNextDocument(builder)) fail_at({1, 1}, "the file is empty");
      TreeBuilder rest;
      if (parser.HandleNextDocument(rest)) {
        fail_at(rest.take_root().place, "one file holds one rule, here a second document begins");
      }
      return builder.take_root();
    } catch (const YAML::Exception& error) {
      fail_at(place_of(error.mark), fmt::format("not YAML: {}", error.msg),
              "quote texts that hold ': ', ' #' or begin with one of [{&*!|>'\"%@`");
    }
  });
}

void fail_at(Place place, const std::string& what, const std::string& hint) {
  throw Error(what, fmt::format("{}:{}", place.line, place.column), hint);
}

void fail_unknown(Place place, std::string_view what, std::string_view name, const Names& known) {
  std::string hint;
  if (const auto near = nearest_name(name, known)) {
    hint = fmt::format("did you mean '{}'?", *near);
  } else if (!known.empty() && known.size() <= kMostNamesListed) {
    hint = fmt::format("known: {}", fmt::join(known, ", "));
  }
  fail_at(place, fmt::format("unknown {}", fmt::format(fmt::runtime(what), name)), hint);
}

const std::string& scalar_of(const RuleNode& node, std::string_view what) {
  if (node.type != RuleNode::Type::Scalar) fail_type(node, what);
  return node.text;
}

std::vector<std::string> scalars_of(const RuleNode& node, std::string_view what) {
  if (node.type == RuleNode::Type::Scalar) return {node.text};
  std::vector<std::string> texts;
  for (const RuleNode& item : items_of(node, what)) texts.push_back(scalar_of(item, "a text"));
  return texts;
}

int64_t number_of(const RuleNode& node) {
  const std::string& text = scalar_of(node, "a number");
  const auto number = parse_int(text);
  if (!number) fail_at(node.place, fmt::format("expected a number, found '{}'", text));
  return *number;
}

bool bool_of(const RuleNode& node) {
  const std::string& text = scalar_of(node, "true or false");
  if (text != "true" && text != "false") {
    fail_at(node.place, fmt::format("expected true or false, found '{}'", text));
  }
  return text == "true";
}

const std::vector<RuleNode>& items_of(const RuleNode& node, std::string_view what) {
  if (node.type != RuleNode::Type::Sequence) fail_type(node, what);
  if (node.items.empty()) fail_at(node.place, fmt::format("expected {}, found none", what));
  return node.items;
}

const std::vector<RuleNode::Entry>& entries_of(const RuleNode& node, std::string_view what) {
  if (node.type != RuleNode::Type::Map) fail_type(node, what);
  if (node.entries.empty()) fail_at(node.place, fmt::format("expected {}, found none", what));
  return node.entries;
}

void only_keys(const RuleNode& map, const Names& known) {
  for (const RuleNode::Entry& entry : map.entries) {
    if (std::ranges::find(known, entry.key) != known.end()) continue;
    fail_unknown(entry.place, "key '{}'", entry.key, known);
  }
}

const RuleNode& required(const RuleNode& map, std::string_view key) {
  const RuleNode* node = map.find(key);
  if (node == nullptr) fail_at(map.place, fmt::format("the key '{}' is missing", key));
  return *node;
}

size_t word_of(const RuleNode& node, std::string_view what, const Names& names) {
  const std::string& text = scalar_of(node, what);
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) fail_unknown(node.place, fmt::format("{} '{{}}'", what), text, names);
  return static_cast<size_t>(found - names.begin());
}

}  // namespace ncclog
