#include "report/anonymise/identity_patterns.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "report/anonymise/address_map.h"

namespace ncclog {
namespace {

/// A row of identity_patterns.table, which says what its columns are; of a part, the pattern that
/// it stands for is its name.
struct Row {
  std::string_view sort;   ///< "text", "key", "equals": how a name is announced; "part", "words".
  std::string_view words;  ///< That announce it.
  std::string_view name;
  std::string_view on;
};

constexpr Row kRows[] = {
#include "report/anonymise/identity_patterns.inc"
};

bool is_part(const Row& row) { return row.sort == "part" || row.sort == "words"; }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// A pattern with all parts written out: each consists of those behind it.
std::string written_out(std::string pattern) {
  for (const Row& part : kRows) {
    if (is_part(part)) replace_all(pattern, part.words, part.name);
  }
  return pattern;
}

std::string pattern_of(const Row& row) {
  std::string words = written_out(std::string(row.words));
  if (row.sort != "text") {
    replace_all(words, "_", "[_-]");
    const std::string key = "(?i:" + words + ")";
    const std::string flag = R"(--(?:[\w-]*[_-])?)";
    words = "(?:^|[^A-Za-z0-9]|" + flag + ")" + key + (row.sort == "key" ? "<IS>" : "<EQUALS>") +
            "|" + flag + key + R"([ \t]+)";
  }
  return written_out(fmt::format("(?:{}){}", words, row.name));
}

RE2::Options byte_options() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  return options;
}

re2::StringPiece piece_of(std::string_view text) { return {text.data(), text.size()}; }

/// True for one of the words that the table has under that name, in upper or lower case.
bool is_one_of(std::string_view words, std::string_view text) {
  static const std::map<std::string_view, std::unique_ptr<RE2>> kWords = [] {
    std::map<std::string_view, std::unique_ptr<RE2>> all;
    for (const Row& row : kRows) {
      if (row.sort != "words") continue;
      all[row.words] = byte_pattern(fmt::format("(?i:{})", written_out(std::string(row.name))));
    }
    return all;
  }();
  return RE2::FullMatch(piece_of(text), *kWords.at(words));
}

bool is_no_value(std::string_view value) { return is_one_of("<NO_VALUE>", value); }

bool is_source_file(std::string_view name) { return is_one_of("<SOURCE_FILE>", name); }

bool is_placeholder(std::string_view value) { return is_one_of("<PLACEHOLDER>", value); }

bool is_common_stem(std::string_view shape) {
  return is_one_of("<COMMON_STEM>", shape.substr(0, shape.find('#')));
}

std::string shape_of(std::string_view name) {
  std::string shape;
  for (const char c : name) {
    if (!is_digit(c)) {
      shape += lower_case(c);
    } else if (!shape.ends_with('#')) {
      shape += '#';
    }
  }
  return shape;
}

bool has_letter(std::string_view text) { return std::ranges::any_of(text, is_alpha); }

/// What matches claim of one text. Invariant: no two claims overlap.
class Claims {
 public:
  Claims(std::string_view text, const KnownHosts& hosts) : text_(text), hosts_(hosts) {}

  /// Those of somebody.
  std::vector<FoundIdentity> found() const {
    std::vector<FoundIdentity> found;
    for (const auto& [begin, claim] : claims_) {
      if (claim.kind != IdentityKind::Nobody) found.push_back(claim);
    }
    return found;
  }

  /// Claims [begin, end) if it is free.
  void claim(IdentityKind kind, size_t begin, size_t end) {
    // A name goes on to the end of its value: "job_name=falcon?token=…".
    const auto next = claims_.lower_bound(begin);
    if (kind == IdentityKind::Name && next != claims_.end()) end = std::min(end, next->first);
    if (begin < end && is_free(begin, end))
      claims_.emplace(begin, FoundIdentity{kind, begin, end - begin});
  }

  // One for each group of a pattern that may also hold something else.

  void address(size_t begin, size_t end) {
    // "0000:17:00.0" and "12:34:56" are none; of "fe80::1: …" the last ':' is not its own.
    const bool is_ipv6 = slice(begin, end).find(':') != text_.npos;
    if (is_ipv6 && (is_word(at(end)) || (at(end) == '.' && is_digit(at(end + 1))))) return;
    if (text_[end - 1] == ':') --end;
    const std::string_view text = slice(begin, end);
    if (has_digit(text) && parse_address_bits(text)) claim(IdentityKind::Address, begin, end);
  }

