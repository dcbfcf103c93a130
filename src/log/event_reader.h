// From lines to events: the one path on which every line of every log is understood, whether a job
// is built from it or it is only exported.
//
//   "\x1b[36mnode07:41:42 [3] NCCL INFO Using network Socket"  →  network_selected{network: Socket}
//
// Records that were broken over lines arrive once, with the place of their first line; several
// lines in one record of a collector arrive one by one. Order is kept, but for lines whose end a
// collector wrote later than whole lines of the other stream.

#pragma once

#include <functional>
#include <string>

#include "base/line.h"
#include "log/broken_message.h"
#include "log/event.h"
#include "log/record_joiner.h"
#include "log/unwrapper.h"

namespace ncclog {

/// Takes the lines of one stretch in order. Not copyable or movable: its parts call each other.
class EventReader {
 public:
  /// Receives each record, its text without ANSI codes, what it says, and how many input lines it
  /// consists of, 0 for further lines of one collector's record. The views in both live during the
  /// call only.
  using Receiver = std::function<void(const Line& record, const Event& event, int lines)>;

  explicit EventReader(Receiver receive);
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  void add(const Line& line);

  /// True if nothing is held back: the next line can be understood on its own.
  bool is_idle() const {
    return !unwrapper_.is_holding() && !joiner_.is_holding() && !messages_.is_holding();
  }

  /// Hands on what is still held back at the end of the stretch.
  void finish();

 private:
  std::string plain_;  ///< The line without its ANSI codes.
  Unwrapper unwrapper_;
  RecordJoiner joiner_;
  BrokenMessage messages_;
};

}  // namespace ncclog
