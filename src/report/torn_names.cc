#include "report/torn_names.h"

#include <algorithm>

#include "base/text.h"
#include "report/identity_scan.h"

namespace ncclog {
namespace {

/// A piece in the middle of a line needs so many bytes: what stands there may be any word.
constexpr size_t kShortestInside = 6;

bool is_joint(char c) { return !is_alnum(c); }

std::string_view without_joints(std::string_view part) {
  while (!part.empty() && is_joint(part.front())) part.remove_prefix(1);
  while (!part.empty() && is_joint(part.back())) part.remove_suffix(1);
  return part;
}

/// "10.12.8", "12:34:56": of an address; less of it may be any number.
bool is_much_of_an_address(std::string_view part) {
  const auto joints = std::count_if(part.begin(), part.end(), is_joint);
  return part.size() >= kShortestInside && joints >= 2 && part.find(' ') == part.npos;
}

/// Whether a piece at the end or the beginning of a line says whose name it was.
bool identifies_at_edge(std::string_view part, const OrdinaryWords& ordinary) {
  constexpr size_t kLong = 8;
  const std::string_view core = without_joints(part);
  if (core.size() < TornNames::kShortestPart) return false;
  if (std::none_of(core.begin(), core.end(), is_alpha)) return is_much_of_an_address(core);
  const bool is_one_word = std::none_of(core.begin(), core.end(), is_joint);
  return has_own_word(core, ordinary, is_one_word ? 3 : 2) ||
         (!is_one_word && core.size() >= kLong);
}

/// The same between other text, where it may be a word of anybody's.
bool identifies_inside(std::string_view part, const OrdinaryWords& ordinary) {
  const std::string_view core = without_joints(part);
  if (part.size() < kShortestInside || std::none_of(core.begin(), core.end(), is_alpha))
    return false;
  const bool tells =
      std::any_of(core.begin(), core.end(), [](char c) { return is_digit(c) || is_joint(c); });
  return tells && has_own_word(core, ordinary);
}

/// How many bytes from `begin` on agree with `name`, which is in lower case.
size_t common_front(std::string_view text, size_t begin, std::string_view name) {
  size_t count = 0;
  while (count < name.size() && begin + count < text.size() &&
         lower_case(text[begin + count]) == name[count]) {
    ++count;
  }
  return count;
}

/// How many bytes before `end` agree with `backwards`, a name in lower case read backwards.
size_t common_back(std::string_view text, size_t end, std::string_view backwards) {
  size_t count = 0;
  while (count < backwards.size() && count < end &&
         lower_case(text[end - 1 - count]) == backwards[count]) {
    ++count;
  }
  return count;
}

bool is_below(char a, char b) {
  return static_cast<unsigned char>(a) < static_cast<unsigned char>(b);
}

/// A row and how many bytes of its name agree.
template <typename Row>
struct Agreement {
  const Row* row = nullptr;
  size_t bytes = 0;
};

/// Of sorted rows the one that agrees in most bytes. `common(name)` says in how many a name does,
/// `next(count)` which byte the text has behind so many; NUL at its end.
template <typename Row, typename Common, typename Next>
Agreement<Row> best_of(const std::vector<Row>& rows, Common&& common, Next&& next) {
  const auto is_before = [&](const Row& row) {
    const size_t count = common(row.first);
    return count == row.first.size() || is_below(row.first[count], next(count));
  };
  const auto place = std::partition_point(rows.begin(), rows.end(), is_before);
  Agreement<Row> best;
  const auto look_at = [&](const Row& row) {
    const size_t count = common(row.first);
    if (count > best.bytes) best = {&row, count};
  };
  if (place != rows.begin()) look_at(*std::prev(place));
  if (place != rows.end()) look_at(*place);
  return best;
}

}  // namespace

std::string_view TornPart::replacement_part() const {
  const size_t cut = std::min(is_front ? length : whole - length, replacement.size());
  return is_front ? replacement.substr(0, cut) : replacement.substr(cut);
}

void TornNames::add(std::string_view name, std::string_view replacement) {
  if (name.size() <= kShortestPart) return;
  std::string lower = lower_case(name);
  reversed_.emplace_back(std::string(lower.rbegin(), lower.rend()), replacement);
  rows_.emplace_back(std::move(lower), replacement);
}

void TornNames::finish() {
  std::sort(rows_.begin(), rows_.end());
  std::sort(reversed_.begin(), reversed_.end());
}

void TornNames::find_front(std::string_view line, size_t begin, const OrdinaryWords& ordinary,
                           std::vector<TornPart>& parts) const {
  const auto next = [&](size_t count) {
    return begin + count < line.size() ? lower_case(line[begin + count]) : '\0';
  };
  const auto [row, bytes] = best_of(
      rows_, [&](const std::string& name) { return common_front(line, begin, name); }, next);
  if (bytes < kShortestPart || bytes == row->first.size()) return;
  const size_t end = begin + bytes;
  const std::string_view part = line.substr(begin, bytes);
  const bool is_edge = end == line.size() || begins_record(line, end);
  if (is_edge ? identifies_at_edge(part, ordinary) : identifies_inside(part, ordinary))
    parts.push_back({begin, bytes, true, row->first.size(), row->second});
}

void TornNames::find_back(std::string_view line, size_t end, const OrdinaryWords& ordinary,
                          std::vector<TornPart>& parts) const {
  const auto next = [&](size_t count) {
    return count < end ? lower_case(line[end - 1 - count]) : '\0';
  };
  const auto [row, bytes] = best_of(
      reversed_, [&](const std::string& name) { return common_back(line, end, name); }, next);
  if (bytes < kShortestPart || bytes == row->first.size()) return;
  const size_t begin = end - bytes;
  const std::string_view part = line.substr(begin, bytes);
  // Digits alone are the back of a host where a process follows, "0041:313:313 [0]", and of an
  // address where a port does, "8.41<0>".
  const bool is_placed = begin == 0 && (begins_record(line, begin) || line.substr(end, 1) == "<");
  const bool identifies = begin == 0 ? is_placed || identifies_at_edge(part, ordinary)
                                     : identifies_inside(part, ordinary);
  if (identifies) parts.push_back({begin, bytes, false, row->first.size(), row->second});
}

std::vector<TornPart> TornNames::find(std::string_view line, const OrdinaryWords& ordinary) const {
  std::vector<TornPart> parts;
  if (rows_.empty()) return parts;
  // A number that was cut off says nothing about where the name beside it begins: "313:33gpu-n4".
  for (size_t at = 0; at < line.size(); ++at) {
    const bool is_word = is_alnum(line[at]);
    const bool begins =
        at == 0 || !is_alnum(line[at - 1]) || (is_digit(line[at - 1]) && is_alpha(line[at]));
    if (is_word && begins) find_front(line, at, ordinary, parts);
    const bool may_end = is_word || line[at] == ']';  // "gpu-n[41-48]" is a name, too.
    const bool ends = at + 1 == line.size() || !is_alnum(line[at + 1]) ||
                      (is_alpha(line[at]) && is_digit(line[at + 1]));
    if (may_end && ends) find_back(line, at + 1, ordinary, parts);
  }
  std::stable_sort(parts.begin(), parts.end(), [](const TornPart& a, const TornPart& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length > b.length;
  });
  return parts;
}

}  // namespace ncclog