  /// Not all 0 or all ff.
  void hardware(size_t begin, size_t end) {
    if (slice(begin, end).find_first_not_of("0fF:-") != text_.npos)
      claim(IdentityKind::Hardware, begin, end);
  }

  void path(size_t begin, size_t end) {
    while (end > begin && (text_[end - 1] == '.' || text_[end - 1] == '-')) --end;
    if (end > begin + 1) claim(IdentityKind::Path, begin, end);
  }

  void user(size_t begin, size_t end) {
    const std::string_view user = slice(begin, end);
    if (at(end) != '/' && !is_no_value(user) && !is_plain_word(user) && !is_number(user))
      claim(IdentityKind::User, begin, end);
  }

  /// The name or the number of a job, a run, a project; a path is none.
  void name(size_t begin, size_t end) {
    const std::string_view value = slice(begin, end);
    if (at(end) == '/' || is_no_value(value)) return;
    if (is_number(value)) {
      if (value.size() >= 4) claim(IdentityKind::JobNumber, begin, end);
    } else if (value.size() >= 3 && !is_plain_word(value)) {
      claim(IdentityKind::Name, begin, end);
    }
  }

  /// Kubernetes' own, "pod/falcon-7d9f-x2k4p".
  void object(size_t begin, size_t end) {
    const std::string_view name = slice(begin, end);
    const bool tells = has_digit(name) || name.find('-') != name.npos;
    if (tells && !is_number(name) && !is_known_component(name))
      claim(IdentityKind::Name, begin, end);
  }

  void token(size_t begin, size_t end) {
    constexpr size_t kShortest = 16;  // "sk-learn" and "hf_hub" begin like tokens.
    if (end - begin >= kShortest && has_digit(slice(begin, end)))
      claim(IdentityKind::Secret, begin, end);
  }

  void credentials(size_t begin, size_t end) {
    if (!is_no_value(slice(begin, end)) && !is_placeholder(slice(begin, end)))
      claim(IdentityKind::Secret, begin, end);
  }

  /// What a key announces, with its quotes.
  void secret(size_t begin, size_t end) {
    constexpr size_t kShortest = 6;  // "token: 12", "password: no".
    const bool is_nested = text_[begin] == '\\';
    while (begin < end && text_[begin] == '\\') ++begin;
    const char sign = at(begin);
    const bool is_quoted = (sign == '"' || sign == '\'') && end > begin + 1;
    if (is_quoted) {
      if (text_[end - 1] == sign) --end;
      ++begin;
      while (is_nested && end > begin && text_[end - 1] == '\\') --end;
    }
    const std::string_view value = slice(begin, end);
    // Unquoted, what closes a placeholder stands behind the value.
    const bool is_closed = !is_quoted && (at(end) == '}' || at(end) == '>');
    if (value.size() >= kShortest && !is_number(value) && !is_no_value(value) &&
        !is_placeholder(slice(begin, end + (is_closed ? 1 : 0))))
      claim(IdentityKind::Secret, begin, end);
  }

  // Hosts.

  /// With or without its domain.
  void host(size_t begin, size_t end) {
    while (end > begin && text_[end - 1] == '.') --end;
    const std::string_view name = slice(begin, end);
    const bool is_url = slice(end, end + 3) == "://";  // "host=https://…" names no host "https".
    if (is_url || is_number(name) || is_no_value(name) || parse_address_bits(name) ||
        !is_free(begin, end))
      return;
    const size_t dot = std::min(name.find('.'), name.size());
    const std::string_view host = name.substr(0, dot);
    if (!is_plain_word(host) && !is_number(host)) claim(IdentityKind::Host, begin, begin + dot);
    if (dot + 1 < name.size()) claim(IdentityKind::Domain, begin + dot + 1, end);
  }

  /// Behind words that may announce something else: "on node 3", "to host memory".
  void likely_host(size_t begin, size_t end) {
    while (end > begin && text_[end - 1] == '.') --end;
    const std::string_view name = slice(begin, end);
    const bool tells = has_digit(name) || (name.find('-') != name.npos && has_own_word(name, {}));
    std::string shape = shape_of(name);
    std::erase(shape, '-');  // "rank-0" is no host, either.
    if (tells && has_letter(name) && !is_source_file(name) && !is_common_stem(shape) &&
        at(end) != '@' && at(end) != '/')
      host(begin, end);
  }

