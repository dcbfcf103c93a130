#include "log/named_failure.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "log/line/words.h"
#include "log/literal_set.h"
#include "log/wording/other_programs.h"

namespace ncclog {
namespace {

constexpr NamedFailure kRows[] = {
#include "log/failures/cuda.inc"
#include "log/failures/errno.inc"
#include "log/failures/fabric.inc"
#include "log/failures/frameworks.inc"
#include "log/failures/launchers.inc"
#include "log/failures/nccl.inc"
#include "log/failures/verbs.inc"
};

constexpr char kCommon = '~';

std::string_view without_mark(std::string_view text) {
  return text.substr(text.starts_with(kCommon) ? 1 : 0);
}

/// One identifier or text of a row, and how it is looked for.
struct Phrase {
  const NamedFailure* failure = nullptr;
  std::span<const std::string_view> beside;  ///< Empty: it counts by itself.
  bool is_respelt = false;                   ///< Its first letter is in the other case.
};

FailureSort sort_of(std::string_view word) {
  if (word == "harmless") return FailureSort::Harmless;
  return word == "consequence" ? FailureSort::Consequence : FailureSort::Cause;
}

struct Index {
  std::vector<NamedFailure> failures = {std::begin(kRows), std::end(kRows)};
  std::vector<std::string> literals;
  std::vector<Phrase> phrases;    ///< By literal.
  std::optional<LiteralSet> set;  ///< Of all literals.
};

Index make_index() {
  Index index;
  for (NamedFailure& failure : index.failures) {
    failure.sort = sort_of(failure.word);
    const auto of_list = find_words(failure.list);
    const auto beside = of_list.empty() ? listed_words("failed") : of_list;
    const auto add = [&](std::string_view text) -> std::string* {
      if (text.empty()) return nullptr;
      const bool is_common = text.starts_with(kCommon);
      index.phrases.push_back({&failure, is_common ? beside : std::span<const std::string_view>()});
      return &index.literals.emplace_back(without_mark(text));
    };
    for (const std::string_view name : split(failure.names, '|')) add(name);
    add(failure.text);
    // Programs differ in whether a message begins with a capital.
    std::string* const other = add(failure.text);
    if (other == nullptr || !is_alpha(other->front())) continue;
    other->front() ^= 0x20;
    index.phrases.back().is_respelt = true;
  }
  // Hundreds of literals one by one cost more than tables after some thirty lines.
  constexpr size_t kWorthTables = size_t{4} << 10;
  index.set.emplace(index.literals, kWorthTables);
  return index;
}

const Index& failure_index() {
  static const Index index = make_index();
  return index;
}

/// No letter, digit or underscore goes on with what stands from `begin` to `end`.
bool is_whole(std::string_view line, size_t begin, size_t end) {
  const auto goes_on = [&](size_t inside, size_t outside) {
    return outside < line.size() && is_word(line[inside]) && is_word(line[outside]);
  };
  return !(begin > 0 && goes_on(begin, begin - 1)) && !goes_on(end - 1, end);
}

/// Whether one of the words stands in the text with no letter before it.
bool begins_a_word(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      if (at == 0 || !is_alpha(text[at - 1])) return true;
    }
    return false;
  });
}

/// "Test NCCL failure common.cu:212 'invalid argument", "invalid argument (run with NCCL_DEBUG=WARN
/// for details)": what stands there is a result of NCCL, and not what CUDA or the C library call so,
/// too. The texts before and behind it are in lower case.
bool is_nccl_result(const std::pair<std::string_view, std::string_view>& around) {
  const auto& [before, after] = around;
  return after.starts_with(" (run with nccl_debug=") ||
         std::ranges::any_of(listed_words("nccl-result"), [&](std::string_view words) {
           const size_t at = before.rfind(words);
           if (at == before.npos) return false;
           const std::string_view place = before.substr(at + words.size());
           const size_t end = std::min(place.find(' '), place.size());
           return place.substr(end) == " '" || place.substr(end) == " ";
         });
}

/// Source code, as tracebacks quote it, perhaps behind a launcher's label: "3:     raise ".
bool is_code(std::string_view before) {
  const size_t indent = std::min(before.find("    "), before.size());
  return starts_with_one_of(trim(before), listed_words("code")) ||
         starts_with_one_of(trim(before.substr(indent)), listed_words("code"));
}

/// The line goes on after what failed, or only tells of it. `before` and `after` are what stands
/// around the words, in lower case.
bool is_no_report(std::string_view before, std::string_view after) {
  constexpr auto kGoesOn = listed_words("goes-on");
  constexpr std::string_view kFalse[] = {": false", "=false", " = false", " count 0"};
  const bool is_none = before == "0 " || before.ends_with(" 0 ") || before.ends_with(" no ") ||
                       before.ends_with("not ");
  return is_none || is_zero(after) || starts_with_one_of(after, kFalse) ||
         holds_one_of(before, kGoesOn) || holds_one_of(after, kGoesOn) ||
         holds_one_of(before, listed_words("mild")) || is_code(before);
}

}  // namespace

const std::vector<NamedFailure>& named_failures() { return failure_index().failures; }

const std::vector<std::string>& named_failure_needles() { return failure_index().literals; }

std::string_view words_of(const NamedFailure& failure) {
  if (!failure.text.empty()) return without_mark(failure.text);
  return without_mark(failure.names.substr(0, failure.names.find('|')));
}

std::string_view name_of(const NamedFailure& failure) {
  if (failure.text.empty()) return {};
  return without_mark(failure.names.substr(0, failure.names.find('|')));
}

const NamedFailure* named_failure_in(std::string_view line, std::string_view* words) {
  const Index& index = failure_index();
  std::string lower;
  // What stands before the words that end there and behind them, in lower case.
  const auto around = [&](size_t number, size_t end) {
    if (lower.empty()) lower = lower_case(line);
    const std::string_view all = lower;
    return std::pair(all.substr(0, end - index.literals[number].size()), all.substr(end));
  };
  // The set tells places in any order, so nothing may be left to the order: of equals the one that
  // stands first counts, then the one that is spelt so, then the row that stands first: "Invalid
  // argument" is the C library's, "invalid argument" CUDA's.
  using Worth = std::tuple<FailureSort, size_t, size_t, bool, size_t>;
  std::optional<Worth> best;
  index.set->any_of(line, [&](size_t number, size_t end) {
    const auto& [failure, beside, is_respelt] = index.phrases[number];
    const size_t size = index.literals[number].size();
    if (!is_whole(line, end - size, end)) return false;
    if (failure->list != "nccl" && is_nccl_result(around(number, end))) return false;
    if (!beside.empty()) {
      // Only the words around it can say whose failure it is, or that it is one.
      const auto [before, after] = around(number, end);
      if (!begins_a_word(before, beside) && !begins_a_word(after, beside)) return false;
    }
    const Worth worth(failure->sort, line.size() - size, end, is_respelt, number);
    if (!best || worth < *best) best = worth;
    return false;
  });
  if (!best || std::get<FailureSort>(*best) == FailureSort::Harmless) return nullptr;
  const auto [sort, rest, end, is_respelt, number] = *best;
  // "transport retry counter exceeded" is tried again by nobody: only the words around count.
  const auto [before, after] = around(number, end);
  if (words != nullptr) *words = line.substr(before.size(), index.literals[number].size());
  return is_no_report(before, after) ? nullptr : index.phrases[number].failure;
}

}  // namespace ncclog
