#include "replay/plan/plan_json.h"

#include <set>
#include <sstream>

#include "base/error.h"
#include "base/hash.h"

namespace ncclog {
namespace {

constexpr size_t kColumns = 100;

/// "plan.json:14:3" for a place in bytes, from 1.
std::string where_in(std::string_view text, const std::string& source, size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0.
  return fmt::format("{}:{}:{}", source, line, before.size() - begin + 1);
}

bool is_scalar(const WrittenJson& value) { return !value.is_structured(); }

/// A list of single values, or nothing.
bool is_plain_list(const WrittenJson& value) {
  return value.is_array() && std::ranges::all_of(value, is_scalar);
}

bool is_flat(const WrittenJson& value) {
  return std::ranges::all_of(
      value, [](const WrittenJson& part) { return is_scalar(part) || is_plain_list(part); });
}

void append_line(std::string& out, const WrittenJson& value);

void append_key(std::string& out, const std::string& key) { out += WrittenJson(key).dump() + ": "; }

void append_line_object(std::string& out, const WrittenJson& value) {
  out += '{';
  for (auto part = value.begin(); part != value.end(); ++part) {
    if (part != value.begin()) out += ", ";
    append_key(out, part.key());
    append_line(out, part.value());
  }
  out += '}';
}

void append_line(std::string& out, const WrittenJson& value) {
  if (value.is_object()) return append_line_object(out, value);
  if (!value.is_array()) return void(out += value.dump());
  out += '[';
  for (auto part = value.begin(); part != value.end(); ++part) {
    if (part != value.begin()) out += ", ";
    append_line(out, *part);
  }
  out += ']';
}

/// Whether `value` stands on one line behind `indent` columns: rows and numbers always, else if it
/// is short.
bool fits_line(const WrittenJson& value, size_t indent, bool in_list) {
  constexpr size_t kFew = 12;
  if (is_scalar(value) || value.empty()) return true;
  if (in_list && value.is_object() && is_flat(value)) return true;
  if (is_plain_list(value) && !value.front().is_string()) return true;
  if (!is_flat(value) || value.size() > kFew) return false;
  std::string line;
  append_line(line, value);
  return indent + line.size() <= kColumns;
}

void append_value(std::string& out, const WrittenJson& value, size_t indent, bool in_list) {
  if (fits_line(value, indent, in_list)) return append_line(out, value);
  const bool is_list = value.is_array();
  out += is_list ? '[' : '{';
  for (auto part = value.begin(); part != value.end(); ++part) {
    out += part == value.begin() ? "\n" : ",\n";
    out.append(indent + 2, ' ');
    if (!is_list) append_key(out, part.key());
    append_value(out, *part, indent + 2, is_list);
  }
  out += '\n';
  out.append(indent, ' ');
  out += is_list ? ']' : '}';
}

std::string_view type_of(const ReadJson& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_integer()) return "a whole number";
  if (value.is_number()) return "a number that is not whole";
  if (value.is_string()) return "a text";
  return value.is_array() ? "a list" : "an object";
}

}  // namespace

JsonPlace JsonPlace::at(std::string_view name, const ReadJson& member) const {
  return {member, source, this, name, 0};
}

JsonPlace JsonPlace::at(size_t item) const { return {value[item], source, this, {}, item}; }

std::string path_of(const JsonPlace& place) {
  if (place.above == nullptr) return {};
  const std::string path = path_of(*place.above);
  if (place.above->value.is_array()) return fmt::format("{}[{}]", path, place.index);
  return path + (path.empty() ? "" : ".") + printable(place.key);
}

void refuse(const JsonPlace& place, const std::string& what, const std::string& hint) {
  const std::string path = path_of(place);
  throw Error(what, std::string(place.source) + (path.empty() ? "" : ": " + path), hint);
}

void refuse_type(const JsonPlace& place, std::string_view wanted) {
  refuse(place, fmt::format("{} is expected, not {}", wanted, type_of(place.value)));
}

ReadJson parse_json_document(std::string_view text, const std::string& source) {
  if (text.size() > kMaxReplayText) {
    throw Error(fmt::format("longer than {} MiB", kMaxReplayText >> 20), source);
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error("the file is empty", source);
  }
  std::istringstream stream{std::string(text)};
  std::vector<std::set<std::string>> keys;  // Of all open objects, the outermost first.
  const auto look = [&](int, ReadJson::parse_event_t event, const ReadJson& parsed) {
    if (event == ReadJson::parse_event_t::object_start) keys.emplace_back();
    if (event == ReadJson::parse_event_t::object_end) keys.pop_back();
    if (event == ReadJson::parse_event_t::key && !keys.back().insert(parsed).second) {
      const size_t begin = text.rfind('"', static_cast<size_t>(stream.tellg()) - 2);
      throw Error(fmt::format("the key '{}' stands twice in one object",
                              printable(parsed.get_ref<const std::string&>())),
                  where_in(text, source, begin + 1), "leave one of the two out");
    }
    return true;
  };
  try {
    return ReadJson::parse(stream, look);
  } catch (const ReadJson::parse_error& error) {
    throw Error("no JSON from here on", where_in(text, source, error.byte));
  } catch (const ReadJson::exception&) {  // A number beyond what a double holds.
    throw Error("a number is out of range", source);
  }
}

void check_schema(const JsonPlace& document, std::string_view schema, std::string_view noun) {
  const std::string hint = fmt::format("this ncclog reads {}", schema);
  if (!document.value.is_object()) refuse_type(document, fmt::format("a {}", noun));
  const auto found = document.value.find("schema");
  if (found == document.value.end() || !found->is_string()) {
    refuse(document, fmt::format("not a {}: it names no schema", noun), hint);
  }
  const std::string& named = found->get_ref<const std::string&>();
  if (named == schema) return;
  const std::string_view kind = schema.substr(0, schema.find('/') + 1);
  refuse(document.at("schema", *found),
         named.starts_with(kind)
             ? fmt::format("a {} of another version: {}", noun, printable(named))
             : fmt::format("not a {}, but {}", noun, printable(named)),
         hint);
}

std::string write_json_document(const WrittenJson& document) {
  std::string text;
  append_value(text, document, 0, false);
  return text + "\n";
}

std::string hint_among(std::string_view word, std::span<const std::string_view> words) {
  if (const auto nearest = nearest_name(word, words)) {
    return fmt::format("did you mean '{}'?", *nearest);
  }
  return fmt::format("one of: {}", fmt::join(words, ", "));
}

std::optional<int> Words::find(std::string_view word) const {
  for (size_t number = 0; number < count; ++number) {
    if (name(static_cast<int64_t>(number)) == word) return static_cast<int>(number);
  }
  return std::nullopt;
}

void Words::refuse(const JsonPlace& place, std::string_view word) const {
  std::vector<std::string_view> words;
  for (size_t number = 0; number < count; ++number) words.push_back(name(number));
  ncclog::refuse(place, fmt::format("unknown {} '{}'", noun, printable(word)),
                 hint_among(word, words));
}

std::string_view function_word(int64_t number) {
  static constexpr std::string_view kWords[] = {
      "AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AlltoAll",  "Gather",
      "Scatter",   "Send",      "Recv",   "PutSignal", "Signal",        "WaitSignal"};
  return kWords[number];
}

std::string write_plan(const ReplayPlan& plan) { return write_json_document(to_json_value(plan)); }

ReplayPlan parse_plan(std::string_view text, const std::string& source) {
  return parse_json_as<ReplayPlan>(text, source, "replay plan");
}

std::string plan_hash(std::string_view text) { return sha256_hex(text); }

}  // namespace ncclog
