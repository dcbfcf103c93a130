#include "report/anonymise/anonymise.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

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

bool all_hex(std::string_view text) { return std::ranges::all_of(text, is_hex_digit); }

// Names wherever they stand.

constexpr size_t kLongName = 4;  ///< From here on found inside of words, and in any case.

std::string key_of(std::string_view word) {
  return word.size() < kLongName ? std::string(word) : lower_case(word);
}

/// The first two bytes at `at`, in lower case.
uint16_t start_of(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(lower_case(text[at]));
  const auto second = static_cast<unsigned char>(lower_case(text[at + 1]));
  return static_cast<uint16_t>(first << 8 | second);
}

/// Whether text[at, at + length) is a name, as WordReplacer says.
bool is_name_at(std::string_view text, size_t at, size_t length, const OrdinaryWords& ordinary) {
  constexpr size_t kSurelyNoNumber = 8;  // Hexadecimal digits that are a name of their own.
  const std::string_view name = text.substr(at, length);
  size_t begin = at, end = at + length;
  const char before = begin > 0 ? text[begin - 1] : ' ';
  const char after = end < text.size() ? text[end] : ' ';
  const bool joins_before = is_alnum(before) && is_alnum(name.front());
  const bool joins_after = is_alnum(after) && is_alnum(name.back());
  if (!joins_before && !joins_after) return true;
  if (length < kLongName) return false;
  // "gpu-n412" is another host than gpu-n41.
  if (joins_before && is_digit(before) && is_digit(name.front())) return false;
  if (joins_after && is_digit(after) && is_digit(name.back())) return false;
  if (length < kSurelyNoNumber && all_hex(name) && (is_hex_digit(before) || is_hex_digit(after)))
    return false;
  while (begin > 0 && is_alpha(text[begin - 1])) --begin;
  while (end < text.size() && is_alpha(text[end])) ++end;
  return !ordinary.contains(lower_case(text.substr(begin, end - begin)));
}

// Pieces of names.

/// A piece in the middle of a line needs so many bytes: what stands there may be any word.
constexpr size_t kShortestInside = 6;

bool is_joint(char c) { return !is_alnum(c); }

std::string_view without_joints(std::string_view part) {
  while (!part.empty() && is_joint(part.front())) part.remove_prefix(1);
  while (!part.empty() && is_joint(part.back())) part.remove_suffix(1);
  return part;
}

/// Whether a piece at the end or the beginning of a line says whose name it was.
bool identifies_at_edge(std::string_view part, const OrdinaryWords& ordinary) {
  constexpr size_t kLong = 8;
  const std::string_view core = without_joints(part);
  if (core.size() < TornNames::kShortestPart) return false;
  const auto joints = std::ranges::count_if(core, is_joint);
  // "10.12.8", "12:34:56" are of an address; less of it may be any number.
  if (std::ranges::none_of(core, is_alpha))
    return core.size() >= kShortestInside && joints >= 2 && core.find(' ') == core.npos;
  return has_own_word(core, ordinary, joints == 0 ? 3 : 2) || (joints > 0 && core.size() >= kLong);
}

/// The same between other text, where it may be a word of anybody's.
bool identifies_inside(std::string_view part, const OrdinaryWords& ordinary) {
  const std::string_view core = without_joints(part);
  const bool tells = has_digit(core) || std::ranges::any_of(core, is_joint);
  return part.size() >= kShortestInside && tells && std::ranges::any_of(core, is_alpha) &&
         has_own_word(core, ordinary);
}

/// Of sorted names the one that agrees with the beginning of `text` in most bytes: it is a
/// neighbour of the place where `text` would stand.
template <typename Names, typename Use>
void use_likest(const Names& names, std::string_view text, Use&& use) {
  const auto place = names.lower_bound(text);
  const auto bytes = [&](auto row) {
    const auto [end, other] =
        std::mismatch(row->first.begin(), row->first.end(), text.begin(), text.end());
    return static_cast<size_t>(end - row->first.begin());
  };
  auto best = names.end();
  if (place != names.begin()) best = std::prev(place);
  if (place != names.end() && (best == names.end() || bytes(place) > bytes(best))) best = place;
  if (best == names.end()) return;
  const size_t length = bytes(best);
  if (length >= TornNames::kShortestPart && length < best->first.size()) use(*best, length);
}

// What stands in for a name.

/// "a" to "z", "aa" and so on.
std::string letters(size_t number) {
  std::string text;
  for (; number > 0; number = (number - 1) / 26) {
    text.insert(text.begin(), static_cast<char>('a' + (number - 1) % 26));
  }
  return text;
}

