// A regular expression of a rule (RE2 syntax), compiled when it is first used: most are never
// needed, and compiling them all would take longer than reading the rules.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// Invariant: the expression is compiled at most once, by whichever thread needs it first. Copies
/// share it.
class Pattern {
 public:
  Pattern() = default;
  explicit Pattern(std::string text);

  const std::string& text() const;

  /// True if some part of `bytes` matches; false for an invalid expression. Bytes need not be
  /// UTF-8.
  bool matches(std::string_view bytes) const;

  /// What the named group captures where the expression first matches; nullopt: it does not match,
  /// or the group takes no part in the match.
  std::optional<std::string> capture(std::string_view bytes, const std::string& group) const;

  /// Names of its capturing groups, (?P<name>…), in order. Compiles nothing.
  std::vector<std::string> group_names() const;

  /// What RE2 objects to; empty for a valid expression.
  std::string error() const;

  bool operator==(const Pattern& other) const { return text() == other.text(); }

 private:
  struct Lazy;
  std::shared_ptr<Lazy> lazy_;
};

}  // namespace ncclog