  /// Slurm's "gpu-n[41-48],login1", MPI's "n7:8,n8:8". What stands before '=' is the next key.
  void hosts(size_t begin, size_t end) {
    if (slice(begin, end).find('[') != text_.npos) return claim(IdentityKind::Name, begin, end);
    const auto is_label = [](char c) { return is_word(c) || c == '-' || c == '.'; };
    while (begin < end) {
      size_t next = begin;
      while (next < end && is_label(text_[next])) ++next;
      if (at(next) != '=' || begin == 0) host(begin, next);
      begin = next + 1;
    }
  }

  /// Of a device or a board; "N/A" is none.
  void serial(size_t begin, size_t end) {
    if (has_digit(slice(begin, end))) claim(IdentityKind::Guid, begin, end);
  }

  /// "gpu-n[41-48,50]": not "ranks[0-7]".
  void list(size_t begin, size_t end) {
    const size_t numbers = text_.find('[', begin) + 1;
    const std::string shape = shape_of(slice(begin, numbers - 1)) + "#";
    const bool has_zeros = text_[numbers] == '0' && is_digit(text_[numbers + 1]);  // "zebra[01-16]"
    const bool tells =
        has_zeros || shape.find('-') != shape.npos || shape.find('#') + 1 < shape.size();
    if (hosts_.shapes.contains(shape) || (tells && !is_common_stem(shape)))
      claim(IdentityKind::Name, begin, end);
  }

  /// A known host that ends where the process begins; of an unknown one all that may belong to it.
  void record(size_t begin, size_t end) {
    for (const size_t length : hosts_.lengths) {
      if (length <= end - begin && hosts_.names.contains(lower_case(slice(end - length, end))))
        return claim(IdentityKind::Host, end - length, end);
    }
    while (begin < end && !is_alnum(text_[begin])) ++begin;
    if (has_letter(slice(begin, end))) host(begin, end);
  }

  void likely_record(size_t begin, size_t end) {
    if (!is_source_file(slice(begin, end))) record(begin, end);
  }

  void dotted(size_t begin, size_t end) {
    const std::string_view name = slice(begin, end);
    if (is_public_domain(name)) return;
    // "acme.com" is a domain; "gpu-n41.acme" a host in one, and so is all with two dots.
    const bool has_host = std::ranges::count(name, '.') >= 2 ||
                          hosts_.names.contains(lower_case(name.substr(0, name.find('.'))));
    if (has_host) return host(begin, end);
    claim(IdentityKind::Domain, begin, end);
  }

  /// Numbered like a known host, from any of its words on.
  void fellow(size_t begin, size_t end) {
    constexpr size_t kLongest = 253;  // Of DNS.
    if (hosts_.shapes.empty() || is_word(at(end)) || at(end) == '@') return;
    for (; begin < end; begin = std::min(text_.find('-', begin), end - 1) + 1) {
      if (end - begin <= kLongest && hosts_.shapes.contains(shape_of(slice(begin, end))))
        return claim(IdentityKind::Host, begin, end);
    }
  }

 private:
  /// NUL behind the end.
  char at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  std::string_view slice(size_t begin, size_t end) const {
    return text_.substr(begin, end - begin);
  }

  bool is_free(size_t begin, size_t end) const {
    const auto next = claims_.lower_bound(begin);
    if (next != claims_.end() && next->first < end) return false;
    if (next == claims_.begin()) return true;
    const FoundIdentity& before = std::prev(next)->second;
    return before.begin + before.length <= begin;
  }

