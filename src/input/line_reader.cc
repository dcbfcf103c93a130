#include "input/line_reader.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/text.h"

namespace ncclog {

// Lines out of blocks.

namespace {

/// Bytes that are searched for odd ones at a time: few, for lines may be skipped without a search,
/// and one odd byte has all lines beside it looked at singly.
constexpr size_t kCheckedBytes = size_t{4} << 10;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Without the beginning of a character at the end, where cutting the line left it.
std::string_view without_partial_character(std::string_view text) {
  constexpr size_t kLongestTail = 3;
  for (size_t i = 1; i <= kLongestTail && i <= text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[text.size() - i]);
    if (byte >= 0xC0) return text.substr(0, text.size() - i);
    if (byte < 0x80) break;
  }
  return text;
}

bool is_utf8(const Line& line) {
  if (is_valid_utf8(line.text)) return true;
  return line.cut && is_valid_utf8(without_partial_character(line.text));
}

}  // namespace

LineBuffer::LineBuffer(size_t block_bytes)
    : size_(kMaxLineBytes + block_bytes), bytes_(new char[size_ + kPaddingBytes]) {
  std::fill_n(bytes_.get() + size_, kPaddingBytes, '\0');
}

// A piece is read on only while it is not too long, so a whole block always fits after it.
LineReader::LineReader(ReadBlock read_block, uint64_t offset)
    : read_block_(std::move(read_block)),
      own_(kBlockBytes),
      data_(own_->bytes().data()),
      size_(own_->bytes().size()),
      base_(offset),
      first_number_(1),
      number_(1) {
  if (offset == 0) skip_byte_order_mark();
}

LineReader::LineReader(ReadBlock read_block, std::span<char> memory, LinePlace from)
    : read_block_(std::move(read_block)),
      data_(memory.data()),
      size_(memory.size()),
      base_(from.offset),
      first_number_(from.number),
      number_(from.number) {
  if (from.offset == 0) skip_byte_order_mark();
}

/// Everything but a whole line of ordinary bytes that lies in the buffer.
bool LineReader::next_slowly(Line& line) {
  if (is_cut_piece_) skip_rest_of_piece();
  if (is_after_cr_) finish_line_end();
  const size_t piece_end = find_piece_end();
  if (begin_ == end_) return false;
  const size_t length = piece_end - begin_;
  line.text = {data_ + begin_, std::min(length, kMaxLineBytes)};
  line.number = number_;
  line.offset = base_ + begin_;
  line.cut = length > kMaxLineBytes;
  // Behind odd_until_ nothing is odd, so that nothing is searched twice.
  const OddBytes odd = find_odd_bytes(begin_ < odd_until_ ? line.text : std::string_view());
  line.has_control = odd.control;
  line.has_high = odd.high;
  ++lines_;
  add_losses(line);
  line.cut |= piece_end == end_;
  consume(piece_end);
  return true;
}

void LineReader::add_losses(const Line& line) {
  if (line.cut) losses_.add(Loss::LineCut);
  if (line.has_control && line.text.find('\0') != line.text.npos) losses_.add(Loss::NulBytes);
  if (line.has_high && !is_utf8(line)) losses_.add(Loss::InvalidUtf8);
}

void LineReader::skip(const LineRun& run) {
  const std::string_view text(data_ + begin_, run.bytes);
  lines_ += run.lines;
  number_ += run.numbers;
  begin_ += run.bytes;
  if (!text.empty()) is_after_cr_ = text.ends_with('\r');
  // The loss counts lines, so they are looked at singly only where some byte is wrong.
  if (run.is_ascii || !find_odd_bytes(text).high || is_valid_utf8(text)) return;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find_first_of("\r\n", at);
    if (!is_valid_utf8(text.substr(at, end - at))) losses_.add(Loss::InvalidUtf8);
    at = end + 1;
  }
}

/// The "\r" or "\n" that ends the piece at begin_; end_ if the input ends first, or if the piece is
/// already too long.
size_t LineReader::find_piece_end() {
  size_t unseen = begin_;
  for (;;) {
    const size_t newline = find_newline();
    check_until(newline);
    const size_t found = unseen < odd_until_ ? find('\r', unseen, newline) : newline;
    if (found < end_) return found;
    const size_t seen = end_ - begin_;
    if (seen > kMaxLineBytes || !refill()) return end_;
    unseen = begin_ + seen;
  }
}

