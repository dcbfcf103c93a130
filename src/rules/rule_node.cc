#include "rules/rule_node.h"

#include <algorithm>

#include "base/error.h"

namespace ncclog {
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

}  // namespace ncclog
