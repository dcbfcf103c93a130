#include "log/record_starts.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "log/event.h"
#include "log/line/header.h"
#include "log/line/prefix.h"
#include "log/line/scanner.h"
#include "log/messages.h"
#include "log/stack_lines.h"
#include "log/wording/other_programs.h"

namespace ncclog {

bool is_understood(std::string_view text) {
  const Event event = parse_event(text, all_wordings());
  if (event.header.level != Level::None || looks_like_error(text)) return true;
  if (event.message.kind == nullptr) return false;
  constexpr uint16_t kSteps[] = {kKindIndex<IterationLine>, kKindIndex<ProgressBar>,
                                 kKindIndex<EvalProgress>};
  return std::ranges::find(kSteps, event.message.kind->index) == std::end(kSteps);
}

namespace {

/// True if `before` ends in the middle of a word or a bracket, behind which nothing but another
/// record begins: a launcher's own prefix ends with a blank or another mark.
bool ends_in_word(std::string_view before) {
  constexpr std::string_view kMarks = "./)'\"%";
  return !before.empty() && (is_word(before.back()) || kMarks.find(before.back()) != before.npos);
}

/// How an expression stands at the beginning of a text: its length, 0: it does not.
size_t length_of(const re2::RE2& expression, std::string_view text) {
  const re2::StringPiece all(text.data(), text.size());
  re2::StringPiece found;
  const bool fits = expression.Match(all, 0, all.size(), re2::RE2::ANCHOR_START, &found, 1);
  return fits ? found.size() : 0;
}

/// "[rank3]:" of PyTorch, "[default3]:" of torchrun; its length, 0: none stands at the beginning.
size_t task_tag_length(std::string_view text) {
  Scanner scan(text);
  const bool is_tag = scan.skip('[') && !scan.take_while(is_alpha).empty() &&
                      !scan.take_while(is_digit).empty() && scan.skip("]:");
  return is_tag ? scan.taken() : 0;
}

/// "[E717 13:20:49.407638053 ProcessGroupNCCL.cpp:632] ": a record of PyTorch's C++ side.
bool begins_cpp_record(std::string_view text) {
  if (text.size() < 4 || text[0] != '[' || (text[2] != ' ' && !is_digit(text[2]))) return false;
  const Header header = parse_header(text.substr(0, 200));
  return header.level == Level::Framework && header.unexplained.empty() && !header.file.empty();
}

/// True if a record begins at the bracket at `at`.
bool begins_in_bracket(std::string_view line, size_t at) {
  const std::string_view before = line.substr(0, at);
  const size_t tag = task_tag_length(line.substr(at));
  if (tag == 0) {
    return begins_cpp_record(line.substr(at)) && (ends_in_word(before) || is_understood(before));
  }
  if (before.empty()) return false;
  // Behind a mark it may follow a launcher's own prefix, unless the line has such a tag already.
  const bool is_apart = !is_blank(before.back());
  if (is_apart && (ends_in_word(before) || task_tag_length(before) > 0 || is_understood(before)))
    return true;
  if (begins_stack(line.substr(at + tag))) return true;  // Behind a prompt: "Overwrite? [y/N] ".
  if (begins_cpp_record(line.substr(at + tag))) return is_understood(before);
  // NCCL prints a message behind its header.
  const Header header = parse_header(before);
  return is_nccl(header) && trim(header.message).empty();
}

/// "(Worker_TP0 pid=4814)", "(EngineCore_0 pid=7)", "(RayWorkerWrapper pid=9, ip=10.0.0.7)": what
/// vLLM and Ray put before the lines of a worker.
bool is_worker_tag(std::string_view text) {
  static const re2::RE2 tag(R"(\([A-Z]\w*(?: rank=\d+)? pid=\d+(?:, ip=[^)\s]*)?\)(?:\s|$))",
                            re2::RE2::Latin1);
  return text.find(" pid=") != text.npos && length_of(tag, text) > 0;
}

/// Place of the record of which the parenthesis at `at` is a part; npos: there is none.
size_t start_at_parenthesis(std::string_view line, size_t at) {
  constexpr std::string_view kName = "Traceback ";
  std::string_view before = line.substr(0, at);
  if (before.ends_with(kName)) {
    before.remove_suffix(kName.size());
    const std::string_view traceback = line.substr(before.size());
    // What is printed as one escaped string goes on behind the colon.
    const bool is_record = traceback.starts_with(kTracebackStart) &&
                           !traceback.substr(kTracebackStart.size()).starts_with(":\\") &&
                           !before.ends_with('"') && !before.ends_with('\'');
    // vLLM's "…: the exception's last line, Traceback (most recent call last):".
    const std::string_view said =
        before.substr(0, before.size() - (before.ends_with(", ") ? 2 : 0));
    if (!is_record || !(ends_in_word(before) || is_understood(said))) return line.npos;
    // torchrun's table has a label before it, which is a wording of its own.
    const Message whole = parse_event(line, all_wordings()).message;
    const bool is_labelled =
        whole.kind != nullptr && whole.kind->index == kKindIndex<TracebackStarted>;
    return is_labelled ? line.npos : before.size();
  }
  constexpr std::string_view kOpen = "([{=<";
  const bool is_apart =
      !before.empty() && !is_blank(before.back()) && kOpen.find(before.back()) == kOpen.npos;
  if (!is_worker_tag(line.substr(at))) return line.npos;
  return is_apart || is_understood(before) ? at : line.npos;
}

/// Place of the record of glog of which the bracket at `at` ends the header:
/// "E1128 10:22:33.123456  1234 file.cc:12]"; npos: it ends none.
size_t start_before_bracket(std::string_view line, size_t at) {
  // "[E1128 …" is a record of PyTorch's. Between the time and the file a thread's number may stand.
  static const re2::RE2 header(
      R"((?:^|[^\[])([EWIF](?:\d{4}|\d{8}) \d\d:\d\d:\d\d\.[\d\s]*[\w./-]*:\d+\])$)",
      re2::RE2::Latin1);
  const size_t colon = line.find_last_not_of("0123456789", at - 1);
  if (colon == line.npos || line[colon] != ':') return line.npos;
  re2::StringPiece record;
  if (!re2::RE2::PartialMatch({line.data(), at + 1}, header, &record)) return line.npos;
  const auto start = static_cast<size_t>(record.data() - line.data());
  const std::string_view before = line.substr(0, start);
  return ends_in_word(before) || is_understood(before) ? start : line.npos;
}

/// Length of the number with which a cell of a table begins. None begins with two zeros, or with
/// one before another digit: "010.0.0.7" is two texts.
size_t number_length(std::string_view cell) {
  static const re2::RE2 number(R"(-?(?:0|[1-9]\d*)?(?:\.\d*)?(?:e[-+]\d*)?)", re2::RE2::Latin1);
  return length_of(number, cell);
}

/// Place behind the row of nccl-tests with which `line` begins, where something else goes on in the
/// same word, or as a record; npos: the line is no row, or nothing but a row.
size_t end_of_row(std::string_view line) {
  constexpr size_t kFirstNumber = 4;  // Behind size, count, datatype and operation.
  const size_t begin_of_text = line.find_first_not_of(" \t");
  // Most lines begin with a letter, and a row with its size or a launcher's tag.
  if (begin_of_text == line.npos || is_alpha(line[begin_of_text])) return line.npos;
  Scanner scan(line);
  scan.skip(line.substr(0, may_have_prefix(line) ? parse_prefix(line).length : 0));
  scan.blanks();
  if (!is_digit(scan.peek()) || !begins_row_of_test(scan.rest())) return line.npos;
  for (size_t column = 0; !scan.done(); ++column) {
    scan.blanks();
    const size_t begin = scan.taken();
    const std::string_view cell = scan.take_while([](char c) { return !is_blank(c); });
    if (column < kFirstNumber || cell == "N/A" || cell == "inf" || cell == "nan") continue;
    const size_t number = number_length(cell);
    // mpirun tags each piece that is flushed: "-1[1,0]<stdout>:"; others do with "-1[0]".
    if (number == cell.size() || cell.ends_with(">:")) continue;
    const std::string_view rest = line.substr(begin + number);
    const std::string_view word = cell.substr(number);
    const bool is_rank_tag = word.front() == '[' && word.back() == ']' &&
                             word.substr(1).find_first_not_of("0123456789") == word.size() - 2;
    const std::string_view behind = trim(line.substr(begin + cell.size()));
    if (is_rank_tag && !behind.empty() && is_digit(behind.front())) continue;
    // A unit may stand behind a number, a stamp behind the row.
    const bool is_unit = word.size() <= 4 &&
                         std::ranges::all_of(word, [](char c) { return is_alpha(c) || c == '/'; });
    const bool begins_word =
        is_alpha(word[0]) || word[0] == '[' || word[0] == '(' || word[0] == '#';
    const bool is_glued = number > 0 && begins_word && !is_unit;
    const bool is_record = !is_glued && (begins_record(rest) || is_understood(rest));
    return is_glued || is_record ? begin + number : line.npos;
  }
  return line.npos;
}

}  // namespace

size_t next_record_start(std::string_view line) {
  constexpr std::string_view kSchedulers[] = {"slurmstepd: error: ", "srun: error: "};
  size_t first = line.npos;
  size_t prefix = line.npos;  // Not asked for yet: few lines need it.
  const auto note = [&](size_t start) {
    if (start >= first) return;
    if (prefix == line.npos) prefix = parse_prefix(line).length;
    if (start > prefix && !trim(line.substr(prefix, start - prefix)).empty()) first = start;
  };
  for (size_t at = line.find('[', 1); at < first; at = line.find('[', at + 1)) {
    if (at + 1 < line.size() && is_alpha(line[at + 1]) && begins_in_bracket(line, at)) note(at);
  }
  for (size_t at = line.find('(', 1); at < first; at = line.find('(', at + 1)) {
    note(start_at_parenthesis(line, at));
  }
  for (size_t at = line.find(']', 1); at < line.size(); at = line.find(']', at + 1)) {
    if (is_digit(line[at - 1])) note(start_before_bracket(line, at));
    // Behind a progress bar, whose line has no end yet.
    if (starts_with_one_of(line.substr(at + 1), kSchedulers)) note(at + 1);
  }
  note(end_of_row(line));
  return first;
}

}  // namespace ncclog
