#include "import/document.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace ncclog {

bool DocumentWalk::take(size_t steps) {
  if (steps > left_) {
    left_ = 0;
    return false;
  }
  left_ -= steps;
  return true;
}

const Value* DocumentWalk::member(const Value& dict, std::string_view name) {
  const Value* found = nullptr;
  each_member(dict, [&](std::string_view key, const Value& value) {
    if (key == name) found = &value;
  });
  return found;
}

std::string DocumentWalk::text(const Value& value) {
  const auto* found = std::get_if<std::string_view>(&value);
  if (found == nullptr || !take(found->size())) return {};
  return std::string(*found);
}

std::optional<int64_t> whole_number(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* text = std::get_if<std::string_view>(&value)) return parse_int(*text);
  if (const auto* real = std::get_if<double>(&value)) {
    constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it, not every number is itself.
    if (std::abs(*real) <= kExact && std::trunc(*real) == *real) {
      return static_cast<int64_t>(*real);
    }
  }
  return std::nullopt;
}

std::optional<double> real_number(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    return std::isfinite(*real) ? std::optional(*real) : std::nullopt;
  }
  if (const auto number = whole_number(value)) return static_cast<double>(*number);
  const auto* text = std::get_if<std::string_view>(&value);
  return text == nullptr ? std::nullopt : parse_decimal(*text);
}

std::optional<bool> truth(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  const auto number = whole_number(value);
  if (!number || *number < 0 || *number > 1) return std::nullopt;
  return *number == 1;
}

namespace {

/// Writes values. Invariant: once the text is longer than `most_` nothing is added.
class JsonWriter {
 public:
  JsonWriter(const ParsedDocument& document, size_t most) : document_(document), most_(most) {}

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
    const char* separator = "[";
    for (const ValueId item : list.items) {
      out_ += std::exchange(separator, ", ");
      if (!write(item, depth + 1)) return false;
    }
    out_ += list.items.empty() ? "[]" : "]";
    return true;
  }

  bool write_dict(const DictValue& dict, size_t depth) {
    const char* separator = "{";
    for (const auto& [key, value] : dict.members) {
      out_ += std::exchange(separator, ", ");
      write_key(document_.values[key]);
      out_ += ": ";
      if (!write(value, depth + 1)) return false;
    }
    out_ += dict.members.empty() ? "{}" : "}";
    return true;
  }

  void write_key(const Value& key) {
    if (std::holds_alternative<std::string_view>(key)) return write_plain(key);
    const auto* number = std::get_if<int64_t>(&key);
    append_json_string(out_, number != nullptr ? fmt::format("{}", *number) : "");
  }

  const ParsedDocument& document_;
  size_t most_;
  std::string out_;
};

}  // namespace

std::optional<std::string> document_json(const ParsedDocument& document, size_t most) {
  if (!document.problem.empty()) return std::nullopt;
  JsonWriter writer(document, most);
  if (!writer.write(document.root, 0)) return std::nullopt;
  return writer.take() + "\n";
}

namespace {

using Json = nlohmann::json;

/// Takes what the parser meets, in the order of the text. Invariant: open_ are the lists and dicts
/// that have begun and not ended, outermost first, as places in document_.values.
class DocumentBuilder : public nlohmann::json_sax<Json> {
 public:
  ParsedDocument take() { return std::move(document_); }

  bool null() override { return add(std::monostate()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override {
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return add(value <= kMost ? Value(static_cast<int64_t>(value)) : Value());
  }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(keep(std::move(value))); }
  bool binary(Json::binary_t&) override { return add(std::monostate()); }
  bool start_object(size_t) override { return open(DictValue{}); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(ListValue{}); }
  bool end_array() override { return close(); }

  bool key(std::string& value) override {
    const auto known = keys_.find(value);
    if (known != keys_.end()) {
      key_ = known->second;
      return true;
    }
    if (!push(keep(std::string(value)))) return false;
    key_ = last();
    keys_.emplace(std::move(value), key_);
    return true;
  }

  bool parse_error(size_t position, const std::string&, const Json::exception&) override {
    document_.problem = fmt::format("the JSON text is malformed or cut at byte {}", position);
    return false;
  }

 private:
  std::string_view keep(std::string&& text) {
    return document_.decoded.emplace_back(std::move(text));
  }

  ValueId last() const { return static_cast<ValueId>(document_.values.size() - 1); }

  bool push(Value value) {
    if (document_.values.size() == kMaxValues) {
      document_.problem = fmt::format("the JSON text holds more than {} values", kMaxValues);
      return false;
    }
    document_.values.push_back(std::move(value));
    return true;
  }

  bool add(Value value) {
    if (!push(std::move(value))) return false;
    if (open_.empty()) {
      document_.root = last();
      return true;
    }
    Value& parent = document_.values[open_.back()];
    if (auto* list = std::get_if<ListValue>(&parent)) list->items.push_back(last());
    if (auto* dict = std::get_if<DictValue>(&parent)) dict->members.emplace_back(key_, last());
    return true;
  }

  bool open(Value container) {
    if (open_.size() == kMaxNesting) {
      document_.problem = fmt::format("the JSON text nests deeper than {}", kMaxNesting);
      return false;
    }
    if (!add(std::move(container))) return false;
    open_.push_back(last());
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  ParsedDocument document_;
  std::vector<ValueId> open_;
  ValueId key_ = 0;                      ///< Of the member whose value comes next.
  std::map<std::string, ValueId> keys_;  ///< Entries repeat their keys thousands of times.
};

}  // namespace

ParsedDocument read_json(std::string_view bytes) {
  DocumentBuilder builder;
  Json::sax_parse(bytes, &builder);
  return builder.take();
}

}  // namespace ncclog