  std::string_view text_;
  const KnownHosts& hosts_;
  std::map<size_t, FoundIdentity> claims_;  ///< By where they begin.
};

/// What a group of a pattern holds, by its name.
struct Group {
  std::string_view name;
  IdentityKind kind = IdentityKind::Nobody;
  void (Claims::*take)(size_t begin, size_t end) = nullptr;  ///< Says what it is, if not `kind`.
};

constexpr Group kGroups[] = {
    {"nobody"},
    {"email", IdentityKind::Email},
    {"job", IdentityKind::JobNumber},
    {"guid", IdentityKind::Guid},
    {"lid", IdentityKind::Lid},
    {"bucket", IdentityKind::Name},
    {"machine", IdentityKind::Host},
    {"password", IdentityKind::Secret},
    {"number", IdentityKind::Secret},
    {"address", IdentityKind::Nobody, &Claims::address},
    {"hardware", IdentityKind::Nobody, &Claims::hardware},
    {"path", IdentityKind::Nobody, &Claims::path},
    {"user", IdentityKind::Nobody, &Claims::user},
    {"name", IdentityKind::Nobody, &Claims::name},
    {"object", IdentityKind::Nobody, &Claims::object},
    {"token", IdentityKind::Nobody, &Claims::token},
    {"credentials", IdentityKind::Nobody, &Claims::credentials},
    {"secret", IdentityKind::Nobody, &Claims::secret},
    {"host", IdentityKind::Nobody, &Claims::host},
    {"likely_host", IdentityKind::Nobody, &Claims::likely_host},
    {"hosts", IdentityKind::Nobody, &Claims::hosts},
    {"serial", IdentityKind::Nobody, &Claims::serial},
    {"list", IdentityKind::Nobody, &Claims::list},
    {"record", IdentityKind::Nobody, &Claims::record},
    {"likely_record", IdentityKind::Nobody, &Claims::likely_record},
    {"dotted", IdentityKind::Nobody, &Claims::dotted},
    {"fellow", IdentityKind::Nobody, &Claims::fellow},
};

/// A row, ready to search.
struct Pattern {
  explicit Pattern(const Row& row)
      : search(pattern_of(row), byte_options()),
        on(row.on.empty() ? nullptr : byte_pattern(std::string(row.on))) {
    if (!search.ok()) throw std::logic_error(search.pattern() + ": " + search.error());
    for (const auto& [group, name] : search.CapturingGroupNames()) {
      std::string_view what = name;
      while (is_digit(what.back())) what.remove_suffix(1);
      const auto* known = std::ranges::find(kGroups, what, &Group::name);
      if (known == std::end(kGroups) && what != "with_digit")
        throw std::logic_error("no such group: " + name);
      groups.emplace_back(group, known == std::end(kGroups) ? nullptr : known);
    }
  }

  RE2 search;
  std::unique_ptr<RE2> on;
  std::vector<std::pair<int, const Group*>> groups;  ///< Null: "with_digit", or no match.
};

/// The rows that may match the text, in the order of the table.
std::vector<const Pattern*> patterns_for(std::string_view text) {
  static const std::vector<std::unique_ptr<Pattern>> kPatterns = [] {
    std::vector<std::unique_ptr<Pattern>> patterns;
    for (const Row& row : kRows) {
      if (!is_part(row)) patterns.push_back(std::make_unique<Pattern>(row));
    }
    return patterns;
  }();
  // Says in one pass over a text which of them may.
  static const RE2::Set kSet = [] {
    RE2::Options options = byte_options();
    options.set_max_mem(int64_t{64} << 20);
    RE2::Set set(options, RE2::UNANCHORED);
    for (const auto& pattern : kPatterns) set.Add(pattern->search.pattern(), nullptr);
    set.Compile();
    return set;
  }();
  std::vector<int> matching;
  RE2::Set::ErrorInfo error{};
  if (!kSet.Match(piece_of(text), &matching, &error) && error.kind != RE2::Set::kNoError) {
    // Text of many sorts at once takes more memory than the set may have: then each row searches.
    matching.resize(kPatterns.size());
    std::iota(matching.begin(), matching.end(), 0);
  }
  std::ranges::sort(matching);
  std::vector<const Pattern*> patterns;
  for (const int row : matching) patterns.push_back(kPatterns[row].get());
  return patterns;
}

/// Gives all that `pattern` matches to `claims`. The next match may begin with the last byte of a
/// name, a quote that closes it or the like.
void search(const Pattern& pattern, std::string_view text, Claims& claims) {
  constexpr int kMostGroups = 5;
  const re2::StringPiece all = piece_of(text);
  if (pattern.on && !RE2::PartialMatch(all, *pattern.on)) return;
  re2::StringPiece groups[kMostGroups];
  for (size_t from = 0; pattern.search.Match(all, from, text.size(), RE2::UNANCHORED, groups,
                                             1 + pattern.search.NumberOfCapturingGroups());) {
    from = static_cast<size_t>(groups[0].data() - text.data()) + 1;
    bool tells = true;
    for (const auto& [number, group] : pattern.groups) {
      const re2::StringPiece& name = groups[number];
      if (name.empty()) continue;
      from = std::max(from, static_cast<size_t>(name.data() - text.data()) + name.size() - 1);
      if (group == nullptr) tells = has_digit({name.data(), name.size()});
    }
    for (const auto& [number, group] : pattern.groups) {
      if (!tells || group == nullptr || groups[number].empty()) continue;
      const auto begin = static_cast<size_t>(groups[number].data() - text.data());
      const size_t end = begin + groups[number].size();
      if (group->take != nullptr) {
        (claims.*group->take)(begin, end);
      } else {
        claims.claim(group->kind, begin, end);
      }
    }
  }
}

// Paths.

/// "train.py": a short ending that is a known one.
bool is_file(std::string_view component) {
  const size_t dot = component.rfind('.');
  return dot != component.npos && dot > 0 && component.size() - dot <= 6 &&
         is_known_component(component.substr(dot + 1));
}

}  // namespace

