#include "log/iteration_marker.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/sorting.h"
#include "base/text.h"
#include "log/line/scanner.h"
#include "log/literal_set.h"
#include "log/wording/other_programs.h"

namespace ncclog {
namespace {

constexpr std::string_view kBar = "%|";

/// The wordings of log/markers/iteration.markers, which the tests hold to what it says of itself.
std::vector<IterationWording> read_wordings(std::string_view text) {
  std::vector<IterationWording> wordings;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    if (!is_blank(line[0])) {
      const std::vector<std::string_view> words = split_blanks(line);
      IterationWording& wording = wordings.emplace_back();
      wording.preset = words[0];
      for (const std::string_view word : words) {
        if (word == "tick") wording.place = MarkerPlace::Tick;
        if (word == "unplaced") wording.place = MarkerPlace::Unknown;
        if (word == "first_epoch=1") wording.first_epoch = 1;
        if (word == "by_name_only") wording.by_name_only = true;
      }
      continue;
    }
    IterationWording& wording = wordings.back();
    const std::string_view rest = line.substr(4);
    if (line[2] == '"') wording.needle = line.substr(3, line.size() - 4);
    if (line[2] == '~') wording.regex = rest;
    if (line[2] == '>') wording.example = rest;
    if (line[2] == '=') wording.example_step = parse_int(rest).value_or(-1);
  }
  return wordings;
}

re2::RE2::Options quiet() {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

/// A wording whose expression is compiled when a line first holds its needle: most jobs print their
/// steps in one way, if any.
class LazyWording {
 public:
  LazyWording(std::string_view text, std::string_view wanted, uint16_t place)
      : needle(wanted), number(place), text_(text) {}

  const re2::RE2& regex() const {
    std::call_once(once_, [this] { compile(); });
    return *regex_;
  }

  /// Fills in the numbers of a marker; false if the line does not fit.
  bool find(std::string_view line, MarkerText& marker) const {
    const re2::RE2& compiled = regex();
    constexpr int kMost = 8;
    re2::StringPiece groups[kMost];
    const int count = std::min(kMost, 1 + compiled.NumberOfCapturingGroups());
    if (!compiled.Match(piece(line), 0, line.size(), re2::RE2::UNANCHORED, groups, count))
      return false;
    const auto text = [&](int group) {
      if (group < 0 || group >= count) return std::string_view();
      return std::string_view(groups[group].data(), groups[group].size());
    };
    marker = {text(step_), text(total_), text(epoch_), number};
    return true;
  }

  const std::string_view needle;
  const uint16_t number;

 private:
  void compile() const {
    regex_.emplace(piece(text_), quiet());
    const auto group = [&](const char* name) {
      const auto found = regex_->NamedCapturingGroups().find(name);
      return found == regex_->NamedCapturingGroups().end() ? -1 : found->second;
    };
    step_ = group("step");
    // In an expression of the user's own the first group is the step if none is named so.
    if (step_ < 0 && number == kOwnWording) step_ = 1;
    total_ = group("total");
    epoch_ = group("epoch");
  }

  std::string text_;
  mutable std::once_flag once_;
  mutable std::optional<re2::RE2> regex_;
  mutable int step_ = -1;  ///< Numbers of groups; -1: the expression has none of that name.
  mutable int total_ = -1;
  mutable int epoch_ = -1;
};

/// Whole steps, also where they are printed as "3.2e+4"; -1 for anything else.
int64_t step_number(std::string_view text) {
  if (text.empty()) return -1;
  if (const auto whole = parse_int(text); whole && *whole >= 0) return *whole;
  const auto decimal = parse_decimal(text);
  constexpr double kMost = 1e15;
  return decimal && *decimal >= 0 && *decimal <= kMost ? static_cast<int64_t>(*decimal) : -1;
}

/// A bar of an evaluation, or of what is read and made ready before the training: those of Hugging
/// Face's data sets ("Map (num_proc=8)", "Generating train split", "Running tokenizer on dataset").
bool is_other_bar(std::string_view line) {
  constexpr std::string_view kOthers[] = {"oading",  "alid",     "anity",   "esting",
                                          "redict",  "Map",      "Filter",  " split",
                                          "okenize", "Grouping", "etching", "apturing"};
  const std::string_view title = parse_progress_bar(line).title;
  return is_eval_title(title) || holds_one_of(title, kOthers);
}

/// Steps since the first epoch.
int64_t step_in_all(int64_t step, int64_t epoch, int64_t total) {
  constexpr int64_t kMost = int64_t{1} << 30;
  if (step < 0 || epoch < 0 || total < 0 || epoch > kMost || total > kMost) return step;
  return epoch * total + step;
}

}  // namespace

std::span<const IterationWording> iteration_wordings() {
  static const std::vector<IterationWording> kWordings = read_wordings(marker_files()[0].text);
  return kWordings;
}

/// Literals one of which stands in every line that has the needle.
std::vector<std::string> literals_of(std::string_view needle) {
  if (!needle.ends_with('#')) return {std::string(needle)};
  std::vector<std::string> literals;
  for (const std::string_view number : {"\x01", " \x01", "  ", ":", " [\x01"}) {
    literals.push_back(std::string(needle.substr(0, needle.size() - 1)).append(number));
  }
  return literals;
}

/// In the order in which they are tried.
struct MarkerFinder::Compiled {
  explicit Compiled(std::vector<std::unique_ptr<const LazyWording>> tried, bool is_own = false)
      : wordings(std::move(tried)), own(is_own), present(distinct_literals()) {}

