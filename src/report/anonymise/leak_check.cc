#include "report/anonymise/leak_check.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <utility>

#include "base/text.h"
#include "report/anonymise/address_map.h"

namespace ncclog {
namespace {

/// A row of leak_looks.table, which says what its columns are.
struct Look {
  std::string_view pattern;
  std::string_view why;
  std::string_view known;
};

constexpr Look kLooks[] = {
#include "report/anonymise/leak_looks.inc"
};

/// Names that are everybody's, and addresses that every host has.
bool is_nobody(std::string_view name) {
  if (is_plain_word(name)) return true;
  // What replaces names is made of these.
  constexpr std::string_view kReplacements =
      "host- domain- .example mail- @ user- name- job- folder- file- hardware- guid- secret- c0de "
      "fe80";
  if (kReplacements.find(lower_case(name)) != kReplacements.npos) return true;
  if (name.find_first_not_of("0:-") == name.npos || name.find_first_not_of("fF:-") == name.npos)
    return true;
  AddressMap addresses;
  return parse_address_bits(name) && !addresses.add(name);
}

}  // namespace

LeakCheck::LeakCheck(const OrdinaryWords& ordinary, const std::set<std::string>& replaced)
    : ordinary_(ordinary) {
  names_.set_ordinary_words(ordinary);
  for (const std::string& name : replaced) add(name, "was replaced elsewhere");
}

void LeakCheck::add(std::string_view name, std::string_view why) {
  names_.add(lower_case(name), why);
}

void LeakCheck::set_own_pages(std::string_view pages) { own_pages_ = lower_case(pages); }

void LeakCheck::read(std::string_view text) {
  static const std::vector<std::unique_ptr<RE2>> kPatterns = [] {
    std::vector<std::unique_ptr<RE2>> patterns;
    for (const Look& look : kLooks) patterns.push_back(byte_pattern(std::string(look.pattern)));
    return patterns;
  }();
  for (size_t i = 0; i < kPatterns.size(); ++i) {
    const std::string_view why = kLooks[i].why;
    re2::StringPiece rest(text.data(), text.size());
    re2::StringPiece found;
    while (RE2::FindAndConsume(&rest, *kPatterns[i], &found)) {
      std::string_view name(found.data(), found.size());
      while (!name.empty() && !is_alnum(name.back())) name.remove_suffix(1);
      const bool has_letter = std::ranges::any_of(name, is_alpha);
      const bool tells = has_letter ? name.size() >= 3 : has_digit(name);
      if (!tells || is_nobody(name) || ordinary_.contains(lower_case(name))) continue;
      if (why == "was a secret" && !(has_digit(name) && has_letter)) continue;
      // A job called "nccl-tests" stays one.
      if (!kLooks[i].known.empty() && is_known_component(name)) continue;
      // "host=memory" names nobody.
      if (why.starts_with("stood") && !has_digit(name) && name.find_first_of("-.") == name.npos)
        continue;
      add(name, why);
    }
  }
}

/// The first name in `line`, without its place; empty: none.
Leak LeakCheck::find_in(std::string_view line, bool is_own) const {
  constexpr size_t kTelling = 4;
  const std::string lower = lower_case(line);
  for (size_t at = 0; at < lower.size(); ++at) {
    const FoundName hit = names_.find(lower, at);
    const std::string_view name = std::string_view(lower).substr(at, hit.length);
    const bool may_be_own = name.size() < kTelling || std::ranges::all_of(name, is_alpha) ||
                            own_pages_.find(name) != own_pages_.npos;
    if (hit.length > 0 && !(is_own && may_be_own))
      return {"", std::string(name), std::string(hit.replacement)};
  }
  return {};
}

std::vector<Leak> LeakCheck::find(std::string_view path, std::string_view text, bool is_own) const {
  std::vector<Leak> leaks;
  const auto look_at = [&](const std::string& place, std::string_view line) {
    Leak leak = find_in(line, is_own);
    for (const char mark : {'%', '\\', '&'}) {
      if (leak.name.empty() && line.find(mark) != line.npos)
        leak = find_in(unescaped(line, mark), is_own);
    }
    if (leak.name.empty()) return;
    leak.place = place;
    leaks.push_back(std::move(leak));
  };
  look_at(std::string(path), path);
  size_t number = 0;
  for (size_t begin = 0; begin < text.size() && leaks.size() < kMost;) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    look_at(fmt::format("{}:{}", path, ++number), text.substr(begin, end - begin));
    begin = end + 1;
  }
  return leaks;
}

std::string unescaped(std::string_view text, char mark) {
  constexpr std::pair<std::string_view, char> kNames[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  // Group 1 is a number in hexadecimal digits, group 2 one in decimal digits, group 3 the name of a
  // character or itself.
  static const auto kPercent = byte_pattern("%([0-9a-fA-F]{2})()()");
  static const auto kBackslash = byte_pattern(R"(\\(?:u([0-9a-fA-F]{4})|()(\W)))");
  static const auto kEntity =
      byte_pattern("&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));");
  const RE2& escape = mark == '%' ? *kPercent : mark == '&' ? *kEntity : *kBackslash;
  std::string out;
  const re2::StringPiece all(text.data(), text.size());
  re2::StringPiece groups[4];
  size_t at = 0;
  while (escape.Match(all, at, text.size(), RE2::UNANCHORED, groups, 4)) {
    const auto begin = static_cast<size_t>(groups[0].data() - text.data());
    out += text.substr(at, begin - at);
    at = begin + groups[0].size();
    const std::string_view name(groups[3].data(), groups[3].size());
    if (name.empty()) {
      const bool is_hex = !groups[1].empty();
      const re2::StringPiece& digits = groups[is_hex ? 1 : 2];
      uint32_t code = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hex ? 16 : 10);
      append_utf8(out, code);
    } else {
      const auto known = std::ranges::find(kNames, name, &std::pair<std::string_view, char>::first);
      out += known == std::end(kNames) ? name[0] : known->second;
    }
  }
  return out += text.substr(at);
}

}  // namespace ncclog
