#include "import/read_json.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

namespace ncclog {
namespace {

using Json = nlohmann::json;

/// Takes what the parser meets, in the order of the text. Invariant: open_ are the lists and dicts
/// that have begun and not ended, outermost first, as places in document_.values.
class DocumentBuilder : public nlohmann::json_sax<Json> {
 public:
  Document take() { return std::move(document_); }

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

  Document document_;
  std::vector<ValueId> open_;
  ValueId key_ = 0;                      ///< Of the member whose value comes next.
  std::map<std::string, ValueId> keys_;  ///< Entries repeat their keys thousands of times.
};

}  // namespace

Document read_json(std::string_view bytes) {
  DocumentBuilder builder;
  Json::sax_parse(bytes, &builder);
  return builder.take();
}

}  // namespace ncclog