  /// Those of all needles that are not empty. The place of a needle is its bit in `find`.
  std::vector<std::string> distinct_literals() {
    std::vector<std::string_view> needles;
    std::vector<std::string> literals;
    for (const auto& wording : wordings) {
      const auto known = std::ranges::find(needles, wording->needle);
      bits.push_back(wording->needle.empty() ? kAlways : uint64_t{1} << (known - needles.begin()));
      if (known != needles.end() || wording->needle.empty()) continue;
      needles.push_back(wording->needle);
      for (std::string& literal : literals_of(wording->needle)) {
        literals.push_back(std::move(literal));
        bits_of_literals.push_back(bits.back());
      }
    }
    return literals;
  }

  /// Bits of the needles that the line holds.
  uint64_t needles_in(std::string_view line) const {
    uint64_t found = kAlways;
    present.any_of(line, [&](size_t number, size_t) {
      found |= bits_of_literals[number];
      return false;
    });
    return found;
  }

  static constexpr uint64_t kAlways = uint64_t{1} << 63;

  std::vector<std::unique_ptr<const LazyWording>> wordings;
  std::vector<uint64_t> bits;              ///< By wording: of its needle.
  std::vector<uint64_t> bits_of_literals;  ///< Of the needle that each is of.
  bool own = false;
  LiteralSet present;
};

bool is_iteration_preset(std::string_view name) {
  const auto has_name = [&](const IterationWording& wording) { return wording.preset == name; };
  return std::ranges::any_of(iteration_wordings(), has_name);
}

namespace {

template <typename Wanted>
auto wordings_of(Wanted wanted) {
  std::vector<std::unique_ptr<const LazyWording>> found;
  for (uint16_t i = 0; i < iteration_wordings().size(); ++i) {
    const IterationWording& wording = iteration_wordings()[i];
    if (wanted(wording))
      found.push_back(std::make_unique<const LazyWording>(wording.regex, wording.needle, i));
  }
  return found;
}

}  // namespace

MarkerFinder::MarkerFinder() {
  static const auto all = std::make_shared<const Compiled>(
      wordings_of([](const IterationWording& wording) { return !wording.by_name_only; }));
  compiled_ = all;
}

MarkerFinder::MarkerFinder(std::string_view wanted) {
  auto wordings =
      wordings_of([&](const IterationWording& wording) { return wording.preset == wanted; });
  const bool own = wordings.empty();
  if (own) {
    wordings.push_back(std::make_unique<const LazyWording>(wanted, "", kOwnWording));
    const re2::RE2& regex = wordings.front()->regex();
    if (!regex.ok()) {
      throw Error(fmt::format("invalid expression: {}", regex.error()), "--iteration",
                  "RE2 syntax; group 1 is the step");
    }
  }
  compiled_ = std::make_shared<const Compiled>(std::move(wordings), own);
}

bool MarkerFinder::wants_all_lines() const { return compiled_->own; }

Marker read_marker(const MarkerText& text) {
  const bool is_own = text.wording == kOwnWording;
  const int first_epoch = is_own ? 0 : iteration_wordings()[text.wording].first_epoch;
  Marker marker{.total = step_number(text.total), .wording = text.wording};
  marker.step =
      step_in_all(step_number(text.step), step_number(text.epoch) - first_epoch, marker.total);
  return marker;
}

bool MarkerFinder::find(std::string_view line, Marker& marker) const {
  MarkerText text;
  if (!find(line, text)) return false;
  marker = read_marker(text);
  return true;
}

bool MarkerFinder::find(std::string_view line, MarkerText& marker) const {
  const Compiled& compiled = *compiled_;
  const uint64_t present = compiled.needles_in(line);
  std::optional<bool> is_other;
  for (size_t i = 0; i < compiled.wordings.size(); ++i) {
    if ((compiled.bits[i] & present) == 0) continue;
    const LazyWording& wording = *compiled.wordings[i];
    if (wording.needle == kBar) {
      if (!is_other) is_other = is_other_bar(line);
      if (*is_other) continue;
    }
    if (wording.find(line, marker)) return true;
  }
  return false;
}

std::vector<std::string> marker_needles(const MarkerFinder& finder) {
  if (finder.wants_all_lines()) return {""};
  std::vector<std::string> needles;
  for (const IterationWording& wording : iteration_wordings()) {
    Marker found;
    if (!wording.by_name_only)
      std::ranges::move(literals_of(wording.needle), std::back_inserter(needles));
    // Only a finder that was made for it finds its example.
    if (wording.by_name_only && finder.find(wording.example, found)) return {""};
  }
  sort_and_drop_repeats(needles);
  return needles;
}

}  // namespace ncclog
