#include "log/stack_lines.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "log/line/scanner.h"

namespace ncclog {
namespace {

using StackLineKind = StackLine::Kind;

constexpr std::string_view kFaulthandlerEnd = "(most recent call first):";

bool is_not_blank(char c) { return !is_blank(c); }

/// "train.py:88" → train.py and 88; a library, "libc.so.6", has no line.
void set_place(std::string_view place, StackLine& frame) {
  frame.file = place;
  const size_t colon = place.rfind(':');
  const auto line = colon == place.npos ? std::nullopt : parse_int(place.substr(colon + 1));
  if (!line || !std::in_range<int>(*line)) return;
  frame.file = place.substr(0, colon);
  frame.line = static_cast<int>(*line);
}

/// faulthandler's `File "/srv/train.py", line 88 in step`, and what it prints in place of one.
bool read_python_frame(std::string_view text, StackLine& frame) {
  constexpr std::string_view kCollecting = "Garbage-collecting";
  if (text == kCollecting || text == "<no Python frame>") {
    frame.function = text;
    return true;
  }
  Scanner scan(text);
  int line = -1;
  const bool fits = scan.skip("File \"") && scan.until('"', frame.file) && scan.skip(", line ") &&
                    scan.number(line) && scan.skip(" in ");
  frame.line = line;
  frame.function = scan.rest();
  return fits;
}

/// py-spy's "wait (threading.py:324)": a place in parentheses ends it.
bool read_py_spy_frame(std::string_view text, StackLine& frame) {
  constexpr std::string_view kLibraries[] = {".so", "python", "[vdso]"};
  const size_t open = text.rfind(" (");
  if (open == text.npos || open == 0 || !text.ends_with(')')) return false;
  const std::string_view place = text.substr(open + 2, text.size() - open - 3);
  set_place(place, frame);
  frame.function = trim(text.substr(0, open));
  return frame.line >= 0 || (holds_one_of(place, kLibraries) && place.find(' ') == place.npos);
}

/// "#13 0x00007f16a0c82fe6 in cudaLaunchKernel () from /usr/lib/libnccl.so.2", "#16 groupLaunch
/// (job_=…) at group.cc:325" of gdb, "#0  0x00007f2c791e5117 __poll" of eu-stack.
bool read_native_frame(std::string_view text, StackLine& frame) {
  Scanner scan(text);
  int number = -1;
  if (!scan.skip('#') || !scan.number(number) || scan.blanks() == 0) return false;
  if (scan.skip("0x")) {
    scan.take_while(is_not_blank);
    scan.blanks();
    scan.skip("- 1");  // eu-stack: the caller's address, less one.
    scan.blanks();
    scan.skip("in ");
  }
  const std::string_view rest = scan.rest();
  if (const size_t from = rest.rfind(" from "); from != rest.npos) {
    set_place(rest.substr(from + 6), frame);
  } else if (const size_t at = rest.rfind(" at "); at != rest.npos) {
    set_place(rest.substr(at + 4), frame);
  }
  frame.function =
      trim(rest.substr(0, std::min({rest.find(" ("), rest.find(" - "), rest.find(" from ")})));
  frame.function = frame.function.substr(0, frame.function.find('@'));
  return !frame.function.empty();
}

/// A heading of torchfrtrace, a property of the collective below it, and "evaluate at /srv/sft.py:30"
/// of its stack.
bool is_of_analysis(std::string_view text) {
  constexpr std::string_view kBegins[] = {"Not all ranks joining collective",
                                          "Input/output mismatch in the collective",
                                          "Collective ",
                                          "collective: ",
                                          "collective state: ",
                                          "group info: ",
                                          "missing ranks: {",
                                          "expected ranks: ",
                                          "error msg: Culprit rank "};
  if (starts_with_one_of(text, kBegins)) {
    return text.front() != 'C' || text.ends_with(" has errors");
  }
  const size_t line = text.rfind(".py:");
  const size_t at = text.find(" at ");
  return line != text.npos && at < line && text.find(' ') == at &&
         text.find_first_not_of("0123456789", line + 4) == text.npos;
}

/// The headings of py-spy, gdb and eu-stack.
bool read_heading(std::string_view text, StackLine& line) {
  Scanner scan(text);
  if (scan.skip("Thread ")) {
    line.kind = StackLineKind::Thread;
    int64_t number = -1;
    // py-spy knows no id of the thread in some containers: "Thread 0x7F31C2A41740 (active)".
    if (scan.rest().starts_with("0x") || !scan.number(number)) scan.take_while(is_not_blank);
    if (scan.skip(" (Thread 0x") || scan.skip(" (LWP ")) {
      line.is_main = number == 1;
      line.is_native = true;
      Scanner id(text);
      id.skip(text.substr(0, std::min(text.find("LWP "), text.size())));
      if (!id.skip("LWP ") || !id.number(line.number)) line.number = -1;
      return text.ends_with("):") || text.ends_with("))");  // People lose the colon.
    }
    line.number = number;
    line.is_main = text.ends_with(": \"MainThread\"");
    constexpr std::string_view kStates[] = {" (active", " (idle"};
    return starts_with_one_of(scan.rest(), kStates) && (text.ends_with(')') || text.ends_with('"'));
  }
  if (scan.skip("TID ")) {
    line.kind = StackLineKind::Thread;
    line.is_native = true;
    return scan.number(line.number) && scan.rest() == ":";
  }
  line.kind = StackLineKind::Process;
  if (scan.skip("PID ")) return scan.number(line.number) && scan.skip(" - ");
  if (scan.skip("Pyspy dump for PID ")) return scan.number(line.number);
  if (scan.skip("Process ")) {
    const bool fits = scan.number(line.number) && scan.skip(": ");
    line.text = trim(scan.rest());
    return fits;
  }
  line.kind = StackLineKind::Rank;
  if (scan.skip("=== Rank ")) {
    return scan.number(line.number) && scan.skip(": ") && text.ends_with("===");
  }
  line.kind = StackLineKind::Answer;
  line.text = text;
  return scan.skip("Error: ") && scan.digits(3) && scan.done();
}

}  // namespace

StackLine parse_stack_line(std::string_view line, size_t prefix) {
  const std::string_view text = trim(line.substr(std::min(prefix, line.size())));
  StackLine read;
  if (text.empty()) return read;
  read.is_native = text.front() == '#';
  if (text.ends_with(kFaulthandlerEnd)) {
    const size_t begin = std::min(text.rfind("Current thread 0x"), text.rfind("Thread 0x"));
    if (begin == text.npos) return read;
    read.kind = StackLineKind::Thread;
    read.text = trim(text.substr(0, begin));
    return read;
  }
  const auto begin = static_cast<size_t>(text.data() - line.data());
  const bool is_indented = begin >= 2 && is_blank(line[begin - 1]) && is_blank(line[begin - 2]);
  const bool is_frame = text.front() == '#' ? read_native_frame(text, read)
                                            : read_python_frame(text, read) ||
                                                  (is_indented && read_py_spy_frame(text, read));
  if (is_frame) {
    read.kind = StackLineKind::Frame;
    return read;
  }
  StackLine heading;
  if (read_heading(text, heading)) return heading;
  heading = {};
  if (!is_of_analysis(text)) return heading;
  heading.kind = StackLineKind::Analysis;
  heading.text = text;
  return heading;
}

bool begins_stack(std::string_view text) {
  text = trim(text);
  constexpr std::string_view kHeadings[] = {"Thread 0x", "Current thread 0x"};
  return (starts_with_one_of(text, kHeadings) && text.ends_with(kFaulthandlerEnd)) ||
         (text.starts_with("Timeout (") && text.ends_with(")!")) || text.starts_with("File \"");
}

}  // namespace ncclog
