#include "diagnose/settings/nccl_variables.h"

#include <cstdlib>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr NcclVariable kVariables[] = {
#include "diagnose/settings/nccl_variables.inc"
};

static_assert(std::ranges::is_sorted(kVariables, {}, &NcclVariable::name));
static_assert(std::ranges::max(kVariables, {}, &NcclVariable::kind).kind() <= ValueKind::Text,
              "a kind that there is not");

constexpr OtherVariable kOthers[] = {
#include "diagnose/settings/other_variables.inc"
};

/// A line of setting_traits.table.
struct TraitRow {
  std::string_view name;
  std::string_view trait;
};

constexpr TraitRow kTraits[] = {
#include "diagnose/settings/setting_traits.inc"
};

}  // namespace

bool fits_name(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  if (star + 1 == pattern.size()) return true;
  for (size_t rest = star; rest < name.size(); ++rest) {
    if (fits_name(pattern.substr(star + 1), name.substr(rest))) return true;
  }
  return false;
}

std::span<const NcclVariable> nccl_variables() { return kVariables; }

const NcclVariable* find_nccl_variable(std::string_view name) {
  const auto* found = std::ranges::lower_bound(kVariables, name, {}, &NcclVariable::name);
  return found != std::end(kVariables) && found->name == name ? found : nullptr;
}

bool has_trait(std::string_view name, std::string_view trait) {
  return std::ranges::any_of(kTraits, [&](const TraitRow& each) {
    return each.trait == trait && fits_name(each.name, name);
  });
}

std::span<const OtherVariable> other_variables() { return kOthers; }

const OtherVariable* find_other_variable(std::string_view name) {
  const OtherVariable* family = nullptr;
  for (const OtherVariable& other : kOthers) {
    if (other.name == name) return &other;
    if (family == nullptr && fits_name(other.name, name)) family = &other;
  }
  return family;
}

bool is_rccl_variable(std::string_view name) {
  const OtherVariable* other = find_other_variable(name);
  return other != nullptr && other->reader == "RCCL";
}

int64_t read_number(std::string_view value) {
  if (value == "18446744073709551615") return -1;
  return std::strtoll(std::string(value.substr(0, kLongestNumber)).c_str(), nullptr, 0);
}

std::vector<ChoicePart> choice_parts(std::string_view value) {
  std::vector<ChoicePart> parts;
  for (std::string_view text : split(value, ';')) {
    ChoicePart part;
    if (const size_t colon = text.find(':'); colon != text.npos) {
      part.function = text.substr(0, colon);
      text = text.substr(colon + 1);
    }
    part.excludes = text.starts_with('^');
    if (part.excludes) text.remove_prefix(1);
    for (const std::string_view name : split(text, ',')) {
      if (!name.empty()) part.names.push_back(name);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<std::string> admitted_choices(const NcclVariable& variable, std::string_view value) {
  std::vector<std::string> admitted;
  for (const ChoicePart& part : choice_parts(value)) {
    for (const std::string_view each : split(variable.values, '|')) {
      const bool named = std::ranges::any_of(
          part.names, [&](std::string_view name) { return upper_case(name) == upper_case(each); });
      if (named != part.excludes) admitted.push_back(upper_case(each));
    }
  }
  return admitted;
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

NameFilter parse_name_filter(std::string_view text) {
  NameFilter filter;
  if (text.starts_with('^')) filter.excludes = true, text.remove_prefix(1);
  if (text.starts_with('=')) filter.exact = true, text.remove_prefix(1);
  // NCCL's list reader skips one more of these signs itself.
  if (text.starts_with('^') || text.starts_with('=')) text.remove_prefix(1);
  for (const std::string_view part : split(text, ',')) {
    const size_t colon = part.find(':');
    const std::string_view name = part.substr(0, colon);
    if (name.empty()) continue;
    // As NCCL reads it; more digits than these would be no port.
    const std::string digits(colon == part.npos ? "-1" : part.substr(colon + 1, 6));
    filter.entries.push_back({name, std::atoi(digits.c_str())});
  }
  return filter;
}

bool speaks_of(const NameFilter& filter, const FilterEntry& entry, std::string_view name,
               int port) {
  const bool named = filter.exact ? name == entry.name : name.starts_with(entry.name);
  return named && (port < 0 || entry.port < 0 || port == entry.port);
}

bool admits(const NameFilter& filter, std::string_view name, int port) {
  if (filter.entries.empty()) return true;
  const bool matched = std::ranges::any_of(filter.entries, [&](const FilterEntry& entry) {
    return speaks_of(filter, entry, name, port);
  });
  return matched != filter.excludes;
}

}  // namespace ncclog
