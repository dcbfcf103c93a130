// Takes lines out of the records of a collector: JSON is undone, halves of long lines are joined.
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
#include "log/collector_json.h"

namespace ncclog {

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
  bool is_holding() const { return is_holding_; }

  /// False for nearly every line that no collector wrapped: it may be handed on as it is.
  bool concerns(std::string_view line) const {
    return is_holding_ || may_be_collector_json(line) ||
           (line.size() > kShortestStamp && line[4] == '-' && line[10] == 'T');
  }

  /// `line` has no ANSI codes.
  void add(const Line& line);

  /// Hands on what is still held back at the end of the stretch.
  void finish();

 private:
  static constexpr size_t kShortestStamp = 20;  ///< Of "2026-01-05T12:00:00Z".

  /// The beginning of a line whose end the collector has not written yet.
  struct Half {
    std::string text;  ///< With the prefix of its first part.
    Line first;        ///< Its first line; `text` is unused.
    int lines = 0;     ///< Input lines that it stands for so far.
    bool held = false;
  };

  bool read_json(std::string_view line);
  void add_record(const Line& line);
  void add_part(const Line& line, size_t prefix, bool is_partial, int lines);
  void hand_on(Half& half);
  void flush();

  Receiver receive_;
  CollectorLine record_;        ///< The record being taken apart.
  std::string piece_;           ///< The line of it that is handed on.
  std::string plain_;           ///< The same without its ANSI codes.
  std::array<Half, 2> halves_;  ///< Of stdout, where none is named too, and of stderr.
  bool is_holding_ = false;     ///< One of them is held.
};

}  // namespace ncclog
