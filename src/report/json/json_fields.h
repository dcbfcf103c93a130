// One table says of an object of a JSON document how it is written and what its JSON Schema is: a
// row has the key, what stands there, and what that means.
//
//   constexpr Key<Subject> kSubject[] = {{"host", kNameOrNull<&Subject::host>, "…"}, …};
//
//   write_object(job, kSubject, finding.subject)   {"host": "gpu-n41", …}
//   object_schema(kSubject)                        {"type": "object", "required": ["host", …], …}
//
// What the log does not say is null, never a made-up value. Bytes that are not UTF-8 become U+FFFD.

#pragma once

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/built_in.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/job_span.h"
#include "model/job.h"
#include "report/report.h"
#include "rules/finding.h"

namespace ncclog {

using Json = nlohmann::ordered_json;

/// What stands at a key of an object that is written of a T.
template <typename T>
struct Value {
  Json (*schema)();
  Json (*write)(const Job& job, const T& of);
};

template <typename T>
struct Key {
  std::string_view name;
  Value<T> value;
  std::string_view help = {};  ///< Its description in the schema.
  bool is_optional = false;    ///< Left out where the value written is absent().
};

inline Json absent() { return Json::value_t::discarded; }

// What may stand somewhere, as a schema.
namespace type {

/// A text as a parameter of a template.
template <size_t size>
struct FixedText {
  char bytes[size] = {};
  constexpr FixedText(const char (&text)[size]) { std::copy_n(text, size, bytes); }
  constexpr std::string_view view() const { return {bytes, size - 1}; }
};

inline Json text() { return {{"type", "string"}}; }
inline Json name() { return {{"type", "string"}, {"minLength", 1}}; }
inline Json count() { return {{"type", "integer"}, {"minimum", 0}}; }
inline Json positive() { return {{"type", "integer"}, {"minimum", 1}}; }
inline Json number() { return {{"type", "number"}}; }
inline Json counts_by_name() { return {{"type", "object"}, {"additionalProperties", count()}}; }

template <FixedText pattern>
Json matching() {
  return {{"type", "string"}, {"pattern", pattern.view()}};
}

/// A word of an enum.
template <typename Enum>
Json word() {
  return {{"enum", words_of_enum<Enum>()}};
}

/// One of words that stand with '|' between them.
template <FixedText words>
Json one_of() {
  return {{"enum", split(words.view(), '|')}};
}

template <FixedText value>
Json constant() {
  return {{"const", value.view()}};
}

template <Json (*item)()>
Json list() {
  return {{"type", "array"}, {"items", item()}};
}

template <Json (*item)()>
Json set() {
  return {{"type", "array"}, {"items", item()}, {"uniqueItems", true}};
}

template <Json (*of)()>
Json nullable() {
  Json schema = of();
  if (schema.contains("enum")) schema["enum"].push_back(nullptr);
  if (schema.contains("type")) schema["type"] = Json::array({schema["type"], "null"});
  return schema;
}

}  // namespace type

/// An object with these members, and no others.
inline Json closed_object(Json properties, Json required) {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", std::move(required)},
          {"properties", std::move(properties)}};
}

template <typename Keys>
Json object_schema(const Keys& keys) {
  Json required = Json::array();
  Json properties = Json::object();
  for (const auto& key : keys) {
    if (!key.is_optional) required.push_back(key.name);
    Json& schema = properties[std::string(key.name)] = key.value.schema();
    if (!key.help.empty()) schema["description"] = key.help;
  }
  return closed_object(std::move(properties), std::move(required));
}

namespace type {

template <const auto& keys>
Json object() {
  return object_schema(keys);
}

template <const auto& keys>
Json objects() {
  return {{"type", "array"}, {"items", object_schema(keys)}};
}

}  // namespace type

/// The schema of a document, indented.
template <typename Keys>
std::string document_schema(std::string_view id, std::string_view title, std::string_view help,
                            const Keys& keys) {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"$id", id},
                 {"title", title},
                 {"description", help}};
  schema.update(object_schema(keys));
  return schema.dump(2) + "\n";
}

// Writing.

template <typename Keys, typename T>
Json write_object(const Job& job, const Keys& keys, const T& of) {
  Json object = Json::object();
  for (const auto& key : keys) {
    Json value = key.value.write(job, of);
    if (!value.is_discarded()) object[std::string(key.name)] = std::move(value);
  }
  return object;
}

template <typename Keys, typename List>
Json write_objects(const Job& job, const Keys& keys, const List& list) {
  Json objects = Json::array();
  for (const auto& of : list) objects.push_back(write_object(job, keys, of));
  return objects;
}

inline Json write_texts(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(to_valid_utf8(value));
  return list;
}

inline Json write_name(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(to_valid_utf8(text));
}

// Values that are a member of T. Empty and -1 stand for unknown.

template <typename T, typename M>
T owner_of(M T::*);

template <auto member>
using Owner = decltype(owner_of(member));

template <typename T, typename M>
M type_of(M T::*);

template <auto member>
using Member = decltype(type_of(member));

template <auto member, Json (*schema)() = type::text>
constexpr Value<Owner<member>> kText = {
    schema, [](const Job&, const Owner<member>& of) -> Json { return to_valid_utf8(of.*member); }};

template <auto member, Json (*schema)() = type::name>
constexpr Value<Owner<member>> kNameOrNull = {
    type::nullable<schema>,
    [](const Job&, const Owner<member>& of) -> Json { return write_name(of.*member); }};

/// Absent where it is empty.
template <auto member, Json (*schema)() = type::name>
constexpr Value<Owner<member>> kTextIfAny = {
    schema, [](const Job&, const Owner<member>& of) -> Json {
      return (of.*member).empty() ? absent() : Json(to_valid_utf8(of.*member));
    }};

