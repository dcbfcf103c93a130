#include "model/shard/known_shapes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "base/wide_vectors.h"
#include "log/line/header.h"
#include "log/line/prefix.h"
#include "log/line/scanner.h"
#include "log/messages.h"
#include "model/records.h"
#include "model/timeline.h"

namespace ncclog {
namespace {

constexpr size_t kShapes = 4096;

/// Lines that say one thing whatever their digits: no kind but those of steps and bars, no header,
/// nothing that is compared with a certain number.
bool is_alike(std::string_view shape, const Event& event) {
  // A number that may be too large to be one, colours without ESC, and what may begin a record.
  static const std::string kLongNumber(19, '1');
  constexpr std::string_view kTelling[] = {"NCCL", "[1m",   "[1;1", "\x1b",
                                           "\r",   ".cpp:", "\"",   "ulimit"};
  const Header& header = event.header;
  const Kind* kind = event.message.kind;
  const bool is_step = kind != nullptr && (kind->index == kKindIndex<IterationLine> ||
                                           kind->index == kKindIndex<ProgressBar> ||
                                           kind->index == kKindIndex<EvalProgress>);
  std::string plain;
  return (is_step || event.fate == LineFate::Foreign) && header.level == Level::None &&
         header.unexplained.empty() && header.host.empty() && header.repeated == 0 &&
         !trim(header.message).empty() && header.prefix.stream.empty() &&
         shape.find(kLongNumber) == shape.npos && shape.find('\0') == shape.npos &&
         !holds_one_of(shape, kTelling) && !holds_one_of(shape, error_needles()) &&
         !may_begin_python_record(shape, header.prefix.length) && !may_be_header_stub(shape) &&
         !holds_process(shape) && find_task_tag(shape, true) == shape.npos &&
         strip_ansi(shape, plain).data() == shape.data();
}

}  // namespace

bool is_out_of_question(std::string_view literal, std::string_view text) {
  const auto varies = [](char c) { return is_hex_digit(c) || c == 'x'; };
  for (size_t begin = 0; begin < literal.size();) {
    size_t end = begin;
    while (end < literal.size() && !varies(literal[end])) ++end;
    if (end > begin && text.find(literal.substr(begin, end - begin)) == text.npos) return true;
    begin = end + 1;
  }
  return false;
}

bool may_match(const LineMatcher& matcher, std::string_view text) {
  if (!matcher) return false;
  if (!matcher.literals) return true;
  return std::any_of(
      matcher.literals->begin(), matcher.literals->end(),
      [&](const std::string& literal) { return !is_out_of_question(literal, text); });
}

/// Puts the shape of the line into shape_; its hash.
NCCLOG_WIDE_VECTORS uint64_t KnownShapes::read_shape(std::string_view text) {
  // In pieces of one size, so that compilers use vectors, and with sums that do not wait for each
  // other.
  constexpr size_t kPiece = 32;
  std::array<uint64_t, kPiece / sizeof(uint64_t)> sums{};
  shape_.assign(text);
  shape_.resize((text.size() + kPiece - 1) / kPiece * kPiece);
  for (char* piece = shape_.data(); piece != shape_.data() + shape_.size(); piece += kPiece) {
    for (size_t i = 0; i < kPiece; ++i) piece[i] = is_digit(piece[i]) ? '1' : piece[i];
    std::array<uint64_t, sums.size()> words;
    std::memcpy(words.data(), piece, kPiece);
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = (sums[i] ^ words[i]) * 0x9e3779b97f4a7c15U;
      sums[i] ^= sums[i] >> 32;
    }
  }
  shape_.resize(text.size());
  uint64_t hash = text.size();
  for (const uint64_t sum : sums) hash = (hash ^ sum) * 0xd6e8feb86659fd93U, hash ^= hash >> 32;
  return hash;
}

/// True if no line of that shape has a prefix: numbers count there by how large they are, or as a
/// row of zeros or a one.
bool never_has_prefix(std::string shape) {
  if (parse_prefix(shape).length > 0) return false;
  std::ranges::replace(shape, '1', '0');
  return parse_prefix(shape).length == 0;
}

const KnownShape* KnownShapes::find(std::string_view bytes) {
  if (shapes_.empty()) return nullptr;
  bytes = bytes.substr(0, kMaxBytes);
  const size_t newline = bytes.find('\n');
  const size_t end = std::min(bytes.substr(0, newline).find('\r'), newline);
  return end == bytes.npos ? nullptr : find_text(bytes.substr(0, end));
}

const KnownShape* KnownShapes::find_text(std::string_view text) {
  KnownShape* known = shapes_[read_shape(text) % kShapes].get();
  if (known == nullptr || !known->is_alike || known->shape != shape_) return nullptr;
  text.copy(known->text.data(), text.size());
  known->line = text;
  if (!known->has_prefix) return known;
  const Prefix prefix = parse_prefix(known->text);
  if (prefix.length != known->event.header.prefix.length) return nullptr;
  known->event.header.prefix = prefix;
  return known;
}

void KnownShapes::learn(std::string_view text, const Event& event) {
  if (text.size() >= kMaxBytes || finder_.wants_all_lines()) return;
  const uint64_t hash = read_shape(text);
  if (seen_.empty()) seen_.resize(kShapes);
  if (std::exchange(seen_[hash % kShapes], hash) != hash) return;
  if (shapes_.empty()) shapes_.resize(kShapes);
  auto& known = shapes_[hash % kShapes];
  if (known != nullptr && known->shape == shape_) return;
  known = std::make_unique<KnownShape>(KnownShape{.shape = shape_});
  known->is_alike = is_alike(shape_, event) && !may_match(matcher_, text);
  if (!known->is_alike) return;
  known->text = text;
  known->event = moved(event, text, known->text);
  known->has_marker = finder_.find(known->text, known->marker);
  // Of all times with digits in those places this one is certain to be one.
  known->is_dated = find_line_time(shape_).known();
  known->names_step = Pulse::names_step(text);
  known->has_prefix = event.header.prefix.length > 0 || !never_has_prefix(shape_);
}

}  // namespace ncclog
