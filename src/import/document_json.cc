#include "import/document_json.h"

#include <fmt/format.h>

#include "base/json_text.h"

namespace ncclog {
namespace {

/// Writes values. Invariant: once the text is longer than `most_` nothing is added.
class JsonWriter {
 public:
  JsonWriter(const Document& document, size_t most) : document_(document), most_(most) {}

  bool write(ValueId id, size_t depth) {
    if (out_.size() > most_ || depth > kMaxNesting) return false;
    const Value& value = document_.values[id];
    if (const auto* list = std::get_if<ListValue>(&value)) return write_list(*list, depth);
    if (const auto* dict = std::get_if<DictValue>(&value)) return write_dict(*dict, depth);
    write_plain(value);
    return true;
  }

  std::string take() { return std::move(out_); }

 private:
  void write_plain(const Value& value) {
    if (const auto* text = std::get_if<std::string_view>(&value)) {
      append_json_string(out_, *text);
    } else if (const auto* number = std::get_if<int64_t>(&value)) {
      out_ += fmt::format("{}", *number);
    } else if (const auto* real = std::get_if<double>(&value)) {
      out_ += *real - *real == 0 ? fmt::format("{}", *real) : "null";
    } else if (const auto* truth = std::get_if<bool>(&value)) {
      out_ += *truth ? "true" : "false";
    } else {
      out_ += "null";
    }
  }

  bool write_list(const ListValue& list, size_t depth) {
    out_ += '[';
    for (size_t i = 0; i < list.items.size(); ++i) {
      if (i > 0) out_ += ", ";
      if (!write(list.items[i], depth + 1)) return false;
    }
    out_ += ']';
    return true;
  }

  bool write_dict(const DictValue& dict, size_t depth) {
    out_ += '{';
    for (size_t i = 0; i < dict.members.size(); ++i) {
      if (i > 0) out_ += ", ";
      write_key(document_.values[dict.members[i].first]);
      out_ += ": ";
      if (!write(dict.members[i].second, depth + 1)) return false;
    }
    out_ += '}';
    return true;
  }

  void write_key(const Value& key) {
    if (std::holds_alternative<std::string_view>(key)) return write_plain(key);
    const auto* number = std::get_if<int64_t>(&key);
    append_json_string(out_, number != nullptr ? fmt::format("{}", *number) : "");
  }

  const Document& document_;
  size_t most_;
  std::string out_;
};

}  // namespace

std::optional<std::string> document_json(const Document& document, size_t most) {
  if (!document.problem.empty()) return std::nullopt;
  JsonWriter writer(document, most);
  if (!writer.write(document.root, 0)) return std::nullopt;
  return writer.take() + "\n";
}

}  // namespace ncclog
