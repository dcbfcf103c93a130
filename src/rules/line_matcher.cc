// Line patterns, matched while a log is read. Most lines hold none of the words that the patterns
// need, and are let go before any expression sees them.
//
// A few patterns are filtered by one search for all their words at once, and compiled when a line
// first holds them: that keeps the start quick. Many, as a site's own rules may bring, share one
// automaton over all their words (RE2's FilteredRE2), so that a line is read once however many
// there are.

#include <re2/filtered_re2.h>
#include <re2/set.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "log/needle_filter.h"
#include "rules/evaluate.h"
#include "rules/required_literal.h"

namespace ncclog {
namespace {

/// From here on one automaton is quicker: too many lines hold a word of some pattern.
constexpr size_t kMany = 48;

re2::RE2::Options pattern_options() {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

/// Built once, then only read; patterns compile themselves when first needed.
class FewPatterns {
 public:
  explicit FewPatterns(const std::vector<std::string>& patterns) : words_(words_of(patterns)) {
    for (const std::string& text : patterns) {
      filtered_.push_back({required_literal(text), Pattern(text)});
      any_line_ |= filtered_.back().literal.empty();
    }
  }

  void match(std::string_view line, std::vector<int>& matched) const {
    if (!any_line_ && words_.next(line, 0) == line.size()) return;
    for (size_t i = 0; i < filtered_.size(); ++i) {
      const auto& [literal, pattern] = filtered_[i];
      if (!literal.empty() && line.find(literal) == line.npos) continue;
      if (pattern.matches(line)) matched.push_back(static_cast<int>(i));
    }
  }

 private:
  struct Filtered {
    std::string literal;  ///< Empty: none is known.
    Pattern pattern;
  };

  static std::vector<std::string> words_of(const std::vector<std::string>& patterns) {
    std::vector<std::string> words;
    for (const std::string& text : patterns) {
      if (std::string word = required_literal(text); !word.empty()) words.push_back(word);
    }
    return words;
  }

  NeedleFilter words_;
  bool any_line_ = false;  ///< Some pattern has no literal.
  std::vector<Filtered> filtered_;
};

/// Built once, then only read.
class ManyPatterns {
 public:
  explicit ManyPatterns(const std::vector<std::string>& patterns)
      : filter_(kMinWord), words_(word_options(), re2::RE2::UNANCHORED) {
    for (size_t i = 0; i < patterns.size(); ++i) {
      int id = -1;
      if (filter_.Add(patterns[i], pattern_options(), &id) != re2::RE2::NoError) continue;
      numbers_.push_back(static_cast<int>(i));
    }
    std::vector<std::string> words;
    filter_.Compile(&words);
    for (const std::string& word : words) words_.Add(re2::RE2::QuoteMeta(word), nullptr);
    words_.Compile();
    all_words_.resize(words.size());
    std::iota(all_words_.begin(), all_words_.end(), 0);
  }

  void match(std::string_view line, std::vector<int>& matched) const {
    const re2::StringPiece text(line.data(), line.size());
    std::vector<int> found;
    if (!all_words_.empty()) found = words_in(text);
    filter_.AllMatches(text, found, &matched);
    for (int& id : matched) id = numbers_[static_cast<size_t>(id)];
    std::sort(matched.begin(), matched.end());
  }

 private:
  /// Shorter words stand in too many lines to filter anything.
  static constexpr int kMinWord = 3;

  static re2::RE2::Options word_options() {
    re2::RE2::Options options = pattern_options();
    // The filter's words are in lower case, whatever the pattern's are.
    options.set_case_sensitive(false);
    options.set_max_mem(64 << 20);
    return options;
  }

  /// Asking whether there is any word at all allocates nothing, and most lines have none.
  std::vector<int> words_in(re2::StringPiece text) const {
    std::vector<int> found;
    re2::RE2::Set::ErrorInfo error{};
    if (words_.Match(text, nullptr, &error)) words_.Match(text, &found, &error);
    return error.kind == re2::RE2::Set::kOutOfMemory ? all_words_ : found;
  }

  re2::FilteredRE2 filter_;
  re2::RE2::Set words_;
  std::vector<int> all_words_;
  std::vector<int> numbers_;  ///< Of the pattern, by its number in the filter.
};

template <typename Patterns>
LineMatcher matcher_of(const std::vector<std::string>& texts) {
  LineMatcher matcher;
  matcher.match = [patterns = std::make_shared<const Patterns>(texts)](std::string_view line,
                                                                       std::vector<int>& matched) {
    patterns->match(line, matched);
  };
  matcher.literals.emplace();
  for (const std::string& text : texts) matcher.literals->push_back(required_literal(text));
  return matcher;
}

}  // namespace

LineMatcher make_line_matcher(const Rulebook& rulebook) {
  const std::vector<std::string>& patterns = rulebook.line_patterns;
  if (patterns.empty()) return {};
  return patterns.size() < kMany ? matcher_of<FewPatterns>(patterns)
                                 : matcher_of<ManyPatterns>(patterns);
}

}  // namespace ncclog