std::unique_ptr<RE2> byte_pattern(const std::string& pattern) {
  return std::make_unique<RE2>(pattern, byte_options());
}

void KnownHosts::add(std::string_view host) {
  const std::string_view name = host.substr(0, host.find('.'));
  if (is_plain_word(name) || is_number(name)) return;
  names.insert(lower_case(name));
  lengths.insert(name.size());
  const std::string shape = shape_of(name);
  if (shape.find('#') != shape.npos && !is_common_stem(shape)) shapes.insert(shape);
}

std::vector<FoundIdentity> find_identities(std::string_view text, const KnownHosts& hosts) {
  Claims claims(text, hosts);
  for (const Pattern* pattern : patterns_for(text)) search(*pattern, text, claims);
  return claims.found();
}

bool begins_record(std::string_view line, size_t at) {
  static const RE2 kRecord(written_out(R"([\w.-]+<PROCESS>)"), byte_options());
  return kRecord.Match(piece_of(line), at, line.size(), RE2::ANCHOR_START, nullptr, 0);
}

std::vector<FoundIdentity> private_parts(std::string_view path) {
  std::vector<FoundIdentity> parts;
  if (is_one_of("<SYSTEM_PATH>", path)) return parts;
  std::string_view before;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find_first_of("/\\", begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (is_one_of("<PACKAGE>", part)) break;
    constexpr std::string_view kHomes[] = {"home", "users", "Users", "user"};
    if (equals_one_of(before, kHomes) && !part.starts_with('.')) {
      if (!is_plain_word(part)) parts.push_back({IdentityKind::User, begin, part.size()});
    } else if (!part.empty() && !is_known_component(part)) {
      const bool is_last = end == path.size();
      parts.push_back({is_last && is_file(part) ? IdentityKind::File : IdentityKind::Folder, begin,
                       part.size()});
    }
    if (!part.empty()) before = part;
    begin = end + 1;
  }
  return parts;
}

bool is_plain_word(std::string_view word) { return is_one_of("<PLAIN_WORD>", word); }

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

bool has_digit(std::string_view text) { return std::ranges::any_of(text, is_digit); }

bool is_known_component(std::string_view component) { return is_one_of("<COMPONENT>", component); }

bool is_public_domain(std::string_view domain) {
  return is_one_of("<PUBLIC>", domain) || is_one_of("<SITE>", domain);
}

bool has_own_word(std::string_view name, const OrdinaryWords& ordinary, size_t shortest) {
  const auto is_own = [&](std::string_view word) {
    std::string_view stem = word;
    while (!stem.empty() && is_digit(stem.back())) stem.remove_suffix(1);
    if (stem.size() < shortest) return !stem.empty() && has_digit(word);
    const std::string lower = lower_case(stem);
    return !is_plain_word(lower) && !is_known_component(lower) && !ordinary.contains(lower);
  };
  for (size_t begin = 0; begin < name.size();) {
    size_t end = begin;
    while (end < name.size() && is_alnum(name[end])) ++end;
    if (is_own(name.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

bool is_telling_name(std::string_view component) {
  constexpr size_t kShortest = 6;
  return component.size() >= kShortest && has_letter(component) &&
         (has_digit(component) || component.find_first_of("-_") != component.npos);
}

}  // namespace ncclog
