#include "support/json_schema.h"

#include <regex>
#include <set>
#include <stdexcept>

namespace ncclog::testing {
namespace {

using nlohmann::json;

/// One walk over a value. Errors are collected, so that a test shows all of them.
struct Walk {
  const json& root;
  std::vector<std::string> errors;

  void check(const json& schema, const json& value, const std::string& at);
  void check_keyword(const std::string& keyword, const json& schema, const json& value,
                     const std::string& at);
  void check_object(const json& schema, const json& value, const std::string& at);
  void check_array(const json& schema, const json& value, const std::string& at);
  void check_any(const json& options, const json& value, const std::string& at);

  void expect(bool holds, const std::string& at, const std::string& what) {
    if (!holds) errors.push_back((at.empty() ? "/" : at) + ": " + what);
  }
};

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "null") return value.is_null();
  throw std::runtime_error("type " + type);
}

bool has_any_type(const json& value, const json& types) {
  if (types.is_string()) return has_type(value, types);
  for (const json& type : types) {
    if (has_type(value, type)) return true;
  }
  return false;
}

bool contains(const json& list, const json& value) {
  for (const json& item : list) {
    if (item == value) return true;
  }
  return false;
}

void Walk::check_object(const json& schema, const json& value, const std::string& at) {
  for (const json& key : schema.value("required", json::array())) {
    expect(value.contains(key), at, "lacks " + key.dump());
  }
  const json known = schema.value("properties", json::object());
  for (const auto& [key, member] : value.items()) {
    if (known.contains(key)) {
      check(known.at(key), member, at + "/" + key);
    } else if (schema.contains("additionalProperties")) {
      const json& others = schema.at("additionalProperties");
      if (others.is_object()) check(others, member, at + "/" + key);
      expect(others != json(false), at, "has unknown \"" + key + "\"");
    }
  }
}

void Walk::check_array(const json& schema, const json& value, const std::string& at) {
  for (size_t i = 0; schema.contains("items") && i < value.size(); ++i) {
    check(schema.at("items"), value[i], at + "/" + std::to_string(i));
  }
  if (schema.value("uniqueItems", false)) {
    expect(std::set<json>(value.begin(), value.end()).size() == value.size(), at, "has duplicates");
  }
}

void Walk::check_any(const json& options, const json& value, const std::string& at) {
  std::vector<std::string> first;
  for (const json& option : options) {
    Walk walk{root, {}};
    walk.check(option, value, at);
    if (walk.errors.empty()) return;
    if (first.empty()) first = walk.errors;
  }
  errors.insert(errors.end(), first.begin(), first.end());
}

void Walk::check_keyword(const std::string& keyword, const json& schema, const json& value,
                         const std::string& at) {
  static const std::set<std::string> kSilent = {"$schema",    "$id",      "$defs",
                                                "title",      "items",    "uniqueItems",
                                                "properties", "required", "additionalProperties",
                                                "description"};
  const json& rule = schema.at(keyword);
  if (keyword == "$ref") {
    check(root.at(json::json_pointer(rule.get<std::string>().substr(1))), value, at);
  } else if (keyword == "type") {
    expect(has_any_type(value, rule), at, "not of type " + rule.dump());
  } else if (keyword == "const") {
    expect(value == rule, at, "not " + rule.dump());
  } else if (keyword == "enum") {
    expect(contains(rule, value), at, value.dump() + " is none of " + rule.dump());
  } else if (keyword == "anyOf") {
    check_any(rule, value, at);
  } else if (keyword == "not") {
    Walk walk{root};
    walk.check(rule, value, at);
    expect(!walk.errors.empty(), at, "fits " + rule.dump());
  } else if (keyword == "minimum") {
    expect(!value.is_number() || value >= rule, at, value.dump() + " is below " + rule.dump());
  } else if (keyword == "minLength") {
    expect(!value.is_string() || value.get_ref<const std::string&>().size() >= rule, at, "empty");
  } else if (keyword == "pattern") {
    expect(!value.is_string() || std::regex_search(value.get_ref<const std::string&>(),
                                                   std::regex(rule.get<std::string>())),
           at, value.dump() + " does not match " + rule.dump());
  } else if (!kSilent.contains(keyword)) {
    throw std::runtime_error("keyword " + keyword);
  }
}

void Walk::check(const json& schema, const json& value, const std::string& at) {
  for (const auto& [keyword, rule] : schema.items()) check_keyword(keyword, schema, value, at);
  if (value.is_object()) check_object(schema, value, at);
  if (value.is_array()) check_array(schema, value, at);
}

}  // namespace

std::vector<std::string> schema_errors(const json& schema, const json& value) {
  Walk walk{schema, {}};
  walk.check(schema, value, "");
  return walk.errors;
}

}  // namespace ncclog::testing
