#include "report/anonymise.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/letters.h"
#include "base/text.h"
#include "report/known_names.h"
#include "report/path_parts.h"
#include "report/pseudonyms.h"
#include "report/unescape.h"

namespace ncclog {
namespace {

/// True if the name is one wherever it stands, without anything that announces it.
bool is_replaced_everywhere(IdentityKind kind, std::string_view name) {
  switch (kind) {
    case IdentityKind::Lid:
      return false;
    case IdentityKind::JobNumber:
      return name.size() >= 6;
    case IdentityKind::User:
    case IdentityKind::Name:
      return name.size() >= 3 && !is_known_component(name);
    case IdentityKind::Folder:
    case IdentityKind::File:
      return is_telling_name(name);
    default:
      return name.size() >= 2;
  }
}

}  // namespace

Anonymiser::Anonymiser(Identities identities)
    : identities_(std::move(identities)), addresses_(identities_.addresses()) {
  addresses_.assign();
  std::set<std::string> chosen;
  for (const auto& [kind, values] : identities_.values()) assign(kind, chosen);
  for (const auto& [printed, replacement] : addresses_.all()) chosen.insert(replacement);
  for (const auto& [name, replaced] : replacements_) {
    if (!is_replaced_everywhere(replaced.kind, replaced.original)) continue;
    words_.add(replaced.original, replaced.replacement);
    if (!chosen.contains(name)) leaks_.add(replaced.original, replaced.replacement);
  }
  for (const auto& [printed, replacement] : addresses_.all()) {
    words_.add(printed, replacement);
    if (!chosen.contains(printed)) leaks_.add(printed, replacement);
  }
}

void Anonymiser::assign(IdentityKind kind, std::set<std::string>& chosen) {
  const auto& values = identities_.values();
  const std::set<std::string>& found = values.at(kind);
  std::vector<std::string> originals(found.begin(), found.end());
  std::stable_sort(originals.begin(), originals.end(),
                   [](const auto& a, const auto& b) { return lower_case(a) < lower_case(b); });
  // Short numbers come round again: the 1st and the 1001st of four digits are both 1001.
  const auto is_taken = [&](const std::string& candidate) {
    if (chosen.contains(lower_case(candidate))) return true;
    return std::any_of(values.begin(), values.end(),
                       [&](const auto& others) { return others.second.contains(candidate); });
  };
  size_t number = 0;
  for (const std::string& original : originals) {
    if (replacements_.contains(lower_case(original))) continue;
    std::string replacement;
    do {
      replacement = make_pseudonym(kind, original, ++number, originals.size());
    } while (kind != IdentityKind::Lid && is_taken(replacement));
    chosen.insert(lower_case(replacement));
    replacements_[lower_case(original)] = {kind, original, std::move(replacement)};
  }
}

const std::string* Anonymiser::known(std::string_view original) const {
  const auto found = replacements_.find(lower_case(original));
  return found == replacements_.end() ? nullptr : &found->second.replacement;
}

void Anonymiser::append_path(std::string& out, std::string_view text,
                             const FoundIdentity& found) const {
  size_t at = found.begin;
  for (const FoundIdentity& part : private_parts(text.substr(found.begin, found.length))) {
    const size_t begin = found.begin + part.begin;
    words_.append_replaced(out, text, at, begin);
    at = begin + part.length;
    const std::string* replacement = known(text.substr(begin, part.length));
    if (replacement != nullptr) {
      out += *replacement;
    } else {
      words_.append_replaced(out, text, begin, at);
    }
  }
  words_.append_replaced(out, text, at, found.begin + found.length);
}

void Anonymiser::append(std::string& out, std::string_view text, const FoundIdentity& found) const {
  const std::string_view value = text.substr(found.begin, found.length);
  if (found.kind == IdentityKind::Path) return append_path(out, text, found);
  if (found.kind == IdentityKind::Address) {
    if (const auto replacement = addresses_.replacement(value)) {
      out += *replacement;
      return;
    }
  } else if (const std::string* replacement = known(value)) {
    out += *replacement;
    return;
  }
  words_.append_replaced(out, text, found.begin, found.begin + found.length);
}

std::string Anonymiser::text(std::string_view text) const {
  const std::vector<FoundIdentity> all = find_identities(text, identities_.hosts());
  std::string out;
  out.reserve(text.size());
  auto found = all.begin();
  for (size_t at = 0; at < text.size();) {
    while (found != all.end() && found->begin < at) ++found;
    const bool begins = found != all.end() && found->begin == at;
    const WordReplacer::Hit hit = words_.find(text, at);
    if (begins && found->length >= hit.length) {
      append(out, text, *found);
      at += found->length;
    } else if (hit.length > 0) {
      out += hit.replacement;
      at += hit.length;
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string Anonymiser::path(std::string_view relative) const {
  std::string out;
  for (const std::string_view part : split(relative, '/')) {
    if (!out.empty()) out += '/';
    const std::string* replacement = known(part);
    out += replacement != nullptr ? *replacement : text(part);
  }
  return out;
}

std::vector<Replacement> Anonymiser::mapping() const {
  std::vector<Replacement> all;
  for (const auto& [name, replaced] : replacements_) all.push_back(replaced);
  for (const auto& [printed, replacement] : addresses_.all()) {
    all.push_back({IdentityKind::Address, printed, replacement});
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::string Anonymiser::search_leak(std::string_view text) const {
  for (size_t at = 0; at + 1 < text.size(); ++at) {
    const WordReplacer::Hit hit = leaks_.find(text, at);
    if (hit.length > 0) return std::string(hit.word);
  }
  return {};
}

std::string Anonymiser::find_leak(std::string_view text) const {
  struct Writing {
    char mark;
    std::string (*undo)(std::string_view text);
  };
  constexpr Writing kWritings[] = {
      {'%', without_percent_escapes}, {'\\', without_backslashes}, {'&', without_entities}};
  std::string leak = search_leak(text);
  for (const auto& [mark, undo] : kWritings) {
    if (leak.empty() && text.find(mark) != text.npos) leak = search_leak(undo(text));
  }
  return leak;
}

}  // namespace ncclog
