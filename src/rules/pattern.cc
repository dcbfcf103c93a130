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

std::string Pattern::error() const {
  return lazy_ != nullptr ? lazy_->expression().error() : std::string();
}

}  // namespace ncclog