size_t LineReader::find_newline() {
  if (newline_ < begin_) newline_ = find('\n', begin_, end_);
  return newline_;
}

/// Moves [begin_, end_) to the front and reads one block after it; false at the end of the input.
bool LineReader::refill() {
  if (is_at_end_) return false;
  const bool has_newline = find_newline() < end_;
  // The line that goes on in the next block must lie in one piece.
  if (begin_ > 0) {
    std::memmove(data_, data_ + begin_, end_ - begin_);
    base_ += begin_;
    newline_ -= begin_;
    whole_until_ -= std::min(whole_until_, begin_);
    odd_until_ -= std::min(odd_until_, begin_);
    checked_until_ -= std::min(checked_until_, begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const size_t got = read_block_(data_ + end_, size_ - end_);
  const size_t old_end = std::exchange(end_, end_ + got);
  // Of a long line only the new bytes are searched, or each block would cost all before it.
  if (!has_newline) newline_ = find('\n', old_end, end_);
  find_whole_pieces(old_end);
  is_at_end_ = got == 0;
  return got > 0;
}

/// Moves whole_until_ behind the last piece that ends in [from, end_), or right before it.
void LineReader::find_whole_pieces(size_t from) {
  const auto find_last = [&](char wanted, size_t begin, size_t end) {
    const void* last = ::memrchr(data_ + begin, wanted, end - begin);
    return last == nullptr ? 0 : static_cast<size_t>(static_cast<const char*>(last) - data_) + 1;
  };
  size_t end = find_last('\n', from, end_);
  // The "\n" of a "\r" that is the very last byte may be still to come.
  const size_t begin = std::max(end, from - (from > begin_ ? 1 : 0));
  if (begin < end_) end = std::max(end, find_last('\r', begin, end_ - 1));
  if (end > 0) whole_until_ = end;
}

void LineReader::check_until(size_t place) {
  checked_until_ = std::max(checked_until_, begin_);
  while (checked_until_ < place) {
    const size_t count = std::min(kCheckedBytes, end_ - checked_until_);
    const bool is_odd = find_odd_bytes({data_ + checked_until_, count}) != OddBytes{};
    checked_until_ += count;
    if (is_odd) odd_until_ = checked_until_;
  }
}

void LineReader::skip_byte_order_mark() {
  while (end_ - begin_ < kByteOrderMark.size() && refill()) {
  }
  const std::string_view start(data_, end_);
  if (start.starts_with(kByteOrderMark)) begin_ += kByteOrderMark.size();
}

/// The "\r" may be the last byte of its block, so its "\n" is looked for only now.
void LineReader::finish_line_end() {
  is_after_cr_ = false;
  if (begin_ == end_ && !refill()) return;
  if (data_[begin_] == '\n') consume(begin_);
}

void LineReader::skip_rest_of_piece() {
  is_cut_piece_ = false;
  size_t piece_end = end_;
  while (piece_end == end_) {
    begin_ = newline_ = end_;
    if (!refill()) return;
    piece_end = find_piece_end();
  }
  consume(piece_end);
}

/// Moves past a piece and its end; one whose end is not in the buffer stays, for its view's sake.
void LineReader::consume(size_t piece_end) {
  if (piece_end == end_) {
    is_cut_piece_ = !is_at_end_;
    if (is_at_end_) begin_ = end_;
    return;
  }
  begin_ = piece_end + 1;
  const bool is_cr = data_[piece_end] == '\r';
  const bool is_crlf = is_cr && begin_ < end_ && data_[begin_] == '\n';
  if (is_crlf) ++begin_;
  is_after_cr_ = is_cr && !is_crlf;
  if (!is_after_cr_) ++number_;
}

// Units.

namespace {

constexpr uint64_t kSearchBytes = uint64_t{1} << 20;

/// The size of a file that may be cut; 0 if it may not.
uint64_t cuttable_size(const std::string& path, uint64_t unit_bytes, bool& has_holes) {
  // Pipes are not even opened: what is read from them is gone for the unit itself.
  struct stat file = {};
  if (path == kStdinPath || stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return 0;
  if (static_cast<uint64_t>(file.st_size) <= unit_bytes) return 0;
  constexpr int64_t kBlock = 512;  // Of st_blocks, whatever the file system's are.
  has_holes = file.st_blocks * kBlock < file.st_size;
  const ByteSource source(path);
  const bool is_plain_log = !source.is_stream() && sniff_content(source.head()) == Content::Text;
  return is_plain_log ? source.regular_size() : 0;
}

/// The first start of a line at or after `wanted` that may start a unit. `wanted` > 0.
std::optional<uint64_t> find_start(const std::string& path, uint64_t wanted,
                                   const CutOptions& options) {
  // From one byte before: if that is a line end, `wanted` itself is the start of a line.
  // A line of gigabytes is not worth reading here; each line that counts is seen as far as it is
  // kept.
  const RawBytes file = open_file(path, wanted - 1, wanted + kSearchBytes + kMaxLineBytes + 1);
  LineReader lines(file.read, wanted - 1);
  uint64_t last_number = 1;
  for (Line line; lines.next(line) && line.offset < wanted + kSearchBytes;) {
    const bool starts_line = line.number != last_number;
    last_number = line.number;
    if (!starts_line) continue;
    if (!options.may_start_unit || options.may_start_unit(line.text)) return line.offset;
  }
  return std::nullopt;
}

/// Where the units of one file begin, 0 first.
std::vector<uint64_t> find_starts(const std::string& path, const CutOptions& options) {
  const uint64_t step = std::max<uint64_t>(1, options.unit_bytes);
  bool has_holes = false;
  const uint64_t size = cuttable_size(path, step, has_holes);
  std::vector<uint64_t> starts = {0};
  for (uint64_t wanted = step; wanted < size;) {
    if (has_holes) wanted = next_data(path, wanted);
    if (wanted >= size) break;
    const std::optional<uint64_t> start = find_start(path, wanted, options);
    if (start && *start < size) {
      starts.push_back(*start);
      wanted = *start;
    }
    // Without a place to begin, the stretch before goes on through this one.
    wanted = step < size - wanted ? wanted + step : size;
  }
  if (starts.size() > 1) starts.push_back(size);
  return starts;
}

}  // namespace

std::vector<Unit> cut_units(std::span<const std::string> inputs, const CutOptions& options) {
  std::vector<Unit> units;
  for (uint32_t input = 0; input < inputs.size(); ++input) {
    const auto index = [&] { return static_cast<uint32_t>(units.size()); };
    const std::vector<uint64_t> starts = find_starts(inputs[input], options);
    if (starts.size() == 1) units.push_back({.index = index(), .input = input});
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      units.push_back({index(), input, starts[i], starts[i + 1], false});
    }
  }
  return units;
}

// One unit, and what became of it.

void add_state(SourceState state, UnitResult& result) {
  switch (state) {
    case SourceState::Good:
      return;
    case SourceState::Cut:
      result.status = InputStatus::Cut;
      return result.losses.add(Loss::InputCut);
    case SourceState::SizeLimit:
      result.status = InputStatus::Cut;
      return result.losses.add(Loss::SizeLimit);
    case SourceState::Unreadable:
      result.status = InputStatus::Unreadable;
      return result.losses.add(Loss::InputUnreadable);
  }
}

ByteSource open_unit(const Unit& unit, const std::string& path, const ReadOptions& options) {
  SourceOptions source{.max_expanded = options.max_expanded};
  if (!unit.whole) {
    source.begin = unit.begin;
    source.end = unit.end;
  }
  return ByteSource(path, source);
}

UnitReader::UnitReader(const Unit& unit, ByteSource& source, std::span<char> memory)
    : source_(source), offset_(unit.begin), memory_(memory) {
  result_.compression = source.compression();
  result_.bytes_on_disk = source.regular_size();
  // Only plain text is cut; a stretch that happens to start like something else is text all the same.
  result_.content = unit.whole ? sniff_content(source.head()) : Content::Text;
  if (is_log(result_.content)) source.skip_holes();
}

void UnitReader::start_lines() {
  const auto read = [this](char* buffer, size_t capacity) { return read_block(buffer, capacity); };
  if (memory_.empty()) {
    lines_.emplace(read, offset_);
  } else {
    lines_.emplace(read, memory_.first(std::min(memory_.size(), kMaxLineBytes + kBlockBytes)),
                   LinePlace{.offset = offset_});
  }
}

size_t UnitReader::read_block(char* buffer, size_t capacity) {
  return is_log(result_.content) ? read(buffer, capacity) : 0;
}

void UnitReader::add(const LineReader& lines) {
  result_.lines += lines.lines();
  result_.losses += lines.losses();
  result_.newlines += lines.newlines();
}

size_t UnitReader::read(char* buffer, size_t capacity) {
  is_read_ = true;
  const size_t count = source_.read(buffer, capacity);
  result_.bytes += count;
  return count;
}

void UnitReader::refuse(std::string why) { refusal_ = std::move(why); }

UnitResult UnitReader::finish() {
  if (lines_) add(*lines_);
  result_.note = source_.note();
  add_state(source_.state(), result_);
  // Losses of lines say nothing of what was never read as lines.
  if (!refusal_.empty()) {
    result_.status = InputStatus::Unreadable;
    result_.note = result_.note.empty() ? refusal_ : refusal_ + " " + result_.note;
    result_.losses = {};
    result_.losses.add(Loss::InputUnreadable);
  } else if (!is_log(result_.content) && !is_read_) {
    result_.status = InputStatus::Skipped;
    result_.note = content_note(result_.content);
    result_.losses = {};
    result_.losses.add(Loss::InputSkipped);
  }
  return std::move(result_);
}

// One stream, read by several threads.

LineStream::LineStream(UnitReader& input, MayStart may_start)
    : input_(input), may_start_(std::move(may_start)) {}

/// The last whole line of `block` that may start a stretch; 0 if none in its last quarter may.
size_t LineStream::find_boundary(std::string_view block) const {
  const size_t least = block.size() - block.size() / 4;
  size_t end = block.rfind('\n');
  while (end != block.npos && end > least) {
    const size_t before = block.rfind('\n', end - 1);
    if (before == block.npos || before < least) return 0;
    const size_t begin = before + 1;
    const std::string_view line = block.substr(begin, end - begin);
    // It is judged by its first piece, as far as that is kept.
    if (may_start_(line.substr(0, std::min(line.find('\r'), kMaxLineBytes)))) return begin;
    end = before;
  }
  return 0;
}

/// Reads until the buffer is full or the input ends. Lines are counted while their bytes are still
/// in the processor's cache: the next thread waits for the count.
size_t LineStream::fill(char* buffer, size_t capacity) {
  constexpr size_t kPieceBytes = size_t{512} << 10;
  size_t size = carry_.copy(buffer, capacity);
  next_.number += count_newlines(carry_);
  carry_.clear();
  while (size < capacity) {
    const size_t count = input_.read_block(buffer + size, std::min(capacity - size, kPieceBytes));
    if (count == 0) break;
    next_.number += count_newlines({buffer + size, count});
    size += count;
  }
  return size;
}

Stretch::Stretch(LineStream& stream, std::span<char> memory)
    : stream_(stream),
      turn_(stream.turn_),
      block_bytes_(memory.size() - kMaxLineBytes),
      is_none_(stream.is_over_),
      index_(is_none_ ? stream.stretches_ : stream.stretches_++),
      lines_([this](char* buffer, size_t) { return read_block(buffer); }, memory, stream.next_) {}

/// With the turn: bytes of the stream up to the end of the stretch, or a block in which it does not
/// end. Without: nothing more.
size_t Stretch::read_block(char* buffer) {
  if (!turn_.owns_lock() || is_none_) return 0;
  const size_t size = stream_.fill(buffer, block_bytes_);
  is_last_ = stream_.is_over_ = size < block_bytes_;
  const std::string_view block(buffer, size);
  const size_t boundary = is_last_ ? 0 : stream_.find_boundary(block);
  const std::string_view own = boundary == 0 ? block : block.substr(0, boundary);
  stream_.carry_ = block.substr(own.size());
  stream_.next_.offset += own.size();
  stream_.next_.number -= count_newlines(stream_.carry_);
  // All that the next thread needs is set; a stretch without boundary keeps the turn and goes on.
  if (is_last_ || boundary > 0) turn_.unlock();
  return own.size();
}

/// What could not be read to its end is not gone on with.
Stretch::~Stretch() {
  if (turn_.owns_lock()) stream_.is_over_ = true;
  if (is_none_) return;
  const std::lock_guard lock(stream_.counting_);
  stream_.input_.add(lines_);
}

}  // namespace ncclog
