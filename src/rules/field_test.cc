#include "rules/field_test.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace ncclog {
namespace {

struct NamedField {
  std::string_view name;
  HeaderField field;
};

constexpr NamedField kHeaderFields[] = {
    {"level", HeaderField::Level}, {"file", HeaderField::File}, {"host", HeaderField::Host},
    {"rank", HeaderField::Rank},   {"pid", HeaderField::Pid},
};

std::string number_text(int64_t number) { return number < 0 ? "" : std::to_string(number); }

std::string header_text(const Job& job, const ReadRecord& read, HeaderField field) {
  const Header header = read.header();
  const Process& process = job.processes[static_cast<size_t>(read.process)];
  switch (field) {
    case HeaderField::Level:
      return std::string(to_string(header.level));
    case HeaderField::File:
      return std::string(header.file);
    case HeaderField::Host:
      return header.host.empty() ? process.host : std::string(header.host);
    case HeaderField::Rank:
      return number_text(process.rank);
    case HeaderField::Pid:
      return number_text(header.pid >= 0 ? header.pid : process.pid);
    case HeaderField::None:
      break;
  }
  return {};
}

std::string captured_text(const ReadRecord& read, const FieldRef& field) {
  for (const Pattern& pattern : field.patterns) {
    if (const auto text = pattern.capture(read.record->text, field.group)) return *text;
  }
  return {};
}

bool equal(FieldType type, std::string_view have, std::string_view want) {
  if (type == FieldType::Integer) {
    const auto number = parse_int(have);
    return number && number == parse_int(want);
  }
  if (type == FieldType::Hex) {
    const auto number = parse_hex(have);
    return number && number == parse_hex(want);
  }
  return have == want;
}

std::optional<int64_t> number_of(FieldType type, std::string_view text) {
  if (type != FieldType::Hex) return parse_int(text);
  const auto value = parse_hex(text);
  return value ? std::optional(static_cast<int64_t>(*value)) : std::nullopt;
}

/// The number that `text` begins with, whatever follows: 48.0 of "48.0 GB/s (8 links)".
std::optional<double> leading_number(std::string_view text) {
  text = trim(text);
  size_t end = text.starts_with('-') ? 1 : 0;
  const size_t digits = end;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == digits) return std::nullopt;
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
    ++end;
    while (end < text.size() && is_digit(text[end])) ++end;
  }
  return parse_decimal(text.substr(0, end));
}

/// -1, 0, 1 for a value below, equal to or above the bound; nullopt: it is no number.
std::optional<int> compared(FieldType type, std::string_view have, int64_t bound) {
  const auto sign = [](auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; };
  if (const auto whole = number_of(type, have)) return sign(*whole, bound);
  const auto number = leading_number(have);
  return number ? std::optional(sign(*number, static_cast<double>(bound))) : std::nullopt;
}

bool passes(FieldType type, std::string_view have, const ValueTest& test) {
  const auto any = [&](auto holds) {
    return std::any_of(test.values.begin(), test.values.end(), holds);
  };
  switch (test.op) {
    case Operator::Equals:
      return any([&](const std::string& want) { return equal(type, have, want); });
    case Operator::Not:
      return !any([&](const std::string& want) { return equal(type, have, want); });
    case Operator::Contains:
      return any([&](const std::string& want) { return have.find(want) != have.npos; });
    case Operator::StartsWith:
      return any([&](const std::string& want) { return have.starts_with(want); });
    case Operator::EndsWith:
      return any([&](const std::string& want) { return have.ends_with(want); });
    case Operator::Matches:
      return test.pattern.matches(have);
    case Operator::AtLeast:
      return compared(type, have, test.number).value_or(-1) >= 0;
    case Operator::AtMost:
      return compared(type, have, test.number).value_or(1) <= 0;
    case Operator::Above:
      return compared(type, have, test.number).value_or(-1) > 0;
    case Operator::Below:
      return compared(type, have, test.number).value_or(1) < 0;
    case Operator::Empty:
      return have.empty();
    case Operator::NotEmpty:
      return !have.empty();
    case Operator::SameAs:
      break;
  }
  return false;
}

bool passes(const Job& job, const ReadRecord& read, const FieldTest& test) {
  const std::string have = field_text(job, read, test.field);
  return std::all_of(test.tests.begin(), test.tests.end(), [&](const ValueTest& demand) {
    if (demand.op != Operator::SameAs) return passes(test.field.type, have, demand);
    return equal(test.field.type, have, field_text(job, read, demand.other));
  });
}

}  // namespace

HeaderField parse_header_field(std::string_view name) {
  for (const NamedField& field : kHeaderFields) {
    if (field.name == name) return field.field;
  }
  return HeaderField::None;
}

std::vector<std::string_view> header_field_names() {
  std::vector<std::string_view> names;
  for (const NamedField& field : kHeaderFields) names.push_back(field.name);
  return names;
}

std::string field_text(const Job& job, const ReadRecord& read, const FieldRef& field) {
  if (!field.group.empty()) return captured_text(read, field);
  if (field.header != HeaderField::None) return header_text(job, read, field.header);
  return std::string(read.message.fields[field.index]);
}

bool passes(const Job& job, const ReadRecord& read, const std::vector<FieldTest>& tests) {
  return std::all_of(tests.begin(), tests.end(),
                     [&](const FieldTest& test) { return passes(job, read, test); });
}

bool passes(const FactValue& value, const std::vector<ValueTest>& tests) {
  const bool is_number = std::holds_alternative<int64_t>(value.value);
  std::string have = fact_text(value);
  if (const bool* yes = std::get_if<bool>(&value.value)) have = *yes ? "true" : "false";
  return std::all_of(tests.begin(), tests.end(), [&](const ValueTest& test) {
    return passes(is_number ? FieldType::Integer : FieldType::Text, have, test);
  });
}

}  // namespace ncclog
