#include "log/event_reader.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "log/line/prefix.h"
#include "log/line/scanner.h"
#include "log/messages.h"
#include "log/record_starts.h"
#include "log/wording/headed_tables.h"
#include "log/wording/other_programs.h"

namespace ncclog {
namespace {

template <typename T>
bool is_of(const Event& event) {
  return event.message.kind != nullptr && event.message.kind->index == kKindIndex<T>;
}

// Records that span lines.

constexpr size_t kMaxJoinedBytes = 4096;  ///< A wrapped record is a paragraph, not a page.
constexpr int kMaxPieces = 4;
constexpr size_t kLongestStub = 512;

/// "… 'ulimit -l'" at the end of a quoted command line: its answer is the next
/// line.
bool asks_for_memlock(std::string_view line) {
  line = trim(line);
  while (!line.empty() && (line.back() == '\'' || line.back() == '"')) line.remove_suffix(1);
  return line.ends_with(kMemlockQuestion[0]);
}

bool is_memlock_answer(std::string_view line) {
  line = trim(line);
  return line == "unlimited" || parse_int(line).has_value();
}

/// What fits a wording for what a page or a collector cut, or quotes a work as far as that: the
/// rest may be on the next line.
bool is_cut(const Event& event) {
  if (is_of<WatchdogTerminated>(event) || is_of<CppWhat>(event) || is_of<CommAborted>(event)) {
    const std::string_view text = event.header.message;
    const size_t quoted = text.find("Watchdog caught ");
    return quoted != text.npos && is_cut(parse_event(text.substr(quoted), all_wordings()));
  }
  return (is_of<IbCompletion>(event) || is_of<WatchdogTimeout>(event)) &&
         event.message.wording->general;
}

/// A wording fits that is for no cut line.
bool says_all(std::string_view record) {
  const Event event = parse_event(record, all_wordings());
  return event.message.kind != nullptr && !is_cut(event);
}

/// A record of PyTorch's C++ side, as wide as a terminal, whose message says nothing so far. Few
/// lines begin like that, so it may be read twice.
bool may_be_wrapped(std::string_view line) {
  constexpr size_t kNarrowest = 60;
  constexpr size_t kWidest = 300;
  if (line.size() < kNarrowest || line.size() > kWidest || line[0] != '[') return false;
  if (line.substr(0, kNarrowest + 20).find(".cpp:") == line.npos) return false;
  return parse_header(line).level == Level::Framework && !says_all(line);
}

/// The prefix names nobody but who prints behind `other`: what the process itself puts before a
/// record does not stand before its further lines, and a collector's stamp names nobody.
bool may_be_voice(const Prefix& prefix, const Prefix& other) {
  const auto agrees = [](const auto& own, const auto& others, const auto& none) {
    return own == none || own == others;
  };
  return agrees(prefix.rank, other.rank, -1) && agrees(prefix.local_rank, other.local_rank, -1) &&
         agrees(prefix.host, other.host, std::string_view()) &&
         agrees(prefix.address, other.address, std::string_view()) &&
         agrees(prefix.pid, other.pid, -1);
}

/// `line` without its prefix, if it may go on with a record that begins with the line `begun`: it
/// has no header of its own, is not blank, and its prefix names nobody else.
/// A view into `line`.
std::optional<std::string_view> rest_of_record(std::string_view line, std::string_view begun) {
  if (is_header_stub(line)) return std::nullopt;
  const Header header = parse_header(line);
  if (header.level == Level::Framework || !header.host.empty()) return std::nullopt;
  const size_t prefix = header.prefix.length;
  if (prefix > 0 && !may_be_voice(header.prefix, parse_header(begun).prefix)) return std::nullopt;
  const std::string_view rest = trim(line.substr(prefix));
  return rest.empty() ? std::nullopt : std::optional(rest);
}

// NCCL lines whose message was broken.

constexpr size_t kMostPieces = 4;
/// Of NCCL's own buffer: no line of a broken message is longer.
constexpr size_t kLongestPiece = 1024;
constexpr size_t kNarrowest = 40;  ///< Columns; nothing breaks shorter lines.

/// "[rank1]: Last error:": the WARN that an exception of PyTorch quotes is on the next line.
bool is_label(const Event& event) { return is_of<LastErrorLabel>(event); }

/// An exception whose message begins below the class, or has a list below it.
bool has_more_below(const Event& event) {
  const std::string_view said = trim(event.header.message);
  return is_of<PythonException>(event) &&
         (said.ends_with(':') || said.find(" validation error") != said.npos);
}

/// `next` is what such an exception goes on with: any line below the class alone, else one that is
/// indented, or the name in quotes of what it is about. Other processes' warnings and Java's frames
/// are indented alike.
bool goes_on_with(std::string_view exception, std::string_view next) {
  const std::string_view said = trim(parse_header(exception).message);
  const std::string_view text = trim(next);
  if (text.starts_with("warnings.warn(") || (text.starts_with("at ") && text.ends_with(')')))
    return false;
  const bool is_quote = said.ends_with(':') && text.starts_with('\'') && text.size() > 2 &&
                        text.find('\'', 1) == text.size() - 1;
  return said.find(' ') == said.npos || is_quote || (!next.empty() && is_blank(next[0]));
}

/// No wording fits, or only one for what was cut.
bool may_be_cut(const Event& event) {
  return event.fate == LineFate::Unrecognised || is_cut(event);
}

// Python's tracebacks.

constexpr size_t kMostOpen = 64;  ///< Ranks of a node, and more.
constexpr int kMostLines = 2000;  ///< Python leaves frames out that repeat themselves.

/// Who prints a line, as far as its prefix says.
std::string voice_of(const Prefix& prefix) {
  std::string voice;
  for (const int64_t number : {int64_t{prefix.rank}, int64_t{prefix.local_rank}, prefix.pid}) {
    voice += std::to_string(number) + ' ';
  }
  return voice.append(prefix.host).append(" ").append(prefix.address);
}

/// The WARN of NCCL that an error of another program quotes, as a line of its own: "[rank1]: Last
/// error: Cuda failure …". Empty: it quotes none.
std::string quoted_warning(const Line& record, const Event& event) {
  std::string line(record.text.substr(0, event.header.prefix.length));
  std::string_view text;
  if (is_of<XlaNcclFailure>(event)) {
    text = trim(read_message<XlaNcclFailure>(event.message).last_error);
    if (text.empty()) return {};
    return line.append("Last NCCL warning(error) log entry (may be unrelated) '").append(text) +
           "'";
  }
  if (is_of<NcclTestsFailure>(event))
    text = read_message<NcclTestsFailure>(event.message).last_error;
  // PyTorch's label, where a collector wrote all lines of the exception into one.
  constexpr std::string_view kLabel = " Last error: ";
  const size_t label = is_of<NcclException>(event) ? record.text.find(kLabel) : record.text.npos;
  if (label != record.text.npos) text = record.text.substr(label + kLabel.size());
  if (trim(text).empty()) return {};
  return line.append("Last error: ").append(trim(text));
}

/// What is of that kind only behind the lines that stand before; a message without a kind if it is
/// not: the first line behind frames is an exception, whatever its class is called.
template <typename T>
Message read_asked(std::string_view text) {
  Message message;
  for (const Wording& wording : all_kinds()[kKindIndex<T>].wordings) {
    if (wording.is_only_asked() && match_wording(wording, text, message)) return message;
  }
  return {};
}

/// Another line of the traceback has said it.
void say_nothing(Event& event) {
  event.message = {};
  event.fate = LineFate::Foreign;
}

/// The line behind the frames is an exception, unless it is something known.
void name_exception(Event& event) {
  if (event.fate != LineFate::Foreign || event.header.level != Level::None) return;
  event.message = read_asked<PythonException>(trim(event.header.message));
  if (event.message.kind != nullptr) event.fate = LineFate::Recognised;
}

}  // namespace

// Records that span lines.

/// True if what is held and `text` are a header that neither is alone.
bool RecordJoiner::completes_header(std::string_view text) const {
  const std::string joined = std::string(trim(held_.text)) + ' ' + std::string(text);
  const Header header = parse_header(joined);
  return !header.host.empty() && !header.message.empty();
}

/// Takes the line in if what is held and it are a message that neither is alone. A terminal cuts
/// words where its width ends; the blank that stood there may be gone.
bool RecordJoiner::add_wrapped(const Line& line, int lines) {
  // What was wrapped is as wide as the terminal, so the rest is no longer than the line before it.
  if (line.text.size() > width_ + 1 || says_all(line.text)) return false;
  for (const std::string_view between : {"", " "}) {
    const std::string rest = std::string(between).append(trim(line.text));
    if (!says_all(held_.text + rest)) continue;
    held_.append(rest, lines);
    finish();
    return true;
  }
  // As wide as the one before it: the terminal ends there, and the message does not.
  constexpr std::string_view kLong = "Watchdog caught collective operation timeout";
  const std::string joined = held_.text + std::string(line.text);
  if (line.text.size() != width_ || held_.pieces >= kMaxPieces || joined.find(kLong) == joined.npos)
    return false;
  held_.append(line.text, lines);
  return true;
}

/// True if the line goes on with what is held, and was taken in.
bool RecordJoiner::go_on(const Line& line, int lines) {
  if (waiting_ == Waiting::Nothing) return false;
  const auto rest = rest_of_record(line.text, held_.text);
  if (!rest) return false;
  if (waiting_ == Waiting::ForMessage) return add_wrapped(line, lines);
  const bool fits = waiting_ == Waiting::ForLevel  ? completes_header(*rest)
                    : waiting_ == Waiting::ForRest ? parse_header(line.text).level == Level::None
                                                   : is_memlock_answer(*rest);
  if (fits) append(*rest, lines);
  return fits;
}

void RecordJoiner::add(const Line& line, int lines) {
  const bool is_whole = !is_followed(line, lines);
  if (is_whole && go_on(line, lines)) return;
  // It may begin a record of its own.
  finish();
  if (!is_whole) return receive_(line, lines);
  if (asks_for_memlock(line.text)) return hold(line, lines, Waiting::ForAnswer);
  if (line.text.size() < kLongestStub && is_header_stub(line.text))
    return hold(line, lines, Waiting::ForLevel);
  if (may_be_wrapped(line.text)) return hold(line, lines, Waiting::ForMessage);
  receive_(line, lines);
}

void RecordJoiner::finish() {
  waiting_ = Waiting::Nothing;
  if (std::exchange(held_.pieces, 0) > 0) receive_(held_.record(), held_.lines);
}

void RecordJoiner::hold(const Line& line, int lines, Waiting waiting) {
  held_.hold(line, lines, kMaxJoinedBytes);
  waiting_ = waiting;
  width_ = held_.text.size();
}

/// An answer is one line; a header and its message may be several.
void RecordJoiner::append(std::string_view text, int lines) {
  while (!held_.text.empty() && is_blank(held_.text.back())) held_.text.pop_back();
  held_.text += ' ';
  held_.append(trim(text).substr(0, kMaxJoinedBytes), lines);
  if (waiting_ == Waiting::ForAnswer || ++held_.pieces >= kMaxPieces) return finish();
  waiting_ = Waiting::ForRest;
}

// NCCL lines whose message was broken.

void BrokenMessage::add(const Line& line, int lines) {
  const bool is_whole = !is_followed(line, lines);
  if (is_whole && held_ > 0 && join(line, lines)) return;
  finish();
  const Event event = parse_event(line.text, wordings_);
  const bool is_open =
      is_whole && may_be_cut(event) && !event.header.torn && line.text.size() >= kNarrowest;
  const bool is_exception = has_more_below(event);
  const bool has_rest = is_open || (is_whole && (is_label(event) || is_exception));
  const bool may_go_on = has_rest && line.text.size() <= kLongestPiece;
  if (may_go_on) {
    held_as_ = is_exception ? HeldAs::Exception : is_open ? HeldAs::Piece : HeldAs::Label;
    return hold(line, lines);
  }
  receive_(line, event, lines);
}

void BrokenMessage::finish() {
  for (size_t i = 0; i < held_; ++i) {
    const Line line = pieces_[i].record();
    receive_(line, parse_event(line.text, wordings_), pieces_[i].lines);
  }
  held_ = 0;
}

void BrokenMessage::hold(const Line& line, int lines) {
  if (held_ == pieces_.size()) pieces_.emplace_back();
  pieces_[held_++].hold(line, lines);
}

/// True if `line` goes on with what is held: it was handed on with it, or is held too.
bool BrokenMessage::join(const Line& line, int lines) {
  if (line.text.size() > kLongestPiece) return false;
  const auto rest = rest_of_record(line.text, pieces_[0].text);
  const Event event = parse_event(line.text, wordings_);
  if (!rest || event.header.level != Level::None || event.fate != LineFate::Foreign) return false;
  if (held_as_ == HeldAs::Exception && !goes_on_with(pieces_[0].text, event.header.message))
    return false;
  hold(line, lines);
  if (held_as_ != HeldAs::Piece) {
    // A text that is no known WARN stays a line of its own.
    if (!hand_on_joined(" ")) finish();
    held_ = 0;
    return true;
  }
  // A page breaks at blanks and drops them, a terminal breaks anywhere.
  if (hand_on_joined(" ") || hand_on_joined("")) {
    held_ = 0;
    return true;
  }
  if (held_ == kMostPieces) finish();
  return true;
}

/// Hands the pieces on as one record if a wording fits them, put together with `separator`.
bool BrokenMessage::hand_on_joined(std::string_view separator) {
  Line first = pieces_[0].record();
  first.text = trim(first.text);
  joined_.hold(first, pieces_[0].lines);
  for (size_t i = 1; i < held_; ++i) {
    const auto rest = rest_of_record(pieces_[i].text, pieces_[0].text);
    joined_.append(std::string(separator).append(*rest), pieces_[i].lines);
  }
  const Event event = parse_event(joined_.text, wordings_);
  // Nothing fits yet, or only what fits a cut line too: the next line may hold the rest.
  if (event.fate != LineFate::Recognised || may_be_cut(event)) return false;
  receive_(joined_.record(), event, joined_.lines);
  return true;
}

// Python's tracebacks.

bool Tracebacks::concern(const Event& event) const {
  return is_open() || is_of<ExceptionIgnored>(event) || is_of<TracebackStarted>(event) ||
         is_of<TracebackFrame>(event);
}

Event Tracebacks::read(const Event& event) {
  Event result = event;
  raised_at_.clear();
  const bool is_ignored = is_of<ExceptionIgnored>(event);
  const bool is_begin = is_of<TracebackStarted>(event);
  if (is_whole_info(event.header)) {
    open_.clear();
    return result;
  }
  const std::string voice = voice_of(event.header.prefix);
  std::erase_if(open_, [](Open& open) { return ++open.lines > kMostLines; });
  auto open = std::ranges::find(open_, voice, &Open::voice);
  if (is_ignored || is_begin) {
    // The traceback begins on the line behind the words that make it one to be ignored.
    const bool was_announced = open != open_.end() && open->is_ignored && !open->has_begun;
    if (open != open_.end()) open_.erase(open);
    if (open_.size() == kMostOpen) open_.erase(open_.begin());
    open_.push_back({voice, is_ignored || was_announced, is_begin});
    if (was_announced) say_nothing(result);
    result.is_of_traceback = true;
    return result;
  }
  const std::string_view text = event.header.message;
  if (open == open_.end()) {
    if (!is_of<TracebackFrame>(event)) return result;
    if (open_.size() == kMostOpen) open_.erase(open_.begin());
    open_.push_back({voice, false, true, true, true, 0, std::string(trim(text))});
    result.is_of_traceback = true;
    return result;
  }
  const bool is_frame = open->has_begun && (text.starts_with(' ') || text.starts_with('\t'));
  if (is_frame) {
    // multiprocessing prints what a finalizer raises while the process leaves, and goes on.
    open->is_ignored |= text.ends_with(", in _run_finalizers");
    if (!is_of<TracebackFrame>(event)) return result;
    open->has_frames = true;
    open->frame = trim(text);
    // Only where the first line is lost does a frame say what that says.
    say_nothing(result);
    result.is_of_traceback = true;
    return result;
  }
  const Open ended = std::move(*open);
  open_.erase(open);
  if (!ended.has_frames) return result;
  result.is_of_traceback = true;
  if (ended.is_ignored) {
    say_nothing(result);
  } else if (!ended.is_headless) {
    name_exception(result);
  }
  // Ctrl-C and an exit are asked for, wherever they meet the program.
  if (is_of<PythonException>(result) &&
      read_message<PythonException>(result.message).message.empty() &&
      !text.ends_with("KeyboardInterrupt") && !text.ends_with("SystemExit"))
    raised_at_ = ended.frame;
  return result;
}

// Tables of bandwidth.

bool HeadedTable::concerns(const Event& event) const {
  return is_open() || is_of<BandwidthColumns>(event) || is_of<P2pMatrix>(event);
}

Event HeadedTable::read(const Event& event) {
  constexpr int kMostBetween = 8;  // A line of units, a border, what others print.
  Event result = event;
  const std::string_view text = trim(event.header.message);
  if (is_of<BandwidthColumns>(event)) {
    voice_ = voice_of(event.header.prefix);
    // Rows of times alone are no bandwidth.
    const HeadedColumns named = headed_columns(text);
    const bool has_bandwidth = std::ranges::any_of(named.columns, [](const HeadedColumn& column) {
      return column.is >= BandwidthColumn::Algbw;
    });
    columns_ = has_bandwidth ? named.count : 0;
    lines_left_ = kMostBetween;
    return result;
  }
  if (is_of<P2pMatrix>(event)) {
    voice_ = voice_of(event.header.prefix);
    columns_ = 0;
    lines_left_ = kMostBetween;
    return result;
  }
  --lines_left_;
  if (is_whole_info(event.header)) lines_left_ = 0;
  // The heading of a matrix tells its columns, and is no row.
  constexpr std::string_view kCorner = "D\\D";
  if (text.starts_with(kCorner)) {
    columns_ = headed_cells(text).count;
    return result;
  }
  const bool may_be = event.fate == LineFate::Foreign && event.header.level == Level::None &&
                      lines_left_ >= 0 && voice_of(event.header.prefix) == voice_;
  if (!may_be || headed_cells(text).count != columns_) return result;
  result.message = read_asked<BandwidthRow>(text);
  if (result.message.kind == nullptr) return event;
  result.fate = LineFate::Recognised;
  lines_left_ = kMostBetween;
  return result;
}

// All of it, in the order in which lines were changed on their way, last change first.

EventReader::EventReader(Receiver receive)
    : unwrapper_([this](const Line& line, int lines) { add_records(line, lines); }),
      joiner_([this](const Line& record, int lines) { messages_.add(record, lines); }),
      messages_(all_wordings(), [this, receive = std::move(receive)](
                                    const Line& record, const Event& event, int lines) {
        if (table_.concerns(event)) {
          const Event row = table_.read(event);
          if (is_of<BandwidthRow>(row)) return receive(record, row, lines);
        }
        const bool is_traced = tracebacks_.concern(event);
        receive(record, is_traced ? tracebacks_.read(event) : event, lines);
        std::string quoted = quoted_warning(record, event);
        const bool is_place = is_traced && !tracebacks_.raised_at().empty();
        if (is_place) {
          quoted.assign(record.text.substr(0, event.header.prefix.length));
          quoted.append(tracebacks_.raised_at());
        }
        if (quoted.empty()) return;
        const Event told = parse_event(quoted, all_wordings());
        Line line = record;
        line.text = quoted;
        if (is_place || told.header.level == Level::Warn) receive(line, told, 0);
      }) {}

void EventReader::add(const Line& line) {
  Line plain = line;
  plain.text = strip_ansi(line.text, plain_);
  if (unwrapper_.concerns(plain.text)) return unwrapper_.add(plain);
  add_records(plain, 1);
}

/// Hands on the records that stand in a line, one after the other.
void EventReader::add_records(const Line& line, int lines) {
  size_t begin = next_record_start(line.text);
  if (begin == line.text.npos) return joiner_.add(line, lines);
  // What a launcher puts before a line is true of all of it.
  const std::string label(line.text.substr(0, parse_prefix(line.text).length));
  Line piece = line;
  std::string rest(line.text);
  for (; begin != rest.npos; begin = next_record_start(rest)) {
    piece.text = std::string_view(rest).substr(0, begin);
    // See start_at_parenthesis in record_starts.cc.
    if (std::string_view(rest).substr(begin).starts_with(kTracebackStart) &&
        piece.text.ends_with(", "))
      piece.text.remove_suffix(2);
    piece.cut = true;
    joiner_.add(piece, 0);
    rest.erase(0, begin);
    if (parse_prefix(rest).length == 0) rest.insert(0, label);
  }
  piece.text = rest;
  piece.cut = line.cut;
  joiner_.add(piece, lines);
}

/// In this order: what one part hands on at its end, the next one may still join.
void EventReader::finish() {
  unwrapper_.finish();
  joiner_.finish();
  messages_.finish();
}

}  // namespace ncclog