template <auto member, Json (*schema)() = type::list<type::text>>
constexpr Value<Owner<member>> kTexts = {
    schema, [](const Job&, const Owner<member>& of) -> Json { return write_texts(of.*member); }};

/// Of an enum.
template <auto member, Json (*schema)() = type::word<Member<member>>>
constexpr Value<Owner<member>> kWord = {
    schema, [](const Job&, const Owner<member>& of) -> Json { return to_string(of.*member); }};

template <auto member, Json (*schema)() = type::count>
constexpr Value<Owner<member>> kValue = {
    schema, [](const Job&, const Owner<member>& of) -> Json { return of.*member; }};

template <auto member, Json (*schema)() = type::count>
constexpr Value<Owner<member>> kNumberOrNull = {
    type::nullable<schema>, [](const Job&, const Owner<member>& of) -> Json {
      return of.*member < 0 ? Json(nullptr) : Json(of.*member);
    }};

/// null where there is none; a value that a schema knows by words, or a number.
template <auto member, Json (*schema)() = type::count>
constexpr Value<Owner<member>> kOptional = {
    type::nullable<schema>, [](const Job&, const Owner<member>& of) -> Json {
      if (!(of.*member)) return nullptr;
      if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(*(of.*member))>>) {
        return to_string(*(of.*member));
      } else {
        return *(of.*member);
      }
    }};

template <auto member, const auto& keys>
constexpr Value<Owner<member>> kObject = {type::object<keys>,
                                          [](const Job& job, const Owner<member>& of) -> Json {
                                            return write_object(job, keys, of.*member);
                                          }};

/// null where there is none.
template <auto member, const auto& keys>
constexpr Value<Owner<member>> kObjectOrNull = {
    type::nullable<type::object<keys>>, [](const Job& job, const Owner<member>& of) -> Json {
      return of.*member ? write_object(job, keys, *(of.*member)) : Json(nullptr);
    }};

template <auto member, const auto& keys>
constexpr Value<Owner<member>> kObjects = {type::objects<keys>,
                                           [](const Job& job, const Owner<member>& of) -> Json {
                                             return write_objects(job, keys, of.*member);
                                           }};

/// Absent where there is none.
template <auto member, const auto& keys>
constexpr Value<Owner<member>> kObjectIfAny = {
    type::object<keys>, [](const Job& job, const Owner<member>& of) -> Json {
      return of.*member ? write_object(job, keys, *(of.*member)) : absent();
    }};

/// The name of a document's schema.
template <typename T, type::FixedText name>
constexpr Value<T> kSchemaName = {type::constant<name>,
                                  [](const Job&, const T&) -> Json { return name.view(); }};

/// A value of a member, or of what it points to.
template <auto member, const auto& value>
constexpr Value<Owner<member>> kOf = {
    value.schema, [](const Job& job, const Owner<member>& of) -> Json {
      if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(of.*member)>>) {
        return value.write(job, *(of.*member));
      } else {
        return value.write(job, of.*member);
      }
    }};

template <typename T, typename Found>
T seeker_of(const Found& (*)(const Job&, const T&));

/// A value of what a function finds.
template <auto find, const auto& value>
constexpr Value<decltype(seeker_of(find))> kVia = {
    value.schema, [](const Job& job, const decltype(seeker_of(find))& of) -> Json {
      return value.write(job, find(job, of));
    }};

// What several documents share.

constexpr auto kFindingId = type::matching<"^[a-z0-9]+(-[a-z0-9]+)*$">;
constexpr auto kSeverity = type::word<Severity>;
constexpr auto kConfidence = type::word<Confidence>;
constexpr auto kDay = type::matching<"^[0-9]{4}-[0-9]{2}-[0-9]{2}$">;

constexpr Key<Tool> kTool[] = {
    {"name", kText<&Tool::name, type::constant<"ncclog">>},
    {"version", kText<&Tool::version, type::matching<R"(^[0-9]+\.[0-9]+\.[0-9]+)">>},
    {"rulebook", kText<&Tool::rulebook>, "Hash of the rules that were used."},
};

constexpr Key<NotJudged> kNotJudged[] = {
    {"question", kText<&NotJudged::question>},
    {"reason", kText<&NotJudged::reason>},
    {"how_to_capture", kText<&NotJudged::how_to_capture>},
};

/// rule_schema.json: the schema of rule files, with null where names of ours are filled in.
std::span<const EmbeddedFile> schema_files();

/// A line as evidence, shown up to 1 KiB and cut between characters.
std::string shown_evidence(std::string_view line);

constexpr auto kUtc =
    type::matching<R"(^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$)">;
constexpr std::string_view kTimeHelp = "As printed. Clocks of hosts differ.";
constexpr std::string_view kUtcHelp = "The same, where it is printed with year and zone.";

constexpr Key<Evidence> kEvidence[] = {
    {"file",
     {type::text,
      [](const Job& job, const Evidence& line) -> Json {
        return to_valid_utf8(file_line(job, line.where).path);
      }}},
    {"line",
     {type::count,
      [](const Job& job, const Evidence& line) -> Json { return file_line(job, line.where).line; }},
     "0: the whole file."},
    {"time",
     {type::nullable<type::name>,
      [](const Job&, const Evidence& line) { return write_name(time_of_line(line.text).text); }},
     kTimeHelp},
    {"utc",
     {type::nullable<kUtc>,
      [](const Job&, const Evidence& line) { return write_name(utc_of(time_of_line(line.text))); }},
     kUtcHelp},
    {"text",
     {type::text,
      [](const Job&, const Evidence& line) -> Json { return shown_evidence(line.text); }},
     "The line, cut at 1 KiB."}};

}  // namespace ncclog
