#include "log/broken_message.h"

#include "base/text.h"
#include "log/messages.h"
#include "log/record_joiner.h"

namespace ncclog {
namespace {

constexpr size_t kMostPieces = 4;
constexpr size_t kLongestPiece =
    1024;                          ///< Of NCCL's own buffer: no line of a broken one is longer.
constexpr size_t kNarrowest = 40;  ///< Columns; nothing breaks shorter lines.

/// "[rank1]: Last error:": the WARN that an exception of PyTorch quotes is on the next line.
bool is_label(const Event& event) {
  return event.message.kind != nullptr && event.message.kind->index == kKindIndex<LastErrorLabel>;
}

/// No wording fits, or only one for what a page or a collector cut: the rest may be on the next
/// line.
bool may_be_cut(const Event& event) {
  if (event.fate == LineFate::Unrecognised) return true;
  return event.message.wording != nullptr && event.message.wording->general &&
         event.message.kind->index == kKindIndex<IbCompletion>;
}

}  // namespace

void BrokenMessage::add(const Line& line, int lines) {
  if (held_ > 0 && join(line, lines)) return;
  finish();
  const Event event = parse_event(line.text, wordings_);
  const bool is_open = may_be_cut(event) && !event.header.torn && line.text.size() >= kNarrowest;
  const bool may_go_on = (is_open || is_label(event)) && line.text.size() <= kLongestPiece;
  if (may_go_on) return hold(line, lines);
  receive_(line, event, lines);
}

void BrokenMessage::finish() {
  for (size_t i = 0; i < held_; ++i) {
    const Piece& piece = pieces_[i];
    Line line = piece.place;
    line.text = piece.text;
    receive_(line, parse_event(line.text, wordings_), piece.lines);
  }
  held_ = 0;
}

void BrokenMessage::hold(const Line& line, int lines) {
  if (held_ == pieces_.size()) pieces_.emplace_back();
  pieces_[held_].text.assign(line.text);
  pieces_[held_].place = line;
  pieces_[held_].lines = lines;
  ++held_;
}

/// True if `line` goes on with what is held: it was handed on with it, or is held too.
bool BrokenMessage::join(const Line& line, int lines) {
  if (line.text.size() > kLongestPiece) return false;
  const auto rest = rest_of_record(line.text, pieces_[0].text);
  const Event event = parse_event(line.text, wordings_);
  if (!rest || event.header.level != Level::None || event.fate != LineFate::Foreign) return false;
  hold(line, lines);
  if (is_label(parse_event(pieces_[0].text, wordings_))) {
    // A text that is no known WARN stays a line of its own.
    if (!hand_on_joined(" ")) finish();
    held_ = 0;
    return true;
  }
  if (hand_on_joined(" ") || hand_on_joined("")) {
    held_ = 0;
    return true;
  }
  if (held_ == kMostPieces) finish();
  return true;
}

/// Hands the pieces on as one record if a wording fits them, put together with `separator`.
bool BrokenMessage::hand_on_joined(std::string_view separator) {
  joined_.clear();
  int lines = 0;
  for (size_t i = 0; i < held_; ++i) {
    const std::string_view text = pieces_[i].text;
    joined_ += i == 0
                   ? trim(text)
                   : std::string(separator) + std::string(*rest_of_record(text, pieces_[0].text));
    lines += pieces_[i].lines;
  }
  const Event event = parse_event(joined_, wordings_);
  if (event.fate != LineFate::Recognised || may_be_cut(event)) return false;
  Line record = pieces_[0].place;
  record.text = joined_;
  record.has_control = record.has_high = true;
  receive_(record, event, lines);
  return true;
}

}  // namespace ncclog
