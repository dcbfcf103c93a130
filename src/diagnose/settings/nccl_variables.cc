#include "diagnose/settings/nccl_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "base/collectives.h"
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

using Fault = std::optional<ValueFault>;

constexpr size_t kLongestNumber = 64;  ///< Of a value, what is copied to be read as one.

bool is_word_of(std::string_view word, std::string_view values, bool any_case) {
  const auto words = split(values, '|');
  return std::ranges::any_of(words, [&](std::string_view each) {
    return any_case ? upper_case(each) == upper_case(word) : each == word;
  });
}

Fault outside(int64_t number, std::string_view range) {
  const size_t dots = range.find("..");
  if (dots == range.npos) return std::nullopt;
  const int64_t low = parse_int(range.substr(0, dots)).value_or(INT64_MIN);
  const int64_t high = parse_int(range.substr(dots + 2)).value_or(INT64_MAX);
  if (number >= low && number <= high) return std::nullopt;
  return ValueFault{false, fmt::format("is outside of what it may be, {} to {}", low, high), ""};
}

Fault judge_number(const NcclVariable& variable, std::string_view value) {
  if (value == "18446744073709551615") return std::nullopt;
  const std::string copy(value.substr(0, kLongestNumber));
  char* end = nullptr;
  errno = 0;
  const int64_t number = std::strtoll(copy.c_str(), &end, 0);
  const bool is_too_large = errno == ERANGE;
  if (end == copy.c_str()) {
    if (is_word_of(value, "FALSE|NO|OFF|N", true)) return std::nullopt;
    return ValueFault{false, "is not a number, so NCCL reads it as 0",
                      is_word_of(value, "TRUE|YES|ON|Y", true) ? "write 1" : "write a number"};
  }
  if (is_too_large) {
    return ValueFault{
        false, fmt::format("is too large, so NCCL uses the default {}", variable.fallback), ""};
  }
  if (!trim(value.substr(static_cast<size_t>(end - copy.c_str()))).empty()) {
    return ValueFault{false,
                      fmt::format("is read as {}: what follows the number is ignored", number),
                      "write the number in full, without unit or comment"};
  }
  Fault fault = outside(number, variable.values);
  if (fault && variable.name == "NCCL_IB_TIMEOUT") {
    fault->hint = "the value is an exponent, 4.096 µs × 2^value: 22 is 17 seconds";
  }
  return fault;
}

Fault judge_decimal(const NcclVariable& variable, std::string_view value) {
  const std::string copy(value.substr(0, kLongestNumber));
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  const bool is_whole = end != copy.c_str() && *end == '\0';
  if (is_whole && std::isfinite(number) && number > 0) return std::nullopt;
  return ValueFault{false,
                    fmt::format("is no number above 0, and NCCL 2.31.2 and later use {} instead",
                                variable.fallback),
                    "write a number without unit or comment"};
}

Fault judge_power(const NcclVariable& variable, std::string_view value) {
  if (Fault fault = judge_number(variable, value)) return fault;
  const int64_t number = read_number(value);
  if (number <= 0 || (number & (number - 1)) == 0) return std::nullopt;
  return ValueFault{false, "is ignored because it is no power of two", ""};
}

/// "did you mean 'X'?", else the words that there are.
std::string hint_for(std::string_view word, std::string_view values) {
  const auto words = split(values, '|');
  const std::string wanted = upper_case(trim(word));
  std::vector<std::string> upper;
  for (const std::string_view each : words) upper.push_back(upper_case(each));
  const std::vector<std::string_view> views(upper.begin(), upper.end());
  if (const auto nearest = nearest_name(wanted, views)) {
    const auto at = std::ranges::find(views, *nearest) - views.begin();
    return fmt::format("did you mean {}?", words[static_cast<size_t>(at)]);
  }
  return fmt::format("it may be {}", fmt::join(words, ", "));
}

Fault judge_word(const NcclVariable& variable, std::string_view value) {
  if (is_word_of(value, variable.values, variable.kind() == ValueKind::AnyCaseWord)) return {};
  return ValueFault{false, "is none of the words that NCCL knows here, so it is ignored",
                    hint_for(value, variable.values)};
}

Fault judge_word_list(const NcclVariable& variable, std::string_view value) {
  if (value.starts_with('^')) value.remove_prefix(1);
  for (const std::string_view word : split(value, ',')) {
    if (word.empty() || is_word_of(word, variable.values, true)) continue;
    return ValueFault{false,
                      fmt::format("holds '{}', which NCCL does not know: it ignores that word, or "
                                  "from 2.30.7 on all of them",
                                  word),
                      hint_for(word, variable.values)};
  }
  return std::nullopt;
}

/// Parts of "ring;allreduce:tree,ring": names, and whether they are of one function only.
struct ChoicePart {
  std::string_view function;  ///< Empty: of all.
  bool excludes = false;
  std::vector<std::string_view> names;
};

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

/// The functions whose algorithm can be chosen, between '|'.
std::string tuned_functions() {
  std::vector<std::string_view> names;
  for (const OperationTraits& operation : kOperations) {
    if (operation.has_kernel()) names.push_back(operation.name);
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

Fault judge_choice(const NcclVariable& variable, std::string_view value) {
  static const std::string kFunctions = tuned_functions();
  bool first = true;
  for (const ChoicePart& part : choice_parts(value)) {
    if (!part.function.empty() && !is_word_of(part.function, kFunctions, true)) {
      return ValueFault{
          true,
          fmt::format("names the function '{}', which NCCL does not know here", part.function),
          hint_for(part.function, kFunctions)};
    }
    if (!first && part.function.empty() && !part.names.empty()) {
      return ValueFault{true, "has a second list without a function in front of it",
                        "write it like ring;allreduce:tree,ring"};
    }
    first = false;
    for (const std::string_view name : part.names) {
      if (is_word_of(name, variable.values, true)) continue;
      return ValueFault{
          true, fmt::format("holds '{}', which NCCL does not know: the initialisation fails", name),
          hint_for(name, variable.values)};
    }
  }
  return std::nullopt;
}

Fault judge_level(const NcclVariable& variable, std::string_view value) {
  // XGMI is what builds of RCCL call NVL (src/graph/topo.cc, topoPathTypeStr).
  std::string levels = "LOC|NVL|XGMI|NVB|C2C|PIX|PXB|P2C|PXN|PHB|SYS";
  if (!variable.values.empty()) levels += fmt::format("|{}", variable.values);
  if (is_digit(value.front()) || is_word_of(value, levels, false)) return std::nullopt;
  const bool lower = is_word_of(value, levels, true);
  return ValueFault{false, "is no distance that NCCL knows, so it is ignored",
                    lower ? fmt::format("write it in upper case: {}", upper_case(value))
                          : "it may be LOC, NVL, PIX, PXB, PHB or SYS"};
}

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

std::optional<ValueFault> judge_value(const NcclVariable& variable, std::string_view value) {
  // In the order of ValueKind; of the kinds after these any value will do.
  constexpr Fault (*kJudges[])(const NcclVariable& variable, std::string_view value) = {
      judge_number, judge_decimal,   judge_power,  judge_word,
      judge_word,   judge_word_list, judge_choice, judge_level};
  const auto kind = static_cast<size_t>(variable.kind());
  if (value.empty() || kind >= std::size(kJudges)) return std::nullopt;
  return kJudges[kind](variable, value);
}

int64_t read_number(std::string_view value) {
  if (value == "18446744073709551615") return -1;
  return std::strtoll(std::string(value.substr(0, kLongestNumber)).c_str(), nullptr, 0);
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
