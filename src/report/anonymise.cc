#include "report/anonymise.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "report/identity_values.h"
#include "report/known_names.h"

namespace ncclog {
namespace {

/// Calls `use` with each line of `text`, without its line end, and where it begins.
template <typename Use>
void each_line(std::string_view text, Use&& use) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = std::min(text.find('\n', begin), text.size());
    size_t end = newline;
    if (end > begin && text[end - 1] == '\r') --end;
    use(text.substr(begin, end - begin), begin);
    begin = newline + 1;
  }
}

// What names are gathered.

/// `component` without the names of hosts that it contains.
std::string without_hosts(std::string_view component, const KnownHosts& hosts) {
  std::string rest = lower_case(component);
  for (const FoundIdentity& found : find_identities(component, hosts)) {
    for (size_t i = 0; i < found.length; ++i) rest[found.begin + i] = '-';
  }
  for (const std::string& host : hosts.names) {
    for (size_t at = rest.find(host); at != rest.npos; at = rest.find(host, at)) {
      rest.replace(at, host.size(), host.size(), '-');
    }
  }
  return rest;
}

bool is_ipv4(std::string_view text) {
  const auto address = parse_address_bits(text);
  return address && address->bits == 32;
}

// What stands in for a name.

bool is_container_name(std::string_view host) {
  return host.size() == 12 && std::all_of(host.begin(), host.end(), is_hex_digit);
}

/// "a" to "z", "aa" and so on.
std::string letters(size_t number) {
  std::string text;
  for (; number > 0; number = (number - 1) / 26) {
    text.insert(text.begin(), static_cast<char>('a' + (number - 1) % 26));
  }
  return text;
}

size_t digits_of(size_t count) { return fmt::formatted_size("{}", count); }

std::string host_name(std::string_view original, size_t number, size_t count) {
  if (is_container_name(original)) return fmt::format("c0de{:08x}", number);
  const bool has_digit = std::any_of(original.begin(), original.end(), is_digit);
  return has_digit ? fmt::format("host-{:0{}}", number, digits_of(count))
                   : "host-" + letters(number);
}

/// Other digits at the places of the digits: 02, zeros, the number.
std::string hexadecimal(std::string_view original, size_t number) {
  const auto digits =
      static_cast<size_t>(std::count_if(original.begin(), original.end(), is_hex_digit));
  std::string value = fmt::format("{:0{}x}", number, digits);
  value = value.substr(value.size() - digits);
  if (digits >= 6) value[1] = '2';
  std::string text(original);
  size_t at = 0;
  for (char& c : text) {
    if (is_hex_digit(c)) c = value[at++];
  }
  return text;
}

std::string decimal(std::string_view original, size_t number) {
  std::string value = fmt::format("{:0{}}", number, original.size());
  value[0] = '1';
  return value;
}

/// ".py" of "x.py", if it says nothing; else empty.
std::string_view ending_of(std::string_view file) {
  const size_t dot = file.rfind('.');
  if (dot == file.npos || !is_known_component(file.substr(dot + 1))) return {};
  return file.substr(dot);
}

/// The replacement for `original`, the `number`th (from 1) of `count` of its kind.
std::string make_pseudonym(IdentityKind kind, std::string_view original, size_t number,
                           size_t count) {
  switch (kind) {
    case IdentityKind::Host:
      return host_name(original, number, count);
    case IdentityKind::Guid:
    case IdentityKind::Hardware:
      return hexadecimal(original, number);
    case IdentityKind::JobNumber:
      return decimal(original, number);
    case IdentityKind::Lid:
      return fmt::format("{}", number);
    case IdentityKind::Domain:
      return fmt::format("domain-{}.example", number);
    case IdentityKind::Email:
      return fmt::format("mail-{}@domain.example", number);
    case IdentityKind::File:
      return fmt::format("file-{}{}", number, ending_of(original));
    default:
      return fmt::format("{}-{}", to_string(kind), number);
  }
}

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

/// Characters of which names consist, and the values that name somebody.
bool is_value_char(char c) {
  return is_alnum(c) || std::string_view("-_.:@/+~=").find(c) != std::string_view::npos;
}

/// Whether so much of a piece stands before `next`, where another name begins, that it counts.
bool is_enough(const TornPart& part, size_t next) {
  const size_t shortest = part.is_front ? TornNames::kShortestPart : part.length;
  return part.begin + std::min(shortest, part.length) <= next;
}

}  // namespace

void Identities::add(IdentityKind kind, std::string_view value) {
  if (!value.empty()) values_[kind].emplace(value);
}

void Identities::add_host_name(std::string_view host) {
  const bool is_number = host.find_first_not_of("0123456789") == host.npos;
  if (!is_plain_word(host) && !is_number) add(IdentityKind::Host, host);
}

void Identities::add_host(std::string_view host) {
  if (is_ipv4(host) || host.find(':') != host.npos) return add_address(host);
  hosts_.add(host);
  const size_t dot = host.find('.');
  add_host_name(host.substr(0, dot));
  if (dot != host.npos && !is_public_domain(host)) {
    add(IdentityKind::Domain, host.substr(dot + 1));
  }
}

void Identities::read(std::string_view text) {
  each_line(text, [this](std::string_view line, size_t) { read_line(line); });
}

