#include "import/document.h"

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace ncclog {

bool DocumentWalk::take(size_t steps) {
  if (steps > left_) {
    left_ = 0;
    return false;
  }
  left_ -= steps;
  return true;
}

const Value* DocumentWalk::member(const Value& dict, std::string_view name) {
  const Value* found = nullptr;
  each_member(dict, [&](std::string_view key, const Value& value) {
    if (key == name) found = &value;
  });
  return found;
}

std::string DocumentWalk::text(const Value& value) {
  const auto* found = std::get_if<std::string_view>(&value);
  if (found == nullptr || !take(found->size())) return {};
  return std::string(*found);
}

std::optional<int64_t> whole_number(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* text = std::get_if<std::string_view>(&value)) return parse_int(*text);
  if (const auto* real = std::get_if<double>(&value)) {
    constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it, not every number is itself.
    if (std::abs(*real) <= kExact && std::trunc(*real) == *real) {
      return static_cast<int64_t>(*real);
    }
  }
  return std::nullopt;
}

std::optional<double> real_number(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    return std::isfinite(*real) ? std::optional(*real) : std::nullopt;
  }
  if (const auto number = whole_number(value)) return static_cast<double>(*number);
  const auto* text = std::get_if<std::string_view>(&value);
  if (text == nullptr) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool whole = error == std::errc() && end == text->data() + text->size();
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<bool> truth(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  const auto number = whole_number(value);
  if (!number || *number < 0 || *number > 1) return std::nullopt;
  return *number == 1;
}

}  // namespace ncclog
