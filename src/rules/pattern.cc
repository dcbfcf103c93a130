#include "rules/pattern.h"

#include <re2/re2.h>

#include <mutex>
#include <optional>
#include <utility>

namespace ncclog {

struct Pattern::Lazy {
  std::string text;
  std::once_flag once;
  std::optional<re2::RE2> compiled;

  const re2::RE2& expression() {
    std::call_once(once, [this] {
      re2::RE2::Options options(re2::RE2::Latin1);
      options.set_log_errors(false);
      compiled.emplace(text, options);
    });
    return *compiled;
  }
};

Pattern::Pattern(std::string text) : lazy_(std::make_shared<Lazy>()) {
  lazy_->text = std::move(text);
}

const std::string& Pattern::text() const {
  static const std::string none;
  return lazy_ != nullptr ? lazy_->text : none;
}

bool Pattern::matches(std::string_view bytes) const {
  if (lazy_ == nullptr) return false;
  const re2::RE2& expression = lazy_->expression();
  return expression.ok() &&
         re2::RE2::PartialMatch(re2::StringPiece(bytes.data(), bytes.size()), expression);
}

std::optional<std::string> Pattern::capture(std::string_view bytes,
                                            const std::string& group) const {
  if (lazy_ == nullptr || !lazy_->expression().ok()) return std::nullopt;
  const re2::RE2& expression = lazy_->expression();
  const auto number = expression.NamedCapturingGroups().find(group);
  if (number == expression.NamedCapturingGroups().end()) return std::nullopt;
  std::vector<re2::StringPiece> groups(static_cast<size_t>(number->second) + 1);
  const re2::StringPiece text(bytes.data(), bytes.size());
  const bool found = expression.Match(text, 0, text.size(), re2::RE2::UNANCHORED, groups.data(),
                                      static_cast<int>(groups.size()));
  if (!found || groups.back().data() == nullptr) return std::nullopt;
  return std::string(groups.back().data(), groups.back().size());
}

std::vector<std::string> Pattern::group_names() const {
  constexpr std::string_view kBegin = "(?P<";
  const std::string_view all = text();
  std::vector<std::string> names;
  for (size_t at = 0; at < all.size(); ++at) {
    if (all[at] == '\\') {
      ++at;
    } else if (all.substr(at).starts_with(kBegin)) {
      const size_t begin = at + kBegin.size();
      const size_t end = all.find('>', begin);
      if (end == all.npos) break;
      names.emplace_back(all.substr(begin, end - begin));
    }
  }
  return names;
}

std::string Pattern::error() const {
  return lazy_ != nullptr ? lazy_->expression().error() : std::string();
}

}  // namespace ncclog