void Identities::read_line(std::string_view text) {
  for (const FoundIdentity& found : find_identities(text, hosts_)) {
    const std::string_view value = text.substr(found.begin, found.length);
    if (found.kind == IdentityKind::Address) {
      addresses_.add(value);
    } else if (found.kind == IdentityKind::Path) {
      for (const FoundIdentity& part : private_parts(value)) {
        add(part.kind, value.substr(part.begin, part.length));
      }
    } else if (found.kind != IdentityKind::Name || !is_known_component(value)) {
      add(found.kind, value);
    }
  }
}

void Identities::read_path(std::string_view relative) {
  read(relative);
  const auto parts = split(relative, '/');
  for (size_t i = 0; i < parts.size(); ++i) {
    if (is_known_component(without_hosts(parts[i], hosts_))) continue;
    add(i + 1 == parts.size() ? IdentityKind::File : IdentityKind::Folder, parts[i]);
  }
}

Anonymiser::Anonymiser(Identities identities)
    : identities_(std::move(identities)), addresses_(identities_.addresses()) {
  addresses_.assign();
  std::set<std::string> chosen;
  for (const auto& [kind, values] : identities_.values()) assign(kind, chosen);
  for (const auto& [printed, replacement] : addresses_.all()) chosen.insert(replacement);
  for (const auto& [name, replaced] : replacements_) {
    if (is_replaced_everywhere(replaced.kind, replaced.original))
      add_word(replaced.original, replaced.replacement, chosen);
  }
  for (const auto& [printed, replacement] : addresses_.all())
    add_word(printed, replacement, chosen);
  words_.set_ordinary_words(identities_.ordinary_words());
  torn_.finish();
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

void Anonymiser::add_word(const std::string& name, const std::string& replacement,
                          const std::set<std::string>& chosen) {
  words_.add(name, replacement);
  torn_.add(name, replacement);
  std::string lower = lower_case(name);
  if (!chosen.contains(lower)) unmistakable_.insert(std::move(lower));
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

void Anonymiser::append_line(std::string& out, std::string_view line) const {
  const std::vector<FoundIdentity> all = find_identities(line, identities_.hosts());
  const std::vector<TornPart> parts = torn_.find(line, identities_.ordinary_words());
  auto found = all.begin();
  auto part = parts.begin();
  for (size_t at = 0; at < line.size();) {
    while (found != all.end() && found->begin < at) ++found;
    while (part != parts.end() && part->begin < at) ++part;
    const size_t next = found == all.end() ? line.size() : found->begin;
    const WordReplacer::Hit hit = words_.find(line, at);
    if (next == at && found->length >= hit.length) {
      append(out, line, *found);
      at += found->length;
    } else if (hit.length > 0) {
      out += hit.replacement;
      at += hit.length;
    } else if (part != parts.end() && part->begin == at && is_enough(*part, next)) {
      out += part->replacement_part();
      at = std::min(at + part->length, next);
    } else {
      out += line[at++];
    }
  }
}

Anonymiser::BrokenName Anonymiser::broken_name(std::string_view before,
                                               std::string_view after) const {
  constexpr size_t kLongest = 64;
  constexpr size_t kShortest = TornNames::kShortestPart + 1;
  size_t front = before.size();
  while (front > 0 && before.size() - front < kLongest && is_value_char(before[front - 1])) --front;
  size_t back = 0;
  while (back < after.size() && back < kLongest && is_value_char(after[back])) ++back;
  if (front == before.size() || back == 0) return {};
  const std::string joined = std::string(before.substr(front)) + std::string(after.substr(0, back));
  const size_t seam = before.size() - front;
  for (size_t at = 0; at < seam; ++at) {
    const WordReplacer::Hit hit = words_.find(joined, at);
    if (at + hit.length <= seam) {
      if (hit.length > 0) at += hit.length - 1;
      continue;
    }
    const std::string_view left = std::string_view(joined).substr(at, seam - at);
    const std::string_view right = std::string_view(joined).substr(seam, at + hit.length - seam);
    // 10.1.2.4 in front of a line "1: …" is no 10.1.2.41, nor is "each node", "12 of them" a
    // node12.
    const bool is_whole = words_.find(left, 0).length == left.size();
    const bool may_be_count =
        is_plain_word(left) && is_number(right) && after.substr(right.size(), 1) != ":";
    if (hit.length >= kShortest && !is_whole && !may_be_count)
      return {left.size(), right.size(), hit.replacement};
  }
  return {};
}

std::string Anonymiser::text(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  size_t written = 0;
  BrokenName broken;  // At the end of the line before.
  each_line(text, [&](std::string_view line, size_t begin) {
    out += text.substr(written, begin - written);
    size_t from = 0;
    if (broken.before > 0) {
      from = broken.after;
      out += broken.replacement.substr(std::min(broken.before, broken.replacement.size()));
    }
    const size_t end = begin + line.size();
    const size_t next = std::min(text.find('\n', end), text.size() - 1) + 1;
    broken = broken_name(line.substr(from), text.substr(next, text.find('\n', next) - next));
    append_line(out, line.substr(from, line.size() - from - broken.before));
    if (broken.before > 0) {
      out += broken.replacement.substr(0, std::min(broken.before, broken.replacement.size()));
    }
    written = end;
  });
  return out += text.substr(std::min(written, text.size()));
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

}  // namespace ncclog
