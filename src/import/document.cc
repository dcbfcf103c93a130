#include "import/document.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/text.h"

namespace ncclog {

using Json = nlohmann::json;

namespace {

const Json kNone;

}  // namespace

std::optional<int64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned() && !std::in_range<int64_t>(value.get<uint64_t>())) {
    return std::nullopt;
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_string()) return parse_int(text_of(value));
  if (!value.is_number_float()) return std::nullopt;
  constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it, not every number is itself.
  const double real = value.get<double>();
  const bool is_whole = std::abs(real) <= kExact && std::trunc(real) == real;
  return is_whole ? std::optional(static_cast<int64_t>(real)) : std::nullopt;
}

int small_number(const Json& value) {
  const auto number = whole_number(value);
  return number && std::in_range<int>(*number) ? static_cast<int>(*number) : -1;
}

std::optional<double> real_number(const Json& value) {
  if (value.is_number_float()) {
    return std::isfinite(value.get<double>()) ? std::optional(value.get<double>()) : std::nullopt;
  }
  if (const auto number = whole_number(value)) return static_cast<double>(*number);
  return parse_decimal(text_of(value));
}

std::optional<bool> truth(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  const auto number = whole_number(value);
  if (!number || *number < 0 || *number > 1) return std::nullopt;
  return *number == 1;
}

std::string_view text_of(const Json& value) {
  const auto* text = value.get_ptr<const std::string*>();
  return text == nullptr ? std::string_view() : *text;
}

const Json& as_list(const Json& value) { return value.is_array() ? value : kNone; }

const Json& as_dict(const Json& value) { return value.is_object() ? value : kNone; }

const Json& member(const Json& dict, const char* name) {
  const auto found = as_dict(dict).find(name);
  return found == as_dict(dict).end() ? kNone : *found;
}

ParsedDocument read_json(std::string_view bytes) {
  ParsedDocument document;
  size_t values = 0;
  const auto check = [&](int depth, Json::parse_event_t event, const Json&) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && std::cmp_greater_equal(depth, kMaxNesting)) {
      throw std::length_error(fmt::format("the JSON text nests deeper than {}", kMaxNesting));
    }
    values += opens || event == Json::parse_event_t::value ? 1 : 0;
    if (values > kMaxValues) {
      throw std::length_error(fmt::format("the JSON text holds more than {} values", kMaxValues));
    }
    return true;
  };
  try {
    document.value = Json::parse(bytes, check);
  } catch (const Json::parse_error& error) {
    document.problem = fmt::format("the JSON text is malformed or cut at byte {}", error.byte);
  } catch (const std::exception& error) {
    document.problem = error.what();
  }
  return document;
}

size_t json_size(std::string_view bytes) {
  size_t depth = 0;
  bool is_text = false;
  for (size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (is_text && c == '\\') {
      ++at;
    } else if (c == '"') {
      is_text = !is_text;
    } else if (!is_text && (c == '{' || c == '[')) {
      ++depth;
    } else if (!is_text && (c == '}' || c == ']') && (depth == 0 || --depth == 0)) {
      return at + 1;
    }
  }
  return bytes.size();
}

}  // namespace ncclog