std::string host_name(std::string_view original, size_t number, size_t count) {
  constexpr size_t kContainerName = 12;
  if (original.size() == kContainerName && all_hex(original))
    return fmt::format("c0de{:08x}", number);
  return has_digit(original) ? fmt::format("host-{:0{}}", number, fmt::formatted_size("{}", count))
                             : "host-" + letters(number);
}

/// Other digits at the places of the digits: 02, zeros, the number.
std::string hexadecimal(std::string_view original, size_t number) {
  const auto digits = static_cast<size_t>(std::ranges::count_if(original, is_hex_digit));
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

/// The replacement for `original`, the `number`th (from 1) of `count` of its kind.
std::string make_pseudonym(IdentityKind kind, std::string_view original, size_t number,
                           size_t count) {
  switch (kind) {
    case IdentityKind::Host:
      return host_name(original, number, count);
    case IdentityKind::Guid:
    case IdentityKind::Hardware:
      return hexadecimal(original, number);
    case IdentityKind::JobNumber: {
      std::string value = fmt::format("{:0{}}", number, original.size());
      value[0] = '1';
      return value;
    }
    case IdentityKind::Lid:
      return fmt::format("{}", number);
    case IdentityKind::Domain:
      return fmt::format("domain-{}.example", number);
    case IdentityKind::Email:
      return fmt::format("mail-{}@domain.example", number);
    case IdentityKind::File: {
      // ".py" says nothing.
      const size_t dot = original.rfind('.');
      const bool ends = dot != original.npos && is_known_component(original.substr(dot + 1));
      return fmt::format("file-{}{}", number, ends ? original.substr(dot) : "");
    }
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

}  // namespace

void Identities::add_host(std::string_view host) {
  const auto address = parse_address_bits(host);
  if (address || host.find(':') != host.npos) return add_address(host);
  hosts_.add(host);
  const size_t dot = std::min(host.find('.'), host.size());
  const std::string_view name = host.substr(0, dot);
  if (!is_plain_word(name) && !is_number(name)) values_[IdentityKind::Host].emplace(name);
  if (dot + 1 < host.size() && !is_public_domain(host))
    values_[IdentityKind::Domain].emplace(host.substr(dot + 1));
}

std::vector<FoundIdentity> Identities::find_in(std::string_view line) const {
  std::vector<FoundIdentity> all;
  for (const FoundIdentity& found : find_identities(line, hosts_)) {
    size_t end = found.begin;
    if (found.kind == IdentityKind::Path) {
      for (const FoundIdentity& part : private_parts(line.substr(found.begin, found.length))) {
        const size_t begin = found.begin + part.begin;
        if (begin > end) all.push_back({IdentityKind::Path, end, begin - end});
        all.push_back({part.kind, begin, part.length});
        end = begin + part.length;
      }
    }
    if (found.begin + found.length > end)
      all.push_back({found.kind, end, found.begin + found.length - end});
  }
  return all;
}

/// Lines of other processes may stand between those of the key.
void Identities::read_key(std::string_view line) {
  constexpr int kMostLines = 1000;
  constexpr size_t kWhole = 40;  // Bytes; only the last line of a key has fewer.
  if (line.find("-BEGIN ") != line.npos || line.find("- BEGIN ") != line.npos) {
    key_lines_ = kMostLines;
  } else if (key_lines_ > 0) {
    --key_lines_;
    const bool is_over = line.find("-END ") != line.npos || line.find("- END ") != line.npos;
    const auto is_of_key = [](char c) { return is_alnum(c) || c == '+' || c == '/' || c == '='; };
    size_t begin = line.size();
    while (begin > 0 && is_of_key(line[begin - 1])) --begin;
    const std::string_view body = line.substr(begin);
    if (is_over) {
      key_lines_ = 0;
      // Base64 comes in groups of four; "done" is no rest of a key.
      const bool tells = rest_of_key_.ends_with('=') || has_digit(rest_of_key_);
      if (tells && rest_of_key_.size() % 4 == 0) values_[IdentityKind::Secret].insert(rest_of_key_);
    } else if (body.size() >= kWhole) {
      values_[IdentityKind::Secret].emplace(body);
    } else {
      rest_of_key_ = body;
    }
  }
}

void Identities::read(std::string_view text) {
  each_line(text, [this](std::string_view line, size_t) {
    read_key(line);
    for (const FoundIdentity& found : find_in(line)) {
      const std::string_view value = line.substr(found.begin, found.length);
      if (found.kind == IdentityKind::Address) {
        addresses_.add(value);
      } else if (found.kind != IdentityKind::Path &&
                 (found.kind != IdentityKind::Name || !is_known_component(value))) {
        values_[found.kind].emplace(value);
      }
    }
  });
}

void Identities::read_path(std::string_view relative) {
  key_lines_ = 0;
  read(relative);
  const auto parts = split(relative, '/');
  for (size_t i = 0; i < parts.size(); ++i) {
    // "nccl.gpu-n41.log" is known but for its host.
    std::string rest = lower_case(parts[i]);
    for (const FoundIdentity& found : find_identities(parts[i], hosts_)) {
      rest.replace(found.begin, found.length, found.length, '-');
    }
    for (const std::string& host : hosts_.names) {
      for (size_t at = rest.find(host); at != rest.npos; at = rest.find(host, at)) {
        rest.replace(at, host.size(), host.size(), '-');
      }
    }
    if (rest.empty() || is_known_component(rest)) continue;
    values_[i + 1 == parts.size() ? IdentityKind::File : IdentityKind::Folder].emplace(parts[i]);
  }
}

void WordReplacer::add(std::string_view word, std::string_view replacement) {
  if (word.size() < 2) return;
  first_bytes_.set(start_of(word, 0));
  lengths_[start_of(word, 0)].insert(word.size());
  words_.try_emplace(key_of(word), replacement);
}

FoundName WordReplacer::find(std::string_view text, size_t at) const {
  if (at + 2 > text.size() || !first_bytes_.test(start_of(text, at))) return {};
  for (const size_t length : lengths_.at(start_of(text, at))) {
    if (at + length > text.size()) continue;
    const auto found = words_.find(key_of(text.substr(at, length)));
    if (found != words_.end() && is_name_at(text, at, length, ordinary_))
      return {at, length, length, found->second};
  }
  return {};
}

void WordReplacer::append_replaced(std::string& out, std::string_view text, size_t begin,
                                   size_t end) const {
  for (size_t at = begin; at < end;) {
    const FoundName hit = find(text, at);
    if (hit.length == 0 || at + hit.length > end) {
      out += text[at++];
    } else {
      out += hit.replacement;
      at += hit.length;
    }
  }
}

void TornNames::add(std::string_view name, std::string_view replacement) {
  if (name.size() <= kShortestPart) return;
  const std::string lower = lower_case(name);
  reversed_.try_emplace(std::string(lower.rbegin(), lower.rend()), replacement);
  names_.try_emplace(lower, replacement);
}

std::vector<FoundName> TornNames::find(std::string_view line, const OrdinaryWords& ordinary) const {
  std::vector<FoundName> parts;
  if (names_.empty()) return parts;
  const std::string lower = lower_case(line);
  const std::string backwards(lower.rbegin(), lower.rend());
  const auto find_front = [&](size_t begin) {
    use_likest(names_, std::string_view(lower).substr(begin), [&](const auto& row, size_t length) {
      const size_t end = begin + length;
      const std::string_view part = line.substr(begin, length);
      const bool is_edge = end == line.size() || begins_record(line, end);
      if (is_edge ? identifies_at_edge(part, ordinary) : identifies_inside(part, ordinary))
        parts.push_back(
            {begin, length, kShortestPart, std::string_view(row.second).substr(0, length)});
    });
  };
  const auto find_back = [&](size_t end) {
    const auto before = std::string_view(backwards).substr(line.size() - end);
    use_likest(reversed_, before, [&](const auto& row, size_t length) {
      const size_t begin = end - length;
      const std::string_view part = line.substr(begin, length);
      // Digits alone are the back of a host where a process follows, "0041:313:313 [0]", and of an
      // address where a port does, "8.41<0>".
      const bool identifies = begin == 0 ? begins_record(line, 0) || line.substr(end, 1) == "<" ||
                                               identifies_at_edge(part, ordinary)
                                         : identifies_inside(part, ordinary);
      const std::string_view replacement = row.second;
      const size_t cut = std::min(row.first.size() - length, replacement.size());
      if (identifies) parts.push_back({begin, length, length, replacement.substr(cut)});
    });
  };
  // A number that was cut off says nothing about where the name beside it begins: "313:33gpu-n4".
  for (size_t at = 0; at < line.size(); ++at) {
    const bool is_word = is_alnum(line[at]);
    const bool begins =
        at == 0 || !is_alnum(line[at - 1]) || (is_digit(line[at - 1]) && is_alpha(line[at]));
    if (is_word && begins) find_front(at);
    const bool may_end = is_word || line[at] == ']';  // "gpu-n[41-48]" is a name, too.
    const bool ends = at + 1 == line.size() || !is_alnum(line[at + 1]) ||
                      (is_alpha(line[at]) && is_digit(line[at + 1]));
    if (may_end && ends) find_back(at + 1);
  }
  std::ranges::stable_sort(parts, [](const FoundName& a, const FoundName& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length > b.length;
  });
  return parts;
}

Anonymiser::Anonymiser(Identities identities)
    : identities_(std::move(identities)), addresses_(identities_.addresses()) {
  addresses_.assign();
  std::set<std::string> chosen;
  for (const auto& [kind, values] : identities_.values()) assign(kind, chosen);
  const auto addresses = addresses_.all();
  for (const auto& [printed, replacement] : addresses) chosen.insert(replacement);
  for (const auto& [name, replaced] : replacements_) {
    // "allreduce" as the name of a job, "color" as that of a user is replaced there, and stays
    // NCCL's word elsewhere.
    const bool is_anybodys = identities_.ordinary_words().contains(name);
    if (!is_anybodys && is_replaced_everywhere(replaced.kind, replaced.original))
      add_word(replaced.original, replaced.replacement, chosen);
  }
  for (const auto& [printed, replacement] : addresses) add_word(printed, replacement, chosen);
  words_.set_ordinary_words(identities_.ordinary_words());
}

void Anonymiser::assign(IdentityKind kind, std::set<std::string>& chosen) {
  const auto& values = identities_.values();
  const std::set<std::string>& found = values.at(kind);
  std::vector<std::string> originals(found.begin(), found.end());
  std::ranges::stable_sort(
      originals, [](const auto& a, const auto& b) { return lower_case(a) < lower_case(b); });
  // Short numbers come round again: the 1st and the 1001st of four digits are both 1001.
  const auto is_taken = [&](const std::string& candidate) {
    return chosen.contains(lower_case(candidate)) ||
           std::ranges::any_of(
               values, [&](const auto& others) { return others.second.contains(candidate); });
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

void Anonymiser::append_line(std::string& out, std::string_view line) const {
  const std::vector<FoundIdentity> all = identities_.find_in(line);
  const std::vector<FoundName> parts = torn_.find(line, identities_.ordinary_words());
  auto found = all.begin();
  auto part = parts.begin();
  for (size_t at = 0; at < line.size();) {
    while (found != all.end() && found->begin < at) ++found;
    while (part != parts.end() && part->begin < at) ++part;
    const size_t next = found == all.end() ? line.size() : found->begin;
    const FoundName hit = words_.find(line, at);
    if (next == at && found->length >= hit.length) {
      const std::string_view value = line.substr(at, found->length);
      at += found->length;
      if (const std::string* replacement = known(value)) {
        out += *replacement;
      } else if (const auto address = addresses_.replacement(value)) {
        out += *address;
      } else {
        words_.append_replaced(out, line, at - value.size(), at);
      }
    } else if (hit.length > 0) {
      out += hit.replacement;
      at += hit.length;
    } else if (part != parts.end() && part->begin == at && at + part->needed <= next) {
      out += part->replacement;
      at = std::min(at + part->length, next);
    } else {
      out += line[at++];
    }
  }
}

FoundName Anonymiser::broken_name(std::string_view before, std::string_view after) const {
  constexpr size_t kLongest = 64;
  constexpr size_t kShortest = TornNames::kShortestPart + 1;
  size_t front = before.size();
  while (front > 0 && before.size() - front < kLongest && is_value_char(before[front - 1])) --front;
  size_t back = 0;
  while (back < after.size() && back < kLongest && is_value_char(after[back])) ++back;
  const FoundName none{.begin = before.size()};
  if (front == before.size() || back == 0) return none;
  const std::string joined = std::string(before.substr(front)) + std::string(after.substr(0, back));
  const size_t seam = before.size() - front;
  for (size_t at = 0; at < seam; ++at) {
    const FoundName hit = words_.find(joined, at);
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
      return {front + at, hit.length, hit.length, hit.replacement};
  }
  return none;
}

std::string Anonymiser::text(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  size_t written = 0;
  // Of a name that began in the line before: so many bytes of this line, and what stands for them.
  size_t from = 0;
  std::string_view back;
  each_line(text, [&](std::string_view line, size_t begin) {
    out += text.substr(written, begin - written);
    out += back;
    const std::string_view own = line.substr(from);
    const size_t end = begin + line.size();
    const size_t next = std::min(text.find('\n', end), text.size() - 1) + 1;
    const FoundName broken = broken_name(own, text.substr(next, text.find('\n', next) - next));
    append_line(out, own.substr(0, broken.begin));
    const size_t front = own.size() - broken.begin;
    out += broken.replacement.substr(0, front);
    back = broken.replacement.substr(std::min(front, broken.replacement.size()));
    from = broken.length - front;
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
  std::ranges::sort(all);
  return all;
}

}  // namespace ncclog
