#include "rules/version_range.h"

#include <algorithm>

#include "base/text.h"
#include "diagnose/facts/job_facts.h"

namespace ncclog {
namespace {

struct NamedOperator {
  std::string_view text;
  VersionBound::Operator op;
};

/// Longer ones first: ">=" begins like ">".
constexpr NamedOperator kOperators[] = {
    {">=", VersionBound::Operator::AtLeast}, {"<=", VersionBound::Operator::AtMost},
    {"==", VersionBound::Operator::Equal},   {"!=", VersionBound::Operator::NotEqual},
    {">", VersionBound::Operator::Greater},  {"<", VersionBound::Operator::Less},
    {"", VersionBound::Operator::Equal},
};

std::optional<VersionBound> parse_bound(std::string_view text) {
  VersionBound bound;
  for (const NamedOperator& named : kOperators) {
    if (!text.starts_with(named.text)) continue;
    bound.op = named.op;
    text.remove_prefix(named.text.size());
    break;
  }
  for (const std::string_view part : split(text, '.')) {
    constexpr int64_t kMaxPart = 1'000'000;
    const auto number = parse_int(part);
    if (!number || *number < 0 || *number > kMaxPart || !is_digit(part.front())) {
      return std::nullopt;
    }
    bound.parts.push_back(static_cast<int>(*number));
  }
  return bound;
}

bool holds(const VersionBound& bound, std::vector<int> parts) {
  parts.resize(bound.parts.size());
  const auto order = parts <=> bound.parts;
  switch (bound.op) {
    case VersionBound::Operator::Equal:
      return order == 0;
    case VersionBound::Operator::NotEqual:
      return order != 0;
    case VersionBound::Operator::Less:
      return order < 0;
    case VersionBound::Operator::AtMost:
      return order <= 0;
    case VersionBound::Operator::Greater:
      return order > 0;
    case VersionBound::Operator::AtLeast:
      return order >= 0;
  }
  return false;
}

}  // namespace

std::optional<std::vector<VersionBound>> parse_version_bounds(std::string_view text) {
  std::vector<VersionBound> bounds;
  for (const std::string_view word : split_blanks(text)) {
    const auto bound = parse_bound(word);
    if (!bound) return std::nullopt;
    bounds.push_back(*bound);
  }
  if (bounds.empty()) return std::nullopt;
  return bounds;
}

std::optional<bool> contains(const VersionRange& range, std::string_view version) {
  const std::vector<int> parts = version_parts(version);
  if (parts.empty()) return std::nullopt;
  return std::any_of(range.alternatives.begin(), range.alternatives.end(), [&](const auto& bounds) {
    return std::all_of(bounds.begin(), bounds.end(),
                       [&](const VersionBound& bound) { return holds(bound, parts); });
  });
}

}  // namespace ncclog
