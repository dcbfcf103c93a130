#include "model/bounded_lines.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace ncclog {
namespace {

/// What stands in front of each line's text.
struct LineMark {
  int32_t indent = 0;
  uint32_t size = 0;  ///< Of the text.
};

}  // namespace

std::vector<IndentedLine> BoundedLines::lines() const {
  std::vector<IndentedLine> lines;
  std::string_view rest = has_lines() ? *bytes_ : std::string_view();
  while (!rest.empty()) {
    LineMark mark;
    std::memcpy(&mark, rest.data(), sizeof(mark));
    lines.push_back({mark.indent, rest.substr(sizeof(mark), mark.size)});
    rest.remove_prefix(sizeof(mark) + mark.size);
  }
  return lines;
}

void BoundedLines::add(int indent, std::string_view text) {
  const size_t before = has_lines() ? bytes_->size() : 0;
  cut_ |= before + sizeof(LineMark) + text.size() > kMaxBytes;
  if (cut_) return;
  if (!has_lines()) {
    bytes_ = std::make_shared<std::string>();
  } else if (bytes_.use_count() > 1) {
    bytes_ = std::make_shared<std::string>(*bytes_);
  }
  const LineMark mark{indent, static_cast<uint32_t>(text.size())};
  bytes_->append(reinterpret_cast<const char*>(&mark), sizeof(mark));
  bytes_->append(text);
}

void BoundedLines::merge(BoundedLines&& later) {
  if (!any()) {
    *this = std::move(later);
    return;
  }
  for (const IndentedLine& line : later.lines()) add(line.indent, line.text);
  cut_ |= later.cut_;
}

void BoundedLines::drop() {
  cut_ = any();
  bytes_ = nullptr;
}

bool BoundedLines::share(const BoundedLines& other) {
  if (!has_lines() || !has_same_lines(other)) return false;
  bytes_ = other.bytes_;
  return true;
}

void BoundedLines::fit() {
  if (bytes_.use_count() == 1) bytes_->shrink_to_fit();
}

bool BoundedLines::has_same_lines(const BoundedLines& other) const {
  if (bytes_ == other.bytes_) return true;
  return has_lines() && other.has_lines() && *bytes_ == *other.bytes_;
}

bool BoundedLines::operator==(const BoundedLines& other) const {
  return cut_ == other.cut_ && has_same_lines(other);
}

}  // namespace ncclog
