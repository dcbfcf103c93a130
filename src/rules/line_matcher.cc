// Line patterns, matched while a log is read. Most lines hold none of the words that the patterns
// need, and are let go before any expression sees them.

#include <re2/set.h>

#include <memory>
#include <optional>

#include "rules/evaluate.h"
#include "rules/required_literal.h"

namespace ncclog {
namespace {

/// Built once, then only read.
struct CompiledPatterns {
  explicit CompiledPatterns(const std::vector<std::string>& patterns)
      : set(options(), re2::RE2::UNANCHORED) {
    for (const std::string& pattern : patterns) {
      set.Add(pattern, nullptr);
      literals.push_back(required_literal(pattern));
    }
    set.Compile();
  }

  static re2::RE2::Options options() {
    re2::RE2::Options options(re2::RE2::Latin1);
    options.set_log_errors(false);
    return options;
  }

  bool may_match(std::string_view line) const {
    for (const std::string& literal : literals) {
      if (literal.empty() || line.find(literal) != line.npos) return true;
    }
    return false;
  }

  re2::RE2::Set set;
  std::vector<std::string> literals;  ///< By pattern; empty: none is known.
};

}  // namespace

LineMatcher make_line_matcher(const Rulebook& rulebook) {
  if (rulebook.line_patterns.empty()) return {};
  auto patterns = std::make_shared<const CompiledPatterns>(rulebook.line_patterns);
  return [patterns](std::string_view line, std::vector<int>& matched) {
    if (!patterns->may_match(line)) return;
    patterns->set.Match(re2::StringPiece(line.data(), line.size()), &matched);
    std::sort(matched.begin(), matched.end());
  };
}

}  // namespace ncclog
