// Takes the lines that processes printed out of what collectors made of them: JSON is undone,
// halves of long lines are joined.
//
//   {"log":"node07:41:42 [3] NCCL INFO Using network IB\n","stream":"stderr","time":"2026-…Z"}
//   {"MESSAGE":"NVRM: Xid …","_HOSTNAME":"node07","SYSLOG_IDENTIFIER":"kernel",…}
//
//   2026-01-05T12:00:00.1Z stdout P node07:41:42 [3] NCCL INFO Chan
//   2026-01-05T12:00:00.1Z stdout F nel 00/0 : 0[0] -> 1[1] via P2P/IPC
//
// Invariant: a line that may start a unit (log/event.h) is never joined to what stands before it,
// so a log can be cut there.

#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "base/line.h"

namespace ncclog {

// JSON of docker json-file, Fluent Bit, Fluentd, Vector, Promtail, logcli, CloudWatch, Google
// Cloud, journalctl -o json and json-pretty. Any object with a text under a known key counts: what
// an application logs as JSON is read the same way, with the exception and the rank beside its text:
//
//   {"event":"gave up","level":"error","rank":2,"exc_type":"ValueError","exc_value":"shard 7 is cut"}
//       → [rank2]: gave up   [rank2]: Traceback (most recent call last):   [rank2]: ValueError: …

/// A line taken out of its JSON.
struct CollectorLine {
  /// What the collector knows, as its plain output would put it in front:
  /// "2026-01-05T12:00:00.1Z stderr F ", "[pod/w-3/pytorch] ", "2026-… node07 kernel: ".
  std::string prefix;
  std::string text;         ///< The process's own bytes; line ends inside separate its lines.
  bool is_partial = false;  ///< The process's line goes on in the collector's next one.
};

/// Keys, with their quotes, one of which holds the message of every record.
inline constexpr std::string_view kMessageKeys[] = {
    "\"log\"", "\"message\"", "\"MESSAGE\"", "\"msg\"", "\"line\"", "\"textPayload\"", "\"event\""};

/// A glance that costs two bytes: false for nearly every line that is not JSON.
inline bool may_be_collector_json(std::string_view line) {
  while (!line.empty() && (line.back() == ',' || line.back() == ' ')) line.remove_suffix(1);
  return line.size() > 8 && (line.back() == '}' || line.back() == '"') &&
         line.find('"') < line.size() - 1;
}

/// Reads the object with which `line` ends and which begins it; false if it is none or holds no
/// message. `record` is overwritten; its strings are reused.
bool read_collector_json(std::string_view line, CollectorLine& record);

/// The beginning of a record of which more may come.
struct HeldRecord {
  std::string text;
  Line first;      ///< Its first line; `text` is unused.
  int lines = 0;   ///< Input lines that it stands for so far.
  int pieces = 0;  ///< Lines that it consists of; 0: nothing is held.

  /// Holds the line, at most so many bytes of it.
  void hold(const Line& line, int count, size_t most = std::string_view::npos) {
    text.assign(line.text.substr(0, most));
    first = line;
    lines = count;
    pieces = 1;
  }

  /// Puts the text of so many further lines behind it; nobody has looked at their bytes.
  void append(std::string_view more, int count) {
    text += more;
    lines += count;
    first.has_control = first.has_high = true;
  }

  /// As a line, valid as long as `text`.
  Line record() const {
    Line line = first;
    line.text = text;
    return line;
  }
};

/// Hands on the lines that processes printed. Not copyable: it holds halves of lines.
class Unwrapper {
 public:
  /// Receives each line, valid during the call. `lines` is how many input lines it stands for: 0
  /// for further lines of one JSON record.
  using Receiver = std::function<void(const Line& line, int lines)>;

  explicit Unwrapper(Receiver receive) : receive_(std::move(receive)) {}
  Unwrapper(const Unwrapper&) = delete;
  Unwrapper& operator=(const Unwrapper&) = delete;

  /// True if the beginning of a line waits for its end.
  bool is_holding() const { return halves_[0].pieces + halves_[1].pieces > 0; }

  /// False for nearly every line that no collector wrapped: it may be handed on as it is.
  bool concerns(std::string_view line) const {
    return is_holding() || may_be_collector_json(line) ||
           (line.size() > kShortestStamp && line[4] == '-' && line[10] == 'T');
  }

  /// `line` has no ANSI codes.
  void add(const Line& line);

  /// Hands on what is held back, at the end of the stretch or where nothing goes on with it.
  void finish();

 private:
  static constexpr size_t kShortestStamp = 20;  ///< Of "2026-01-05T12:00:00Z".

  bool read_json(std::string_view line);
  void add_record(const Line& line);
  void add_part(const Line& line, size_t prefix, bool is_partial, int lines);
  void hand_on(HeldRecord& half);

  Receiver receive_;
  CollectorLine record_;  ///< The record being taken apart.
  std::string piece_;     ///< The line of it that is handed on.
  std::string plain_;     ///< The same without its ANSI codes.
  /// Lines whose ends the collector has not written yet: of stdout, where none is named too, and of
  /// stderr.
  std::array<HeldRecord, 2> halves_;
};

}  // namespace ncclog
